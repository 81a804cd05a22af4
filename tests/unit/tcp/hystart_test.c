// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: its congestion controls stand beside reno
// HyStart++ (RFC 9406): when slow start ends, and when it does not.
#include "pair.h"
#include "tcp/probe.h"
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define MSS 1460u

// A peer that acknowledges every segment on its own, `rtt_us` after it left: rounds of a connection in slow start.
struct slow_start {
    struct tcp_fixture t;
    uint32_t sent, acked;
};

static void begin(struct slow_start *x)
{
    memset(x, 0, sizeof *x);
    probe_reset();
    probe.grows = true;
    tcp_fixture_bring(
        &x->t, WEIR_TCP_ESTABLISHED,
        &(struct tcp_fixture_options){.sack = true, .scale = true, .peer_scale = 10, .send_buffer = 8 << 20});
    assert_int_equal(weir_socket_set_congestion(x->t.weir, x->t.socket, "plain"), WEIR_OK);
    assert_int_equal(weir_socket_set(x->t.weir, x->t.socket, WEIR_OPTION_CORK, 1), WEIR_OK);  // all segments are full
    // the handshake took no time: no tail probe shall come in between
    tcp_fixture_conn(&x->t)->rtt.srtt8_us = 8 * 200000;
    peer_drain(&x->t);
}

static void fill(struct slow_start *x)
{
    static uint8_t bytes[65536];
    while (weir_socket_write(x->t.weir, x->t.socket, bytes, sizeof bytes) > 0)
        ;
    peer_pass(&x->t, 0);
    x->sent += peer_drain_count(&x->t) * MSS;
}

static uint32_t cwnd(struct slow_start *x) { return tcp_fixture_conn(&x->t)->flow->window.cwnd; }
static bool conservative(struct slow_start *x) { return tcp_fixture_conn(&x->t)->flow->hystart.css_rounds != 0; }

// Segment by segment, those of the first `until` bytes.
static void acknowledge(struct slow_start *x, uint32_t until)
{
    while (x->acked < until) {
        x->acked += MSS;
        peer_send(&x->t, TCP_ACK, 0, x->acked);
    }
}

// One round: everything sent is acknowledged after rtt_us, segment by segment. Returns how much cwnd grew for each byte
// acknowledged, in %.
static uint32_t round_trip(struct slow_start *x, uint32_t rtt_us)
{
    fill(x);
    const uint32_t end = x->sent, before = cwnd(x), from = x->acked;
    peer_pass(&x->t, rtt_us);
    acknowledge(x, end);
    x->sent += peer_drain_count(&x->t) * MSS;
    return (cwnd(x) - before) * 100 / (end - from);
}

static void slow_start_goes_on_while_the_round_trip_time_stays(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(round_trip(&x, 20000), 100);
    assert_false(conservative(&x));
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
    tcp_fixture_close(&x.t);
}

// Most of a round's acknowledgements come half a round trip late: the first say that no queue stands.
static void of_a_round_the_smallest_sample_counts(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    round_trip(&x, 40000);
    round_trip(&x, 40000);
    fill(&x);
    peer_pass(&x.t, 40000);
    acknowledge(&x, x.acked + 4 * MSS);
    peer_pass(&x.t, 20000);
    acknowledge(&x, x.acked + 16 * MSS);  // of 40: still the same round
    peer_drain(&x.t);
    assert_false(conservative(&x));
    tcp_fixture_close(&x.t);
}

// A rise of an eighth, 4 ms at the least: a quarter of the growth, and after five rounds the end.
static void a_rise_slows_growth_to_a_quarter_and_ends_slow_start_after_five_rounds(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    round_trip(&x, 40000);
    round_trip(&x, 40000);
    assert_false(conservative(&x));
    round_trip(&x, 46000);  // the eighth sample of this round tells
    assert_true(conservative(&x));
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
        assert_in_range(round_trip(&x, 46000), 24, 25);
    }
    round_trip(&x, 46000);
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 1);
    assert_true(tcp_fixture_conn(&x.t)->flow->window.ssthresh != WEIR_CC_UNLIMITED);
    tcp_fixture_close(&x.t);
}

// ! Back to slow start when the round-trip time falls below what led to CSS: it was jitter.
static void growth_resumes_when_the_round_trip_time_falls(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    round_trip(&x, 40000);
    round_trip(&x, 40000);
    round_trip(&x, 46000);
    assert_true(conservative(&x));
    round_trip(&x, 41000);
    assert_false(conservative(&x));
    assert_int_equal(round_trip(&x, 41000), 100);
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
    tcp_fixture_close(&x.t);
}

// The threshold is an eighth of the round-trip time, but 4 ms at the least and 16 ms at the most.
static void the_threshold_is_an_eighth_within_four_and_sixteen_milliseconds(void **state)
{
    const struct {
        uint32_t rtt_us, rise_us;
        bool expected;
    } cases[] = {{1000, 3900, false}, {1000, 4100, true},     {40000, 4900, false},
                 {40000, 5200, true}, {150000, 15900, false}, {150000, 16100, true}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slow_start x;
        begin(&x);
        round_trip(&x, cases[i].rtt_us);
        round_trip(&x, cases[i].rtt_us);
        round_trip(&x, cases[i].rtt_us + cases[i].rise_us);
        assert_int_equal(conservative(&x), cases[i].expected);
        tcp_fixture_close(&x.t);
    }
}

// Fewer than eight samples prove nothing: the first round has ten segments, but here come only five acknowledgements.
static void seven_samples_are_too_few(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    round_trip(&x, 40000);
    fill(&x);
    const uint32_t end = x.sent;
    peer_pass(&x.t, 60000);
    for (uint32_t i = 0; i < 7; i++)
        peer_send(&x.t, TCP_ACK, 0, x.acked += MSS);
    assert_false(conservative(&x));
    peer_send(&x.t, TCP_ACK, 0, x.acked += MSS);
    assert_true(conservative(&x));
    assert_true(x.acked < end);
    tcp_fixture_close(&x.t);
}

// ! Only the initial slow start.
static void a_later_slow_start_is_left_alone(void **state)
{
    struct slow_start x;
    (void)state;
    begin(&x);
    round_trip(&x, 40000);
    tcp_fixture_conn(&x.t)->flow->window.ssthresh = 1 << 20;
    round_trip(&x, 40000);
    round_trip(&x, 80000);
    round_trip(&x, 80000);
    assert_false(conservative(&x));
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
    tcp_fixture_close(&x.t);
}

// L = 8: one acknowledgement is worth eight segments at the most, unless pacing keeps the burst apart.
static uint32_t growth_of_one_ack(uint32_t pacing_rate)
{
    struct slow_start x;
    begin(&x);
    for (uint32_t i = 0; i < 2; i++)
        round_trip(&x, 20000);
    fill(&x);
    peer_pass(&x.t, 20000);
    tcp_fixture_conn(&x.t)->flow->pacing.rate = pacing_rate;
    const uint32_t before = cwnd(&x);
    peer_send(&x.t, TCP_ACK, 0, x.acked + 20 * MSS);
    const uint32_t grown = cwnd(&x) - before;
    tcp_fixture_close(&x.t);
    return grown;
}

static void one_acknowledgement_is_worth_eight_segments_unless_paced(void **state)
{
    (void)state;
    assert_int_equal(growth_of_one_ack(0), 8 * MSS);
    assert_int_equal(growth_of_one_ack(100000000), 20 * MSS);
}

// --- trains of acknowledgements --------------------------------------------------------------------------------------

// The first `until` bytes, an acknowledgement every `gap_us`: with each the round-trip time is longer by that.
static void acknowledge_apart(struct slow_start *x, uint32_t until, uint32_t gap_us)
{
    while (x->acked < until) {
        x->acked += MSS;
        peer_send(&x->t, TCP_ACK, 0, x->acked);
        x->sent += peer_drain_count(&x->t) * MSS;
        peer_pass(&x->t, gap_us);
    }
}

static enum hystart_train train(struct slow_start *x) { return tcp_fixture_conn(&x->t)->flow->hystart.train; }

// After two rounds of 20 ms, the first acknowledgements of a third that come `gap_us` apart: 10.8 ms with 1.2 ms.
// Returns how much was under way when they began.
static uint32_t begin_train(struct slow_start *x, uint32_t gap_us)
{
    begin(x);
    round_trip(x, 20000);
    round_trip(x, 20000);
    fill(x);
    const uint32_t sent = x->sent;
    peer_pass(&x->t, 20000);
    acknowledge_apart(x, x->acked + 10 * MSS, gap_us);
    return sent;
}

// The rest of the round of a train.
static void end_train(struct slow_start *x)
{
    assert_int_equal(train(x), TRAIN_NOW);
    while (train(x) == TRAIN_NOW)
        acknowledge(x, x->acked + MSS);
    assert_int_equal(train(x), TRAIN_BEFORE);
}

// The next round, after `rtt_us`: so many acknowledgements.
static void next_round(struct slow_start *x, uint32_t rtt_us, uint32_t count)
{
    x->sent += peer_drain_count(&x->t) * MSS;
    peer_pass(&x->t, rtt_us);
    acknowledge(x, x->acked + count * MSS);
}

// More than half the round-trip time, and the newest waited for more than 4 ms: growth falls to a quarter.
static void a_train_slows_growth_to_a_quarter(void **state)
{
    struct slow_start x;
    (void)state;
    begin_train(&x, 1200);
    assert_int_equal(train(&x), TRAIN_NOW);
    const uint32_t before = cwnd(&x);
    acknowledge_apart(&x, x.acked + 8 * MSS, 1200);
    assert_int_equal(cwnd(&x) - before, 2 * MSS);
    tcp_fixture_close(&x.t);
}

// The next round's smallest sample has risen: slow start is over at its eighth sample.
static void a_train_and_then_a_queue_end_slow_start(void **state)
{
    struct slow_start x;
    (void)state;
    begin_train(&x, 1200);
    end_train(&x);
    next_round(&x, 26000, 7);
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
    next_round(&x, 0, 1);
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 1);
    tcp_fixture_close(&x.t);
}

// ! The next round tells of no queue: the train was no bottleneck's, and growth goes on as before.
static void a_train_without_a_queue_is_forgotten(void **state)
{
    struct slow_start x;
    (void)state;
    const uint32_t sent = begin_train(&x, 1200);
    end_train(&x);
    peer_send(&x.t, TCP_ACK, 0, x.acked = sent);
    next_round(&x, 1000, 8);  // what was sent since the train began
    assert_int_equal(train(&x), TRAIN_NONE);
    const uint32_t before = cwnd(&x);
    next_round(&x, 0, 8);
    assert_int_equal(cwnd(&x) - before, 8 * MSS);
    assert_int_equal(probe.events[WEIR_CC_EXIT_SLOW_START], 0);
    tcp_fixture_close(&x.t);
}

// ! Gaps of more than 2 ms, as a delayed acknowledgement at a slow link makes them, are no train; nor are ten that come
// within half a round-trip time.
static void neither_far_apart_nor_for_a_moment_is_a_train(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct slow_start x;
        begin_train(&x, i ? 900 : 2100);
        assert_int_equal(train(&x), TRAIN_NONE);
        tcp_fixture_close(&x.t);
    }
}

// --- on links --------------------------------------------------------------------------------------------------------

struct transfer {
    struct pair pair;
    weir_socket client, server;
    bool left, without;
    uint32_t lost_when_left, cwnd_when_left;
};

static struct tcp_conn *conn_of(struct transfer *x)
{
    struct weir_endpoint local, peer;
    assert_int_equal(weir_socket_local(x->pair.a.weir, x->client, &local), WEIR_OK);
    assert_int_equal(weir_socket_peer(x->pair.a.weir, x->client, &peer), WEIR_OK);
    return tcp_conn_find(x->pair.a.weir, local.addr, local.port, peer.addr, peer.port);
}

static bool until_slow_start_ends(void *context)
{
    static uint8_t bytes[65536];
    struct transfer *x = context;
    while (weir_socket_write(x->pair.a.weir, x->client, bytes, sizeof bytes) > 0)
        ;
    while (weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes) > 0)
        ;
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(x->pair.a.weir, x->client, &info), WEIR_OK);
    struct tcp_conn *c = conn_of(x);
    if (x->without && c->flow && c->flow->window.ssthresh == WEIR_CC_UNLIMITED)
        c->flow->window.ssthresh--;
    x->left = info.ssthresh < WEIR_CC_UNLIMITED - 1;
    x->lost_when_left = x->pair.stats[0].lost;
    x->cwnd_when_left = info.cwnd;
    return x->left;
}

static void run(struct transfer *x, const struct pair_link *link, const struct pair_link *back, bool without)
{
    memset(x, 0, sizeof *x);
    x->without = without;
    pair_open(&x->pair,
              &(struct pair_options){
                  .link = *link, .back = back, .a = {.mode = FIXTURE_PLAIN}, .b = {.mode = FIXTURE_PLAIN}, .seed = 3});
    pair_connect(&x->pair, 7, &x->client, &x->server);
    assert_int_equal(weir_socket_set_congestion(x->pair.a.weir, x->client, "reno"), WEIR_OK);
    assert_int_equal(weir_socket_set(x->pair.a.weir, x->client, WEIR_OPTION_SEND_BUFFER, 8 << 20), WEIR_OK);
    pair_run_until(&x->pair, until_slow_start_ends, x, 10000000);
}

static uint32_t lost_in_slow_start(const struct pair_link *link, bool without)
{
    struct transfer x;
    run(&x, link, &(struct pair_link){.delay_us = link->delay_us}, without);
    assert_true(x.left);
    const uint32_t lost = x.lost_when_left;
    print_message("queue of %u frames%s: slow start left with cwnd %u, %u frames lost\n", link->queue_frames,
                  without ? ", without HyStart++" : "", x.cwnd_when_left, lost);
    pair_close(&x.pair);
    return lost;
}

// 100 Mbit/s, 20 ms: a bandwidth-delay product is 165 frames. A rise of 4 ms is seen a round trip after it came to be,
// when the window has doubled, so that a queue of one product overflowed all the same; the train is seen before.
static void the_overflow_at_the_end_of_slow_start_is_smaller(void **state)
{
    (void)state;
    for (uint32_t queue = 165; queue <= 660; queue *= 2) {
        const struct pair_link link = {.delay_us = 10000, .rate = 12500000, .queue_frames = queue};
        const uint32_t lost = lost_in_slow_start(&link, false), before = lost_in_slow_start(&link, true);
        assert_true(lost * 8 < before);
    }
}

// ! It never triggers on a LAN whose queue holds less than 4 ms: what ends slow start there is a loss.
static void a_lan_is_left_to_its_losses(void **state)
{
    (void)state;
    const struct pair_link link = {.delay_us = 100, .rate = 125000000, .queue_frames = 250};  // 3 ms
    assert_true(lost_in_slow_start(&link, false) > 0);
    assert_int_equal(lost_in_slow_start(&link, false), lost_in_slow_start(&link, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slow_start_goes_on_while_the_round_trip_time_stays),
        cmocka_unit_test(of_a_round_the_smallest_sample_counts),
        cmocka_unit_test(a_rise_slows_growth_to_a_quarter_and_ends_slow_start_after_five_rounds),
        cmocka_unit_test(growth_resumes_when_the_round_trip_time_falls),
        cmocka_unit_test(the_threshold_is_an_eighth_within_four_and_sixteen_milliseconds),
        cmocka_unit_test(seven_samples_are_too_few),
        cmocka_unit_test(a_later_slow_start_is_left_alone),
        cmocka_unit_test(a_train_slows_growth_to_a_quarter),
        cmocka_unit_test(a_train_and_then_a_queue_end_slow_start),
        cmocka_unit_test(a_train_without_a_queue_is_forgotten),
        cmocka_unit_test(neither_far_apart_nor_for_a_moment_is_a_train),
        cmocka_unit_test(one_acknowledgement_is_worth_eight_segments_unless_paced),
        cmocka_unit_test(the_overflow_at_the_end_of_slow_start_is_smaller),
        cmocka_unit_test(a_lan_is_left_to_its_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
