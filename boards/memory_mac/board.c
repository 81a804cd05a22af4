// SPDX-License-Identifier: BSD-2-Clause
// The board that sizes are compared on (docs: bench/metal): a Cortex-M3 at 25 MHz as in ARM's MPS2 AN385, with a MAC of
// three registers and nothing else. SysTick counts milliseconds; the MAC has no interrupt, so the tick is also what
// ends a sleep to look for frames.
#include "board.h"

#include "drivers/memory_mac.h"

#define CYCLES_PER_MS 25000u
#define US_PER_TICK 1000u
#define SYSTICK 0xe000e010u
#define MAC 0x40028000u

const uint32_t board_granularity_us = 1000;
static volatile uint32_t time_us, time_high;  // the two halves
static struct memory_mac ethernet;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

void systick_handler(void)
{
    if ((time_us += US_PER_TICK) < US_PER_TICK)
        time_high++;
    *ethernet_wake = true;
}

// Both halves belong together when the upper one is the same twice.
uint64_t board_now_us(void)
{
    uint32_t high, low;
    do {
        high = time_high;
        low = time_us;
    } while (high != time_high);
    return (uint64_t)high << 32 | low;
}

// An interrupt between the look and the sleep is pending, and ends it.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    (void)until_us;  // no longer than to the next tick
    __asm__ volatile("cpsid i" ::: "memory");
    if (!*awake)
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    __asm__ volatile("cpsie i" ::: "memory");
}

// The board has no source of randomness: what the counter shows when it is asked. A product has an entropy source and
// uses it here.
void board_entropy(void *out, size_t bytes)
{
    uint32_t state = *reg(SYSTICK + 8);
    for (uint8_t *to = out; bytes; bytes--) {
        state = (state << 5 | state >> 27) * 0x9e3779b1u + *reg(SYSTICK + 8);
        *to++ = (uint8_t)(state >> 24);
    }
}

void board_puts(const char *text) { (void)text; }

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x03};
    ethernet_wake = wake;
    memory_mac_attach(&ethernet, MAC, netif, mac);
    *reg(SYSTICK + 4) = CYCLES_PER_MS - 1;
    *reg(SYSTICK + 8) = 0;
    *reg(SYSTICK) = 7;  // the processor's clock, interrupt, on
}

void board_init(void) {}
