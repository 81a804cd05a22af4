// SPDX-License-Identifier: BSD-2-Clause
#include "signal.h"

#include "internal.h"

#define BIT(signal) (UINT32_C(1) << (signal))

static void alarm_due(struct timeout *timeout)
{
    struct signals *signals = (struct signals *)(void *)((char *)timeout - offsetof(struct signals, alarm));
    signal_send(signals->thread, SIGNAL_ALARM);
}

void signals_init(struct signals *signals, struct thread *thread)
{
    *signals = (struct signals){.alarm = {.at_us = KERNEL_NEVER, .due = alarm_due}, .thread = thread};
    thread->signals = signals;
}

void signal_ignore(int signal) { (void)signal; }

void signal_send(struct thread *thread, int signal)
{
    const uint32_t state = arch_interrupts_off();
    struct signals *signals = thread->signals;
    if (signals && !thread->dead && signals->handler[signal] != signal_ignore) {
        signals->pending |= BIT(signal);
        if (thread->blocked && !thread->suspended && !thread->wants && !thread->firm && kernel_signalled(thread))
            kernel_ready(thread, KERNEL_INTERRUPTED);
        kernel_reschedule();
    }
    arch_interrupts_restore(state);
}

signal_handler *signal_set(struct signals *signals, int signal, signal_handler *handler)
{
    const uint32_t state = arch_interrupts_off();
    signal_handler *before = signals->handler[signal];
    signals->handler[signal] = handler;
    if (handler == signal_ignore)
        signals->pending &= ~BIT(signal);
    arch_interrupts_restore(state);
    return before;
}

void signal_block(struct signals *signals, uint32_t set) { signals->blocked = set & ~BIT(SIGNAL_KILL); }

int signal_take(struct signals *signals)
{
    if (!(signals->pending & ~signals->blocked))
        return 0;  // as nearly always; one that comes now is the next call's
    const uint32_t state = arch_interrupts_off();
    const uint32_t waiting = signals->pending & ~signals->blocked;
    int signal = waiting ? SIGNALS - 1 : 0;
    while (signal && !(waiting & BIT(signal)))
        signal--;
    if (signal != SIGNAL_KILL)
        signals->pending &= ~BIT(signal);
    arch_interrupts_restore(state);
    return signal;
}

int signal_deliver(void)
{
    struct signals *signals = thread_self()->signals;
    int count = 0;
    for (int signal; signals && (signal = signal_take(signals)) > 0 && signal != SIGNAL_KILL; count++)
        if (signals->handler[signal])
            signals->handler[signal](signal);
    return count;
}

uint64_t signal_alarm_at(struct signals *signals, uint64_t at_us)
{
    const uint32_t state = arch_interrupts_off();
    const uint64_t before = signals->alarm.at_us;
    if (before != KERNEL_NEVER)
        timeout_stop(&signals->alarm);
    if (at_us != KERNEL_NEVER)
        timeout_start(&signals->alarm, at_us);
    arch_interrupts_restore(state);
    return before;
}
