// SPDX-License-Identifier: BSD-2-Clause
#include "cpu.h"

#include "boards/board.h"

uint32_t cpu_interrupts_off(void)
{
    uint32_t status, off;
    __asm__ volatile("mrs %0, cpsr\n\t"
                     "orr %1, %0, #0x80\n\t"
                     "msr cpsr_c, %1"
                     : "=r"(status), "=r"(off)::"memory");
    return status;
}

void cpu_interrupts_restore(uint32_t state) { __asm__ volatile("msr cpsr_c, %0" ::"r"(state) : "memory"); }

// With interrupts off a pending one ends board_idle all the same.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    const uint32_t state = cpu_interrupts_off();
    if (!*awake && until_us > board_now_us()) {
        board_alarm(until_us);
        board_idle();
    }
    cpu_interrupts_restore(state);
}

// A kernel's, where there is one (board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}
