// SPDX-License-Identifier: BSD-2-Clause
// What is the kernel's of mps2-an385 (boards/mps2-an385/board.c): clock, console, the interrupt's entry. The Ethernet
// interface is a process's.
#include "boards/board.h"

#include "boards/cortex_m/systick.h"
#include "boards/mixed_entropy.h"

#define CLOCK_MHZ 25u
#define UART0 0x40004000u
#define ETHERNET_IRQ 13u
#define FPGA_COUNTER 0x40028018u  // of cycles, 25 MHz

const uint32_t board_granularity_us = 1;

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

uint64_t board_now_us(void) { return systick_now_us(); }

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (*reg(UART0 + 4) & 1)
            ;
        *reg(UART0) = (uint8_t)*text;
    }
}

static uint32_t sample(void) { return *reg(FPGA_COUNTER) + (uint32_t)systick_now_us(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

void board_init(void)
{
    systick_start(CLOCK_MHZ);
    *reg(UART0 + 0x10) = CLOCK_MHZ * 1000000 / 115200;
    *reg(UART0 + 8) = 1;  // transmit
}

typedef void vector(void);
__attribute__((section(".vectors.board"), used)) static vector *const board_vectors[ETHERNET_IRQ + 1] = {
    [ETHERNET_IRQ] = board_interrupt};
