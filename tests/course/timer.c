// SPDX-License-Identifier: BSD-2-Clause
// The check of the exercise "port to a new timer" (docs/course.md): the clock is held against the truth for a day, and
// a connection attempt of a stack that lives by it gives up when it should.
#include "timer.h"

#include "fixture.h"

#define RATE 32768u
#define ROUND (1u << 24)

static uint64_t truth_us(uint64_t ticks) { return ticks * 1000000u / RATE; }

static void the_clock_is_right_for_a_day(void **state)
{
    struct timer timer = {0};
    uint64_t ticks = 0, before = 0;
    (void)state;
    for (uint32_t i = 0; ticks < (uint64_t)86400 * RATE; i++) {
        ticks += i % 7 == 0 ? ROUND - 1 : 1 + i * 7919u % 100000u;
        const uint64_t now = timer_now_us(&timer, (uint32_t)(ticks % ROUND)), right = truth_us(ticks);
        assert_true(now >= before);
        assert_true(now <= right + 1 && now + 31 >= right);
        before = now;
    }
}

static void the_same_moment_is_told_alike(void **state)
{
    struct timer timer = {0};
    (void)state;
    const uint64_t now = timer_now_us(&timer, ROUND - 1);
    assert_int_equal(timer_now_us(&timer, ROUND - 1), now);
    assert_int_equal(timer_now_us(&timer, 0), truth_us(ROUND));
}

// 20 rounds of the counter: a SYN that nobody answers is sent again and again, and after some minutes given up.
static void a_stack_lives_by_it(void **state)
{
    struct fixture f;
    struct timer timer = {0};
    const struct weir_endpoint nobody = {weir_ip4(10, 0, 0, 2), 7};
    uint64_t ticks = 0;
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    const uint64_t start = f.now_us;
    const weir_socket socket = weir_socket_open(f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(f.weir, socket, &nobody), WEIR_IN_PROGRESS);
    for (; ticks < (uint64_t)20 * ROUND && !(weir_socket_ready(f.weir, socket) & WEIR_ERROR); ticks += RATE / 2) {
        const uint64_t now = start + timer_now_us(&timer, (uint32_t)(ticks % ROUND));
        fixture_poll(&f, now - f.now_us);
    }
    assert_true(weir_socket_ready(f.weir, socket) & WEIR_ERROR);
    assert_true(f.now_us - start > 60000000u && f.now_us - start < 600000000u);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_clock_is_right_for_a_day),
        cmocka_unit_test(the_same_moment_is_told_alike),
        cmocka_unit_test(a_stack_lives_by_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
