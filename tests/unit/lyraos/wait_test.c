// SPDX-License-Identifier: BSD-2-Clause
// LyraOS's wait queues on the preemptive kernel, in virtual time. Threads leave a trace of letters.
#include "api/lyraos/wait.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/preempt/arch/host.h"

#define STACK_BYTES ((size_t)98304)
#define THREADS 3
#define MAIN_PRIORITY 100
#define MS UINT64_C(1000)

static uint64_t now_us, alarm_us;
static char trace[64];
static uint64_t stacks[THREADS + 2][STACK_BYTES / 8];
static struct thread threads[THREADS], starter;
static struct wait_queue_entry *queue, *another;

static uint64_t board_now(void) { return now_us; }
static void board_alarm(uint64_t at_us) { alarm_us = at_us; }
static void board_idle(void)
{
    if (alarm_us == KERNEL_NEVER)
        host_finish();  // nobody will ever wake: the trace is too short
    now_us = alarm_us > now_us ? alarm_us : now_us;
    alarm_us = KERNEL_NEVER;
    kernel_timer();
}
static void board_overflow(struct thread *thread)
{
    (void)thread;
    abort();
}

static void say(char letter)
{
    const size_t length = strlen(trace);
    if (length + 1 < sizeof trace)
        trace[length] = letter;
}

static void spawn(uint32_t index, uint8_t priority, thread_entry *entry, char letter)
{
    const struct thread_config config = {"test", entry, (void *)(intptr_t)letter, stacks[index], STACK_BYTES, priority};
    host_stack_renew(stacks[index], STACK_BYTES);
    if (!thread_create(&threads[index], &config))
        say('!');
}

static thread_entry *scenario;
static void start(void *unused)
{
    scenario(unused);
    host_finish();
}

static const char *run(thread_entry *entry)
{
    static const struct kernel_board board = {board_now,      board_alarm,     board_idle,
                                              board_overflow, stacks[THREADS], STACK_BYTES};
    const struct thread_config config = {"start", start, NULL, stacks[THREADS + 1], STACK_BYTES, MAIN_PRIORITY};
    scenario = entry;
    host_stack_renew(stacks, sizeof stacks);
    memset(trace, 0, sizeof trace);
    queue = another = NULL;
    now_us = 1000;
    alarm_us = KERNEL_NEVER;
    assert_true(kernel_init(&board));
    assert_true(thread_create(&starter, &config));
    host_run();
    assert_null(queue);
    assert_null(another);
    return trace;
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
    assert_string_equal(run(everybody), ".bac.");
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
    assert_string_equal(run(interrupted), "1b2c3a");
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
    assert_string_equal(run(conditions), "??a.");
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
    assert_string_equal(run(two_queues), "ab");
}

static void wakes_starter(void *unused)
{
    (void)unused;
    thread_wakeup(&starter);
}
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
    spawn(2, MAIN_PRIORITY - 2, wakes_starter, 0);
    schedule();
    say(now_us == before ? '4' : '!');
    say(host_interrupts_on() ? '!' : '5');
    PREEMPT_OK();
    say(host_interrupts_on() ? '6' : '!');
}
static void the_processor_is_kept(void **state)
{
    (void)state;
    assert_string_equal(run(keeps), "12u3l456");
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
