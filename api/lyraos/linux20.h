// SPDX-License-Identifier: BSD-2-Clause
// What code of Linux 2.0's network part names besides: `struct wait_queue` as it declares it, timers by jiffies, and
// sock_wake_async, so that the listings of LyraOS's paper (its figures 9 and 11) compile as they stand. Include it
// last: what the preemptive kernel calls struct wait_queue is hidden from there on.
#ifndef LYRAOS_LINUX20_H
#define LYRAOS_LINUX20_H

#include "api/lyraos/alarm.h"
#include "api/lyraos/wait.h"
#include "kernel/preempt/process.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define wait_queue wait_queue_entry
#define task_struct thread
#define current thread_self()

// --- timers ----------------------------------------------------------------------------------------------------------
#define HZ 100
#define jiffies lyraos_jiffies()  // by the kernel's clock; wraps
unsigned long lyraos_jiffies(void);

struct timer_list {  // zero, or init_timer, before it is first used
    struct timer_list *next, *prev;
    unsigned long expires;  // in jiffies; one that has passed: at once
    unsigned long data;
    void (*function)(unsigned long data);
};
static inline void init_timer(struct timer_list *timer) { timer->next = timer->prev = NULL; }
// The timer's function is called once, with its data, by the thread that runs lyraos_timers. One that runs already is
// set anew. Also from interrupts, and from a timer's function.
void add_timer(struct timer_list *timer);
int del_timer(struct timer_list *timer);  // 1: it ran, and does no longer; 0: it did not
// The timers' thread: its entry, for thread_create. One of the system's; until it runs timers wait.
void lyraos_timers(void *unused);
// In its place, for a thread that waits for other things, too: calls the functions of timers that are due, and returns
// when the next one will be (KERNEL_NEVER: there is none). `wake` is called, also from interrupts, when add_timer sets
// one that is earlier.
uint64_t lyraos_timers_turn(void (*wake)(void));

// Figure 9's: a thread's number is an unsigned long there, as a timer's data is.
static inline unsigned long lyraos_thread_number(void) { return (unsigned long)(uintptr_t)thread_self(); }
static inline void lyraos_signal(unsigned long number, int signal)
{
    signal_send((struct thread *)(uintptr_t)number, signal);
}
#define self_thread_id() lyraos_thread_number()
#undef send_signal
#define send_signal lyraos_signal

// --- sockets ---------------------------------------------------------------------------------------------------------
// Of Linux 2.0's what sock_wake_async looks at. Weir's sockets have queues of their own; these are for code that brings
// its own.
struct sock {
    struct wait_queue **sleep;
};
struct socket {
    void *data;  // a struct sock
};
// Wakes all threads that sleep in the queue of the socket: 0; -1: there is none. `how` tells whom Linux would signal,
// and is not looked at.
int sock_wake_async(struct socket *sock, int how);

WEIR_END_DECLS

#endif
