// SPDX-License-Identifier: BSD-2-Clause
// Two instances over a link that marks: no byte is lost where marks are heeded, every mark is told, and nothing but new
// data is capable.
#include "pair.h"

#include "tcp/internal.h"

#define PORT 7000
#define BYTES 3000000u

struct talk {
    struct pair pair;
    weir_socket client, server;
    uint32_t written, read, echoed, answered;
    bool accurate;
};

static bool look(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct talk *talk = context;
    const uint8_t *packet = frame + 14;
    if (length < 54 || packet[9] != IP_TCP)
        return true;
    const uint32_t payload = get16(packet + 2) - 20u - (packet[32] >> 4) * 4u;
    if (packet[33] & TCP_SYN || !payload)
        assert_int_equal(packet[1] & 3, 0);  // not capable
    if (!(packet[33] & TCP_SYN)) {
        talk->echoed += from_b && packet[33] & TCP_ECE;
        talk->answered += !from_b && packet[33] & TCP_CWR;
    }
    return true;
}

static bool moved(void *context)
{
    static uint8_t bytes[65536];
    struct talk *talk = context;
    int done;
    while (talk->written < BYTES && (done = weir_socket_write(talk->pair.a.weir, talk->client, bytes,
                                                              min_u32(BYTES - talk->written, sizeof bytes))) > 0)
        talk->written += (uint32_t)done;
    while ((done = weir_socket_read(talk->pair.b.weir, talk->server, bytes, sizeof bytes)) > 0)
        talk->read += (uint32_t)done;
    return talk->read == BYTES;
}

static struct weir_tcp_info info(struct weir *weir, weir_socket socket)
{
    struct weir_tcp_info out;
    assert_int_equal(weir_socket_tcp_info(weir, socket, &out), WEIR_OK);
    return out;
}

static void converse(struct talk *talk, uint8_t ecn_a, uint8_t ecn_b, const struct pair_link *link,
                     const struct pair_link *back)
{
    const struct weir_config a = {.tcp_ecn = ecn_a}, b = {.tcp_ecn = ecn_b};
    memset(talk, 0, sizeof *talk);
    pair_open(&talk->pair,
              &(struct pair_options){.link = *link, .back = back, .seed = 7, .a = {.config = &a}, .b = {.config = &b}});
    talk->pair.filter = look;
    talk->pair.filter_context = talk;
    pair_connect(&talk->pair, PORT, &talk->client, &talk->server);
    assert_true(pair_run_until(&talk->pair, moved, talk, 300000000));
    pair_run(&talk->pair, 500000);
    assert_int_equal(fixture_count(&talk->pair.a, WEIR_COUNT_IP_BAD_CHECKSUM) +
                         fixture_count(&talk->pair.b, WEIR_COUNT_IP_BAD_CHECKSUM),
                     0);
}

// 10 Mbit/s, 20 ms, a queue that marks from 30 frames on.
static const struct pair_link marking = {.delay_us = 10000, .rate = 1250000, .mark_frames = 30};
static const struct pair_link back = {.delay_us = 10000};

static void marks_take_the_place_of_losses(void **state)
{
    static const uint8_t modes[][2] = {{WEIR_ECN_ON, WEIR_ECN_PASSIVE},
                                       {WEIR_ECN_ON, WEIR_ECN_ACCURATE},
                                       {WEIR_ECN_ACCURATE, WEIR_ECN_ON},
                                       {WEIR_ECN_ACCURATE, WEIR_ECN_ACCURATE}};
    struct talk talk;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        converse(&talk, modes[i][0], modes[i][1], &marking, &back);
        const struct weir_tcp_info a = info(talk.pair.a.weir, talk.client), b = info(talk.pair.b.weir, talk.server);
        assert_true(a.ecn && b.ecn);
        assert_int_equal(a.accecn, i == 3);
        assert_int_equal(b.accecn, i == 3);
        assert_true(talk.pair.stats[0].marked > 3);
        assert_int_equal(b.received_ce, talk.pair.stats[0].marked);
        assert_int_equal(talk.pair.stats[0].lost, 0);
        assert_int_equal(a.total_retrans, 0);
        const uint32_t reduced = fixture_count(&talk.pair.a, WEIR_COUNT_TCP_ECN_REDUCED);
        assert_true(reduced >= 1 && reduced <= talk.pair.stats[0].marked);
        if (i == 3) {
            assert_int_equal(a.delivered_ce, talk.pair.stats[0].marked);  // every mark, exactly
        } else {
            assert_true(talk.echoed > 0);
            // after the last there may be nothing to tell it with
            assert_in_range(talk.answered, reduced - 1, reduced + 1);
        }
        pair_close(&talk.pair);
    }
}

static void without_it_the_queue_overflows(void **state)
{
    struct talk talk;
    struct pair_link link = marking;
    (void)state;
    link.queue_frames = 60;
    converse(&talk, WEIR_ECN_OFF, WEIR_ECN_ON, &link, &back);
    assert_false(info(talk.pair.a.weir, talk.client).ecn);
    assert_int_equal(talk.pair.stats[0].capable + talk.pair.stats[1].capable, 0);
    assert_true(talk.pair.stats[0].lost > 0);
    pair_close(&talk.pair);
}

// ACKs are lost, data is lost, reordered and doubled: the counters agree in the end with what came.
static void feedback_survives_a_bad_link(void **state)
{
    struct talk talk;
    struct pair_link link = {
        .delay_us = 5000, .loss_ppm = 10000, .reorder_ppm = 10000, .duplicate_ppm = 5000, .mark_ppm = 20000};
    const struct pair_link ways[2] = {{.delay_us = 5000}, {.delay_us = 5000, .loss_ppm = 300000}};
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const uint8_t mode = i & 1 ? WEIR_ECN_ACCURATE : WEIR_ECN_ON;
        const struct pair_link *const way = &ways[i >> 1];
        converse(&talk, mode, mode, &link, way);
        const struct weir_tcp_info a = info(talk.pair.a.weir, talk.client), b = info(talk.pair.b.weir, talk.server);
        assert_true(a.ecn && b.ecn && b.received_ce > 0);
        // An ACK that covers much, and whose option went with one before it that was lost, is taken at its worst (RFC
        // 9768 §3.2.2.5.2); never at less than it tells.
        if (mode == WEIR_ECN_ACCURATE && way->loss_ppm)
            assert_in_range(a.delivered_ce, b.received_ce - min_u32(b.received_ce, 7), 4 * b.received_ce);
        else if (mode == WEIR_ECN_ACCURATE)
            assert_int_equal(a.delivered_ce, b.received_ce);
        assert_int_equal(fixture_count(&talk.pair.a, WEIR_COUNT_TCP_ECN_MANGLED), 0);
        assert_int_equal(fixture_count(&talk.pair.b, WEIR_COUNT_TCP_ECN_MANGLED), 0);
        pair_close(&talk.pair);
    }
}

#if WEIR_CFG_FAST_PATH
static const struct tcp_conn *only_connection(struct weir *weir)
{
    const struct tcp_conn *found = NULL;
    for (uint32_t i = 0; i < TCP_RECENT; i++)
        found = weir->tcp.recent[i] ? weir->tcp.recent[i] : found;
    assert_non_null(found);
    return found;
}

// The steady state is for connections with ECN, too, while nothing is marked; a mark is never predicted.
static void unmarked_segments_are_predicted(void **state)
{
    struct talk talk;
    (void)state;
    const struct pair_link plain = {.delay_us = 1000};
    converse(&talk, WEIR_ECN_ON, WEIR_ECN_ON, &plain, &plain);
    const struct tcp_conn *const a = only_connection(talk.pair.a.weir), *const b = only_connection(talk.pair.b.weir);
    assert_int_equal((a->attention | b->attention) & ATTEND_ECN, 0);
    assert_true(talk.pair.stats[0].capable > 2000);
    talk.pair.link[0].mark_ppm = 1000000;
    talk.written = talk.read = BYTES - 100;
    assert_true(pair_run_until(&talk.pair, moved, &talk, 10000000));
    pair_run(&talk.pair, 500000);
    assert_int_equal(info(talk.pair.b.weir, talk.server).received_ce, talk.pair.stats[0].marked);
    assert_true(talk.pair.stats[0].marked > 0);
    pair_close(&talk.pair);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marks_take_the_place_of_losses),
        cmocka_unit_test(without_it_the_queue_overflows),
        cmocka_unit_test(feedback_survives_a_bad_link),
#if WEIR_CFG_FAST_PATH
        cmocka_unit_test(unmarked_segments_are_predicted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
