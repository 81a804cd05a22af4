// SPDX-License-Identifier: BSD-2-Clause
// Timers by jiffies (a list in the order of their moments, and one thread that sleeps until the first), and
// sock_wake_async.
#include "kernel/preempt/arch.h"

#include "api/lyraos/linux20.h"

#define JIFFY_US (1000000u / HZ)

static struct timer_list *first;   // changed with interrupts off
static struct thread *runner;      // in lyraos_timers
static void (*runner_wake)(void);  // of lyraos_timers_turn

static uint64_t whole_jiffies(void) { return kernel_now_us() / JIFFY_US; }

unsigned long lyraos_jiffies(void) { return (unsigned long)whole_jiffies(); }

// How many jiffies from now on, of numbers that wrap.
static long ahead(unsigned long expires) { return (long)(expires - lyraos_jiffies()); }

static bool take_out(struct timer_list *timer)
{
    struct timer_list *before = NULL, *at = first;
    for (; at && at != timer; at = at->next)
        before = at;
    if (!at)
        return false;
    if (before)
        before->next = at->next;
    else
        first = at->next;
    if (at->next)
        at->next->prev = before;
    init_timer(at);
    return true;
}

void add_timer(struct timer_list *timer)
{
    const uint32_t state = arch_interrupts_off();
    (void)take_out(timer);
    struct timer_list *before = NULL, *at = first;
    for (; at && (long)(timer->expires - at->expires) >= 0; at = at->next)
        before = at;
    timer->prev = before;
    timer->next = at;
    if (at)
        at->prev = timer;
    if (before)
        before->next = timer;
    else
        first = timer;
    if (first == timer && runner)
        thread_wakeup(runner);
    arch_interrupts_restore(state);
    if (first == timer && runner_wake)
        runner_wake();
}

int del_timer(struct timer_list *timer)
{
    const uint32_t state = arch_interrupts_off();
    const bool ran = take_out(timer);
    arch_interrupts_restore(state);
    return ran;
}

// With interrupts off, but for the functions' calls.
static uint64_t run_due(uint32_t state)
{
    struct timer_list *due;
    while ((due = first) && ahead(due->expires) <= 0) {
        (void)take_out(due);
        arch_interrupts_restore(state);
        due->function(due->data);
        (void)arch_interrupts_off();
    }
    return due ? (whole_jiffies() + (unsigned long)ahead(due->expires)) * JIFFY_US : KERNEL_NEVER;
}

uint64_t lyraos_timers_turn(void (*wake)(void))
{
    const uint32_t state = arch_interrupts_off();
    runner_wake = wake;
    const uint64_t due_us = run_due(state);
    arch_interrupts_restore(state);
    return due_us;
}

void lyraos_timers(void *unused)
{
    (void)unused;
    const uint32_t state = arch_interrupts_off();
    runner = thread_self();
    for (;;)
        (void)thread_sleep_until(run_due(state));
}

int sock_wake_async(struct socket *sock, int how)
{
    (void)how;
    if (!sock || !sock->data)
        return -1;
    wake_up(((const struct sock *)sock->data)->sleep);
    return 0;
}
