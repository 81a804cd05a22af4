// SPDX-License-Identifier: BSD-2-Clause
// What the tap and tun drivers share: a /dev/net/tun descriptor, Linux' offloads through the virtio-net header, and a
// system call a frame each way; where Linux has io_uring, the short frames of a batch leave in one. Users include tap.h
// or tun.h.
#ifndef DRIVERS_TUNTAP_H
#define DRIVERS_TUNTAP_H

#include <stdbool.h>
#include <stdint.h>

#include "carrier.h"
#include "uring.h"
#include "vnet.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

enum tuntap_flag {
    TUNTAP_NO_VNET = 1,   // no offloads: every frame is one packet of at most the MTU, checksums complete
    TUNTAP_UP = 2,        // bring Linux' side of the interface up, too
    TUNTAP_ETHERNET = 4,  // a TAP (set by tap_open)
    TUNTAP_QUEUES = 8,    // a queue of an interface that has several: each open with this flag adds one
};

struct tuntap_counters {
    uint64_t rx_too_long;  // frames cut by the buffer
    uint64_t rx_bad;       // shorter than their virtio-net header, or contradicting it
    uint64_t tx_refused;   // frames Linux would not take: too long, malformed
    uint64_t tx_down;      // frames sent while Linux' side was down
    uint64_t tx_full;      // times WEIR_TX_FULL was answered
    uint64_t tx_batches;   // of several frames that left in one call
};

#define TUNTAP_FLAT_BYTES 2048u  // frames up to this are written in one piece

// About 132 KB: the one receive buffer and the batch to be sent are inside.
struct tuntap {
    int fd;  // -1: closed
    bool vnet, uso, blocked;
    bool dead;  // the interface was deleted
    struct carrier carrier;
    struct tuntap_counters counters;
    char error[200];    // of the last open that failed: what was wrong and what to do
    struct uring ring;  // closed: frames leave one by one
    uint32_t waiting;   // frames of the batch
    struct uring_write writes[URING_WRITES];
    // The frame begins at FRAME_AT (or two bytes later, so that the IP header is 4-aligned behind an Ethernet header);
    // its virtio-net header lies just before it.
    WEIR_ALIGNAS(64) uint8_t buffer[64 + VNET_FRAME_BYTES + 1];
    WEIR_ALIGNAS(64) uint8_t batch[URING_WRITES][64 + TUNTAP_FLAT_BYTES];  // each frame behind its virtio-net header
};

int tuntap_open(struct tuntap *io, const char *ifname, unsigned flags);
void tuntap_close(struct tuntap *io);
short tuntap_events(const struct tuntap *io);
void tuntap_attach(struct tuntap *io, struct weir_netif *netif);  // after weir_netif_init: data, mtu, capabilities

// The functions of both drivers' tables.
enum weir_tx_verdict tuntap_tx(struct weir_netif *netif, const struct weir_tx *tx);
void tuntap_flush(struct weir_netif *netif);
int tuntap_poll(struct weir_netif *netif, int budget, uint32_t link_bytes);
uint64_t tuntap_timer(struct weir_netif *netif, uint64_t now_us);

WEIR_END_DECLS

#endif
