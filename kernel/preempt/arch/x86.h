// SPDX-License-Identifier: BSD-2-Clause
// What x86.c and x86_call.c share: how interrupts and calls begin.
#ifndef PREEMPT_ARCH_X86_H
#define PREEMPT_ARCH_X86_H

// The registers are saved. If a process was interrupted that is on the entry's stack, which all share and which holds
// it only until here: the frame, with the pointer to the process's own stack at its end, moves there.
#define X86_SAVE \
    "pusha\n\t" \
    "cld\n\t" \
    "testl $3, 40(%esp)\n\t" \
    "jz    1f\n\t" \
    "mov   %esp, %esi\n\t" \
    "mov   48(%esp), %edi\n\t" \
    "sub   $56, %edi\n\t" \
    "mov   %edi, %eax\n\t" \
    "mov   $14, %ecx\n\t" \
    "rep movsl\n\t" \
    "mov   %eax, %esp\n" \
    "1:\n\t"
enum { X86_KERNEL_CODE = 0x08, X86_PROCESS_CODE = 0x1b, X86_PROCESS_DATA = 0x23 };  // selectors: boards/x86/start.S

#endif
