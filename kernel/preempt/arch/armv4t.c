// SPDX-License-Identifier: BSD-2-Clause
// ARMv4T, and ARMv5 without a vector unit (ARM Architecture Reference Manual, DDI 0100, A2): the kernel and its threads
// run in system mode, processes in user mode, which has the same stack pointer and link register. Interrupts' handlers
// run in IRQ mode, on its stack; the forms of ldm and stm with ^ reach the thread's registers from there, so that a
// frame needs neither srs nor rfe. The board's start-up (boards/armv4t/start.S) leaves the vector irq_entry to this
// file.
#include "kernel/preempt/arch.h"

#include "flag.h"
#include "frame.h"

#define IRQS_OFF 0x80u
#define STATUS 0x5fu      // of a new thread: system mode, ARM code, interrupts on; fast ones are never used
#define LEAST_BYTES 256u  // a frame, and what a call lays below
// cpsr; r0–r12, sp, lr; pc. In the comments below a frame begins at its cpsr.
enum { FRAME_STATUS = 0, FRAME_SP = 14, FRAME_PC = 16, FRAME_WORDS = 17 };

uint32_t arch_interrupts_off(void)
{
    uint32_t status, off;
    __asm__ volatile("mrs %0, cpsr\n\t"
                     "orr %1, %0, #0x80\n\t"
                     "msr cpsr_c, %1"
                     : "=r"(status), "=r"(off)::"memory");
    return status & IRQS_OFF;
}

void flag_interrupts_on(void)
{
    uint32_t status;
    __asm__ volatile("mrs %0, cpsr\n\t"
                     "bic %0, %0, #0x80\n\t"
                     "msr cpsr_c, %0"
                     : "=r"(status)::"memory");
}

// From a thread, with interrupts off: lays the frame that an interrupt would, whose pc is the caller, and goes on in
// IRQ mode, on the interrupts' stack, since the thread's may be full.
__attribute__((naked, target("arm"))) void flag_switch_now(void)
{
    __asm__ volatile("mov   r12, sp\n\t"
                     "str   lr, [r12, #-4]!\n\t"
                     "stmdb r12, {r0-r12, sp, lr}\n\t"
                     "mrs   r1, cpsr\n\t"
                     "sub   r0, r12, #64\n\t"
                     "str   r1, [r0]\n\t"
                     "msr   cpsr_c, #0xd2\n\t"
                     "bl    flag_switch\n\t"
                     "b     frame_return");
}

// In IRQ mode: goes on with the frame at r0. After an ldm or stm with ^ the next instruction may not name a register
// that modes have of their own.
__attribute__((naked, used, target("arm"))) static void return_to_frame(void)
{
    __asm__ volatile("frame_return:\n\t"
                     "ldr   r1, [r0]\n\t"
                     "msr   spsr_cxsf, r1\n\t"
                     "add   lr, r0, #4\n\t"
                     "ldmia lr, {r0-r12, sp, lr}^\n\t"
                     "nop\n\t"
                     "ldr   lr, [lr, #60]\n\t"
                     "movs  pc, lr");
}

// The thread's stack pointer comes by way of the interrupts' stack; r4, saved with the rest, keeps the frame over the
// handler.
__attribute__((naked, target("arm"))) void irq_entry(void)
{
    __asm__ volatile("sub   lr, lr, #4\n\t"
                     "str   r0, [sp, #-4]!\n\t"
                     "stmdb sp, {sp}^\n\t"
                     "nop\n\t"
                     "ldr   r0, [sp, #-4]\n\t"
                     "str   lr, [r0, #-4]\n\t"
                     "sub   lr, r0, #4\n\t"
                     "ldr   r0, [sp], #4\n\t"
                     "stmdb lr, {r0-r12, sp, lr}^\n\t"
                     "nop\n\t"
                     "mrs   r0, spsr\n\t"
                     "sub   r4, lr, #64\n\t"
                     "str   r0, [r4]\n\t"
                     "bl    interrupt_handler\n\t"
                     "ldr   r1, =flag_pending\n\t"
                     "ldrb  r1, [r1]\n\t"
                     "mov   r0, r4\n\t"
                     "cmp   r1, #0\n\t"
                     "blne  flag_switch\n\t"
                     "b     frame_return\n\t"
                     ".ltorg");
}

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    uint32_t *frame = frame_blank(stack, bytes, LEAST_BYTES, 8, FRAME_WORDS, 0);
    if (frame) {
        frame[FRAME_STATUS] = STATUS;
        frame[FRAME_SP] = (uint32_t)(uintptr_t)(frame + FRAME_WORDS);
        frame[FRAME_PC] = (uint32_t)(uintptr_t)begin;
    }
    return frame;
}

// As arm.c's, without the instructions that came with ARMv5.
__attribute__((naked, target("arm"))) void arch_call_on(__attribute__((unused)) void *end,
                                                        __attribute__((unused)) void (*function)(void *argument),
                                                        __attribute__((unused)) void *argument)
{
    __asm__ volatile("push  {r4, lr}\n\t"
                     "mov   r4, sp\n\t"
                     "mov   sp, r0\n\t"
                     "mov   r0, r2\n\t"
                     "mov   lr, pc\n\t"
                     "bx    r1\n\t"
                     "mov   sp, r4\n\t"
                     "pop   {r4, lr}\n\t"
                     "bx    lr");
}

void arch_start(void)
{
    arch_interrupts_on();
    __builtin_unreachable();
}
