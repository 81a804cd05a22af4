// SPDX-License-Identifier: BSD-2-Clause
// What the preemptive kernel asks of a processor: one file (arch/cortex_m.c, arch/armv7a.c …) of some hundred lines,
// one processor, no cache of another. arch/host.c is a program's own on POSIX, for tests. Nothing else in
// kernel/preempt knows the processor.
//
// The switch. A switch is only ever asked for, by arch_switch, with interrupts off. It takes place when they are on
// again and no interrupt is being handled: at the end of the outermost interrupt, or before the arch_interrupts_on or
// _restore returns that brings them on. To switch, the architecture saves all registers that belong to a thread, calls
// thread_switch with interrupts off and the place where it saved them, and restores from the frame that this returns,
// which may be the same. There are two ways:
//  - the processor has an interrupt of the lowest priority that software can raise (Cortex-M's PendSV): arch_switch
//    raises it;
//  - otherwise arch_switch sets a flag. arch_interrupts_on and _restore(on) look at it, and save what a function call
//    preserves; the interrupts' entry looks at it when the handler has returned, and saves all. Both frames must be
//    restored by the same code.
// Asking twice before it takes place is one switch. Interrupts need not nest; if they do, only the outermost switches.
//
// The frame. It lies on the thread's own stack, and is the lowest thing there while the thread does not run: all below
// it down to the stack's first word is free. Stacks grow downwards. It holds what the compiler may have in registers,
// with the vector unit's if the program is compiled to use that, the status word, and whatever tells how privileged the
// thread is.
//
// Interrupts. The entry saves what C may spoil, calls the board's handler, and switches if that is asked for. Handlers
// run on a stack of their own, main's: threads' stacks need room for a frame, no more. Faults are the board's.
//
// The board (boards/board.h) gives the time, board_alarm, board_idle, and calls board_timer and board_interrupt from
// its interrupts: those are what a program hands to kernel_init, kernel_timer and the port.
#ifndef PREEMPT_ARCH_H
#define PREEMPT_ARCH_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

// Also within an interrupt, where they are off all the while (or for those of lower priority, which is no matter to the
// kernel).
uint32_t arch_interrupts_off(void);            // returns what they were, for arch_interrupts_restore
void arch_interrupts_restore(uint32_t state);  // a switch that waits takes place before it returns
void arch_interrupts_on(void);                 // by threads only
// Asks for a switch, from a thread or from an interrupt.
void arch_switch(void);
// Lays the frame of a thread that never ran on its stack (the end is rounded down to what the processor wants), so that
// it begins in `begin` with interrupts on, privileged, and never returns from it. Returns the frame, NULL when the
// stack is too small for it and an interrupt's.
void *arch_frame(void *stack, size_t bytes, void (*begin)(void));
// Calls the function on another stack, the one that ends at `end` (aligned to 16), or where stacks are large on the
// caller's own. A thread may lose the processor in it as anywhere else.
void arch_call_on(void *end, void (*function)(void *argument), void *argument);
// Leaves main's stack for good, which the interrupts have from here on: the switch that waits takes place. Interrupts
// are off.
WEIR_NORETURN void arch_start(void);

// The rest lies in a file of its own (arch/armv7a_call.c …), linked to programs with processes only.
// Processes (process.h) reach the kernel by a system call: a trap, after which the calling thread goes on privileged,
// on its own stack, with interrupts on, in system_call; its result is that of arch_system_call, and the thread is again
// what it was. In between it may block. On a host, where nothing separates programs from the kernel, both are the plain
// functions of arch/plain_call.c.
intptr_t arch_system_call(uint32_t number, intptr_t arguments[]);
// The calling thread has no privileges from here on: it may not touch interrupts, nor call any kernel function but by
// arch_system_call.
void arch_drop_privileges(void);

// The kernel's side: `frame` is what the thread's registers were saved in, NULL none (at the start). Returns that of
// the next. Assembly calls it, which the optimising linker does not read: hence "used".
__attribute__((used)) void *thread_switch(void *frame);
intptr_t system_call(uint32_t number, intptr_t arguments[]);
// Where a process that did what it may not goes on, privileged, on its own stack: it ends there, as by SIGNAL_FAULT.
WEIR_NORETURN __attribute__((used)) void process_fault(void);

WEIR_END_DECLS

#endif
