// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: its congestion controls stand beside reno
// What is lost again, or behind the last hole, with nothing after it that would show it: an algorithm that owns
// recovery has it probed.
#include "tcp/probe.h"
#include "tcp/loss_fixture.h"

#define PROBE_US (2 * RTT_US + 2000)
#define CWND (10 * MSS)

static void bring(struct tcp_fixture *t, const char *algorithm)
{
    probe_reset();
    probe.cwnd = CWND;
    loss_bring(t, NULL);
    assert_int_equal(weir_socket_set_congestion(t->weir, t->socket, algorithm), WEIR_OK);
}

// Segment 0 is lost, and sent again after the others are SACKed.
static void lose_the_first(struct tcp_fixture *t)
{
    loss_send(t, 0, 4);
    peer_pass(t, RTT_US);
    loss_sack(t, 0, 1, 4);
    peer_expect(t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(t);
}

static void what_is_lost_twice_is_probed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    peer_pass(&t, PROBE_US - 100);
    peer_expect_nothing(&t);
    peer_pass(&t, 2200);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, FAST_RECOVERY), 1);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
    tcp_fixture_close(&t);
}

// RFC 5681 §4.3: the loss of a retransmission is a second indication of congestion.
static void others_leave_it_to_the_timeout(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "plain");
    lose_the_first(&t);
    peer_pass(&t, RTT_US + 195000);
    peer_expect_nothing(&t);
    peer_pass(&t, 5000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(counted(&t, RTO), 1);
    assert_int_equal(counted(&t, TAIL_PROBE), 0);
    tcp_fixture_close(&t);
}

// So long passes before something leaves.
static uint32_t quiet_for(struct tcp_fixture *t)
{
    uint32_t us = 0;
    while (!peer_has_more(t)) {
        assert_true(us < 1000000);
        peer_pass(t, 100);
        us += 100;
    }
    return us;
}

// The first hole is sent again after so long, and nothing before.
static uint32_t probed_after(struct tcp_fixture *t)
{
    const uint32_t us = quiet_for(t);
    peer_expect(t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(t);
    return us;
}

// Each time after twice as long, until the RTO comes before.
static void probes_become_rarer(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    for (uint32_t tried = 0; tried < 3; tried++)
        assert_in_range(probed_after(&t), PROBE_US << tried, (PROBE_US << tried) + 2200);
    assert_int_equal(counted(&t, RTO), 0);
    assert_in_range(probed_after(&t), RTT_US + 200000, RTT_US + 202200);
    assert_int_equal(counted(&t, TAIL_PROBE), 3);
    assert_int_equal(counted(&t, RTO), 1);
    tcp_fixture_close(&t);
}

// The probe of a tail of which nothing is known is lost as easily: there is another, and then they become rarer, too.
static void a_tail_is_probed_again(void **state)
{
    (void)state;
    for (int owns = 0; owns <= 1; owns++) {
        struct tcp_fixture t;
        bring(&t, owns ? "probe" : "plain");
        loss_send(&t, 0, 4);
        assert_in_range(quiet_for(&t), PROBE_US, PROBE_US + 2200);
        peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
        for (uint32_t tried = 0; owns && tried < 3; tried++) {
            assert_in_range(quiet_for(&t), PROBE_US << tried, (PROBE_US << tried) + 2200);
            peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
        }
        assert_int_equal(counted(&t, TAIL_PROBE), owns ? 4 : 1);
        assert_int_equal(counted(&t, RTO), 0);
        assert_in_range(quiet_for(&t), RTT_US + 200000, RTT_US + 202200);
        peer_expect(&t, TCP_ACK, 0, 0, MSS);
        assert_int_equal(counted(&t, RTO), 1);
        tcp_fixture_close(&t);
    }
}

// From now on the clock ticks every 10 ms, a hundred round trips.
static void tick_slowly(struct tcp_fixture *t)
{
    t->f.port.granularity_us = 10000;
    fixture_poll(&t->f, 10000 - t->f.weir->now_us % 10000);
    tcp_fixture_conn(t)->rtt.min_us = 1;
    tcp_fixture_conn(t)->rtt.srtt8_us = 800;
}

static void bring_segments(struct tcp_fixture *t, bool coarse, uint32_t segments)
{
    bring(t, "probe");
    if (coarse)
        tick_slowly(t);
    loss_send(t, 0, segments);
    if (!coarse)
        peer_pass(t, RTT_US);
}

// Where a tick is long what is alone in flight, and was sent again, goes twice: whether it is lost again a timer would
// tell a hundred round trips later. Once a tick; the duplicate that comes of it is no sign of anything.
static void a_hole_alone_goes_twice_where_a_tick_is_long(void **state)
{
    (void)state;
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct tcp_fixture t;
        bring_segments(&t, coarse, 4);
        loss_sack(&t, 0, 1, 4);
        for (int copy = 0; copy <= coarse; copy++)
            peer_expect(&t, TCP_ACK, 0, 0, MSS);
        peer_expect_nothing(&t);
        peer_sack(&t, 0, 1, (uint32_t[]){MSS, 4 * MSS});
        peer_expect_nothing(&t);
        if (coarse) {
            while (!peer_has_more(&t))
                fixture_poll(&t.f, 1000);
            peer_expect(&t, TCP_ACK, 0, 0, MSS);  // the probe, twice as well
            peer_expect(&t, TCP_ACK, 0, 0, MSS);
            peer_expect_nothing(&t);
            assert_int_equal(counted(&t, RTO), 0);
            peer_sack(&t, 4 * MSS, 1, (uint32_t[]){0, MSS});
            assert_false(tcp_fixture_conn(&t)->flow->rack.round);
        }
        peer_sack(&t, 4 * MSS, 1, (uint32_t[]){0, MSS});
        assert_true(tcp_fixture_conn(&t)->flow->rack.round);
        tcp_fixture_close(&t);
    }
}

// Nothing goes twice while what left before it may still be answered, nor what left for the first time.
static void what_is_not_alone_goes_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    tick_slowly(&t);
    loss_send(&t, 0, 6);
    loss_sack(&t, 0, 1, 5);  // the last is under way
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);

    bring(&t, "probe");
    tick_slowly(&t);
    loss_send(&t, 0, 2);
    peer_send(&t, TCP_ACK, 0, MSS);  // the last is alone
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);

    bring(&t, "plain");
    tick_slowly(&t);
    loss_send(&t, 0, 4);
    loss_sack(&t, 0, 1, 4);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A probe that is lost costs a tick: where that is long it goes twice, whatever else is in flight.
static void a_probe_goes_twice_where_a_tick_is_long(void **state)
{
    (void)state;
    for (int coarse = 0; coarse <= 1; coarse++) {
        struct tcp_fixture t;
        bring_segments(&t, coarse, 8);
        loss_sack(&t, 0, 3, 6);
        for (uint32_t i = 0; i < 3; i++)
            peer_expect(&t, TCP_ACK, i * MSS, 0, MSS);
        peer_expect_nothing(&t);
        (void)quiet_for(&t);
        for (int copy = 0; copy <= coarse; copy++)
            peer_expect(&t, TCP_ACK, 0, 0, MSS);
        peer_expect_nothing(&t);
        assert_int_equal(counted(&t, TAIL_PROBE), 1);
        assert_int_equal(counted(&t, RTO), 0);
        peer_send(&t, TCP_ACK, 0, 8 * MSS);
        assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
        tcp_fixture_close(&t);
    }
}

// A peer that only sends, and says again what it SACKed, brings no news: the RTO comes all the same.
static void data_of_the_peer_is_no_progress(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    for (uint32_t ms = 0; ms < 1500 && !counted(&t, RTO); ms += 10) {
        peer_pass(&t, 10000);
        struct tcp_options options = {.sack_count = 1, .sack[0] = {t.ours + MSS, t.ours + 4 * MSS}};
        peer_send_raw(
            &t, &(struct peer_segment){.flags = TCP_ACK, .seq = 100 * (ms / 10), .length = 100, .options = &options});
        peer_drain(&t);
    }
    assert_int_equal(counted(&t, RTO), 1);
    assert_int_equal(counted(&t, TAIL_PROBE), 3);
    tcp_fixture_close(&t);
}

// What is delivered shows that what went before it is lost: the whole of a lost tail goes without a timeout.
static void the_probe_lets_rack_find_the_rest(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 3, 4);
    peer_pass(&t, RTT_US / 4 + 2200);  // the reordering window
    assert_int_equal(peer_drain_count(&t), 3);
    peer_pass(&t, PROBE_US + 2200);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    peer_pass(&t, RTT_US);
    peer_sack(&t, MSS, 1, (uint32_t[]){3 * MSS, 4 * MSS});
    peer_pass(&t, RTT_US / 4 + 2200);
    assert_int_equal(peer_drain_count(&t), 2);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    tcp_fixture_close(&t);
}

// Recovery has ended, but what was new in it is lost twice, too.
static void a_hole_that_outlives_recovery_is_probed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    loss_send(&t, 4, 3);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 2, (uint32_t[]){5 * MSS, 7 * MSS, MSS, 4 * MSS});
    peer_pass(&t, RTT_US / 4 + 2200);
    peer_expect(&t, TCP_ACK, 4 * MSS, 0, MSS);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    loss_sack(&t, 4, 5, 7);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
    peer_pass(&t, PROBE_US + 2200);
    peer_expect(&t, TCP_ACK, 4 * MSS, 0, MSS);
    assert_int_equal(probe.events[WEIR_CC_ENTER_RECOVERY], 2);
    peer_send(&t, TCP_ACK, 0, 7 * MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 2);
    tcp_fixture_close(&t);
}

// All holes are filled, but what went last, meanwhile, is lost as well and alone in flight.
static void leave_the_last(struct tcp_fixture *t)
{
    lose_the_first(t);
    loss_send(t, 0, 1);
    peer_pass(t, RTT_US / 2);
    peer_send(t, TCP_ACK, 0, 4 * MSS);
    t->ours += 4 * MSS;
    peer_expect_nothing(t);
}

// Who has just missed something answers at once: no time is given for a delayed acknowledgement.
static void what_is_left_alone_is_probed_like_a_hole(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    leave_the_last(&t);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
    for (uint32_t tried = 0; tried < 2; tried++)
        assert_in_range(probed_after(&t), PROBE_US << tried, (PROBE_US << tried) + 2200);
    peer_send(&t, TCP_ACK, 0, MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, TAIL_PROBE), 2);
    tcp_fixture_close(&t);
}

static void others_give_it_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "plain");
    leave_the_last(&t);
    assert_in_range(probed_after(&t), RTT_US + 180000, RTT_US + 202200);
    tcp_fixture_close(&t);
}

// The tail of a flight that is lost after recovery, or in it while nothing is SACKed, and not its first, is what is
// probed: the peer answers at once, and RACK finds the rest.
static void of_a_whole_tail_the_last_is_probed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    loss_send(&t, 4, 5);
    peer_pass(&t, RTT_US / 2);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    peer_pass(&t, PROBE_US - 100);
    peer_expect_nothing(&t);
    peer_pass(&t, 2200);
    peer_expect(&t, TCP_ACK | TCP_PSH, 8 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 4, 8, 9);
    peer_pass(&t, RTT_US / 4 + 2200);
    assert_int_equal(peer_drain_count(&t), 4);
    peer_send(&t, TCP_ACK, 0, 9 * MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    tcp_fixture_close(&t);
}

// What is known to be lost, and was kept back by the window, is what a probe sends, not the tail: what comes after it
// must not hide it.
static void what_is_lost_goes_before_the_tail(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    loss_send(&t, 0, 8);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 4);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_pass(&t, RTT_US);
    probe.cwnd = 2 * MSS;
    peer_send(&t, TCP_ACK, 0, 4 * MSS);  // by the time of what was sent again the other four are lost
    assert_int_equal(peer_drain_count(&t), 2);
    assert_int_equal(flow(&t)->flight->lost, 2 * MSS);
    peer_pass(&t, PROBE_US + 2200);
    assert_int_equal(peer_drain_count(&t), 1);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    probe.cwnd = 20 * MSS;
    peer_send(&t, TCP_ACK, 0, 6 * MSS);
    peer_drain(&t);
    assert_int_equal(flow(&t)->flight->lost, 0);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// News of any kind, and the next probe comes after the shortest wait again.
static void what_is_delivered_makes_them_frequent_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    loss_send(&t, 0, 6);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 2, (uint32_t[]){4 * MSS, 5 * MSS, 2 * MSS, 3 * MSS});
    peer_pass(&t, RTT_US / 4 + 2200);
    peer_drain(&t);
    loss_rtt(&t);
    probed_after(&t);
    assert_in_range(probed_after(&t), 2 * PROBE_US, 2 * PROBE_US + 2200);
    peer_sack(&t, 0, 2, (uint32_t[]){3 * MSS, 5 * MSS, 2 * MSS, 3 * MSS});
    peer_drain(&t);
    loss_rtt(&t);
    assert_in_range(quiet_for(&t), RTT_US / 4, PROBE_US + 2200);
    tcp_fixture_close(&t);
}

// Before a round trip is known the RTO is no longer than the wait for a probe: it comes first.
static void without_a_round_trip_the_timeout_comes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    lose_the_first(&t);
    tcp_fixture_conn(&t)->rtt = (struct rtt){.min_us = UINT32_MAX, .floor_us = 200000};
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 4 * MSS + 100});
    for (uint32_t ms = 0; !counted(&t, RTO); ms += 10) {
        assert_true(ms < 3000);
        peer_pass(&t, 10000);
        peer_drain(&t);
    }
    assert_in_range(counted(&t, TAIL_PROBE), 0, 1);
    tcp_fixture_close(&t);
}

// What begins after all was acknowledged is no longer of that flight.
static void the_next_segment_is_given_time_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    leave_the_last(&t);
    peer_send(&t, TCP_ACK, 0, MSS);
    t.ours += MSS;
    loss_send(&t, 0, 1);
    assert_in_range(probed_after(&t), RTT_US + 180000, RTT_US + 202200);
    assert_int_equal(counted(&t, FAST_RECOVERY), 1);
    tcp_fixture_close(&t);
}

// The peer had it, and only waited with its acknowledgement: what was sent once too often is reported, and nothing
// comes of it.
static void a_probe_too_many_costs_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    leave_the_last(&t);
    probed_after(&t);
    peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(probe.events[WEIR_CC_ENTER_RECOVERY], 1);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
    peer_pass(&t, 1000000);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// Whether it has mended a loss is open until more is acknowledged than it had sent; the next segment, alone, is given
// its time all the same.
static void a_probe_that_is_answered_hurries_no_other(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    loss_send(&t, 0, 2);
    quiet_for(&t);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    t.ours += 2 * MSS;
    loss_send(&t, 0, 1);
    assert_in_range(probed_after(&t), RTT_US + 180000, RTT_US + 202200);
    tcp_fixture_close(&t);
}

// The last of a flight, MSS bytes after as many, is probed twice; all is acknowledged by the first probe, and a
// duplicate reported for each of the next `reported` answers. Returns how many losses were seen when what is sent next
// is acknowledged.
static uint32_t losses_after_two_probes(uint32_t reported)
{
    struct tcp_fixture t;
    bring(&t, "probe");
    loss_send(&t, 0, 2);
    for (int tried = 0; tried < 2; tried++) {
        quiet_for(&t);
        peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    }
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    for (uint32_t i = 0; i < reported; i++)
        peer_sack(&t, 2 * MSS, 1, (uint32_t[]){MSS, 2 * MSS});
    assert_int_equal(flow(&t)->rack.multiplier, 0);  // they were meant
    user_write(&t, 2 * MSS, MSS);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    const uint32_t losses = probe.events[WEIR_CC_ENTER_RECOVERY];
    tcp_fixture_close(&t);
    return losses;
}

// Two copies too many are two duplicates; with fewer one of the three was lost, and a probe has mended that (RFC 8985
// §7.4).
static void each_probe_has_a_duplicate_of_its_own(void **state)
{
    (void)state;
    assert_int_equal(losses_after_two_probes(0), 1);
    assert_int_equal(losses_after_two_probes(1), 1);
    assert_int_equal(losses_after_two_probes(2), 0);
}

// Small pieces that are written all the time, on a path that is dead, set neither probe nor RTO back.
static void what_is_written_meanwhile_keeps_no_timeout_away(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, "probe");
    probe.cwnd = 100 * MSS;
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    lose_the_first(&t);
    uint32_t ms = 0;
    for (; !counted(&t, RTO); ms += 10) {
        assert_true(ms < 1000);
        peer_pass(&t, 10000);
        user_write(&t, 4 * MSS + ms, 10);
        peer_drain(&t);
    }
    assert_int_equal(counted(&t, TAIL_PROBE), 3);
    assert_in_range(ms, 7 * (PROBE_US / 1000) + 200, 7 * (PROBE_US / 1000) + 260);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_lost_twice_is_probed),
        cmocka_unit_test(others_leave_it_to_the_timeout),
        cmocka_unit_test(probes_become_rarer),
        cmocka_unit_test(a_tail_is_probed_again),
        cmocka_unit_test(a_hole_alone_goes_twice_where_a_tick_is_long),
        cmocka_unit_test(what_is_not_alone_goes_once),
        cmocka_unit_test(a_probe_goes_twice_where_a_tick_is_long),
        cmocka_unit_test(data_of_the_peer_is_no_progress),
        cmocka_unit_test(the_probe_lets_rack_find_the_rest),
        cmocka_unit_test(a_hole_that_outlives_recovery_is_probed),
        cmocka_unit_test(what_is_left_alone_is_probed_like_a_hole),
        cmocka_unit_test(others_give_it_time),
        cmocka_unit_test(of_a_whole_tail_the_last_is_probed),
        cmocka_unit_test(what_is_lost_goes_before_the_tail),
        cmocka_unit_test(what_is_delivered_makes_them_frequent_again),
        cmocka_unit_test(without_a_round_trip_the_timeout_comes),
        cmocka_unit_test(the_next_segment_is_given_time_again),
        cmocka_unit_test(a_probe_too_many_costs_nothing),
        cmocka_unit_test(a_probe_that_is_answered_hurries_no_other),
        cmocka_unit_test(each_probe_has_a_duplicate_of_its_own),
        cmocka_unit_test(what_is_written_meanwhile_keeps_no_timeout_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
