// SPDX-License-Identifier: BSD-2-Clause
// Neighbour discovery as it comes in (RFC 4861): each message passes all its checks here, before the neighbour cache,
// duplicate address detection or the routing table hears of it.
#include "ip/router.h"
#include "link/acd.h"
#include "link/nd.h"
#include "link/neighbour.h"

// RFC 4861 §7.1.1, §7.2.3, §7.2.4; RFC 4862 §5.4.3.
static void solicitation_input(struct weir *weir, const struct packet *packet, const struct nd *message)
{
    static const uint8_t no_nonce[6];
    struct weir_netif *const netif = packet->netif;
    const struct weir_addr target = weir_addr_with_zone(weir_addr_v6(message->target), netif->index);
    const bool claims = weir_addr_is_any(packet->source);
    if (claims && acd_seen6(weir, netif, target, message->nonce_bytes >= sizeof no_nonce ? message->nonce : no_nonce,
                            packet->link_source))
        return;
    if (!address_ours(netif, target))
        return;
    if (message->link_address)
        neighbour_told(weir, netif, packet->source, message->link_address, true, false);
    nd_advertise_later(netif, target, packet->source,
                       message->link_address ? message->link_address : packet->link_source);
}

// RFC 4861 §7.1.2, §7.2.5.
static void advertisement_input(struct weir *weir, const struct packet *packet, const struct nd *message)
{
    const struct weir_addr target = weir_addr_with_zone(weir_addr_v6(message->target), packet->netif->index);
    const struct neighbour_claim claim = {
        .mac = message->link_address, .solicited = message->solicited, .router = message->router};
    if (!acd_seen6(weir, packet->netif, target, NULL, packet->link_source))
        neighbour_advertised(weir, packet->netif, target, &claim);
}

#define COPY_BYTES 1232u  // more than that fits into no packet of IPv6's least MTU

// The message in one piece: an advertisement with all its options may be longer than what a driver has to deliver so.
static const uint8_t *in_one_piece(const struct packet *packet, uint8_t copy[COPY_BYTES])
{
    if (packet_head_room(packet) >= packet->length)
        return packet->head;
    if (packet->length > COPY_BYTES)
        return NULL;
    packet_copy(packet, 0, copy, packet->length);
    return copy;
}

void nd_input(struct weir *weir, struct packet *packet)
{
    struct nd message = {0};
    uint8_t copy[COPY_BYTES];
    const uint8_t *const bytes = in_one_piece(packet, copy);
    const struct icmp6_arrival arrival = {.source = packet->network + 8,
                                          .destination = packet->network + 24,
                                          .hop_limit = packet->ttl,
                                          .fragmented = packet->flags & (PACKET_FRAGMENTED | PACKET_REASSEMBLED)};
    // On links without addresses there are no neighbours.
    if (!packet->link_source || !bytes || nd_parse(bytes, packet->length, &arrival, &message) != ND_OK) {
        count(weir, WEIR_COUNT_ND_BAD);
        return;
    }
    switch (message.type) {
    case ICMP6_NEIGHBOUR_SOLICITATION: solicitation_input(weir, packet, &message); break;
    case ICMP6_NEIGHBOUR_ADVERTISEMENT: advertisement_input(weir, packet, &message); break;
    case ICMP6_ROUTER_ADVERTISEMENT: router_advertisement_input(weir, packet, &message); break;
    case ICMP6_REDIRECT: redirect_input(weir, packet, &message); break;
    default:
        count(weir, WEIR_COUNT_ICMP_IGNORED);
        break;  // a host does not listen to solicitations of routers (§6.2.6)
    }
}
