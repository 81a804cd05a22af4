// SPDX-License-Identifier: BSD-2-Clause
// Round trip and loss as the receiver sees them.
// profiles: small
#include "rt_fixture.h"

static void open_and_answer(struct rt_play *p, uint32_t at, uint32_t rtt_us)
{
    p->line.would = p->line.edge + RT_FRAME;
    play_acked(p);
    play_clock(p, rtt_us);
    play_data(p, at, at + RT_FRAME);
}

static void the_round_trip_is_the_smallest_of_late(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 20 * RT_MS);  // the handshake's
    p.line.srtt_us = 0;
    assert_in_range(rt_round_trip(&p.rt, &p.line), 1, 1000 * RT_MS);
    play_data(&p, 0, 2000);
    open_and_answer(&p, 2000, 50 * RT_MS);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 50 * RT_MS);
    open_and_answer(&p, 3000, 30 * RT_MS);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 30 * RT_MS);
    open_and_answer(&p, 4000, 80 * RT_MS);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 30 * RT_MS);
    for (uint32_t at = 5000; at < 405000; at += 1000)  // the path became longer: 32 s
        open_and_answer(&p, at, 80 * RT_MS);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 80 * RT_MS);
}

// Karn: which of two updates the data answers cannot be told. And a sender that was not waiting answers nothing.
static void a_doubtful_sample_is_none(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    play_data(&p, 0, 2000);
    p.line.would = p.line.edge + 500;
    play_acked(&p);
    play_clock(&p, 10 * RT_MS);
    p.line.would = p.line.edge + 500;
    play_acked(&p);
    play_clock(&p, 5 * RT_MS);
    play_data(&p, 2000, 3000);
    assert_int_equal(rt_round_trip(&p.rt, &p.line), 20 * RT_MS);
    p.line.would = p.line.edge + 2 * RT_FRAME;
    play_acked(&p);
    play_data(&p, 3000, 4000);
    p.line.would = p.line.edge + RT_FRAME;  // there was room left
    play_acked(&p);
    play_clock(&p, 3 * RT_MS);
    play_data(&p, 4000, 5000);
    assert_in_range(rt_round_trip(&p.rt, &p.line), 1, 20 * RT_MS);
    assert_int_not_equal(rt_round_trip(&p.rt, &p.line), 3 * RT_MS);
}

static void loss_is_a_moving_average(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_WEIR);
    p.line.edge += 1u << 30;
    for (uint32_t i = 0; i < 1000; i++)
        if (i % 10)
            play_data(&p, i * 500, i * 500 + 500);
    assert_in_range(p.rt.stats.loss_ppm, 70000, 130000);
    assert_true(rt_lossy(&p.rt));
    for (uint32_t i = 1000; i < 2000; i++)
        play_data(&p, i * 500, i * 500 + 500);
    assert_false(rt_lossy(&p.rt));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_round_trip_is_the_smallest_of_late),
        cmocka_unit_test(a_doubtful_sample_is_none),
        cmocka_unit_test(loss_is_a_moving_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
