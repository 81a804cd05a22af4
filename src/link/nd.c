// SPDX-License-Identifier: BSD-2-Clause
// What neighbour discovery sends. Each message is a packet of its own, complete with its IPv6 header: no way has to be
// found for it, and none of it is ever fragmented (RFC 6980).
#include "link/nd.h"

#include "instance.h"
#include "link/address.h"
#include "wire/nd.h"

static const uint8_t all_nodes[IP6_ADDRESS_BYTES] = {0xff, 2, [15] = 1};
static const uint8_t all_routers[IP6_ADDRESS_BYTES] = {0xff, 2, [15] = 2};
static const uint8_t unspecified[IP6_ADDRESS_BYTES];

void nd_quiet_begin(struct weir_netif *netif)
{
    struct weir *const weir = netif->weir;
    const uint32_t most_us = netif->ip6.how & WEIR_IP6_PROMPT ? 0 : WEIR_CFG_IP6_START_DELAY_MS * 1000u;
    netif->ip6.quiet_until_us = weir->now_us + random_below(&weir->random, most_us);
}

uint32_t nd_quiet_us(const struct weir_netif *netif)
{
    const uint64_t now_us = netif->weir->now_us, until_us = netif->ip6.quiet_until_us;
    return until_us > now_us ? (uint32_t)(until_us - now_us) : 0;
}

struct nd_ends {
    const uint8_t *source, *destination;
    const uint8_t *mac;  // NULL: the destination is a group
};

// `message` has room for ND_NS_BYTES_MAX.
static enum weir_tx_verdict send(struct weir_netif *netif, const struct nd_ends *ends, uint8_t *message,
                                 uint32_t length)
{
    const uint8_t *const to = ends->destination;
    const uint8_t group[6] = {0x33, 0x33, to[12], to[13], to[14], to[15]};
    const struct ethernet link = {.destination = ends->mac ? ends->mac : group,
                                  .source = netif->mac,
                                  .type = ETHERTYPE_IP6,
                                  .vlan = netif->vlan,
                                  .tagged = netif->flags & WEIR_NETIF_VLAN};
    const struct ip6 header = {.source = ends->source,
                               .destination = to,
                               .payload_length = (uint16_t)length,
                               .next_header = IP6_ICMP,
                               .hop_limit = ICMP6_HOP_LIMIT_ON_LINK};
    struct packet_out out;
    icmp6_checksum_put(message, length, ends->source, to);
    packet_out_init(&out);
    memcpy(packet_out_header(&out, length), message, length);
    ip6_emit(packet_out_header(&out, IP6_BYTES), &header);
    out.head = ethernet_emit(out.head, &link);
    return netif_transmit(netif, &out);
}

enum weir_tx_verdict nd_ask(const struct neighbour *n, const uint8_t *mac)
{
    const struct weir_netif_address *const own = address_asker6(n->netif, n->address);
    uint8_t message[ND_NS_BYTES_MAX], target[IP6_ADDRESS_BYTES], source[IP6_ADDRESS_BYTES], group[IP6_ADDRESS_BYTES];
    // A solicitation without a source is one of duplicate address detection. Until there is one, nobody is asked.
    if (!own)
        return WEIR_TX_DONE;
    weir_addr_to_v6(n->address, target);
    weir_addr_to_v6(own->addr, source);
    ip6_solicited_node(target, group);
    const struct nd_ends ends = {source, mac ? target : group, mac};
    return send(n->netif, &ends, message, nd_ns_emit(message, target, n->netif->mac, NULL));
}

enum weir_tx_verdict nd_probe(struct weir_netif *netif, struct weir_netif_address *a)
{
    uint8_t message[ND_NS_BYTES_MAX], target[IP6_ADDRESS_BYTES], group[IP6_ADDRESS_BYTES];
    random_bytes(&netif->weir->random, a->nonce, sizeof a->nonce);
    weir_addr_to_v6(a->addr, target);
    ip6_solicited_node(target, group);
    const struct nd_ends ends = {unspecified, group, NULL};
    return send(netif, &ends, message, nd_ns_emit(message, target, NULL, a->nonce));
}

enum weir_tx_verdict nd_announce(struct weir_netif *netif, const struct weir_netif_address *a)
{
    uint8_t message[ND_NS_BYTES_MAX], target[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(a->addr, target);
    const struct nd_ends ends = {target, a->conflicts ? all_nodes : all_routers, NULL};
    return send(netif, &ends, message, nd_na_emit(message, target, a->conflicts ? ND_OVERRIDE : 0, netif->mac));
}

// --- answers ---------------------------------------------------------------------------------------------------------

void nd_advertise_later(struct weir_netif *netif, struct weir_addr target, struct weir_addr destination,
                        const uint8_t *mac)
{
    struct weir *const weir = netif->weir;
    struct nd_replies *const nd = &weir->nd;
    if (nd->reply_count == ND_REPLIES) {
        count(weir, WEIR_COUNT_OUTBOX_FULL);
        return;
    }
    struct nd_reply *const reply = &nd->replies[nd->reply_count++];
    *reply = (struct nd_reply){.netif = netif, .target = target, .destination = destination};
    if (mac)
        memcpy(reply->mac, mac, sizeof reply->mac);
    slow_due(weir, weir->now_us);
}

static enum weir_tx_verdict reply_send(const struct nd_reply *reply)
{
    const bool asked = !weir_addr_is_any(reply->destination);
    const uint32_t override = address_optimistic(address_find(reply->netif, reply->target)) ? 0 : ND_OVERRIDE;
    uint8_t message[ND_NS_BYTES_MAX], target[IP6_ADDRESS_BYTES], destination[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(reply->target, target);
    weir_addr_to_v6(reply->destination, destination);
    const struct nd_ends ends = {target, asked ? destination : all_nodes, asked ? reply->mac : NULL};
    return send(reply->netif, &ends, message,
                nd_na_emit(message, target, (asked ? ND_SOLICITED : 0) | override, reply->netif->mac));
}

// What a full interface refuses stays for the next time; weir_tx_ready brings it about. What is no longer ours is not
// claimed.
void nd_send_replies(struct weir *weir)
{
    struct nd_replies *const nd = &weir->nd;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < nd->reply_count; i++) {
        const struct nd_reply *const reply = &nd->replies[i];
        if (address_ours(reply->netif, reply->target) && reply_send(reply) == WEIR_TX_FULL)
            nd->replies[kept++] = *reply;
    }
    nd->reply_count = kept;
}

void nd_flush(struct weir *weir, struct weir_netif *netif)
{
    struct nd_replies *const nd = &weir->nd;
    uint8_t kept = 0;
    for (uint8_t i = 0; i < nd->reply_count; i++)
        if (nd->replies[i].netif != netif)
            nd->replies[kept++] = nd->replies[i];
    nd->reply_count = kept;
}
