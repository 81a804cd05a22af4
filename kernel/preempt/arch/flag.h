// SPDX-License-Identifier: BSD-2-Clause
// For processors where a switch that is asked for is a flag (arch.h): flag.c has arch_switch, arch_interrupts_on and
// _restore.
#ifndef PREEMPT_ARCH_FLAG_H
#define PREEMPT_ARCH_FLAG_H

#include <stdbool.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

extern volatile bool flag_pending;  // for the interrupts' exit to look at
// thread_switch, with the flag taken back. Called by assembly, which the optimising linker does not read: hence "used".
__attribute__((used)) void *flag_switch(void *frame);

// The processor's own:
// by a thread, with interrupts off: lays a frame as an interrupt would, and returns when the thread goes on
void flag_switch_now(void);
void flag_interrupts_on(void);  // the instruction, no more

WEIR_END_DECLS

#endif
