// SPDX-License-Identifier: BSD-2-Clause
// ARMv7-M without floating point (Cortex-M3, ARMv7-M Architecture Reference Manual, B1.5): threads run on the process
// stack, interrupts on main's. The switch is the PendSV exception with the lowest priority, so it comes when no
// interrupt is being handled. The exception has saved eight registers on the thread's stack already; the other eight,
// and whether the thread has privileges, go below them.
#include "kernel/preempt/arch.h"

#include "frame.h"

#define ICSR 0xe000ed04u
#define VTOR 0xe000ed08u
#define SHPR3 0xe000ed20u
#define PENDSVSET (1u << 28)
#define PENDSV_LOWEST (0xffu << 16)
#define THUMB (1u << 24)  // of xPSR: must be set
#define FRAME_WORDS 17u   // CONTROL; r4–r11; r0–r3, r12, lr, pc, xPSR
#define LEAST_BYTES 256u  // a frame, and room for an interrupt to lay another on it

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

uint32_t arch_interrupts_off(void)
{
    uint32_t primask;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
    return primask;
}

// isb: what waits is taken before the next instruction.
void arch_interrupts_restore(uint32_t state) { __asm__ volatile("msr primask, %0\n\tisb" ::"r"(state) : "memory"); }
void arch_interrupts_on(void) { __asm__ volatile("cpsie i\n\tisb" ::: "memory"); }

void arch_switch(void) { *reg(ICSR) = PENDSVSET; }

void *arch_frame(void *stack, size_t bytes, void (*begin)(void))
{
    uint32_t *frame = frame_blank(stack, bytes, LEAST_BYTES, 8, FRAME_WORDS, 0);
    if (frame) {
        frame[14] = (uint32_t)(uintptr_t)frame_nowhere;
        frame[15] = (uint32_t)(uintptr_t)begin & ~1u;
        frame[16] = THUMB;
    }
    return frame;
}

// The first switch saves the registers of nobody: just below where main's stack is now, which is the interrupts' from
// here on, from its top. thread_switch has no thread to give that frame to.
__attribute__((naked)) static void to_process_stack(void)
{
    __asm__ volatile("mov  r0, sp\n\t"
                     "msr  psp, r0\n\t"
                     "movs r0, #2\n\t"
                     "msr  control, r0\n\t"
                     "isb\n\t"
                     "bx   lr");
}

void arch_start(void)
{
    *reg(SHPR3) |= PENDSV_LOWEST;
    to_process_stack();
    __asm__ volatile("msr msp, %0" ::"r"(**(uint32_t **)(uintptr_t)VTOR) : "memory");
    arch_interrupts_on();
    for (;;)
        ;
}

// 0xfffffffd, in lr all the while, returns to the process stack; r3 is pushed beside it for the alignment only.
__attribute__((naked)) void pendsv_handler(void)
{
    __asm__ volatile("mrs    r0, psp\n\t"
                     "mrs    r3, control\n\t"
                     "stmdb  r0!, {r3-r11}\n\t"
                     "push   {r3, lr}\n\t"
                     "cpsid  i\n\t"
                     "bl     thread_switch\n\t"
                     "cpsie  i\n\t"
                     "pop    {r3, lr}\n\t"
                     "ldmia  r0!, {r3-r11}\n\t"
                     "msr    control, r3\n\t"
                     "msr    psp, r0\n\t"
                     "bx     lr");
}
