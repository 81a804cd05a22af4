// SPDX-License-Identifier: BSD-2-Clause
// The Ethernet MAC of the AT91RM9200 (Atmel data sheet 1768, chapter 36), as on the Portux 920T: a ring of receive
// buffers that the device fills by itself, and one frame to transmit at a time, in one piece. Its PHY is found on the
// management bus and asked twice a second for the link, its speed and duplex.
//
//     static struct at91_emac emac;               // in memory the device reaches: `device_address`, the board's `ring`
//     at91_emac_open(&emac, &board);
//     at91_emac_attach(&emac, &netif, "eth0");    // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: at91_emac_interrupt(&emac); wake the loop
//
// `tx` answers FULL while the transmitter holds a frame; the interrupt at its end makes the next poll call
// weir_tx_ready: nobody waits busily, as the thesis's driver did. Receive interrupts stay masked from the first frame
// until a poll found the ring empty.
#ifndef DRIVERS_AT91_EMAC_H
#define DRIVERS_AT91_EMAC_H

#include <stdbool.h>
#include <stdint.h>

#include "mii.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef AT91_EMAC_BUFFERS
#define AT91_EMAC_BUFFERS 8u  // frames that may wait; the part takes 1024, but see `ring` below
#endif
#define AT91_EMAC_FRAME_BYTES 1518u   // with a VLAN tag, without FCS
#define AT91_EMAC_BUFFER_BYTES 1536u  // what the device may write
#define AT91_EMAC_ALIGN 32            // of a cache line (ARM920T)

// A receive descriptor, as the device reads and writes it (data sheet, table 36-4).
struct at91_emac_descriptor {
    volatile uint32_t address;  // bits 31–2; bit 1: the last of the ring; bit 0: a frame is there, and software owns it
    volatile uint32_t status;  // bits 10–0: its length with FCS
};

// Four descriptors share a cache line, and the device writes one while the CPU writes another: the ring lies in memory
// that is not cached. The part's erratum 11 (a frame without a buffer disturbs the queue) is said to be rarer when the
// queue begins at a multiple of 64 bytes and is no longer than that; the driver does not rely on it.
struct at91_emac_ring {
    WEIR_ALIGNAS(64) struct at91_emac_descriptor descriptors[AT91_EMAC_BUFFERS];
};

struct at91_emac_board {
    uintptr_t base;  // 0xfffbc000
    struct at91_emac_ring *ring;
    uint8_t mac[6];
    bool reduced;  // the PHY is wired by RMII
    // The address at which the device sees memory. NULL: the CPU's.
    uint32_t (*device_address)(const void *memory);
    // Cached memory: writes it back before the device reads, forgets it before the CPU reads what the device wrote.
    // NULL: not cached.
    void (*clean)(const void *memory, uint32_t bytes);
    void (*invalidate)(const void *memory, uint32_t bytes);
};

// Overruns and missing buffers are counted once for all that a poll finds.
struct at91_emac_counters {
    uint32_t overruns, no_buffer, tx_errors, rx_bad;
};

struct at91_emac {
    // Buffers whose frames begin at their first byte. Nothing else may share a cache line with what the device writes.
    WEIR_ALIGNAS(AT91_EMAC_ALIGN) uint8_t receive[AT91_EMAC_BUFFERS][AT91_EMAC_BUFFER_BYTES];
    WEIR_ALIGNAS(AT91_EMAC_ALIGN) uint8_t transmit[AT91_EMAC_BUFFER_BYTES];
    const struct at91_emac_board *board;
    uint32_t next;          // descriptor where the next frame will be
    bool sending, waiting;  // the transmitter holds a frame; the stack was told FULL
    struct mii mii;
    struct mii_link link;  // as last seen; speed and duplex of the last one that was up
    uint64_t look_us;      // when the PHY is asked next
    struct at91_emac_counters counters;
};

// Takes the device into use; it stays silent until at91_emac_attach. `board` is kept, not copied.
void at91_emac_open(struct at91_emac *emac, const struct at91_emac_board *board);
void at91_emac_attach(struct at91_emac *emac, struct weir_netif *netif, const char *name);
// From the device's interrupt.
void at91_emac_interrupt(struct at91_emac *emac);

WEIR_END_DECLS

#endif
