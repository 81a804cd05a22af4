// SPDX-License-Identifier: BSD-2-Clause
// System calls on ARMv4T: from user mode into system mode, where the same stack goes on.
#include "kernel/preempt/arch.h"

// The caller counts r2 and r3 as spoilt (arch_system_call is a function), so they carry the way back over the change of
// mode. Writing the status as it was returns to user mode.
__attribute__((naked, target("arm"))) void svc_entry(void)
{
    __asm__ volatile("mov   r2, lr\n\t"
                     "mrs   r3, spsr\n\t"
                     "msr   cpsr_c, #0xdf\n\t"
                     "push  {r2-r4, lr}\n\t"
                     "msr   cpsr_c, #0x5f\n\t"
                     "bl    system_call\n\t"
                     "pop   {r2-r4, lr}\n\t"
                     "msr   cpsr_c, r3\n\t"
                     "mov   pc, r2");
}

// A fault in user mode ends the process; elsewhere nothing can be done.
__attribute__((naked, target("arm"))) void fault_entry(void)
{
    __asm__ volatile("mrs   r0, spsr\n\t"
                     "and   r0, r0, #0x1f\n\t"
                     "cmp   r0, #0x10\n"
                     "1:\n\t"
                     "bne   1b\n\t"
                     "msr   cpsr_c, #0xdf\n\t"
                     "bl    process_fault");
}

__attribute__((naked, target("arm"))) intptr_t arch_system_call(__attribute__((unused)) uint32_t number,
                                                                __attribute__((unused)) intptr_t arguments[])
{
    __asm__ volatile("svc   #0\n\t"
                     "bx    lr");
}

void arch_drop_privileges(void) { __asm__ volatile("msr cpsr_c, #0x50" ::: "memory"); }
