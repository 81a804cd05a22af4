// SPDX-License-Identifier: BSD-2-Clause
// Threads, and their flags. A detached thread's memory is freed when the next one is made, since it cannot free what it
// stands on.
#include "internal.h"

static struct rtos2_thread *threads;  // all that have not been freed

static struct rtos2_thread *of(osThreadId_t id) { return id; }

static void release(struct rtos2_thread *thread)
{
    struct rtos2_thread **at = &threads;
    const uint32_t state = arch_interrupts_off();
    while (*at && *at != thread)
        at = &(*at)->next;
    if (*at)
        *at = thread->next;
    arch_interrupts_restore(state);
    rtos2_free(thread->own_stack);
    rtos2_free(thread->own_block);
}

static void sweep(void)
{
    for (struct rtos2_thread *thread = threads, *next; thread; thread = next) {
        next = thread->next;
        if (thread->thread.dead && !thread->joinable)
            release(thread);
    }
}

static void begin(void *context)
{
    const struct rtos2_thread *self = context;
    self->function(self->argument);
}

osThreadId_t osThreadNew(osThreadFunc_t function, void *argument, const osThreadAttr_t *attr)
{
    static const osThreadAttr_t none;
    const osThreadAttr_t *with = attr ? attr : &none;
    const uint32_t stack_bytes = with->stack_size ? with->stack_size : RTOS2_STACK_BYTES;
    const osPriority_t priority = with->priority ? with->priority : osPriorityNormal;
    void *own_block;
    if (!function || priority < osPriorityIdle || priority > osPriorityISR || (with->stack_mem && !with->stack_size))
        return NULL;
    sweep();
    struct rtos2_thread *thread = rtos2_block(with->cb_mem, with->cb_size, sizeof *thread, &own_block);
    void *own_stack = thread && !with->stack_mem ? rtos2_alloc(stack_bytes) : NULL;
    void *stack = with->stack_mem ? with->stack_mem : own_stack;
    if (!thread || !stack) {
        rtos2_free(own_block);
        return NULL;
    }
    *thread = (struct rtos2_thread){.function = function,
                                    .argument = argument,
                                    .own_block = own_block,
                                    .own_stack = own_stack,
                                    .joinable = (with->attr_bits & osThreadJoinable) != 0};
    const uint32_t state = arch_interrupts_off();
    const bool good = thread_create(&thread->thread, &(struct thread_config){with->name, begin, thread, stack,
                                                                             stack_bytes & ~7u, (uint8_t)priority});
    if (good) {
        thread->next = threads;
        threads = thread;
    }
    arch_interrupts_restore(state);
    if (good)
        return thread;
    rtos2_free(own_stack);
    rtos2_free(own_block);
    return NULL;
}

const char *osThreadGetName(osThreadId_t thread) { return thread ? of(thread)->thread.name : NULL; }
osThreadId_t osThreadGetId(void) { return thread_self(); }

osThreadState_t osThreadGetState(osThreadId_t thread)
{
    if (!thread)
        return osThreadError;
    if (of(thread)->thread.dead)
        return osThreadTerminated;
    if (thread_self() == thread)
        return osThreadRunning;
    return of(thread)->thread.blocked ? osThreadBlocked : osThreadReady;
}

osStatus_t osThreadSetPriority(osThreadId_t thread, osPriority_t priority)
{
    if (!thread || priority < osPriorityIdle || priority > osPriorityISR)
        return osErrorParameter;
    if (of(thread)->thread.dead)
        return osErrorResource;
    thread_set_priority(thread, (uint8_t)priority);
    return osOK;
}

osPriority_t osThreadGetPriority(osThreadId_t thread)
{
    return thread ? (osPriority_t)of(thread)->thread.own_priority : osPriorityError;
}

osStatus_t osThreadYield(void)
{
    thread_yield();
    return osOK;
}

// Nobody else may run while the caller has the scheduler locked: it cannot stop itself.
osStatus_t osThreadSuspend(osThreadId_t thread)
{
    if (!thread)
        return osErrorParameter;
    if (thread == thread_self() && osKernelGetState() != osKernelRunning)
        return osErrorResource;
    return thread_suspend(thread) ? osOK : osErrorResource;
}

osStatus_t osThreadResume(osThreadId_t thread)
{
    if (!thread)
        return osErrorParameter;
    return thread_resume(thread) ? osOK : osErrorResource;
}

osStatus_t osThreadDetach(osThreadId_t thread)
{
    if (!thread)
        return osErrorParameter;
    if (!of(thread)->joinable)
        return osErrorResource;
    of(thread)->joinable = false;
    return osOK;
}

osStatus_t osThreadJoin(osThreadId_t thread)
{
    if (!thread)
        return osErrorParameter;
    if (!of(thread)->joinable || of(thread)->joined || thread == thread_self())
        return osErrorResource;
    of(thread)->joined = true;
    (void)thread_join(thread, KERNEL_NEVER);
    release(thread);
    return osOK;
}

void osThreadExit(void) { thread_exit(); }

osStatus_t osThreadTerminate(osThreadId_t thread)
{
    if (!thread)
        return osErrorParameter;
    if (of(thread)->thread.dead)
        return osErrorResource;
    thread_delete(thread);
    return osOK;
}

uint32_t osThreadGetStackSize(osThreadId_t thread) { return thread ? (uint32_t)of(thread)->thread.stack_bytes : 0; }
uint32_t osThreadGetStackSpace(osThreadId_t thread) { return thread ? (uint32_t)thread_stack_unused(thread) : 0; }

uint32_t osThreadEnumerate(osThreadId_t *list, uint32_t most)
{
    uint32_t count = 0;
    const uint32_t state = arch_interrupts_off();
    for (struct rtos2_thread *thread = threads; thread && count < most; thread = thread->next)
        if (!thread->thread.dead) {
            if (list)
                list[count] = thread;
            count++;
        }
    arch_interrupts_restore(state);
    return count;
}

uint32_t osThreadGetCount(void) { return osThreadEnumerate(NULL, UINT32_MAX); }

// --- flags -----------------------------------------------------------------------------------------------------------
uint32_t rtos2_flags_set(uint32_t *flags, struct wait_queue *waiting, uint32_t set)
{
    const uint32_t state = arch_interrupts_off();
    *flags |= set;
    const uint32_t after = *flags;
    wait_queue_wake(waiting, NULL);
    arch_interrupts_restore(state);
    return after;
}

// Returns what the flags were before those it waited for were taken.
uint32_t rtos2_flags_wait(uint32_t *flags, struct wait_queue *waiting, uint32_t wanted, uint32_t options,
                          uint32_t ticks)
{
    const uint64_t deadline_us = rtos2_deadline(ticks);
    const uint32_t state = arch_interrupts_off();
    uint32_t result = osFlagsErrorTimeout;
    if (!ticks)
        result = osFlagsErrorResource;
    for (int woken = KERNEL_WOKEN;;) {
        const uint32_t there = *flags & wanted;
        if (options & osFlagsWaitAll ? there == wanted : there != 0) {
            result = *flags;
            if (!(options & osFlagsNoClear))
                *flags &= ~wanted;
            break;
        }
        if (woken != KERNEL_WOKEN)
            break;
        woken = wait_queue_sleep(waiting, NULL, NULL, deadline_us);
    }
    arch_interrupts_restore(state);
    return result;
}

uint32_t osThreadFlagsSet(osThreadId_t thread, uint32_t flags)
{
    if (!thread || flags & osFlagsError)
        return osFlagsErrorParameter;
    return rtos2_flags_set(&of(thread)->flags, &of(thread)->flags_waiting, flags);
}

uint32_t osThreadFlagsClear(uint32_t flags)
{
    struct rtos2_thread *self = osThreadGetId();
    if (flags & osFlagsError)
        return osFlagsErrorParameter;
    const uint32_t state = arch_interrupts_off();
    const uint32_t before = self->flags;
    self->flags &= ~flags;
    arch_interrupts_restore(state);
    return before;
}

uint32_t osThreadFlagsGet(void) { return of(osThreadGetId())->flags; }

uint32_t osThreadFlagsWait(uint32_t flags, uint32_t options, uint32_t timeout)
{
    struct rtos2_thread *self = osThreadGetId();
    if (flags & osFlagsError)
        return osFlagsErrorParameter;
    return rtos2_flags_wait(&self->flags, &self->flags_waiting, flags, options, timeout);
}
