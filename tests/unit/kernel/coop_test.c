// SPDX-License-Identifier: BSD-2-Clause
// The cooperative kernel in virtual time: priorities, blocking calls in nested functions, events, semaphores, timers,
// yielding, sleeping. What tasks do is written down as letters.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/coop/coop.h"

static uint64_t clock_us, slept_us;
static char story[64];
static struct coop_task tasks[4];
static struct coop_event event;
static struct coop_semaphore semaphore;
static struct coop_timer timer;

static uint64_t now_us(void) { return clock_us; }
static void sleep_until(uint64_t until_us, const volatile bool *awake)
{
    if (*awake)
        return;
    slept_us += until_us - clock_us;
    clock_us = until_us;
}
static const struct coop_system machine = {now_us, sleep_until};

static void tell(char what)
{
    const size_t length = strlen(story);
    if (length + 1 < sizeof story)
        story[length] = what;
}

static int setup(void **state)
{
    (void)state;
    clock_us = slept_us = 0;
    memset(story, 0, sizeof story);
    event = (struct coop_event){false};
    semaphore = (struct coop_semaphore){0};
    timer = (struct coop_timer){0};
    coop_start(&machine, NULL);
    return 0;
}

// Rounds until nothing is ready before `until_us`.
static void run_until(uint64_t until_us)
{
    for (uint64_t due_us; clock_us <= until_us;) {
        due_us = coop_round();
        if (due_us > until_us)
            return;
        if (due_us > clock_us)
            machine.sleep(due_us, &coop.awake);
    }
}

// --- priorities ------------------------------------------------------------------------------------------------------

static BFD once(void *prm)
{
    BF_BEGIN
    tell(*(const char *)prm);
    BF_END
}

static void test_the_highest_priority_runs_first(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], once, "b", 5);
    coop_task_start(&tasks[1], once, "c", 1);
    coop_task_start(&tasks[2], once, "a", 9);
    run_until(0);
    assert_string_equal(story, "abc");
    assert_int_equal(tasks[0].state, COOP_IDLE);
    assert_null(coop.tasks);
}

static BFD first_turns(void *prm)
{
    AUTO int i;
    (void)prm;
    BF_BEGIN
    for (i = 0; i < 3; i++) {
        tell('x');
        SLEEP_MS(1);
    }
    BF_END
}
static BFD second_turns(void *prm)
{
    AUTO int i;
    (void)prm;
    BF_BEGIN
    for (i = 0; i < 3; i++) {
        tell('y');
        SLEEP_MS(1);
    }
    BF_END
}

static void test_equal_priorities_take_turns(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], first_turns, NULL, 3);
    coop_task_start(&tasks[1], second_turns, NULL, 3);
    run_until(10000);
    assert_string_equal(story, "xyxyxy");
}

// --- blocking in nested functions ------------------------------------------------------------------------------------

static BFD innermost(int times)
{
    AUTO int i, res;
    BF_BEGIN
    for (i = 0; i < times; i++) {
        EVENT_WAIT(&event, NULL, &res);
        tell((char)('0' + i));
    }
    BF_END
}
static BFD middle(int times)
{
    BF_BEGIN
    tell('<');
    BF_CALL(innermost(times));
    tell('>');
    BF_END
}
static BFD outer(void *prm)
{
    AUTO int kept;
    (void)prm;
    BF_BEGIN
    kept = 2;
    BF_CALL(middle(kept));
    kept = 1;
    BF_CALL(middle(kept));
    tell('!');
    BF_RETURN;
    BF_END
}

static void test_blocking_calls_nest(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], outer, NULL, 1);
    run_until(0);
    assert_string_equal(story, "<");
    for (int i = 0; i < 3; i++) {
        coop_event_set(&event);
        run_until(0);
    }
    assert_string_equal(story, "<01><0>!");
}

// --- events and timeouts ---------------------------------------------------------------------------------------------

static BFD waits_5_ms(void *prm)
{
    AUTO int res;
    AUTO unsigned timeout;
    (void)prm;
    BF_BEGIN
    timeout = 5;
    EVENT_WAIT(&event, &timeout, &res);
    tell(res ? 'e' : 't');
    BF_END
}

static void test_a_wait_ends_at_its_timeout(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], waits_5_ms, NULL, 1);
    run_until(4999);
    assert_string_equal(story, "");
    run_until(5000);
    assert_string_equal(story, "t");
    assert_int_equal(slept_us, 5000);  // and slept all the while
}

static void test_an_event_ends_a_wait_and_is_taken_once(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], waits_5_ms, NULL, 1);
    run_until(0);
    coop_event_set(&event);
    run_until(0);
    assert_string_equal(story, "e");
    assert_false(event.set);
    coop_task_start(&tasks[0], waits_5_ms, NULL, 1);
    run_until(100000);
    assert_string_equal(story, "et");
}

static void test_an_interrupt_ends_the_sleep(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], waits_5_ms, NULL, 1);
    (void)coop_round();  // it blocks
    assert_int_equal(coop_round(), 5000);
    coop_event_set(&event);  // between the round and the sleep, as an interrupt would
    machine.sleep(5000, &coop.awake);
    assert_int_equal(clock_us, 0);
    run_until(0);
    assert_string_equal(story, "e");
}

// --- semaphores ------------------------------------------------------------------------------------------------------

static BFD low_taker(void *prm)
{
    AUTO int res;
    (void)prm;
    BF_BEGIN
    SEM_WAIT(&semaphore, NULL, &res);
    tell('l');
    BF_END
}
static BFD high_taker(void *prm)
{
    AUTO int res;
    (void)prm;
    BF_BEGIN
    SEM_WAIT(&semaphore, NULL, &res);
    tell('h');
    BF_END
}

static void test_a_semaphore_counts_and_the_highest_waiter_takes_first(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], low_taker, NULL, 1);
    coop_task_start(&tasks[1], high_taker, NULL, 2);
    run_until(0);
    coop_semaphore_give(&semaphore);
    run_until(0);
    assert_string_equal(story, "h");
    coop_semaphore_give(&semaphore);
    coop_semaphore_give(&semaphore);
    run_until(0);
    assert_string_equal(story, "hl");
    assert_int_equal(semaphore.count, 1);
}

// --- timers ----------------------------------------------------------------------------------------------------------

static BFD ticker(void *prm)
{
    (void)prm;
    BF_BEGIN
    for (;;) {
        TIMER_WAIT(&timer);
        tell('t');
    }
    BF_END
}

static void test_a_timer_keeps_its_beat(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], ticker, NULL, 1);
    coop_timer_start(&timer, 1000, 2000);
    run_until(5000);
    assert_string_equal(story, "ttt");  // 1, 3, 5 ms
    clock_us = 10500;                   // late: 7 and 9 ms were missed, and fire once
    run_until(10500);
    assert_string_equal(story, "tttt");
    run_until(11000);
    assert_string_equal(story, "ttttt");
    coop_timer_stop(&timer);
    run_until(50000);
    assert_string_equal(story, "ttttt");
    assert_int_equal(clock_us, 11000);  // without a deadline nothing wakes the machine
}

static void test_a_timer_fires_once_without_a_period(void **state)
{
    (void)state;
    coop_timer_start(&timer, 1000, 0);
    run_until(999);
    assert_false(timer.fired);
    run_until(5000);
    assert_true(timer.fired);
    assert_false(timer.running);
    assert_null(coop.timers);
}

// --- yielding --------------------------------------------------------------------------------------------------------

// Computes for 10 ms, and yields after each.
static BFD computes(void *prm)
{
    AUTO int i;
    (void)prm;
    BF_BEGIN
    for (i = 0; i < 4; i++) {
        tell('c');
        clock_us += 10000;
        YIELD;
    }
    BF_END
}
static BFD urgent(void *prm)
{
    (void)prm;
    BF_BEGIN
    SLEEP_MS(15);
    tell('U');
    BF_END
}

static void test_a_task_yields_to_a_higher_priority(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], computes, NULL, 1);
    coop_task_start(&tasks[1], urgent, NULL, 2);
    run_until(100000);
    assert_string_equal(story, "ccUcc");  // it was due at 15 ms
}

static void test_a_task_does_not_yield_to_a_lower_priority(void **state)
{
    (void)state;
    coop_task_start(&tasks[0], computes, NULL, 3);
    coop_task_start(&tasks[1], urgent, NULL, 2);
    run_until(100000);
    assert_string_equal(story, "ccccU");
}

// --- the server's place ----------------------------------------------------------------------------------------------

static uint32_t inputs;
static bool input(void)
{
    tell('i');
    return ++inputs < 3;
}
static uint64_t output(void)
{
    tell('o');
    return COOP_NEVER;
}

static void test_tasks_above_the_server_run_before_it(void **state)
{
    static const struct coop_server server = {input, output, 5};
    (void)state;
    inputs = 0;
    coop_start(&machine, &server);
    coop_task_start(&tasks[0], once, "l", 4);
    coop_task_start(&tasks[1], once, "h", 6);
    run_until(0);
    assert_string_equal(story, "hilo"
                               "io"
                               "io");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_the_highest_priority_runs_first, setup),
        cmocka_unit_test_setup(test_equal_priorities_take_turns, setup),
        cmocka_unit_test_setup(test_blocking_calls_nest, setup),
        cmocka_unit_test_setup(test_a_wait_ends_at_its_timeout, setup),
        cmocka_unit_test_setup(test_an_event_ends_a_wait_and_is_taken_once, setup),
        cmocka_unit_test_setup(test_an_interrupt_ends_the_sleep, setup),
        cmocka_unit_test_setup(test_a_semaphore_counts_and_the_highest_waiter_takes_first, setup),
        cmocka_unit_test_setup(test_a_timer_keeps_its_beat, setup),
        cmocka_unit_test_setup(test_a_timer_fires_once_without_a_period, setup),
        cmocka_unit_test_setup(test_a_task_yields_to_a_higher_priority, setup),
        cmocka_unit_test_setup(test_a_task_does_not_yield_to_a_lower_priority, setup),
        cmocka_unit_test_setup(test_tasks_above_the_server_run_before_it, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
