// SPDX-License-Identifier: BSD-2-Clause
// not lean: its congestion controls stand beside reno
// Pacing: when the next quantum goes, how large it is, what waits for it and what does not.
#include "pair.h"
#include "tcp/probe.h"
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define MSS 1460u

static void bring_with(struct tcp_fixture *t, const struct tcp_fixture_options *options)
{
    struct tcp_fixture_options plain = *options;
    plain.fixture.mode = FIXTURE_PLAIN;  // frames are counted, moment by moment
    probe_reset();
    probe.cwnd = 100 * MSS;
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, &plain);
    peer_drain(t);
}

static void bring(struct tcp_fixture *t)
{
    bring_with(t, &(struct tcp_fixture_options){.sack = true, .scale = true, .peer_scale = 4, .send_buffer = 1 << 20});
}

// Counts the segments that leave in each of `steps` steps.
static void expect_steps(struct tcp_fixture *t, uint32_t step_us, uint32_t steps, uint32_t each)
{
    for (uint32_t i = 0; i < steps; i++) {
        peer_pass(t, step_us);
        assert_int_equal(peer_drain_count(t), each);
    }
}

// 1,460,000 bytes/s are a segment a millisecond: two go every 2 ms, and a burst of two more at the start, as the
// schedule is new.
static void two_segments_leave_at_a_time_at_the_rate(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    probe.pacing_rate = 1000 * MSS;
    user_write(&t, 0, 40 * MSS);
    assert_in_range(peer_drain_count(&t), 2, 4);
    peer_pass(&t, 1990);
    peer_drain(&t);
    expect_steps(&t, 1000, 1, 2);
    for (uint32_t i = 0; i < 10; i++) {
        peer_pass(&t, 1000);
        const uint32_t odd = peer_drain_count(&t);
        peer_pass(&t, 1000);
        assert_int_equal(odd + peer_drain_count(&t), 2);
    }
    tcp_fixture_close(&t);
}

// A connection without a rate sends what its window lets go.
static void without_a_rate_nothing_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 40 * MSS);
    assert_int_equal(peer_drain_count(&t), 40);
    tcp_fixture_close(&t);
}

static void warm(struct tcp_fixture *t)
{
    probe.pacing_rate = 1000 * MSS;
    user_write(t, 0, MSS);
    peer_pass(t, 50000);
    peer_send(t, TCP_ACK, 0, MSS);
    peer_drain(t);
}

// ! Timer slip: who comes late catches up by a quantum or 4 ms, at the most a quarter of a round trip, not by all the
// time lost.
static void late_by(uint32_t srtt_us, uint32_t late_us, uint32_t segments)
{
    struct tcp_fixture t;
    bring(&t);
    warm(&t);
    tcp_fixture_conn(&t)->rtt.srtt8_us = srtt_us * 8;
    user_write(&t, MSS, 60 * MSS);
    peer_drain(&t);
    peer_pass(&t, 10000);
    peer_drain(&t);
    t.f.now_us += late_us;  // the poller slept
    fixture_poll(&t.f, 0);
    assert_int_equal(peer_drain_count(&t), segments);
    tcp_fixture_close(&t);
}

static void a_late_timer_gives_credit_for_little(void **state)
{
    (void)state;
    late_by(8000, 5000, 4);    // a quantum of two segments, and the one it was late for
    late_by(20000, 30000, 6);  // 4 ms late, a segment each
}

// ! The quantum is at least rate × tick: a clock of 10 ms must not make a flow of 1.46 MB/s slower.
static void a_coarse_clock_makes_larger_quanta(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    t.f.port.granularity_us = 10000;
    warm(&t);
    user_write(&t, MSS, 60 * MSS);
    assert_in_range(peer_drain_count(&t), 10, 20);
    uint32_t sent = 0;
    for (uint32_t i = 0; i < 3; i++) {  // time is only looked at each 10 ms
        t.f.now_us += 10000;
        fixture_poll(&t.f, 0);
        sent += peer_drain_count(&t);
    }
    assert_in_range(sent, 28, 40);
    tcp_fixture_close(&t);
}

static void an_algorithm_may_ask_for_larger_bursts(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    probe.burst_segments = 8;
    warm(&t);
    user_write(&t, MSS, 60 * MSS);
    peer_drain(&t);
    expect_steps(&t, 8000, 3, 8);
    tcp_fixture_close(&t);
}

// Where the device cuts segments, a quantum is about a millisecond's data: at 14.6 MB/s ten segments or nearly so.
static void a_device_that_cuts_segments_gets_a_milliseconds_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring_with(&t,
               &(struct tcp_fixture_options){.sack = true,
                                             .scale = true,
                                             .peer_scale = 4,
                                             .send_buffer = 1 << 20,
                                             .fixture = {.capabilities = WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM}});
    probe.pacing_rate = 10000 * MSS;
    const uint32_t seen = t.seen;
    user_write(&t, 0, 40 * MSS);
    assert_in_range(fixture_sent_frame(&t.f, seen)->length, 9 * MSS, 10 * MSS);
    t.seen = fixture_sent_count(&t.f);
    peer_pass(&t, 100000);
    tcp_fixture_close(&t);
}

// ! cwnd-limited stays true while the schedule is what limits and half of cwnd is used, or cwnd would never grow.
static void what_waits_for_its_moment_is_limited_by_the_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    probe.cwnd = 20 * MSS;
    warm(&t);
    user_write(&t, MSS, 40 * MSS);
    peer_pass(&t, 10000);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    assert_true(probe_newest()->cwnd_limited);
    probe.cwnd = 100 * MSS;
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    peer_pass(&t, 2000);
    peer_send(&t, TCP_ACK, 0, 5 * MSS);
    assert_false(probe_newest()->cwnd_limited);
    peer_pass(&t, 100000);  // all has left, with more than half the window to spare
    peer_send(&t, TCP_ACK, 0, 20 * MSS);
    assert_false(probe_newest()->cwnd_limited);
    tcp_fixture_close(&t);
}

// A limit that the user set is not the window's, which grows to twice what is in flight under it (RFC 7661 §4).
static void a_limit_of_the_users_leaves_the_window_small(void **state)
{
    struct tcp_fixture t;
    uint32_t acked = 0;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, 1000 * MSS), WEIR_OK);
    for (uint32_t round = 0; round < 100; round++) {  // of 20 ms, with twenty segments
        user_write(&t, 20 * round * MSS, 20 * MSS);
        peer_pass(&t, 20000);
        peer_drain(&t);
        const uint32_t sent = tcp_fixture_conn(&t)->snd.nxt - t.ours;
        if (sent > acked)
            peer_send(&t, TCP_ACK, 0, acked = sent);
    }
    assert_in_range(acked, 1900 * MSS, 2000 * MSS);
    assert_in_range(tcp_fixture_conn(&t)->flow->window.cwnd, 20 * MSS, 70 * MSS);
    tcp_fixture_close(&t);
}

// ! Retransmissions are paced, too.
static void what_is_sent_again_is_paced(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    warm(&t);
    user_write(&t, MSS, 40 * MSS);
    peer_pass(&t, 60000);
    peer_drain(&t);
    peer_sack(&t, MSS, 1, (uint32_t[]){21 * MSS, 41 * MSS});  // twenty are lost
    const uint32_t at_once = peer_drain_count(&t);
    assert_in_range(at_once, 1, 4);
    peer_pass(&t, 6000);
    assert_in_range(peer_drain_count(&t), 4, 8);
    peer_pass(&t, 20000);
    assert_true(peer_drain_count(&t) + at_once >= 8);
    tcp_fixture_close(&t);
}

// ! … and so is a tail-loss probe: it waits for its moment, is not lost, and nothing else comes of it.
static void a_tail_probe_is_paced(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "plain"), WEIR_OK);
    warm(&t);
    probe.pacing_rate = 20 * MSS;  // two segments every 100 ms
    tcp_fixture_conn(&t)->flow->window.pacing_rate = probe.pacing_rate;
    tcp_fixture_conn(&t)->rtt.srtt8_us = 5000 * 8;
    user_write(&t, MSS, 2 * MSS);
    assert_int_equal(peer_drain_count(&t), 2);
    peer_pass(&t, 45000);  // the probe is due after 12; the schedule was 50 behind, and so has 50 to go
    peer_expect_nothing(&t);
    peer_pass(&t, 7000);
    peer_expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_TAIL_PROBE), 1);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 0);
    tcp_fixture_close(&t);
}

// ! Bare acknowledgements are not.
static void acknowledgements_do_not_wait(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    warm(&t);
    probe.pacing_rate = 2 * MSS;
    tcp_fixture_conn(&t)->flow->window.pacing_rate = probe.pacing_rate;
    user_write(&t, MSS, 20 * MSS);
    peer_drain(&t);
    for (uint32_t i = 0; i < 4; i++) {
        peer_data(&t, i * 1000, 1000);
        peer_take(&t);
        assert_int_equal(t.got.length, 0);
        assert_int_equal(t.got_ack, (i + 1) * 1000);
    }
    tcp_fixture_close(&t);
}

// --- the socket's limit ----------------------------------------------------------------------------------------------

static uint64_t pacing_rate(struct tcp_fixture *t)
{
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(t->weir, t->socket, &info), WEIR_OK);
    return info.pacing_rate;
}

// As Linux: twice cwnd a round trip while cwnd may double, 1.2 times after.
static void tcps_own_rate_is_twice_the_window_in_slow_start_and_less_after(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "plain"), WEIR_OK);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, INT32_MAX), WEIR_OK);
    user_write(&t, 0, MSS);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    c->rtt.srtt8_us = 8 * 20000;
    c->flow->window.cwnd = 20 * MSS;
    assert_int_equal(pacing_rate(&t), 2000 * MSS);
    c->flow->window.ssthresh = 20 * MSS;
    assert_int_equal(pacing_rate(&t), 1200 * MSS);
    c->rtt.srtt8_us = 0;
    assert_int_equal(pacing_rate(&t), 0);
    tcp_fixture_close(&t);
}

static void a_socket_may_limit_the_rate(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, 500 * MSS), WEIR_OK);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, &value), WEIR_OK);
    assert_int_equal(value, 500 * MSS);
    warm(&t);  // the algorithm wants twice as much
    assert_int_equal(pacing_rate(&t), 500 * MSS);
    user_write(&t, MSS, 40 * MSS);
    peer_drain(&t);
    peer_pass(&t, 8000);
    peer_drain(&t);
    expect_steps(&t, 4000, 5, 2);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, 0), WEIR_OK);
    assert_int_equal(pacing_rate(&t), 1000 * MSS);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, -1), WEIR_INVALID);
    tcp_fixture_close(&t);
}

static void set_limit(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_MAX_PACING_RATE, 300 * MSS), WEIR_OK);
}

static void a_listeners_limit_is_inherited_and_outlives_idling(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    bring_with(&t, &(struct tcp_fixture_options){.sack = true, .before = set_limit});
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    user_write(&t, 0, MSS);
    peer_pass(&t, 1000);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_pass(&t, 10000000);
    assert_null(tcp_fixture_conn(&t)->flow);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_MAX_PACING_RATE, &value), WEIR_OK);
    assert_int_equal(value, 300 * MSS);
    tcp_fixture_close(&t);
}

// --- on a link -------------------------------------------------------------------------------------------------------

struct transfer {
    struct pair pair;
    weir_socket client, server;
    uint64_t read;
    uint32_t burst, most;
    uint64_t at_us;
};

static bool keep_busy(void *context)
{
    static uint8_t bytes[65536];
    struct transfer *x = context;
    int got;
    while (weir_socket_write(x->pair.a.weir, x->client, bytes, sizeof bytes) > 0)
        ;
    while ((got = weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes)) > 0)
        x->read += (uint64_t)got;
    return false;
}

static bool measure_bursts(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct transfer *x = context;
    (void)frame;
    if (from_b || length < 500)
        return true;
    x->burst = x->at_us == pair_now_us(&x->pair) ? x->burst + 1 : 1;
    x->at_us = pair_now_us(&x->pair);
    x->most = max_u32(x->most, x->burst);
    return true;
}

static uint32_t sent_again(struct transfer *x)
{
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(x->pair.a.weir, x->client, &info), WEIR_OK);
    return info.total_retrans;
}

// 95 of 100 Mbit/s, a window of two products, and a queue of ten frames: nothing is lost, also where segments leave by
// template.
static void a_paced_flow_fits_into_a_queue_of_ten_frames(void **state)
{
    struct transfer x;
    (void)state;
    memset(&x, 0, sizeof x);
    probe_reset();
    probe.cwnd = 500000;
    probe.pacing_rate = 11360000;  // of 11,955,000 bytes/s of payload
    pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 10000, .rate = 12500000, .queue_frames = 10},
                                              .back = &(struct pair_link){.delay_us = 10000},
                                              .a = {.mode = FIXTURE_PLAIN},
                                              .b = {.mode = FIXTURE_PLAIN}});
    pair_connect(&x.pair, 7, &x.client, &x.server);
    assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_SEND_BUFFER, 4 << 20), WEIR_OK);
    assert_int_equal(weir_socket_set(x.pair.b.weir, x.server, WEIR_OPTION_RECEIVE_BUFFER, 4 << 20), WEIR_OK);
    x.pair.filter = measure_bursts;
    x.pair.filter_context = &x;
    pair_run_until(&x.pair, keep_busy, &x, 100000);
    const uint64_t before = x.read;
    pair_run_until(&x.pair, keep_busy, &x, 1000000);
    print_message("%u frames, %u sent again, %llu bytes in a second, bursts of %u at the most\n", x.pair.stats[0].sent,
                  sent_again(&x), (unsigned long long)(x.read - before), x.most);
    // the queue's limit is in the time of a frame: of a small one (ARP) it may lose one
    assert_int_equal(sent_again(&x), 0);
    assert_in_range(x.read - before, probe.pacing_rate / 100 * 99, probe.pacing_rate / 100 * 101);
    assert_in_range(x.most, 2, 4);
    // The same without a rate overflows the queue.
    probe.pacing_rate = WEIR_CC_UNLIMITED;
    pair_run_until(&x.pair, keep_busy, &x, 200000);
    assert_true(sent_again(&x) > 0);
    pair_close(&x.pair);
}

// A loss-based flow that asks for pacing fills the link as one that does not, in bursts of two (three where two quanta
// meet).
static void tcps_own_rate_fills_the_link(void **state)
{
    (void)state;
    for (int paced = 0; paced < 2; paced++) {
        struct transfer x;
        memset(&x, 0, sizeof x);
        probe_reset();
        pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 10000, .rate = 12500000, .queue_frames = 165},
                                                  .back = &(struct pair_link){.delay_us = 10000},
                                                  .a = {.mode = FIXTURE_PLAIN},
                                                  .b = {.mode = FIXTURE_PLAIN}});
        pair_connect(&x.pair, 7, &x.client, &x.server);
        assert_int_equal(weir_socket_set_congestion(x.pair.a.weir, x.client, "reno"), WEIR_OK);
        assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_SEND_BUFFER, 4 << 20), WEIR_OK);
        assert_int_equal(weir_socket_set(x.pair.b.weir, x.server, WEIR_OPTION_RECEIVE_BUFFER, 4 << 20), WEIR_OK);
        if (paced)
            assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_MAX_PACING_RATE, PACING_OWN_RATE),
                             WEIR_OK);
        pair_run_until(&x.pair, keep_busy, &x, 2000000);
        x.pair.filter = measure_bursts;
        x.pair.filter_context = &x;
        const uint64_t before = x.read;
        pair_run_until(&x.pair, keep_busy, &x, 2000000);
        const uint64_t per_s = (x.read - before) / 2;
        print_message("%s: %llu bytes/s, bursts of %u at the most\n", paced ? "paced" : "unpaced",
                      (unsigned long long)per_s, x.most);
        assert_true(per_s > 11955000 * 97ull / 100);
        if (paced)
            assert_in_range(x.most, 1, 4);
        pair_close(&x.pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_segments_leave_at_a_time_at_the_rate),
        cmocka_unit_test(without_a_rate_nothing_waits),
        cmocka_unit_test(a_late_timer_gives_credit_for_little),
        cmocka_unit_test(a_coarse_clock_makes_larger_quanta),
        cmocka_unit_test(an_algorithm_may_ask_for_larger_bursts),
        cmocka_unit_test(a_device_that_cuts_segments_gets_a_milliseconds_data),
        cmocka_unit_test(what_waits_for_its_moment_is_limited_by_the_window),
        cmocka_unit_test(a_limit_of_the_users_leaves_the_window_small),
        cmocka_unit_test(what_is_sent_again_is_paced),
        cmocka_unit_test(a_tail_probe_is_paced),
        cmocka_unit_test(acknowledgements_do_not_wait),
        cmocka_unit_test(tcps_own_rate_is_twice_the_window_in_slow_start_and_less_after),
        cmocka_unit_test(a_socket_may_limit_the_rate),
        cmocka_unit_test(a_listeners_limit_is_inherited_and_outlives_idling),
        cmocka_unit_test(a_paced_flow_fits_into_a_queue_of_ten_frames),
        cmocka_unit_test(tcps_own_rate_fills_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
