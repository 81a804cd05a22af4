// SPDX-License-Identifier: BSD-2-Clause
// x86 in 32 bits, one flat segment, without floating point or vectors (Intel 64 and IA-32 Software Developer's Manual, volume 3, chapter
// 6). A frame is what an interrupt leaves on the thread's stack: eight registers, the vector, and what iret takes. The board's start-up
// (boards/x86/start.S) leaves the entry irq_entry to this file, with the vector pushed; handlers run on main's stack.
#include "kernel/preempt/arch.h"

#include <stdbool.h>

#define FLAG_INTERRUPTS 0x200u
#define STATUS 0x202u       // of a new thread: interrupts on; the second bit is always set
#define CODE_SEGMENT 0x08u  // boards/x86/start.S
#define FRAME_WORDS 12u     // edi, esi, ebp, (esp), ebx, edx, ecx, eax; vector; eip, cs, eflags
#define LEAST_BYTES 256u    // two frames, and a call or two

extern uint8_t link_stack_top[];
static volatile bool pending;
__attribute__((used)) static uint8_t *interrupts_stack;  // NULL until the kernel starts: then an interrupt stays on the stack that it met

uint32_t arch_interrupts_off(void)
{
    uint32_t flags;
    __asm__ volatile("pushf\n\tpop %0\n\tcli" : "=r"(flags)::"memory");
    return flags & FLAG_INTERRUPTS ? 0 : 1;
}

void arch_switch(void) { pending = true; }

__attribute__((used)) static void *switch_from(void *frame)
{
    pending = false;
    return thread_switch(frame);
}

// Both ways meet in switch_rest, with a whole frame on the thread's stack. thread_switch runs on the interrupts', for the thread's may be
// full. switch_now is the way of a thread: it makes the frame that an interrupt would, returning to its caller with interrupts off.
__attribute__((naked)) static void switch_now(void)
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
                     "call  switch_from\n\t"
                     "mov   %eax, %esp\n"
                     "irq_return:\n\t"
                     "popa\n\t"
                     "add   $4, %esp\n\t"
                     "iret");
}

// ebx keeps the frame: a function leaves it as it was.
__attribute__((naked)) void irq_entry(void)
{
    __asm__ volatile("pusha\n\t"
                     "cld\n\t"
                     "mov   %%esp, %%ebx\n\t"
                     "mov   interrupts_stack, %%eax\n\t"
                     "test  %%eax, %%eax\n\t"
                     "cmovnz %%eax, %%esp\n\t"
                     "push  32(%%ebx)\n\t"
                     "call  x86_interrupt\n\t"
                     "mov   %%ebx, %%esp\n\t"
                     "cmpb  $0, %c0\n\t"
                     "je    irq_return\n\t"
                     "jmp   switch_rest" ::"i"(&pending));
}

void arch_interrupts_on(void)
{
    while (pending)
        switch_now();
    __asm__ volatile("sti" ::: "memory");
}

void arch_interrupts_restore(uint32_t state)
{
    if (!state)
        arch_interrupts_on();
}

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    if (bytes < LEAST_BYTES)
        return NULL;
    // `begin` finds the stack as if it had been called from nowhere: aligned to 16 above its return address.
    uint32_t *frame = (uint32_t *)(((uintptr_t)stack + bytes) & ~(uintptr_t)15) - 1 - FRAME_WORDS;
    for (uint32_t i = 0; i <= FRAME_WORDS; i++)
        frame[i] = 0;
    frame[9] = (uint32_t)(uintptr_t)begin;
    frame[10] = CODE_SEGMENT;
    frame[11] = STATUS;
    return frame;
}

void arch_start(void)
{
    interrupts_stack = link_stack_top;
    arch_interrupts_on();
    __builtin_unreachable();
}
