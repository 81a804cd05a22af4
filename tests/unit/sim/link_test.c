// SPDX-License-Identifier: BSD-2-Clause
#include "sink.h"

static struct sim *sim;
static struct sink *a, *b;
static struct sim_link *cable;

static void open_link(const struct sim_way *way)
{
    sim = sim_open(&(struct sim_options){.seed = 3});
    a = sink_add(sim, "a");
    b = sink_add(sim, "b");
    cable = sim_link_add(sim, &a->node, &b->node, &(struct sim_link_options){.there = *way});
}

static void serialiser_and_delay_to_the_nanosecond(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 100000000, .delay_ns = SIM_MS(10)});
    for (uint32_t number = 0; number < 3; number++)
        frame_send(a, 1514, number);
    frame_send(b, 100, 9);
    run(sim, SIM_S(1));
    assert_int_equal(b->count, 3);
    for (uint32_t number = 0; number < 3; number++) {
        assert_int_equal(b->frames[number].at_ns, SIM_MS(10) + (number + 1) * 121120);
        assert_int_equal(b->frames[number].number, number);
    }
    assert_int_equal(a->frames[0].at_ns, SIM_MS(10) + 8000);
    assert_int_equal(sim_link_stats(cable, false)->bytes, 3 * 1514);
    // The second waited for the first, the third for both.
    assert_int_equal(sim_link_stats(cable, false)->waited_ns, 3 * 121120);
    sim_close(sim);
}

static void overhead_counts_at_the_serialiser(void **state)
{
    (void)state;
    sim = sim_open(NULL);
    a = sink_add(sim, "a");
    b = sink_add(sim, "b");
    sim_link_add(sim, &a->node, &b->node, &(struct sim_link_options){.there = {.rate = 8000000}, .overhead = 24});
    frame_send(a, 100, 0);
    run(sim, SIM_S(1));
    assert_int_equal(b->frames[0].at_ns, SIM_US(124));
    sim_close(sim);
}

static uint32_t send_many(uint32_t count, uint32_t length)
{
    for (uint32_t number = 0; number < count; number++) {
        frame_send(a, length, number);
        run(sim, sim->now_ns + SIM_US(100));
    }
    run(sim, sim->now_ns + SIM_S(1));
    return b->count;
}

static void loss_is_what_was_asked_for(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.loss_ppm = 100000});
    const uint32_t came = send_many(10000, 100);
    assert_in_range(came, 8900, 9100);  // three standard deviations are 90
    assert_int_equal(sim_link_stats(cable, false)->lost, 10000 - came);
    sim_close(sim);
}

// Share lost: 1 % to go bad, 25 % to end it: 1/26 of the frames are in a burst; bursts of four on average.
static void bursts_lose_in_a_row(void **state)
{
    uint32_t bursts = 0, lost = 0;
    (void)state;
    open_link(&(struct sim_way){.burst_ppm = 10000, .burst_end_ppm = 250000, .burst_loss_ppm = 1000000});
    const uint32_t came = send_many(20000 - 1, 64);
    for (uint32_t index = 1; index < came; index++) {
        const uint32_t gap = b->frames[index].number - b->frames[index - 1].number - 1;
        bursts += gap > 0;
        lost += gap;
    }
    assert_in_range(lost, 20000 / 26 * 7 / 10, 20000 / 26 * 13 / 10);
    assert_in_range(lost * 10 / bursts, 33, 47);
    sim_close(sim);
}

// A burst that only frames could end would outlive the patience of a connection whose timer has backed off.
static void a_burst_may_end_with_time(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.burst_ppm = 1000000, .burst_end_ppm = 1, .burst_loss_ppm = 1000000});
    assert_int_equal(send_many(1000, 64), 0);
    sim_close(sim);
    open_link(&(struct sim_way){
        .burst_ppm = 10000, .burst_end_ppm = 1, .burst_loss_ppm = 1000000, .burst_most_ns = SIM_MS(5)});
    // a hundred good frames, then fifty bad ones within 5 ms, on average
    assert_in_range(send_many(20000, 64), 10500, 14000);
    sim_close(sim);
}

static void reordered_frames_come_late_and_all_come(void **state)
{
    bool seen[1000] = {false};
    uint32_t late = 0;
    (void)state;
    open_link(&(struct sim_way){.reorder_ppm = 200000, .reorder_ns = SIM_MS(1), .delay_ns = SIM_MS(5)});
    assert_int_equal(send_many(1000, 100), 1000);
    for (uint32_t index = 0; index < 1000; index++) {
        seen[b->frames[index].number] = true;
        late += index && b->frames[index].number < b->frames[index - 1].number;
    }
    for (uint32_t number = 0; number < 1000; number++)
        assert_true(seen[number]);
    assert_true(late > 100);
    sim_close(sim);
}

static void jitter_keeps_the_order(void **state)
{
    bool moved = false;
    (void)state;
    open_link(&(struct sim_way){.jitter_ns = SIM_MS(3), .delay_ns = SIM_MS(5)});
    assert_int_equal(send_many(1000, 100), 1000);
    for (uint32_t index = 0; index < 1000; index++) {
        assert_int_equal(b->frames[index].number, index);
        assert_in_range(b->frames[index].at_ns - index * SIM_US(100), SIM_MS(5), SIM_MS(8) + SIM_US(1));
        moved |= b->frames[index].at_ns != index * SIM_US(100) + SIM_MS(5);
    }
    assert_true(moved);
    sim_close(sim);
}

static void duplicates_and_damage(void **state)
{
    uint32_t damaged = 0;
    (void)state;
    open_link(&(struct sim_way){.duplicate_ppm = 100000, .corrupt_ppm = 100000});
    const uint32_t came = send_many(5000, 100);
    assert_in_range(came, 5400, 5600);
    for (uint32_t index = 0; index < came; index++)
        damaged += b->frames[index].damaged;
    assert_in_range(damaged, 400, 700);
    assert_int_equal(sim_link_stats(cable, false)->duplicated, came - 5000);
    sim_close(sim);
}

static void too_large_packets_are_dropped(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.mtu = 1000});
    frame_send(a, 1014, 1);
    frame_send(a, 1015, 2);
    run(sim, SIM_S(1));
    assert_int_equal(b->count, 1);
    assert_int_equal(sim_link_stats(cable, false)->dropped, 1);
    sim_close(sim);
}

static void a_cut_loses_what_flies_and_what_comes(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 1000000, .delay_ns = SIM_MS(10)});
    frame_send(a, 125, 1);  // 1 ms on the line, then in the air
    frame_send(a, 125, 2);
    frame_send(a, 125, 3);
    run(sim, SIM_US(1500));
    sim_link_cut(cable, true);  // one flies, one is in the serialiser, one waits
    frame_send(a, 125, 4);
    run(sim, SIM_MS(20));
    assert_int_equal(b->count, 0);
    assert_int_equal(sim_link_stats(cable, false)->cut, 4);
    sim_link_cut(cable, false);
    frame_send(a, 125, 5);
    run(sim, SIM_MS(40));
    assert_int_equal(b->count, 1);
    assert_int_equal(b->frames[0].number, 5);
    sim_close(sim);
    assert_true(true);
}

static void flaps_come_by_schedule(void **state)
{
    (void)state;
    open_link(&(struct sim_way){0});
    sim_link_flap(cable, SIM_MS(10), SIM_MS(5), SIM_MS(20), 2);  // down at 10–15 and 30–35
    for (uint32_t ms = 0; ms < 50; ms++) {
        frame_send(a, 100, ms);
        run(sim, SIM_MS(ms + 1) - 1);
    }
    assert_int_equal(b->count, 40);
    for (uint32_t index = 0; index < 40; index++) {
        const uint32_t ms = b->frames[index].number;
        assert_false((ms > 10 && ms < 15) || (ms > 30 && ms < 35));
    }
    sim_close(sim);
}

static void backpressure_refuses_and_tells_of_room(void **state)
{
    (void)state;
    open_link(&(struct sim_way){.rate = 8000000, .queue_bytes = 3200, .backpressure = true});
    assert_true(port_takes(a->node.ports, 1514));
    for (uint32_t number = 0; number < 3; number++)  // one is served, two wait
        frame_send(a, 1514, number);
    assert_false(port_takes(a->node.ports, 1514));
    run(sim, SIM_S(1));
    assert_int_equal(b->count, 3);
    assert_int_equal(a->room, 1);
    // Also when the rate, and with it the queue, is taken away.
    for (uint32_t number = 0; number < 3; number++)
        frame_send(a, 1514, number);
    assert_false(port_takes(a->node.ports, 1514));
    sim_link_set(cable, false, &(struct sim_way){0});
    assert_int_equal(a->room, 2);
    run(sim, SIM_S(2));
    assert_int_equal(b->count, 6);
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(serialiser_and_delay_to_the_nanosecond),
        cmocka_unit_test(overhead_counts_at_the_serialiser),
        cmocka_unit_test(loss_is_what_was_asked_for),
        cmocka_unit_test(bursts_lose_in_a_row),
        cmocka_unit_test(a_burst_may_end_with_time),
        cmocka_unit_test(reordered_frames_come_late_and_all_come),
        cmocka_unit_test(jitter_keeps_the_order),
        cmocka_unit_test(duplicates_and_damage),
        cmocka_unit_test(too_large_packets_are_dropped),
        cmocka_unit_test(a_cut_loses_what_flies_and_what_comes),
        cmocka_unit_test(flaps_come_by_schedule),
        cmocka_unit_test(backpressure_refuses_and_tells_of_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
