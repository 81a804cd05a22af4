// SPDX-License-Identifier: BSD-2-Clause
// The board that sizes are compared on, for a kernel that sets alarms: a Cortex-M3 at 25 MHz with a MAC of three
// registers and nothing else. The MAC has no interrupt, so its driver asks to be called each millisecond.
#include "boards/board.h"

#include "boards/cortex_m/systick.h"
#include "drivers/memory_mac.h"

#define CLOCK_MHZ 25u
#define MAC 0x40028000u
#define SYSTICK_CURRENT 0xe000e018u

const uint32_t board_granularity_us = 1;

uint64_t board_now_us(void) { return systick_now_us(); }
void board_puts(const char *text) { (void)text; }

// The board has no source of randomness: what the counter shows when it is asked. A product has an entropy source and
// uses it here.
void board_entropy(void *out, size_t bytes)
{
    uint32_t state = 0x57656972;
    for (uint8_t *to = out; bytes; bytes--) {
        state = (state << 5 | state >> 27) * 0x9e3779b1u + *(volatile uint32_t *)SYSTICK_CURRENT;
        *to++ = (uint8_t)(state >> 24);
    }
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static struct memory_mac ethernet;
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x03};
    (void)wake;  // nothing interrupts
    memory_mac_attach(&ethernet, MAC, netif, mac);
}

void board_init(void) { systick_start(CLOCK_MHZ); }
