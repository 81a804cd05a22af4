// SPDX-License-Identifier: BSD-2-Clause
// The virtio network device (Virtual I/O Device specification 1.2, §5.1) over any transport: checksums and segmentation
// by the device both ways, received frames spread over several buffers, the event index.
//
//     static struct virtio_mmio mmio;  static struct virtio_net net;  static struct virtio_net_memory memory;
//     if (virtio_mmio_open(&mmio, base, VIRTIO_ID_NET) && virtio_net_open(&net, &mmio.transport, &memory) == WEIR_OK) {
//         virtio_net_attach(&net, &netif, "eth0");    // instead of weir_netif_init
//         weir_netif_add(weir, &netif);
//     }
//     interrupt handler: virtio_net_interrupt(&net); wake the loop
//
// The device is not trusted: what it answers is read once and checked. One that contradicts itself, or asks for it, is
// reset and taken into use anew; until then its cable seems pulled. Payload that may be lent for longer
// (weir_tx.holdable) is, and given back in the order it was sent; other payload and all headers are copied.
#ifndef DRIVERS_VIRTIO_NET_H
#define DRIVERS_VIRTIO_NET_H

#include <stdbool.h>
#include <stdint.h>

#include "virtio.h"
#include "virtio_ring.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef VIRTIO_NET_RX
#define VIRTIO_NET_RX 128u  // receive buffers; a power of two, at most VIRTIO_RING_MAX
#endif
#ifndef VIRTIO_NET_RX_BYTES
#define VIRTIO_NET_RX_BYTES 4096u  // of each: WEIR_FRAME_SLICES of them must hold the largest frame
#endif
#ifndef VIRTIO_NET_TX
#define VIRTIO_NET_TX 256u  // transmit descriptors; as above
#endif
#define VIRTIO_NET_TX_BYTES 2048u  // of the buffer that each has
#define VIRTIO_NET_HEADER_BYTES 12u

#define VIRTIO_NET_ALIGN 64
// What the device reads and writes.
struct virtio_net_memory {
    struct virtio_ring_memory rx_ring, tx_ring;
    WEIR_ALIGNAS(VIRTIO_NET_ALIGN) uint8_t receive[VIRTIO_NET_RX][VIRTIO_NET_RX_BYTES];
    // headers, and payload that is copied
    WEIR_ALIGNAS(VIRTIO_NET_ALIGN) uint8_t transmit[VIRTIO_NET_TX][VIRTIO_NET_TX_BYTES];
};

// A frame at the device. They are let go in the order they were sent, whatever the order the device is done with them.
struct virtio_net_sent {
    void *owner;  // of the payload lent with this frame; NULL: none
    uint32_t hold_end;
    uint16_t chain;
    bool done;
};

struct virtio_net {
    struct virtio_transport *transport;
    struct virtio_net_memory *memory;
    struct weir_netif *netif;  // NULL until attached
    struct virtio_ring rx, tx;
    struct virtio_net_sent sent[VIRTIO_NET_TX];
    uint16_t place[VIRTIO_RING_MAX];  // of a chain at the device in `sent`
    uint16_t sent_first, sent_count;  // oldest, how many
    uint16_t wanted;                  // descriptors that a refused frame needs; 0: none was refused
    uint64_t features;                // agreed on
    uint8_t mac[6];
    bool link, failed;   // carrier as told; the device is out of use
    volatile bool look;  // the configuration changed
    uint64_t look_us;
    uint32_t rx_bad, held, restarts;
};

// Resets the device and agrees on features; it stays silent until virtio_net_attach. `transport` and `memory` are kept.
// WEIR_NOT_SUPPORTED: it has not what a network device of version 1 must have.
int virtio_net_open(struct virtio_net *net, struct virtio_transport *transport, struct virtio_net_memory *memory);
void virtio_net_attach(struct virtio_net *net, struct weir_netif *netif, const char *name);
void virtio_net_interrupt(struct virtio_net *net);  // from the device's interrupt

WEIR_END_DECLS

#endif
