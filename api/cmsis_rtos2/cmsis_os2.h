// SPDX-License-Identifier: BSD-2-Clause
// The names, types and values of Arm's CMSIS-RTOS2 application interface (version 2.1), written anew for Weir: for
// programs made for that interface, over the preemptive kernel (cmsis_os2.c), and for ports/cmsis_rtos2, over whatever
// system offers it.
#ifndef CMSIS_OS2_H_
#define CMSIS_OS2_H_

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define osWaitForever 0xFFFFFFFFU
#define osFlagsWaitAny 0U
#define osFlagsWaitAll 1U
#define osFlagsNoClear 2U
#define osFlagsError 0x80000000U
#define osFlagsErrorUnknown 0xFFFFFFFFU
#define osFlagsErrorTimeout 0xFFFFFFFEU
#define osFlagsErrorResource 0xFFFFFFFDU
#define osFlagsErrorParameter 0xFFFFFFFCU
#define osThreadDetached 0U
#define osThreadJoinable 1U
#define osMutexRecursive 1U
#define osMutexPrioInherit 2U
#define osMutexRobust 8U

typedef enum {
    osOK = 0,
    osError = -1,
    osErrorTimeout = -2,
    osErrorResource = -3,
    osErrorParameter = -4,
    osErrorNoMemory = -5,
    osErrorISR = -6,
    osStatusReserved = 0x7FFFFFFF
} osStatus_t;
typedef enum {
    osKernelInactive = 0,
    osKernelReady = 1,
    osKernelRunning = 2,
    osKernelLocked = 3,
    osKernelSuspended = 4,
    osKernelError = -1,
    osKernelReserved = 0x7FFFFFFF
} osKernelState_t;
typedef enum {
    osThreadInactive = 0,
    osThreadReady = 1,
    osThreadRunning = 2,
    osThreadBlocked = 3,
    osThreadTerminated = 4,
    osThreadError = -1,
    osThreadReserved = 0x7FFFFFFF
} osThreadState_t;
typedef enum {  // the seven above each but None, Idle and ISR are Low1 to Low7 and so on: written as osPriorityLow + 1
    osPriorityNone = 0,
    osPriorityIdle = 1,
    osPriorityLow = 8,
    osPriorityBelowNormal = 16,
    osPriorityNormal = 24,
    osPriorityAboveNormal = 32,
    osPriorityHigh = 40,
    osPriorityRealtime = 48,
    osPriorityISR = 56,
    osPriorityError = -1,
    osPriorityReserved = 0x7FFFFFFF
} osPriority_t;
typedef enum { osTimerOnce = 0, osTimerPeriodic = 1 } osTimerType_t;

typedef struct {
    uint32_t api, kernel;
} osVersion_t;
typedef void (*osThreadFunc_t)(void *argument);
typedef void (*osTimerFunc_t)(void *argument);
typedef void *osThreadId_t, *osTimerId_t, *osEventFlagsId_t, *osMutexId_t, *osSemaphoreId_t, *osMemoryPoolId_t,
    *osMessageQueueId_t;

typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
    void *stack_mem;
    uint32_t stack_size;
    osPriority_t priority;
    uint32_t tz_module, reserved;
} osThreadAttr_t;
typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
} osTimerAttr_t;
typedef osTimerAttr_t osEventFlagsAttr_t, osMutexAttr_t, osSemaphoreAttr_t;
typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
    void *mp_mem;
    uint32_t mp_size;
} osMemoryPoolAttr_t;
typedef struct {
    const char *name;
    uint32_t attr_bits;
    void *cb_mem;
    uint32_t cb_size;
    void *mq_mem;
    uint32_t mq_size;
} osMessageQueueAttr_t;

osStatus_t osKernelInitialize(void);
osStatus_t osKernelGetInfo(osVersion_t *version, char *id, uint32_t bytes);
osKernelState_t osKernelGetState(void);
osStatus_t osKernelStart(void);
int32_t osKernelLock(void);
int32_t osKernelUnlock(void);
int32_t osKernelRestoreLock(int32_t lock);
uint32_t osKernelSuspend(void);
void osKernelResume(uint32_t ticks);
uint32_t osKernelGetTickCount(void);
uint32_t osKernelGetTickFreq(void);
uint32_t osKernelGetSysTimerCount(void);
uint32_t osKernelGetSysTimerFreq(void);

osThreadId_t osThreadNew(osThreadFunc_t function, void *argument, const osThreadAttr_t *attr);
const char *osThreadGetName(osThreadId_t thread);
osThreadId_t osThreadGetId(void);
osThreadState_t osThreadGetState(osThreadId_t thread);
osStatus_t osThreadSetPriority(osThreadId_t thread, osPriority_t priority);
osPriority_t osThreadGetPriority(osThreadId_t thread);
osStatus_t osThreadYield(void);
osStatus_t osThreadSuspend(osThreadId_t thread);
osStatus_t osThreadResume(osThreadId_t thread);
osStatus_t osThreadDetach(osThreadId_t thread);
osStatus_t osThreadJoin(osThreadId_t thread);
WEIR_NORETURN void osThreadExit(void);
osStatus_t osThreadTerminate(osThreadId_t thread);
uint32_t osThreadGetStackSize(osThreadId_t thread);
uint32_t osThreadGetStackSpace(osThreadId_t thread);
uint32_t osThreadGetCount(void);
uint32_t osThreadEnumerate(osThreadId_t *threads, uint32_t most);
uint32_t osThreadFlagsSet(osThreadId_t thread, uint32_t flags);
uint32_t osThreadFlagsClear(uint32_t flags);
uint32_t osThreadFlagsGet(void);
uint32_t osThreadFlagsWait(uint32_t flags, uint32_t options, uint32_t timeout);

osStatus_t osDelay(uint32_t ticks);
osStatus_t osDelayUntil(uint32_t ticks);

osTimerId_t osTimerNew(osTimerFunc_t function, osTimerType_t type, void *argument, const osTimerAttr_t *attr);
const char *osTimerGetName(osTimerId_t timer);
osStatus_t osTimerStart(osTimerId_t timer, uint32_t ticks);
osStatus_t osTimerStop(osTimerId_t timer);
uint32_t osTimerIsRunning(osTimerId_t timer);
osStatus_t osTimerDelete(osTimerId_t timer);

osEventFlagsId_t osEventFlagsNew(const osEventFlagsAttr_t *attr);
const char *osEventFlagsGetName(osEventFlagsId_t events);
uint32_t osEventFlagsSet(osEventFlagsId_t events, uint32_t flags);
uint32_t osEventFlagsClear(osEventFlagsId_t events, uint32_t flags);
uint32_t osEventFlagsGet(osEventFlagsId_t events);
uint32_t osEventFlagsWait(osEventFlagsId_t events, uint32_t flags, uint32_t options, uint32_t timeout);
osStatus_t osEventFlagsDelete(osEventFlagsId_t events);

osMutexId_t osMutexNew(const osMutexAttr_t *attr);
const char *osMutexGetName(osMutexId_t mutex);
osStatus_t osMutexAcquire(osMutexId_t mutex, uint32_t timeout);
osStatus_t osMutexRelease(osMutexId_t mutex);
osThreadId_t osMutexGetOwner(osMutexId_t mutex);
osStatus_t osMutexDelete(osMutexId_t mutex);

osSemaphoreId_t osSemaphoreNew(uint32_t most, uint32_t initial, const osSemaphoreAttr_t *attr);
const char *osSemaphoreGetName(osSemaphoreId_t semaphore);
osStatus_t osSemaphoreAcquire(osSemaphoreId_t semaphore, uint32_t timeout);
osStatus_t osSemaphoreRelease(osSemaphoreId_t semaphore);
uint32_t osSemaphoreGetCount(osSemaphoreId_t semaphore);
osStatus_t osSemaphoreDelete(osSemaphoreId_t semaphore);

osMemoryPoolId_t osMemoryPoolNew(uint32_t blocks, uint32_t bytes, const osMemoryPoolAttr_t *attr);
const char *osMemoryPoolGetName(osMemoryPoolId_t pool);
void *osMemoryPoolAlloc(osMemoryPoolId_t pool, uint32_t timeout);
osStatus_t osMemoryPoolFree(osMemoryPoolId_t pool, void *block);
uint32_t osMemoryPoolGetCapacity(osMemoryPoolId_t pool);
uint32_t osMemoryPoolGetBlockSize(osMemoryPoolId_t pool);
uint32_t osMemoryPoolGetCount(osMemoryPoolId_t pool);
uint32_t osMemoryPoolGetSpace(osMemoryPoolId_t pool);
osStatus_t osMemoryPoolDelete(osMemoryPoolId_t pool);

osMessageQueueId_t osMessageQueueNew(uint32_t messages, uint32_t bytes, const osMessageQueueAttr_t *attr);
const char *osMessageQueueGetName(osMessageQueueId_t queue);
osStatus_t osMessageQueuePut(osMessageQueueId_t queue, const void *message, uint8_t priority, uint32_t timeout);
osStatus_t osMessageQueueGet(osMessageQueueId_t queue, void *message, uint8_t *priority, uint32_t timeout);
uint32_t osMessageQueueGetCapacity(osMessageQueueId_t queue);
uint32_t osMessageQueueGetMsgSize(osMessageQueueId_t queue);
uint32_t osMessageQueueGetCount(osMessageQueueId_t queue);
uint32_t osMessageQueueGetSpace(osMessageQueueId_t queue);
osStatus_t osMessageQueueReset(osMessageQueueId_t queue);
osStatus_t osMessageQueueDelete(osMessageQueueId_t queue);

WEIR_END_DECLS

#endif
