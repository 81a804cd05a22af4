// SPDX-License-Identifier: BSD-2-Clause
// What api/cmsis_rtos2 wants to know of the board; included once by a program.
#ifndef RTOS2_BOARD_H
#define RTOS2_BOARD_H

#include "boards/board.h"
#include "kernel/preempt/preempt.h"

void board_timer(void) { kernel_timer(); }

static void rtos2_overflow(struct thread *thread)
{
    board_puts("weir: stack overflow: ");
    board_puts(thread->name ? thread->name : "?");
    for (;;)
        ;
}

static uint64_t rtos2_idle_stack[256 / 8];
const struct kernel_board rtos2_board = {board_now_us,   board_alarm,      board_idle,
                                         rtos2_overflow, rtos2_idle_stack, sizeof rtos2_idle_stack};

#endif
