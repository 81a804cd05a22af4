// SPDX-License-Identifier: BSD-2-Clause
#include "path.h"

static struct path_flow f;

static void know(uint32_t base_us, uint32_t segments)
{
    flow_avoid(&f, &weir_cc_yeah, segments);
    flow_rounds(&f, 1, base_us);
    f.window.cwnd = f.window.ssthresh = segments * MSS;
}

static uint32_t lost(void)  // segments that a loss now would take
{
    struct path_flow copy = f;
    flow_event(&copy, WEIR_CC_ENTER_RECOVERY, f.window.cwnd);
    return flow_segments(&f) - flow_segments(&copy);
}

static void without_a_queue_it_grows_by_a_hundredth_of_what_is_acknowledged(void **state)
{
    (void)state;
    know(100000, 1000);
    flow_rounds(&f, 5, 100000);
    assert_in_range(flow_segments(&f), 1045, 1056);
    know(20000, 50);  // windows below 100: Reno
    flow_rounds(&f, 5, 20000);
    assert_in_range(flow_segments(&f), 54, 56);
}

// On a path that holds 172 segments the 80 of the paper are never seen alone: an eighth of the round trip says it
// before.
static void on_a_short_path_the_round_trip_tells(void **state)
{
    (void)state;
    know(20000, 200);
    flow_rounds(&f, 3, 23000);  // 26 segments wait: more than 1/8
    const uint32_t slow = flow_segments(&f);
    flow_rounds(&f, 10, 23000);
    assert_in_range(flow_segments(&f) - slow, 9, 10);  // as Reno, and nothing is taken out
    know(20000, 200);
    flow_rounds(&f, 3, 22000);  // 18: not yet
    const uint32_t fast = flow_segments(&f);
    flow_rounds(&f, 5, 22000);
    assert_in_range(flow_segments(&f) - fast, 9, 11);
}

static void a_queue_of_more_than_eighty_is_taken_out(void **state)
{
    (void)state;
    know(100000, 1000);
    flow_rounds(&f, 2, 112000);  // 107 segments; still below 1/8
    assert_in_range(flow_segments(&f), 895, 1000);
    assert_in_range(f.window.ssthresh, 890 * MSS, f.window.cwnd);
    know(100000, 1000);
    flow_rounds(&f, 1, 300000);
    flow_rounds(&f, 1, 300000);
    assert_in_range(flow_segments(&f), 500, 520);  // half of the window at the most
}

static void rivals_are_not_given_way_to(void **state)
{
    (void)state;
    know(100000, 1000);
    for (int i = 0; i < 300; i++)  // the queue never goes, whatever is taken out
        flow_round(&f, 2 * MSS, 200000);
    // Half of the window when it began, and a segment a round trip since, as a Reno flow would have.
    assert_in_range(flow_segments(&f), 500, 900);
    assert_in_range(lost() * 100 / flow_segments(&f), 49, 51);  // 16 such round trips: a loss halves
}

static void in_fast_mode_a_loss_takes_the_queue_or_an_eighth(void **state)
{
    (void)state;
    know(100000, 1000);
    flow_rounds(&f, 2, 100000);
    f.window.cwnd = 1000 * MSS;
    assert_in_range(lost(), 124, 126);
    know(20000, 300);
    flow_rounds(&f, 2, 27000);  // 77 segments wait
    f.window.cwnd = 300 * MSS;
    assert_in_range(lost(), 74, 82);
}

static void fifty_fast_round_trips_forget_rivals_and_a_loss_counts_anew(void **state)
{
    (void)state;
    for (int loss = 0; loss < 2; loss++) {
        know(100000, 600);
        for (int i = 0; i < 100; i++)
            flow_round(&f, 2 * MSS, 250000);
        // 600 became 300, and half of that, and a segment a round trip since
        const uint32_t rivals = flow_segments(&f);
        assert_in_range(rivals, 240, 255);
        for (int i = 0; i < 55; i++) {
            f.window.cwnd = f.window.ssthresh = rivals * MSS;
            flow_round(&f, 2 * MSS, 100000);
            if (loss && i == 30)
                flow_lose(&f);  // fewer than fifty since
        }
        f.window.cwnd = f.window.ssthresh = 340 * MSS;
        flow_rounds(&f, 5, 250000);  // halved each time
        if (loss)                    // rivals are remembered, at half of what they had
            assert_in_range(flow_segments(&f), 122, 135);
        else
            assert_in_range(flow_segments(&f), 80, 100);
    }
}

// So many round trips of so long, the window staying what it is.
static void stay(uint32_t segments, uint32_t rtt_us, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        f.window.cwnd = f.window.ssthresh = segments * MSS;
        flow_round(&f, 2 * MSS, rtt_us);
    }
    f.window.cwnd = f.window.ssthresh = segments * MSS;
}

static void each_mode_ends_with_the_first_round_trip_of_the_other(void **state)
{
    (void)state;
    know(100000, 1000);
    stay(1000, 200000, 30);
    assert_in_range(lost(), 495, 505);
    stay(1000, 100000, 3);  // the first of them began in the other mode
    const uint32_t before = flow_segments(&f);
    flow_rounds(&f, 3, 100000);
    assert_in_range(flow_segments(&f) - before, 27, 34);
    f.window.cwnd = 1000 * MSS;
    assert_in_range(lost(), 124, 126);
}

// The fifty are counted anew: rivals that come later are not forgotten the sooner for it.
static void rivals_are_forgotten_once_in_fifty(void **state)
{
    (void)state;
    know(100000, 600);
    stay(600, 100000, 60);
    for (int i = 0; i < 100; i++)
        flow_round(&f, 2 * MSS, 250000);
    const uint32_t rivals = flow_segments(&f);
    assert_in_range(rivals, 240, 255);
    stay(rivals, 100000, 5);
    f.window.cwnd = f.window.ssthresh = 340 * MSS;
    flow_rounds(&f, 5, 250000);
    assert_in_range(flow_segments(&f), rivals, rivals + 10);
}

static void a_longer_path_is_learnt_after_a_timeout_and_after_idling(void **state)
{
    (void)state;
    const enum weir_cc_event events[] = {WEIR_CC_RTO, WEIR_CC_IDLE_RESTART};
    for (int i = 0; i < 2; i++) {
        know(20000, 200);
        stay(200, 60000, 20);  // the route is another: to it, it is a queue
        assert_in_range(lost(), 98, 102);
        flow_event(&f, events[i], f.window.cwnd);
        flow_ack(&f, 200 * MSS, 60000);  // what was outstanding
        stay(200, 60000, 3);
        assert_in_range(lost(), 24, 26);
    }
}

static void no_round_trip_time_divides_nothing(void **state)
{
    (void)state;
    know(20000, 100);
    flow_open(&f, &weir_cc_yeah);
    f.window.cwnd = f.window.ssthresh = 100 * MSS;
    for (int i = 0; i < 20; i++) {
        flow_round(&f, 2 * MSS, 0);
        f.now_us += 1000;
    }
    assert_in_range(flow_segments(&f), 115, 125);
}

static void undo_gives_the_mode_back(void **state)
{
    (void)state;
    know(100000, 1000);
    for (int i = 0; i < 30; i++)
        flow_round(&f, 2 * MSS, 200000);
    const struct weir_cc_window before = f.window;
    const uint32_t would = lost();
    flow_event(&f, WEIR_CC_RTO, f.window.cwnd);
    flow_event(&f, WEIR_CC_UNDO, 0);
    assert_memory_equal(&f.window, &before, sizeof before);
    assert_int_equal(lost(), would);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_queue_it_grows_by_a_hundredth_of_what_is_acknowledged),
        cmocka_unit_test(on_a_short_path_the_round_trip_tells),
        cmocka_unit_test(a_queue_of_more_than_eighty_is_taken_out),
        cmocka_unit_test(rivals_are_not_given_way_to),
        cmocka_unit_test(in_fast_mode_a_loss_takes_the_queue_or_an_eighth),
        cmocka_unit_test(fifty_fast_round_trips_forget_rivals_and_a_loss_counts_anew),
        cmocka_unit_test(each_mode_ends_with_the_first_round_trip_of_the_other),
        cmocka_unit_test(rivals_are_forgotten_once_in_fifty),
        cmocka_unit_test(a_longer_path_is_learnt_after_a_timeout_and_after_idling),
        cmocka_unit_test(no_round_trip_time_divides_nothing),
        cmocka_unit_test(undo_gives_the_mode_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
