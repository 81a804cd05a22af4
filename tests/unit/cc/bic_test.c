// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

static void after_a_loss_the_window_is_searched_and_then_probed(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_bic, 1000);
    flow_lose(&f);
    assert_in_range(flow_segments(&f), 799, 801);  // beta 819/1024
    const uint32_t start = flow_segments(&f);
    flow_rounds(&f, 1, 100000);
    assert_in_range(flow_segments(&f) - start, 15, 17);  // a quarter of 200 is more than 16
    flow_rounds(&f, 7, 100000);                          // 936
    assert_in_range(flow_segments(&f), 920, 937);
    flow_rounds(&f, 12, 100000);  // quarters of what is left
    assert_in_range(flow_segments(&f), 988, 1000);
    const uint32_t near = flow_segments(&f);
    flow_rounds(&f, 5, 100000);
    assert_in_range(flow_segments(&f) - near, 0, 5);  // the plateau: a fifth of a segment a round trip, at the nearest
    while (flow_segments(&f) < 1060)
        flow_rounds(&f, 1, 100000);
    const uint32_t beyond = flow_segments(&f);
    flow_rounds(&f, 5, 100000);
    assert_in_range(flow_segments(&f) - beyond, 75, 82);  // far beyond it: 16 again
}

static void a_segment_of_growth_costs_at_least_a_segment_acknowledged(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_bic, 10000);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 15 * MSS;  // cwnd / 16 is less than one
    const uint32_t before = f.window.cwnd;
    flow_ack(&f, MSS, 20000);
    assert_int_equal(f.window.cwnd, before + MSS);
    flow_ack(&f, 10 * MSS, 20000);
    assert_in_range(f.window.cwnd, before + MSS, before + 11 * MSS);
}

static void growth_does_not_depend_on_how_many_acks_there_are(void **state)
{
    (void)state;
    const uint32_t each[] = {100, MSS, 2 * MSS, 10 * MSS, 50 * MSS};
    uint32_t segments[5];
    for (int i = 0; i < 5; i++) {
        flow_avoid(&f, &weir_cc_bic, 500);
        flow_lose(&f);
        for (int round = 0; round < 5; round++)
            flow_round(&f, each[i], 50000);
        segments[i] = flow_segments(&f);
    }
    assert_in_range(segments[0], 460, 476);  // 400; 25 is more than 16
    for (int i = 1; i < 5; i++)
        assert_in_range(segments[i], segments[0] - 4, segments[0] + 4);
}

static void small_windows_are_renos(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_bic, 1000);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 10 * MSS;
    flow_rounds(&f, 4, 20000);
    assert_in_range(flow_segments(&f), 13, 14);
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, 14 * MSS);
    assert_int_equal(f.window.ssthresh, 7 * MSS);
    f.window.cwnd = 15 * MSS;
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, 15 * MSS);
    assert_in_range(f.window.ssthresh, 11 * MSS, 12 * MSS);
}

static void a_timeout_forgets_the_maximum(void **state)
{
    (void)state;
    flow_avoid(&f, &weir_cc_bic, 400);
    flow_event(&f, WEIR_CC_RTO, 400 * MSS);
    assert_int_equal(f.window.cwnd, MSS);
    assert_in_range(f.window.ssthresh, 319 * MSS, 321 * MSS);
    flow_ack(&f, 400 * MSS, 20000);  // what was outstanding then
    f.window.cwnd = f.window.ssthresh;
    flow_rounds(&f, 1, 20000);
    assert_in_range(flow_segments(&f), 320 + 14, 320 + 18);  // a twentieth a round trip: 16, where a search would go at 16, too
    f.window.cwnd = f.window.ssthresh = 1000 * MSS;
    flow_rounds(&f, 1, 20000);
    assert_in_range(flow_segments(&f), 1047, 1053);  // a search goes at 16 at the most
}

static void a_lower_loss_makes_room(void **state)
{
    (void)state;
    uint32_t rounds[2];
    for (int twice = 0; twice < 2; twice++) {
        flow_avoid(&f, &weir_cc_bic, 1000);
        if (twice)
            flow_lose(&f);
        f.window.cwnd = 900 * MSS;
        flow_lose(&f);  // twice: the search ends at 810, and 720 is where it begins
        rounds[twice] = 0;
        while (flow_segments(&f) < 806 && rounds[twice] < 1000)
            flow_rounds(&f, 1, 20000), rounds[twice]++;
    }
    assert_in_range(rounds[0], 5, 6);  // at 16 a round trip
    assert_true(rounds[1] > rounds[0] + 3);
}

static void undo_gives_the_maximum_back(void **state)
{
    (void)state;
    uint32_t segments[2];
    for (int spurious = 0; spurious < 2; spurious++) {
        flow_avoid(&f, &weir_cc_bic, 1000);
        flow_lose(&f);
        flow_rounds(&f, 3, 20000);
        if (spurious) {
            const struct weir_cc_window before = f.window;
            flow_event(&f, WEIR_CC_RTO, f.window.cwnd);
            flow_event(&f, WEIR_CC_UNDO, f.window.cwnd);
            assert_memory_equal(&f.window, &before, sizeof before);
        }
        flow_rounds(&f, 20, 20000);
        segments[spurious] = flow_segments(&f);
    }
    assert_in_range(segments[1], segments[0] - 1, segments[0] + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_loss_the_window_is_searched_and_then_probed),
        cmocka_unit_test(a_segment_of_growth_costs_at_least_a_segment_acknowledged),
        cmocka_unit_test(growth_does_not_depend_on_how_many_acks_there_are),
        cmocka_unit_test(small_windows_are_renos),
        cmocka_unit_test(a_timeout_forgets_the_maximum),
        cmocka_unit_test(a_lower_loss_makes_room),
        cmocka_unit_test(undo_gives_the_maximum_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
