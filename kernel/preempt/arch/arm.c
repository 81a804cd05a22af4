// SPDX-License-Identifier: BSD-2-Clause
// What ARMv7-M and ARMv7-A do alike (Procedure Call Standard for the Arm Architecture).
#include "kernel/preempt/arch.h"

__attribute__((naked)) void arch_call_on(__attribute__((unused)) void *end,
                                         __attribute__((unused)) void (*function)(void *argument),
                                         __attribute__((unused)) void *argument)
{
    __asm__ volatile("push {r4, lr}\n\t"
                     "mov  r4, sp\n\t"
                     "mov  sp, r0\n\t"
                     "mov  r0, r2\n\t"
                     "blx  r1\n\t"
                     "mov  sp, r4\n\t"
                     "pop  {r4, pc}");
}
