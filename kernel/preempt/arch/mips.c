// SPDX-License-Identifier: BSD-2-Clause
// MIPS32 release 2 without its floating point (MD00090, chapter 6). Software raises interrupt line 0 for a switch;
// boards/mips/start.S saves all registers of what any interrupt came to on the thread's own stack, and handles it on
// another, so that a switch is no more than another frame on the way back. Line 0 is looked at behind all others.
#include "kernel/preempt/arch.h"

#include "frame.h"

// With the start-up code: what it calls for line 0, and how it goes on with a frame.
void *mips_software_interrupt(void *frame);
_Noreturn void mips_continue(void *frame);

#define CAUSE_SOFTWARE 0x100u
#define STATUS_IE 1u
#define STATUS_EXL 2u
#define FRAME_WORDS 36u
#define LEAST_BYTES 256u  // a frame, and what a call lays below
enum { FRAME_EPC = 0, FRAME_STATUS = 26, FRAME_RA = 31 };

static uint32_t cause(void)
{
    uint32_t value;
    __asm__ volatile("mfc0 %0, $13" : "=r"(value));
    return value;
}
static void set_cause(uint32_t value) { __asm__ volatile("mtc0 %0, $13\n\tehb" ::"r"(value) : "memory"); }

uint32_t arch_interrupts_off(void)
{
    uint32_t status;
    __asm__ volatile("di %0\n\tehb" : "=r"(status)::"memory");
    return status;
}

// ehb: what waits is taken before the next instruction.
void arch_interrupts_on(void) { __asm__ volatile("ei\n\tehb" ::: "memory"); }

void arch_interrupts_restore(uint32_t state)
{
    if (state & STATUS_IE)
        arch_interrupts_on();
}

void arch_switch(void) { set_cause(cause() | CAUSE_SOFTWARE); }

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    uint32_t status;
    // Above it the sixteen bytes that a function may expect there for its arguments.
    uint32_t *frame = frame_blank(stack, bytes, LEAST_BYTES, 8, FRAME_WORDS, 4);
    __asm__ volatile("mfc0 %0, $12" : "=r"(status));
    if (frame) {
        frame[FRAME_EPC] = (uint32_t)(uintptr_t)begin;
        frame[FRAME_STATUS] = status | STATUS_EXL | STATUS_IE;
        frame[FRAME_RA] = (uint32_t)(uintptr_t)frame_nowhere;
    }
    return frame;
}

// The compiler has no naked functions for this processor. Sixteen bytes are the called function's, for its arguments.
__asm__(".text\n\t"
        ".set   push\n\t"
        ".set   noreorder\n\t"
        ".globl arch_call_on\n\t"
        ".type  arch_call_on, @function\n"
        "arch_call_on:\n\t"
        "addiu  $sp, $sp, -8\n\t"
        "sw     $ra, 4($sp)\n\t"
        "sw     $s0, 0($sp)\n\t"
        "move   $s0, $sp\n\t"
        "addiu  $sp, $a0, -16\n\t"
        "move   $t9, $a1\n\t"
        "jalr   $t9\n\t"
        "move   $a0, $a2\n\t"
        "move   $sp, $s0\n\t"
        "lw     $s0, 0($sp)\n\t"
        "lw     $ra, 4($sp)\n\t"
        "jr     $ra\n\t"
        "addiu  $sp, $sp, 8\n\t"
        ".set   pop");

void arch_start(void) { mips_continue(thread_switch(NULL)); }

void *mips_software_interrupt(void *frame)
{
    set_cause(cause() & ~CAUSE_SOFTWARE);
    return thread_switch(frame);
}
