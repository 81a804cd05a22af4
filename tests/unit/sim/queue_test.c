// SPDX-License-Identifier: BSD-2-Clause
#include "sink.h"

static struct sim *sim;
static struct sink *a, *b;
static struct sim_link *cable;

static void open_link(const struct sim_way *way)
{
    sim = sim_open(NULL);
    a = sink_add(sim, "a");
    b = sink_add(sim, "b");
    cable = sim_link_add(sim, &a->node, &b->node, &(struct sim_link_options){.there = *way});
}

static void drop_tail_in_bytes(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue_bytes = 2500});
    for (uint32_t number = 0; number < 5; number++)  // one is served, two of 1000 wait, two find no room
        frame_send(a, 1000, number);
    frame_send(a, 500, 5);  // but this one does
    run(sim, SIM_S(1));
    assert_int_equal(b->count, 4);
    assert_int_equal(b->frames[3].number, 5);
    assert_int_equal(sim_link_stats(cable, false)->dropped, 2);
    assert_int_equal(sim_link_stats(cable, false)->longest_queue_bytes, 2500);
    sim_close(sim);
}

static void drop_tail_in_frames(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue_frames = 3});
    for (uint32_t number = 0; number < 10; number++)
        frame_send(a, 100, number);
    run(sim, SIM_S(1));
    assert_int_equal(b->count, 4);
    sim_close(sim);
}

// A bucket of 2,500 bytes, filled by 1,000 a millisecond: two frames at once, a third half a millisecond later.
static void a_policer_drops_what_finds_no_tokens(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.police_rate = 8000000, .police_bytes = 2500});
    for (uint32_t number = 0; number < 5; number++)
        frame_send(a, 1000, number);
    run(sim, 400000);
    frame_send(a, 1000, 5);
    run(sim, 500000);
    frame_send(a, 1000, 6);
    run(sim, SIM_S(1));  // the bucket is full again, and holds no more
    for (uint32_t number = 7; number < 12; number++)
        frame_send(a, 1000, number);
    run(sim, SIM_S(2));
    const uint32_t passed[] = {0, 1, 6, 7, 8};
    assert_int_equal(b->count, 5);
    for (uint32_t index = 0; index < 5; index++)
        assert_int_equal(b->frames[index].number, passed[index]);
    assert_int_equal(sim_link_stats(cable, false)->dropped, 7);
    sim_close(sim);
}

static void marks_from_the_threshold_on(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .mark_bytes = 2000});
    for (uint32_t number = 0; number < 6; number++)
        frame_send(a, 1000, number);
    run(sim, SIM_S(1));
    for (uint32_t index = 0; index < 6; index++)  // the fourth finds two waiting
        assert_int_equal(b->frames[index].marked, index >= 3);
    assert_int_equal(sim_link_stats(cable, false)->marked, 3);
    sim_close(sim);
}

// 10 % more than the link carries: the queue is above the target from some moment on; nothing may be dropped for an
// interval after it.
static void overload(uint32_t milliseconds)
{
    const uint64_t until_ns = sim->now_ns + SIM_MS(milliseconds);
    for (uint32_t number = 0; sim->now_ns < until_ns; number++) {
        frame_send(a, 1000, number);
        run(sim, sim->now_ns + SIM_US(909));  // 8 Mbit/s: one a millisecond
    }
}

static void codel_waits_an_interval_and_drops_more_and_more_often(void **state)
{
    uint64_t first_ns = 0, gap_ns[200];
    uint32_t gaps = 0;
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue = SIM_CODEL});
    overload(1500);
    for (uint32_t index = 1; index < b->count && gaps < 200; index++) {
        if (b->frames[index].number == b->frames[index - 1].number + 1)
            continue;
        if (!first_ns)
            first_ns = b->frames[index].at_ns;
        else
            gap_ns[gaps++] = b->frames[index].at_ns - first_ns;
    }
    // 5 ms behind after some 55 ms, then one interval.
    assert_in_range(first_ns, SIM_MS(150), SIM_MS(175));
    assert_true(gaps > 5);
    // RFC 8289 §5.3: the n-th next drop comes 100 ms / sqrt(n) after the one before: 100, then 70.7, 57.7 …
    assert_in_range(gap_ns[0], SIM_MS(97), SIM_MS(103));
    assert_in_range(gap_ns[1] - gap_ns[0], SIM_MS(68), SIM_MS(73));
    assert_in_range(gap_ns[2] - gap_ns[1], SIM_MS(55), SIM_MS(60));
    sim_close(sim);
}

static void codel_leaves_a_short_queue_alone(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue = SIM_CODEL});
    for (uint32_t number = 0; number < 1000; number++) {
        frame_send(a, 1000, number);
        run(sim, sim->now_ns + SIM_US(1010));
    }
    assert_int_equal(sim_link_stats(cable, false)->dropped, 0);
    sim_close(sim);
}

static void codel_marks_instead(void **state)
{
    uint32_t marked = 0;
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue = SIM_CODEL, .codel_marks = true});
    overload(1500);
    for (uint32_t index = 0; index < b->count; index++)
        marked += b->frames[index].marked;
    assert_true(marked > 5);
    assert_int_equal(sim_link_stats(cable, false)->dropped, 0);
    sim_close(sim);
}

// What cannot be marked is dropped; what was damaged is not healed by a new header checksum.
static void only_capable_whole_packets_are_marked(void **state)
{
    (void)state;
    sim = sim_open(NULL);
    struct frame *frame = frame_make(sim, 100, 1);
    assert_true(frame_mark_ce(frame));
    assert_int_equal(frame->data[15] & 3, 3);
    frame->data[15] = 0;
    assert_false(frame_mark_ce(frame));
    frame->data[15] = 1;
    frame->damaged = true;
    assert_false(frame_mark_ce(frame));
    frame_free(&sim->frames, frame);
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drop_tail_in_bytes),
        cmocka_unit_test(drop_tail_in_frames),
        cmocka_unit_test(a_policer_drops_what_finds_no_tokens),
        cmocka_unit_test(marks_from_the_threshold_on),
        cmocka_unit_test(codel_waits_an_interval_and_drops_more_and_more_often),
        cmocka_unit_test(codel_leaves_a_short_queue_alone),
        cmocka_unit_test(codel_marks_instead),
        cmocka_unit_test(only_capable_whole_packets_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
