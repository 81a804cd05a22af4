// SPDX-License-Identifier: BSD-2-Clause
// System calls on x86: a software interrupt from ring 3, whose gate leads to ring 0; the process's own stack goes on.
// An interrupt that meets the kernel there finds it as any thread.
#include "kernel/preempt/arch.h"

#include "x86.h"

__attribute__((naked)) void call_entry(void)
{
    __asm__ volatile(X86_SAVE "mov   %esp, %ebx\n\t"
                              "sti\n\t"
                              "push  20(%ebx)\n\t"
                              "push  28(%ebx)\n\t"
                              "call  system_call\n\t"
                              "mov   %ebx, %esp\n\t"
                              "mov   %eax, 28(%esp)\n\t"
                              "jmp   irq_return");
}

__attribute__((naked)) intptr_t arch_system_call(__attribute__((unused)) uint32_t number,
                                                 __attribute__((unused)) intptr_t arguments[])
{
    __asm__ volatile("mov   4(%esp), %eax\n\t"
                     "mov   8(%esp), %edx\n\t"
                     "int   $62\n\t"
                     "ret");
}

// By an iret to ring 3, on the same stack, behind this function.
__attribute__((naked)) void arch_drop_privileges(void)
{
    __asm__ volatile("pop   %%eax\n\t"
                     "mov   %%esp, %%edx\n\t"
                     "push  %0\n\t"
                     "push  %%edx\n\t"
                     "pushf\n\t"
                     "push  %1\n\t"
                     "push  %%eax\n\t"
                     "iret" ::"i"(X86_PROCESS_DATA),
                     "i"(X86_PROCESS_CODE));
}
