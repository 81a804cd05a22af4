// SPDX-License-Identifier: BSD-2-Clause
// What the preemptive kernel asks of a processor. cortex_m.c is ARMv7-M's, host.c a program's own on POSIX (for tests).
//
// A switch is only ever asked for (arch_switch) with interrupts off, and takes place when they are on again and no interrupt is being
// handled: then the architecture saves the registers, calls thread_switch with interrupts off and restores those of the thread whose
// frame that returns.
#ifndef PREEMPT_ARCH_H
#define PREEMPT_ARCH_H

#include <stddef.h>
#include <stdint.h>

uint32_t arch_interrupts_off(void);            // returns what they were, for …
void arch_interrupts_restore(uint32_t state);  // … this; a switch that waits takes place before it returns
void arch_interrupts_on(void);
// Asks for a switch, from a thread or from an interrupt.
void arch_switch(void);
// Lays the frame of a thread that never ran on its stack (aligned to 8), so that it begins in `begin` with interrupts on. Returns the
// frame, NULL when the stack is too small.
void *arch_frame(void *stack, size_t bytes, void (*begin)(void));
// Leaves main's stack for good: the switch that waits takes place.
_Noreturn void arch_start(void);

// The kernel's side: `frame` is what the thread's registers were saved in, NULL none (at the start). Returns that of the next.
void *thread_switch(void *frame);

#endif
