// SPDX-License-Identifier: BSD-2-Clause
// What threads wait for: queues, mutexes, semaphores, mailboxes. What is given is handed to the most urgent that waits,
// so that nobody who comes later takes it away.
#include "internal.h"

// --- wait queues -----------------------------------------------------------------------------------------------------
int wait_queue_sleep(struct wait_queue *queue, struct mutex *mutex, const void *token, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_TIMEOUT;
    kernel.current->token = token;
    if (!kernel_passed(deadline_us)) {
        if (mutex)
            kernel_mutex_release(mutex);
        result = kernel_block(queue, deadline_us);
    } else {
        mutex = NULL;  // is held still
    }
    arch_interrupts_restore(state);
    if (mutex)
        mutex_lock(mutex);
    return result;
}

void wait_queue_wake(struct wait_queue *queue, const void *token)
{
    const uint32_t state = arch_interrupts_off();
    for (struct thread *thread = queue->first, *next; thread; thread = next) {
        next = thread->next;
        if (!token || thread->token == token)
            kernel_ready(thread, KERNEL_WOKEN);
    }
    kernel_reschedule();
    arch_interrupts_restore(state);
}

bool wait_queue_wake_one(struct wait_queue *queue)
{
    const uint32_t state = arch_interrupts_off();
    struct thread *first = queue->first;
    if (first)
        kernel_ready(first, KERNEL_WOKEN);
    kernel_reschedule();
    arch_interrupts_restore(state);
    return first;
}

void wait_queue_sleep_firmly(struct wait_queue *queue)
{
    const uint32_t state = arch_interrupts_off();
    struct thread *self = kernel.current;
    self->firm = true;
    (void)kernel_block(queue, KERNEL_NEVER);
    self->firm = false;
    arch_interrupts_restore(state);
}

// --- mutexes ---------------------------------------------------------------------------------------------------------
static void hold(struct mutex *mutex, struct thread *thread)
{
    mutex->holder = thread;
    mutex->next = thread->holds;
    thread->holds = mutex;
}

void kernel_mutex_release(struct mutex *mutex)
{
    struct thread *holder = mutex->holder, *next = mutex->waiting.first;
    struct mutex **at = &holder->holds;
    while (*at != mutex)
        at = &(*at)->next;
    *at = mutex->next;
    mutex->holder = NULL;
    mutex->hurry = 0;
    if (next) {
        kernel_ready(next, KERNEL_WOKEN);
        hold(mutex, next);
    }
    kernel_inherit(holder);
}

void mutex_unlock_off(struct mutex *mutex)
{
    struct thread *self = kernel.current;
    if (!mutex->waiting.first && !mutex->hurry && self->holds == mutex) {  // as nearly always: nobody's turn changes
        self->holds = mutex->next;
        mutex->holder = NULL;
        return;
    }
    kernel_mutex_release(mutex);
    kernel_reschedule();
}

int mutex_lock_until(struct mutex *mutex, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    struct thread *self = kernel.current;
    int result = KERNEL_WOKEN;
    if (!mutex->holder) {
        hold(mutex, self);
    } else if (kernel_passed(deadline_us)) {
        result = KERNEL_TIMEOUT;
    } else {
        // It stands in the queue before the holder's priority is counted anew; kernel_block then finds it there, and
        // moves it to itself.
        kernel_queue_remove(self);
        kernel_queue_insert(&mutex->waiting, self);
        self->wants = mutex;
        kernel_inherit(mutex->holder);
        result = kernel_block(&mutex->waiting, deadline_us);
    }
    arch_interrupts_restore(state);
    return result;
}

// Again, if it was suspended meanwhile. First as nearly always: nobody has it.
void mutex_lock(struct mutex *mutex)
{
    const uint32_t state = arch_interrupts_off();
    const bool free = !mutex->holder;
    if (free)
        hold(mutex, kernel.current);
    arch_interrupts_restore(state);
    while (!free && mutex_lock_until(mutex, KERNEL_NEVER) != KERNEL_WOKEN)
        ;
}

bool mutex_try(struct mutex *mutex)
{
    const uint32_t state = arch_interrupts_off();
    const bool free = !mutex->holder;
    if (free)
        hold(mutex, kernel.current);
    arch_interrupts_restore(state);
    return free;
}

void mutex_unlock(struct mutex *mutex)
{
    const uint32_t state = arch_interrupts_off();
    mutex_unlock_off(mutex);
    arch_interrupts_restore(state);
}

void mutex_hurry(struct mutex *mutex, uint8_t priority)
{
    const uint32_t state = arch_interrupts_off();
    if (mutex->hurry < priority) {
        mutex->hurry = priority;
        kernel_inherit(mutex->holder);
    }
    arch_interrupts_restore(state);
}

// --- semaphores ------------------------------------------------------------------------------------------------------
int semaphore_take(struct semaphore *semaphore, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    if (semaphore->count)
        semaphore->count--;
    else
        result = kernel_passed(deadline_us) ? KERNEL_TIMEOUT : kernel_block(&semaphore->waiting, deadline_us);
    arch_interrupts_restore(state);
    return result;
}

void semaphore_give(struct semaphore *semaphore)
{
    const uint32_t state = arch_interrupts_off();
    if (semaphore->waiting.first)
        kernel_ready(semaphore->waiting.first, KERNEL_WOKEN);
    else if (!semaphore->most || semaphore->count < semaphore->most)
        semaphore->count++;
    kernel_reschedule();
    arch_interrupts_restore(state);
}

// --- mailboxes -------------------------------------------------------------------------------------------------------
static void put(struct mailbox *mailbox, const void *message)
{
    mailbox->messages[(mailbox->head + mailbox->count++) % mailbox->room] = message;
}

int mailbox_send(struct mailbox *mailbox, const void *message, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    if (mailbox->receivers.first) {
        mailbox->receivers.first->token = message;
        kernel_ready(mailbox->receivers.first, KERNEL_WOKEN);
        kernel_reschedule();
    } else if (mailbox->count < mailbox->room) {
        put(mailbox, message);
    } else if (kernel_passed(deadline_us)) {
        result = KERNEL_TIMEOUT;
    } else {
        kernel.current->token = message;
        result = kernel_block(&mailbox->senders, deadline_us);
    }
    arch_interrupts_restore(state);
    return result;
}

// The oldest message: the box's first; of a box without room a sender's. The sender that waits longest takes the place
// that became free.
static const void *take(struct mailbox *mailbox)
{
    struct thread *sender = mailbox->senders.first;
    const void *message = sender ? sender->token : NULL;
    if (mailbox->count) {
        const void *oldest = mailbox->messages[mailbox->head];
        mailbox->head = (mailbox->head + 1) % mailbox->room;
        mailbox->count--;
        if (sender)
            put(mailbox, message);
        message = oldest;
    }
    if (sender)
        kernel_ready(sender, KERNEL_WOKEN);
    kernel_reschedule();
    return message;
}

int mailbox_receive(struct mailbox *mailbox, const void **message, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    if (mailbox->count || mailbox->senders.first) {
        *message = take(mailbox);
    } else if (kernel_passed(deadline_us)) {
        result = KERNEL_TIMEOUT;
    } else {
        result = kernel_block(&mailbox->receivers, deadline_us);
        if (result == KERNEL_WOKEN)
            *message = kernel.current->token;
    }
    arch_interrupts_restore(state);
    return result;
}
