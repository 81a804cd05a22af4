// SPDX-License-Identifier: BSD-2-Clause
// A packet on its way up (struct packet) and on its way down (struct packet_out). Both live on the stack of one call.
#ifndef BASE_PACKET_H
#define BASE_PACKET_H

#include "base/checksum.h"
#include "weir/netif.h"

enum packet_flag {
    PACKET_LINK_BROADCAST = 1,  // the link header was broadcast or multicast
    PACKET_IP_BROADCAST = 2,    // the destination is a broadcast address of the interface
    PACKET_IP_MULTICAST = 4,
    PACKET_CHECKSUM_OK = 8,  // transport checksum needs no verification
    PACKET_REASSEMBLED = 16,
    PACKET_FRAGMENTED = 32,  // of IPv6: a fragment header was there, of a whole packet even
};

// Going up: a window into the frame that narrows layer by layer. `head` points at the current layer within slices[0],
// so that its header is contiguous (WEIR_FRAME_HEAD); `length` has been checked against the bytes at hand.
struct packet {
    struct weir_netif *netif;
    const struct weir_frame *frame;
    const uint8_t *head;         // first byte of the current layer
    uint32_t offset;             // of `head` in the frame
    uint32_t length;             // bytes from there that belong to it (trailing padding cut)
    const uint8_t *network;      // the network header, for quoting in ICMP errors
    const uint8_t *link_source;  // 6 bytes; NULL: the link has no addresses
    struct weir_addr source, destination;
    uint16_t network_length;  // bytes of the network header
    uint8_t protocol, ttl, tos, flags /* enum packet_flag */;
#if WEIR_CFG_IP6
    uint16_t next_at;   // of IPv6: where the byte stands, from the network header on, that says `protocol`
    bool router_alert;  // of IPv6: a hop-by-hop header asked routers to look at it
#endif
};

// Bytes contiguous at `head`.
static inline uint32_t packet_head_room(const struct packet *packet)
{
    const struct weir_slice *first = &packet->frame->slices[0];
    return min_u32(packet->length, (uint32_t)(first->data + first->length - packet->head));
}
// Narrows to what follows `bytes` bytes of header (at most packet_head_room).
static inline void packet_skip(struct packet *packet, uint32_t bytes)
{
    packet->head += bytes;
    packet->offset += bytes;
    packet->length -= bytes;
}
// Copies, sums, or both, `length` bytes from `at` bytes into the current layer. The range lies within packet->length.
void packet_copy(const struct packet *packet, uint32_t at, void *to, uint32_t length);
uint16_t packet_sum(const struct weir_port *port, const struct packet *packet, uint32_t at, uint32_t length);
uint16_t packet_copy_sum(const struct weir_port *port, const struct packet *packet, uint32_t at, void *to,
                         uint32_t length);

#define PACKET_HEADROOM (WEIR_CFG_IP6 ? 144u : 128u)  // 18 Ethernet + 24 IPv4 (48 IPv6) + 60 TCP, rounded up

// Going down: payload slices first (packet_out_payload), then headers, each written below the last.
struct packet_out {
    struct weir_tx tx;
    uint8_t *head;  // first header byte so far
    uint32_t payload_length;
    struct weir_slice slices[WEIR_CFG_TX_SLICES];  // [0] is the header
    uint8_t room[PACKET_HEADROOM];
};
static inline void packet_out_init(struct packet_out *out)
{
    out->tx.slices = out->slices;
    out->tx.count = 1;
    // one by one: under -Os an initialiser calls memset
    out->tx.checksum_start = out->tx.checksum_offset = out->tx.segment_size = 0;
    out->tx.gso = WEIR_GSO_NONE;
    out->tx.holdable = false;
    out->tx.hold_owner = NULL;
    out->tx.hold_end = 0;
    out->payload_length = 0;
    out->head = out->room + PACKET_HEADROOM;
}
// Adds payload; the caller knows that a slice is free and length is not 0.
static inline void packet_out_payload(struct packet_out *out, const void *data, uint32_t length)
{
    out->slices[out->tx.count++] = (struct weir_slice){data, length};
    out->payload_length += length;
}
static inline uint8_t *packet_out_header(struct packet_out *out, uint32_t bytes) { return out->head -= bytes; }
static inline uint32_t packet_out_length(const struct packet_out *out)
{
    return out->payload_length + (uint32_t)(out->room + PACKET_HEADROOM - out->head);
}

#endif
