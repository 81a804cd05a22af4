// SPDX-License-Identifier: BSD-2-Clause
// A stand-in; see FreeRTOS.h beside it.
#ifndef FREERTOS_STAND_IN_SEMPHR_H
#define FREERTOS_STAND_IN_SEMPHR_H

#include "task.h"

typedef struct QueueDefinition *SemaphoreHandle_t;

SemaphoreHandle_t xSemaphoreCreateMutex(void);
BaseType_t xSemaphoreTake(SemaphoreHandle_t semaphore, TickType_t ticks);
BaseType_t xSemaphoreGive(SemaphoreHandle_t semaphore);

#endif
