// SPDX-License-Identifier: BSD-2-Clause
// System calls on ARMv7-A: from user mode into system mode, where the same stack goes on.
#include "kernel/preempt/arch.h"

__attribute__((naked, target("arm"))) void svc_entry(void)
{
    __asm__ volatile("srsdb sp!, #0x1f\n\t"
                     "cps   #0x1f\n\t"
                     "push  {r2, lr}\n\t"
                     "cpsie i\n\t"
                     "bl    system_call\n\t"
                     "pop   {r2, lr}\n\t"
                     "rfeia sp!");
}

// A fault in user mode ends the process; elsewhere nothing can be done.
__attribute__((naked, target("arm"))) void fault_entry(void)
{
    __asm__ volatile("mrs   r0, spsr\n\t"
                     "and   r0, r0, #0x1f\n\t"
                     "cmp   r0, #0x10\n"
                     "1:\n\t"
                     "bne   1b\n\t"
                     "cps   #0x1f\n\t"
                     "bl    process_fault");
}

__attribute__((naked, target("arm"))) intptr_t arch_system_call(__attribute__((unused)) uint32_t number,
                                                                __attribute__((unused)) intptr_t arguments[])
{
    __asm__ volatile("svc   #0\n\t"
                     "bx    lr");
}

void arch_drop_privileges(void) { __asm__ volatile("cps #0x10" ::: "memory"); }
