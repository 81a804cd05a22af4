// SPDX-License-Identifier: BSD-2-Clause
// What LyraOS gives code that was written for Linux 2.0's kernel: wait queues over the kernel's sleep and wake-up, and
// the few names that the communication stack used. Weir's own stack needs none of it; it is for programs and drivers
// that come with such code.
//
// A queue is a pointer, NULL at first, to the entries of those who wait. To test and to sleep is one step only between
// NO_PREEMPT and PREEMPT_OK: what wakes comes then before the test or after falling asleep, not in between and unseen.
//
//     NO_PREEMPT();
//     while (!condition)
//         sleep_on(&queue);
//     PREEMPT_OK();
//
// (Linux 2.0 calls the entry struct wait_queue, as this kernel calls something else: linux20.h has it under that name.)
#ifndef LYRAOS_WAIT_H
#define LYRAOS_WAIT_H

#include <stddef.h>

#include "kernel/preempt/preempt.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct wait_queue_entry {  // an entry; it stands on its thread's stack, or where the thread wants
    struct thread *task;
    struct wait_queue_entry *next;
};

// The calling thread is woken with this queue from here on, until it is removed: between them it may call schedule, and
// wait for several queues at once. An entry is in one queue. From interrupts only the wake-ups.
void add_wait_queue(struct wait_queue_entry **queue, struct wait_queue_entry *entry);
void remove_wait_queue(struct wait_queue_entry **queue, struct wait_queue_entry *entry);
void sleep_on(struct wait_queue_entry **queue);  // until wake_up
// also until wake_up_interruptible, thread_wakeup or a signal
void interruptible_sleep_on(struct wait_queue_entry **queue);
void wake_up(struct wait_queue_entry **queue);                // all
void wake_up_interruptible(struct wait_queue_entry **queue);  // all that are not in sleep_on
#define wake_interruptible wake_up_interruptible              // as the paper calls it

// Keeps the processor, also from interrupts; nests. A thread that waits in between gives the processor up, and has it
// for itself again when it goes on.
void NO_PREEMPT(void);
void PREEMPT_OK(void);
void schedule(void);  // sleeps until woken
static inline void thread_sleep(void) { schedule(); }
static inline struct thread *self_thread_id(void) { return thread_self(); }

WEIR_END_DECLS

#endif
