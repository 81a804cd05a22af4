// SPDX-License-Identifier: BSD-2-Clause
// FreeRTOS under Romantiki's programs, on ARM's MPS2 board.
#include "boards/board.h"
#include "boards/start.h"
#include "examples/romantiki/kernels/kernel.h"
#include "ports/freertos/freertos_port.h"

#include "examples/freertos/freertos_board.h"

enum { LOW_PRIORITY = 1, IO_PRIORITY = 6 };

static struct freertos_port port;

void board_interrupt(void) { freertos_port_interrupt(&port); }

// Below the stack a level for each priority while there are any; above it the highest.
static UBaseType_t priority_of(unsigned priority)
{
    return priority > STACK_PRIORITY ? IO_PRIORITY + 1 : priority < IO_PRIORITY ? priority : IO_PRIORITY - 1;
}

static bool start(void (*run)(void *task), void *task, unsigned priority)
{
    return xTaskCreate(run, "task", TASK_STACK_BYTES / sizeof(StackType_t), task, priority_of(priority), NULL) ==
           pdPASS;
}

static void *self(void) { return xTaskGetCurrentTaskHandle(); }
static void yield(void) { taskYIELD(); }
static void end(void) { vTaskDelete(NULL); }

static void begin(void (*first)(void *unused))
{
    freertos_interrupts();
    if (start(first, NULL, STACK_PRIORITY))
        vTaskStartScheduler();
}

static bool open(void)
{
    static const struct port_board board = {
        .now_us = board_now_us, .granularity_us = 1000000 / configTICK_RATE_HZ, .entropy = board_entropy};
    return freertos_port_init(&port, &board);
}

static bool serve(void)
{
    return freertos_port_start(&port, STACK_STACK_BYTES / sizeof(StackType_t), IO_PRIORITY, LOW_PRIORITY);
}

const struct romantiki_kernel romantiki_kernel = {
    .system = {&port.ticking.core.port, start, self, yield, end},
    .core = &port.ticking.core,
    .begin = begin,
    .open = open,
    .serve = serve,
};
