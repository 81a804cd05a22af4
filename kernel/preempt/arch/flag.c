// SPDX-License-Identifier: BSD-2-Clause
#include "flag.h"

#include "kernel/preempt/arch.h"

volatile bool flag_pending;

void arch_switch(void) { flag_pending = true; }

void *flag_switch(void *frame)
{
    flag_pending = false;
    return thread_switch(frame);
}

// Who waits for the processor has it first.
static inline void on(void)
{
    while (flag_pending)
        flag_switch_now();
    flag_interrupts_on();
}

void arch_interrupts_on(void) { on(); }

void arch_interrupts_restore(uint32_t state)
{
    if (!state)
        on();
}
