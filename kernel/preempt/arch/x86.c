// SPDX-License-Identifier: BSD-2-Clause
// x86 in 32 bits, flat segments, without floating point or vectors (Intel 64 and IA-32 Software Developer's Manual,
// volume 3, chapter 6). A frame is what an interrupt leaves on the thread's stack: eight registers, the vector, and
// what iret takes, which for a process (ring 3) has its stack's pointer, too. The board's start-up (boards/x86/start.S)
// leaves the entry irq_entry to this file, with the vector pushed; handlers run on main's stack.
#include "x86.h"

#include "flag.h"
#include "frame.h"
#include "kernel/preempt/arch.h"

#define FLAG_INTERRUPTS 0x200u
#define STATUS 0x202u     // of a new thread: interrupts on; the second bit is always set
#define FRAME_WORDS 12u   // edi, esi, ebp, (esp), ebx, edx, ecx, eax; vector; eip, cs, eflags
#define LEAST_BYTES 256u  // two frames, and a call or two

extern uint8_t link_stack_top[];
__attribute__((used)) static uint8_t
    *interrupts_stack;  // NULL until the kernel starts: then an interrupt stays on the stack that it met

uint32_t arch_interrupts_off(void)
{
    uint32_t flags;
    __asm__ volatile("pushf\n\tpop %0\n\tcli" : "=r"(flags)::"memory");
    return flags & FLAG_INTERRUPTS ? 0 : 1;
}

void flag_interrupts_on(void) { __asm__ volatile("sti" ::: "memory"); }

// Both ways meet in switch_rest, with a whole frame on the thread's stack. thread_switch runs on the interrupts', for
// the thread's may be full. flag_switch_now is the way of a thread: it makes the frame that an interrupt would,
// returning to its caller with interrupts off.
__attribute__((naked)) void flag_switch_now(void)
{
    __asm__ volatile("pop   %eax\n\t"
                     "pushf\n\t"
                     "push  %cs\n\t"
                     "push  %eax\n\t"
                     "push  $0\n\t"
                     "pusha\n"
                     "switch_rest:\n\t"
                     "mov   %esp, %eax\n\t"
                     "mov   interrupts_stack, %esp\n\t"
                     "push  %eax\n\t"
                     "call  flag_switch\n\t"
                     "mov   %eax, %esp\n\t"
                     ".global irq_return\n"
                     "irq_return:\n\t"
                     "popa\n\t"
                     "add   $4, %esp\n\t"
                     "iret");
}

// ebx keeps the frame: a function leaves it as it was.
__attribute__((naked)) void irq_entry(void)
{
    __asm__ volatile(X86_SAVE "mov   %esp, %ebx\n\t"
                              "mov   interrupts_stack, %eax\n\t"
                              "test  %eax, %eax\n\t"
                              "cmovnz %eax, %esp\n\t"
                              "push  32(%ebx)\n\t"
                              "call  x86_interrupt\n\t"
                              "mov   %ebx, %esp\n\t"
                              "cmpb  $0, flag_pending\n\t"
                              "je    irq_return\n\t"
                              "jmp   switch_rest");
}

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    // `begin` finds the stack as if it had been called from nowhere: aligned to 16 above its return address.
    uint32_t *frame = frame_blank(stack, bytes, LEAST_BYTES, 16, FRAME_WORDS, 1);
    if (frame) {
        frame[9] = (uint32_t)(uintptr_t)begin;
        frame[10] = X86_KERNEL_CODE;
        frame[11] = STATUS;
    }
    return frame;
}

__attribute__((naked)) void arch_call_on(__attribute__((unused)) void *end,
                                         __attribute__((unused)) void (*function)(void *argument),
                                         __attribute__((unused)) void *argument)
{
    __asm__ volatile("push  %ebp\n\t"
                     "mov   %esp, %ebp\n\t"
                     "mov   8(%ebp), %esp\n\t"
                     "sub   $12, %esp\n\t"
                     "push  16(%ebp)\n\t"
                     "call  *12(%ebp)\n\t"
                     "mov   %ebp, %esp\n\t"
                     "pop   %ebp\n\t"
                     "ret");
}

void arch_start(void)
{
    interrupts_stack = link_stack_top;
    arch_interrupts_on();
    __builtin_unreachable();
}
