// SPDX-License-Identifier: BSD-2-Clause
// TI LM3S6965 evaluation board: Cortex-M3 at 50 MHz, 256 KB of flash and 64 KB of SRAM, of which link.ld uses 64 and
// 20, the size of the parts that the Romantiki work had in mind. Register numbers: LM3S6965 data sheet.
#include "board.h"

#include <string.h>

#include "cortex_m/systick.h"
#include "drivers/stellaris.h"

#define CLOCK_MHZ 50u
#define SYSCTL 0x400fe000u
#define RIS (SYSCTL + 0x050u)
#define RCC (SYSCTL + 0x060u)
#define RCGC0 (SYSCTL + 0x100u)
#define RCGC1 (SYSCTL + 0x104u)
#define RCGC2 (SYSCTL + 0x108u)
#define UART0 0x4000c000u
#define ADC 0x40038000u
#define ETHERNET 0x40048000u
#define ETHERNET_IRQ 42u
#define NVIC_ISER 0xe000e100u

const uint32_t board_granularity_us = 1;
static struct stellaris ethernet;
static volatile bool *ethernet_wake;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

// --- clock: the 8 MHz crystal, the PLL's 200 MHz divided by 4 (data sheet, 5.3) --------------------------------------

static void clock_init(void)
{
    const uint32_t pll_lock = 1u << 6;
    uint32_t rcc = *reg(RCC);
    rcc = (rcc & ~(1u << 22)) | 1u << 11;  // divider off, PLL bypassed
    *reg(RCC) = rcc;
    rcc = (rcc & ~(0x3c0u | 0x30u | 1u << 13 | 1u << 0)) | 0xeu << 6;  // crystal of 8 MHz, main oscillator, PLL on
    *reg(RCC) = rcc;
    rcc = (rcc & ~(0xfu << 23)) | 3u << 23 | 1u << 22;  // divided by 4
    *reg(RCC) = rcc;
    for (uint32_t tries = 0; tries < 10000 && !(*reg(RIS) & pll_lock); tries++)
        ;
    *reg(RCC) = rcc & ~(1u << 11);
}

uint64_t board_now_us(void) { return systick_now_us(); }
void board_sleep(uint64_t until_us, const volatile bool *awake) { systick_sleep(until_us, awake); }

// --- console: UART0, 115200 8N1 --------------------------------------------------------------------------------------

static void uart_init(void)
{
    *reg(RCGC1) |= 1;
    *reg(RCGC2) |= 1;  // its pins, on port A
    *reg(0x40004000u + 0x420u) |= 3;
    *reg(0x40004000u + 0x51cu) |= 3;
    *reg(UART0 + 0x024) = CLOCK_MHZ * 1000000 / (16 * 115200);
    *reg(UART0 + 0x028) = (CLOCK_MHZ * 1000000 * 4 / 115200 + 1) / 2 % 64;
    *reg(UART0 + 0x02c) = 0x70;
    *reg(UART0 + 0x030) = 0x301;
}

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART0 + 0x018) & 1u << 5)
            ;
        *reg(UART0) = (uint8_t)*text;
    }
}

// --- randomness: the part has no generator. The lowest bits of the temperature sensor's converter are noise, about one
// bit of entropy a sample at the best; 64 samples go into each word asked for. Enough against guessing from afar, not
// against one who can measure the part.

static void adc_init(void)
{
    *reg(RCGC0) |= 1u << 16;
    *reg(ADC + 0x000) = 0;  // sequencer 3 off while it is set up
    *reg(ADC + 0x014) = 0;  // started by software
    *reg(ADC + 0x0a0) = 0;
    *reg(ADC + 0x0a4) = 0xe;  // the temperature sensor, one sample, with a flag at its end
    *reg(ADC + 0x000) = 1u << 3;
}

static uint32_t adc_sample(void)
{
    *reg(ADC + 0x00c) = 1u << 3;
    *reg(ADC + 0x028) = 1u << 3;
    for (uint32_t tries = 0; tries < 1000 && *reg(ADC + 0x0ac) & 1u << 8; tries++)
        ;
    return *reg(ADC + 0x0a8);
}

void board_entropy(void *out, size_t bytes)
{
    uint8_t *to = out;
    for (; bytes; bytes--, to++) {
        uint32_t mixed = (uint32_t)systick_now_us();
        for (uint32_t i = 0; i < 16; i++)
            mixed = (mixed << 7 | mixed >> 25) * 0x9e3779b1u + adc_sample();
        *to = (uint8_t)(mixed >> 24);
    }
}

// --- Ethernet --------------------------------------------------------------------------------------------------------

void ethernet_handler(void)
{
    stellaris_interrupt(&ethernet);
    *ethernet_wake = true;
    board_interrupt();
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    // The evaluation board keeps its address in the flash's user registers (data sheet, 7.3.3); an erased one gets a
    // local address.
    const uint32_t low = *reg(SYSCTL + 0x1e0), high = *reg(SYSCTL + 0x1e4);
    uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x01};
    if (low != 0xffffffffu && low && !(low & 1))
        for (uint32_t i = 0; i < 6; i++)
            mac[i] = (uint8_t)((i < 3 ? low : high) >> 8 * (i % 3));
    *reg(RCGC2) |= 1u << 30 | 1u << 28 | 1u << 5;  // PHY, MAC, the LEDs' port
    ethernet_wake = wake;
    stellaris_open(&ethernet, ETHERNET, mac);
    stellaris_attach(&ethernet, netif, "eth0");
    *reg(NVIC_ISER + 4 * (ETHERNET_IRQ / 32)) = 1u << ETHERNET_IRQ % 32;
}

void board_init(void)
{
    clock_init();
    systick_start(CLOCK_MHZ);
    uart_init();
    adc_init();
}

typedef void vector(void);
__attribute__((section(".vectors.board"), used)) static vector *const board_vectors[ETHERNET_IRQ + 1] = {
    [ETHERNET_IRQ] = ethernet_handler};
