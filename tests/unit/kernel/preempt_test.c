// SPDX-License-Identifier: BSD-2-Clause
// The preemptive kernel in virtual time: a thread that computes moves the clock, an idle processor jumps to the alarm.
// Threads leave a trace of letters; what they did is judged when the kernel has stopped.
#include "kernel/preempt/preempt.h"
#include "kernel/preempt/signal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/preempt/arch/host.h"

#define STACK_BYTES ((size_t)98304)
#define THREADS 6
#define MAIN_PRIORITY 100
#define MS UINT64_C(1000)

static uint64_t now_us, alarm_us;
static uint32_t alarms, overflows;
static char trace[128];
static uint64_t stacks[THREADS + 2][STACK_BYTES / 8];
static struct thread threads[THREADS], starter;

static uint64_t board_now(void) { return now_us; }
static void board_alarm(uint64_t at_us)
{
    alarm_us = at_us;
    alarms++;
}
// Interrupts are off: the switch that kernel_timer asks for takes place when idle has them on.
static void board_idle(void)
{
    if (alarm_us == KERNEL_NEVER)
        host_finish();  // nothing will ever happen: the test's trace is too short
    now_us = alarm_us > now_us ? alarm_us : now_us;
    alarm_us = KERNEL_NEVER;
    kernel_timer();
}
static void board_overflow(struct thread *thread)
{
    overflows += thread == &threads[0];
    host_finish();
}

static void say(char letter)
{
    const size_t length = strlen(trace);
    if (length + 1 < sizeof trace)
        trace[length] = letter;
}

// Computes for so long, of its own time. With `letter`: says it whenever somebody else has spoken before.
static void compute(uint64_t us, char letter)
{
    for (; us; us--) {
        if (letter && (!*trace || trace[strlen(trace) - 1] != letter))
            say(letter);
        now_us++;
        if (now_us >= alarm_us) {
            alarm_us = KERNEL_NEVER;
            host_interrupt_begins();
            kernel_timer();
            host_interrupt_ends();
        }
    }
}

static void in_interrupt(void (*what)(void))
{
    host_interrupt_begins();
    what();
    host_interrupt_ends();
}

static void spawn(uint32_t index, uint8_t priority, thread_entry *entry, intptr_t argument)
{
    const struct thread_config config = {"test", entry, (void *)argument, stacks[index], STACK_BYTES, priority};
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

// Runs `entry` as a thread of MAIN_PRIORITY until it ends.
static const char *run(thread_entry *entry)
{
    static const struct kernel_board board = {board_now,      board_alarm,     board_idle,
                                              board_overflow, stacks[THREADS], STACK_BYTES};
    const struct thread_config config = {"start", start, NULL, stacks[THREADS + 1], STACK_BYTES, MAIN_PRIORITY};
    scenario = entry;
    host_stack_renew(stacks, sizeof stacks);
    memset(trace, 0, sizeof trace);
    now_us = 1000;
    alarm_us = KERNEL_NEVER;
    alarms = overflows = 0;
    assert_true(kernel_init(&board));
    assert_true(thread_create(&starter, &config));
    host_run();
    return trace;
}

// --- the scheduler ---------------------------------------------------------------------------------------------------
static void say_it(void *letter) { say((char)(intptr_t)letter); }
static void compute_25ms(void *letter) { compute(25 * MS, (char)(intptr_t)letter); }
static void sleep_then_say(void *letter)
{
    thread_sleep_until(now_us + 5 * MS);
    say((char)(intptr_t)letter);
}

static void priorities(void *unused)
{
    (void)unused;
    spawn(0, MAIN_PRIORITY - 1, say_it, 'l');
    say('a');
    spawn(1, MAIN_PRIORITY + 1, say_it, 'h');
    say('b');
    spawn(2, MAIN_PRIORITY - 2, say_it, 'm');
    spawn(3, MAIN_PRIORITY, say_it, 'e');
    say('c');
    thread_sleep_until(now_us + 1);
    say('d');
}
static void test_priorities(void **state)
{
    (void)state;
    assert_string_equal(run(priorities), "ahbcelmd");
}

static void round_robin(void *unused)
{
    (void)unused;
    spawn(0, 10, compute_25ms, 'a');
    spawn(1, 10, compute_25ms, 'b');
    spawn(2, 9, compute_25ms, 'c');
    thread_sleep_until(now_us + 200 * MS);
}
static void test_equals_take_turns(void **state)
{
    (void)state;
    assert_string_equal(run(round_robin), "abababc");
    assert_int_equal(now_us, 1000 + 200 * MS);
}

// a is interrupted in the middle of its turn, and goes on with what is left of its time before b has its own.
static void keeps_place(void *unused)
{
    (void)unused;
    spawn(2, 20, sleep_then_say, 'h');
    spawn(0, 10, compute_25ms, 'a');
    spawn(1, 10, compute_25ms, 'b');
    thread_sleep_until(now_us + 200 * MS);
}
static void test_a_preempted_thread_keeps_its_place(void **state)
{
    (void)state;
    assert_string_equal(run(keeps_place), "ahababab");
}

static void yields(void *letter)
{
    for (int i = 0; i < 3; i++) {
        say((char)(intptr_t)letter);
        thread_yield();
    }
}
static void yielding(void *unused)
{
    (void)unused;
    spawn(0, 10, yields, 'a');
    spawn(1, 10, yields, 'b');
    spawn(2, 9, yields, 'c');  // less urgent: nobody yields to it
    thread_sleep_until(now_us + 1);
}
static void test_yield(void **state)
{
    (void)state;
    assert_string_equal(run(yielding), "abababccc");
}

static void sleeping(void *unused)
{
    (void)unused;
    thread_sleep_until(now_us + 1000 * MS);
    say(now_us == 1000 + 1000 * MS ? 'y' : 'n');
}
static void test_no_tick(void **state)
{
    (void)state;
    assert_string_equal(run(sleeping), "y");
    assert_int_equal(alarms, 1);
}

static void reprioritise(void *unused)
{
    (void)unused;
    spawn(0, 10, say_it, 'a');
    spawn(1, 11, say_it, 'b');
    thread_set_priority(&threads[0], 12);
    thread_set_priority(thread_self(), 5);  // both overtake
    say('c');
    spawn(2, 4, say_it, 'd');
    thread_set_priority(&threads[2], 6);
    say('e');
}
static void test_priorities_change(void **state)
{
    (void)state;
    assert_string_equal(run(reprioritise), "abcde");
}

// --- threads come and go ---------------------------------------------------------------------------------------------
static struct semaphore semaphore;
static void take_and_say(void *letter)
{
    say(semaphore_take(&semaphore, KERNEL_NEVER) == KERNEL_WOKEN ? (char)(intptr_t)letter : '!');
}
static void take_5ms(void *letter)
{
    const uint64_t due_us = now_us + 5 * MS;
    if (semaphore_take(&semaphore, due_us) == KERNEL_WOKEN)
        say((char)(intptr_t)letter);
    else
        say(now_us == due_us ? 't' : '!');
}

static void deleting(void *unused)
{
    (void)unused;
    semaphore = (struct semaphore){0};
    spawn(0, 110, sleep_then_say, 'a');  // sleeps
    spawn(1, 50, say_it, 'b');           // is ready
    spawn(2, 110, take_and_say, 'c');    // waits
    spawn(3, 109, take_and_say, 'd');    // waits behind it
    for (uint32_t i = 0; i < 3; i++)
        thread_delete(&threads[i]);
    thread_delete(&threads[0]);  // once more: nothing
    semaphore_give(&semaphore);
    say(semaphore.count == 0 ? 'e' : '!');
    spawn(0, 110, say_it, 'f');  // in the same memory
    thread_sleep_until(now_us + 20 * MS);
    say(thread_join(&threads[0], KERNEL_NEVER) == KERNEL_WOKEN ? 'g' : '!');
}
static void test_delete(void **state)
{
    (void)state;
    assert_string_equal(run(deleting), "defg");
}

static void exits(void *unused)
{
    (void)unused;
    compute(3 * MS, 0);
    say('x');
    thread_exit();
}
static void joining(void *unused)
{
    (void)unused;
    spawn(0, 10, exits, 0);
    say(thread_join(&threads[0], now_us + MS) == KERNEL_TIMEOUT ? 'a' : '!');
    say(thread_join(&threads[0], 1) == KERNEL_TIMEOUT ? 'b' : '!');
    say(thread_join(&threads[0], KERNEL_NEVER) == KERNEL_WOKEN ? 'c' : '!');
    say(now_us == 1000 + 3 * MS ? 'd' : '!');
}
static void test_join(void **state)
{
    (void)state;
    assert_string_equal(run(joining), "abxcd");
}

static void test_a_stack_too_small_is_refused(void **state)
{
    (void)state;
    struct thread thread;
    const struct thread_config small = {"small", say_it, NULL, stacks[0], 1024, 5},
                               none = {"none", say_it, NULL, stacks[0], STACK_BYTES, 0};
    assert_false(thread_create(&thread, &small));
    assert_false(thread_create(&thread, &none));
}

static void overruns(void *unused)
{
    (void)unused;
    stacks[0][0] = 0;
    thread_sleep_until(now_us + 1);
    say('!');
}
static void overrunning(void *unused)
{
    (void)unused;
    spawn(0, 110, overruns, 0);
    say('!');
}
static void test_a_stack_that_ran_over_is_found(void **state)
{
    (void)state;
    assert_string_equal(run(overrunning), "");
    assert_int_equal(overflows, 1);
}

static void stack_use(void *unused)
{
    (void)unused;
    spawn(0, 110, say_it, 'a');
    spawn(1, 110, compute_25ms, 0);
    const size_t unused_bytes = thread_stack_unused(&threads[0]);
    say(unused_bytes > 1024 && unused_bytes < STACK_BYTES ? 'b' : '!');
    stacks[1][100] = 0;
    say(thread_stack_unused(&threads[1]) == 800 ? 'c' : '!');
}
static void test_stack_use_is_told(void **state)
{
    (void)state;
    assert_string_equal(run(stack_use), "abc");
}

// --- semaphores, sleep -----------------------------------------------------------------------------------------------
static void give(void) { semaphore_give(&semaphore); }

static void semaphores(void *unused)
{
    (void)unused;
    semaphore = (struct semaphore){.count = 1, .most = 2};
    spawn(0, 110, take_and_say, 'a');  // gets it
    spawn(1, 110, take_and_say, 'b');
    spawn(2, 111, take_and_say, 'c');
    spawn(3, 109, take_5ms, 'd');
    semaphore_give(&semaphore);  // c, the most urgent
    in_interrupt(give);          // b
    thread_sleep_until(now_us + 10 * MS);
    semaphore_give(&semaphore);
    semaphore_give(&semaphore);
    semaphore_give(&semaphore);  // one too many
    say((char)('0' + semaphore.count));
    say(semaphore_take(&semaphore, 0) == KERNEL_WOKEN && semaphore_take(&semaphore, 0) == KERNEL_WOKEN ? 'y' : 'n');
    say(semaphore_take(&semaphore, 0) == KERNEL_TIMEOUT ? 'y' : 'n');
}
static void test_semaphores(void **state)
{
    (void)state;
    assert_string_equal(run(semaphores), "acbt2yy");
}

static void waiting_reordered(void *unused)
{
    (void)unused;
    semaphore = (struct semaphore){0};
    spawn(0, 110, take_and_say, 'a');
    spawn(1, 111, take_and_say, 'b');
    thread_set_priority(&threads[0], 112);
    semaphore_give(&semaphore);
    semaphore_give(&semaphore);
}
static void test_a_new_priority_moves_who_waits(void **state)
{
    (void)state;
    assert_string_equal(run(waiting_reordered), "ab");
}

static void sleeps_long(void *letter)
{
    say(thread_sleep_until(KERNEL_NEVER) == KERNEL_WOKEN ? (char)(intptr_t)letter : '!');
    say(thread_sleep_until(now_us + 5 * MS) == KERNEL_WOKEN ? (char)(intptr_t)letter : 't');
}
static void waking(void *unused)
{
    (void)unused;
    spawn(0, 110, sleeps_long, 'a');
    spawn(1, 110, sleeps_long, 'b');
    thread_wakeup(&threads[1]);
    thread_wakeup(&threads[0]);
    thread_wakeup(&threads[0]);
    thread_wakeup(&threads[0]);  // has ended: nothing
    thread_sleep_until(now_us + 10 * MS);
}
static void test_sleep_and_wakeup(void **state)
{
    (void)state;
    assert_string_equal(run(waking), "baat");
}

static struct semaphore suspended_in;
static struct mutex suspended_for;
static struct signals suspended_signals;
static void suspends(void *unused)
{
    (void)unused;
    signals_init(&suspended_signals, thread_self());
    say(thread_suspend(thread_self()) ? 'a' : '!');
    say(semaphore_take(&suspended_in, KERNEL_NEVER) == KERNEL_TIMEOUT ? 'b' : '!');  // it waited when it was suspended
    // its wait was over, but it had not run yet
    say(semaphore_take(&suspended_in, KERNEL_NEVER) == KERNEL_WOKEN ? 'c' : '!');
    mutex_lock(&suspended_for);
    say(suspended_for.holder == thread_self() ? 'd' : '!');
}
static void suspending(void *unused)
{
    (void)unused;
    suspended_in = (struct semaphore){0};
    suspended_for = (struct mutex){0};
    mutex_lock(&suspended_for);
    spawn(0, 110, suspends, 0);
    thread_wakeup(&threads[0]);
    signal_send(&threads[0], SIGNAL_USER);
    say('1');  // neither ends it
    signal_take(&suspended_signals);
    say(thread_resume(&threads[0]) ? '2' : '!');
    say(thread_suspend(&threads[0]) && !suspended_in.waiting.first ? '3' : '!');
    say(thread_resume(&threads[0]) ? '4' : '!');
    thread_set_priority(&threads[0], 50);  // less urgent than this one
    semaphore_give(&suspended_in);
    say(thread_suspend(&threads[0]) ? '5' : '!');
    thread_sleep_until(now_us + 5 * MS);
    thread_set_priority(&threads[0], 110);
    say(thread_resume(&threads[0]) ? '6' : '!');
    say(thread_priority(thread_self()) == 110 ? '7' : '!');  // it waits for the mutex
    thread_suspend(&threads[0]);
    say(thread_priority(thread_self()) < 110 ? '8' : '!');
    thread_resume(&threads[0]);
    say(thread_priority(thread_self()) == 110 ? '9' : '!');
    mutex_unlock(&suspended_for);
    say(!thread_resume(&threads[0]) && !thread_suspend(&threads[0]) ? 'e' : '!');
}
static void test_suspended_until_resumed(void **state)
{
    (void)state;
    assert_string_equal(run(suspending), "1a23b45c6789de");
}

// --- mailboxes -------------------------------------------------------------------------------------------------------
static struct mailbox mailbox;
static const void *slots[2];
static const char letters[] = "abcdefgh";

static void receives_4(void *unused)
{
    const void *message;
    (void)unused;
    for (int i = 0; i < 4; i++)
        say(mailbox_receive(&mailbox, &message, KERNEL_NEVER) == KERNEL_WOKEN ? *(const char *)message : '!');
}
static void sends_4(void *unused)
{
    (void)unused;
    for (int i = 0; i < 4; i++) {
        say(mailbox_send(&mailbox, &letters[i], KERNEL_NEVER) == KERNEL_WOKEN ? 's' : '!');
    }
}
static void send_h(void) { say(mailbox_send(&mailbox, &letters[7], 0) == KERNEL_WOKEN ? 's' : 'f'); }

static void mailboxes(void *unused)
{
    const void *message;
    (void)unused;
    mailbox = (struct mailbox){.messages = slots, .room = 2};
    spawn(0, 110, sends_4, 0);  // two go in, the third waits
    say('|');
    in_interrupt(send_h);  // does not
    spawn(1, 105, receives_4, 0);
    say('|');
    say(mailbox_receive(&mailbox, &message, now_us + MS) == KERNEL_TIMEOUT ? 't' : '!');
    in_interrupt(send_h);
    say(mailbox_receive(&mailbox, &message, 0) == KERNEL_WOKEN ? *(const char *)message : '!');
}
static void test_mailboxes(void **state)
{
    (void)state;
    assert_string_equal(run(mailboxes), "ss|fsasbcd|tsh");
}

static void mailbox_times_out(void *unused)
{
    const void *message;
    (void)unused;
    mailbox = (struct mailbox){.messages = slots, .room = 1};
    say(mailbox_send(&mailbox, &letters[0], now_us + MS) == KERNEL_WOKEN ? 'y' : '!');
    say(mailbox_send(&mailbox, &letters[1], now_us + MS) == KERNEL_TIMEOUT ? 't' : '!');
    say(mailbox_receive(&mailbox, &message, KERNEL_NEVER) == KERNEL_WOKEN ? *(const char *)message : '!');
    say(mailbox_receive(&mailbox, &message, 0) == KERNEL_TIMEOUT ? 't' : '!');  // the second was not kept
}
static void test_a_mailbox_times_out(void **state)
{
    (void)state;
    assert_string_equal(run(mailbox_times_out), "ytat");
}

static void meeting(void *unused)
{
    (void)unused;
    mailbox = (struct mailbox){0};
    spawn(0, 110, sends_4, 0);  // waits with its first message
    spawn(1, 105, receives_4, 0);
    say('|');
    thread_delete(&threads[0]);
    spawn(1, 110, receives_4, 0);  // the receiver is there first
    spawn(0, 105, sends_4, 0);
}
static void test_a_mailbox_without_room(void **state)
{
    (void)state;
    assert_string_equal(run(meeting), "sasbscsd|asbscsds");
}

// --- wait queues -----------------------------------------------------------------------------------------------------
static struct wait_queue queue;
static struct mutex first, second;
static const char tokens[2];

static void waits_for_0(void *letter)
{
    say(wait_queue_sleep(&queue, NULL, &tokens[0], KERNEL_NEVER) == KERNEL_WOKEN ? (char)(intptr_t)letter : '!');
}
static void waits_for_1(void *letter)
{
    say(wait_queue_sleep(&queue, NULL, &tokens[1], KERNEL_NEVER) == KERNEL_WOKEN ? (char)(intptr_t)letter : '!');
}
static void wait_queues(void *unused)
{
    (void)unused;
    queue = (struct wait_queue){0};
    spawn(0, 110, waits_for_0, 'a');
    spawn(1, 110, waits_for_1, 'b');
    spawn(2, 112, waits_for_1, 'c');
    spawn(3, 111, waits_for_0, 'd');
    wait_queue_wake(&queue, &tokens[1]);
    say('|');
    say(wait_queue_wake_one(&queue) ? '|' : '!');
    wait_queue_wake(&queue, NULL);
    say(wait_queue_wake_one(&queue) ? '!' : '|');
    say(wait_queue_sleep(&queue, NULL, NULL, now_us + MS) == KERNEL_TIMEOUT && now_us == 1000 + MS ? 't' : '!');
}
static void test_wait_queues(void **state)
{
    (void)state;
    assert_string_equal(run(wait_queues), "cb|d|a|t");
}

static void waits_locked(void *unused)
{
    (void)unused;
    mutex_lock(&first);
    say('a');
    say(wait_queue_sleep(&queue, &first, &tokens[0], KERNEL_NEVER) == KERNEL_WOKEN ? 'c' : '!');
    // has passed: does not block
    say(wait_queue_sleep(&queue, &first, &tokens[0], now_us) == KERNEL_TIMEOUT ? 't' : '!');
    say(first.holder == thread_self() ? 'd' : '!');
    mutex_unlock(&first);
}
static void locked_wait(void *unused)
{
    (void)unused;
    first = (struct mutex){0};
    queue = (struct wait_queue){0};
    spawn(0, 110, waits_locked, 0);
    say(mutex_try(&first) ? 'b' : '!');  // it released it
    wait_queue_wake(&queue, &tokens[0]);
    say('|');  // and waits for it again
    say(thread_priority(thread_self()) == 110 ? 'p' : '!');
    mutex_unlock(&first);
    say(first.holder || thread_priority(thread_self()) != MAIN_PRIORITY ? '!' : 'e');
}
static void test_waiting_releases_the_mutex(void **state)
{
    (void)state;
    assert_string_equal(run(locked_wait), "ab|pctde");
}

// --- mutexes ---------------------------------------------------------------------------------------------------------
static void holds_first(void *letter)
{
    mutex_lock(&first);
    say('(');
    compute(10 * MS, 0);
    say((char)(intptr_t)letter);
    mutex_unlock(&first);
    say(')');
}
static void lock_and_say(void *letter)
{
    mutex_lock(&first);
    say((char)(intptr_t)letter);
    mutex_unlock(&first);
}
static void inversion(void *unused)
{
    (void)unused;
    first = (struct mutex){0};
    spawn(0, 10, holds_first, 'l');
    thread_sleep_until(now_us + MS);  // l has the lock
    spawn(1, 30, lock_and_say, 'h');  // ready; runs when this thread sleeps
    spawn(2, 20, compute_25ms, 'm');  // would keep l from running, and so h
    thread_sleep_until(now_us + 100 * MS);
}
static void test_priority_is_inherited(void **state)
{
    (void)state;
    assert_string_equal(run(inversion), "(lhm)");
}

static void holds_second_wants_first(void *unused)
{
    (void)unused;
    mutex_lock(&second);
    mutex_lock(&first);
    say('b');
    mutex_unlock(&first);
    mutex_unlock(&second);
}
static void wants_second(void *unused)
{
    (void)unused;
    mutex_lock(&second);
    say('c');
    mutex_unlock(&second);
}
static void chain(void *unused)
{
    (void)unused;
    first = second = (struct mutex){0};
    mutex_lock(&first);
    spawn(0, 110, holds_second_wants_first, 0);
    say(thread_priority(thread_self()) == 110 ? 'y' : '!');
    spawn(1, 120, wants_second, 0);
    say(thread_priority(thread_self()) == 120 && thread_priority(&threads[0]) == 120 ? 'y' : '!');
    thread_set_priority(&threads[1], 130);  // what waits became more urgent, or less
    say(thread_priority(thread_self()) == 130 ? 'y' : '!');
    thread_set_priority(&threads[1], 115);
    say(thread_priority(thread_self()) == 115 ? 'y' : '!');
    thread_set_priority(thread_self(), 50);  // its own; the inherited one stays
    say(thread_priority(thread_self()) == 115 ? 'y' : '!');
    mutex_unlock(&first);
    say(thread_priority(thread_self()) == 50 ? 'y' : '!');
}
static void test_inheritance_goes_along_a_chain(void **state)
{
    (void)state;
    assert_string_equal(run(chain), "yyyyybcy");
}

static void deleted_waiter(void *unused)
{
    (void)unused;
    first = (struct mutex){0};
    mutex_lock(&first);
    spawn(0, 110, lock_and_say, 'a');
    spawn(1, 120, lock_and_say, 'b');
    thread_delete(&threads[1]);
    say(thread_priority(thread_self()) == 110 ? 'y' : '!');
    thread_delete(&threads[0]);
    say(thread_priority(thread_self()) == MAIN_PRIORITY ? 'y' : '!');
    mutex_unlock(&first);
    say(first.holder ? '!' : 'y');
    spawn(2, 110, holds_first, 'c');  // it computes, with the lock
}
static void test_a_deleted_waiter_lends_nothing(void **state)
{
    (void)state;
    assert_string_equal(run(deleted_waiter), "yyy(c)");
}

// Its holder is hurried: who is less urgent than that waits until it unlocks, whatever mutexes it gives back before;
// nobody's wait is needed for it. Then it stands behind its equals, as after an inheritance.
static void hurried(void *unused)
{
    (void)unused;
    first = second = (struct mutex){0};
    mutex_lock(&first);
    mutex_lock(&second);
    mutex_hurry(&first, 120);
    mutex_hurry(&first, 110);
    say(thread_priority(thread_self()) == 120 ? 'y' : '!');
    spawn(0, 115, say_it, 'm');
    spawn(1, MAIN_PRIORITY, say_it, 'e');
    mutex_unlock(&second);
    say(thread_priority(thread_self()) == 120 ? 'y' : '!');
    spawn(2, 125, say_it, 'u');
    mutex_unlock(&first);
    say(thread_priority(thread_self()) == MAIN_PRIORITY && !first.holder ? 'y' : '!');
    mutex_lock(&first);
    say(thread_priority(thread_self()) == MAIN_PRIORITY ? 'n' : '!');  // it was for that time
    mutex_hurry(&first, 50);
    say(thread_priority(thread_self()) == MAIN_PRIORITY ? 'n' : '!');
    mutex_unlock(&first);
    say('.');
}
static void test_a_holder_is_hurried(void **state)
{
    (void)state;
    assert_string_equal(run(hurried), "yyumeynn.");
}

static void hurried_turn(void *unused)
{
    (void)unused;
    first = (struct mutex){0};
    mutex_lock(&first);
    spawn(0, MAIN_PRIORITY, say_it, 'e');
    mutex_hurry(&first, 120);
    compute(3 * KERNEL_SLICE_US, 0);
    say('h');
    mutex_unlock(&first);
    compute(KERNEL_SLICE_US + MS, 0);
    say('.');
}
static void test_a_turn_ends_when_the_hurry_is_over(void **state)
{
    (void)state;
    assert_string_equal(run(hurried_turn), "he.");
}

static void sleeps_with_first(void *unused)
{
    (void)unused;
    mutex_lock(&first);
    thread_sleep_until(KERNEL_NEVER);
    say('!');
}
static void deleted_holder(void *unused)
{
    (void)unused;
    first = (struct mutex){0};
    spawn(0, 110, sleeps_with_first, 0);
    spawn(1, 105, lock_and_say, 'a');
    say(mutex_try(&first) ? '!' : 'n');
    thread_delete(&threads[0]);
    say(mutex_try(&first) ? 'y' : '!');
}
static void test_a_deleted_holder_lets_go(void **state)
{
    (void)state;
    assert_string_equal(run(deleted_holder), "nay");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_equals_take_turns),
        cmocka_unit_test(test_a_preempted_thread_keeps_its_place),
        cmocka_unit_test(test_yield),
        cmocka_unit_test(test_no_tick),
        cmocka_unit_test(test_priorities_change),
        cmocka_unit_test(test_delete),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_a_stack_too_small_is_refused),
        cmocka_unit_test(test_a_stack_that_ran_over_is_found),
        cmocka_unit_test(test_stack_use_is_told),
        cmocka_unit_test(test_semaphores),
        cmocka_unit_test(test_a_new_priority_moves_who_waits),
        cmocka_unit_test(test_sleep_and_wakeup),
        cmocka_unit_test(test_suspended_until_resumed),
        cmocka_unit_test(test_mailboxes),
        cmocka_unit_test(test_a_mailbox_times_out),
        cmocka_unit_test(test_a_mailbox_without_room),
        cmocka_unit_test(test_wait_queues),
        cmocka_unit_test(test_waiting_releases_the_mutex),
        cmocka_unit_test(test_priority_is_inherited),
        cmocka_unit_test(test_inheritance_goes_along_a_chain),
        cmocka_unit_test(test_a_deleted_waiter_lends_nothing),
        cmocka_unit_test(test_a_holder_is_hurried),
        cmocka_unit_test(test_a_turn_ends_when_the_hurry_is_over),
        cmocka_unit_test(test_a_deleted_holder_lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
