// SPDX-License-Identifier: BSD-2-Clause
// What a MIPS32 release 2 core has of its own: coprocessor 0's clock, interrupts, caches, and the windows through which
// the same memory is seen (MD00090): KUSEG, where the program lies, since processes in user mode see nothing else;
// KSEG0, cached as well and never translated, where exceptions begin; KSEG1, not cached.
#ifndef MIPS_MIPS_H
#define MIPS_MIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define MIPS_KSEG1 0xa0000000u
#define MIPS_PHYSICAL 0x1fffffffu

static inline void *mips_uncached(uint32_t physical) { return (void *)(uintptr_t)(MIPS_KSEG1 | physical); }
static inline uint32_t mips_physical(const volatile void *memory)
{
    return (uint32_t)(uintptr_t)memory & MIPS_PHYSICAL;
}

static inline uint32_t mips_interrupts_off(void)
{
    uint32_t status;
    __asm__ volatile("di %0\n\tehb" : "=r"(status)::"memory");
    return status;
}
static inline void mips_interrupts_restore(uint32_t status)
{
    if (status & 1)
        __asm__ volatile("ei\n\tehb" ::: "memory");
}
void mips_idle(void);  // start.S: interrupts on, and wait for one

// Cause and Status: the interrupt lines. 0 is raised by software, 7 is the timer's.
enum { MIPS_LINE_SOFTWARE = 0, MIPS_LINE_TIMER = 7 };
void mips_start(uint32_t timer_mhz);  // clock and timer; interrupts are on afterwards
void mips_line_enable(uint32_t line, void (*handler)(void));

// As in boards/board.h. The counter's 32 bits are extended by whoever looks, at the latest when half of them have gone
// by.
uint64_t mips_now_us(void);
void mips_sleep(uint64_t until_us, const volatile bool *awake);

void mips_clean(const void *memory, uint32_t bytes);
void mips_invalidate(const void *memory, uint32_t bytes);

// A kernel's (kernel/preempt/arch/mips.c), behind the software interrupt: goes on with the frame it returns.
void *mips_software_interrupt(void *frame);
void *mips_process_exception(void *frame, uint32_t code);  // and behind other exceptions; NULL: it was not a process's
WEIR_NORETURN void mips_continue(void *frame);             // start.S

WEIR_END_DECLS

#endif
