// SPDX-License-Identifier: BSD-2-Clause
// What an image on the preemptive kernel does when a thread has written beyond its stack (struct kernel_board): it says
// whose, and stands still.
#ifndef BOARD_OVERFLOW_H
#define BOARD_OVERFLOW_H

#include "boards/board.h"
#include "kernel/preempt/preempt.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

static inline void board_overflow(struct thread *thread)
{
    board_puts("weir: stack overflow: ");
    board_puts(thread->name);
    board_puts("\n");
    for (;;)
        ;
}

WEIR_END_DECLS

#endif
