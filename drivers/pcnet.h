// SPDX-License-Identifier: BSD-2-Clause
// AMD's PCnet-PCI II (Am79C970A data sheet, 19436) with 32-bit structures (software style 2), registers in memory:
// rings of descriptors both ways, scatter-gather, one initialisation block that the device reads. The part is
// little-endian, whatever the CPU is.
//
//     static struct pcnet pcnet;                 // aligned as it declares
//     pcnet_open(&pcnet, &board);
//     pcnet_attach(&pcnet, &netif, "eth0");      // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: if (pcnet_interrupt(&pcnet)) wake the loop
//
// Payload that may be lent for longer (weir_tx.holdable) is sent out of the send queue's own memory and given back when
// the device was done with its descriptors; other payload and all headers are copied. Input is polled in budgets with
// the interrupt masked, as in stellaris.h.
#ifndef DRIVERS_PCNET_H
#define DRIVERS_PCNET_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef PCNET_RX_LOG2
#define PCNET_RX_LOG2 5u  // receive buffers, as a power of two up to 9
#endif
#ifndef PCNET_TX_LOG2
#define PCNET_TX_LOG2 6u  // transmit descriptors; more than WEIR_CFG_TX_SLICES
#endif
#define PCNET_RX (1u << PCNET_RX_LOG2)
#define PCNET_TX (1u << PCNET_TX_LOG2)
#define PCNET_FRAME_BYTES 1518u  // without FCS, with a VLAN tag
#define PCNET_BUFFER_BYTES 1536u
#define PCNET_ALIGN 64  // of a cache line: nothing else may share one with what the device writes

// All of it little-endian.
struct pcnet_descriptor {
    volatile uint32_t address, status, length, user;
};

// Several descriptors share a cache line, and the device writes one while the CPU writes another: this lies in memory
// that is not cached.
struct pcnet_shared {
    WEIR_ALIGNAS(PCNET_ALIGN) struct pcnet_descriptor rx[PCNET_RX];
    struct pcnet_descriptor tx[PCNET_TX];
    volatile uint32_t init[7];
};

struct pcnet_board {
    uintptr_t base;  // of the registers in memory (base address register 1)
    struct pcnet_shared *shared;
    uint8_t mac[6];  // zero: the address that the part's own memory holds
    // Where on the bus the device finds it. NULL: at the CPU's address.
    uint32_t (*bus_address)(const volatile void *memory);
    // Cached memory: writes it back before the device reads, forgets it before and after the device writes. NULL: not
    // cached.
    void (*clean)(const void *memory, uint32_t bytes);
    void (*invalidate)(const void *memory, uint32_t bytes);
};

// What is known of a frame in the transmitter, kept with its first descriptor.
struct pcnet_sent {
    void *owner;  // of the payload lent with it; NULL: none
    uint32_t hold_end;
    uint16_t descriptors;
};

struct pcnet {
    WEIR_ALIGNAS(PCNET_ALIGN) uint8_t receive[PCNET_RX][PCNET_BUFFER_BYTES];
    WEIR_ALIGNAS(PCNET_ALIGN) uint8_t transmit[PCNET_TX][PCNET_BUFFER_BYTES];  // headers, and payload that is copied
    struct pcnet_sent sent[PCNET_TX];
    const struct pcnet_board *board;
    uint8_t mac[6];
    uint32_t rx_next;
    uint32_t tx_next, tx_oldest, tx_used;  // descriptors: the next free one, the oldest in use, how many are
    uint16_t missed_before;                // the part's own counter when it was last read
    bool waiting, link, stopped;
    uint64_t look_us;
    struct {
        uint32_t missed;    // frames for which the ring had no buffer
        uint32_t overruns;  // frames that the bus was too late for
        uint32_t rx_bad;    // FCS, length, or parts of what is longer than a buffer
        uint32_t tx_errors, restarts, held;
    } counters;
};

// Resets the device, which stays silent until pcnet_attach. `board` is kept, not copied.
void pcnet_open(struct pcnet *pcnet, const struct pcnet_board *board);
void pcnet_attach(struct pcnet *pcnet, struct weir_netif *netif, const char *name);
// From the interrupt that it may share with other devices: masks it until it was polled empty. false: it was not this
// device's.
bool pcnet_interrupt(struct pcnet *pcnet);

WEIR_END_DECLS

#endif
