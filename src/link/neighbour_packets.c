// SPDX-License-Identifier: BSD-2-Clause
// The datagrams that wait for a neighbour's link address, as copies: a few for each neighbour, and for all of them so
// many bytes as WEIR_CFG_NEIGHBOUR_QUEUE_BYTES says. Static builds have a ring of them.
#include "link/neighbour.h"

#define NEIGHBOUR_PACKETS_MAX 3u  // datagrams that wait for one neighbour (RFC 1122 §2.3.2.2 asks for one)

struct neighbour_packet {
    struct neighbour_packet *next;
    uint32_t length;
    uint16_t ethertype;
    bool sent;        // static builds: a hole in the ring until it comes to its front
    uint8_t bytes[];  // from the network header
};

static uint32_t neighbour_packet_bytes(uint32_t length) { return (uint32_t)sizeof(struct neighbour_packet) + length; }

static struct neighbour_packet *neighbour_packet_new(struct weir *weir, uint32_t length)
{
    struct arp *arp = &weir->arp;
    const uint32_t bytes = neighbour_packet_bytes(length);
    if (!WEIR_CFG_ALLOCATOR)
        return records_push(&arp->queue, &weir->memory, bytes);
    if (bytes > WEIR_CFG_NEIGHBOUR_QUEUE_BYTES - arp->queue_bytes)
        return NULL;
    struct neighbour_packet *packet = memory_get(&weir->memory, bytes);
    if (packet)
        arp->queue_bytes += bytes;
    return packet;
}

static void neighbour_packet_free(struct weir *weir, struct neighbour_packet *packet)
{
    struct arp *arp = &weir->arp;
    if (WEIR_CFG_ALLOCATOR) {
        arp->queue_bytes -= neighbour_packet_bytes(packet->length);
        memory_put(&weir->memory, packet, neighbour_packet_bytes(packet->length));
        return;
    }
    packet->sent = true;
    struct neighbour_packet *front;
    uint32_t bytes;
    while ((front = records_front(&arp->queue, &bytes)) && front->sent)
        records_pop(&arp->queue, &weir->memory);
}

static void neighbour_packet_drop(struct weir *weir, struct neighbour *n)
{
    struct neighbour_packet *packet = n->packets;
    n->packets = packet->next;
    neighbour_packet_free(weir, packet);
    count(weir, WEIR_COUNT_ARP_UNRESOLVED);
}

void neighbour_packets_drop(struct weir *weir, struct neighbour *n)
{
    while (n->packets)
        neighbour_packet_drop(weir, n);
}

// Whether dropping the neighbour's oldest packet makes room: in the ring of static builds only what lies in front does.
static bool neighbour_packet_yields(const struct arp *arp, const struct neighbour *n)
{
    uint32_t bytes;
    return n->packets && (WEIR_CFG_ALLOCATOR || records_front(&arp->queue, &bytes) == n->packets);
}

// Room for one more. The newest packet is the one to keep (RFC 1122 §2.3.2.2, RFC 4861 §7.2.2): the neighbour's oldest
// makes room for it, others' packets do not.
static struct neighbour_packet *neighbour_packet_room(struct weir *weir, struct neighbour *n, uint32_t length)
{
    uint32_t waiting = 0;
    for (const struct neighbour_packet *packet = n->packets; packet; packet = packet->next)
        waiting++;
    if (waiting == NEIGHBOUR_PACKETS_MAX)
        neighbour_packet_drop(weir, n);
    struct neighbour_packet *packet = neighbour_packet_new(weir, length);
    while (!packet && neighbour_packet_yields(&weir->arp, n)) {
        neighbour_packet_drop(weir, n);
        packet = neighbour_packet_new(weir, length);
    }
    return packet;
}

// Large segments and sums that a device should complete are the business of connections, and these wait themselves.
bool neighbour_packet_keep(struct weir *weir, struct neighbour *n, uint16_t ethertype, const struct packet_out *out)
{
    if (out->tx.segment_size || out->tx.checksum_start)
        return false;
    struct neighbour_packet *packet = neighbour_packet_room(weir, n, packet_out_length(out)), **end = &n->packets;
    if (!packet)
        return false;
    while (*end)
        end = &(*end)->next;
    packet->next = NULL;
    packet->length = packet_out_length(out);
    packet->ethertype = ethertype;
    packet->sent = false;
    const uint32_t header_length = packet->length - out->payload_length;
    memcpy(packet->bytes, out->head, header_length);
    uint8_t *to = packet->bytes + header_length;
    for (uint16_t i = 1; i < out->tx.count; i++) {
        memcpy(to, out->slices[i].data, out->slices[i].length);
        to += out->slices[i].length;
    }
    *end = packet;
    return true;
}

bool neighbour_packets_send(struct weir *weir, struct neighbour *n)
{
    struct weir_netif *netif = n->netif;
    while (n->packets) {
        struct neighbour_packet *packet = n->packets;
        const struct ethernet header = {.destination = n->mac,
                                        .source = netif->mac,
                                        .type = packet->ethertype,
                                        .vlan = netif->vlan,
                                        .tagged = netif->flags & WEIR_NETIF_VLAN};
        struct packet_out out;
        packet_out_init(&out);
        packet_out_payload(&out, packet->bytes, packet->length);
        out.head = ethernet_emit(out.head, &header);
        if (netif_transmit(netif, &out) == WEIR_TX_FULL)
            return false;
        n->packets = packet->next;
        neighbour_packet_free(weir, packet);
    }
    return true;
}
