// SPDX-License-Identifier: BSD-2-Clause
// ARMv7-A with a vector unit of 32 registers (ARM Architecture Reference Manual, B1): the kernel and its threads run in
// system mode, processes in user mode, which has the same stack pointer, so that a frame can be laid on the thread's
// stack by either (srs). Interrupts' handlers run in IRQ mode, on its stack. The board's start-up
// (boards/armv7a/start.S) leaves the vector irq_entry to this file.
#include "kernel/preempt/arch.h"

#include "flag.h"
#include "frame.h"

#define IRQS_OFF 0x80u
#define SYSTEM_MODE 0x1fu
// of a new thread: interrupts on, asynchronous aborts off as the start-up left them
#define STATUS (SYSTEM_MODE | 0x100u)
#define FRAME_WORDS 82u    // d8–d15; r4–r11; fpscr and a word; d16–d31; d0–d7; r0–r3, r12, lr; pc, cpsr
#define LEAST_BYTES 1024u  // two frames, and a call or two

uint32_t arch_interrupts_off(void)
{
    uint32_t status;
    __asm__ volatile("mrs %0, cpsr\n\tcpsid i" : "=r"(status)::"memory");
    return status & IRQS_OFF;
}

void flag_interrupts_on(void) { __asm__ volatile("cpsie i" ::: "memory"); }

// From a thread, with interrupts off: lays the frame that an interrupt would, though of the registers that a call may
// spoil only the places.
__attribute__((naked, target("arm"))) void flag_switch_now(void)
{
    __asm__ volatile("mrs   r1, cpsr\n\t"
                     "mov   r0, lr\n\t"
                     "push  {r0, r1}\n\t"
                     "push  {r0-r3, r12, lr}\n\t"
                     "sub   sp, sp, #192\n\t"
                     "vmrs  r0, fpscr\n\t"
                     "push  {r0, r1}\n\t"
                     "b     switch_rest");
}

// What both ways share; flag_switch runs on the interrupts' stack, since the thread's may be full or end at any word.
__attribute__((naked, used, target("arm"))) static void switch_rest(void)
{
    __asm__ volatile("switch_rest:\n\t"
                     "push  {r4-r11}\n\t"
                     "vpush {d8-d15}\n\t"
                     "mov   r0, sp\n\t"
                     "cps   #0x12\n\t"
                     "bl    flag_switch\n\t"
                     "cps   #0x1f\n\t"
                     "mov   sp, r0\n\t"
                     "clrex\n\t"
                     "vpop  {d8-d15}\n\t"
                     "pop   {r4-r11}\n\t"
                     "irq_return:\n\t"
                     "pop   {r0, r1}\n\t"
                     "vmsr  fpscr, r0\n\t"
                     "vpop  {d16-d31}\n\t"
                     "vpop  {d0-d7}\n\t"
                     "pop   {r0-r3, r12, lr}\n\t"
                     "rfeia sp!");
}

__attribute__((naked, target("arm"))) void irq_entry(void)
{
    __asm__ volatile("sub   lr, lr, #4\n\t"
                     "srsdb sp!, #0x1f\n\t"
                     "cps   #0x1f\n\t"
                     "push  {r0-r3, r12, lr}\n\t"
                     "vpush {d0-d7}\n\t"
                     "vpush {d16-d31}\n\t"
                     "vmrs  r0, fpscr\n\t"
                     "push  {r0, r1}\n\t"
                     "cps   #0x12\n\t"
                     "bl    interrupt_handler\n\t"
                     "cps   #0x1f\n\t"
                     "ldr   r0, =flag_pending\n\t"
                     "ldrb  r0, [r0]\n\t"
                     "cmp   r0, #0\n\t"
                     "beq   irq_return\n\t"
                     "b     switch_rest\n\t"
                     ".ltorg");
}

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    uint32_t *frame = frame_blank(stack, bytes, LEAST_BYTES, 8, FRAME_WORDS, 0);
    if (frame) {
        frame[FRAME_WORDS - 2] = (uint32_t)(uintptr_t)begin;
        frame[FRAME_WORDS - 1] = STATUS;
    }
    return frame;
}

void arch_start(void)
{
    arch_interrupts_on();
    __builtin_unreachable();
}
