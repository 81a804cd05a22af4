// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// A player whose frames do not come, come late, or come out of order.
#include "apps/rtstream/stream.h"

// A server by hand: what is written to it is what the player gets.
static weir_socket by_hand(struct stream *s, const struct rtstream_options *options)
{
    const struct weir_endpoint here = bench_here(PORT), any = {weir_addr_any(), PORT};
    struct weir *weir = s->bench.f.weir;
    const weir_socket listener = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(weir, listener, &any), WEIR_OK);
    assert_int_equal(weir_socket_listen(weir, listener, 1), WEIR_OK);
    assert_int_equal(rtstream_player_start(&s->player, &s->bench.loop, &here, options), WEIR_OK);
    bench_run(&s->bench, 10000);
    const weir_socket server = weir_socket_accept(weir, listener);
    assert_true(server > 0);
    assert_int_equal(weir_socket_close(weir, listener), WEIR_OK);
    assert_int_equal(weir_socket_set(weir, server, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    return server;
}

static void put(struct stream *s, weir_socket server, uint32_t number)
{
    uint8_t frame[RTSTREAM_FRAME_MOST];
    stream_fill(number, frame, s->frame_bytes);
    assert_int_equal(weir_socket_write(s->bench.f.weir, server, frame, s->frame_bytes), s->frame_bytes);
}

static void what_does_not_come_is_told_at_its_deadline(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 160);
    const struct rtstream_options options = {.frame_bytes = 160,
                                             .period_us = PERIOD_US,
                                             .within_us = 40000,
                                             .start_us = s.bench.f.now_us + 100000,
                                             .frames = 4};
    const weir_socket server = by_hand(&s, &options);
    put(&s, server, 0);
    bench_run(&s.bench, 80000);
    assert_int_equal(s.told, 1);
    assert_int_equal(s.verdicts[0], RTSTREAM_MET);
    bench_run(&s.bench, 200000);
    assert_int_equal(s.told, 4);
    for (uint32_t n = 1; n < 4; n++) {
        assert_int_equal(s.verdicts[n], RTSTREAM_SKIPPED);
        assert_in_range(s.told_us[n], options.start_us + 40000 + n * PERIOD_US,
                        options.start_us + 40000 + n * PERIOD_US + 1000);
    }
    assert_true(s.player_done);
    assert_int_equal(weir_socket_abort(s.bench.f.weir, server), WEIR_OK);
    stream_close(&s);
}

// In order there is no skipping: what comes after its deadline is late.
static void in_order_it_is_late(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 160);
    const struct rtstream_options options = {.over = RTSTREAM_TCP,
                                             .frame_bytes = 160,
                                             .period_us = PERIOD_US,
                                             .within_us = 40000,
                                             .start_us = s.bench.f.now_us + 100000};
    const weir_socket server = by_hand(&s, &options);
    put(&s, server, 0);
    bench_run(&s.bench, 300000);
    put(&s, server, 1);
    bench_run(&s.bench, 10000);
    assert_int_equal(s.told, 2);
    assert_int_equal(s.verdicts[0], RTSTREAM_MET);
    assert_int_equal(s.verdicts[1], RTSTREAM_LATE);
    assert_int_equal(s.wrong, 0);
    assert_int_equal(weir_socket_close(s.bench.f.weir, server), WEIR_OK);
    bench_run(&s.bench, 10000);
    assert_true(s.player_done);
    assert_null(s.player_error);
    stream_close(&s);
}

static void a_connection_that_breaks_is_told(void **state)
{
    static struct stream s;
    (void)state;
    stream_open(&s, 160);
    const struct rtstream_options options = {.frame_bytes = 160, .period_us = PERIOD_US, .within_us = 40000};
    const weir_socket server = by_hand(&s, &options);
    assert_int_equal(weir_socket_abort(s.bench.f.weir, server), WEIR_OK);
    bench_run(&s.bench, 1000000);
    assert_true(s.player_done);
    assert_non_null(s.player_error);
    stream_close(&s);
}

static void nobody_there(void **state)
{
    static struct stream s;
    const struct weir_endpoint here = bench_here(PORT);
    const struct rtstream_options options = {.frame_bytes = 160, .period_us = PERIOD_US, .within_us = 40000};
    (void)state;
    stream_open(&s, 160);
    assert_int_equal(rtstream_player_start(&s.player, &s.bench.loop, &here, &options), WEIR_OK);
    bench_run(&s.bench, 100000);
    assert_true(s.player_done);
    assert_non_null(s.player_error);
    stream_close(&s);
}

// --- RTP -------------------------------------------------------------------------------------------------------------

struct packets {
    uint8_t bytes[64][512];
    uint32_t lengths[64];
};

static void make_packets(struct packets *p, const struct stream *s, uint32_t count, bool redundant)
{
    static struct rtp_source source;
    uint8_t frame[RTSTREAM_FRAME_MOST];
    rtp_source_init(&source, 77, 65530, 0xfffffe00, 160, redundant);
    for (uint32_t i = 0; i < count; i++) {
        stream_fill(i, frame, s->frame_bytes);
        p->lengths[i] = rtp_source_packet(&source, frame, s->frame_bytes, p->bytes[i], sizeof p->bytes[i]);
    }
}

// Packets [0, count) every 20 ms, but for those whose bit is set.
static void rtp_run(struct stream *s, uint32_t count, uint64_t lost, bool redundant)
{
    static struct packets packets;
    stream_open(s, 160);
    struct weir *weir = s->bench.f.weir;
    const struct weir_message to = {.peer = bench_here(PORT)};
    const struct rtstream_options options = {.over = RTSTREAM_RTP,
                                             .frame_bytes = 160,
                                             .period_us = PERIOD_US,
                                             .within_us = 110000,
                                             .start_us = s->bench.f.now_us,
                                             .frames = count};
    assert_int_equal(rtstream_player_start(&s->player, &s->bench.loop, &to.peer, &options), WEIR_OK);
    const weir_socket out = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    make_packets(&packets, s, count, redundant);
    for (uint32_t i = 0; i < count; i++) {
        const struct weir_slice slice = {packets.bytes[i], packets.lengths[i]};
        if (!(lost >> i & 1))
            assert_true(weir_socket_send_message(weir, out, &to, &slice, 1) > 0);
        bench_run(&s->bench, PERIOD_US);
    }
    bench_run(&s->bench, 200000);
    assert_true(s->player_done);
    assert_int_equal(s->told, count);
    assert_int_equal(s->wrong, 0);
    assert_int_equal(weir_socket_close(weir, out), WEIR_OK);
}

static void what_rtp_loses_is_skipped(void **state)
{
    static struct stream s;
    (void)state;
    rtp_run(&s, 20, 1u << 0 | 1u << 3 | 1u << 7 | 1u << 8, false);
    assert_int_equal(s.player.counts[RTSTREAM_SKIPPED], 4);
    assert_int_equal(s.verdicts[0], RTSTREAM_SKIPPED);  // the start was known
    assert_int_equal(s.verdicts[3], RTSTREAM_SKIPPED);
    assert_int_equal(s.verdicts[4], RTSTREAM_MET);
    stream_close(&s);
}

static void a_redundant_frame_mends_single_losses(void **state)
{
    static struct stream s;
    (void)state;
    rtp_run(&s, 20, 1u << 0 | 1u << 3 | 1u << 7 | 1u << 8, true);
    assert_int_equal(s.player.counts[RTSTREAM_SKIPPED], 1);
    assert_int_equal(s.verdicts[0], RTSTREAM_MET);
    assert_int_equal(s.verdicts[3], RTSTREAM_MET);
    assert_int_equal(s.verdicts[7], RTSTREAM_SKIPPED);
    assert_int_equal(s.verdicts[8], RTSTREAM_MET);
    stream_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_come_is_told_at_its_deadline),
        cmocka_unit_test(in_order_it_is_late),
        cmocka_unit_test(a_connection_that_breaks_is_told),
        cmocka_unit_test(nobody_there),
        cmocka_unit_test(what_rtp_loses_is_skipped),
        cmocka_unit_test(a_redundant_frame_mends_single_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
