// SPDX-License-Identifier: BSD-2-Clause
// Signals to a thread that has a struct signals: they end what it waits for with KERNEL_INTERRUPTED (mutexes and
// wait_queue_sleep_firmly excepted), and a wait that it begins while one is pending ends at once. Handlers are called
// by the thread itself: a process's when a system call ends (process.h), another's when it calls signal_deliver, as it
// does after KERNEL_INTERRUPTED. So no handler runs between two instructions.
#ifndef PREEMPT_SIGNAL_H
#define PREEMPT_SIGNAL_H

#include "preempt.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

enum {
    SIGNAL_INT = 2,
    SIGNAL_KILL = 9,
    SIGNAL_USER = 10,
    SIGNAL_FAULT = 11,
    SIGNAL_ALARM = 14,
    SIGNAL_TERM = 15,
    SIGNALS = 16
};  // numbers as Unix has them
typedef void signal_handler(int signal);

struct process;
struct signals {
    uint32_t pending, blocked;         // a bit each
    signal_handler *handler[SIGNALS];  // NULL: a signal interrupts, no more; signal_ignore
    struct timeout alarm;
    struct thread *thread;
    struct process *process;  // whose thread it is (process.h); NULL: the kernel's
};

// zero but for the thread, which gets them from here on
void signals_init(struct signals *signals, struct thread *thread);
void signal_send(struct thread *thread, int signal);  // also from an interrupt; nothing if it has no struct signals
// What happens with it from here on; returns what did before. A pending one that is to be ignored is forgotten.
signal_handler *signal_set(struct signals *signals, int signal, signal_handler *handler);
void signal_ignore(int signal);
void signal_block(struct signals *signals, uint32_t set);  // those whose bits are set wait until they no longer are
// The next that is pending and not blocked, which it is no more: 0 when there is none. KILL stays.
int signal_take(struct signals *signals);
int signal_deliver(void);  // calls the handlers of the calling thread's; how many signals there were
// SIGNAL_ALARM to the thread at that moment, instead of one asked for before: that one's moment, KERNEL_NEVER when
// there was none.
uint64_t signal_alarm_at(struct signals *signals, uint64_t at_us);

WEIR_END_DECLS

#endif
