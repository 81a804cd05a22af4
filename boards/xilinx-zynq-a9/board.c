// SPDX-License-Identifier: BSD-2-Clause
// Xilinx Zynq-7000: Cortex-A9, gigabit MAC with descriptor rings. Addresses: UG585, appendix B; the boot loader (here QEMU's) has set the
// clocks and loaded the program to the start of the memory.
#include "board.h"

#include <stdlib.h>

#include "armv7a/mmu.h"
#include "drivers/cadence_gem.h"

#define UART 0xe0000000u
#define GEM 0xe000b000u
#define GEM_IRQ 54u
#define PRIVATE 0xf8f00000u  // of the cores: interrupt controller, global timer
#define GIC_CPU (PRIVATE + 0x100u)
#define GIC (PRIVATE + 0x1000u)
#define TIMER (PRIVATE + 0x200u)
#define TIMER_IRQ 27u
#ifndef TIMER_MHZ
#define TIMER_MHZ 100u  // QEMU's; half the cores' clock on a board: 333
#endif

const uint32_t board_granularity_us = 1;
static struct cadence_gem gem;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

// --- time: the global timer, 64 bits, with an interrupt when it passes a moment -------------------------------------------------------

static uint64_t timer_now(void)
{
    uint32_t high, low;
    do {
        high = *reg(TIMER + 4);
        low = *reg(TIMER);
    } while (*reg(TIMER + 4) != high);
    return (uint64_t)high << 32 | low;
}

uint64_t board_now_us(void) { return timer_now() / TIMER_MHZ; }

static void timer_at(uint64_t when)
{
    *reg(TIMER + 8) = 1;  // no comparing while the moment is written
    *reg(TIMER + 0xc) = 1;
    *reg(TIMER + 0x10) = (uint32_t)when;
    *reg(TIMER + 0x14) = (uint32_t)(when >> 32);
    *reg(TIMER + 8) = 7;  // count, compare, interrupt
}

// With interrupts off a pending one ends wfi all the same.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    __asm__ volatile("cpsid i" ::: "memory");
    if (!*awake && until_us > board_now_us()) {
        if (until_us < UINT64_MAX / TIMER_MHZ)
            timer_at(until_us * TIMER_MHZ);
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
}

void board_alarm(uint64_t at_us) { timer_at(at_us < UINT64_MAX / TIMER_MHZ ? at_us * TIMER_MHZ : UINT64_MAX); }
void board_idle(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }
// A kernel's, where there is one (board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}

// --- interrupts ----------------------------------------------------------------------------------------------------------------------

static void irq_enable(uint32_t irq)
{
    volatile uint8_t *const priority = (volatile uint8_t *)(uintptr_t)(GIC + 0x400), *const target =
                                                                                         (volatile uint8_t *)(uintptr_t)(GIC + 0x800);
    priority[irq] = 0xa0;
    if (irq >= 32)
        target[irq] = 1;
    *reg(GIC + 0x100 + irq / 32 * 4) = 1u << irq % 32;
}

void interrupt_handler(void)
{
    const uint32_t taken = *reg(GIC_CPU + 0xc), irq = taken & 0x3ff;
    if (irq == GEM_IRQ) {
        cadence_gem_interrupt(&gem);
        *ethernet_wake = true;
        board_interrupt();
    } else if (irq == TIMER_IRQ) {
        *reg(TIMER + 8) = 1;
        *reg(TIMER + 0xc) = 1;
        board_timer();
    }
    if (irq < 1020)
        *reg(GIC_CPU + 0x10) = taken;
}

// --- console, randomness, memory -----------------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART + 0x2c) & 1u << 4)
            ;
        *reg(UART + 0x30) = (uint8_t)*text;
    }
}

// The part has no generator that a program reaches without its logic: the timer's lowest bits, mixed. Guessable by who sees the board
// start; Weir stirs in the moments of frames. A product has an entropy source and uses it here.
void board_entropy(void *out, size_t bytes)
{
    static uint32_t state = 0x57656972;
    uint8_t *to = out;
    for (; bytes; bytes--, to++) {
        state = (state << 5 | state >> 27) * 0x9e3779b1u + (uint32_t)timer_now();
        *to = (uint8_t)(state >> 24);
    }
}

void *board_alloc(size_t bytes) { return malloc(bytes); }
void board_free(void *memory) { free(memory); }

extern char link_heap[], link_heap_end[];
void *_sbrk(ptrdiff_t bytes)
{
    static char *top = link_heap;
    if (bytes > link_heap_end - top)
        return (void *)-1;
    top += bytes;
    return top - bytes;
}

// --- Ethernet ------------------------------------------------------------------------------------------------------------------------

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static __attribute__((section(".uncached"))) struct cadence_gem_rings rings;
    static const struct cadence_gem_board board = {.base = GEM,
                                                   .rings = &rings,
                                                   .mac = {0x02, 0x57, 0x65, 0x69, 0x72, 0x03},
                                                   .phy = 7,
                                                   .clean = mmu_clean,
                                                   .invalidate = mmu_invalidate};
    ethernet_wake = wake;
    cadence_gem_open(&gem, &board);
    cadence_gem_attach(&gem, netif, "eth0");
    irq_enable(GEM_IRQ);
}

void board_init(void)
{
    *reg(UART) = 0x14;  // transmitter and receiver on
    *reg(TIMER + 8) = 1;
    *reg(GIC_CPU + 4) = 0xff;
    *reg(GIC_CPU) = 1;
    *reg(GIC) = 1;
    irq_enable(TIMER_IRQ);
}
