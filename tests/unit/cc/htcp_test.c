// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

// Segments gained in `rounds` round trips.
static uint32_t gain(int rounds, uint32_t rtt_us)
{
    const uint32_t before = flow_segments(&f);
    flow_rounds(&f, rounds, rtt_us);
    return flow_segments(&f) - before;
}

static void alpha_is_one_for_a_second_and_then_grows_with_time(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_htcp, 2000);
    flow_lose(&f);
    assert_int_equal(flow_segments(&f), 1000);    // beta 0.5 at first
    assert_in_range(gain(10, 100000), 9, 11);     // D <= 1 s
    assert_in_range(gain(10, 100000), 45, 70);    // D from 1 to 2: 1 + 10 (D - 1) + ((D - 1) / 2)^2 is 6.1 in the mean
    assert_in_range(gain(10, 100000), 145, 180);  // D from 2 to 3: 16.6
    assert_in_range(gain(10, 100000), 240, 300);  // 27.1
}

static void time_without_acknowledgements_counts_too(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_htcp, 200);
    flow_lose(&f);
    gain(1, 100000);
    f.now_us += 2900000;                                // wall time
    assert_in_range(gain(2, 100000), 20 + 10, 2 * 24);  // 22 a round trip, once the first segment has grown
}

static void short_paths_are_scaled_but_never_below_reno(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_htcp, 400);
    flow_lose(&f);
    assert_in_range(gain(50, 20000), 48, 51);    // D <= 1 s: a fifth of 1 would be slower than Reno
    assert_in_range(gain(50, 20000), 60, 90);    // from 1 to 2: max(1, 6.1 / 5)
    assert_in_range(gain(50, 20000), 145, 180);  // from 2 to 3: 16.6 / 5 for 50 round trips
}

static void a_congestion_event_resets_the_time_and_undo_restores_it(void **state)
{
    (void)state;
    const enum weir_cc_event reductions[] = {WEIR_CC_ENTER_RECOVERY, WEIR_CC_RTO, WEIR_CC_ECN};
    for (int i = 0; i < 3; i++) {
        for (int undone = 0; undone < 2; undone++) {
            flow_avoid(&f, &weir_cc_htcp, 500);
            flow_lose(&f);
            gain(30, 100000);  // D is 3 s
            const struct weir_cc_window before = f.window;
            flow_event(&f, reductions[i], f.window.cwnd);
            if (undone) {
                flow_event(&f, WEIR_CC_UNDO, f.window.cwnd);
                assert_int_equal(f.window.cwnd, before.cwnd);
                assert_int_equal(f.window.ssthresh, before.ssthresh);
            } else {
                f.window.cwnd = f.window.ssthresh;
            }
            const uint32_t five = gain(5, 100000);
            assert_in_range(five, undone ? 90 : 4, undone ? 125 : 6);  // 22 or 1 a round trip
        }
    }
}

static void time_counts_from_the_end_of_recovery(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_htcp, 500);
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, f.window.cwnd);
    f.now_us += 3000000;
    flow_event(&f, WEIR_CC_EXIT_RECOVERY, f.window.cwnd);
    assert_in_range(gain(5, 100000), 4, 6);
}

static void no_smallest_round_trip_and_one_of_zero_divide_nothing(void **state)
{
    (void)state;
    for (int zero = 0; zero < 2; zero++) {
        flow_avoid(&f, &weir_cc_htcp, 100);
        for (int i = 0; i < 300; i++) {
            f.now_us += 10000;
            f.min_us = zero ? 0 : WEIR_CC_UNLIMITED;  // less than a tick; none yet
            flow_ack(&f, 10 * MSS, 0);
            if (i % 100 == 99)
                flow_lose(&f);
        }
        assert_in_range(flow_segments(&f), 10, 400);
    }
}

// Three events with so many ms between, at a steady or changing throughput. What of the window is left by the last, in
// percent.
static uint32_t left_after(uint32_t first, uint32_t second, uint32_t third, uint32_t queue_us)
{
    const uint32_t segments[] = {first, second, third};
    flow_ack(&f, MSS, 20000);
    uint32_t before = 0;
    for (int i = 0; i < 3; i++) {
        f.window.cwnd = f.window.ssthresh = segments[i] * MSS;
        for (int j = 0; j < 40; j++) {
            f.window.cwnd = segments[i] * MSS;
            flow_round(&f, 2 * MSS, 20000 + queue_us);
        }
        before = f.window.cwnd = segments[i] * MSS;
        flow_lose(&f);
    }
    return (uint32_t)((uint64_t)f.window.cwnd * 100 / before);
}

static uint32_t left_percent(uint32_t first, uint32_t second, uint32_t third, uint32_t queue_us)
{
    flow_open(&f, &weir_cc_htcp);
    return left_after(first, second, third, queue_us);
}

static void beta_follows_the_queue_while_the_throughput_is_steady(void **state)
{
    (void)state;
    assert_in_range(left_percent(200, 200, 200, 10000), 65, 68);  // 20 / 30
    assert_in_range(left_percent(200, 200, 200, 1000), 79, 80);   // 20 / 21 is more than 0.8
    assert_in_range(left_percent(200, 200, 200, 18000), 52, 54);  // 20 / 38
    assert_in_range(left_percent(200, 200, 140, 10000), 49, 50);  // changed by more than a fifth
    assert_in_range(left_percent(200, 140, 140, 10000), 49, 50);  // one event of steadiness is not enough
    assert_in_range(left_percent(200, 200, 260, 10000), 49, 50);
}

// A request that took 12 ms does not make the queue of 20 to 30 one of 12 to 30.
static void a_small_segments_round_trip_says_nothing_of_the_queue(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_htcp);
    flow_ack(&f, 37, 12000);
    assert_in_range(left_after(200, 200, 200, 10000), 65, 68);
}

// The largest round trip fades by a twentieth of what it is above the smallest with each event: a queue that is gone,
// or a route that became shorter, is noticed.
static void the_largest_round_trip_fades_with_each_event(void **state)
{
    (void)state;
    (void)left_percent(200, 200, 200, 10000);  // 20 / 30
    for (int event = 1; event <= 20; event++) {
        for (int round = 0; round < 10; round++) {
            f.window.cwnd = f.window.ssthresh = 200 * MSS;
            flow_round(&f, 2 * MSS, 20000);
        }
        f.window.cwnd = 200 * MSS;
        flow_lose(&f);
        if (event == 5)
            assert_in_range(flow_segments(&f) / 2, 70, 73);  // 20 / (20 + 10 * 0.95^7)
    }
    assert_in_range(flow_segments(&f) / 2, 79, 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alpha_is_one_for_a_second_and_then_grows_with_time),
        cmocka_unit_test(time_without_acknowledgements_counts_too),
        cmocka_unit_test(short_paths_are_scaled_but_never_below_reno),
        cmocka_unit_test(a_congestion_event_resets_the_time_and_undo_restores_it),
        cmocka_unit_test(time_counts_from_the_end_of_recovery),
        cmocka_unit_test(no_smallest_round_trip_and_one_of_zero_divide_nothing),
        cmocka_unit_test(beta_follows_the_queue_while_the_throughput_is_steady),
        cmocka_unit_test(a_small_segments_round_trip_says_nothing_of_the_queue),
        cmocka_unit_test(the_largest_round_trip_fades_with_each_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
