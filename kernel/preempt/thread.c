// SPDX-License-Identifier: BSD-2-Clause
// Threads and the scheduler. One list serves all: ordered by priority, first come first among equals. The ready list's
// head is who should run; a thread that loses the processor to a more urgent one keeps its place before its equals, and
// the rest of its turn.
#include "internal.h"

#define CANARY 0x57a7c0deu  // fills a stack that nobody has used yet

struct kernel kernel;
static struct thread idle_thread;

// --- lists -----------------------------------------------------------------------------------------------------------
void kernel_queue_insert(struct wait_queue *queue, struct thread *thread)
{
    struct thread **at = &queue->first;
    while (*at && (*at)->priority >= thread->priority)
        at = &(*at)->next;
    thread->next = *at;
    *at = thread;
    thread->queue = queue;
    kernel.alarm_stale = true;
}

void kernel_queue_remove(struct thread *thread)
{
    if (!thread->queue)
        return;
    struct thread **at = &thread->queue->first;
    while (*at != thread)
        at = &(*at)->next;
    *at = thread->next;
    thread->queue = NULL;
    kernel.alarm_stale = true;
}

static void timeout_insert(struct timeout *timeout)
{
    struct timeout **at = &kernel.timeouts;
    while (*at && (*at)->at_us <= timeout->at_us)
        at = &(*at)->next;
    timeout->next = *at;
    *at = timeout;
    kernel.alarm_stale = true;
}

static void timeout_remove(struct timeout *timeout)
{
    struct timeout **at = &kernel.timeouts;
    while (*at && *at != timeout)
        at = &(*at)->next;
    if (*at)
        *at = timeout->next;
    timeout->at_us = KERNEL_NEVER;
}

static void deadline_begin(struct thread *thread, uint64_t deadline_us)
{
    thread->deadline.at_us = deadline_us;
    if (deadline_us != KERNEL_NEVER)
        timeout_insert(&thread->deadline);
}

static void deadline_end(struct thread *thread)
{
    if (thread->deadline.at_us != KERNEL_NEVER)
        timeout_remove(&thread->deadline);
}

static void deadline_due(struct timeout *timeout)
{
    kernel_ready((struct thread *)(void *)((char *)timeout - offsetof(struct thread, deadline)), KERNEL_TIMEOUT);
}

// --- the scheduler ---------------------------------------------------------------------------------------------------
// The timer goes off at alarm_us, and whoever waits by then is looked after: what is due no earlier need not be
// compared with the clock.
bool kernel_passed(uint64_t deadline_us)
{
    return deadline_us != KERNEL_NEVER && deadline_us < kernel.alarm_us && deadline_us <= kernel.board->now_us();
}

// A turn is measured only while equals wait. When another thread is about to run, thread_switch looks again.
static void measure_turn(void)
{
    const struct thread *self = kernel.current;
    if (kernel.ready.first != self)
        return;
    if (!self->next || self->next->priority != self->priority)
        kernel.turn_ends_us = KERNEL_NEVER;
    else if (kernel.turn_ends_us == KERNEL_NEVER)
        kernel.turn_ends_us = kernel.board->now_us() + self->turn_us;
}

// A timer that is set to an earlier moment than needed is left alone: kernel_timer sets it anew.
static void set_alarm(void)
{
    uint64_t due_us = kernel.timeouts ? kernel.timeouts->at_us : KERNEL_NEVER;
    kernel.alarm_stale = false;
    measure_turn();
    due_us = kernel.turn_ends_us < due_us ? kernel.turn_ends_us : due_us;
    if (due_us >= kernel.alarm_us)
        return;
    kernel.alarm_us = due_us;
    kernel.board->alarm(due_us);
}

void kernel_reschedule(void)
{
    if (!kernel.started)
        return;
    if (kernel.ready.first != kernel.current)
        arch_switch();  // it sets the alarm, since what there is to be alarmed of changes with it
    else if (kernel.alarm_stale)
        set_alarm();
}

static void check_canary(struct thread *thread)
{
    if (thread->stack[0] != CANARY || thread->stack[1] != CANARY)
        kernel.board->overflow(thread);
}

// What is left of it, for when the thread goes on.
static void end_turn(struct thread *thread)
{
    if (kernel.turn_ends_us == KERNEL_NEVER)
        return;
    const uint64_t now_us = kernel.board->now_us();
    thread->turn_us = kernel.turn_ends_us > now_us ? (uint32_t)(kernel.turn_ends_us - now_us) : 0;
    kernel.turn_ends_us = KERNEL_NEVER;
}

void *thread_switch(void *frame)
{
    if (kernel.current) {
        kernel.current->frame = frame;
        check_canary(kernel.current);
        end_turn(kernel.current);
    }
    kernel.current = kernel.ready.first;
    set_alarm();
    return kernel.current->frame;
}

int kernel_block(struct wait_queue *queue, uint64_t deadline_us)
{
    struct thread *self = kernel.current;
    if (kernel_signalled(self) && !self->wants && !self->firm)
        return KERNEL_INTERRUPTED;
    kernel_queue_remove(self);
    if (queue)
        kernel_queue_insert(queue, self);
    self->blocked = true;
    deadline_begin(self, deadline_us);
    kernel_reschedule();
    arch_interrupts_on();
    (void)arch_interrupts_off();
    return self->result;
}

void kernel_ready(struct thread *thread, int result)
{
    struct mutex *wanted = thread->wants;
    kernel_queue_remove(thread);
    deadline_end(thread);
    thread->wants = NULL;
    thread->blocked = thread->suspended = false;
    thread->result = (uint8_t)result;
    thread->turn_us = KERNEL_SLICE_US;
    kernel_queue_insert(&kernel.ready, thread);
    if (wanted && wanted->holder)
        kernel_inherit(wanted->holder);
}

// The current goes behind its equals, and a new turn begins.
static void rotate(void)
{
    struct thread *self = kernel.current;
    if (self->queue == &kernel.ready) {
        kernel_queue_remove(self);
        kernel_queue_insert(&kernel.ready, self);
    }
    self->turn_us = KERNEL_SLICE_US;
    kernel.turn_ends_us = KERNEL_NEVER;
}

void kernel_timer(void)
{
    const uint32_t state = arch_interrupts_off();
    if (kernel.started) {
        kernel.alarm_us = KERNEL_NEVER;
        kernel.alarm_stale = true;
        while (kernel.timeouts && kernel_passed(kernel.timeouts->at_us)) {
            struct timeout *timeout = kernel.timeouts;
            timeout_remove(timeout);
            timeout->due(timeout);
        }
        if (kernel_passed(kernel.turn_ends_us))
            rotate();
        kernel_reschedule();
    }
    arch_interrupts_restore(state);
}

void timeout_start(struct timeout *timeout, uint64_t at_us)
{
    const uint32_t state = arch_interrupts_off();
    timeout->at_us = at_us;
    timeout_insert(timeout);
    kernel_reschedule();
    arch_interrupts_restore(state);
}

void timeout_stop(struct timeout *timeout)
{
    const uint32_t state = arch_interrupts_off();
    timeout_remove(timeout);
    arch_interrupts_restore(state);
}

uint64_t timeout_next(void)
{
    const uint32_t state = arch_interrupts_off();
    const uint64_t at_us = kernel.timeouts ? kernel.timeouts->at_us : KERNEL_NEVER;
    arch_interrupts_restore(state);
    return at_us;
}

static void idle(void *unused)
{
    (void)unused;
    for (;;) {
        (void)arch_interrupts_off();
        kernel.board->idle();
        arch_interrupts_on();
    }
}

// --- threads ---------------------------------------------------------------------------------------------------------
static void begin(void)
{
    kernel.current->entry(kernel.current->argument);
    thread_exit();
}

static bool make(struct thread *thread, const struct thread_config *config)
{
    uint32_t *stack = config->stack;
    *thread = (struct thread){.name = config->name,
                              .entry = config->entry,
                              .argument = config->argument,
                              .stack = stack,
                              .stack_bytes = config->stack_bytes,
                              .priority = config->priority,
                              .own_priority = config->priority,
                              .turn_us = KERNEL_SLICE_US,
                              .deadline = {.at_us = KERNEL_NEVER, .due = deadline_due}};
    for (size_t i = 0; i < config->stack_bytes / 4; i++)
        stack[i] = CANARY;
    thread->frame = arch_frame(stack, config->stack_bytes, begin);
    return thread->frame;
}

static void enter(struct thread *thread)
{
    const uint32_t state = arch_interrupts_off();
    kernel_queue_insert(&kernel.ready, thread);
    kernel_reschedule();
    arch_interrupts_restore(state);
}

bool thread_create(struct thread *thread, const struct thread_config *config)
{
    if (!config->priority || !make(thread, config))
        return false;
    enter(thread);
    return true;
}

// Out of whatever list it stands in, as one that is deleted, but for its mutexes, which it keeps.
static void leave_lists(struct thread *thread)
{
    const struct mutex *wanted = thread->wants;
    kernel_queue_remove(thread);
    deadline_end(thread);
    thread->wants = NULL;
    if (wanted && wanted->holder)
        kernel_inherit(wanted->holder);
}

void thread_delete(struct thread *thread)
{
    const uint32_t state = arch_interrupts_off();
    if (!thread->dead) {
        thread->dead = true;
        leave_lists(thread);
        if (thread->signals)
            timeout_stop(&thread->signals->alarm);
        while (thread->holds)
            kernel_mutex_release(thread->holds);
        while (thread->joining.first)
            kernel_ready(thread->joining.first, KERNEL_WOKEN);
        kernel_reschedule();
    }
    arch_interrupts_restore(state);
}

void thread_exit(void)
{
    for (;;)
        thread_delete(kernel.current);
}

int thread_join(struct thread *thread, uint64_t deadline_us)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    if (!thread->dead)
        result = kernel_passed(deadline_us) ? KERNEL_TIMEOUT : kernel_block(&thread->joining, deadline_us);
    arch_interrupts_restore(state);
    return result;
}

// In its queue, with the priority that it has now: the first keeps its place where nobody is more urgent.
static void replace(struct thread *thread)
{
    struct wait_queue *queue = thread->queue;
    if (!queue)
        return;
    if (queue->first == thread && (!thread->next || thread->next->priority <= thread->priority)) {
        kernel.alarm_stale |= thread->next && thread->next->priority == thread->priority;  // its turn ends
        return;
    }
    kernel_queue_remove(thread);
    kernel_queue_insert(queue, thread);
}

// A chain of waiting ends where nothing changes, so also when it is a circle.
void kernel_inherit(struct thread *thread)
{
    while (thread) {
        uint8_t priority = thread->own_priority;
        for (const struct mutex *mutex = thread->holds; mutex; mutex = mutex->next) {
            const struct thread *waits = mutex->waiting.first;
            if (waits && waits->priority > priority)
                priority = waits->priority;
            if (mutex->hurry > priority)
                priority = mutex->hurry;
        }
        if (priority == thread->priority)
            return;
        thread->priority = priority;
        replace(thread);
        thread = thread->wants ? thread->wants->holder : NULL;
    }
}

void thread_set_priority(struct thread *thread, uint8_t priority)
{
    const uint32_t state = arch_interrupts_off();
    thread->own_priority = priority ? priority : 1;
    kernel_inherit(thread);
    kernel_reschedule();
    arch_interrupts_restore(state);
}

uint8_t thread_priority(const struct thread *thread) { return thread->priority; }
struct thread *thread_self(void) { return kernel.current; }

void thread_yield(void)
{
    const uint32_t state = arch_interrupts_off();
    rotate();
    kernel_reschedule();
    arch_interrupts_restore(state);
}

int thread_sleep_until(uint64_t moment_us)
{
    const uint32_t state = arch_interrupts_off();
    const int result = kernel_passed(moment_us) ? KERNEL_TIMEOUT : kernel_block(NULL, moment_us);
    arch_interrupts_restore(state);
    return result;
}

void thread_wakeup(struct thread *thread)
{
    const uint32_t state = arch_interrupts_off();
    if (thread->blocked && !thread->suspended && !thread->queue && !thread->dead)
        kernel_ready(thread, KERNEL_WOKEN);
    kernel_reschedule();
    arch_interrupts_restore(state);
}

bool thread_suspend(struct thread *thread)
{
    const uint32_t state = arch_interrupts_off();
    const bool alive = !thread->dead;
    if (alive) {
        leave_lists(thread);
        if (thread->blocked && !thread->suspended)
            thread->result = KERNEL_TIMEOUT;  // else it keeps how a wait has ended that it has not returned from yet
        thread->blocked = thread->suspended = true;
        kernel_reschedule();
    }
    arch_interrupts_restore(state);  // oneself: returns when resumed
    return alive;
}

bool thread_resume(struct thread *thread)
{
    const uint32_t state = arch_interrupts_off();
    const bool waits = thread->blocked && !thread->dead;
    if (waits) {
        kernel_ready(thread, thread->suspended ? thread->result : KERNEL_TIMEOUT);
        kernel_reschedule();
    }
    arch_interrupts_restore(state);
    return waits;
}

size_t thread_stack_unused(const struct thread *thread)
{
    size_t words = 0;
    while (words < thread->stack_bytes / 4 && thread->stack[words] == CANARY)
        words++;
    return words * 4;
}

bool kernel_init(const struct kernel_board *board)
{
    const struct thread_config config = {
        .name = "idle", .entry = idle, .stack = board->idle_stack, .stack_bytes = board->idle_stack_bytes};
    kernel = (struct kernel){.board = board, .turn_ends_us = KERNEL_NEVER, .alarm_us = KERNEL_NEVER};
    if (!make(&idle_thread, &config))
        return false;
    enter(&idle_thread);
    return true;
}

uint64_t kernel_now_us(void) { return kernel.board->now_us(); }

void kernel_start(void)
{
    (void)arch_interrupts_off();
    kernel.started = true;
    kernel_reschedule();
    arch_start();
}
