// SPDX-License-Identifier: BSD-2-Clause
// What CMSIS-RTOS2 promises, tried on a board: each line that fails is told on the console, and at the end how many
// there were (tests/firmware/test_rtos2.py).
#include "apps/text.h"
#include "cmsis_os2.h"
#include "rtos2_board.h"

void board_interrupt(void) {}

static uint32_t checks, failures;
static void check(int good, uint32_t line)
{
    char text[40];
    struct text out;
    checks++;
    if (good)
        return;
    failures++;
    text_init(&out, text, sizeof text);
    text_put(&out, "rtos2: line ");
    text_u64(&out, line);
    text_put(&out, " failed\n");
    board_puts(text);
}
#define CHECK(condition) check((condition) != 0, __LINE__)

static char trace[64];
static uint32_t trace_length;
static void say(char letter)
{
    if (trace_length < sizeof trace - 1)
        trace[trace_length++] = letter;
}
static int said(const char *text)
{
    uint32_t i = 0;
    while (text[i] && i < trace_length && text[i] == trace[i])
        i++;
    const int same = !text[i] && i == trace_length;
    trace_length = 0;
    return same;
}

static osThreadId_t spawn(osThreadFunc_t function, const char *argument, osPriority_t priority, uint32_t bits)
{
    const osThreadAttr_t attributes = {.name = "test", .attr_bits = bits, .priority = priority};
    return osThreadNew(function, (void *)(uintptr_t)argument, &attributes);
}

// --- threads ---------------------------------------------------------------------------------------------------------
static void say_it(void *letters) { say(*(const char *)letters); }
static void yields(void *letters)
{
    for (int i = 0; i < 2; i++) {
        say(*(const char *)letters);
        osThreadYield();
    }
}
static void sleeps(void *unused)
{
    (void)unused;
    osDelay(osWaitForever);
}

static void threads(void)
{
    const osThreadId_t high = spawn(say_it, "h", osPriorityAboveNormal, osThreadJoinable);  // runs at once
    say('m');
    const osThreadId_t low = spawn(say_it, "l", osPriorityLow, osThreadJoinable);
    say('n');
    CHECK(osThreadGetState(high) == osThreadTerminated && osThreadGetState(low) == osThreadReady);
    CHECK(osThreadJoin(low) == osOK && osThreadJoin(high) == osOK && said("hmnl"));
    spawn(yields, "a", osPriorityLow, 0);
    spawn(yields, "b", osPriorityLow, 0);
    for (int i = 0; i < 1000 && trace_length < 4; i++)
        osDelay(1);
    CHECK(said("abab"));
    const osThreadId_t other = spawn(sleeps, NULL, osPriorityHigh, osThreadJoinable);
    CHECK(osThreadGetState(other) == osThreadBlocked && osThreadGetState(osThreadGetId()) == osThreadRunning);
    CHECK(osThreadSetPriority(other, osPriorityLow + 3) == osOK &&
          osThreadGetPriority(other) == (osPriority_t)(osPriorityLow + 3));
    CHECK(osThreadSetPriority(other, osPriorityISR + 1) == osErrorParameter &&
          osThreadJoin(osThreadGetId()) == osErrorResource);
    CHECK(osThreadGetStackSize(other) == 1024 && osThreadGetStackSpace(other) > 100 &&
          osThreadGetStackSpace(other) < 1024);
    const uint32_t count = osThreadGetCount();
    CHECK(osThreadTerminate(other) == osOK && osThreadGetCount() == count - 1 &&
          osThreadTerminate(other) == osErrorResource);
    CHECK(osThreadJoin(other) == osOK);
    for (int i = 0; i < 200; i++)  // what ended is freed
        if (!spawn(say_it, "x", osPriorityHigh, 0))
            CHECK(0);
    trace_length = 0;
    CHECK(!osThreadNew(NULL, NULL, NULL));
}

static osSemaphoreId_t suspended_in;
static void suspends_itself(void *unused)
{
    (void)unused;
    say('a');
    CHECK(osThreadSuspend(osThreadGetId()) == osOK);
    say('b');
    CHECK(osSemaphoreAcquire(suspended_in, osWaitForever) == osErrorTimeout);  // its wait ends with the suspension
    say('c');
    CHECK(osSemaphoreAcquire(suspended_in, osWaitForever) == osOK);  // but not one that was over before
    say('d');
}
static void counts(void *at)
{
    for (;;)
        ++*(volatile uint32_t *)at;
}

static void suspension(void)
{
    static uint32_t count;
    suspended_in = osSemaphoreNew(1, 0, NULL);
    const osThreadId_t other = spawn(suspends_itself, NULL, osPriorityNormal + 1, osThreadJoinable);
    CHECK(said("a") && osThreadGetState(other) == osThreadBlocked && osThreadFlagsSet(other, 1) == 1 && said(""));
    CHECK(osThreadResume(other) == osOK && said("b") && osThreadGetState(other) == osThreadBlocked);
    CHECK(osThreadSuspend(other) == osOK && osSemaphoreRelease(suspended_in) == osOK && said("") &&
          osSemaphoreGetCount(suspended_in) == 1);
    CHECK(osSemaphoreAcquire(suspended_in, 0) == osOK && osThreadResume(other) == osOK && said("c"));
    CHECK(osKernelLock() == 0 && osThreadSuspend(osThreadGetId()) == osErrorResource);
    CHECK(osSemaphoreRelease(suspended_in) == osOK && osThreadSuspend(other) == osOK && osKernelUnlock() == 1 &&
          said(""));
    CHECK(osThreadResume(other) == osOK && said("d") && osThreadResume(other) == osErrorResource &&
          osThreadSuspend(other) == osErrorResource);
    CHECK(osThreadJoin(other) == osOK && osSemaphoreDelete(suspended_in) == osOK);
    CHECK(osThreadSuspend(NULL) == osErrorParameter && osThreadResume(NULL) == osErrorParameter);
    const osThreadId_t busy =
        osThreadNew(counts, &count, &(osThreadAttr_t){.priority = osPriorityLow, .attr_bits = osThreadJoinable});
    osDelay(5);
    CHECK(count && osThreadResume(busy) == osErrorResource && osThreadSuspend(busy) == osOK &&
          osThreadSuspend(busy) == osOK);
    const uint32_t before = count;
    osDelay(5);
    CHECK(count == before && osThreadResume(busy) == osOK);
    osDelay(5);
    CHECK(count != before && osThreadTerminate(busy) == osOK && osThreadJoin(busy) == osOK);
}

static void enumeration(void)
{
    osThreadId_t list[8];
    const osThreadId_t other = spawn(sleeps, NULL, osPriorityHigh, 0);
    const uint32_t count = osThreadEnumerate(list, 8);
    CHECK(count == osThreadGetCount() && count >= 2 && osThreadEnumerate(list, 1) == 1);
    uint32_t found = 0;
    for (uint32_t i = 0; i < osThreadEnumerate(list, 8); i++)
        found += list[i] == other || list[i] == osThreadGetId();
    CHECK(found == 2 && osThreadGetName(other)[0] == 't' && osThreadTerminate(other) == osOK);
}

static void thread_flags_waiter(void *unused)
{
    (void)unused;
    CHECK(osThreadFlagsWait(3, osFlagsWaitAll, 100) == 7);
    CHECK(osThreadFlagsGet() == 4);
    say('f');
    CHECK(osThreadFlagsWait(3, osFlagsWaitAny, 5) == osFlagsErrorTimeout &&
          osThreadFlagsWait(3, osFlagsWaitAny, 0) == osFlagsErrorResource);
    CHECK(osThreadFlagsWait(12, osFlagsNoClear, 0) == 4 && osThreadFlagsClear(4) == 4 && osThreadFlagsGet() == 0);
    say('g');
}
static void thread_flags(void)
{
    const osThreadId_t waiter = spawn(thread_flags_waiter, NULL, osPriorityHigh, osThreadJoinable);
    CHECK(osThreadFlagsSet(waiter, 1) == 1 && osThreadFlagsSet(waiter, osFlagsError) == osFlagsErrorParameter);
    say('s');
    osThreadFlagsSet(waiter, 6);
    CHECK(osThreadJoin(waiter) == osOK && said("sfg"));
}

// --- time ------------------------------------------------------------------------------------------------------------
static void on_timer(void *letters) { say(*(const char *)letters); }
static void time_and_timers(void)
{
    const uint32_t begin = osKernelGetTickCount();
    CHECK(osKernelGetTickFreq() == 1000 && osDelay(20) == osOK);
    const uint32_t slept = osKernelGetTickCount() - begin;
    CHECK(slept >= 20 && slept < 60);
    CHECK(osDelayUntil(osKernelGetTickCount() + 10) == osOK &&
          osDelayUntil(osKernelGetTickCount() - 1) == osErrorParameter);
    const osTimerId_t once = osTimerNew(on_timer, osTimerOnce, (void *)(uintptr_t) "o", NULL);
    const osTimerId_t often = osTimerNew(on_timer, osTimerPeriodic, (void *)(uintptr_t) "p", NULL);
    CHECK(osTimerStart(once, 15) == osOK && osTimerStart(often, 10) == osOK &&
          osTimerStart(once, 0) == osErrorParameter);
    CHECK(osTimerIsRunning(once) && osTimerIsRunning(often));
    while (trace_length < 4)
        osDelay(1);
    CHECK(!osTimerIsRunning(once) && osTimerIsRunning(often) && osTimerStop(often) == osOK &&
          osTimerStop(once) == osErrorResource);
    CHECK(trace[0] == 'p' && trace[1] == 'o' && trace[2] == 'p' && trace[3] == 'p');
    trace_length = 0;
    CHECK(osTimerDelete(once) == osOK && osTimerDelete(often) == osOK);
}

// --- flags, mutexes, semaphores --------------------------------------------------------------------------------------
static osEventFlagsId_t events;
static void waits_any(void *letters)
{
    if (osEventFlagsWait(events, 6, osFlagsWaitAny, osWaitForever) & 6)
        say(*(const char *)letters);
}
static void event_flags(void)
{
    events = osEventFlagsNew(NULL);
    spawn(waits_any, "a", osPriorityHigh, 0);
    CHECK(osEventFlagsDelete(events) == osErrorResource);
    CHECK((osEventFlagsSet(events, 1) & 1) && said("") && osEventFlagsGet(events) == 1);
    osEventFlagsSet(events, 4);
    CHECK(said("a") && osEventFlagsGet(events) == 1 && osEventFlagsClear(events, 1) == 1);
    CHECK(osEventFlagsWait(events, 1, osFlagsWaitAll, 3) == osFlagsErrorTimeout && osEventFlagsDelete(events) == osOK);
}

static osMutexId_t mutex;
static void locks(void *letters)
{
    CHECK(osMutexAcquire(mutex, osWaitForever) == osOK);
    say(*(const char *)letters);
    CHECK(osMutexRelease(mutex) == osOK);
}
static void mutexes(void)
{
    const osMutexAttr_t recursive = {.name = "m", .attr_bits = osMutexRecursive | osMutexPrioInherit};
    mutex = osMutexNew(&recursive);
    CHECK(osMutexAcquire(mutex, 0) == osOK && osMutexAcquire(mutex, 0) == osOK &&
          osMutexGetOwner(mutex) == osThreadGetId());
    spawn(locks, "h", osPriorityHigh, 0);          // waits: this thread inherits
    spawn(say_it, "n", osPriorityAboveNormal, 0);  // so this does not run yet
    CHECK(said("") && osMutexRelease(mutex) == osOK && said(""));
    CHECK(osMutexRelease(mutex) == osOK && said("hn") && osMutexRelease(mutex) == osErrorResource);
    CHECK(osMutexDelete(mutex) == osOK);
    mutex = osMutexNew(NULL);
    CHECK(osMutexAcquire(mutex, 0) == osOK && osMutexAcquire(mutex, 0) == osErrorResource &&
          osMutexDelete(mutex) == osErrorResource);
    CHECK(osMutexRelease(mutex) == osOK && osMutexDelete(mutex) == osOK && osMutexAcquire(NULL, 0) == osErrorParameter);
}

static osSemaphoreId_t semaphore;
static void takes(void *letters) { say(osSemaphoreAcquire(semaphore, 200) == osOK ? *(const char *)letters : '!'); }
static void semaphores(void)
{
    semaphore = osSemaphoreNew(2, 1, NULL);
    CHECK(!osSemaphoreNew(1, 2, NULL) && osSemaphoreGetCount(semaphore) == 1 &&
          osSemaphoreAcquire(semaphore, 0) == osOK);
    CHECK(osSemaphoreAcquire(semaphore, 0) == osErrorResource && osSemaphoreAcquire(semaphore, 5) == osErrorTimeout);
    spawn(takes, "l", osPriorityAboveNormal, 0);
    spawn(takes, "h", osPriorityHigh, 0);
    CHECK(osSemaphoreDelete(semaphore) == osErrorResource && osSemaphoreRelease(semaphore) == osOK && said("h"));
    CHECK(osSemaphoreRelease(semaphore) == osOK && said("l") && osSemaphoreGetCount(semaphore) == 0);
    CHECK(osSemaphoreRelease(semaphore) == osOK && osSemaphoreRelease(semaphore) == osOK &&
          osSemaphoreRelease(semaphore) == osErrorResource);
    CHECK(osSemaphoreDelete(semaphore) == osOK);
}

// --- pools and queues ------------------------------------------------------------------------------------------------
static void pools(void)
{
    static uint64_t room[4];
    const osMemoryPoolAttr_t own = {.mp_mem = room, .mp_size = sizeof room}, small = {.mp_mem = room, .mp_size = 8};
    const osMemoryPoolId_t pool = osMemoryPoolNew(2, 12, &own);
    void *first = osMemoryPoolAlloc(pool, 0), *second = osMemoryPoolAlloc(pool, 0);
    CHECK(first && second && first != second && !osMemoryPoolAlloc(pool, 0) && !osMemoryPoolAlloc(pool, 3));
    CHECK(osMemoryPoolGetCount(pool) == 2 && osMemoryPoolGetSpace(pool) == 0 && osMemoryPoolGetCapacity(pool) == 2);
    CHECK(osMemoryPoolFree(pool, (char *)first + 1) == osErrorParameter && osMemoryPoolFree(pool, first) == osOK);
    CHECK(osMemoryPoolAlloc(pool, 0) == first && !osMemoryPoolNew(2, 12, &small) && osMemoryPoolDelete(pool) == osOK);
}

static osMessageQueueId_t queue;
static void receives(void *unused)
{
    uint32_t message = 0;
    uint8_t priority = 0;
    (void)unused;
    while (osMessageQueueGet(queue, &message, &priority, osWaitForever) == osOK && message)
        say((char)message);
    say('0' + (char)priority);
}
static osStatus_t put(uint32_t message, uint8_t priority, uint32_t timeout)
{
    return osMessageQueuePut(queue, &message, priority, timeout);
}
static void queues(void)
{
    queue = osMessageQueueNew(3, sizeof(uint32_t), NULL);
    CHECK(put('a', 1, 0) == osOK && put('b', 2, 0) == osOK && put('c', 1, 0) == osOK);
    CHECK(put('d', 0, 0) == osErrorResource && put('d', 0, 3) == osErrorTimeout);
    CHECK(osMessageQueueGetCount(queue) == 3 && osMessageQueueGetSpace(queue) == 0 &&
          osMessageQueueGetMsgSize(queue) == 4);
    const osThreadId_t receiver = spawn(receives, NULL, osPriorityHigh, osThreadJoinable);
    CHECK(said("bac") && put('e', 0, osWaitForever) == osOK && said("e") &&
          osMessageQueueDelete(queue) == osErrorResource);
    CHECK(put(0, 7, 0) == osOK && osThreadJoin(receiver) == osOK && said("7"));
    CHECK(put('x', 0, 0) == osOK && osMessageQueueReset(queue) == osOK && osMessageQueueGetSpace(queue) == 3);
    CHECK(osMessageQueueDelete(queue) == osOK);
}

static void kernel_calls(void)
{
    osVersion_t version;
    char id[8];
    CHECK(osKernelGetInfo(&version, id, sizeof id) == osOK && version.api / 10000000 == 2 && id[0] == 'W' && !id[7]);
    CHECK(osKernelGetState() == osKernelRunning && osKernelLock() == 0 && osKernelGetState() == osKernelLocked);
    spawn(say_it, "r", osPriorityRealtime, 0);
    CHECK(said("") && osKernelLock() == 1 && osKernelUnlock() == 1 && said("r") &&
          osKernelGetState() == osKernelRunning);
    CHECK(osKernelInitialize() == osError && osKernelStart() == osError);
}

// The scheduler stands still, time does not: the timer is due by then.
static void kernel_suspension(void)
{
    const osTimerId_t timer = osTimerNew(on_timer, osTimerOnce, (void *)(uintptr_t) "t", NULL);
    CHECK(osTimerStart(timer, 20) == osOK);
    const uint32_t ticks = osKernelSuspend();
    CHECK(ticks >= 10 && ticks <= 20 && osKernelGetState() == osKernelSuspended);
    CHECK(osKernelSuspend() == 0 && osKernelLock() == osError && osKernelUnlock() == osError &&
          osKernelRestoreLock(0) == osError);
    spawn(say_it, "r", osPriorityRealtime, 0);
    const uint32_t begin = osKernelGetTickCount();
    while (osKernelGetTickCount() - begin < ticks + 5)
        ;
    CHECK(said(""));
    osKernelResume(ticks);
    CHECK(said("rt") && osKernelGetState() == osKernelRunning && osTimerDelete(timer) == osOK);
    osKernelResume(1);  // nothing to resume
    CHECK(osKernelGetState() == osKernelRunning && osKernelLock() == 0 && osKernelSuspend() == 0 &&
          osKernelUnlock() == 1);
}

static void all(void *unused)
{
    char line[60];
    struct text out;
    (void)unused;
    kernel_calls();
    threads();
    suspension();
    enumeration();
    thread_flags();
    time_and_timers();
    kernel_suspension();
    event_flags();
    mutexes();
    semaphores();
    pools();
    queues();
    text_init(&out, line, sizeof line);
    text_put(&out, "rtos2: ");
    text_u64(&out, checks);
    text_put(&out, " checks, ");
    text_u64(&out, failures);
    text_put(&out, " failed\n");
    board_puts(line);
}

int main(void)
{
    static const osThreadAttr_t attributes = {.name = "all", .stack_size = 2048};
    board_init();
    CHECK(osKernelGetState() == osKernelInactive && osKernelInitialize() == osOK &&
          osKernelGetState() == osKernelReady);
    if (osThreadNew(all, NULL, &attributes))
        (void)osKernelStart();
    board_puts("rtos2: no memory\n");
    return 1;
}
