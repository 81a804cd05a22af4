// SPDX-License-Identifier: BSD-2-Clause
// QEMU's machine "virt" with a Cortex-A15: generic timer, GIC version 2, PL011, and virtio devices as registers in
// memory. QEMU has loaded the program; addresses are those of its documentation ("virt" generic virtual platform) and
// device tree.
#include "board.h"

#include "armv7a/gic.h"
#include "drivers/virtio_mmio.h"
#include "drivers/virtio_net.h"
#include "mixed_entropy.h"
#include "weir/error.h"

#define GIC 0x08000000u
#define GIC_CPU 0x08010000u
#define UART 0x09000000u
#define VIRTIO 0x0a000000u
#define VIRTIO_BYTES 0x200u
#define VIRTIO_SLOTS 32u
#define VIRTIO_IRQ 48u  // of the first slot
#define TIMER_IRQ 27u   // the virtual timer's

const uint32_t board_granularity_us = 1;
static struct virtio_mmio mmio;
static struct virtio_net net;
static struct virtio_net_memory net_memory;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

// --- time: the generic timer (ARMv7-A Architecture Reference Manual, B8) ---------------------------------------------

static uint32_t us_per_tick;    // times 2^32
static uint64_t ticks_per_us;   // times 2^16
static uint64_t alarm_last_us;  // what the timer can be set to; found once, since it takes a division of 64 bits

static uint64_t timer_now(void)
{
    uint32_t low, high;
    __asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14" : "=r"(low), "=r"(high));
    return (uint64_t)high << 32 | low;
}

uint64_t board_now_us(void)
{
    const uint64_t now = timer_now();
    return (now >> 32) * us_per_tick + ((now & 0xffffffff) * us_per_tick >> 32);
}

static void timer_at(uint64_t when)
{
    __asm__ volatile("mcrr p15, 3, %0, %1, c14" ::"r"((uint32_t)when), "r"((uint32_t)(when >> 32)));
    __asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" ::"r"(1));
}
static void timer_off(void) { __asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" ::"r"(0)); }

void board_alarm(uint64_t at_us) { timer_at(at_us < alarm_last_us ? (at_us * ticks_per_us >> 16) + 1 : UINT64_MAX); }
static void timer_interrupt(void)
{
    timer_off();
    board_timer();
}

// --- console, randomness ---------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART + 0x18) & 1u << 5)
            ;
        *reg(UART) = (uint8_t)*text;
    }
}

static uint32_t sample(void) { return (uint32_t)timer_now(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

// --- Ethernet --------------------------------------------------------------------------------------------------------

static void ethernet_interrupt(void)
{
    virtio_net_interrupt(&net);
    *ethernet_wake = true;
    board_interrupt();
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    ethernet_wake = wake;
    for (uint32_t slot = 0; slot < VIRTIO_SLOTS; slot++) {
        if (!virtio_mmio_open(&mmio, VIRTIO + slot * VIRTIO_BYTES, VIRTIO_ID_NET))
            continue;
        if (virtio_net_open(&net, &mmio.transport, &net_memory) != WEIR_OK)
            break;
        virtio_net_attach(&net, netif, "eth0");
        gic_enable(VIRTIO_IRQ + slot, ethernet_interrupt);
        return;
    }
    board_puts("weir: no virtio network device of version 1\n");
    for (;;)
        ;
}

void board_init(void)
{
    uint32_t frequency;
    __asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
    us_per_tick = (uint32_t)((1000000ull << 32) / frequency);
    ticks_per_us = ((uint64_t)frequency << 16) / 1000000u;
    alarm_last_us = UINT64_MAX / ticks_per_us;
    *reg(UART + 0x30) = 0x301;  // transmitter and receiver on
    gic_start(GIC, GIC_CPU);
    gic_enable(TIMER_IRQ, timer_interrupt);
}
