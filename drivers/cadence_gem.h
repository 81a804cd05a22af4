// SPDX-License-Identifier: BSD-2-Clause
// Cadence's gigabit Ethernet MAC as in Xilinx's Zynq (UG585, chapter 16 and appendix B.18), heir of the AT91's: rings
// of descriptors both ways, scatter-gather, checksums by the device.
//
//     static struct cadence_gem gem;               // aligned as it declares
//     cadence_gem_open(&gem, &board);
//     cadence_gem_attach(&gem, &netif, "eth0");    // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: cadence_gem_interrupt(&gem); wake the loop
//
// Payload that may be lent for longer (weir_tx.holdable) is sent out of the send queue's own memory and given back when
// its descriptor was used; other payload and all headers are copied. Input is polled in budgets with its interrupt
// masked, as in stellaris.h.
#ifndef DRIVERS_CADENCE_GEM_H
#define DRIVERS_CADENCE_GEM_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef CADENCE_GEM_RX
#define CADENCE_GEM_RX 32u  // receive buffers
#endif
#ifndef CADENCE_GEM_TX
#define CADENCE_GEM_TX 64u  // transmit descriptors
#endif
#define CADENCE_GEM_FRAME_BYTES 1518u
#define CADENCE_GEM_BUFFER_BYTES 1536u

struct cadence_gem_descriptor {
    volatile uint32_t address, control;
};

// Four descriptors share a cache line, and the device writes one while the CPU writes another: the rings lie in memory
// that is not cached.
struct cadence_gem_rings {
    WEIR_ALIGNAS(8) struct cadence_gem_descriptor rx[CADENCE_GEM_RX], tx[CADENCE_GEM_TX];
};

struct cadence_gem_board {
    uintptr_t base;  // 0xe000b000, 0xe000c000
    struct cadence_gem_rings *rings;
    uint8_t mac[6];
    uint8_t phy;  // its address on the management bus
    // Cached memory: writes it back before the device reads, forgets it before the CPU reads what the device wrote.
    // NULL: not cached.
    void (*clean)(const void *memory, uint32_t bytes);
    void (*invalidate)(const void *memory, uint32_t bytes);
};

// What is known of a transmit descriptor that the device has not used yet.
struct cadence_gem_sent {
    void *owner;  // of the payload lent with this frame; NULL: none
    uint32_t hold_end;
    uint16_t descriptors;  // of the frame that begins here
};

#define CADENCE_GEM_ALIGN 64  // of a cache line: nothing else may share one with what the device writes

struct cadence_gem {
    WEIR_ALIGNAS(CADENCE_GEM_ALIGN) uint8_t receive[CADENCE_GEM_RX][CADENCE_GEM_BUFFER_BYTES];
    // headers, and payload that is copied
    WEIR_ALIGNAS(CADENCE_GEM_ALIGN) uint8_t transmit[CADENCE_GEM_TX][CADENCE_GEM_BUFFER_BYTES];
    struct cadence_gem_sent sent[CADENCE_GEM_TX];
    const struct cadence_gem_board *board;
    uint32_t rx_next;
    uint32_t tx_next, tx_oldest, tx_used;  // descriptors: the next free one, the oldest in use, how many are
    bool waiting, link;
    uint64_t look_us;
    uint32_t overruns, rx_bad, tx_errors, held;
};

// Takes the device into use; it stays silent until cadence_gem_attach. `board` is kept, not copied.
void cadence_gem_open(struct cadence_gem *gem, const struct cadence_gem_board *board);
void cadence_gem_attach(struct cadence_gem *gem, struct weir_netif *netif, const char *name);
void cadence_gem_interrupt(struct cadence_gem *gem);  // from the device's interrupt

WEIR_END_DECLS

#endif
