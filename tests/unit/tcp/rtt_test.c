// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: tiny small
// RFC 6298 against a floating-point model, and its edges.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tcp/rtt.h"

#define MIN_US (WEIR_CFG_TCP_RTO_MIN_MS * 1000u)
#define MAX_US (WEIR_CFG_TCP_RTO_MAX_MS * 1000u)

static void before_a_sample_the_timeout_is_one_second(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    assert_int_equal(rtt_timeout(&rtt, 0), 1000000);
    assert_int_equal(rtt_smoothed(&rtt), 0);
    assert_int_equal(rtt.min_us, UINT32_MAX);
}

static void the_first_sample_sets_all(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    rtt_sample(&rtt, 500000);
    assert_int_equal(rtt_smoothed(&rtt), 500000);
    assert_int_equal(rtt.rttvar4_us, 4 * 250000);
    assert_int_equal(rtt_timeout(&rtt, 0), 1500000);  // SRTT + 4 * R/2
    assert_int_equal(rtt.min_us, 500000);
}

static void follows_the_formulas_of_rfc_6298(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    double srtt = 0, rttvar = 0;
    uint32_t seed = 7;
    for (int i = 0; i < 7000; i++) {
        seed = seed * 1664525u + 1013904223u;
        const uint32_t sample = 200000 + (seed >> 8) % (i % 1000 < 500 ? 900000 : 20000);
        if (i == 0) {
            srtt = sample;
            rttvar = sample / 2.0;
        } else {
            rttvar = 0.75 * rttvar + 0.25 * fabs(srtt - sample);
            srtt = 0.875 * srtt + 0.125 * sample;
        }
        rtt_sample(&rtt, sample);
        const double expected = srtt + fmax(4 * rttvar, MIN_US);
        assert_true(fabs(rtt_smoothed(&rtt) - srtt) < 10);
        assert_true(fabs(rtt_timeout(&rtt, 0) - fmin(expected, MAX_US)) < 60);
    }
}

static void a_steady_path_keeps_room_for_a_delayed_acknowledgement(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    for (int i = 0; i < 100; i++)
        rtt_sample(&rtt, MIN_US);
    assert_true(rtt_timeout(&rtt, 0) >= MIN_US + MIN_US);
}

static void the_clock_granularity_is_a_floor_of_the_variation(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 700000);
    for (int i = 0; i < 200; i++)
        rtt_sample(&rtt, 100000);
    assert_int_equal(rtt_timeout(&rtt, 0), 100000 + 700000);
}

static void never_below_the_minimum_nor_above_the_maximum(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    for (int i = 0; i < 100; i++) {
        rtt_sample(&rtt, 0);  // less than a tick
        assert_true(rtt_timeout(&rtt, 0) >= MIN_US);
        assert_true(rtt.srtt8_us != 0);
    }
    assert_int_equal(rtt.min_us, 1);
    for (int i = 0; i < 100; i++) {
        rtt_sample(&rtt, UINT32_MAX);
        assert_true(rtt_timeout(&rtt, 0) <= MAX_US);
    }
    assert_int_equal(rtt_timeout(&rtt, 255), MAX_US);
}

// What a socket asked for is what is added to the round trip of a steady path, be it less than the default or more; a
// path that varies by more is not held to it.
static void the_floor_of_a_socket_takes_the_place_of_the_default(void **state)
{
    static const uint32_t floors_us[] = {RTO_FLOOR_LEAST_US, 30000, RTO_FLOOR_MOST_US};
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rtt rtt;
        rtt_init(&rtt, 1);
        for (int sample = 0; sample < 200; sample++)
            rtt_sample(&rtt, 20000);
        rtt.floor_us = floors_us[i];
        assert_int_equal(rtt_timeout(&rtt, 0), 20000 + floors_us[i]);
        assert_int_equal(rtt_timeout(&rtt, 1), 2 * (20000 + floors_us[i]));
        rtt_sample(&rtt, 20000 + floors_us[i] * 8);
        assert_true(rtt_timeout(&rtt, 0) >= 20000 + floors_us[i] * 2);
    }
}

// A timer fires at the first tick after it is due: with half a tick less the smallest timeout is the same by each of
// these clocks.
static void the_floor_is_kept_to_the_nearest_tick(void **state)
{
    static const uint32_t ticks_us[] = {1000, 2000, 10000, 20000, 40000, 50000, 100000};
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct rtt rtt;
        rtt_init(&rtt, ticks_us[i]);
        for (int sample = 0; sample < 100; sample++)
            rtt_sample(&rtt, 100);
        const uint32_t timeout = rtt_timeout(&rtt, 0);
        assert_int_equal((timeout + ticks_us[i] - 1) / ticks_us[i] * ticks_us[i], 200000);
    }
    assert_int_equal(rtt_floor(200000, 50), 200000);
    assert_int_equal(rtt_floor(200000, 60000), 170000);
    assert_int_equal(rtt_floor(200000, 100000), 150000);  // one whole tick and the rest of another
    assert_int_equal(rtt_floor(200000, 110000), 200000);  // never a rest alone
    assert_int_equal(rtt_floor(1000, 60000), 60000);
}

static void a_repeated_handshake_makes_the_first_timeout_longer(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    rtt_no_sample(&rtt);
    assert_int_equal(rtt_timeout(&rtt, 0), 3000000);
    rtt_sample(&rtt, 500000);
    rtt_no_sample(&rtt);
    assert_int_equal(rtt_timeout(&rtt, 0), 1500000);
}

static void each_backoff_doubles(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    assert_int_equal(rtt_timeout(&rtt, 1), 2000000);
    assert_int_equal(rtt_timeout(&rtt, 3), 8000000);
    uint32_t last = 0;
    for (int backoff = 0; backoff < 256; backoff++) {
        const uint32_t timeout = rtt_timeout(&rtt, (uint8_t)backoff);
        assert_true(timeout >= last && timeout <= MAX_US);
        last = timeout;
    }
}

static void the_minimum_is_the_smallest_sample(void **state)
{
    (void)state;
    struct rtt rtt;
    rtt_init(&rtt, 1);
    rtt_sample(&rtt, 5000);
    rtt_sample(&rtt, 3000);
    rtt_sample(&rtt, 9000);
    assert_int_equal(rtt.min_us, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_a_sample_the_timeout_is_one_second),
        cmocka_unit_test(the_first_sample_sets_all),
        cmocka_unit_test(follows_the_formulas_of_rfc_6298),
        cmocka_unit_test(a_steady_path_keeps_room_for_a_delayed_acknowledgement),
        cmocka_unit_test(the_clock_granularity_is_a_floor_of_the_variation),
        cmocka_unit_test(the_floor_is_kept_to_the_nearest_tick),
        cmocka_unit_test(never_below_the_minimum_nor_above_the_maximum),
        cmocka_unit_test(the_floor_of_a_socket_takes_the_place_of_the_default),
        cmocka_unit_test(a_repeated_handshake_makes_the_first_timeout_longer),
        cmocka_unit_test(each_backoff_doubles),
        cmocka_unit_test(the_minimum_is_the_smallest_sample),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
