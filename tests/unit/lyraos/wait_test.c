// SPDX-License-Identifier: BSD-2-Clause
// LyraOS's wait queues on the preemptive kernel, in virtual time. Threads leave a trace of letters.
#include "api/lyraos/wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/virtual_kernel.h"

static struct wait_queue_entry *queue, *another;

// The scenario's trace; nobody waits at its end.
static const char *run_queues(thread_entry *entry)
{
    queue = another = NULL;
    const char *const said = run(entry);
    assert_null(queue);
    assert_null(another);
    return said;
}

static void sleeps(void *letter)
{
    sleep_on(&queue);
    say((char)(intptr_t)letter);
}
static void sleeps_interruptibly(void *letter)
{
    interruptible_sleep_on(&queue);
    say((char)(intptr_t)letter);
}

static void everybody(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, sleeps, 'a');
    spawn(1, MAIN_PRIORITY + 2, sleeps_interruptibly, 'b');
    spawn(2, MAIN_PRIORITY + 1, sleeps, 'c');
    say('.');
    wake_up(&queue);
    say('.');
    wake_up(&queue);  // nobody
}
static void wake_up_wakes_all(void **state)
{
    (void)state;
    assert_string_equal(run_queues(everybody), ".bac.");
}

static void interrupted(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, sleeps, 'a');
    spawn(1, MAIN_PRIORITY + 1, sleeps_interruptibly, 'b');
    thread_wakeup(&threads[0]);  // sleeps on
    say('1');
    wake_up_interruptible(&queue);
    say('2');
    spawn(1, MAIN_PRIORITY + 1, sleeps_interruptibly, 'c');
    thread_wakeup(&threads[1]);
    say('3');
    wake_up(&queue);
}
static void only_wake_up_ends_sleep_on(void **state)
{
    (void)state;
    assert_string_equal(run_queues(interrupted), "1b2c3a");
}

static bool condition;
static void waits_for_condition(void *letter)
{
    NO_PREEMPT();
    while (!condition) {
        say('?');
        sleep_on(&queue);
    }
    PREEMPT_OK();
    say((char)(intptr_t)letter);
}
static void wake_from_interrupt(void)
{
    host_interrupt_begins();
    wake_up(&queue);
    host_interrupt_ends();
}
static void conditions(void *unused)
{
    (void)unused;
    condition = false;
    spawn(0, MAIN_PRIORITY + 1, waits_for_condition, 'a');
    wake_from_interrupt();  // too early: it waits again
    condition = true;
    wake_from_interrupt();
    say('.');
}
static void a_condition_is_looked_at_again(void **state)
{
    (void)state;
    assert_string_equal(run_queues(conditions), "??a.");
}

static void waits_for_two(void *letter)
{
    struct wait_queue_entry one, two;
    add_wait_queue(&queue, &one);
    add_wait_queue(&another, &two);
    schedule();
    remove_wait_queue(&queue, &one);
    remove_wait_queue(&another, &two);
    remove_wait_queue(&another, &two);  // not in it any more
    say((char)(intptr_t)letter);
}
static void two_queues(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY + 1, waits_for_two, 'a');
    wake_up(&another);
    spawn(0, MAIN_PRIORITY + 1, waits_for_two, 'b');
    wake_up(&queue);
}
static void a_thread_waits_for_several_queues(void **state)
{
    (void)state;
    assert_string_equal(run_queues(two_queues), "ab");
}

static void wakes(void *thread) { thread_wakeup(thread); }
static void more_urgent(void *letter) { say((char)(intptr_t)letter); }
static void keeps(void *unused)
{
    (void)unused;
    NO_PREEMPT();
    NO_PREEMPT();
    spawn(0, MAIN_PRIORITY + 1, more_urgent, 'u');
    say('1');
    PREEMPT_OK();
    say('2');
    PREEMPT_OK();
    say('3');
    // Waiting gives the processor up, and what was kept is kept again.
    NO_PREEMPT();
    spawn(1, MAIN_PRIORITY - 1, more_urgent, 'l');
    const uint64_t before = now_us;
    spawn(2, MAIN_PRIORITY - 2, wakes, (intptr_t)thread_self());
    schedule();
    say(now_us == before ? '4' : '!');
    say(host_interrupts_on() ? '!' : '5');
    PREEMPT_OK();
    say(host_interrupts_on() ? '6' : '!');
}
static void the_processor_is_kept(void **state)
{
    (void)state;
    assert_string_equal(run_queues(keeps), "12u3l456");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wake_up_wakes_all),
        cmocka_unit_test(only_wake_up_ends_sleep_on),
        cmocka_unit_test(a_condition_is_looked_at_again),
        cmocka_unit_test(a_thread_waits_for_several_queues),
        cmocka_unit_test(the_processor_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
