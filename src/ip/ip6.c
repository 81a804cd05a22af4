// SPDX-License-Identifier: BSD-2-Clause
// IPv6 for a host (RFC 8200): the checks every packet must pass, its extension headers, the way up to its protocol, the
// header on the way down. As with IPv4, what is not for this host is dropped, and nobody is told.
#include "ip/ip6.h"

#include "ip/flow.h"
#include "wire/mld.h"

// --- up --------------------------------------------------------------------------------------------------------------

// The address as this host knows it: a link-local one is of the interface it came by. What went round by the loopback
// interface has lost the zone that it had, and gets that of whose address it is.
static struct weir_addr zone_of_arrival(const struct weir *weir, const struct weir_netif *netif, const uint8_t *bytes)
{
    const struct weir_addr plain = weir_addr_v6(bytes);
    if (!ip_netif_loopback(netif))
        return weir_addr_with_zone(plain, netif->index);
    for (const struct weir_netif *own = weir->netifs; own; own = own->next)
        if (address_find(own, weir_addr_with_zone(plain, own->index)))
            return weir_addr_with_zone(plain, own->index);
    return plain;
}

// RFC 4291 §2.7.1: all nodes of the interface and of the link, and the group of each address of ours, taken into use or
// not (RFC 4862 §5.4.2: a duplicate tells of itself there).
static bool group_ours(const struct weir *weir, const struct weir_netif *netif, struct weir_addr group,
                       const uint8_t *bytes)
{
    if (weir_addr_equal(group, ip6_all_nodes()))
        return true;
    if (ip6_is_solicited_node(bytes))
        for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
            if (a->state != WEIR_ADDRESS_NONE && !weir_addr_is_v4(a->addr) &&
                !((weir_addr_word(a->addr, 3) ^ get32(bytes + 12)) << 8))
                return true;
    return ip_group_member(weir, ip_netif_loopback(netif) ? NULL : netif, group);
}

// Whether the packet is for this host; marks multicasts.
static bool destination_acceptable(const struct weir *weir, struct packet *packet, const uint8_t *bytes)
{
    const struct weir_netif *netif = packet->netif;
    if (weir_addr_is_multicast(packet->destination)) {
        packet->flags |= PACKET_IP_MULTICAST;
        return group_ours(weir, netif, packet->destination, bytes);
    }
    // a unicast address in a frame to many
    if (packet->flags & PACKET_LINK_BROADCAST && !(packet->protocol == IP6_ICMP))
        return false;
    return address_ours(netif, packet->destination) ||
           (!weir_addr_zone(packet->destination) && ip_is_ours(weir, packet->destination) &&
            !weir_addr_is_loopback(packet->destination)) ||
           (ip_netif_loopback(netif) && ip_is_ours(weir, packet->destination));
}

// An advertisement from an address of ours is how another host shows that it has the address, too.
static bool is_claim(const struct packet *packet)
{
    return packet->protocol == IP6_ICMP && packet->ttl == ICMP6_HOP_LIMIT_ON_LINK &&
           packet_head_room(packet) > IP6_BYTES && packet->head[IP6_BYTES] == ICMP6_NEIGHBOUR_ADVERTISEMENT;
}

// Our own addresses cannot come from outside; :: is a host that has no address yet, which only ICMPv6 may speak as.
static bool source_acceptable(const struct weir *weir, const struct packet *packet)
{
    if (ip_netif_loopback(packet->netif))
        return true;
    if (weir_addr_is_any(packet->source))
        return packet->flags & PACKET_IP_MULTICAST;
    return !ip_is_ours(weir, packet->source) || is_claim(packet);
}

static bool header_acceptable(struct weir *weir, struct packet *packet, struct ip6 *header)
{
    const uint32_t room = packet_head_room(packet);
    const enum ip6_verdict verdict = ip6_parse(packet->head, room < IP6_BYTES ? room : packet->length, header);
    if (verdict != IP6_OK && !(verdict == IP6_JUMBO && header->next_header == IP6_HOP_BY_HOP)) {
        count(weir, WEIR_COUNT_IP_BAD_HEADER);
        return false;
    }
    if (!ip_netif_loopback(packet->netif) && !ip6_addresses_acceptable(header->source, header->destination)) {
        count(weir, WEIR_COUNT_IP_BAD_SOURCE);
        return false;
    }
    packet->network = packet->head;
    packet->network_length = IP6_BYTES;
    if (verdict == IP6_OK)  // of a jumbogram the rest of the frame, in which the walk finds the option that is refused
        packet->length = IP6_BYTES + header->payload_length;
    packet->source = zone_of_arrival(weir, packet->netif, header->source);
    packet->destination = zone_of_arrival(weir, packet->netif, header->destination);
    packet->protocol = header->next_header;
    packet->ttl = header->hop_limit;
    packet->tos = header->traffic_class;
    packet->next_at = IP6_NEXT_HEADER_AT;
    return true;
}

static void fragment_found(struct weir *weir, struct packet *packet, struct ip6_chain *chain)
{
    const struct ip6_fragment *const f = &chain->fragment;
    packet->flags = (uint8_t)((packet->flags & ~PACKET_CHECKSUM_OK) | PACKET_FRAGMENTED);
    ip6_fragment_check(chain, packet->length - IP6_BYTES);
    if (chain->verdict == IP6_CHAIN_PARAMETER) {
        icmp6_parameter_send(weir, packet, chain->code, chain->pointer, false);
        return;
    }
    const struct fragment fragment = {.source = packet->source,
                                      .destination = packet->destination,
                                      .id = f->id,
                                      .offset = f->offset,
                                      .next_at = chain->next_at,
                                      .next_header = f->next_header,
                                      .more = f->more};
    packet->network_length = f->at;  // what comes before the fragment header: of each fragment, and of the whole
    packet_skip(packet, IP6_BYTES + chain->bytes);
    fragment_input(weir, packet, &fragment);
}

// What the walk found. True: the packet is at its upper layer's header.
static bool chain_acceptable(struct weir *weir, struct packet *packet, struct ip6_chain *chain, uint32_t room)
{
    switch (chain->verdict) {
    case IP6_CHAIN_OK: break;
    case IP6_CHAIN_PARAMETER:
        icmp6_parameter_send(weir, packet, chain->code, chain->pointer, chain->answers_multicast);
        return false;
    // fragments of fragments (CVE-2021-24086)
    case IP6_CHAIN_FRAGMENT:
        if (packet->flags & PACKET_REASSEMBLED) {
            count(weir, WEIR_COUNT_FRAGMENT_BAD);
            return false;
        }
        if (!chain->fragment.offset && chain->fragment.more &&
            !ip6_first_fragment_whole(packet->head + IP6_BYTES, room, chain)) {
            icmp6_parameter_send(weir, packet, IP6_INCOMPLETE_CHAIN, 0, false);
            return false;
        }
        if (chain->fragment.offset || chain->fragment.more) {
            fragment_found(weir, packet, chain);
            return false;
        }
        packet->flags = (uint8_t)((packet->flags & ~PACKET_CHECKSUM_OK) | PACKET_FRAGMENTED);  // atomic (RFC 6946)
        ip6_chain_continue(packet->head + IP6_BYTES, room, chain);
        if (chain->verdict == IP6_CHAIN_FRAGMENT)
            chain->verdict = IP6_CHAIN_DROP;
        return chain_acceptable(weir, packet, chain, room);
    default: count(weir, WEIR_COUNT_IP_OPTIONS); return false;
    }
    packet->router_alert = chain->router_alert;
    packet->protocol = chain->protocol;
    packet->next_at = chain->next_at;
    packet->network_length = (uint16_t)(IP6_BYTES + chain->bytes);
    if (chain->bytes)
        packet->flags &= (uint8_t)~PACKET_CHECKSUM_OK;  // no device is trusted to have looked behind these
    return true;
}

// The packet is at its network header, which is good.
static void headers_input(struct weir *weir, struct packet *packet)
{
    struct ip6_chain chain;
    const uint32_t room = packet_head_room(packet) - IP6_BYTES;
    packet->router_alert = false;
    ip6_chain_walk(packet->head + IP6_BYTES, room, packet->protocol, &chain);
    if (!chain_acceptable(weir, packet, &chain, room))
        return;
    if (weir_addr_is_any(packet->source) && packet->protocol != IP6_ICMP) {
        count(weir, WEIR_COUNT_IP_BAD_SOURCE);
        return;
    }
    packet_skip(packet, packet->network_length);
    if (!packet->length) {  // a header that is announced, and is not there
        count(weir, WEIR_COUNT_IP_BAD_HEADER);
        return;
    }
    if (WEIR_CFG_FAST_PATH)
        flow_learn_match(weir, packet);
    ip_deliver(weir, packet);
}

void ip6_input(struct weir *weir, struct packet *packet)
{
    struct ip6 header;
    if (!header_acceptable(weir, packet, &header))
        return;
    if (!destination_acceptable(weir, packet, header.destination)) {
        count(weir, WEIR_COUNT_IP_NOT_OURS);
        return;
    }
    if (!source_acceptable(weir, packet)) {
        count(weir, WEIR_COUNT_IP_BAD_SOURCE);
        return;
    }
    headers_input(weir, packet);
}

void fragment_deliver(struct weir *weir, struct packet *packet)
{
    if (weir_addr_is_v4(packet->destination)) {
        ip_deliver(weir, packet);
        return;
    }
    packet->head = packet->network;
    packet->offset = 0;
    packet->length += packet->network_length;
    packet->network_length = IP6_BYTES;
    packet->protocol = packet->head[IP6_NEXT_HEADER_AT];
    headers_input(weir, packet);
}

// --- down ------------------------------------------------------------------------------------------------------------

enum weir_tx_verdict ip6_transmit(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                  uint8_t next_header, struct sock *waiter)
{
    uint8_t source[IP6_ADDRESS_BYTES], destination[IP6_ADDRESS_BYTES];
    if (ip->router_alert)
        mld_alert_emit(packet_out_header(out, MLD_ALERT_BYTES));
    weir_addr_to_v6(ip->source, source);
    weir_addr_to_v6(ip->destination, destination);
    const uint32_t label =
        ip->flow_label ? ip->flow_label
                       : (uint32_t)addr_ends_hash(&weir->port_key, ip->source, ip->destination, ip->protocol) & 0xfffff;
    const struct ip6 header = {.source = source,
                               .destination = destination,
                               .flow_label = label,
                               .payload_length = (uint16_t)packet_out_length(out),
                               .traffic_class = ip->tos,
                               .next_header = ip->router_alert ? (uint8_t)IP6_HOP_BY_HOP : next_header,
                               .hop_limit = ip6_hop_limit(path->netif, ip->ttl)};
    ip6_emit(packet_out_header(out, IP6_BYTES), &header);
    if (WEIR_CFG_TX_OFFLOAD && out->tx.checksum_start)
        out->tx.checksum_start = IP6_BYTES;
    return path->netif->link->output(path->netif, path, ETHERTYPE_IP6, out, waiter);
}

enum weir_tx_verdict ip6_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter)
{
    return ip6_transmit(weir, path, ip, out, ip->protocol, waiter);
}

enum weir_tx_verdict ip6_piece(struct weir *weir, struct path *path, const struct ip_out *ip, uint32_t id,
                               uint32_t offset, bool more, struct packet_out *out, struct sock *waiter)
{
    uint8_t *const bytes = packet_out_header(out, IP6_FRAGMENT_BYTES);
    bytes[0] = ip->protocol;
    bytes[1] = 0;
    put16(bytes + 2, offset | more);
    // Its 16 bits are the caller's count of this destination; what others see of it they cannot foretell (RFC 7739).
    put32(bytes + 4, addr_hash(&weir->hash_key, ip->destination, (uint32_t)'F' << 16 | id));
    return ip6_transmit(weir, path, ip, out, IP6_FRAGMENT, waiter);
}
