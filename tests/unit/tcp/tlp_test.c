// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// The tail-loss probe (RFC 8985 §7).
// profiles: small
#include "tcp/loss_fixture.h"

#define PROBE_US (2 * RTT_US + 2000)

static void the_last_segment_goes_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 3);
    peer_pass(&t, PROBE_US - 100);
    peer_expect_nothing(&t);
    peer_pass(&t, 2200);
    peer_expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    peer_pass(&t, RTT_US);
    // Its SACK shows the holes: fast recovery, no timeout.
    loss_sack(&t, 0, 2, 3);
    peer_pass(&t, RTT_US / 4 + 200);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// §7.2: a peer may sit on the acknowledgement of a single segment.
static void a_single_segment_is_given_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 1);
    peer_pass(&t, RTT_US + 199000);
    peer_expect_nothing(&t);
    peer_pass(&t, 3000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);  // with the window as it was, not by a timeout
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(flow(&t)->window.cwnd, 10 * MSS);
    tcp_fixture_close(&t);
}

static void new_data_is_the_better_probe(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 3);
    user_write(&t, 3 * MSS, 100);
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, 100);
    user_write(&t, 3 * MSS + 100, 100);  // Nagle holds it
    peer_expect_nothing(&t);
    peer_pass(&t, PROBE_US + 2200);
    peer_expect(&t, TCP_ACK, 3 * MSS + 100, 0, 100);
    peer_expect_nothing(&t);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    tcp_fixture_close(&t);
}

static void the_end_of_a_connection_is_probed_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 2);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_ACK | TCP_FIN, 2 * MSS, 0, 0);
    peer_pass(&t, PROBE_US + 2200);
    peer_expect(&t, TCP_ACK | TCP_FIN, MSS, 0, MSS);
    peer_send(&t, TCP_ACK, 0, 2 * MSS + 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// The probe could not leave when its time came, and the acknowledgement comes before it can: nobody needs it any more.
static void a_probe_that_came_too_late_does_not_leave(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t acked = 3; acked <= 4; acked++) {  // of the four in flight all but the last; all
        loss_bring(&t, NULL);
        loss_send(&t, 0, 4);
        t.f.block_tx = true;
        peer_pass(&t, PROBE_US + 2200);
        assert_true(tcp_tlp_due(tcp_fixture_conn(&t)));
        peer_send(&t, TCP_ACK, 0, acked * MSS);
        assert_false(tcp_tlp_due(tcp_fixture_conn(&t)));
        fixture_unblock(&t.f, 0);
        peer_expect_nothing(&t);
        assert_int_equal(counted(&t, TAIL_PROBE), 0);
        tcp_fixture_close(&t);
    }
}

static void one_probe_and_then_the_timeout(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 3);
    peer_pass(&t, PROBE_US + 2200);
    assert_int_equal(peer_drain_count(&t), 1);
    peer_pass(&t, RTT_US + 195000);
    peer_expect_nothing(&t);
    peer_pass(&t, 5000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(counted(&t, RTO), 1);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    tcp_fixture_close(&t);
}

// What the probe mended was a loss all the same (§7.4.2); when the peer reports that both came there was none.
static void a_mended_loss_costs_what_a_loss_costs(void **state)
{
    for (int both = 0; both < 2; both++) {
        struct tcp_fixture t;
        (void)state;
        loss_bring(&t, NULL);
        loss_send(&t, 0, 2);
        peer_pass(&t, PROBE_US + 2200);
        peer_expect(&t, TCP_ACK, MSS, 0, MSS);
        peer_send(&t, TCP_ACK, 0, 2 * MSS);
        assert_int_equal(flow(&t)->window.cwnd, 10 * MSS);  // it may be either, as yet
        if (both)
            peer_sack(&t, 2 * MSS, 1, (uint32_t[]){MSS, 2 * MSS});
        loss_send(&t, 2, 2);
        peer_pass(&t, RTT_US);
        peer_send(&t, TCP_ACK, 0, 4 * MSS);
        if (both)
            assert_true(flow(&t)->window.cwnd >= 10 * MSS);
        else
            assert_true(flow(&t)->window.cwnd < 8 * MSS);
        assert_int_equal(counted(&t, FAST_RECOVERY), 0);
        tcp_fixture_close(&t);
    }
}

// §7.2: not without SACK, which would show nothing; not while the scoreboard knows more.
static void when_there_is_no_probe(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, &(struct tcp_fixture_options){0});
    loss_send(&t, 0, 3);
    peer_pass(&t, RTT_US + 300000);
    assert_int_equal(counted(&t, TAIL_PROBE), 0);
    assert_int_equal(counted(&t, RTO), 1);
    tcp_fixture_close(&t);
    loss_bring(&t, NULL);
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 2);
    peer_pass(&t, RTT_US);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_pass(&t, 3 * RTT_US);
    assert_int_equal(counted(&t, TAIL_PROBE), 0);
    tcp_fixture_close(&t);
}

// No time between two ticks is seen.
static void tick(struct tcp_fixture *t)
{
    t->f.now_us += 10000;
    fixture_poll(&t->f, 0);
}

static void round_trips(struct tcp_fixture *t, uint32_t from, uint32_t rounds, uint32_t rtt_us)
{
    for (uint32_t round = 0; round <= rounds; round++) {
        struct rtt *rtt = &tcp_fixture_conn(t)->rtt;
        rtt->srtt8_us = 8 * rtt_us;
        loss_send(t, from + 2 * round, 2);
        if (round < rounds)
            peer_send(t, TCP_ACK, 0, (from + 2 * round + 2) * MSS);
    }
}

// Under a coarse clock the next tick may come at once: it takes two until a round trip has surely passed. Where a timer
// has just fired the tick has just begun, and what few short round trips have taken since leaves enough of it: then it
// takes one.
static void a_probe_waits_for_as_few_ticks_as_it_can(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t rounds = 1; rounds <= 8; rounds++) {
        loss_bring(&t, NULL);
        t.f.port.granularity_us = 10000;
        round_trips(&t, 0, 0, 1000);
        tick(&t);
        peer_expect_nothing(&t);
        tick(&t);
        peer_expect(&t, TCP_ACK, MSS, 0, MSS);
        peer_send(&t, TCP_ACK, 0, 2 * MSS);
        round_trips(&t, 2, rounds, 1000);
        tick(&t);
        // six, and two more, are what ten milliseconds have room for with two to spare
        const bool at_once = rounds <= 6;
        assert_int_equal(peer_drain_count(&t), at_once);
        tick(&t);
        assert_int_equal(counted(&t, TAIL_PROBE), 2);
        assert_int_equal(counted(&t, RTO), 0);
        tcp_fixture_close(&t);
    }
}

#if WEIR_CFG_TCP_COARSE_CLOCK
// Under a clock coarser than a delayed acknowledgement a probe can only leave at once or a tick late. With two segments
// out and no room for a third it leaves at once, if it carries new data.
static void a_probe_that_could_only_be_late_leaves_at_once(void **state)
{
    static const struct {
        uint32_t tick_us, cwnd, queued, sent;
    } cases[] = {{100000, 2, 6, 3}, {40000, 2, 6, 2}, {100000, 3, 6, 3}, {100000, 2, 2, 2}, {0, 2, 6, 2}};
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        struct tcp_fixture t;
        loss_bring(&t, NULL);
        t.f.port.granularity_us = cases[i].tick_us;
        tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * 1000;
        flow(&t)->window.cwnd = cases[i].cwnd * MSS;
        user_write(&t, 0, cases[i].queued * MSS);
        assert_int_equal(peer_drain_count(&t), cases[i].sent);
        const bool probed = cases[i].sent > cases[i].cwnd;
        assert_int_equal(counted(&t, TAIL_PROBE), probed);
        if (probed) {  // once a round trip
            flow(&t)->window.cwnd = 2 * MSS;
            loss_sack(&t, 0, 2, 3);
            peer_expect(&t, TCP_ACK, 0, 0, MSS);
            peer_drain(&t);
            assert_int_equal(counted(&t, TAIL_PROBE), 1);
        }
        tcp_fixture_close(&t);
    }
}

// A probe that left early has not waited for the tail that comes after it: that has its own probe, a tick later.
static void after_an_early_probe_the_tail_is_probed_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    t.f.port.granularity_us = 100000;
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * 1000;
    flow(&t)->window.cwnd = 2 * MSS;
    user_write(&t, 0, 8 * MSS);
    assert_int_equal(peer_drain_count(&t), 3);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    flow(&t)->window.cwnd = 2 * MSS;
    const uint32_t sent = 3 + peer_drain_count(&t);
    peer_pass(&t, 100000);
    peer_expect_nothing(&t);
    peer_pass(&t, 100000);
    peer_expect(&t, TCP_ACK, sent * MSS, 0, MSS);
    assert_int_equal(counted(&t, TAIL_PROBE), 2);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// Nor does it where the round trip is no shorter than half a tick.
static void a_probe_that_a_coarse_clock_can_wait_for_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    t.f.port.granularity_us = 100000;
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * 60000;
    flow(&t)->window.cwnd = 2 * MSS;
    user_write(&t, 0, 6 * MSS);
    assert_int_equal(peer_drain_count(&t), 2);
    tcp_fixture_close(&t);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_segment_goes_again),
        cmocka_unit_test(a_single_segment_is_given_time),
        cmocka_unit_test(new_data_is_the_better_probe),
        cmocka_unit_test(the_end_of_a_connection_is_probed_too),
        cmocka_unit_test(a_probe_that_came_too_late_does_not_leave),
        cmocka_unit_test(one_probe_and_then_the_timeout),
        cmocka_unit_test(a_mended_loss_costs_what_a_loss_costs),
        cmocka_unit_test(when_there_is_no_probe),
        cmocka_unit_test(a_probe_waits_for_as_few_ticks_as_it_can),
#if WEIR_CFG_TCP_COARSE_CLOCK
        cmocka_unit_test(a_probe_that_could_only_be_late_leaves_at_once),
        cmocka_unit_test(after_an_early_probe_the_tail_is_probed_too),
        cmocka_unit_test(a_probe_that_a_coarse_clock_can_wait_for_waits),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
