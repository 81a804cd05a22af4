// SPDX-License-Identifier: BSD-2-Clause
// Event flags, mutexes, semaphores and timers.
#include "internal.h"

static osStatus_t status_of(int result, uint32_t ticks)
{
    return result == KERNEL_WOKEN ? osOK : ticks ? osErrorTimeout : osErrorResource;
}

// --- event flags -----------------------------------------------------------------------------------------------------
struct events {
    const char *name;
    void *own;
    uint32_t flags;
    struct wait_queue waiting;
};

osEventFlagsId_t osEventFlagsNew(const osEventFlagsAttr_t *attr)
{
    void *own;
    struct events *events = rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *events, &own);
    if (events)
        *events = (struct events){.name = attr ? attr->name : NULL, .own = own};
    return events;
}

const char *osEventFlagsGetName(osEventFlagsId_t id) { return id ? ((struct events *)id)->name : NULL; }

uint32_t osEventFlagsSet(osEventFlagsId_t id, uint32_t flags)
{
    struct events *events = id;
    return !events || flags & osFlagsError ? osFlagsErrorParameter
                                           : rtos2_flags_set(&events->flags, &events->waiting, flags);
}

uint32_t osEventFlagsClear(osEventFlagsId_t id, uint32_t flags)
{
    struct events *events = id;
    if (!events || flags & osFlagsError)
        return osFlagsErrorParameter;
    const uint32_t state = arch_interrupts_off();
    const uint32_t before = events->flags;
    events->flags &= ~flags;
    arch_interrupts_restore(state);
    return before;
}

uint32_t osEventFlagsGet(osEventFlagsId_t id) { return id ? ((struct events *)id)->flags : 0; }

uint32_t osEventFlagsWait(osEventFlagsId_t id, uint32_t flags, uint32_t options, uint32_t timeout)
{
    struct events *events = id;
    if (!events || flags & osFlagsError)
        return osFlagsErrorParameter;
    return rtos2_flags_wait(&events->flags, &events->waiting, flags, options, timeout);
}

osStatus_t osEventFlagsDelete(osEventFlagsId_t id)
{
    struct events *events = id;
    if (!events)
        return osErrorParameter;
    if (events->waiting.first)
        return osErrorResource;
    rtos2_free(events->own);
    return osOK;
}

// --- mutexes: all inherit priority, and are given on when their holder ends ------------------------------------------
struct rtos2_mutex {
    const char *name;
    void *own;
    struct mutex mutex;
    uint32_t depth;
    bool recursive;
};

osMutexId_t osMutexNew(const osMutexAttr_t *attr)
{
    void *own;
    struct rtos2_mutex *mutex = rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *mutex, &own);
    if (mutex)
        *mutex = (struct rtos2_mutex){
            .name = attr ? attr->name : NULL, .own = own, .recursive = attr && attr->attr_bits & osMutexRecursive};
    return mutex;
}

const char *osMutexGetName(osMutexId_t id) { return id ? ((struct rtos2_mutex *)id)->name : NULL; }

osStatus_t osMutexAcquire(osMutexId_t id, uint32_t timeout)
{
    struct rtos2_mutex *mutex = id;
    if (!mutex)
        return osErrorParameter;
    if (mutex->mutex.holder == thread_self()) {
        if (!mutex->recursive)
            return osErrorResource;
        mutex->depth++;
        return osOK;
    }
    const int result = mutex_lock_until(&mutex->mutex, rtos2_deadline(timeout));
    if (result == KERNEL_WOKEN)
        mutex->depth = 1;
    return status_of(result, timeout);
}

osStatus_t osMutexRelease(osMutexId_t id)
{
    struct rtos2_mutex *mutex = id;
    if (!mutex)
        return osErrorParameter;
    if (mutex->mutex.holder != thread_self())
        return osErrorResource;
    if (!--mutex->depth)
        mutex_unlock(&mutex->mutex);
    return osOK;
}

osThreadId_t osMutexGetOwner(osMutexId_t id) { return id ? ((struct rtos2_mutex *)id)->mutex.holder : NULL; }

osStatus_t osMutexDelete(osMutexId_t id)
{
    struct rtos2_mutex *mutex = id;
    if (!mutex)
        return osErrorParameter;
    if (mutex->mutex.holder)
        return osErrorResource;
    rtos2_free(mutex->own);
    return osOK;
}

// --- semaphores ------------------------------------------------------------------------------------------------------
struct rtos2_semaphore {
    const char *name;
    void *own;
    struct semaphore semaphore;
};

osSemaphoreId_t osSemaphoreNew(uint32_t most, uint32_t initial, const osSemaphoreAttr_t *attr)
{
    void *own;
    if (!most || initial > most)
        return NULL;
    struct rtos2_semaphore *semaphore =
        rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *semaphore, &own);
    if (semaphore)
        *semaphore = (struct rtos2_semaphore){
            .name = attr ? attr->name : NULL, .own = own, .semaphore = {.count = initial, .most = most}};
    return semaphore;
}

const char *osSemaphoreGetName(osSemaphoreId_t id) { return id ? ((struct rtos2_semaphore *)id)->name : NULL; }

osStatus_t osSemaphoreAcquire(osSemaphoreId_t id, uint32_t timeout)
{
    struct rtos2_semaphore *semaphore = id;
    return semaphore ? status_of(semaphore_take(&semaphore->semaphore, rtos2_deadline(timeout)), timeout)
                     : osErrorParameter;
}

osStatus_t osSemaphoreRelease(osSemaphoreId_t id)
{
    struct rtos2_semaphore *semaphore = id;
    if (!semaphore)
        return osErrorParameter;
    const uint32_t state = arch_interrupts_off();
    const bool full = semaphore->semaphore.count == semaphore->semaphore.most;
    if (!full)
        semaphore_give(&semaphore->semaphore);
    arch_interrupts_restore(state);
    return full ? osErrorResource : osOK;
}

uint32_t osSemaphoreGetCount(osSemaphoreId_t id) { return id ? ((struct rtos2_semaphore *)id)->semaphore.count : 0; }

osStatus_t osSemaphoreDelete(osSemaphoreId_t id)
{
    struct rtos2_semaphore *semaphore = id;
    if (!semaphore)
        return osErrorParameter;
    if (semaphore->semaphore.waiting.first)
        return osErrorResource;
    rtos2_free(semaphore->own);
    return osOK;
}

// --- timers: their functions are called by a thread, one after another -----------------------------------------------
struct timer {
    struct timeout timeout;  // first
    struct timer *next;      // of those that are due
    const char *name;
    void *own;
    osTimerFunc_t function;
    void *argument;
    uint32_t period_ticks;  // 0: once
    uint64_t next_us;
    bool running, queued;
};

static struct timer *due_first, **due_last;
static struct semaphore due;
static struct thread timer_thread;
static uint64_t timer_stack[RTOS2_STACK_BYTES / 8];

static void timer_due(struct timeout *timeout)
{
    struct timer *timer = (struct timer *)(void *)timeout;
    timer->running = timer->period_ticks != 0;
    if (timer->running)
        timeout_start(timeout, timer->next_us += (uint64_t)timer->period_ticks * RTOS2_TICK_US);
    if (timer->queued)
        return;  // its function is behind: once for both
    timer->queued = true;
    timer->next = NULL;
    *due_last = timer;
    due_last = &timer->next;
    semaphore_give(&due);
}

static void run_timers(void *unused)
{
    (void)unused;
    for (;;) {
        (void)semaphore_take(&due, KERNEL_NEVER);
        const uint32_t state = arch_interrupts_off();
        struct timer *timer = due_first;
        if (timer) {
            due_first = timer->next;
            if (!due_first)
                due_last = &due_first;
            timer->queued = false;
        }
        arch_interrupts_restore(state);
        if (timer)
            timer->function(timer->argument);
    }
}

bool rtos2_timers_start(void)
{
    due_first = NULL;
    due_last = &due_first;
    due = (struct semaphore){0};
    return thread_create(&timer_thread, &(struct thread_config){"timers", run_timers, NULL, timer_stack,
                                                                sizeof timer_stack, osPriorityHigh});
}

static void stop(struct timer *timer)
{
    timeout_stop(&timer->timeout);
    timer->running = false;
    if (!timer->queued)
        return;
    struct timer **at = &due_first;
    while (*at != timer)
        at = &(*at)->next;
    *at = timer->next;
    if (!*at)
        due_last = at;
    timer->queued = false;
}

osTimerId_t osTimerNew(osTimerFunc_t function, osTimerType_t type, void *argument, const osTimerAttr_t *attr)
{
    void *own;
    struct timer *timer =
        function ? rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *timer, &own) : NULL;
    if (timer)
        *timer = (struct timer){.timeout = {.at_us = KERNEL_NEVER, .due = timer_due},
                                .name = attr ? attr->name : NULL,
                                .own = own,
                                .function = function,
                                .argument = argument,
                                .period_ticks = type == osTimerPeriodic};
    return timer;
}

const char *osTimerGetName(osTimerId_t id) { return id ? ((struct timer *)id)->name : NULL; }

osStatus_t osTimerStart(osTimerId_t id, uint32_t ticks)
{
    struct timer *timer = id;
    if (!timer || !ticks)
        return osErrorParameter;
    const uint32_t state = arch_interrupts_off();
    stop(timer);
    timer->running = true;
    if (timer->period_ticks)
        timer->period_ticks = ticks;
    timer->next_us = rtos2_deadline(ticks);
    timeout_start(&timer->timeout, timer->next_us);
    arch_interrupts_restore(state);
    return osOK;
}

osStatus_t osTimerStop(osTimerId_t id)
{
    struct timer *timer = id;
    if (!timer)
        return osErrorParameter;
    const uint32_t state = arch_interrupts_off();
    const bool running = timer->running;
    stop(timer);
    arch_interrupts_restore(state);
    return running ? osOK : osErrorResource;
}

uint32_t osTimerIsRunning(osTimerId_t id) { return id && ((struct timer *)id)->running; }

osStatus_t osTimerDelete(osTimerId_t id)
{
    struct timer *timer = id;
    if (!timer)
        return osErrorParameter;
    (void)osTimerStop(timer);
    rtos2_free(timer->own);
    return osOK;
}
