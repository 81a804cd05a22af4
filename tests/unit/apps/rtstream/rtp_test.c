// SPDX-License-Identifier: BSD-2-Clause
// RTP by the bytes of RFC 3550 and RFC 2198, and what a receiver makes of a stream.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rtstream/rtp.h"

static uint8_t packet[2048], frame[1200];
static struct rtp_frame frames[RTP_FRAMES];

static void a_plain_packet_byte_by_byte(void **state)
{
    static const uint8_t expected[] = {0x80, 0x80, 0xff, 0xff, 0x00, 0x00, 0x01,
                                       0x00, 0xde, 0xad, 0xbe, 0xef, 'a',  'b'};
    struct rtp_source source;
    (void)state;
    rtp_source_init(&source, 0xdeadbeef, 0xffff, 256, 160, false);
    assert_int_equal(rtp_source_packet(&source, (const uint8_t *)"ab", 2, packet, 13), 0);
    assert_int_equal(rtp_source_packet(&source, (const uint8_t *)"ab", 2, packet, sizeof packet), sizeof expected);
    assert_memory_equal(packet, expected, sizeof expected);
    assert_int_equal(rtp_source_packet(&source, (const uint8_t *)"c", 1, packet, sizeof packet), 13);
    // no marker; the number wraps, the timestamp steps
    static const uint8_t next[] = {0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0xa0};
    assert_memory_equal(packet, next, sizeof next);
}

static void a_redundant_packet_byte_by_byte(void **state)
{
    struct rtp_source source;
    (void)state;
    rtp_source_init(&source, 1, 1, 1000, 160, true);
    assert_int_equal(rtp_source_packet(&source, (const uint8_t *)"abc", 3, packet, sizeof packet), 12 + 1 + 3);
    assert_int_equal(packet[1], 0x80 | 100);
    assert_int_equal(packet[12], 0);
    assert_int_equal(rtp_source_packet(&source, (const uint8_t *)"de", 2, packet, sizeof packet), 12 + 4 + 1 + 3 + 2);
    // F = 1, type 0, offset 160, length 3: 1 0000000 00000010100000 0000000011
    static const uint8_t expected[] = {0x80, 0x02, 0x80, 0x03, 0x00, 'a', 'b', 'c', 'd', 'e'};
    assert_memory_equal(packet + 12, expected, sizeof expected);
}

static void what_was_sent_is_what_is_taken(void **state)
{
    struct rtp_source source;
    struct rtp_player player;
    (void)state;
    rtp_source_init(&source, 5, 65000, 0xffffff00, 160, true);
    rtp_player_init(&player);
    for (uint32_t i = 0; i < 2000; i++) {
        memset(frame, (int)i, 160);
        const uint32_t length = rtp_source_packet(&source, frame, 160, packet, sizeof packet);
        assert_int_equal(rtp_player_take(&player, packet, length, i * 160, frames), i ? 2 : 1);
        assert_int_equal(frames[0].timestamp, 0xffffff00 + i * 160);
        assert_false(frames[0].redundant);
        assert_int_equal(frames[0].length, 160);
        assert_int_equal(frames[0].data[159], (uint8_t)i);
        if (i) {
            assert_true(frames[1].redundant);
            assert_int_equal(frames[1].timestamp, 0xffffff00 + (i - 1) * 160);
            assert_int_equal(frames[1].length, 160);
            assert_int_equal(frames[1].data[0], (uint8_t)(i - 1));
        }
    }
    assert_int_equal(rtp_player_lost(&player), 0);
    assert_int_equal(rtp_player_jitter(&player), 0);
    assert_int_equal(player.highest, 65000 + 1999);
}

// A frame too long for a redundant block is sent once.
static void a_long_frame_is_not_repeated(void **state)
{
    struct rtp_source source;
    (void)state;
    rtp_source_init(&source, 5, 1, 0, 160, true);
    assert_int_equal(rtp_source_packet(&source, frame, 1024, packet, sizeof packet), 13 + 1024);
    assert_int_equal(rtp_source_packet(&source, frame, 1023, packet, sizeof packet), 13 + 1023);
    assert_int_equal(rtp_source_packet(&source, frame, 10, packet, sizeof packet), 17 + 1023 + 10);
}

static void losses_are_counted_and_late_packets_forgive_them(void **state)
{
    static const uint16_t order[] = {10, 11, 14, 12, 15, 15};
    struct rtp_player player;
    (void)state;
    rtp_player_init(&player);
    assert_int_equal(rtp_player_lost(&player), 0);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct rtp_source source;
        rtp_source_init(&source, 5, order[i], order[i] * 160u, 160, false);
        const uint32_t length = rtp_source_packet(&source, frame, 160, packet, sizeof packet);
        assert_int_equal(rtp_player_take(&player, packet, length, order[i] * 160u, frames), 1);
        static const int32_t lost[] = {0, 0, 2, 1, 1, 0};
        assert_int_equal(rtp_player_lost(&player), lost[i]);
    }
}

// RFC 3550 A.8 against floating point: packets each early or late by 40 ticks differ by 80 from one to the next.
static void the_jitter_is_that_of_the_rfc(void **state)
{
    struct rtp_source source;
    struct rtp_player player;
    double jitter = 0;
    (void)state;
    rtp_source_init(&source, 5, 1, 0, 160, false);
    rtp_player_init(&player);
    for (uint32_t i = 0; i < 400; i++) {
        const uint32_t length = rtp_source_packet(&source, frame, 160, packet, sizeof packet);
        (void)rtp_player_take(&player, packet, length, 1000 + i * 160 + (i % 2 ? 40 : 0 - 40u), frames);
        jitter += i ? (80 - jitter) / 16 : 0;
        assert_in_range(player.jitter16 + 24, (uint32_t)(jitter * 16), (uint32_t)(jitter * 16) + 48);
    }
    assert_in_range(rtp_player_jitter(&player), 79, 80);
}

static void what_is_no_packet_is_refused(void **state)
{
    struct rtp_source source;
    struct rtp_player player;
    (void)state;
    rtp_source_init(&source, 5, 1, 0, 160, true);
    (void)rtp_source_packet(&source, frame, 100, packet, sizeof packet);
    const uint32_t length = rtp_source_packet(&source, frame, 100, packet, sizeof packet);
    for (uint32_t cut = 0; cut < 17 + 100; cut++) {  // the redundant block is not whole
        rtp_player_init(&player);
        assert_int_equal(rtp_player_take(&player, packet, cut, 0, frames), -1);
        assert_false(player.begun);
    }
    rtp_player_init(&player);
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), 2);
    packet[8] ^= 1;  // another source
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), -1);
    packet[8] ^= 1;
    packet[2] ^= 0x40;  // far from where the numbers are
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), -1);
    packet[2] ^= 0x40;
    packet[0] = 0x40;  // version 1
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), -1);
    packet[0] = 0xa0;  // more padding than there is
    packet[length - 1] = 255;
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), -1);
    packet[length - 1] = 0;
    assert_int_equal(rtp_player_take(&player, packet, length, 0, frames), -1);
}

static void sources_extension_and_padding_are_passed_over(void **state)
{
    static const uint8_t odd[] = {0xb1, 0x00, 0,    1,    0, 0, 0, 9, 0, 0, 0,   5,   1, 2,
                                  3,    4,    0xbe, 0xde, 0, 1, 9, 9, 9, 9, 'x', 'y', 0, 2};
    struct rtp_player player;
    (void)state;
    rtp_player_init(&player);
    assert_int_equal(rtp_player_take(&player, odd, sizeof odd, 0, frames), 1);
    assert_int_equal(frames[0].length, 2);
    assert_memory_equal(frames[0].data, "xy", 2);
    for (uint32_t cut = 12; cut < 24; cut++) {
        rtp_player_init(&player);
        assert_int_equal(rtp_player_take(&player, odd, cut, 0, frames), -1);
    }
}

static void more_blocks_than_fit_are_refused(void **state)
{
    struct rtp_player player;
    (void)state;
    memset(packet, 0, sizeof packet);
    packet[0] = 0x80;
    packet[1] = RTP_REDUNDANT;
    for (uint32_t i = 0; i < RTP_FRAMES; i++)
        packet[12 + 4 * i] = 0x80;
    rtp_player_init(&player);
    assert_int_equal(rtp_player_take(&player, packet, 12 + 4 * RTP_FRAMES + 1, 0, frames), -1);
    packet[12 + 4 * (RTP_FRAMES - 1)] = 0;
    assert_int_equal(rtp_player_take(&player, packet, 12 + 4 * RTP_FRAMES + 1, 0, frames), RTP_FRAMES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_packet_byte_by_byte),
        cmocka_unit_test(a_redundant_packet_byte_by_byte),
        cmocka_unit_test(what_was_sent_is_what_is_taken),
        cmocka_unit_test(a_long_frame_is_not_repeated),
        cmocka_unit_test(losses_are_counted_and_late_packets_forgive_them),
        cmocka_unit_test(the_jitter_is_that_of_the_rfc),
        cmocka_unit_test(what_is_no_packet_is_refused),
        cmocka_unit_test(sources_extension_and_padding_are_passed_over),
        cmocka_unit_test(more_blocks_than_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
