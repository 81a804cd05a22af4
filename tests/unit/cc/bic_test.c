// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

// In congestion avoidance with so many segments, where ACKs of `each` bytes are known.
static void begin(uint32_t segments, uint32_t each)
{
    flow_avoid(&f, &weir_cc_bic, segments);
    for (int i = 0; i < 300; i++)
        flow_ack(&f, each, 50000);
    f.window.cwnd = f.window.ssthresh = segments * MSS;
}

static void rounds(int count)  // each segment has its ACK
{
    for (int i = 0; i < count; i++)
        flow_round(&f, MSS, 50000);
}

static void after_a_loss_the_window_is_searched_and_then_probed(void **state)
{
    (void)state;
    begin(1000, MSS);
    flow_lose(&f);
    assert_in_range(flow_segments(&f), 799, 801);  // beta 819/1024
    const uint32_t start = flow_segments(&f);
    rounds(1);
    assert_in_range(flow_segments(&f) - start, 15, 17);  // a quarter of 200 is more than 16
    rounds(7);                                           // 936
    assert_in_range(flow_segments(&f), 920, 937);
    rounds(12);  // quarters of what is left
    assert_in_range(flow_segments(&f), 988, 1000);
    const uint32_t near = flow_segments(&f);
    rounds(5);
    assert_in_range(flow_segments(&f) - near, 0, 5);  // the plateau: a fifth of a segment a round trip, at the nearest
    while (flow_segments(&f) < 1060)
        rounds(1);
    const uint32_t beyond = flow_segments(&f);
    rounds(5);
    assert_in_range(flow_segments(&f) - beyond, 75, 86);  // far beyond it: 16 again
}

static void a_segment_of_growth_costs_at_least_a_segment_acknowledged(void **state)
{
    (void)state;
    begin(10000, MSS);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 15 * MSS;  // cwnd / 16 is less than one
    const uint32_t before = f.window.cwnd;
    flow_ack(&f, MSS, 20000);
    assert_int_equal(f.window.cwnd, before + MSS);
    flow_ack(&f, 10 * MSS, 20000);
    assert_in_range(f.window.cwnd, before + MSS, before + 11 * MSS);
}

// Segments gained in four round trips with so many bytes an ACK.
static uint32_t gained(uint32_t each)
{
    begin(1000, each);
    flow_lose(&f);
    for (int round = 0; round < 4; round++)
        flow_round(&f, each, 50000);
    return flow_segments(&f) - 800;
}

static void steps_are_multiplied_by_the_segments_an_ack_covers_up_to_four(void **state)
{
    (void)state;
    assert_in_range(gained(MSS), 60, 70);        // 16 a round trip
    assert_in_range(gained(2 * MSS), 118, 135);  // the usual delayed ACKs; less as the maximum comes near
    assert_in_range(gained(44 * MSS), 165, 215);
}

static void small_windows_are_renos(void **state)
{
    (void)state;
    begin(1000, MSS);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 10 * MSS;
    rounds(4);
    assert_in_range(flow_segments(&f), 13, 14);
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, 14 * MSS);
    assert_int_equal(f.window.ssthresh, 7 * MSS);
    f.window.cwnd = 15 * MSS;
    flow_event(&f, WEIR_CC_ENTER_RECOVERY, 15 * MSS);
    assert_in_range(f.window.ssthresh, 11 * MSS, 12 * MSS);
}

// Eight segments below the maximum a quarter is two; seven below, it is taken for one, and that for a fifth.
static void fractions_of_a_segment_are_dropped(void **state)
{
    (void)state;
    begin(100, MSS);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 92 * MSS;
    flow_ack(&f, 43 * MSS, 20000);  // 92 / 2 / 1.06
    assert_int_equal(flow_segments(&f), 93);
    rounds(3);
    assert_int_equal(flow_segments(&f), 93);
}

// Near the plateau a segment of growth costs five windows acknowledged, by as many as an ACK covers. That changes here
// from one to four; it is looked at again after HZ/32, or when the window has changed, not with each ACK.
static void the_pace_is_worked_out_again_after_a_thirty_second_of_a_second(void **state)
{
    (void)state;
    begin(1000, MSS);
    flow_lose(&f);
    f.window.cwnd = f.window.ssthresh = 999 * MSS;
    for (int i = 0; i < 600; i++) {
        f.now_us += 50;
        flow_ack(&f, 4 * MSS, 20000);
    }
    assert_int_equal(flow_segments(&f), 999);
    f.now_us += 2000;
    flow_ack(&f, 4 * MSS, 20000);
    assert_int_equal(flow_segments(&f), 1000);
}

static void a_timeout_forgets_the_maximum(void **state)
{
    (void)state;
    begin(400, MSS);
    flow_event(&f, WEIR_CC_RTO, 400 * MSS);
    assert_int_equal(f.window.cwnd, MSS);
    assert_in_range(f.window.ssthresh, 319 * MSS, 321 * MSS);
    flow_ack(&f, 400 * MSS, 20000);  // what was outstanding then
    f.window.cwnd = f.window.ssthresh;
    rounds(1);
    // a twentieth a round trip: 16, where a search would go at 16, too
    assert_in_range(flow_segments(&f), 320 + 14, 320 + 18);
    f.window.cwnd = f.window.ssthresh = 1000 * MSS;
    rounds(1);
    // a search goes at 16 at the most; of 20 / 1.06 the fraction is dropped
    assert_in_range(flow_segments(&f), 1055, 1056);
}

static void a_lower_loss_makes_room(void **state)
{
    (void)state;
    uint32_t took[2];
    for (int twice = 0; twice < 2; twice++) {
        begin(1000, MSS);
        if (twice)
            flow_lose(&f);
        f.window.cwnd = 900 * MSS;
        flow_lose(&f);  // twice: the search ends at 810, and 720 is where it begins
        took[twice] = 0;
        while (flow_segments(&f) < 806 && took[twice] < 1000)
            rounds(1), took[twice]++;
    }
    assert_in_range(took[0], 5, 6);  // at 16 a round trip
    assert_true(took[1] > took[0] + 3);
}

static void undo_gives_the_maximum_back(void **state)
{
    (void)state;
    uint32_t segments[2];
    for (int spurious = 0; spurious < 2; spurious++) {
        begin(1000, MSS);
        flow_lose(&f);
        rounds(3);
        if (spurious) {
            const struct weir_cc_window before = f.window;
            flow_event(&f, WEIR_CC_RTO, f.window.cwnd);
            flow_event(&f, WEIR_CC_UNDO, f.window.cwnd);
            assert_memory_equal(&f.window, &before, sizeof before);
        }
        rounds(20);
        segments[spurious] = flow_segments(&f);
    }
    assert_in_range(segments[1], segments[0] - 1, segments[0] + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_a_loss_the_window_is_searched_and_then_probed),
        cmocka_unit_test(a_segment_of_growth_costs_at_least_a_segment_acknowledged),
        cmocka_unit_test(steps_are_multiplied_by_the_segments_an_ack_covers_up_to_four),
        cmocka_unit_test(small_windows_are_renos),
        cmocka_unit_test(fractions_of_a_segment_are_dropped),
        cmocka_unit_test(the_pace_is_worked_out_again_after_a_thirty_second_of_a_second),
        cmocka_unit_test(a_timeout_forgets_the_maximum),
        cmocka_unit_test(a_lower_loss_makes_room),
        cmocka_unit_test(undo_gives_the_maximum_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
