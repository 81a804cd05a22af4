// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

// What a loss now would leave, in segments.
static uint32_t holds(void)
{
    struct path_flow copy = f;
    flow_lose(&copy);
    return flow_segments(&copy);
}

// So many segments each round trip of so long, evenly, the window staying what it is.
static void steady(uint32_t segments, uint32_t rtt_us, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        f.window.cwnd = f.window.ssthresh = segments * MSS;
        flow_round(&f, 2 * MSS, rtt_us);
    }
    f.window.cwnd = f.window.ssthresh = segments * MSS;
}

static void a_loss_leaves_what_the_path_holds(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 20000, 100);
    assert_in_range(holds(), 97, 102);  // no queue: nothing to take out
    for (int i = 0; i < 200; i++)       // the same rate, and 50 segments in the queue
        steady(150, 30000, 1);
    assert_in_range(holds(), 97, 103);
}

// A request of 37 bytes took half as long as full segments take: the path holds as many of these as before.
static void the_round_trip_is_a_full_segments(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    flow_ack(&f, 37, 10000);
    f.now_us += 10000;
    steady(100, 20000, 100);
    assert_in_range(holds(), 97, 102);
    flow_event(&f, WEIR_CC_RTO, 100 * MSS);
    flow_ack(&f, 37, 10000);  // nor does it renew what is known
    f.window.cwnd = f.window.ssthresh = 100 * MSS;
    assert_in_range(holds(), 97, 100);
}

// The peer sends, too, and loses some: each of our segments carries SACK blocks beside its data, and is acknowledged
// alone.
static void a_segment_with_options_is_full(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    for (int i = 0; i < 100; i++) {
        f.window.cwnd = f.window.ssthresh = 100 * MSS;
        flow_round(&f, MSS - 36, 20000);
    }
    f.window.cwnd = f.window.ssthresh = 100 * MSS;
    assert_in_range(holds(), 97, 102);
}

static void nothing_is_known_at_first_then_half_remains(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_westwood, 100);
    assert_int_equal(holds(), 50);
}

static void the_first_sample_is_taken_as_it_is(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 60000, 2);
    assert_in_range(holds(), 90, 103);
}

static void the_filter_has_two_stages_of_an_eighth(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 60000, 30);
    steady(200, 60000, 9);  // eight samples: 1 - (7/8)^8 once is 66 %, twice is 31 %
    assert_in_range(holds(), 120, 145);
    steady(200, 60000, 60);
    assert_in_range(holds(), 190, 203);
}

static void acks_in_bunches_are_no_bandwidth(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    for (int round = 0; round < 200; round++) {
        f.window.cwnd = f.window.ssthresh = 100 * MSS;
        for (int i = 0; i < 50; i++) {  // all within half a millisecond of every 20
            f.now_us += 10;
            flow_ack(&f, 2 * MSS, 20000);
        }
        f.now_us += 19500;
    }
    f.window.cwnd = f.window.ssthresh = 300 * MSS;
    assert_in_range(holds(), 95, 110);
}

// Where a round trip is longer than 50 ms a sample is, too: here all comes in the first third of it.
static void a_sample_is_a_round_trip_long(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    f.window.cwnd = f.window.ssthresh = 300 * MSS;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 50; i++) {
            f.now_us += 1200;
            flow_ack(&f, 2 * MSS, 200000);
        }
        f.now_us += 141000;
    }
    flow_ack(&f, 2 * MSS, 200000);
    f.window.cwnd = 300 * MSS;
    assert_in_range(holds(), 90, 110);
}

static void what_was_sacked_is_not_counted_again_when_the_hole_is_filled(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 20000, 50);
    for (int loss = 0; loss < 40; loss++) {
        for (int i = 0; i < 99; i++) {  // one is missing; 99 follow it, each SACKed as it comes
            struct weir_cc_sample sample = flow_sample(&f);
            sample.now_us = f.now_us += 200;
            sample.sacked = MSS;
            sample.in_recovery = true;
            weir_cc_westwood.ack(f.state, &sample, &f.window);
        }
        struct weir_cc_sample sample = flow_sample(&f);
        sample.now_us = f.now_us += 200;
        sample.acked = 100 * MSS;
        sample.acked_again = 99 * MSS;
        weir_cc_westwood.ack(f.state, &sample, &f.window);
    }
    f.window.cwnd = f.window.ssthresh = 300 * MSS;
    assert_in_range(holds(), 97, 103);
}

static void a_timeout_leaves_one_segment_and_remembers_what_the_path_holds(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 20000, 100);
    flow_event(&f, WEIR_CC_RTO, 100 * MSS);
    assert_int_equal(f.window.cwnd, MSS);
    assert_in_range(f.window.ssthresh, 97 * MSS, 102 * MSS);
    f.now_us += 1000000;
    f.min_us = WEIR_CC_UNLIMITED;
    steady(100, 60000, 200);  // a longer path: its smallest round trip is learnt anew
    assert_in_range(holds(), 95, 105);
}

// The bandwidth of before and a round trip that a peer, or a queue, has made a hundred times longer: no loss and no
// mark opens the window.
static void a_reduction_never_opens_the_window(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 20000, 100);
    flow_event(&f, WEIR_CC_RTO, 100 * MSS);
    f.window.cwnd = f.window.ssthresh = 100 * MSS;
    f.now_us += 1000;
    flow_ack(&f, MSS, 2000000);
    assert_in_range(holds(), 50, 100);
    flow_event(&f, WEIR_CC_ECN, 100 * MSS);
    assert_in_range(flow_segments(&f), 50, 100);
}

static void undo_and_growth_are_renos(void **state)
{
    (void)state;
    flow_open(&f, &weir_cc_westwood);
    steady(100, 20000, 20);
    flow_rounds(&f, 10, 20000);
    assert_in_range(flow_segments(&f), 109, 111);
    const struct weir_cc_window before = f.window;
    flow_event(&f, WEIR_CC_RTO, f.window.cwnd);
    flow_event(&f, WEIR_CC_UNDO, 0);
    assert_memory_equal(&f.window, &before, sizeof before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loss_leaves_what_the_path_holds),
        cmocka_unit_test(the_round_trip_is_a_full_segments),
        cmocka_unit_test(a_segment_with_options_is_full),
        cmocka_unit_test(nothing_is_known_at_first_then_half_remains),
        cmocka_unit_test(the_first_sample_is_taken_as_it_is),
        cmocka_unit_test(the_filter_has_two_stages_of_an_eighth),
        cmocka_unit_test(acks_in_bunches_are_no_bandwidth),
        cmocka_unit_test(a_sample_is_a_round_trip_long),
        cmocka_unit_test(what_was_sacked_is_not_counted_again_when_the_hole_is_filled),
        cmocka_unit_test(a_timeout_leaves_one_segment_and_remembers_what_the_path_holds),
        cmocka_unit_test(a_reduction_never_opens_the_window),
        cmocka_unit_test(undo_and_growth_are_renos),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
