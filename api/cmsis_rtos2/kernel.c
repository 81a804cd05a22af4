// SPDX-License-Identifier: BSD-2-Clause
// The kernel as a whole, memory, and time.
#include "internal.h"
#include "kernel/preempt/kmem.h"

#include <string.h>

#define MOST_URGENT 255  // of whoever has the scheduler locked

static uint64_t memory[RTOS2_POOL_BYTES / 8];
static struct kmem pool;
static osKernelState_t state;
static struct thread *locker;
static uint8_t locker_priority;
static bool suspended;  // the lock is osKernelSuspend's

osStatus_t osKernelInitialize(void)
{
    if (state != osKernelInactive)
        return osError;
    kmem_init(&pool, memory, sizeof memory);
    if (!kernel_init(&rtos2_board) || !rtos2_timers_start())
        return osErrorNoMemory;
    state = osKernelReady;
    return osOK;
}

osStatus_t osKernelGetInfo(osVersion_t *version, char *id, uint32_t bytes)
{
    static const char name[] = "Weir preemptive";
    if (version)
        *version = (osVersion_t){20010003, 10000000};  // 2.1.3, 1.0.0
    for (uint32_t i = 0; id && i < bytes && i < sizeof name; i++)
        id[i] = i + 1 == bytes ? 0 : name[i];
    return osOK;
}

osKernelState_t osKernelGetState(void)
{
    return state != osKernelRunning || !locker ? state : suspended ? osKernelSuspended : osKernelLocked;
}

osStatus_t osKernelStart(void)
{
    if (state != osKernelReady)
        return osError;
    state = osKernelRunning;
    kernel_start();
}

// Nobody is as urgent as who holds it.
int32_t osKernelRestoreLock(int32_t lock)
{
    if (state != osKernelRunning || suspended || (locker && locker != thread_self()))
        return osError;
    if (lock && !locker) {
        locker_priority = thread_self()->own_priority;
        locker = thread_self();
        thread_set_priority(locker, MOST_URGENT);
    } else if (!lock && locker) {
        locker = NULL;
        thread_set_priority(thread_self(), locker_priority);
    }
    return lock;
}

int32_t osKernelLock(void)
{
    const int32_t before = locker != NULL, result = osKernelRestoreLock(1);
    return result < 0 ? result : before;
}

int32_t osKernelUnlock(void)
{
    const int32_t before = locker != NULL, result = osKernelRestoreLock(0);
    return result < 0 ? result : before;
}

// No thread runs but the caller, which may put the processor to sleep for the ticks returned: until a timer or a thread
// is due. 0: it is now, or the scheduler is locked.
uint32_t osKernelSuspend(void)
{
    if (osKernelGetState() != osKernelRunning || osKernelLock() != 0)
        return 0;
    suspended = true;
    const uint64_t due_us = timeout_next(), now_us = rtos2_board.now_us();
    if (due_us == KERNEL_NEVER)
        return osWaitForever;
    const uint64_t ticks = due_us > now_us ? (due_us - now_us) / RTOS2_TICK_US : 0;
    return ticks < osWaitForever ? (uint32_t)ticks : osWaitForever - 1;
}

void osKernelResume(uint32_t ticks)
{
    (void)ticks;
    if (!suspended || locker != thread_self())
        return;
    suspended = false;
    (void)osKernelUnlock();
}

uint32_t osKernelGetTickCount(void) { return (uint32_t)(rtos2_board.now_us() / RTOS2_TICK_US); }
uint32_t osKernelGetTickFreq(void) { return 1000000 / RTOS2_TICK_US; }
uint32_t osKernelGetSysTimerCount(void) { return (uint32_t)rtos2_board.now_us(); }
uint32_t osKernelGetSysTimerFreq(void) { return 1000000; }

// At least so long: the tick that runs already does not count.
uint64_t rtos2_deadline(uint32_t ticks)
{
    return ticks == osWaitForever ? KERNEL_NEVER : ticks ? rtos2_board.now_us() + (uint64_t)ticks * RTOS2_TICK_US : 0;
}

osStatus_t osDelay(uint32_t ticks)
{
    (void)thread_sleep_until(rtos2_deadline(ticks == osWaitForever ? ticks - 1 : ticks));
    return osOK;
}

// Ticks count on modulo 2^32; what lies more than half of that ahead has passed.
osStatus_t osDelayUntil(uint32_t ticks)
{
    const uint32_t ahead = ticks - osKernelGetTickCount();
    if (!ahead || ahead > INT32_MAX)
        return osErrorParameter;
    (void)thread_sleep_until((rtos2_board.now_us() / RTOS2_TICK_US + ahead) * RTOS2_TICK_US);
    return osOK;
}

void *rtos2_alloc(size_t bytes) { return kmem_alloc(&pool, bytes); }
void rtos2_free(void *freed) { kmem_free(&pool, freed); }

void *rtos2_block(void *given, uint32_t given_bytes, size_t bytes, void **own)
{
    void *block = given ? given_bytes >= bytes ? given : NULL : rtos2_alloc(bytes);
    *own = given ? NULL : block;
    if (block)
        memset(block, 0, bytes);
    return block;
}
