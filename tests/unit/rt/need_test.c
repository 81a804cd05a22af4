// SPDX-License-Identifier: BSD-2-Clause
// When an update is needed, and when something is asked for again.
// profiles: small
#include "rt_fixture.h"

// Frames 0 and 1 came, and at their deadlines are read.
static void begin(struct rt_play *p)
{
    play(p, WEIR_REALTIME_WEIR);
    play_data(p, 0, 2000);
    play_clock(p, RT_PERIOD);
}

static void the_lead_decides(void **state)
{
    struct rt_play p;
    (void)state;
    begin(&p);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.order.acks, 0);  // frame 2 has two periods: the next read is soon enough
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.order.acks, 1);
    assert_int_equal(p.order.reason, WEIR_REALTIME_NEED);
    begin(&p);
    p.line.srtt_us = 210 * RT_MS;  // a path so long that one period is not enough
    play_read(&p);
    assert_int_equal(p.order.acks, 1);
    begin(&p);
    p.rt.stats.loss_ppm = 50000;  // three round trips, and two timeouts of the sender's
    play_read(&p);
    assert_int_equal(p.order.acks, 1);
    begin(&p);
    p.rt.settings.period_us = 1000 * RT_MS;  // frames of a second leave time for them
    p.rt.stats.loss_ppm = 50000;
    play_read(&p);
    assert_int_equal(p.order.acks, 0);
    begin(&p);
    p.line.segment_bytes = 300;  // less than a segment of window is none: the end of frame 1 is not on its way
    p.line.nxt = p.rt.seen = RT_BASE + 1800;
    play_read(&p);
    assert_int_equal(p.order.acks, 1);
}

static void nothing_more_is_expected_at_the_end(void **state)
{
    struct rt_play p;
    (void)state;
    begin(&p);
    play_read(&p);
    p.line.ended = true;
    p.line.fin = p.line.nxt;
    play_clock(&p, RT_PERIOD);
    play_read(&p);
    assert_int_equal(p.order.acks, 0);
    assert_false(p.order.wake);
}

static void an_unanswered_update_is_repeated(void **state)
{
    struct rt_play p;
    uint32_t asked = 0;
    (void)state;
    begin(&p);
    play_read(&p);
    play_clock(&p, RT_PERIOD);
    play_read(&p);
    play_acked(&p);
    play_time(&p, 0);
    assert_int_equal(p.order.acks, 0);
    assert_true(p.order.wake);
    assert_int_equal(p.order.wake_us - p.line.now_us, 27 * RT_MS);  // 1.25 round trips and 2 ms
    for (uint32_t i = 0; i < 30 && p.order.wake; i++) {
        play_time(&p, p.order.wake_us - p.line.now_us);
        asked += p.order.acks != 0;
        assert_true(!p.order.acks || p.order.reason == WEIR_REALTIME_REPEAT);
    }
    assert_in_range(asked, 8, 12);
    assert_true(rt_lossy(&p.rt));
    play_data(&p, 2000, 4000);
    assert_false(p.order.wake);  // all that was opened came
}

// A sender that left less than a segment of window lie has used up all it can: what opens more is waited for as well.
static void an_update_after_a_rest_of_window_is_repeated(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 0, 1600);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), RT_FRAME);
    play_acked(&p);
    assert_true(p.rt.opened);
    play_time(&p, 28 * RT_MS);
    assert_int_equal(p.order.acks, 1);
    assert_int_equal(p.order.reason, WEIR_REALTIME_REPEAT);
    play_data(&p, 1600, 2100);
    assert_false(p.rt.opened);
}

// A tail that is missing shows in no SACK: its ACK once more lets the sender look. Three, where it has no SACK and
// loses.
static void late_data_is_asked_for(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.sack = false;
    p.rt.stats.loss_ppm = 50000;
    play_data(&p, 0, 500);
    assert_int_equal(p.order.acks, 0);
    play_time(&p, 28 * RT_MS);
    assert_int_equal(p.order.acks, 3);
    assert_int_equal(p.order.reason, WEIR_REALTIME_DATA_LATE);
    play_data(&p, 500, 2000);
    assert_false(p.order.wake);
}

// A live source sends as it produces: its frame is not late before it usually comes.
static void a_live_source_is_not_asked_too_early(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.edge = p.line.would = RT_BASE + 1000 * RT_FRAME;
    play_clock(&p, 150 * RT_MS);
    for (uint32_t frame = 0; frame < 10; frame++) {
        play_data(&p, frame * RT_FRAME, (frame + 1) * RT_FRAME);  // 100 ms before its deadline
        play_clock(&p, 100 * RT_MS);
        p.line.would = p.line.edge;
        assert_int_equal(play_read(&p), RT_FRAME);
        p.line.would = p.line.edge;
        play_time(&p, 149 * RT_MS);
        assert_int_equal(p.order.acks, 0);
        play_clock(&p, RT_MS);
    }
    play_time(&p, 6 * RT_MS);
    assert_int_equal(p.order.acks, 0);
    play_time(&p, 2 * RT_MS);
    assert_int_equal(p.order.acks, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lead_decides),
        cmocka_unit_test(nothing_more_is_expected_at_the_end),
        cmocka_unit_test(an_unanswered_update_is_repeated),
        cmocka_unit_test(an_update_after_a_rest_of_window_is_repeated),
        cmocka_unit_test(late_data_is_asked_for),
        cmocka_unit_test(a_live_source_is_not_asked_too_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
