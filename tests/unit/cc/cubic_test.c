// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// CUBIC against RFC 9438 written down in floating point, and what implementations got wrong before.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weir/cc.h"

#define MSS 1448u

static _Alignas(8) uint8_t cc_state[WEIR_CC_STATE_MAX];
static struct weir_cc_window window;
static uint32_t now_us;

static int setup(void **state)
{
    (void)state;
    memset(cc_state, 0, sizeof cc_state);
    window = (struct weir_cc_window){0};
    now_us = 0xfff00000u;  // the clock wraps in every longer test
    const struct weir_cc_sample sample = {.mss = MSS, .now_us = now_us};
    weir_cc_cubic.event(cc_state, WEIR_CC_INIT, &sample, &window);
    return 0;
}
static void event(enum weir_cc_event what, uint32_t inflight)
{
    const struct weir_cc_sample sample = {
        .mss = MSS, .inflight = inflight, .prior_inflight = inflight, .now_us = now_us};
    weir_cc_cubic.event(cc_state, what, &sample, &window);
}
static void ack(uint32_t bytes, uint32_t rtt_us, bool limited)
{
    const struct weir_cc_sample sample = {
        .mss = MSS, .now_us = now_us, .acked = bytes, .srtt_us = rtt_us, .cwnd_limited = limited};
    weir_cc_cubic.ack(cc_state, &sample, &window);
}
static void lose(void)
{
    event(WEIR_CC_ENTER_RECOVERY, window.cwnd);
    event(WEIR_CC_EXIT_RECOVERY, window.cwnd);
}
// A round trip in which the whole window is acknowledged, in ACKs of `each` bytes spread evenly.
static void round_trip(uint32_t rtt_us, uint32_t each)
{
    const uint32_t acks = window.cwnd / each + 1;
    for (uint32_t i = 0; i < acks; i++) {
        now_us += rtt_us / acks;
        ack(each, rtt_us, true);
    }
}

// RFC 9438 in segments and seconds.
struct model {
    double cwnd, w_max, k, t, w_est;
};
static void model_loss(struct model *m, double cwnd)
{
    m->w_max = cwnd < m->w_max ? cwnd * (1 + 0.7) / 2 : cwnd;  // §4.7
    m->cwnd = m->w_est = cwnd * 0.7;
    m->k = m->w_max > m->cwnd ? cbrt((m->w_max - m->cwnd) / 0.4) : 0;
    m->t = 0;
}
static double model_window(const struct model *m, double t) { return 0.4 * pow(t - m->k, 3) + fmax(m->w_max, 0); }
static void model_ack(struct model *m, double segments, double passed, double rtt)
{
    m->t += passed;
    m->w_est += 9.0 / 17 * segments / m->cwnd;
    if (model_window(m, m->t) < m->w_est) {
        m->cwnd = fmax(m->cwnd, m->w_est);
        return;
    }
    const double target = fmax(m->cwnd, fmin(model_window(m, m->t + rtt), 1.5 * m->cwnd));
    m->cwnd += segments * (target - m->cwnd) / m->cwnd;
}

static void compare(uint32_t cwnd, uint32_t rtt_us, uint32_t each, double seconds, double tolerance)
{
    setup(NULL);
    window.cwnd = cwnd;
    struct model m = {0};
    model_loss(&m, (double)cwnd / MSS);
    lose();
    double passed = 0, credit = 0;
    ack(1, rtt_us, true);
    while (passed < seconds) {
        const uint32_t gap = (uint32_t)((double)rtt_us * each / window.cwnd) + 1;
        now_us += gap;
        passed += gap * 1e-6;
        ack(each, rtt_us, true);
        model_ack(&m, (double)each / MSS, gap * 1e-6, rtt_us * 1e-6);
        credit = fabs((double)window.cwnd / MSS - m.cwnd);
        if (credit > 2 && credit / m.cwnd > tolerance)
            fail_msg("cwnd %u rtt %u each %u: after %.2f s %.1f segments, model %.1f", cwnd, rtt_us, each, passed,
                     (double)window.cwnd / MSS, m.cwnd);
    }
}

static void equals_the_formulas_within_two_percent(void **state)
{
    (void)state;
    compare(100 * MSS, 100000, 2 * MSS, 20, 0.02);  // concave, plateau, convex
    compare(1000 * MSS, 50000, 2 * MSS, 20, 0.02);
    compare(1000 * MSS, 200000, 10 * MSS, 30, 0.02);
    compare(20000 * MSS, 100000, 44 * MSS, 40, 0.02);  // 2.3 Gbit/s: K is 24.7 s
    compare(20 * MSS, 10000, 2 * MSS, 20, 0.02);       // Reno-friendly all the way
    compare(172 * MSS, 20000, MSS, 10, 0.02);
    compare(60 * MSS, 30000, 60 * MSS, 10, 0.03);  // one ACK a window
}

static void slow_start_counts_bytes_and_respects_the_limit(void **state)
{
    (void)state;
    const uint32_t first = window.cwnd;
    ack(first, 20000, false);
    assert_int_equal(window.cwnd, first);
    ack(first, 20000, true);
    assert_int_equal(window.cwnd, 2 * first);
}

static void loss_leaves_seven_tenths_of_what_was_in_flight(void **state)
{
    (void)state;
    window.cwnd = 1000 * MSS;
    event(WEIR_CC_ENTER_RECOVERY, 100 * MSS);
    assert_in_range(window.ssthresh, 699 * MSS / 10, 701 * MSS / 10);
    event(WEIR_CC_EXIT_RECOVERY, 0);
    assert_int_equal(window.cwnd, window.ssthresh);
    event(WEIR_CC_ENTER_RECOVERY, 1);
    assert_int_equal(window.ssthresh, 2 * MSS);
}

static void idle_time_does_not_count(void **state)
{
    (void)state;
    uint32_t result[2];
    for (int idle = 0; idle < 2; idle++) {
        setup(NULL);
        window.cwnd = 500 * MSS;
        lose();
        for (int i = 0; i < 20; i++)
            round_trip(50000, 2 * MSS);
        if (idle) {  // 20 s of a trickle that does not use the window: t must stand still
            for (int i = 0; i < 200; i++) {
                now_us += 100000;
                ack(100, 50000, false);
            }
        }
        for (int i = 0; i < 20; i++)
            round_trip(50000, 2 * MSS);
        result[idle] = window.cwnd;
    }
    assert_in_range(result[1], result[0] - MSS, result[0] + MSS);
}

static void time_begins_again_with_each_loss(void **state)
{
    (void)state;
    uint32_t result[2];
    for (int second = 0; second < 2; second++) {
        setup(NULL);
        if (second) {
            window.cwnd = 150 * MSS;
            lose();
            while (window.cwnd < 300 * MSS)
                round_trip(100000, 2 * MSS);
        }
        window.cwnd = 300 * MSS;
        lose();
        for (int i = 0; i < 40; i++)
            round_trip(100000, 2 * MSS);
        result[second] = window.cwnd;
    }
    assert_in_range(result[1], result[0] - MSS, result[0] + MSS);
}

static void above_the_plateau_k_is_zero(void **state)
{
    (void)state;
    window.cwnd = 100 * MSS;
    lose();
    window.cwnd = 300 * MSS;  // avoidance begins far above what was lost at
    window.ssthresh = 300 * MSS;
    uint32_t last = window.cwnd;
    for (int i = 0; i < 20; i++) {  // convex from the start: 6 s give 0.4 * 216 segments, Reno would add 20
        round_trip(300000, 2 * MSS);
        assert_true(window.cwnd >= last);
        last = window.cwnd;
    }
    assert_in_range(window.cwnd, 380 * MSS, 405 * MSS);
}

static void the_target_is_at_most_half_as_much_again(void **state)
{
    (void)state;
    window.cwnd = 10000 * MSS;
    lose();
    window.cwnd = window.ssthresh = 10 * MSS;
    round_trip(100000, 2 * MSS);
    for (int i = 0; i < 20; i++) {
        const uint32_t before = window.cwnd;
        round_trip(100000, 2 * MSS);
        assert_true(window.cwnd <= before + before * 6 / 10);
    }
}

static void in_the_friendly_region_reno_is_followed_by_acknowledged_segments(void **state)
{
    (void)state;
    // 20 ms, 20 segments: cubic alone would take seconds to grow. One ACK for ten segments must count ten.
    for (uint32_t each = MSS; each <= 10 * MSS; each += 9 * MSS) {
        setup(NULL);
        window.cwnd = 20 * MSS;
        lose();
        const uint32_t start = window.cwnd;
        for (int i = 0; i < 10; i++) {
            for (uint32_t acked = 0; acked < window.cwnd; acked += each) {
                now_us += 20000 / 20 * (each / MSS);
                ack(each, 20000, true);
            }
        }
        assert_in_range(window.cwnd, start + 4 * MSS, start + 7 * MSS);  // 10 windows * 0.529
    }
}

static void after_a_timeout_the_plateau_is_where_avoidance_begins(void **state)
{
    (void)state;
    window.cwnd = 200 * MSS;
    event(WEIR_CC_RTO, 200 * MSS);
    assert_int_equal(window.cwnd, MSS);
    assert_in_range(window.ssthresh, 139 * MSS, 141 * MSS);
    event(WEIR_CC_EXIT_RECOVERY, 0);
    assert_int_equal(window.cwnd, MSS);  // slow start goes on
    while (window.cwnd < window.ssthresh)
        round_trip(50000, 2 * MSS);
    const uint32_t begun = window.cwnd;
    for (int i = 0; i < 20; i++)
        round_trip(50000, 2 * MSS);
    // K = 0: W(1 s) is 0.4 segments above; what growth there is, is Reno's (20 windows at 0.529).
    assert_in_range(window.cwnd, begun, begun + 13 * MSS);
}

static void undo_restores_everything(void **state)
{
    (void)state;
    uint32_t result[2];
    for (int spurious = 0; spurious < 2; spurious++) {
        setup(NULL);
        window.cwnd = 300 * MSS;
        lose();
        for (int i = 0; i < 40; i++)
            round_trip(50000, 2 * MSS);
        if (spurious) {
            const struct weir_cc_window before = window;
            event(WEIR_CC_RTO, window.cwnd);
            assert_int_equal(window.cwnd, MSS);
            event(WEIR_CC_UNDO, 0);
            assert_int_equal(window.cwnd, before.cwnd);
            assert_int_equal(window.ssthresh, before.ssthresh);
            event(WEIR_CC_UNDO, 0);  // nothing is left to undo
            assert_int_equal(window.cwnd, before.cwnd);
        }
        for (int i = 0; i < 80; i++)
            round_trip(50000, 2 * MSS);
        result[spurious] = window.cwnd;
    }
    assert_in_range(result[1], result[0] - MSS, result[0] + MSS);
}

// Undo restores what Reno would have, too, where that is what is followed.
static void undo_restores_renos_window_too(void **state)
{
    (void)state;
    uint32_t result[2];
    for (int spurious = 0; spurious < 2; spurious++) {
        setup(NULL);
        window.cwnd = 20 * MSS;
        lose();
        for (int i = 0; i < 30; i++)
            round_trip(20000, 2 * MSS);
        if (spurious) {
            event(WEIR_CC_ENTER_RECOVERY, window.cwnd);
            ack(MSS, 20000, true);
            event(WEIR_CC_UNDO, 0);
        }
        for (int i = 0; i < 10; i++)
            round_trip(20000, 2 * MSS);
        result[spurious] = window.cwnd;
    }
    assert_in_range(result[1], result[0] - MSS, result[0] + MSS);
}

static void fast_convergence_lowers_the_plateau(void **state)
{
    (void)state;
    uint32_t result[2];
    for (int twice = 0; twice < 2; twice++) {
        setup(NULL);
        if (twice) {
            window.cwnd = 1000 * MSS;
            lose();
        }
        window.cwnd = 700 * MSS;
        lose();  // twice: below the last maximum, so the plateau is 595 segments, otherwise 700
        ack(1, 100000, true);
        for (int i = 0; i < 75; i++)  // 7.5 s: past K of either (6.3 or 8.1 s) or nearly
            round_trip(100000, 2 * MSS);
        result[twice] = window.cwnd / MSS;
    }
    assert_in_range(result[0], 690, 706);
    assert_in_range(result[1], 590, 604);
}

static void idle_restart_begins_again(void **state)
{
    (void)state;
    window.cwnd = 400 * MSS;
    lose();
    for (int i = 0; i < 10; i++)
        round_trip(50000, 2 * MSS);
    const uint32_t before = window.cwnd;
    event(WEIR_CC_IDLE_RESTART, 0);
    assert_int_equal(window.cwnd, 10 * MSS);
    assert_in_range(window.ssthresh, before - before / 4 - 1, before);
}

static void ecn_reduces_at_once(void **state)
{
    (void)state;
    window.cwnd = 100 * MSS;
    event(WEIR_CC_ECN, 100 * MSS);
    // RFC 8511 §4.1: 0.85
    assert_in_range(window.cwnd, (WEIR_CFG_CC_ABE ? 84 : 69) * MSS, (WEIR_CFG_CC_ABE ? 85 : 71) * MSS);
}

static void extremes_neither_overflow_nor_stall(void **state)
{
    (void)state;
    const uint32_t mss[] = {1, 64, 536, 65495};
    for (size_t i = 0; i < 4; i++) {
        setup(NULL);
        for (int j = 0; j < 3000; j++) {
            const struct weir_cc_sample sample = {.mss = mss[i],
                                                  .now_us = now_us += 7777777,
                                                  .acked = 0x3fffffff,
                                                  .srtt_us = UINT32_MAX / 2,
                                                  .cwnd_limited = true};
            weir_cc_cubic.ack(cc_state, &sample, &window);
            assert_true(window.cwnd >= mss[i] && window.cwnd <= 0x40000000);
            if (j % 100 == 98)
                assert_true(window.cwnd > 50 * mss[i]);
            if (j % 100 == 99) {
                weir_cc_cubic.event(cc_state, j % 200 == 99 ? WEIR_CC_RTO : WEIR_CC_ENTER_RECOVERY, &sample, &window);
                assert_true(window.ssthresh >= 2 * mss[i]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(equals_the_formulas_within_two_percent, setup),
        cmocka_unit_test_setup(slow_start_counts_bytes_and_respects_the_limit, setup),
        cmocka_unit_test_setup(loss_leaves_seven_tenths_of_what_was_in_flight, setup),
        cmocka_unit_test_setup(idle_time_does_not_count, setup),
        cmocka_unit_test_setup(time_begins_again_with_each_loss, setup),
        cmocka_unit_test_setup(above_the_plateau_k_is_zero, setup),
        cmocka_unit_test_setup(the_target_is_at_most_half_as_much_again, setup),
        cmocka_unit_test_setup(in_the_friendly_region_reno_is_followed_by_acknowledged_segments, setup),
        cmocka_unit_test_setup(after_a_timeout_the_plateau_is_where_avoidance_begins, setup),
        cmocka_unit_test_setup(undo_restores_everything, setup),
        cmocka_unit_test_setup(undo_restores_renos_window_too, setup),
        cmocka_unit_test_setup(fast_convergence_lowers_the_plateau, setup),
        cmocka_unit_test_setup(idle_restart_begins_again, setup),
        cmocka_unit_test_setup(ecn_reduces_at_once, setup),
        cmocka_unit_test_setup(extremes_neither_overflow_nor_stall, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
