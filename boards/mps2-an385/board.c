// SPDX-License-Identifier: BSD-2-Clause
// ARM's MPS2 board with the Cortex-M3 image of application note 385: 25 MHz, 4 MB where code runs, 4 MB of RAM,
// LAN9118. Addresses: AN385, table 3.
#include "board.h"

#include "console.h"
#include "cortex_m/systick.h"
#include "drivers/lan9118.h"
#include "mixed_entropy.h"
#include "weir/error.h"

#define CLOCK_MHZ 25u
#define UART0 0x40004000u
#define UART0_IRQ 0u  // of what comes in
#define ETHERNET 0x40200000u
#define ETHERNET_IRQ 13u
#define FPGA_COUNTER 0x40028018u  // of cycles, 25 MHz
#define NVIC_ISER 0xe000e100u

const uint32_t board_granularity_us = 1;
static struct lan9118 ethernet;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

uint64_t board_now_us(void) { return systick_now_us(); }
void board_sleep(uint64_t until_us, const volatile bool *awake) { systick_sleep(until_us, awake); }

bool board_putc(uint8_t byte)
{
    if (*reg(UART0 + 4) & 1)
        return false;
    *reg(UART0) = byte;
    return true;
}

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (!board_putc((uint8_t)*text))
            ;
    }
}

// The cause goes first: a byte that comes between that and the look is seen, or interrupts anew.
bool board_getc(uint8_t *byte)
{
    *reg(UART0 + 12) = 2;
    if (!(*reg(UART0 + 4) & 2))
        return false;
    *byte = (uint8_t)*reg(UART0);
    return true;
}

void board_receive(void)
{
    *reg(UART0 + 8) = 0xb;  // transmit, receive, interrupt behind what was received
    *reg(NVIC_ISER) = 1u << UART0_IRQ;
}

// Two counters that start at different moments.
static uint32_t sample(void) { return *reg(FPGA_COUNTER) + (uint32_t)systick_now_us(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

void ethernet_handler(void)
{
    lan9118_interrupt(&ethernet);
    *ethernet_wake = true;
    board_interrupt();
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x02};
    ethernet_wake = wake;
    if (lan9118_open(&ethernet, ETHERNET, mac) != WEIR_OK)
        board_puts("weir: no LAN9118\n");
    lan9118_attach(&ethernet, netif, "eth0");
    *reg(NVIC_ISER) = 1u << ETHERNET_IRQ;
}

void board_init(void)
{
    systick_start(CLOCK_MHZ);
    *reg(UART0 + 0x10) = CLOCK_MHZ * 1000000 / 115200;
    *reg(UART0 + 8) = 1;  // transmit
}

typedef void vector(void);
#pragma weak console_interrupt  // of programs that receive
__attribute__((section(".vectors.board"), used)) static vector *const board_vectors[ETHERNET_IRQ + 1] = {
    [UART0_IRQ] = console_interrupt, [ETHERNET_IRQ] = ethernet_handler};
