// SPDX-License-Identifier: BSD-2-Clause
// CMSIS-RTOS2 over the preemptive kernel in virtual time. Each test runs in a process of its own, as a kernel starts
// once; what it finds wrong it tells by its line. On a board: examples/firmware/rtos2_test.c.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "api/cmsis_rtos2/internal.h"
#include "checks.h"
#include "virtual_kernel.h"

#define TICK_US UINT64_C(1000)

const struct kernel_board rtos2_board = VIRTUAL_BOARD;

static void say_it(void *letter) { say((char)(intptr_t)letter); }
// What was said since the last look.
static bool said(const char *text)
{
    const bool same = strcmp(trace, text) == 0;
    memset(trace, 0, sizeof trace);
    return same;
}

static osThreadId_t thread_new(osThreadFunc_t function, intptr_t argument, osPriority_t priority, uint32_t bits)
{
    return osThreadNew(function, (void *)argument,
                       &(osThreadAttr_t){.name = "test", .attr_bits = bits, .priority = priority});
}
static void sleeps(void *unused)
{
    (void)unused;
    (void)osDelay(osWaitForever);
}

// A child ends on a thread's stack, where the sanitizer does not see what the process's own stack points at.
static bool is_child;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return is_child; }

static osThreadFunc_t scenario;
static void begin(void *unused)
{
    scenario(unused);
    exit(failures ? 1 : 0);
}

static void in_a_kernel(void **state, osThreadFunc_t what)
{
    int status;
    (void)state;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        is_child = true;
        scenario = what;
        virtual_alarm(KERNEL_NEVER);
        CHECK(osKernelGetState() == osKernelInactive && osKernelStart() == osError);
        CHECK(osKernelInitialize() == osOK && osKernelInitialize() == osError && osKernelGetState() == osKernelReady);
        CHECK(osKernelLock() == osError);  // nothing runs yet
        CHECK(osThreadNew(begin, NULL, NULL) != NULL);
        (void)osKernelStart();
        exit(1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

// --- the kernel ------------------------------------------------------------------------------------------------------

static void kernel_calls(void *unused)
{
    osVersion_t version;
    char id[32], cut[5];
    (void)unused;
    CHECK(osKernelGetInfo(&version, id, sizeof id) == osOK && strcmp(id, "Weir preemptive") == 0);
    CHECK(version.api / 10000000 == 2 && osKernelGetInfo(NULL, cut, sizeof cut) == osOK && strcmp(cut, "Weir") == 0);
    CHECK(osKernelGetInfo(NULL, NULL, 0) == osOK && osKernelStart() == osError && osKernelInitialize() == osError);
    CHECK(osKernelGetTickFreq() == 1000 && osKernelGetSysTimerFreq() == 1000000);
    CHECK(osKernelGetTickCount() == now_us / 1000 && osKernelGetSysTimerCount() == (uint32_t)now_us);
    CHECK(osKernelGetState() == osKernelRunning && osKernelUnlock() == 0 && osKernelLock() == 0);
    thread_new(say_it, 'r', osPriorityRealtime, 0);
    CHECK(said("") && osKernelGetState() == osKernelLocked && osKernelLock() == 1);
    CHECK(osKernelRestoreLock(1) == 1 && osKernelRestoreLock(0) == 0 && said("r"));
    CHECK(osKernelGetState() == osKernelRunning);
}

static void suspended_for(void *unused)
{
    (void)unused;
    const osTimerId_t timer = osTimerNew(say_it, osTimerOnce, (void *)(intptr_t)'t', NULL);
    CHECK(osKernelSuspend() == osWaitForever);  // nothing is due
    osKernelResume(0);
    CHECK(osTimerStart(timer, 20) == osOK && osKernelSuspend() == 20 && osKernelGetState() == osKernelSuspended);
    CHECK(osKernelSuspend() == 0 && osKernelLock() == osError && osKernelUnlock() == osError);
    CHECK(osKernelRestoreLock(0) == osError);
    thread_new(say_it, 'r', osPriorityRealtime, 0);
    compute(25 * TICK_US);
    CHECK(said(""));
    osKernelResume(25);
    CHECK(said("rt") && osKernelGetState() == osKernelRunning);
    osKernelResume(1);  // nothing to resume
    CHECK(osKernelLock() == 0 && osKernelSuspend() == 0 && osKernelUnlock() == 1);
    CHECK(osTimerStart(timer, 1) == osOK);
    now_us += 5 * TICK_US;  // late: it is due already
    CHECK(osKernelSuspend() == 0);
    osKernelResume(0);
    compute(1 * TICK_US);
    CHECK(said("t") && osTimerDelete(timer) == osOK);
}

static void delays(void *unused)
{
    (void)unused;
    uint64_t from_us = now_us;
    CHECK(osDelay(20) == osOK && now_us - from_us == 20 * TICK_US);
    CHECK(osDelayUntil(osKernelGetTickCount() + 10) == osOK &&
          osDelayUntil(osKernelGetTickCount()) == osErrorParameter);
    CHECK(osDelayUntil(osKernelGetTickCount() - 1) == osErrorParameter);
    now_us = UINT64_C(0xffffffff) * TICK_US + 500;  // ticks wrap while it sleeps
    from_us = now_us;
    CHECK(osDelayUntil(3) == osOK && now_us - from_us == 4 * TICK_US - 500 && osKernelGetTickCount() == 3);
}

// --- threads ---------------------------------------------------------------------------------------------------------

static void yields(void *letter)
{
    say_it(letter);
    CHECK(osThreadYield() == osOK);
    say_it(letter);
    osThreadExit();
}

static void thread_calls(void *unused)
{
    (void)unused;
    const osThreadId_t high = thread_new(say_it, 'h', osPriorityAboveNormal, osThreadJoinable);  // runs at once
    say('m');
    const osThreadId_t low = thread_new(say_it, 'l', osPriorityLow, osThreadJoinable);
    say('n');
    CHECK(osThreadGetState(high) == osThreadTerminated && osThreadGetState(low) == osThreadReady);
    CHECK(osThreadGetState(osThreadGetId()) == osThreadRunning && osThreadGetState(NULL) == osThreadError);
    CHECK(osThreadJoin(low) == osOK && osThreadJoin(high) == osOK && said("hmnl"));
    thread_new(yields, 'a', osPriorityLow, 0);
    thread_new(yields, 'b', osPriorityLow, 0);
    CHECK(osDelay(1) == osOK && said("abab"));
    const osThreadId_t other = thread_new(sleeps, 0, osPriorityHigh, osThreadJoinable);
    CHECK(osThreadGetState(other) == osThreadBlocked && strcmp(osThreadGetName(other), "test") == 0);
    CHECK(osThreadSetPriority(other, osPriorityLow + 3) == osOK && osThreadGetPriority(other) == osPriorityLow + 3);
    CHECK(osThreadSetPriority(other, osPriorityISR + 1) == osErrorParameter);
    CHECK(osThreadSetPriority(other, osPriorityNone) == osErrorParameter && osThreadSetPriority(NULL, 8) < 0);
    CHECK(osThreadGetStackSize(other) == RTOS2_STACK_BYTES && osThreadGetStackSpace(other) > 0 &&
          osThreadGetStackSpace(other) < RTOS2_STACK_BYTES);
    CHECK(osThreadJoin(osThreadGetId()) == osErrorResource);  // it is detached
    const uint32_t count = osThreadGetCount();
    osThreadId_t list[8] = {NULL};
    CHECK(osThreadEnumerate(list, 8) == count && osThreadEnumerate(list, 1) == 1 && list[0] == other);
    CHECK(osThreadTerminate(other) == osOK && osThreadTerminate(other) == osErrorResource);
    CHECK(osThreadGetCount() == count - 1 && osThreadSetPriority(other, osPriorityLow) == osErrorResource);
    CHECK(osThreadJoin(other) == osOK);
}

static void nobody(void *unused)
{
    (void)unused;
    CHECK(osThreadGetName(NULL) == NULL && osThreadGetPriority(NULL) == osPriorityError);
    CHECK(osThreadSuspend(NULL) == osErrorParameter && osThreadResume(NULL) == osErrorParameter);
    CHECK(osThreadDetach(NULL) == osErrorParameter && osThreadJoin(NULL) == osErrorParameter);
    CHECK(osThreadTerminate(NULL) == osErrorParameter && osThreadGetStackSize(NULL) == 0);
    CHECK(osThreadGetStackSpace(NULL) == 0 && osThreadFlagsSet(NULL, 1) == osFlagsErrorParameter);
    CHECK(osEventFlagsGetName(NULL) == NULL && osEventFlagsSet(NULL, 1) == osFlagsErrorParameter);
    CHECK(osEventFlagsClear(NULL, 1) == osFlagsErrorParameter && osEventFlagsGet(NULL) == 0);
    CHECK(osEventFlagsWait(NULL, 1, 0, 0) == osFlagsErrorParameter && osEventFlagsDelete(NULL) == osErrorParameter);
    CHECK(osMutexGetName(NULL) == NULL && osMutexAcquire(NULL, 0) == osErrorParameter && !osMutexGetOwner(NULL));
    CHECK(osMutexRelease(NULL) == osErrorParameter && osMutexDelete(NULL) == osErrorParameter);
    CHECK(osSemaphoreGetName(NULL) == NULL && osSemaphoreAcquire(NULL, 0) == osErrorParameter);
    CHECK(osSemaphoreRelease(NULL) == osErrorParameter && osSemaphoreGetCount(NULL) == 0);
    CHECK(osSemaphoreDelete(NULL) == osErrorParameter && osTimerGetName(NULL) == NULL);
    CHECK(osTimerStart(NULL, 1) == osErrorParameter && osTimerStop(NULL) == osErrorParameter);
    CHECK(!osTimerIsRunning(NULL) && osTimerDelete(NULL) == osErrorParameter);
    CHECK(osMemoryPoolGetName(NULL) == NULL && !osMemoryPoolAlloc(NULL, 0) && osMemoryPoolFree(NULL, NULL) < 0);
    CHECK(osMemoryPoolGetCapacity(NULL) == 0 && osMemoryPoolGetBlockSize(NULL) == 0 && !osMemoryPoolGetSpace(NULL));
    CHECK(osMemoryPoolDelete(NULL) == osErrorParameter && osMessageQueueGetName(NULL) == NULL);
    CHECK(osMessageQueuePut(NULL, "", 0, 0) == osErrorParameter && osMessageQueueReset(NULL) == osErrorParameter);
    CHECK(osMessageQueueGet(NULL, NULL, NULL, 0) == osErrorParameter && osMessageQueueGetCapacity(NULL) == 0);
    CHECK(osMessageQueueGetMsgSize(NULL) == 0 && osMessageQueueGetCount(NULL) == 0);
    CHECK(osMessageQueueGetSpace(NULL) == 0 && osMessageQueueDelete(NULL) == osErrorParameter);
}

// What cannot be made leaves nothing behind, and what ended is given back.
static void memory_ends(void *unused)
{
    static uint64_t small[2], stack[RTOS2_STACK_BYTES / 8];
    static struct rtos2_thread block;
    (void)unused;
    CHECK(!osThreadNew(NULL, NULL, NULL) && !thread_new(sleeps, 0, osPriorityISR + 1, 0));
    CHECK(!osThreadNew(sleeps, NULL, &(osThreadAttr_t){.stack_mem = stack}));
    CHECK(!osThreadNew(sleeps, NULL, &(osThreadAttr_t){.cb_mem = small, .cb_size = sizeof small}));
    CHECK(!osThreadNew(sleeps, NULL, &(osThreadAttr_t){.stack_size = RTOS2_POOL_BYTES}));
    CHECK(!osThreadNew(sleeps, NULL, &(osThreadAttr_t){.stack_size = 64}));  // too small for any frame
    const osThreadId_t own = osThreadNew(say_it, (void *)(intptr_t)'o',
                                         &(osThreadAttr_t){.cb_mem = &block,
                                                           .cb_size = sizeof block,
                                                           .stack_mem = stack,
                                                           .stack_size = sizeof stack,
                                                           .priority = osPriorityHigh});
    CHECK(own == &block && said("o"));
    for (int i = 0; i < 200; i++)
        CHECK(thread_new(say_it, 'x', osPriorityHigh, 0) != NULL);
    CHECK(!osMemoryPoolNew(8, RTOS2_POOL_BYTES / 8, NULL) &&
          !osMessageQueueNew(8, 65528, NULL) == (8 * 65528u > RTOS2_POOL_BYTES));
    uint32_t made = 0;
    while (made < 100 && osThreadNew(sleeps, NULL, NULL))
        made++;
    CHECK(made > 3 && made < 100);
    while (osEventFlagsNew(NULL))
        ;
    CHECK(!osMutexNew(NULL) && !osSemaphoreNew(1, 1, NULL) && !osTimerNew(say_it, osTimerOnce, NULL, NULL));
    CHECK(!osMemoryPoolNew(1, 8, NULL) && !osMessageQueueNew(1, 8, NULL) && !osThreadNew(sleeps, NULL, NULL));
}

static void joins(void *thread)
{
    CHECK(osThreadJoin((osThreadId_t)thread) == osOK);
    say('j');
}

static void joining(void *unused)
{
    (void)unused;
    const osThreadId_t other = thread_new(sleeps, 0, osPriorityHigh, osThreadJoinable);
    thread_new(joins, (intptr_t)other, osPriorityHigh, 0);
    CHECK(osThreadJoin(other) == osErrorResource && said(""));  // one has joined it
    CHECK(osThreadTerminate(other) == osOK && said("j"));
    const osThreadId_t detached = thread_new(sleeps, 0, osPriorityHigh, osThreadJoinable);
    CHECK(osThreadDetach(detached) == osOK && osThreadDetach(detached) == osErrorResource);
    CHECK(osThreadJoin(detached) == osErrorResource && osThreadTerminate(detached) == osOK);
}

static osSemaphoreId_t semaphore;
static void suspends_itself(void *unused)
{
    (void)unused;
    say('a');
    CHECK(osThreadSuspend(osThreadGetId()) == osOK);
    say('b');
    CHECK(osSemaphoreAcquire(semaphore, osWaitForever) == osErrorTimeout);  // its wait ends with the suspension
    say('c');
}

static void suspension(void *unused)
{
    (void)unused;
    semaphore = osSemaphoreNew(1, 0, NULL);
    const osThreadId_t other = thread_new(suspends_itself, 0, osPriorityHigh, osThreadJoinable);
    CHECK(said("a") && osThreadGetState(other) == osThreadBlocked && osThreadResume(other) == osOK && said("b"));
    CHECK(osThreadSuspend(other) == osOK && osSemaphoreRelease(semaphore) == osOK && said(""));
    CHECK(osSemaphoreAcquire(semaphore, 0) == osOK && osThreadResume(other) == osOK && said("c"));
    CHECK(osThreadResume(other) == osErrorResource && osThreadSuspend(other) == osErrorResource);
    CHECK(osKernelLock() == 0 && osThreadSuspend(osThreadGetId()) == osErrorResource && osKernelUnlock() == 1);
    CHECK(osThreadJoin(other) == osOK && osSemaphoreDelete(semaphore) == osOK);
}

static void waits_for_flags(void *unused)
{
    (void)unused;
    CHECK(osThreadFlagsWait(3, osFlagsWaitAll, 100) == 7 && osThreadFlagsGet() == 4);
    say('f');
    CHECK(osThreadFlagsWait(3, osFlagsWaitAny, 5) == osFlagsErrorTimeout);
    CHECK(osThreadFlagsWait(3, osFlagsWaitAny, 0) == osFlagsErrorResource);
    CHECK(osThreadFlagsWait(12, osFlagsNoClear, 0) == 4 && osThreadFlagsClear(4) == 4 && osThreadFlagsGet() == 0);
    CHECK(osThreadFlagsWait(osFlagsError, 0, 0) == osFlagsErrorParameter);
    CHECK(osThreadFlagsClear(osFlagsError) == osFlagsErrorParameter);
    say('g');
}

static void thread_flags(void *unused)
{
    (void)unused;
    const osThreadId_t waiter = thread_new(waits_for_flags, 0, osPriorityHigh, osThreadJoinable);
    CHECK(osThreadFlagsSet(waiter, 1) == 1 && osThreadFlagsSet(waiter, osFlagsError) == osFlagsErrorParameter);
    CHECK(said("") && (osThreadFlagsSet(waiter, 6), said("f")));
    CHECK(osThreadJoin(waiter) == osOK && said("g"));
}

// --- timers, flags, mutexes, semaphores ------------------------------------------------------------------------------

static void timers(void *unused)
{
    static uint64_t small[2];
    (void)unused;
    CHECK(!osTimerNew(NULL, osTimerOnce, NULL, NULL));
    CHECK(!osTimerNew(say_it, osTimerOnce, NULL, &(osTimerAttr_t){.cb_mem = small, .cb_size = sizeof small}));
    const osTimerId_t once = osTimerNew(say_it, osTimerOnce, (void *)(intptr_t)'o', &(osTimerAttr_t){.name = "once"});
    const osTimerId_t often = osTimerNew(say_it, osTimerPeriodic, (void *)(intptr_t)'p', NULL);
    CHECK(strcmp(osTimerGetName(once), "once") == 0 && osTimerGetName(often) == NULL);
    CHECK(osTimerStart(once, 15) == osOK && osTimerStart(often, 10) == osOK && osTimerStart(once, 0) < 0);
    CHECK(osTimerIsRunning(once) && osDelay(35) == osOK && said("popp") && !osTimerIsRunning(once));
    CHECK(osTimerStop(once) == osErrorResource && osTimerStop(often) == osOK && osDelay(50) == osOK && said(""));
    // While the scheduler is locked both are due, one of them twice; what is stopped by then is not called.
    CHECK(osTimerStart(often, 10) == osOK && osTimerStart(once, 12) == osOK && osKernelLock() == 0);
    compute(25 * TICK_US);
    CHECK(osKernelUnlock() == 1 && said("po"));
    CHECK(osTimerStart(often, 10) == osOK && osTimerStart(once, 12) == osOK && osKernelLock() == 0);
    compute(15 * TICK_US);
    CHECK(osTimerStop(once) == osErrorResource && osKernelUnlock() == 1 && said("p"));
    CHECK(osTimerStart(once, 5) == osOK && osKernelLock() == 0);
    compute(8 * TICK_US);
    CHECK(osTimerStart(once, 5) == osOK && osKernelUnlock() == 1 && osTimerStop(often) == osOK);
    (void)said("");
    CHECK(osDelay(10) == osOK && said("o") && osTimerDelete(once) == osOK && osTimerDelete(often) == osOK);
}

static osEventFlagsId_t events;
static void waits_any(void *letter)
{
    CHECK(osEventFlagsWait(events, 6, osFlagsWaitAny, osWaitForever) == 5);
    say_it(letter);
}

static void event_flags(void *unused)
{
    (void)unused;
    events = osEventFlagsNew(&(osEventFlagsAttr_t){.name = "events"});
    thread_new(waits_any, 'a', osPriorityHigh, 0);
    CHECK(strcmp(osEventFlagsGetName(events), "events") == 0 && osEventFlagsDelete(events) == osErrorResource);
    CHECK(osEventFlagsSet(events, 1) == 1 && said("") && osEventFlagsGet(events) == 1);
    CHECK(osEventFlagsSet(events, 4) == 5 && said("a") && osEventFlagsGet(events) == 1);
    CHECK(osEventFlagsSet(events, osFlagsError) == osFlagsErrorParameter && osEventFlagsClear(events, 1) == 1);
    CHECK(osEventFlagsClear(events, osFlagsError) == osFlagsErrorParameter);
    CHECK(osEventFlagsWait(events, osFlagsError, 0, 0) == osFlagsErrorParameter);
    CHECK(osEventFlagsWait(events, 1, osFlagsWaitAll, 3) == osFlagsErrorTimeout && osEventFlagsDelete(events) == osOK);
}

static osMutexId_t mutex;
static void locks(void *letter)
{
    CHECK(osMutexRelease(mutex) == osErrorResource);  // another's
    CHECK(osMutexAcquire(mutex, 0) == osErrorResource && osMutexAcquire(mutex, 3) == osErrorTimeout);
    CHECK(osMutexAcquire(mutex, osWaitForever) == osOK);
    say_it(letter);
    CHECK(osMutexRelease(mutex) == osOK);
}

static void mutexes(void *unused)
{
    (void)unused;
    mutex = osMutexNew(&(osMutexAttr_t){.name = "m", .attr_bits = osMutexRecursive | osMutexPrioInherit});
    CHECK(strcmp(osMutexGetName(mutex), "m") == 0 && !osMutexGetOwner(mutex));
    CHECK(osMutexAcquire(mutex, 0) == osOK && osMutexAcquire(mutex, 0) == osOK);
    CHECK(osMutexGetOwner(mutex) == osThreadGetId());
    thread_new(locks, 'h', osPriorityHigh, 0);
    CHECK(osDelay(10) == osOK);
    thread_new(say_it, 'n', osPriorityAboveNormal, 0);  // this thread has inherited more
    CHECK(said("") && osMutexRelease(mutex) == osOK && said(""));
    CHECK(osMutexRelease(mutex) == osOK && said("hn") && osMutexRelease(mutex) == osErrorResource);
    CHECK(osMutexDelete(mutex) == osOK);
    mutex = osMutexNew(NULL);
    CHECK(osMutexAcquire(mutex, 0) == osOK && osMutexAcquire(mutex, 0) == osErrorResource);
    CHECK(osMutexDelete(mutex) == osErrorResource && osMutexRelease(mutex) == osOK && osMutexDelete(mutex) == osOK);
}

static void takes(void *letter)
{
    CHECK(osSemaphoreAcquire(semaphore, 200) == osOK);
    say_it(letter);
}

static void semaphores(void *unused)
{
    (void)unused;
    CHECK(!osSemaphoreNew(1, 2, NULL) && !osSemaphoreNew(0, 0, NULL));
    semaphore = osSemaphoreNew(2, 1, &(osSemaphoreAttr_t){.name = "s"});
    CHECK(strcmp(osSemaphoreGetName(semaphore), "s") == 0 && osSemaphoreGetCount(semaphore) == 1);
    CHECK(osSemaphoreAcquire(semaphore, 0) == osOK && osSemaphoreAcquire(semaphore, 0) == osErrorResource);
    CHECK(osSemaphoreAcquire(semaphore, 5) == osErrorTimeout);
    thread_new(takes, 'l', osPriorityAboveNormal, 0);
    thread_new(takes, 'h', osPriorityHigh, 0);
    CHECK(osSemaphoreDelete(semaphore) == osErrorResource && osSemaphoreRelease(semaphore) == osOK && said("h"));
    CHECK(osSemaphoreRelease(semaphore) == osOK && said("l") && osSemaphoreGetCount(semaphore) == 0);
    CHECK(osSemaphoreRelease(semaphore) == osOK && osSemaphoreRelease(semaphore) == osOK);
    CHECK(osSemaphoreRelease(semaphore) == osErrorResource && osSemaphoreDelete(semaphore) == osOK);
}

// --- pools and queues ------------------------------------------------------------------------------------------------

static osMemoryPoolId_t pool;
static void takes_block(void *letter)
{
    CHECK(osMemoryPoolAlloc(pool, osWaitForever) != NULL);
    say_it(letter);
}

static void pools(void *unused)
{
    static uint64_t room[4];
    const osMemoryPoolAttr_t own = {.name = "pool", .mp_mem = room, .mp_size = sizeof room};
    const osMemoryPoolAttr_t small = {.mp_mem = room, .mp_size = 8};
    (void)unused;
    CHECK(!osMemoryPoolNew(0, 8, NULL) && !osMemoryPoolNew(1, 0, NULL) && !osMemoryPoolNew(1, 65536, NULL));
    CHECK(!osMemoryPoolNew(65536, 1, NULL) && !osMemoryPoolNew(2, 12, &small));
    pool = osMemoryPoolNew(2, 12, &own);
    CHECK(strcmp(osMemoryPoolGetName(pool), "pool") == 0 && osMemoryPoolGetBlockSize(pool) == 12);
    void *const first = osMemoryPoolAlloc(pool, 0), *const second = osMemoryPoolAlloc(pool, 0);
    CHECK(first && second && first != second && !osMemoryPoolAlloc(pool, 0) && !osMemoryPoolAlloc(pool, 3));
    CHECK(osMemoryPoolGetCount(pool) == 2 && osMemoryPoolGetSpace(pool) == 0 && osMemoryPoolGetCapacity(pool) == 2);
    CHECK(osMemoryPoolFree(pool, (char *)first + 1) == osErrorParameter && osMemoryPoolFree(pool, NULL) < 0);
    CHECK(osMemoryPoolFree(pool, room + 4) == osErrorParameter);
    thread_new(takes_block, 'b', osPriorityHigh, 0);
    CHECK(osMemoryPoolDelete(pool) == osErrorResource && osMemoryPoolFree(pool, first) == osOK && said("b"));
    CHECK(osMemoryPoolFree(pool, second) == osOK && osMemoryPoolAlloc(pool, 0) == second);
    CHECK(osMemoryPoolDelete(pool) == osOK);
}

static osMessageQueueId_t queue;
static void receives(void *unused)
{
    uint32_t message = 0;
    uint8_t priority = 0;
    (void)unused;
    while (osMessageQueueGet(queue, &message, &priority, osWaitForever) == osOK && message)
        say((char)message);
    say((char)('0' + priority));
}
static osStatus_t put(uint32_t message, uint8_t priority, uint32_t timeout)
{
    return osMessageQueuePut(queue, &message, priority, timeout);
}

static void queues(void *unused)
{
    static uint64_t room[4];
    const osMessageQueueAttr_t small = {.name = "small", .mq_mem = room, .mq_size = sizeof room};
    uint32_t message;
    (void)unused;
    CHECK(!osMessageQueueNew(0, 4, NULL) && !osMessageQueueNew(1, 0, NULL) && !osMessageQueueNew(65536, 4, NULL));
    CHECK(!osMessageQueueNew(1, 65536, NULL) && !osMessageQueueNew(3, 4, &small));
    queue = osMessageQueueNew(1, 4, &small);
    CHECK(strcmp(osMessageQueueGetName(queue), "small") == 0 && osMessageQueueDelete(queue) == osOK);
    queue = osMessageQueueNew(3, sizeof(uint32_t), NULL);
    CHECK(osMessageQueuePut(queue, NULL, 0, 0) == osErrorParameter);
    CHECK(osMessageQueueGet(queue, NULL, NULL, 0) == osErrorParameter);
    CHECK(osMessageQueueGet(queue, &message, NULL, 0) == osErrorResource);
    CHECK(put('a', 1, 0) == osOK && put('b', 2, 0) == osOK && put('c', 1, 0) == osOK);
    CHECK(put('d', 0, 0) == osErrorResource && put('d', 0, 3) == osErrorTimeout);
    CHECK(osMessageQueueGetCount(queue) == 3 && osMessageQueueGetSpace(queue) == 0);
    CHECK(osMessageQueueGetMsgSize(queue) == 4 && osMessageQueueGetCapacity(queue) == 3);
    const osThreadId_t receiver = thread_new(receives, 0, osPriorityHigh, osThreadJoinable);
    CHECK(said("bac") && put('e', 0, osWaitForever) == osOK && said("e"));
    CHECK(osMessageQueueDelete(queue) == osErrorResource && put(0, 7, 0) == osOK);
    CHECK(osThreadJoin(receiver) == osOK && said("7") && put('x', 0, 0) == osOK);
    CHECK(osMessageQueueReset(queue) == osOK && osMessageQueueGetSpace(queue) == 3);
    CHECK(put('y', 0, 0) == osOK && osMessageQueueGet(queue, &message, NULL, 0) == osOK && message == 'y');
    CHECK(osMessageQueueDelete(queue) == osOK);
}

static void the_kernel_tells_of_itself_and_is_locked(void **state) { in_a_kernel(state, kernel_calls); }
static void a_suspended_kernel_stands_still(void **state) { in_a_kernel(state, suspended_for); }
static void delays_are_of_ticks_that_wrap(void **state) { in_a_kernel(state, delays); }
static void threads_run_by_priority_and_end(void **state) { in_a_kernel(state, thread_calls); }
static void nothing_is_refused_everywhere(void **state) { in_a_kernel(state, nobody); }
static void what_cannot_be_made_is_not_made(void **state) { in_a_kernel(state, memory_ends); }
static void a_thread_is_joined_once(void **state) { in_a_kernel(state, joining); }
static void suspension_ends_a_wait(void **state) { in_a_kernel(state, suspension); }
static void flags_of_a_thread(void **state) { in_a_kernel(state, thread_flags); }
static void timers_are_called_once_for_all_that_is_due(void **state) { in_a_kernel(state, timers); }
static void event_flags_are_waited_for(void **state) { in_a_kernel(state, event_flags); }
static void mutexes_inherit_and_recurse(void **state) { in_a_kernel(state, mutexes); }
static void semaphores_have_a_limit(void **state) { in_a_kernel(state, semaphores); }
static void pools_know_their_blocks(void **state) { in_a_kernel(state, pools); }
static void queues_are_by_priority(void **state) { in_a_kernel(state, queues); }

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_tells_of_itself_and_is_locked),
        cmocka_unit_test(a_suspended_kernel_stands_still),
        cmocka_unit_test(delays_are_of_ticks_that_wrap),
        cmocka_unit_test(threads_run_by_priority_and_end),
        cmocka_unit_test(nothing_is_refused_everywhere),
        cmocka_unit_test(what_cannot_be_made_is_not_made),
        cmocka_unit_test(a_thread_is_joined_once),
        cmocka_unit_test(suspension_ends_a_wait),
        cmocka_unit_test(flags_of_a_thread),
        cmocka_unit_test(timers_are_called_once_for_all_that_is_due),
        cmocka_unit_test(event_flags_are_waited_for),
        cmocka_unit_test(mutexes_inherit_and_recurse),
        cmocka_unit_test(semaphores_have_a_limit),
        cmocka_unit_test(pools_know_their_blocks),
        cmocka_unit_test(queues_are_by_priority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
