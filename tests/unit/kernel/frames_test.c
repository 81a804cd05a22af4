// SPDX-License-Identifier: BSD-2-Clause
// Tasks of one function with frames of their own (kernel/coop/frames.h), beside one that has none, in virtual time.
#define COOP_FRAMES 64
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/coop/frames.h"

#define TASKS 3

static uint64_t clock_us;
static struct coop_framed framed[TASKS];
static struct coop_task plain;
static unsigned char frames[TASKS][COOP_FRAMES];

static uint64_t now_us(void) { return clock_us; }
static void sleep_until(uint64_t until_us, const volatile bool *awake)
{
    if (!*awake)
        clock_us = until_us;
}
static const struct coop_system machine = {now_us, sleep_until};

static int setup(void **state)
{
    (void)state;
    clock_us = 0;
    memset(frames, 0xff, sizeof frames);
    coop_start(&machine, NULL);
    return 0;
}

static void run_until(uint64_t until_us)
{
    while (clock_us <= until_us) {
        const uint64_t due_us = coop_round();
        if (due_us > until_us)
            return;
        if (due_us > clock_us)
            machine.sleep(due_us, &coop.awake);
    }
}

// Waits a number of times, and counts them in a nested function, too.
static struct count {
    unsigned wanted, counted, nested;
} counts[TASKS + 1];

static BFD sleeps_twice(unsigned *total)
{
    AUTO unsigned times;
    BF_BEGIN
    for (times = 0; times < 2; times++)
        SLEEP_MS(1);
    *total += times;
    BF_END
}

static BFD counting(void *prm)
{
    AUTO unsigned times, total;
    struct count *own = prm;
    BF_BEGIN
    total = 0;
    for (times = 0; times < own->wanted; times++)
        BF_CALL(sleeps_twice(&total));
    own->counted = times;
    own->nested = total;
    BF_END
}

static void test_each_task_has_its_own_variables(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 2; round++) {  // the second with memory that was used
        memset(counts, 0, sizeof counts);
        for (unsigned i = 0; i <= TASKS; i++)
            counts[i].wanted = 2 + 3 * i;
        for (unsigned i = 0; i < TASKS; i++)
            assert_true(coop_framed_start(&framed[i], counting, &counts[i], 1, frames[i], sizeof frames[i]));
        coop_task_start(&plain, counting, &counts[TASKS], 1);
        run_until(clock_us + 1000000);
        for (unsigned i = 0; i <= TASKS; i++) {
            assert_int_equal(counts[i].counted, counts[i].wanted);
            assert_int_equal(counts[i].nested, 2 * counts[i].wanted);
        }
        assert_null(coop.tasks);
    }
}

static void test_memory_that_is_too_small_is_refused(void **state)
{
    (void)state;
    const size_t bytes = coop_frames_bytes();
    assert_in_range(bytes, 2 * sizeof(unsigned short) + 3 * sizeof(unsigned), COOP_FRAMES);
    assert_false(coop_framed_start(&framed[0], counting, &counts[0], 1, frames[0], bytes - 1));
    assert_null(coop.tasks);
    assert_true(coop_framed_start(&framed[0], counting, &counts[0], 1, frames[0], bytes));
    assert_int_equal(frames[0][bytes], 0xff);  // what is beyond is not its own
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_each_task_has_its_own_variables, setup),
        cmocka_unit_test_setup(test_memory_that_is_too_small_is_refused, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
