// SPDX-License-Identifier: BSD-2-Clause
// NE2000 and its kin, ISA or PCI: National's DP8390 (DP8390D data sheet) with 16 KB of memory of its own, which the
// processor reaches word by word through one port (on PCI by two words at a time). That takes long, so the work with
// the card may be a thread of its own, as LyraOS's: ne2k_work moves frames between the card and two bounded queues,
// whose other ends are the interface's.
//
//     ne2k_open(&card, &board)                      WEIR_OK: there is one
//     ne2k_attach(&card, &netif, "eth0")            instead of weir_netif_init
//     weir_netif_add(weir, &netif)
//     interrupt handler: ne2k_interrupt(&card); wake the loop, or the thread
//     the thread, where there is one: due_us = ne2k_work(&card, now_us); sleep until then, an interrupt, or board->kick
//
// Without a thread (board->kick NULL) the interface does that work itself when it is polled.
#ifndef DRIVERS_NE2K_H
#define DRIVERS_NE2K_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/atomic.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef NE2K_QUEUE
#define NE2K_QUEUE 16u  // frames each way; a power of two
#endif
#define NE2K_FRAME_BYTES 1518u  // with a VLAN tag, without FCS
#define NE2K_BUFFER_BYTES 1520u

struct ne2k_board {
    uint16_t port;  // the first of its 32
    bool wide;      // the card is on PCI, and moves 32 bits at a time
    // With a thread: wakes it, from the interface's side; and from the thread's side: frames came, or there is room
    // again.
    void (*kick)(void *context);
    void (*news)(void *context);
    void *context;
};

struct ne2k_frame {
    uint16_t length;
    WEIR_ALIGNAS(4)
    uint8_t bytes[NE2K_BUFFER_BYTES + 4];  // received: from the third on, so that IP headers are aligned
};
// One end writes `in`, the other `out`; both only count.
struct ne2k_queue {
    WEIR_ATOMIC(uint32_t) in, out;
    struct ne2k_frame frames[NE2K_QUEUE];
};

struct ne2k {
    const struct ne2k_board *board;
    struct ne2k_queue received, sending;
    uint8_t mac[6];
    // The thread's:
    uint8_t next_page;             // of the receive ring, to be read
    uint8_t at_card, first;        // frames in the card's two transmit buffers; the older of them
    uint16_t lengths[2];           // theirs
    bool overflowed, was_sending;  // the receive ring ran over; a frame was on its way then
    uint64_t due_us;               // then it is mended; or the transmitter is given up
    // Between both:
    WEIR_ATOMIC(bool) starved;  // the receive queue was full
    WEIR_ATOMIC(bool) waiting;  // a frame was refused
    uint32_t overruns, rx_bad, tx_errors, resets;
};

// Finds the card, resets it and reads its address; it stays silent until ne2k_attach. WEIR_NOT_SUPPORTED: there is
// none.
int ne2k_open(struct ne2k *card, const struct ne2k_board *board);
void ne2k_attach(struct ne2k *card, struct weir_netif *netif, const char *name);
void ne2k_interrupt(struct ne2k *card);  // from its interrupt
// Does what there is to do with the card; bounded by the queues. Returns when it wants to be called at the latest, µs
// (WEIR_NEVER).
uint64_t ne2k_work(struct ne2k *card, uint64_t now_us);

WEIR_END_DECLS

#endif
