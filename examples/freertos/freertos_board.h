// SPDX-License-Identifier: BSD-2-Clause
// What FreeRTOS wants to know of a Cortex-M3 board, after FreeRTOSConfig.h; included once by a program, after
// FreeRTOS's headers.
#ifndef FREERTOS_BOARD_H
#define FREERTOS_BOARD_H

#include "boards/board.h"

#define NVIC_PRIORITY 0xe000e400u  // a byte an interrupt
#define NVIC_INTERRUPTS 32u
#define SHARED_PRIORITY 0x80u

static uint64_t next_tick_us;

void xPortSysTickHandler(void);
void vPortSetupTimerInterrupt(void);

// In place of the weak one of FreeRTOS, which would take SysTick for itself.
void vPortSetupTimerInterrupt(void)
{
    next_tick_us = board_now_us() + 1000000 / configTICK_RATE_HZ;
    board_alarm(next_tick_us);
}

// An earlier call may come, too.
void board_timer(void)
{
    if (!next_tick_us)
        return;
    while (board_now_us() >= next_tick_us) {
        xPortSysTickHandler();
        next_tick_us += 1000000 / configTICK_RATE_HZ;
    }
    board_alarm(next_tick_us);
}

_Noreturn static void stop(const char *what, const char *name)
{
    board_puts(what);
    board_puts(name);
    for (;;)
        __asm__ volatile("cpsid i");
}

void freertos_stop(const char *file, int line)
{
    (void)line;
    stop("freertos: an assertion failed in ", file);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
    (void)task;
    stop("freertos: stack overflow: ", name);
}

// Before the scheduler begins: at the priority that the board's interrupts have by themselves FromISR calls are not
// allowed in them.
static void freertos_interrupts(void)
{
    for (uint32_t i = 0; i < NVIC_INTERRUPTS; i++)
        ((volatile uint8_t *)(uintptr_t)NVIC_PRIORITY)[i] = SHARED_PRIORITY;
}

#endif
