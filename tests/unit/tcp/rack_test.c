// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// RACK (RFC 8985 §6): what is lost by the time it was sent, and what is only late.
// profiles: small
#include "tcp/loss_fixture.h"

static void what_may_be_late_is_waited_for(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 2);
    peer_pass(&t, RTT_US / 4 - 200);
    peer_expect_nothing(&t);
    peer_pass(&t, 400);  // §6.2: a quarter of the round trip; a timer ends it, not the RTO
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    assert_int_equal(counted(&t, FAST_RECOVERY), 1);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

static void what_comes_in_time_is_not_sent_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 2);
    peer_pass(&t, 3000);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    assert_true(flow(&t)->rack.reordering);
    peer_pass(&t, 10000);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// When all has come nothing is waited for any more: the next flight has its tail probed in time.
static void what_has_come_keeps_no_timer(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 2);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 2);
    peer_pass(&t, 1000);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    loss_rtt(&t);
    loss_send(&t, 2, 2);
    peer_pass(&t, 2 * RTT_US + 1900);
    peer_expect_nothing(&t);
    peer_pass(&t, 2200);
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    tcp_fixture_close(&t);
}

static void three_segments_above_are_proof(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 2, 5);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    peer_expect_nothing(&t);  // not 5 to 9: sent at the same time, their place tells that they left later (§6.1)
    assert_int_equal(flow(&t)->flight->lost, 0);
    tcp_fixture_close(&t);
}

static void after_reordering_time_alone_decides(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    tcp_rack_late(t.f.weir, tcp_fixture_conn(&t));
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 6);
    peer_pass(&t, RTT_US / 4 - 200);
    peer_expect_nothing(&t);
    peer_pass(&t, 400);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    tcp_fixture_close(&t);
}

// Lost again: found when something that left after the repetition arrives, long before the RTO.
static void a_lost_retransmission_is_found(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 10);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    for (uint32_t round = 0; round < 5; round++) {
        peer_pass(&t, 1000);
        user_write(&t, (10 + round) * MSS, MSS);
        peer_expect(&t, TCP_ACK, (10 + round) * MSS, 0, MSS);
        peer_pass(&t, RTT_US);
        loss_sack(&t, 0, 1, 11 + round);
        peer_expect(&t, TCP_ACK, 0, 0, MSS);
        peer_expect_nothing(&t);
    }
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, FAST_RECOVERY), 1);  // one reduction for all
    peer_send(&t, TCP_ACK, 0, 15 * MSS);
    assert_false(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    tcp_fixture_close(&t);
}

// §6.2, step 2: an ACK that comes sooner than any round trip is of the first transmission; it must not make all the
// rest look lost.
static void an_ack_of_a_young_retransmission_proves_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 4);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_pass(&t, 1000);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    peer_pass(&t, 3000);
    peer_expect_nothing(&t);
    assert_int_equal(flow(&t)->flight->lost, 0);
    // One as old as a round trip is believed.
    struct flight_delta delta = {.limit_young = true, .young_us = 100000};
    struct flight *f = flow(&t)->flight;
    flight_resent(&t.weir->memory, &flow(&t)->flight, f->start, f->start + MSS, 100008);
    f = flow(&t)->flight;
    flight_acked(f, f->start + MSS, &delta);
    assert_false(delta.late_valid);
    flight_resent(&t.weir->memory, &flow(&t)->flight, f->start, f->start + MSS, 99992);
    f = flow(&t)->flight;
    flight_acked(f, f->start + MSS, &delta);
    assert_true(delta.late_valid && delta.late_resent);
    assert_int_equal(delta.late_us, 99992);
    tcp_fixture_close(&t);
}

// §6.3: after a timeout what left just now is not lost.
static void a_timeout_spares_what_is_young(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 3);
    peer_pass(&t, 2 * RTT_US + 5000);  // the tail probe
    peer_drain(&t);
    peer_pass(&t, 200000);
    assert_int_equal(counted(&t, RTO), 0);
    loss_send(&t, 3, 3);
    peer_pass(&t, 18000);
    assert_int_equal(counted(&t, RTO), 1);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(flow(&t)->flight->lost, 2 * MSS);
    assert_int_equal(flow(&t)->window.cwnd, MSS);
    tcp_fixture_close(&t);
}

// §6.2, step 4: a reported duplicate widens the window, once a round trip; sixteen recoveries without narrow it again.
static void duplicates_widen_the_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 4);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    for (int i = 0; i < 3; i++)
        peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(flow(&t)->rack.multiplier, 1);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    flow(&t)->rack.dsack_round += INT32_MAX;  // no matter how long ago it was
    loss_send(&t, 4, 2);
    peer_sack(&t, 5 * MSS, 1, (uint32_t[]){4 * MSS, 5 * MSS});
    assert_int_equal(flow(&t)->rack.multiplier, 2);
    tcp_rack_late(t.f.weir, c);
    peer_send(&t, TCP_ACK, 0, 6 * MSS);
    loss_rtt(&t);
    loss_send(&t, 6, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 6, 7, 10);
    peer_pass(&t, 3 * RTT_US / 4 - 200);
    peer_expect_nothing(&t);
    peer_pass(&t, 400);
    peer_expect(&t, TCP_ACK, 6 * MSS, 0, MSS);
    for (int i = 0; i < 15; i++)
        tcp_rack_recovered(c);
    assert_int_equal(flow(&t)->rack.multiplier, 2);
    tcp_rack_recovered(c);
    assert_int_equal(flow(&t)->rack.multiplier, 0);
    tcp_fixture_close(&t);
}

// What left within the same tick as the repetition, first or after it, nobody knows: it is waited for, not sent a third
// time.
static void a_tie_with_a_retransmission_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 9);
    peer_pass(&t, RTT_US);
    user_write(&t, 9 * MSS, MSS);
    peer_drain(&t);
    loss_sack(&t, 0, 1, 9);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 10);
    peer_pass(&t, RTT_US / 4 - 200);
    peer_expect_nothing(&t);
    peer_pass(&t, 400);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    tcp_fixture_close(&t);
}

// Under a clock coarser than the round trip no time passes at all: what happened first is known nevertheless, and a
// loss, and the loss of its repetition, are found by order. `now` never goes ahead by half a tick, and the next tick is
// later than all of it.
static void within_a_tick_the_order_decides(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    t.f.port.granularity_us = 10000;
    tcp_fixture_conn(&t)->rtt.min_us = 1;
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8;
    const uint32_t began = t.f.weir->now;
    loss_send(&t, 0, 10);
    loss_sack(&t, 0, 1, 10);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    for (uint32_t round = 0; round < 6; round++) {
        user_write(&t, (10 + round) * MSS, MSS);
        peer_expect(&t, TCP_ACK, (10 + round) * MSS, 0, MSS);
        loss_sack(&t, 0, 1, 11 + round);
        // what is new goes after what is sent again: it shows that this was lost, too
        peer_expect(&t, TCP_ACK, 0, 0, MSS);
        peer_expect_nothing(&t);
    }
    assert_true(t.f.weir->now - began > 0 && t.f.weir->now - began <= 5000);
    for (uint32_t i = 0; i < 2000; i++)
        clock_step(t.f.weir, 8);
    assert_int_equal(t.f.weir->now - began, 5000);
    fixture_poll(&t.f, 10000);
    assert_int_equal(t.f.weir->now - began, 10000);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// A duplicate widens the window once a round trip; one from so long ago that the number looks like one ahead is
// another.
static void a_duplicate_counts_once_a_round_trip(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    flow(&t)->rack.round = true;
    flow(&t)->rack.dsack_round = tcp_fixture_conn(&t)->snd.una + INT32_MAX;
    loss_send(&t, 0, 10);
    for (uint32_t i = 1; i <= 3; i++) {
        peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
        assert_int_equal(flow(&t)->rack.multiplier, 1);
    }
    peer_sack(&t, 10 * MSS, 1, (uint32_t[]){0, MSS});
    loss_send(&t, 10, 10);
    peer_sack(&t, 10 * MSS, 1, (uint32_t[]){0, MSS});
    assert_true(flow(&t)->rack.multiplier > 1);
    tcp_fixture_close(&t);
}

// The timestamp echoed tells transmissions of two ticks apart, however coarse the tick; within one only a clock that is
// finer could.
static void the_echo_tells_ticks_apart(void **state)
{
    static const uint32_t ticks[] = {1000, 10000};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct tcp_fixture t;
        loss_bring(&t, &(struct tcp_fixture_options){.sack = true, .timestamps = true});
        struct tcp_conn *c = tcp_fixture_conn(&t);
        struct weir *weir = t.f.weir;
        user_write(&t, 0, 100);
        t.f.port.granularity_us = ticks[i];
        weir_clock(weir, (weir->now_us / 20000 + 1) * 20000);
        weir->ms_fraction_us = 0;
        c->rtt.min_us = 1;
        const uint32_t now = weir->now;
        struct tcp_segment segment = {.ack = c->snd.una + 100, .flags = TCP_ACK, .options.seen = TCP_SEEN_TIMESTAMPS};
        for (uint32_t before = 0; before < 3; before++) {
            struct flight_delta delta = {0};
            segment.options.ts_echo = weir->now_ms - before * ticks[i] / 1000 + c->ts_offset;
            tcp_rack_begin(weir, c, &segment, &delta);
            assert_true(delta.limit_young);
            assert_int_equal(now - delta.young_us, before ? before * ticks[i] - ticks[i] / 2 : 0);
        }
        weir->ms_fraction_us = 300;  // it is finer than it says
        struct flight_delta delta = {0};
        segment.options.ts_echo = weir->now_ms - 20 + c->ts_offset;
        tcp_rack_begin(weir, c, &segment, &delta);
        assert_int_equal(now - delta.young_us, 20300 - ticks[i] / 2 - 999);
        tcp_fixture_close(&t);
    }
}

// A recovery for nothing shows that segments come late, where it is known which of them came.
static void what_was_late_within_a_tick_is_no_reordering(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 1);
    t.f.port.granularity_us = RTT_US + 1;
    tcp_rack_late(t.f.weir, tcp_fixture_conn(&t));
    assert_false(flow(&t)->rack.reordering);
    t.f.port.granularity_us = RTT_US;
    tcp_rack_late(t.f.weir, tcp_fixture_conn(&t));
    assert_true(flow(&t)->rack.reordering);
    tcp_fixture_close(&t);
}

// §6.2, step 1: RACK.rtt is that of the newest delivered, also where nothing was lost and header prediction takes the
// acknowledgement.
static void each_acknowledgement_brings_the_newest_round_trip(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    assert_int_equal(flow(&t)->rack.rtt_us, RTT_US);
    loss_send(&t, 0, 1);
    peer_pass(&t, 5000);
    loss_send(&t, 1, 3);
    peer_pass(&t, 30000);
    peer_send(&t, TCP_ACK, 0, MSS);  // some of what is in flight
    assert_int_equal(flow(&t)->rack.rtt_us, 35000);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);  // all of it
    assert_int_equal(flow(&t)->rack.rtt_us, 30000);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_a_tick_the_order_decides),
        cmocka_unit_test(a_duplicate_counts_once_a_round_trip),
        cmocka_unit_test(the_echo_tells_ticks_apart),
        cmocka_unit_test(what_was_late_within_a_tick_is_no_reordering),
        cmocka_unit_test(what_may_be_late_is_waited_for),
        cmocka_unit_test(what_comes_in_time_is_not_sent_again),
        cmocka_unit_test(three_segments_above_are_proof),
        cmocka_unit_test(after_reordering_time_alone_decides),
        cmocka_unit_test(a_lost_retransmission_is_found),
        cmocka_unit_test(an_ack_of_a_young_retransmission_proves_nothing),
        cmocka_unit_test(a_timeout_spares_what_is_young),
        cmocka_unit_test(duplicates_widen_the_window),
        cmocka_unit_test(a_tie_with_a_retransmission_waits),
        cmocka_unit_test(what_has_come_keeps_no_timer),
        cmocka_unit_test(each_acknowledgement_brings_the_newest_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
