// SPDX-License-Identifier: BSD-2-Clause
// A system with the CMSIS-RTOS2 interface under Romantiki's programs. All it knows of the system is cmsis_os2.h; here
// that is api/cmsis_rtos2, whose board is named at the end.
#include "boards/board.h"
#include "boards/start.h"
#include "examples/romantiki/kernels/kernel.h"
#include "ports/cmsis_rtos2/rtos2_port.h"

static struct rtos2_port port;

void board_interrupt(void) { rtos2_port_interrupt(&port); }

// Below the stack from osPriorityLow on, a level for each priority while there are any; above it osPriorityRealtime.
static osPriority_t priority_of(unsigned priority)
{
    const unsigned levels = osPriorityAboveNormal - osPriorityLow;
    return priority > STACK_PRIORITY ? osPriorityRealtime
                                     : (osPriority_t)(osPriorityLow + (priority < levels ? priority : levels));
}

static bool start(void (*run)(void *task), void *task, unsigned priority)
{
    const osThreadAttr_t attributes = {
        .name = "task", .stack_size = TASK_STACK_BYTES, .priority = priority_of(priority)};
    return osThreadNew(run, task, &attributes);
}

static void *self(void) { return osThreadGetId(); }
static void yield(void) { (void)osThreadYield(); }

static void begin(void (*first)(void *unused))
{
    if (osKernelInitialize() == osOK && start(first, NULL, STACK_PRIORITY))
        (void)osKernelStart();
}

static bool open(void)
{
    static const struct port_board board = {.now_us = board_now_us, .granularity_us = 1000, .entropy = board_entropy};
    return rtos2_port_init(&port, &board);
}

static bool serve(void)
{
    static const osThreadAttr_t io = {.name = "io", .stack_size = STACK_STACK_BYTES, .priority = osPriorityHigh};
    return rtos2_port_start(&port, &io, osPriorityLow);
}

const struct romantiki_kernel romantiki_kernel = {
    .system = {&port.ticking.core.port, start, self, yield, osThreadExit},
    .core = &port.ticking.core,
    .begin = begin,
    .open = open,
    .serve = serve,
};

// --- the system: the preemptive kernel on this board -----------------------------------------------------------------
#include "examples/firmware/rtos2_board.h"
