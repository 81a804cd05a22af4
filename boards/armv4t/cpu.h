// SPDX-License-Identifier: BSD-2-Clause
// Interrupts of an ARMv4T or ARMv5 processor, for its boards; board_sleep over board_alarm and board_idle is here, too.
#ifndef ARMV4T_CPU_H
#define ARMV4T_CPU_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

uint32_t cpu_interrupts_off(void);            // returns what they were, for cpu_interrupts_restore
void cpu_interrupts_restore(uint32_t state);  // does not switch threads: for a few instructions of a board's
void interrupt_handler(void);                 // the board's: called by the entry in start.S, or a kernel's

WEIR_END_DECLS

#endif
