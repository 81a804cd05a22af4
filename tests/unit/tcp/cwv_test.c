// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Congestion window validation (RFC 7661): what is in use, what a loss makes of it, and how long what is not used is
// kept.
#include "tcp/loss_fixture.h"

#if WEIR_CFG_TCP_REFINEMENTS
// `count` segments leave at once and are acknowledged a round trip later; then nothing for `pause_us`.
static void round_trip(struct tcp_fixture *t, uint32_t count, uint32_t pause_us)
{
    loss_send(t, 0, count);
    peer_pass(t, RTT_US);
    peer_send(t, TCP_ACK, 0, count * MSS);
    peer_drain(t);
    t->ours += count * MSS;
    peer_pass(t, pause_us);
    peer_drain(t);
}

// Out of slow start, with a window of `segments`.
static void window_of(struct tcp_fixture *t, uint32_t segments)
{
    flow(t)->window.cwnd = flow(t)->window.ssthresh = segments * MSS;
}

static void bring(struct tcp_fixture *t)
{
    loss_bring(t, NULL);
    peer_pass(t, 20000);
}

static void a_round_trips_worth_is_remembered_for_a_second(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), 2 * MSS);  // of the rounds that brought the connection up
    round_trip(&t, 6, 0);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), 6 * MSS);
    for (uint32_t passed = 0; passed < 700000; passed += 100000)
        round_trip(&t, 2, 80000);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), 6 * MSS);
    for (uint32_t passed = 0; passed < 600000; passed += 100000)
        round_trip(&t, 2, 80000);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), 2 * MSS);
    tcp_fixture_close(&t);
}

// Acknowledgements that come one by one are of one round trip all the same.
static void a_round_trip_has_many_acknowledgements(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    loss_send(&t, 0, 8);
    peer_pass(&t, RTT_US);
    for (uint32_t i = 1; i <= 8; i++)
        peer_send(&t, TCP_ACK, 0, i * MSS);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), 8 * MSS);
    tcp_fixture_close(&t);
}

static void less_than_half_in_use_is_not_validated(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    window_of(&t, 8);
    round_trip(&t, 4, 0);
    assert_false(flow(&t)->cwv.unused);
    window_of(&t, 9);
    round_trip(&t, 4, 0);
    assert_true(flow(&t)->cwv.unused);
    round_trip(&t, 5, 0);
    assert_false(flow(&t)->cwv.unused);
    flow(&t)->window = (struct weir_cc_window){.cwnd = 16 * MSS, .ssthresh = WEIR_CC_UNLIMITED};
    round_trip(&t, 4, 0);  // slow start has just doubled it
    assert_false(flow(&t)->cwv.unused);
    tcp_fixture_close(&t);
}

// Of 40 segments allowed eight were used; four are in flight, and one is lost: half of eight, and at the end half of
// eight less one. The algorithm alone would go by the four in flight.
static void a_loss_is_answered_by_what_was_in_use(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    window_of(&t, 40);
    round_trip(&t, 8, 0);
    assert_true(flow(&t)->cwv.unused);
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 4);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(flow(&t)->window.ssthresh, 4 * MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    assert_false(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(flow(&t)->window.ssthresh, 7 * MSS / 2);
    assert_int_equal(flow(&t)->window.cwnd, 7 * MSS / 2);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), UINT32_MAX);
    tcp_fixture_close(&t);
}

// In a validated phase the window at a loss is the algorithm's.
static void a_window_in_use_is_the_algorithms(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    window_of(&t, 8);
    round_trip(&t, 8, 0);
    loss_send(&t, 0, 8);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 8);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(flow(&t)->cwv.flight, 0);
    assert_true(flow(&t)->window.ssthresh > 5 * MSS);  // cubic: seven tenths
    tcp_fixture_close(&t);
}

static void a_timeout_makes_it_undefined(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    window_of(&t, 40);
    round_trip(&t, 8, 0);
    loss_send(&t, 0, 1);
    peer_pass(&t, 1000000);
    assert_true(counted(&t, RTO) > 0);
    assert_int_equal(tcp_cwv_pipe(tcp_fixture_conn(&t)), UINT32_MAX);
    assert_false(flow(&t)->cwv.unused);
    tcp_fixture_close(&t);
}

static void after_five_minutes_half_is_given_up(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    window_of(&t, 40);
    for (uint32_t i = 0; i < 2990; i++)
        round_trip(&t, 2, 80000);
    assert_int_equal(flow(&t)->window.cwnd, 40 * MSS);
    for (uint32_t i = 0; i < 20; i++)
        round_trip(&t, 2, 80000);
    assert_int_equal(flow(&t)->window.cwnd, 20 * MSS);
    assert_int_equal(flow(&t)->window.ssthresh, 40 * MSS);
    for (uint32_t i = 0; i < 6000; i++)
        round_trip(&t, 2, 80000);
    assert_int_equal(flow(&t)->window.cwnd, 10 * MSS);  // never less than what a connection may begin with
    tcp_fixture_close(&t);
}
#endif

int main(void)
{
#if WEIR_CFG_TCP_REFINEMENTS
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_trips_worth_is_remembered_for_a_second),
        cmocka_unit_test(a_round_trip_has_many_acknowledgements),
        cmocka_unit_test(less_than_half_in_use_is_not_validated),
        cmocka_unit_test(a_loss_is_answered_by_what_was_in_use),
        cmocka_unit_test(a_window_in_use_is_the_algorithms),
        cmocka_unit_test(a_timeout_makes_it_undefined),
        cmocka_unit_test(after_five_minutes_half_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
