// SPDX-License-Identifier: BSD-2-Clause
// Signals and timeouts, in virtual time.
#include "kernel/preempt/signal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "virtual_kernel.h"

static struct signals signals, other;
static struct wait_queue queue;
static struct mutex mutex;
static struct semaphore semaphore;

static void say_letter(int signal) { say((char)('a' + signal)); }  // alarm: 'o', user: 'k', int: 'c'

// --- timeouts --------------------------------------------------------------------------------------------------------
static void due(struct timeout *timeout)
{
    (void)timeout;
    say(host_interrupts_on() ? '!' : (char)('0' + (now_us - 1000) / MS));
}
static void timeouts(void *unused)
{
    static struct timeout first, second, third;
    (void)unused;
    first = second = third = (struct timeout){.due = due};
    timeout_start(&second, now_us + 4 * MS);
    timeout_start(&first, now_us + 2 * MS);
    timeout_start(&third, now_us + 3 * MS);
    timeout_stop(&third);
    timeout_stop(&third);  // twice does no harm
    thread_sleep_until(now_us + 3 * MS);
    say('s');
    timeout_start(&first, now_us + 2 * MS);
    compute(4 * MS);
}
static void test_timeouts(void **state)
{
    (void)state;
    assert_string_equal(run(timeouts), "2s45");
}

// --- signals ---------------------------------------------------------------------------------------------------------
static void alarm_ends_a_wait(void *unused)
{
    (void)unused;
    semaphore = (struct semaphore){0};
    signals_init(&signals, thread_self());
    signal_set(&signals, SIGNAL_ALARM, say_letter);
    say_if(signal_alarm_at(&signals, now_us + 3 * MS) == KERNEL_NEVER, 'n');
    say_if(semaphore_take(&semaphore, KERNEL_NEVER) == KERNEL_INTERRUPTED && now_us == 1000 + 3 * MS, 'i');
    // it is pending still
    say_if(thread_sleep_until(now_us + MS) == KERNEL_INTERRUPTED && now_us == 1000 + 3 * MS, 'p');
    say_if(signal_deliver() == 1, '1');
    say_if(thread_sleep_until(now_us + MS) == KERNEL_TIMEOUT, 't');  // and no longer
    say_if(!semaphore.waiting.first, 'e');
}
static void test_an_alarm_ends_a_wait(void **state)
{
    (void)state;
    assert_string_equal(run(alarm_ends_a_wait), "nipo1te");
}

static void alarms(void *unused)
{
    (void)unused;
    signals_init(&signals, thread_self());
    signal_alarm_at(&signals, now_us + 3 * MS);
    say_if(signal_alarm_at(&signals, now_us + 5 * MS) == 1000 + 3 * MS, 'r');  // replaced
    say_if(thread_sleep_until(now_us + 4 * MS) == KERNEL_TIMEOUT, 't');
    say_if(signal_alarm_at(&signals, KERNEL_NEVER) == 1000 + 5 * MS, 'c');  // taken back
    say_if(thread_sleep_until(now_us + 4 * MS) == KERNEL_TIMEOUT, 't');
}
static void test_an_alarm_is_replaced_and_taken_back(void **state)
{
    (void)state;
    assert_string_equal(run(alarms), "rtct");
}

static void receives(void *unused)
{
    (void)unused;
    signals_init(&other, thread_self());
    signal_set(&other, SIGNAL_USER, say_letter);
    signal_set(&other, SIGNAL_INT, signal_ignore);
    for (int i = 0; i < 3; i++) {
        const int result = wait_queue_sleep(&queue, NULL, NULL, KERNEL_NEVER);
        say(result == KERNEL_INTERRUPTED ? 'i' : result == KERNEL_WOKEN ? 'w' : '!');
        (void)signal_deliver();
    }
}
static void send_user(void) { signal_send(&threads[0], SIGNAL_USER); }
static void sending(void *unused)
{
    (void)unused;
    queue = (struct wait_queue){0};
    spawn(0, 110, receives, 0);
    signal_send(&threads[0], SIGNAL_INT);  // ignored: ends nothing
    say('|');
    signal_send(&threads[0], SIGNAL_USER);
    in_interrupt(send_user);
    wait_queue_wake(&queue, NULL);
    signal_send(&threads[0], SIGNAL_USER);    // has ended
    signal_send(thread_self(), SIGNAL_USER);  // gets none
    say('|');
}
static void test_signals_are_sent(void **state)
{
    (void)state;
    assert_string_equal(run(sending), "|ikikw|");
}

static void blocked(void *unused)
{
    (void)unused;
    signals_init(&signals, thread_self());
    signal_set(&signals, SIGNAL_USER, say_letter);
    signal_set(&signals, SIGNAL_ALARM, say_letter);
    signal_block(&signals, 1u << SIGNAL_USER | 1u << SIGNAL_KILL);
    signal_send(thread_self(), SIGNAL_USER);
    say_if(thread_sleep_until(now_us + MS) == KERNEL_TIMEOUT, 't');
    signal_send(thread_self(), SIGNAL_ALARM);
    say_if(signal_deliver() == 1, '|');
    signal_block(&signals, 0);
    say_if(signal_deliver() == 1, '|');
    signal_send(thread_self(), SIGNAL_KILL);  // cannot be blocked, and stays
    say_if(signal_deliver() == 0 && signal_take(&signals) == SIGNAL_KILL, 'k');
    say_if(thread_sleep_until(now_us + MS) == KERNEL_INTERRUPTED, 'i');
}
static void test_blocked_signals_wait(void **state)
{
    (void)state;
    assert_string_equal(run(blocked), "to|k|ki");
}

static void send_and_say(void *letter)
{
    signal_send(&threads[0], SIGNAL_USER);
    say((char)(intptr_t)letter);
}
static void waits_firmly(void *unused)
{
    (void)unused;
    signals_init(&other, thread_self());
    wait_queue_sleep_firmly(&queue);
    say('w');
    // the signal is pending still
    say_if(wait_queue_sleep(&queue, NULL, NULL, KERNEL_NEVER) == KERNEL_INTERRUPTED, 'i');
    mutex_lock(&mutex);
    say_if(mutex.holder == thread_self(), 'm');
    mutex_unlock(&mutex);
}
static void firm(void *unused)
{
    (void)unused;
    queue = (struct wait_queue){0};
    mutex = (struct mutex){0};
    mutex_lock(&mutex);
    spawn(0, 110, waits_firmly, 0);
    send_and_say((void *)(intptr_t)'s');
    wait_queue_wake(&queue, NULL);
    send_and_say((void *)(intptr_t)'s');  // it waits for the mutex: nothing ends that
    mutex_unlock(&mutex);
}
static void test_firm_sleep_and_mutexes_are_not_interrupted(void **state)
{
    (void)state;
    assert_string_equal(run(firm), "swism");
}

static void waits_locked(void *unused)
{
    (void)unused;
    signals_init(&other, thread_self());
    mutex_lock(&mutex);
    say_if(wait_queue_sleep(&queue, &mutex, NULL, KERNEL_NEVER) == KERNEL_INTERRUPTED, 'i');
    say_if(mutex.holder == thread_self(), 'h');
    say_if(wait_queue_sleep(&queue, &mutex, NULL, KERNEL_NEVER) == KERNEL_INTERRUPTED && mutex.holder == thread_self(),
           'p');
    mutex_unlock(&mutex);
}
static void locked(void *unused)
{
    (void)unused;
    queue = (struct wait_queue){0};
    mutex = (struct mutex){0};
    spawn(0, 110, waits_locked, 0);
    send_and_say((void *)(intptr_t)'s');
}
static void test_an_interrupted_wait_holds_its_mutex_again(void **state)
{
    (void)state;
    assert_string_equal(run(locked), "ihps");
}

static void alarm_then_sleeps(void *unused)
{
    (void)unused;
    signals_init(&other, thread_self());
    signal_alarm_at(&other, now_us + MS);
    thread_sleep_until(KERNEL_NEVER);
    say('!');
}
static void deleted(void *unused)
{
    (void)unused;
    spawn(0, 110, alarm_then_sleeps, 0);
    thread_delete(&threads[0]);
    other.alarm.due = NULL;  // would be called
    thread_sleep_until(now_us + 2 * MS);
    say('d');
}
static void test_a_deleted_threads_alarm_is_gone(void **state)
{
    (void)state;
    assert_string_equal(run(deleted), "d");
}

static void holds_long(void *unused)
{
    (void)unused;
    mutex_lock(&mutex);
    thread_sleep_until(now_us + 10 * MS);
    mutex_unlock(&mutex);
}
static void patience(void *unused)
{
    (void)unused;
    mutex = (struct mutex){0};
    spawn(0, 110, holds_long, 0);
    thread_set_priority(thread_self(), 120);
    say_if(mutex_lock_until(&mutex, 0) == KERNEL_TIMEOUT, '0');
    say_if(mutex_lock_until(&mutex, now_us + 2 * MS) == KERNEL_TIMEOUT && now_us == 1000 + 2 * MS, 't');
    say_if(threads[0].priority == 110 && !mutex.waiting.first, 'p');  // what was inherited is given back
    say_if(mutex_lock_until(&mutex, now_us + 20 * MS) == KERNEL_WOKEN && now_us == 1000 + 10 * MS, 'h');
    mutex_unlock(&mutex);
}
static void test_a_mutex_is_waited_for_so_long(void **state)
{
    (void)state;
    assert_string_equal(run(patience), "0tph");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_an_alarm_ends_a_wait),
        cmocka_unit_test(test_an_alarm_is_replaced_and_taken_back),
        cmocka_unit_test(test_signals_are_sent),
        cmocka_unit_test(test_blocked_signals_wait),
        cmocka_unit_test(test_firm_sleep_and_mutexes_are_not_interrupted),
        cmocka_unit_test(test_an_interrupted_wait_holds_its_mutex_again),
        cmocka_unit_test(test_a_deleted_threads_alarm_is_gone),
        cmocka_unit_test(test_a_mutex_is_waited_for_so_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
