// SPDX-License-Identifier: BSD-2-Clause
// ARP: requests for our addresses are answered, by the next weir_poll. What is learnt on the way is
// src/link/neighbour.c's; that an address is ours alone, src/link/acd.c's.
#include "link/acd.h"
#include "link/nd.h"
#include "link/neighbour.h"

const uint8_t arp_unknown_mac[6] = {0};

int arp_init(struct weir *weir) { return neighbour_init(weir); }
size_t arp_bytes(void) { return neighbour_bytes(); }
void arp_free(struct weir *weir) { neighbour_free(weir); }

static void arp_reply_later(struct weir *weir, struct weir_netif *netif, const struct arp_packet *request)
{
    struct arp *arp = &weir->arp;
    if (arp->reply_count == ARP_REPLIES) {
        count(weir, WEIR_COUNT_OUTBOX_FULL);
        return;
    }
    struct arp_reply *reply = &arp->replies[arp->reply_count++];
    reply->netif = netif;
    reply->ours = request->target;
    reply->address = request->sender;
    memcpy(reply->mac, request->sender_mac, 6);
    slow_due(weir, weir->now_us);
}

// What no honest station sends: an operation we do not know, or a sender that is a group of stations (RFC 1122 §3.2.1.3
// for the address, IEEE 802 for the link address).
static bool arp_malformed(const struct arp_packet *arp)
{
    return (arp->operation != ARP_REQUEST && arp->operation != ARP_REPLY) || arp->sender_mac[0] & 1 ||
           arp->sender >> 28 >= 0xe;
}

void arp_input(struct weir *weir, struct packet *packet)
{
    struct weir_netif *netif = packet->netif;
    struct arp_packet arp;
    if (!arp_parse(packet->head, packet_head_room(packet), &arp) || arp_malformed(&arp)) {
        NETIF_COUNT(netif, rx_runt);
        count(weir, WEIR_COUNT_ARP_BAD);
        return;
    }
    if (memcmp(arp.sender_mac, netif->mac, 6) == 0)  // our own, reflected
        return;
    if (acd_seen(weir, netif, &arp))
        return;
    const struct weir_netif_address *target = address_find(netif, weir_addr_v4(arp.target));
    if (target && !address_ready(target))
        target = NULL;
    neighbour_seen(weir, netif, &arp, target);
    // RFC 5227 §2.1.1: a probe (sender 0) for an address of ours is answered like any request; that is its defence.
    // Nobody but us may ask in our name.
    if (target && arp.operation == ARP_REQUEST && arp.sender != arp.target)
        arp_reply_later(weir, netif, &arp);
}

enum weir_tx_verdict arp_send(struct weir_netif *netif, const uint8_t destination[6], uint16_t operation,
                              uint32_t sender, const uint8_t target_mac[6], uint32_t target)
{
    const struct ethernet header = {.destination = acd_broadcasts(sender) ? ethernet_broadcast : destination,
                                    .source = netif->mac,
                                    .type = ETHERTYPE_ARP,
                                    .vlan = netif->vlan,
                                    .tagged = netif->flags & WEIR_NETIF_VLAN};
    struct arp_packet arp = {.operation = operation, .sender = sender, .target = target};
    memcpy(arp.sender_mac, netif->mac, 6);
    memcpy(arp.target_mac, target_mac, 6);
    struct packet_out out;
    packet_out_init(&out);
    arp_emit(packet_out_header(&out, ARP_BYTES), &arp);
    out.head = ethernet_emit(out.head, &header);
    return netif_transmit(netif, &out);
}

enum weir_tx_verdict arp_ask(const struct neighbour *n, const uint8_t *mac)
{
    const struct weir_netif_address *own = address_toward(n->netif, n->address);
    return arp_send(n->netif, mac ? mac : ethernet_broadcast, ARP_REQUEST, own ? weir_addr_to_v4(own->addr) : 0,
                    mac ? mac : arp_unknown_mac, weir_addr_to_v4(n->address));
}

uint64_t arp_wait_until(const struct weir *weir, uint32_t due_us)
{
    return weir->now_us + (seq_lt(weir->now, due_us) ? due_us - weir->now : 0);
}

// What a full interface refuses stays for the next time; weir_tx_ready brings it about. What is no longer ours is not
// claimed.
static void arp_send_replies(struct weir *weir)
{
    struct arp *arp = &weir->arp;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < arp->reply_count; i++) {
        const struct arp_reply *reply = &arp->replies[i];
        if (address_ours(reply->netif, weir_addr_v4(reply->ours)) &&
            arp_send(reply->netif, reply->mac, ARP_REPLY, reply->ours, reply->mac, reply->address) == WEIR_TX_FULL)
            arp->replies[kept++] = *reply;
    }
    arp->reply_count = kept;
}

uint64_t arp_poll(struct weir *weir, uint64_t now_us)
{
    (void)now_us;
    arp_send_replies(weir);
    nd_send_replies(weir);
    const uint64_t neighbour_due_us = neighbour_poll(weir), acd_due_us = acd_poll(weir);
    return neighbour_due_us < acd_due_us ? neighbour_due_us : acd_due_us;
}

void arp_flush(struct weir *weir, struct weir_netif *netif, bool removed)
{
    struct arp *arp = &weir->arp;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < arp->reply_count; i++)
        if (arp->replies[i].netif != netif)
            arp->replies[kept++] = arp->replies[i];
    arp->reply_count = kept;
    nd_flush(weir, netif);
    neighbour_flush(weir, netif, removed);
}
