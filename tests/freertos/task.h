// SPDX-License-Identifier: BSD-2-Clause
// A stand-in; see FreeRTOS.h beside it.
#ifndef FREERTOS_STAND_IN_TASK_H
#define FREERTOS_STAND_IN_TASK_H

#include "FreeRTOS.h"

typedef struct tskTaskControlBlock *TaskHandle_t;

#define taskYIELD() ((void)0)

BaseType_t xTaskCreate(TaskFunction_t function, const char *name, configSTACK_DEPTH_TYPE depth, void *argument,
                       UBaseType_t priority, TaskHandle_t *created);
void vTaskDelete(TaskHandle_t task);
void vTaskStartScheduler(void);
void vTaskPrioritySet(TaskHandle_t task, UBaseType_t priority);
TaskHandle_t xTaskGetCurrentTaskHandle(void);
BaseType_t xTaskNotifyGiveIndexed(TaskHandle_t task, UBaseType_t index);
uint32_t ulTaskNotifyTakeIndexed(UBaseType_t index, BaseType_t clear, TickType_t ticks);
void vTaskNotifyGiveIndexedFromISR(TaskHandle_t task, UBaseType_t index, BaseType_t *woken);

#endif
