// SPDX-License-Identifier: BSD-2-Clause
// QEMU's machine "virt" with a Cortex-A15: generic timer, GIC version 2, PL011, and virtio devices as registers in memory. QEMU has loaded
// the program; addresses are those of its documentation ("virt" generic virtual platform) and device tree.
#include "board.h"

#include <stdlib.h>

#include "armv7a/mmu.h"
#include "drivers/virtio_mmio.h"
#include "drivers/virtio_net.h"
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
static uint32_t net_irq;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

// --- time: the generic timer (ARMv7-A Architecture Reference Manual, B8) --------------------------------------------------------------

static uint32_t us_per_tick;   // times 2^32
static uint64_t ticks_per_us;  // times 2^16

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

// With interrupts off a pending one ends wfi all the same.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    __asm__ volatile("cpsid i" ::: "memory");
    if (!*awake && until_us > board_now_us()) {
        if (until_us < UINT64_MAX / ticks_per_us)
            timer_at((until_us * ticks_per_us >> 16) + 1);
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    __asm__ volatile("cpsie i" ::: "memory");
}

void board_alarm(uint64_t at_us) { timer_at(at_us < UINT64_MAX / ticks_per_us ? (at_us * ticks_per_us >> 16) + 1 : UINT64_MAX); }
void board_idle(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }
// A kernel's, where there is one (board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}

// --- interrupts --------------------------------------------------------------------------------------------------------------------------

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
    if (irq == TIMER_IRQ) {
        timer_off();
        board_timer();
    } else if (irq == net_irq) {
        virtio_net_interrupt(&net);
        *ethernet_wake = true;
        board_interrupt();
    }
    if (irq < 1020)
        *reg(GIC_CPU + 0x10) = taken;
}

// --- console, randomness, memory ---------------------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART + 0x18) & 1u << 5)
            ;
        *reg(UART) = (uint8_t)*text;
    }
}

// No generator is used: the timer's lowest bits, mixed. Guessable by who sees the board start; Weir stirs in the moments of frames.
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

// --- Ethernet ---------------------------------------------------------------------------------------------------------------------------

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    ethernet_wake = wake;
    for (uint32_t slot = 0; slot < VIRTIO_SLOTS; slot++) {
        if (!virtio_mmio_open(&mmio, VIRTIO + slot * VIRTIO_BYTES, VIRTIO_ID_NET))
            continue;
        if (virtio_net_open(&net, &mmio.transport, &net_memory) != WEIR_OK)
            break;
        virtio_net_attach(&net, netif, "eth0");
        net_irq = VIRTIO_IRQ + slot;
        irq_enable(net_irq);
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
    *reg(UART + 0x30) = 0x301;  // transmitter and receiver on
    *reg(GIC_CPU + 4) = 0xff;
    *reg(GIC_CPU) = 1;
    *reg(GIC) = 1;
    irq_enable(TIMER_IRQ);
}
