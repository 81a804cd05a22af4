// SPDX-License-Identifier: BSD-2-Clause
// Weir's mode: what it passes over, and when; what it says twice; what it holds back.
// profiles: small
#include "rt_fixture.h"

// Frame 0 lacks [200, 500); what is behind came at once.
static void begin(struct rt_play *p)
{
    play(p, WEIR_REALTIME_WEIR);
    play_data(p, 0, 200);
    play_clock(p, RT_PERIOD - 5 * RT_MS);
    play_data(p, 500, 2000);
    play_clock(p, 5 * RT_MS);
}

static void a_hole_lives_for_a_round_trip(void **state)
{
    struct rt_play p;
    (void)state;
    begin(&p);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_false(p.order.move);
    assert_true(p.order.wake);
    assert_int_equal(p.order.wake_us - p.line.now_us, 15 * RT_MS);
    play_time(&p, 14 * RT_MS);
    assert_false(p.order.move);
    play_time(&p, RT_MS);
    assert_true(p.order.move);
    assert_int_equal(p.order.nxt, RT_BASE + RT_FRAME);
    assert_true(p.order.acks);
    assert_int_equal(p.order.reason, WEIR_REALTIME_SKIP_TOLD);
}

static void before_the_deadline_nothing_is_passed_over(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 500, 2000);
    play_time(&p, RT_PERIOD - 1);
    assert_false(p.order.move);
}

static void more_patience_on_request(void **state)
{
    struct rt_play p;
    (void)state;
    begin(&p);
    p.rt.settings.keep_us = 100 * RT_MS;
    play_read(&p);
    play_time(&p, 94 * RT_MS);
    assert_false(p.order.move);
    play_time(&p, RT_MS);
    assert_true(p.order.move);
}

// The end of the frame was perhaps never sent: the number stops where data was seen.
static void only_what_is_proven_is_passed_over(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 300, 600);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_true(p.order.move);
    assert_int_equal(p.order.nxt, RT_BASE + 600);
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 0, 600);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_false(p.order.move);  // there is no hole
}

// A hole seen later lives as long: its loss is news of its own for the sender.
static void a_younger_hole_has_its_own_time(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_clock(&p, RT_PERIOD - 15 * RT_MS);
    play_data(&p, 100, 300);
    play_clock(&p, 14 * RT_MS);
    play_data(&p, 600, 2000);
    play_clock(&p, RT_MS);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    play_time(&p, 5 * RT_MS);
    assert_true(p.order.move);
    assert_int_equal(p.order.nxt, RT_BASE + 300);
}

// Where acknowledgements are lost as well, the last one that carried SACK goes again a little later.
static void the_last_sack_is_said_again(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 500, 2000);
    assert_true(rt_lossy(&p.rt));
    assert_true(p.order.wake);
    play_time(&p, p.order.wake_us - p.line.now_us);
    assert_int_equal(p.order.acks, 2);
    assert_int_equal(p.order.reason, WEIR_REALTIME_ACK_AGAIN);
    play_time(&p, RT_MS);
    assert_int_equal(p.order.acks, 0);
}

// Frame 0 lacks [0, 500) for a sender without SACK; the queue holds `frames`, the period is `period_us`.
static void a_hole_without_sack(struct rt_play *p, uint32_t frames, uint32_t period_us)
{
    play(p, WEIR_REALTIME_WEIR);
    p->line.sack = false;
    p->line.limit_bytes = frames * RT_FRAME;
    p->rt.settings.period_us = period_us;
    play_data(p, 500, 1000);
    assert_true(rt_lossy(&p->rt));
}

// Three more of the same, an eighth of a round trip after the hole was seen, and not again for the same hole.
static void a_sender_without_sack_is_told_of_a_hole_once(void **state)
{
    struct rt_play p;
    (void)state;
    a_hole_without_sack(&p, 2, RT_PERIOD);
    play_time(&p, 20 * RT_MS / 8 - 1);
    assert_int_equal(p.order.acks, 0);
    play_time(&p, 1);
    assert_int_equal(p.order.acks, 3);
    assert_int_equal(p.order.reason, WEIR_REALTIME_ACK_AGAIN);
    play_data(&p, 1000, 2000);
    play_time(&p, 20 * RT_MS / 8);
    assert_int_equal(p.order.acks, 0);
}

static void a_hole_that_is_filled_meanwhile_is_not_told(void **state)
{
    struct rt_play p;
    (void)state;
    a_hole_without_sack(&p, 2, RT_PERIOD);
    play_data(&p, 0, 500);
    play_time(&p, 20 * RT_MS / 8);
    assert_int_equal(p.order.acks, 0);
}

// Half of two frames in 20 ms is not what a period of 19 ms brings; half of three is.
static void half_the_window_must_carry_the_stream(void **state)
{
    struct rt_play p;
    (void)state;
    a_hole_without_sack(&p, 2, 19 * RT_MS);
    play_time(&p, 20 * RT_MS / 8);
    assert_int_equal(p.order.acks, 0);
    a_hole_without_sack(&p, 3, 19 * RT_MS);
    play_time(&p, 20 * RT_MS / 8);
    assert_int_equal(p.order.acks, 3);
}

static void a_hole_that_cannot_be_filled_in_time_is_not_told(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.sack = false;
    p.line.limit_bytes = 2 * RT_FRAME;
    play_clock(&p, RT_PERIOD - 20 * RT_MS);
    play_data(&p, 500, 1000);
    play_time(&p, 20 * RT_MS / 8);
    assert_int_equal(p.order.acks, 0);
}

static void window_is_held_back_only_where_segments_are_lost(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.limit_bytes = 5 * RT_FRAME;
    play_data(&p, 0, 500);
    assert_int_equal(p.order.hold_bytes, 0);
    p.rt.stats.loss_ppm = 50000;
    play_data(&p, 500, 1000);
    assert_int_equal(p.order.hold_bytes, 2 * 500);
    p.line.limit_bytes = 3 * RT_FRAME + 100;  // never what three frames need
    play_data(&p, 1000, 1100);
    assert_int_equal(p.order.hold_bytes, 100);
    p.line.limit_bytes = 2 * RT_FRAME;
    play_data(&p, 1100, 1200);
    assert_int_equal(p.order.hold_bytes, 0);
    p.line.limit_bytes = 5 * RT_FRAME;
    p.line.sack = false;
    play_data(&p, 1200, 1500);
    assert_int_equal(p.order.hold_bytes, 0);
}

// Frame 0, and the first half of frame 1: one segment is left of the window.
static void all_but_the_tail(struct rt_play *p)
{
    play(p, WEIR_REALTIME_WEIR);
    play_data(p, 0, 500);
    play_data(p, 500, 1000);
    assert_int_equal(p->order.quiet_us, 0);
    play_clock(p, 5 * RT_MS);
}

#define TAIL (4 * 20 * RT_MS + 10 * RT_MS)

static void the_acknowledgement_before_a_tail_waits(void **state)
{
    struct rt_play p;
    (void)state;
    all_but_the_tail(&p);
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, TAIL);
    assert_int_equal(p.order.acks, 0);
    play_time(&p, TAIL - 1);  // nor is anything asked for meanwhile
    assert_int_equal(p.order.acks, 0);
    assert_int_equal(p.order.wake_us - p.line.now_us, 1);
    play_time(&p, 1);
    assert_int_equal(p.order.acks, 1);
    assert_int_equal(p.order.reason, WEIR_REALTIME_DATA_LATE);
    all_but_the_tail(&p);
    play_data(&p, 1000, 1500);
    play_data(&p, 1500, 2000);
    assert_int_equal(p.order.quiet_us, 0);
    assert_false(p.rt.quiet);
}

// With more window than that the tail is the frame's.
static void a_frame_has_a_tail_too(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.edge = p.line.would = RT_BASE + 6000;
    p.rt.settings.frame_bytes = 1500;
    play_data(&p, 0, 500);
    assert_int_equal(p.order.quiet_us, 0);
    play_data(&p, 500, 1000);
    assert_int_equal(p.order.quiet_us, TAIL);
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, 0);
}

static void not_every_tail_is_waited_for(void **state)
{
    struct rt_play p;
    (void)state;
    all_but_the_tail(&p);
    p.line.sack = false;
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, 0);
    all_but_the_tail(&p);
    play_clock(&p, 6 * RT_MS);  // the sender sends one at a time
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, 0);
    all_but_the_tail(&p);
    play_data(&p, 1000, 1600);  // less than a segment is left: Nagle waits
    assert_int_equal(p.order.quiet_us, 0);
    all_but_the_tail(&p);
    p.line.srtt_us = 61 * RT_MS;
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, 0);
    all_but_the_tail(&p);
    play_data(&p, 1500, 2000);  // a hole
    assert_int_equal(p.order.quiet_us, 0);
}

static void a_sender_in_haste_is_not_left_waiting_again(void **state)
{
    struct rt_play p;
    (void)state;
    all_but_the_tail(&p);
    rt_answered(&p.rt, &p.line);  // nothing waits
    play_data(&p, 1000, 1500);
    assert_int_equal(p.order.quiet_us, TAIL);
    play_clock(&p, 30 * RT_MS);
    rt_answered(&p.rt, &p.line);
    assert_int_equal(play_read(&p), 1000);
    p.line.edge = p.line.would = RT_BASE + 3000;
    play_data(&p, 1500, 2000);
    play_data(&p, 2000, 2500);
    assert_int_equal(p.order.quiet_us, 0);
}

// Whether Weir's mode does as Embedded Xinu's at this window, round trip and period.
static bool skips(uint32_t frames, uint32_t rtt_ms, uint32_t period_ms, bool sack, uint32_t keep_us)
{
    const struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR,
                                           .frame_bytes = RT_FRAME,
                                           .period_us = period_ms * RT_MS,
                                           .first_us = 1,
                                           .keep_us = keep_us};
    const struct rt_line line = {.limit_bytes = frames * RT_FRAME, .srtt_us = rtt_ms * RT_MS, .sack = sack};
    struct rt rt;
    rt_begin(&rt, &settings, &line);
    assert_true(rt.policy == &rt_weir || rt.policy == &rt_skip_by_deadline);
    return rt.policy == &rt_skip_by_deadline;
}

static void a_window_that_hardly_carries_the_stream_hides_losses(void **state)
{
    (void)state;
    assert_true(skips(2, 400, 250, false, 0));
    assert_true(skips(2, 20, 20, false, 0));
    assert_true(skips(4, 100, 25, false, 0));
    assert_true(skips(8, 400, 250, false, 0));
    assert_false(skips(2, 400, 190, false, 0));  // does not carry it
    assert_false(skips(9, 400, 250, false, 0));  // with ease
    assert_false(skips(4, 20, 20, false, 0));    // a frame at a time
    assert_false(skips(2, 0, 250, false, 0));    // nobody knows
    assert_false(skips(2, 400, 250, true, 0));
    assert_false(skips(2, 400, 250, false, 1));
}

// As Embedded Xinu's, but a frame has its deadline, and is not given up before.
static void what_hides_losses_knows_deadlines(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.rt.policy = &rt_skip_by_deadline;
    p.rt.settings.stored = true;
    play_data(&p, 0, 500);
    play_clock(&p, RT_PERIOD - 1);
    assert_int_equal(play_read(&p), WEIR_AGAIN);
    play_clock(&p, 1);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 1);
    assert_true(p.order.move);
    assert_int_equal(p.order.nxt, RT_BASE + RT_FRAME);
    assert_int_equal(p.order.acks, 1);
    p.line.nxt = p.line.una = p.order.nxt;
    play_data(&p, 1000, 2000);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.order.reason, WEIR_REALTIME_EVERY_READ);
    assert_int_equal(p.order.acks, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hole_lives_for_a_round_trip),
        cmocka_unit_test(before_the_deadline_nothing_is_passed_over),
        cmocka_unit_test(more_patience_on_request),
        cmocka_unit_test(only_what_is_proven_is_passed_over),
        cmocka_unit_test(a_younger_hole_has_its_own_time),
        cmocka_unit_test(the_last_sack_is_said_again),
        cmocka_unit_test(a_sender_without_sack_is_told_of_a_hole_once),
        cmocka_unit_test(a_hole_that_is_filled_meanwhile_is_not_told),
        cmocka_unit_test(half_the_window_must_carry_the_stream),
        cmocka_unit_test(a_hole_that_cannot_be_filled_in_time_is_not_told),
        cmocka_unit_test(window_is_held_back_only_where_segments_are_lost),
        cmocka_unit_test(the_acknowledgement_before_a_tail_waits),
        cmocka_unit_test(a_frame_has_a_tail_too),
        cmocka_unit_test(not_every_tail_is_waited_for),
        cmocka_unit_test(a_sender_in_haste_is_not_left_waiting_again),
        cmocka_unit_test(a_window_that_hardly_carries_the_stream_hides_losses),
        cmocka_unit_test(what_hides_losses_knows_deadlines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
