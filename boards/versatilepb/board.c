// SPDX-License-Identifier: BSD-2-Clause
// ARM's Versatile Platform Baseboard for the ARM926EJ-S (user guide, DUI 0225): 128 MB of SDRAM, vectored interrupt
// controllers (PL190 and a second one behind it), SP804 timers at 1 MHz, a PL011, an SMC LAN91C111.
#include "board.h"

#include "armv4t/cpu.h"
#include "drivers/mmio.h"
#include "drivers/smc91c111.h"
#include "mixed_entropy.h"
#include "weir/error.h"
#include "weir/port.h"

#define SYSTEM_CONTROL 0x101e0000u
#define TIMERS_OF_1_MHZ 0x00028000u  // timers 0 and 1: not the 32 kHz clock
#define VIC 0x10140000u
enum { VIC_STATUS = 0x00, VIC_SELECT = 0x0c, VIC_ENABLE = 0x10, VIC_CLEAR = 0x14 };
#define SIC 0x10003000u
enum { SIC_STATUS = 0x00, SIC_SET = 0x08, SIC_CLEAR = 0x0c, SIC_DIRECT_CLEAR = 0x24 };
enum { SOURCE_TIMER = 4, SOURCE_SECOND = 31 };  // of the first controller
enum { SECOND_ETHERNET = 25 };                  // of the second one, which is the first one's SOURCE_SECOND
#define ALARM 0x101e2000u                       // timer 0
#define CLOCK 0x101e2020u                       // timer 1, which counts down for ever
enum { TIMER_LOAD = 0x00, TIMER_VALUE = 0x04, TIMER_CONTROL = 0x08, TIMER_CLEAR = 0x0c };
enum { TIMER_ONCE = 1 << 0, TIMER_32_BITS = 1 << 1, TIMER_INTERRUPT = 1 << 5, TIMER_ON = 1 << 7 };
#define LONGEST_US 0x40000000u  // the clock is read at least that often, since an alarm comes
#define UART 0x101f1000u
enum {
    UART_DATA = 0x00,
    UART_FLAGS = 0x18,
    UART_BAUD = 0x24,
    UART_FRACTION = 0x28,
    UART_LINE = 0x2c,
    UART_CONTROL = 0x30
};
enum { UART_FULL = 1 << 5, UART_8_BITS_FIFO = 7 << 4, UART_SEND = 1 << 8 | 1 << 0 };
#define ETHERNET 0x10010000u

const uint32_t board_granularity_us = 1;
static struct smc91c111 ethernet;
static volatile bool *ethernet_wake;
static uint64_t microseconds;  // as last read

// --- time ------------------------------------------------------------------------------------------------------------

static uint32_t count(void) { return ~mmio_read(CLOCK + TIMER_VALUE); }

uint64_t board_now_us(void)
{
    const uint32_t state = cpu_interrupts_off();
    microseconds += count() - (uint32_t)microseconds;
    const uint64_t now_us = microseconds;
    cpu_interrupts_restore(state);
    return now_us;
}

void board_alarm(uint64_t at_us)
{
    const uint32_t state = cpu_interrupts_off();
    const uint64_t now_us = board_now_us(), left_us = at_us > now_us ? at_us - now_us : 1;
    mmio_write(ALARM + TIMER_CONTROL, 0);
    mmio_write(ALARM + TIMER_LOAD, left_us < LONGEST_US ? (uint32_t)left_us : LONGEST_US);
    mmio_write(ALARM + TIMER_CONTROL, TIMER_ON | TIMER_INTERRUPT | TIMER_32_BITS | TIMER_ONCE);
    cpu_interrupts_restore(state);
}

// Until an interrupt, also one that the processor does not take.
void board_idle(void) { __asm__ volatile("mcr p15, 0, %0, c7, c0, 4" ::"r"(0) : "memory"); }

// --- interrupts ------------------------------------------------------------------------------------------------------

static void timer_interrupt(void)
{
    mmio_write(ALARM + TIMER_CLEAR, 1);
    board_alarm(WEIR_NEVER);
    board_timer();
}

static void ethernet_interrupt(void)
{
    smc91c111_interrupt(&ethernet);
    *ethernet_wake = true;
    board_interrupt();
}

void interrupt_handler(void)
{
    const uint32_t pending = mmio_read(VIC + VIC_STATUS);
    if (pending & 1u << SOURCE_TIMER)
        timer_interrupt();
    if (pending & 1u << SOURCE_SECOND && mmio_read(SIC + SIC_STATUS) & 1u << SECOND_ETHERNET)
        ethernet_interrupt();
}

// --- console, randomness, Ethernet -----------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (mmio_read(UART + UART_FLAGS) & UART_FULL)
            ;
        mmio_write(UART + UART_DATA, (uint8_t)*text);
    }
}

void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, count); }

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static const uint8_t mac[6] = {0x02, 0x57, 0x65, 0x69, 0x72, 0x09};
    ethernet_wake = wake;
    if (smc91c111_open(&ethernet, ETHERNET, mac) != WEIR_OK)
        board_puts("weir: no LAN91C111\n");
    smc91c111_attach(&ethernet, netif, "eth0");
    mmio_write(SIC + SIC_SET, 1u << SECOND_ETHERNET);
    mmio_write(VIC + VIC_ENABLE, 1u << SOURCE_SECOND);
}

// The console at 115,200 bits a second: 24 MHz / 16 / 13.02.
void board_init(void)
{
    mmio_write(VIC + VIC_CLEAR, 0xffffffff);
    mmio_write(VIC + VIC_SELECT, 0);
    mmio_write(SIC + SIC_CLEAR, 0xffffffff);
    mmio_write(SIC + SIC_DIRECT_CLEAR, 0xffffffff);
    mmio_write(SYSTEM_CONTROL, mmio_read(SYSTEM_CONTROL) | TIMERS_OF_1_MHZ);
    mmio_write(CLOCK + TIMER_LOAD, 0xffffffff);
    mmio_write(CLOCK + TIMER_CONTROL, TIMER_ON | TIMER_32_BITS);
    mmio_write(UART + UART_BAUD, 13);
    mmio_write(UART + UART_FRACTION, 1);
    mmio_write(UART + UART_LINE, UART_8_BITS_FIFO);
    mmio_write(UART + UART_CONTROL, UART_SEND);
    board_alarm(WEIR_NEVER);
    mmio_write(VIC + VIC_ENABLE, 1u << SOURCE_TIMER);
}
