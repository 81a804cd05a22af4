// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

// Knows the path's own length, then so many segments.
static void know(uint32_t base_us, uint32_t segments)
{
    flow_avoid(&f, &weir_cc_vegas, segments);
    flow_rounds(&f, 2, base_us);
    f.window.cwnd = f.window.ssthresh = segments * MSS;
}

static void two_to_four_segments_wait_in_the_queue(void **state)
{
    (void)state;
    know(20000, 100);
    flow_rounds(&f, 10, 20200);  // one segment waits
    assert_in_range(flow_segments(&f), 109, 111);
    know(20000, 100);
    flow_rounds(&f, 10, 20600);  // three
    assert_in_range(flow_segments(&f), 100, 101);
    know(20000, 100);
    flow_rounds(&f, 10, 21200);  // six
    assert_in_range(flow_segments(&f), 90, 92);
}

static void a_lan_is_measured_in_microseconds(void **state)
{
    (void)state;
    know(150, 20);
    flow_rounds(&f, 5, 160);  // 1.3 segments
    assert_in_range(flow_segments(&f), 24, 26);
    know(150, 20);
    flow_rounds(&f, 5, 200);  // 6.7
    assert_in_range(flow_segments(&f), 15, 16);
}

static void slow_start_ends_at_the_first_segment_in_the_queue(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_vegas);
    flow_rounds(&f, 3, 20000);
    assert_in_range(flow_segments(&f), 80, 88);  // doubled each time
    flow_round(&f, 2 * MSS, 24000);
    flow_round(&f, 2 * MSS, 24000);
    assert_true(f.window.cwnd >= f.window.ssthresh);
    const uint32_t left = flow_segments(&f);
    assert_in_range(left, 120, 200);  // 20/24 of what it was, and a segment
    flow_round(&f, 2 * MSS, 20000);
    flow_round(&f, 2 * MSS, 20000);
    assert_in_range(flow_segments(&f), left, left + 3);
}

static void the_smallest_sample_of_a_round_trip_counts_not_the_mean(void **state)
{
    (void)state;
    know(20000, 50);
    for (int round = 0; round < 10; round++) {
        const uint32_t acks = f.window.cwnd / MSS / 2;
        for (uint32_t i = 0; i <= acks; i++) {  // late ACKs, but for one
            f.now_us += 20000 / acks;
            flow_ack(&f, 2 * MSS, i == acks / 2 ? 20000 : 45000);
        }
    }
    assert_in_range(flow_segments(&f), 58, 61);
}

static void with_too_few_samples_it_is_reno(void **state)
{
    (void)state;
    know(20000, 50);
    for (int round = 0; round < 12; round++)  // one or two ACKs a window, and those delayed: no sign of a queue
        flow_round(&f, f.window.cwnd / 2 + MSS, 60000);
    assert_in_range(flow_segments(&f), 59, 62);
}

static void a_longer_path_is_learnt_after_a_timeout_and_after_idling(void **state)
{
    (void)state;
    const enum weir_cc_event events[] = {WEIR_CC_RTO, WEIR_CC_IDLE_RESTART};
    for (int i = 0; i < 2; i++) {
        know(20000, 40);
        flow_rounds(&f, 5, 60000);  // the route is another: to it, it is a queue
        assert_in_range(flow_segments(&f), 35, 36);
        flow_event(&f, events[i], f.window.cwnd);
        flow_ack(&f, 100 * MSS, 60000);  // what was outstanding
        f.window.cwnd = f.window.ssthresh = 40 * MSS;
        flow_rounds(&f, 10, 60000);
        assert_in_range(flow_segments(&f), 48, 51);
    }
}

static void a_round_trip_that_recovery_cut_short_is_not_looked_at(void **state)
{
    (void)state;
    know(20000, 100);
    for (int i = 0; i < 40; i++) {  // most of a round trip, through a long queue
        f.now_us += 400;
        flow_ack(&f, 2 * MSS, 40000);
    }
    const uint32_t before = f.window.cwnd;
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, before);
    assert_int_equal(f.window.cwnd, before / 2);
    flow_event(&f, WEIR_CC_EXIT_RECOVERY, f.window.cwnd);
    flow_rounds(&f, 1, 20000);
    flow_rounds(&f, 1, 20000);
    assert_in_range(f.window.cwnd, before / 2 + MSS, before / 2 + 2 * MSS);
}

// Nor does what went before it, be it short round trips or too few of them, go on into the first round trip after.
static void recovery_begins_a_round_trip(void **state)
{
    (void)state;
    for (int few = 0; few < 2; few++) {
        know(20000, 100);
        if (few)
            flow_rounds(&f, 1, 20000), f.window.cwnd = 100 * MSS, flow_round(&f, 60 * MSS, 20000),
                                       flow_round(&f, 60 * MSS, 20000);
        for (int i = 0; i < 40 && !few; i++) {  // most of a round trip
            f.now_us += 400;
            flow_ack(&f, 2 * MSS, 20000);
        }
        f.window.cwnd = 100 * MSS;
        flow_lose(&f);
        flow_round(&f, 2 * MSS, 40000);  // it is not over yet
        assert_int_equal(f.window.cwnd, 50 * MSS);
        flow_round(&f, 2 * MSS, 40000);
        assert_int_equal(f.window.cwnd, 49 * MSS);
    }
}

static void an_unused_window_does_not_grow_but_shrinks(void **state)
{
    (void)state;
    for (int queue = 0; queue < 2; queue++) {
        know(20000, 30);
        for (int i = 0; i < 300; i++) {
            struct weir_cc_sample sample = flow_sample(&f);
            sample.acked = MSS;
            sample.inflight = 10 * MSS;
            sample.rtt_us = queue ? 30000 : 20000;
            sample.cwnd_limited = false;
            f.now_us += 2000;
            weir_cc_vegas.ack(f.state, &sample, &f.window);
        }
        if (queue)
            assert_in_range(flow_segments(&f), 2, 15);  // down to four in the queue, by its reckoning
        else
            assert_in_range(flow_segments(&f), 30, 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_to_four_segments_wait_in_the_queue),
        cmocka_unit_test(a_lan_is_measured_in_microseconds),
        cmocka_unit_test(slow_start_ends_at_the_first_segment_in_the_queue),
        cmocka_unit_test(the_smallest_sample_of_a_round_trip_counts_not_the_mean),
        cmocka_unit_test(with_too_few_samples_it_is_reno),
        cmocka_unit_test(a_longer_path_is_learnt_after_a_timeout_and_after_idling),
        cmocka_unit_test(a_round_trip_that_recovery_cut_short_is_not_looked_at),
        cmocka_unit_test(recovery_begins_a_round_trip),
        cmocka_unit_test(an_unused_window_does_not_grow_but_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
