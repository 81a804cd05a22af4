// SPDX-License-Identifier: BSD-2-Clause
// Xilinx Zynq-7000: Cortex-A9, gigabit MAC with descriptor rings. Addresses: UG585, appendix B; the boot loader (here
// QEMU's) has set the clocks and loaded the program to the start of the memory.
#include "board.h"

#include "armv7a/gic.h"
#include "armv7a/mmu.h"
#include "drivers/cadence_gem.h"
#include "mixed_entropy.h"

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

// --- time: the global timer, 64 bits, with an interrupt when it passes a moment --------------------------------------

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

void board_alarm(uint64_t at_us) { timer_at(at_us < UINT64_MAX / TIMER_MHZ ? at_us * TIMER_MHZ : UINT64_MAX); }
static void timer_interrupt(void)
{
    *reg(TIMER + 8) = 1;
    *reg(TIMER + 0xc) = 1;
    board_timer();
}

// --- console, randomness ---------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART + 0x2c) & 1u << 4)
            ;
        *reg(UART + 0x30) = (uint8_t)*text;
    }
}

static uint32_t sample(void) { return (uint32_t)timer_now(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

// --- Ethernet --------------------------------------------------------------------------------------------------------

static void ethernet_interrupt(void)
{
    cadence_gem_interrupt(&gem);
    *ethernet_wake = true;
    board_interrupt();
}

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
    gic_enable(GEM_IRQ, ethernet_interrupt);
}

void board_init(void)
{
    *reg(UART) = 0x14;  // transmitter and receiver on
    *reg(TIMER + 8) = 1;
    gic_start(GIC, GIC_CPU);
    gic_enable(TIMER_IRQ, timer_interrupt);
}
