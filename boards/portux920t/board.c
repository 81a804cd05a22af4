// SPDX-License-Identifier: BSD-2-Clause
// taskit's Portux 920T: Atmel's AT91RM9200 (data sheet 1768) with an ARM920T at 180 MHz, 64 MB of SDRAM, and the chip's
// Ethernet MAC with a PHY. The boot loader, U-Boot, has set the clocks, the memory and the console's speed, and loaded
// the program to the memory's start.
#include "board.h"

#include "armv4t/mmu.h"
#include "drivers/at91_emac.h"
#include "drivers/mmio.h"
#include "mixed_entropy.h"
#include "portux920t/aic.h"
#include "portux920t/st.h"

#ifndef BOARD_RMII
#define BOARD_RMII false  // true: the PHY is wired by RMII
#endif
#define EMAC 0xfffbc000u
#define DBGU 0xfffff200u
enum { DBGU_CR = 0x00, DBGU_IDR = 0x0c, DBGU_SR = 0x14, DBGU_THR = 0x1c };
enum { DBGU_TXEN = 1 << 6, DBGU_TXRDY = 1 << 1 };
#define PIOA 0xfffff400u
#define PIOB 0xfffff600u
enum { PIO_PDR = 0x04, PIO_ASR = 0x70, PIO_BSR = 0x74 };
#define PMC 0xfffffc00u
enum { PMC_SCDR = 0x04, PMC_PCER = 0x10 };
#define PMC_PROCESSOR 1u
enum { SOURCE_SYSTEM = 1, SOURCE_PIOA = 2, SOURCE_PIOB = 3, SOURCE_EMAC = 24 };  // of interrupts, and of clocks

// The EMAC's pins: PA7 to PA16 as peripheral A; by MII PB12 to PB19, too, as peripheral B.
#define EMAC_PINS_A 0x0001ff80u
#define EMAC_PINS_B 0x000ff000u

const uint32_t board_granularity_us = ST_GRANULARITY_US;
static struct at91_emac emac;
static volatile bool *ethernet_wake;

// --- time ------------------------------------------------------------------------------------------------------------

uint64_t board_now_us(void) { return st_now_us(); }
void board_alarm(uint64_t at_us) { st_alarm(at_us); }
// The processor's clock stands until an interrupt, also one that the processor does not take.
void board_idle(void) { mmio_write(PMC + PMC_SCDR, PMC_PROCESSOR); }

// --- console, randomness ---------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (!(mmio_read(DBGU + DBGU_SR) & DBGU_TXRDY))
            ;
        mmio_write(DBGU + DBGU_THR, (uint8_t)*text);
    }
}

static uint32_t sample(void) { return st_count(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

// --- Ethernet --------------------------------------------------------------------------------------------------------

static void ethernet_interrupt(void)
{
    at91_emac_interrupt(&emac);
    *ethernet_wake = true;
    board_interrupt();
}

static void ethernet_pins(void)
{
    mmio_write(PMC + PMC_PCER, 1u << SOURCE_PIOA | 1u << SOURCE_PIOB | 1u << SOURCE_EMAC);
    mmio_write(PIOA + PIO_ASR, EMAC_PINS_A);
    mmio_write(PIOA + PIO_PDR, EMAC_PINS_A);
    if (!BOARD_RMII) {
        mmio_write(PIOB + PIO_BSR, EMAC_PINS_B);
        mmio_write(PIOB + PIO_PDR, EMAC_PINS_B);
    }
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static __attribute__((section(".uncached"))) struct at91_emac_ring ring;
    static const struct at91_emac_board board = {.base = EMAC,
                                                 .ring = &ring,
                                                 .mac = {0x02, 0x57, 0x65, 0x69, 0x72, 0x08},
                                                 .reduced = BOARD_RMII,
                                                 .clean = mmu_clean,
                                                 .invalidate = mmu_invalidate};
    ethernet_wake = wake;
    ethernet_pins();
    at91_emac_open(&emac, &board);
    at91_emac_attach(&emac, netif, "eth0");
    aic_enable(SOURCE_EMAC, ethernet_interrupt);
}

// The system peripherals share a source: the timer, and the console, whose interrupts stay off.
void board_init(void)
{
    mmio_write(DBGU + DBGU_IDR, 0xffffffff);
    mmio_write(DBGU + DBGU_CR, DBGU_TXEN);
    aic_start();
    st_start();
    aic_enable(SOURCE_SYSTEM, st_interrupt);
}
