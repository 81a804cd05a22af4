// SPDX-License-Identifier: BSD-2-Clause
#include "api/lyraos/wait.h"

#include "kernel/preempt/arch.h"

static unsigned depth;      // of NO_PREEMPT; while it is not 0 interrupts are off, so it is the running thread's
static uint32_t outermost;  // what interrupts were before

void NO_PREEMPT(void)
{
    const uint32_t state = arch_interrupts_off();
    if (!depth++)
        outermost = state;
}

void PREEMPT_OK(void)
{
    if (!--depth)
        arch_interrupts_restore(outermost);
}

void schedule(void)
{
    const uint32_t state = arch_interrupts_off(), kept_state = outermost;
    const unsigned kept = depth;
    depth = 0;  // others run
    (void)thread_sleep_until(KERNEL_NEVER);
    depth = kept;
    outermost = kept_state;
    arch_interrupts_restore(state);
}

void add_wait_queue(struct wait_queue_entry **queue, struct wait_queue_entry *entry)
{
    const uint32_t state = arch_interrupts_off();
    struct wait_queue_entry **end = queue;
    while (*end)
        end = &(*end)->next;
    *entry = (struct wait_queue_entry){.task = thread_self()};
    *end = entry;
    arch_interrupts_restore(state);
}

void remove_wait_queue(struct wait_queue_entry **queue, struct wait_queue_entry *entry)
{
    const uint32_t state = arch_interrupts_off();
    struct wait_queue_entry **at = queue;
    while (*at && *at != entry)
        at = &(*at)->next;
    if (*at)
        *at = entry->next;
    arch_interrupts_restore(state);
}

// `unready`: no signal ends the wait, only wake_up.
static void wait_in(struct wait_queue_entry **queue, bool unready)
{
    struct wait_queue_entry entry;
    const uint32_t state = arch_interrupts_off();
    add_wait_queue(queue, &entry);
    thread_self()->firm = unready;
    do
        schedule();
    while (thread_self()->firm);
    remove_wait_queue(queue, &entry);
    arch_interrupts_restore(state);
}

void sleep_on(struct wait_queue_entry **queue) { wait_in(queue, true); }
void interruptible_sleep_on(struct wait_queue_entry **queue) { wait_in(queue, false); }

static void wake(struct wait_queue_entry **queue, bool all)
{
    const uint32_t state = arch_interrupts_off();
    for (struct wait_queue_entry *entry = *queue; entry; entry = entry->next)
        if (all || !entry->task->firm) {
            entry->task->firm = false;  // what sleep_on waits for
            thread_wakeup(entry->task);
        }
    arch_interrupts_restore(state);
}

void wake_up(struct wait_queue_entry **queue) { wake(queue, true); }
void wake_up_interruptible(struct wait_queue_entry **queue) { wake(queue, false); }
