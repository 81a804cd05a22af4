// SPDX-License-Identifier: BSD-2-Clause
// The kernel within a POSIX program, in the program's own time: `kernel_start` by way of host_run, which returns.
// Interrupts are whatever the program calls from a thread between host_interrupt_begins and _ends.
#ifndef PREEMPT_HOST_H
#define PREEMPT_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void host_run(void);                   // kernel_start, until a thread calls host_finish
WEIR_NORETURN void host_finish(void);  // ends host_run
bool host_interrupts_on(void);
// Before a stack is used again whose thread did not return: a sanitizer may take its old frames for alive.
void host_stack_renew(void *stack, size_t bytes);
void host_interrupt_begins(void);
void host_interrupt_ends(void);  // a switch that was asked for takes place before it returns

WEIR_END_DECLS

#endif
