// SPDX-License-Identifier: BSD-2-Clause
#include "gic.h"

#include "boards/board.h"

#define GIC_LINES 96u
enum { DISTRIBUTOR_ENABLE = 0x100, DISTRIBUTOR_PRIORITY = 0x400, DISTRIBUTOR_TARGET = 0x800 };
enum { CPU_MASK = 4, CPU_TAKE = 0xc, CPU_END = 0x10 };
#define PRIORITY 0xa0u
#define PRIVATE_LINES 32u  // of the core that enables them: they have no target
#define NUMBER 0x3ffu

static uint32_t gic, gic_cpu;
static void (*handlers[GIC_LINES])(void);

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }
static volatile uint8_t *byte(uint32_t address) { return (volatile uint8_t *)(uintptr_t)address; }

void gic_start(uint32_t distributor, uint32_t cpu_interface)
{
    gic = distributor;
    gic_cpu = cpu_interface;
    *reg(gic_cpu + CPU_MASK) = 0xff;
    *reg(gic_cpu) = 1;
    *reg(gic) = 1;
}

void gic_enable(uint32_t irq, void (*handler)(void))
{
    handlers[irq] = handler;
    *byte(gic + DISTRIBUTOR_PRIORITY + irq) = PRIORITY;
    if (irq >= PRIVATE_LINES)
        *byte(gic + DISTRIBUTOR_TARGET + irq) = 1;
    *reg(gic + DISTRIBUTOR_ENABLE + irq / 32 * 4) = 1u << irq % 32;
}

void interrupt_handler(void);  // from the entry in start.S, or a kernel's
void interrupt_handler(void)
{
    const uint32_t taken = *reg(gic_cpu + CPU_TAKE), irq = taken & NUMBER;
    if (irq < GIC_LINES && handlers[irq])
        handlers[irq]();
    if (irq < 1020)  // above: none was there
        *reg(gic_cpu + CPU_END) = taken;
}

// --- sleep -----------------------------------------------------------------------------------------------------------
// With interrupts off a pending one ends wfi all the same.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    __asm__ volatile("cpsid i" ::: "memory");
    if (!*awake && until_us > board_now_us()) {
        board_alarm(until_us);
        board_idle();
    }
    __asm__ volatile("cpsie i" ::: "memory");
}

void board_idle(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }

// A kernel's, where there is one (board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}
