// SPDX-License-Identifier: BSD-2-Clause
// Frames and deadlines: what is whole, when it is due, how it is counted.
// profiles: small
#include "rt_fixture.h"

static void whole_is_all_of_it_wherever_it_lies(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    assert_false(rt_whole(&p.rt, &p.line));
    play_data(&p, 100, 1000);
    assert_false(rt_whole(&p.rt, &p.line));
    play_data(&p, 0, 99);
    assert_false(rt_whole(&p.rt, &p.line));
    play_data(&p, 99, 100);
    assert_true(rt_whole(&p.rt, &p.line));
    play_data(&p, 1500, 2500);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_false(rt_whole(&p.rt, &p.line));
    play_data(&p, 2500, 3000);
    play_clock(&p, 2 * RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_true(rt_whole(&p.rt, &p.line));  // behind the hole
}

static void a_deadline_is_met_at_its_moment(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    assert_int_equal(play_read(&p), WEIR_AGAIN);
    assert_false(rt_readable(&p.rt, &p.line));
    play_data(&p, 0, 1500);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), RT_FRAME);
    play_clock(&p, RT_PERIOD - 1);
    assert_int_equal(play_read(&p), WEIR_AGAIN);
    play_clock(&p, 1);
    assert_true(rt_readable(&p.rt, &p.line));
    play_data(&p, 1500, 2000);  // in the same moment, though the deadline was looked at before
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.stats.met, 2);
    play_clock(&p, RT_PERIOD);
    assert_true(rt_readable(&p.rt, &p.line));
    play_clock(&p, 1);
    play_data(&p, 2000, 3000);  // a moment later
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.stats.met, 2);
    assert_int_equal(p.rt.stats.late, 1);
    assert_int_equal(p.rt.frame, 3);
}

static void a_reader_that_comes_too_late_is_late(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.edge += RT_FRAME;
    play_data(&p, 0, 3000);
    play_clock(&p, 2 * RT_PERIOD + 1);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(play_read(&p), RT_FRAME);  // its own deadline had passed when it became the next
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.stats.met, 2);
    assert_int_equal(p.rt.stats.late, 1);
}

// Without a first deadline the clock starts with the first frame.
static void the_first_frame_starts_the_clock(void **state)
{
    struct rt_play p;
    struct weir_realtime settings;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    settings = p.rt.settings;
    settings.first_us = 0;
    rt_begin(&p.rt, &settings, &p.line);
    play_clock(&p, 10 * RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_AGAIN);
    play_data(&p, 0, 1000);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.deadline_us, p.line.clock_us + RT_PERIOD);
    settings.period_us = 0;
    rt_begin(&p.rt, &settings, &p.line);
    p.rt.frame_seq = RT_BASE;
    p.line.una = RT_BASE;
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.deadline_us, 0);
}

// A file's frame of which nothing is known to be lost waits for a beat; one that was overtaken does not.
static void a_stored_frame_is_put_off(void **state)
{
    struct rt_play p;
    struct weir_realtime_frame frame;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.rt.settings.stored = true;
    play_clock(&p, RT_PERIOD);
    rt_judge(&p.rt, &p.line, &frame);
    assert_true(frame.put_off);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 0);
    assert_int_equal(p.rt.deadline_us, p.line.clock_us + RT_PERIOD);
    assert_int_equal(p.rt.stats.skipped, 1);
    assert_int_equal(p.rt.stats.backtracked, 1);
    play_data(&p, 0, 500);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 0);
    play_data(&p, 500, 1000);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.stats.met, 1);
    play_data(&p, 1500, 1600);
    play_clock(&p, RT_PERIOD);
    rt_judge(&p.rt, &p.line, &frame);
    assert_false(frame.put_off);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 2);
}

// A live source's frames are given up by the clock, until each of a second is missed: then the clock waits for what is
// sent, and goes on waiting until a long row was met.
static void a_live_stream_that_fell_behind_is_put_off(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    for (uint32_t i = 0; i < 4; i++) {
        play_clock(&p, RT_PERIOD);
        assert_int_equal(play_read(&p), WEIR_SKIPPED);
        assert_int_equal(p.rt.frame, i + 1);
    }
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 4);
    assert_int_equal(p.rt.stats.backtracked, 1);
    for (uint32_t i = 4; i < 4 + 32; i++) {
        assert_true(p.rt.behind);
        p.line.una = p.line.nxt = RT_BASE + i * RT_FRAME;
        play_data(&p, i * RT_FRAME, (i + 1) * RT_FRAME);
        play_clock(&p, RT_PERIOD);
        assert_int_equal(play_read(&p), RT_FRAME);
    }
    assert_false(p.rt.behind);
    assert_int_equal(p.rt.stats.met, 32);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);
    assert_int_equal(p.rt.frame, 37);
}

static void what_is_handed_out_in_part_is_not_put_off(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.rt.settings.stored = p.rt.settings.partial = true;
    play_data(&p, 0, 500);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(p.rt.frame, 1);
    play_clock(&p, RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);  // nothing came of this one
    assert_int_equal(p.rt.frame, 1);
}

static void the_missing_parts_are_told(void **state)
{
    struct rt_play p;
    struct weir_realtime_frame frame;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    for (uint32_t at = 100; at < 1000; at += 150)
        play_data(&p, at, at + 50);
    assert_int_equal(rt_judge(&p.rt, &p.line, &frame), WEIR_AGAIN);
    assert_int_equal(frame.missing, 1000 - 6 * 50);
    assert_int_equal(frame.pieces, WEIR_REALTIME_PIECES);
    assert_int_equal(frame.piece[0].offset, 0);
    assert_int_equal(frame.piece[0].bytes, 100);
    assert_int_equal(frame.piece[3].offset, 450);
    assert_int_equal(frame.piece[3].bytes, 100);
    assert_true(frame.out_of_order);
    p.line.una = p.line.nxt = RT_BASE + 10;  // somebody else read it
    assert_int_equal(rt_judge(&p.rt, &p.line, &frame), WEIR_AGAIN);
    assert_int_equal(frame.missing, 1000);
}

static void the_last_frame_is_shorter(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.ended = true;
    p.line.fin = RT_BASE + 1001;
    assert_int_equal(rt_frame_bytes(&p.rt, &p.line), RT_FRAME);
    play_data(&p, 0, 1001);
    assert_int_equal(play_read(&p), RT_FRAME);
    assert_int_equal(play_read(&p), 1);
    assert_int_equal(play_read(&p), 0);
    assert_int_equal(play_read(&p), 0);
    assert_int_equal(p.rt.stats.met, 2);
}

// The sender fell behind for good: the reader is past the last byte when the end comes.
static void the_end_is_told_to_a_reader_beyond_it(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_clock(&p, 4 * RT_PERIOD);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(play_read(&p), WEIR_SKIPPED);
    play_data(&p, 500, 1500);
    p.line.ended = true;
    p.line.fin = RT_BASE + 1500;
    play_clock(&p, RT_PERIOD);
    struct weir_realtime_frame frame;
    // the hole in front of it was not passed over yet
    assert_int_equal(rt_judge(&p.rt, &p.line, &frame), WEIR_SKIPPED);
    play_data(&p, 0, 500);
    p.line.una = p.line.nxt;
    assert_int_equal(play_read(&p), 0);
    assert_true(rt_readable(&p.rt, &p.line));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_is_all_of_it_wherever_it_lies),
        cmocka_unit_test(a_deadline_is_met_at_its_moment),
        cmocka_unit_test(a_reader_that_comes_too_late_is_late),
        cmocka_unit_test(the_first_frame_starts_the_clock),
        cmocka_unit_test(a_live_stream_that_fell_behind_is_put_off),
        cmocka_unit_test(what_is_handed_out_in_part_is_not_put_off),
        cmocka_unit_test(the_missing_parts_are_told),
        cmocka_unit_test(a_stored_frame_is_put_off),
        cmocka_unit_test(the_last_frame_is_shorter),
        cmocka_unit_test(the_end_is_told_to_a_reader_beyond_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
