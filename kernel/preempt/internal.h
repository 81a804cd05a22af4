// SPDX-License-Identifier: BSD-2-Clause
// Between the files of the kernel. All of it with interrupts off.
#ifndef PREEMPT_INTERNAL_H
#define PREEMPT_INTERNAL_H

#include "arch.h"
#include "preempt.h"
#include "signal.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct kernel {
    const struct kernel_board *board;
    struct thread *current;
    struct wait_queue ready;   // the running one stands in it, too
    struct timeout *timeouts;  // by their moments
    uint64_t turn_ends_us;     // the current's; KERNEL_NEVER: it is not measured
    uint64_t alarm_us;         // what the timer is set to
    bool alarm_stale;          // a list has changed since the alarm was set
    bool started;
};
extern struct kernel kernel;

void kernel_queue_insert(struct wait_queue *queue, struct thread *thread);  // behind equals
void kernel_queue_remove(struct thread *thread);                            // from the one it stands in
// The current thread stands in `queue` (NULL: in none) until it is readied, the deadline, or a signal (unless it is
// `firm` or waits for a mutex). Interrupts are on meanwhile, and off again when it returns enum kernel_wait.
int kernel_block(struct wait_queue *queue, uint64_t deadline_us);
void kernel_ready(struct thread *thread, int result);  // ends its wait
void kernel_reschedule(void);                          // after any of these: asks for a switch, sets the alarm
// The priority that `thread` has by itself and through its mutexes may have changed: so may that of whom it waits for.
void kernel_inherit(struct thread *thread);
void kernel_mutex_release(struct mutex *mutex);  // to the most urgent that waits, or to nobody
bool kernel_passed(uint64_t deadline_us);
static inline bool kernel_signalled(const struct thread *thread)
{
    return thread->signals && thread->signals->pending & ~thread->signals->blocked;
}

WEIR_END_DECLS

#endif
