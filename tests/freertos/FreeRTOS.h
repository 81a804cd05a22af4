// SPDX-License-Identifier: BSD-2-Clause
// A stand-in for FreeRTOS's header of this name: only the declarations that ports/freertos and its example use, as
// FreeRTOS documents them, so that both compile where the kernel is not at hand. Nothing is behind them: `make test
// FREERTOS=dir` uses the real headers and sources.
#ifndef FREERTOS_STAND_IN_H
#define FREERTOS_STAND_IN_H

#include <stddef.h>
#include <stdint.h>

#include "FreeRTOSConfig.h"

typedef long BaseType_t;
typedef unsigned long UBaseType_t;
typedef uint32_t TickType_t;
typedef uint32_t StackType_t;
#ifndef configSTACK_DEPTH_TYPE
#define configSTACK_DEPTH_TYPE StackType_t
#endif
typedef void (*TaskFunction_t)(void *);

#define pdFALSE ((BaseType_t)0)
#define pdTRUE ((BaseType_t)1)
#define pdPASS pdTRUE
#define portMAX_DELAY ((TickType_t)0xffffffffUL)
#define portYIELD_FROM_ISR(woken) ((void)(woken))

#endif
