// SPDX-License-Identifier: BSD-2-Clause
// System calls on ARMv7-M. An exception's handler cannot block; so it raises the thread's privileges and lets it return
// not behind the svc but into `privileged`, with what it was before in r2. lr is still the caller's of
// arch_system_call.
#include "kernel/preempt/arch.h"

__attribute__((naked, used)) static void privileged(void)
{
    __asm__ volatile("push {r2, lr}\n\t"
                     "bl   system_call\n\t"
                     "pop  {r2, lr}\n\t"
                     "mrs  r3, control\n\t"
                     "orrs r3, r2\n\t"
                     "msr  control, r3\n\t"
                     "isb\n\t"
                     "bx   lr");
}

// Of the frame that the exception laid: r2 is the third word, pc the seventh.
__attribute__((naked)) void svc_handler(void)
{
    __asm__ volatile("mrs  r0, psp\n\t"
                     "mrs  r1, control\n\t"
                     "and  r2, r1, #1\n\t"
                     "str  r2, [r0, #8]\n\t"
                     "movw r2, #:lower16:privileged\n\t"
                     "movt r2, #:upper16:privileged\n\t"
                     "bic  r2, #1\n\t"
                     "str  r2, [r0, #24]\n\t"
                     "bic  r1, #1\n\t"
                     "msr  control, r1\n\t"
                     "bx   lr");
}

// A fault without privileges ends the process, which goes on in process_fault with a clean status word; elsewhere
// nothing can be done.
__attribute__((naked)) void fault_handler(void)
{
    __asm__ volatile("mrs  r1, control\n\t"
                     "tst  r1, #1\n"
                     "1:\n\t"
                     "beq  1b\n\t"
                     "tst  lr, #4\n"
                     "2:\n\t"
                     "beq  2b\n\t"
                     "mrs  r0, psp\n\t"
                     "movw r2, #:lower16:process_fault\n\t"
                     "movt r2, #:upper16:process_fault\n\t"
                     "bic  r2, #1\n\t"
                     "str  r2, [r0, #24]\n\t"
                     "mov  r2, #0x01000000\n\t"
                     "str  r2, [r0, #28]\n\t"
                     "bic  r1, #1\n\t"
                     "msr  control, r1\n\t"
                     "bx   lr");
}

__attribute__((naked)) intptr_t arch_system_call(__attribute__((unused)) uint32_t number,
                                                 __attribute__((unused)) intptr_t arguments[])
{
    __asm__ volatile("svc  #0\n\t"
                     "bx   lr");
}

void arch_drop_privileges(void)
{
    __asm__ volatile("mrs  r0, control\n\t"
                     "orr  r0, #1\n\t"
                     "msr  control, r0\n\t"
                     "isb" ::
                         : "r0", "memory");
}
