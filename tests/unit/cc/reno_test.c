// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weir/cc.h"

#define MSS 1460u

static _Alignas(8) uint8_t cc_state[WEIR_CC_STATE_MAX];
static struct weir_cc_window window;

static int setup(void **state)
{
    (void)state;
    memset(cc_state, 0, sizeof cc_state);
    window = (struct weir_cc_window){0};
    const struct weir_cc_sample sample = {.mss = MSS};
    weir_cc_reno.event(cc_state, WEIR_CC_INIT, &sample, &window);
    return 0;
}
static void event(enum weir_cc_event what, uint32_t inflight)
{
    const struct weir_cc_sample sample = {.mss = MSS, .inflight = inflight, .prior_inflight = inflight};
    weir_cc_reno.event(cc_state, what, &sample, &window);
}
static void ack(uint32_t bytes, bool limited)
{
    const struct weir_cc_sample sample = {
        .mss = MSS, .acked = bytes, .cwnd_limited = limited, .acked_segments = (uint16_t)(bytes / MSS)};
    weir_cc_reno.ack(cc_state, &sample, &window);
}

static void the_initial_window_is_ten_segments_or_14600_bytes(void **state)
{
    (void)state;
    assert_int_equal(window.cwnd, 14600);
    assert_int_equal(window.ssthresh, WEIR_CC_UNLIMITED);
    const struct {
        uint32_t mss, cwnd;
    } row[] = {{536, 5360}, {8948, 17896}, {1460, 14600}, {2000, 14600}, {65495, 130990}};
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        window = (struct weir_cc_window){0};
        const struct weir_cc_sample sample = {.mss = row[i].mss};
        weir_cc_reno.event(cc_state, WEIR_CC_INIT, &sample, &window);
        assert_int_equal(window.cwnd, row[i].cwnd);
    }
}

static void switching_to_it_keeps_a_live_window(void **state)
{
    (void)state;
    window = (struct weir_cc_window){.cwnd = 77777, .ssthresh = 55555};
    event(WEIR_CC_INIT, 0);
    assert_int_equal(window.cwnd, 77777);
    assert_int_equal(window.ssthresh, 55555);
}

static void slow_start_doubles_in_a_round_trip(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++)
        ack(2 * MSS, true);
    assert_int_equal(window.cwnd, 2 * 14600);
    ack(29200, true);  // one ACK for a merged train counts as what it covers
    assert_int_equal(window.cwnd, 4 * 14600);
}

static void nothing_grows_while_cwnd_is_not_the_limit(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++)
        ack(2 * MSS, false);
    assert_int_equal(window.cwnd, 14600);
    window.ssthresh = window.cwnd;
    for (int i = 0; i < 100; i++)
        ack(2 * MSS, false);
    assert_int_equal(window.cwnd, 14600);
}

static void avoidance_adds_one_segment_a_window_and_loses_nothing_to_rounding(void **state)
{
    (void)state;
    window.cwnd = window.ssthresh = 1000 * MSS;  // MSS * MSS / cwnd would be 1.46 bytes an ACK
    uint32_t acked = 0;
    while (window.cwnd < 1100 * MSS) {
        ack(7, true);
        acked += 7;
    }
    const double windows = 1000.0 * MSS * 100 + 99.0 * 50 * MSS;  // sum of 1000 … 1099 segments
    assert_in_range(acked, (uint32_t)(windows * 0.999), (uint32_t)(windows * 1.001));
}

static void slow_start_stops_at_ssthresh_and_the_rest_counts_for_avoidance(void **state)
{
    (void)state;
    window.ssthresh = 15000;
    ack(14600, true);
    assert_int_equal(window.cwnd, 15000);  // 400 used, 14200 of credit
    ack(800, true);
    assert_int_equal(window.cwnd, 15000 + MSS);
}

static void loss_halves_what_was_in_flight_not_cwnd(void **state)
{
    (void)state;
    window.cwnd = 100 * MSS;
    event(WEIR_CC_ENTER_RECOVERY, 20 * MSS);
    assert_int_equal(window.ssthresh, 10 * MSS);
    window.cwnd = 3 * MSS;  // what recovery made of it
    event(WEIR_CC_EXIT_RECOVERY, 5 * MSS);
    assert_int_equal(window.cwnd, 10 * MSS);
}

static void what_limited_transmit_sent_is_not_counted(void **state)
{
    (void)state;
    window.cwnd = 20 * MSS;
    event(WEIR_CC_ENTER_RECOVERY, 22 * MSS);
    assert_int_equal(window.ssthresh, 10 * MSS);
}

static void what_was_sacked_before_does_not_grow_the_window(void **state)
{
    (void)state;
    window.cwnd = window.ssthresh = 20 * MSS;
    struct weir_cc_sample sample = {.mss = MSS, .acked = 20 * MSS, .acked_again = 19 * MSS, .cwnd_limited = true};
    weir_cc_reno.ack(cc_state, &sample, &window);
    assert_int_equal(window.cwnd, 20 * MSS);
    window.ssthresh = WEIR_CC_UNLIMITED;
    weir_cc_reno.ack(cc_state, &sample, &window);
    assert_int_equal(window.cwnd, 21 * MSS);
}

static void ssthresh_is_at_least_two_segments(void **state)
{
    (void)state;
    event(WEIR_CC_ENTER_RECOVERY, MSS);
    assert_int_equal(window.ssthresh, 2 * MSS);
    event(WEIR_CC_RTO, MSS);
    assert_int_equal(window.ssthresh, 2 * MSS);
}

static void recovery_does_not_grow_the_window(void **state)
{
    (void)state;
    const struct weir_cc_sample sample = {.mss = MSS, .acked = 5 * MSS, .cwnd_limited = true, .in_recovery = true};
    weir_cc_reno.ack(cc_state, &sample, &window);
    assert_int_equal(window.cwnd, 14600);
}

static void a_timeout_starts_from_one_segment(void **state)
{
    (void)state;
    window.cwnd = 40 * MSS;
    event(WEIR_CC_RTO, 40 * MSS);
    assert_int_equal(window.cwnd, MSS);
    assert_int_equal(window.ssthresh, 20 * MSS);
    ack(30 * MSS, true);  // a hole was filled: the peer had these long ago (RFC 3465 §2.3)
    assert_int_equal(window.cwnd, 2 * MSS);
    ack(10 * MSS, true);
    assert_int_equal(window.cwnd, 3 * MSS);
    ack(3 * MSS, true);  // sent after the timeout: slow start as usual
    assert_int_equal(window.cwnd, 6 * MSS);
    event(WEIR_CC_EXIT_RECOVERY, 0);
    assert_int_equal(window.cwnd, 6 * MSS);  // slow start goes on
}

static void undo_restores_and_only_once(void **state)
{
    (void)state;
    window = (struct weir_cc_window){.cwnd = 50 * MSS, .ssthresh = 30 * MSS};
    event(WEIR_CC_RTO, 50 * MSS);
    event(WEIR_CC_UNDO, 0);
    assert_int_equal(window.cwnd, 50 * MSS);
    assert_int_equal(window.ssthresh, 30 * MSS);
    window.cwnd = 5 * MSS;
    event(WEIR_CC_UNDO, 0);
    assert_int_equal(window.cwnd, 5 * MSS);
}

static void idling_begins_again_but_remembers(void **state)
{
    (void)state;
    window = (struct weir_cc_window){.cwnd = 80 * MSS, .ssthresh = 40 * MSS};
    event(WEIR_CC_IDLE_RESTART, 0);
    assert_int_equal(window.cwnd, 14600);
    assert_int_equal(window.ssthresh, 60 * MSS);
    window = (struct weir_cc_window){.cwnd = 2 * MSS, .ssthresh = WEIR_CC_UNLIMITED};
    event(WEIR_CC_IDLE_RESTART, 0);
    assert_int_equal(window.cwnd, 2 * MSS);
    assert_int_equal(window.ssthresh, WEIR_CC_UNLIMITED);
}

// RFC 8511 §3.1: to 0.8 of what is in flight; without ABE as a loss (RFC 3168 §6.1.2).
static void a_mark_costs_less_than_a_loss(void **state)
{
    (void)state;
    window.cwnd = 20 * MSS;
    event(WEIR_CC_ECN, 20 * MSS);
    assert_in_range(window.cwnd, WEIR_CFG_CC_ABE ? 16 * MSS - MSS / 32 : 10 * MSS,
                    WEIR_CFG_CC_ABE ? 16 * MSS : 10 * MSS);
    assert_int_equal(window.ssthresh, window.cwnd);
    window.cwnd = WEIR_CC_UNLIMITED / 4;  // no product overflows
    event(WEIR_CC_ECN, window.cwnd);
    assert_in_range(window.cwnd, WEIR_CC_UNLIMITED / 4 / 5 * (WEIR_CFG_CC_ABE ? 3 : 2), WEIR_CC_UNLIMITED / 5);
    event(WEIR_CC_ECN, 0);
    assert_int_equal(window.cwnd, 2 * MSS);
}

static void the_end_of_slow_start_can_be_told(void **state)
{
    (void)state;
    event(WEIR_CC_EXIT_SLOW_START, 0);
    assert_int_equal(window.ssthresh, window.cwnd);
}

static void the_window_has_an_upper_end(void **state)
{
    (void)state;
    window.cwnd = 0x3fffff00;
    for (int i = 0; i < 10; i++)
        ack(0x3fffff00, true);
    assert_int_equal(window.cwnd, 0x40000000);
    window.ssthresh = 1;
    for (int i = 0; i < 10; i++)
        ack(0x40000000, true);
    assert_int_equal(window.cwnd, 0x40000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_initial_window_is_ten_segments_or_14600_bytes, setup),
        cmocka_unit_test_setup(switching_to_it_keeps_a_live_window, setup),
        cmocka_unit_test_setup(slow_start_doubles_in_a_round_trip, setup),
        cmocka_unit_test_setup(nothing_grows_while_cwnd_is_not_the_limit, setup),
        cmocka_unit_test_setup(avoidance_adds_one_segment_a_window_and_loses_nothing_to_rounding, setup),
        cmocka_unit_test_setup(slow_start_stops_at_ssthresh_and_the_rest_counts_for_avoidance, setup),
        cmocka_unit_test_setup(loss_halves_what_was_in_flight_not_cwnd, setup),
        cmocka_unit_test_setup(what_limited_transmit_sent_is_not_counted, setup),
        cmocka_unit_test_setup(what_was_sacked_before_does_not_grow_the_window, setup),
        cmocka_unit_test_setup(ssthresh_is_at_least_two_segments, setup),
        cmocka_unit_test_setup(recovery_does_not_grow_the_window, setup),
        cmocka_unit_test_setup(a_timeout_starts_from_one_segment, setup),
        cmocka_unit_test_setup(undo_restores_and_only_once, setup),
        cmocka_unit_test_setup(idling_begins_again_but_remembers, setup),
        cmocka_unit_test_setup(a_mark_costs_less_than_a_loss, setup),
        cmocka_unit_test_setup(the_end_of_slow_start_can_be_told, setup),
        cmocka_unit_test_setup(the_window_has_an_upper_end, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
