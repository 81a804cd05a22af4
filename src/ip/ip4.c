// SPDX-License-Identifier: BSD-2-Clause
// IPv4 for a host (RFC 791, RFC 1122 §3.2): the checks every packet must pass, the way up to its protocol, the header
// on the way down. A Weir host is not a router: what is not for it is dropped, and nobody is told.
#include "ip/internal.h"
#include "ip/options.h"

#include "ip/flow.h"

// --- up --------------------------------------------------------------------------------------------------------------

// RFC 1122 §3.2.1.3: what may stand as a source, and §3.2.1.3(g): 127/8 never appears outside a host. Our own addresses
// cannot come from outside either. 0.0.0.0 is a host that has no address yet (DHCP, IGMP): only to everybody.
static bool source_acceptable(const struct weir *weir, const struct packet *packet)
{
    const uint32_t source = weir_addr_to_v4(packet->source), top = source >> 24;
    if (ip_netif_loopback(packet->netif))
        return true;
    if (top == 0)
        return source == 0 && packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST);
    if (top == 127 || top >= 224)
        return false;
    return !ip_is_ours(weir, packet->source) && !ip_is_broadcast(weir, packet->source);
}

// Whether the packet is for this host; marks broadcasts and multicasts. Any of our addresses is taken on any interface
// (the weak model of RFC 1122 §3.3.4.2), 127/8 on loopback only. A link broadcast with a unicast address is dropped
// (§3.3.6).
static bool destination_acceptable(const struct weir *weir, struct packet *packet)
{
    const struct weir_netif *netif = packet->netif;
    const uint32_t destination = weir_addr_to_v4(packet->destination);
    if (address_ours(netif, packet->destination))
        return !(packet->flags & PACKET_LINK_BROADCAST);
    if (weir_addr_is_multicast(packet->destination)) {
        packet->flags |= PACKET_IP_MULTICAST;
        return ip_group_member(weir, ip_netif_loopback(netif) ? NULL : netif, packet->destination);
    }
    if (destination == 0xffffffffu || ip_netif_broadcast(netif, packet->destination) ||
        (ip_netif_loopback(netif) && ip_is_broadcast(weir, packet->destination))) {
        packet->flags |= PACKET_IP_BROADCAST;
        return true;
    }
    if (packet->flags & PACKET_LINK_BROADCAST || (destination >> 24 == 127 && !ip_netif_loopback(netif)))
        return false;
    return ip_is_ours(weir, packet->destination);
}

// Parses and checks the header; cuts link padding off. The header lies within slices[0]: drivers promise 160 contiguous
// bytes, but a driver's promise is checked where breaking it would read past its memory.
static bool header_acceptable(struct weir *weir, struct packet *packet, struct ip4 *header)
{
    if (packet_head_room(packet) < min_u32(packet->length, 60)) {
        count(weir, WEIR_COUNT_IP_BAD_HEADER);
        return false;
    }
    const enum ip4_verdict verdict = ip4_parse(packet->head, packet->length, false, header);
    if (verdict != IP4_OK) {
        count(weir, verdict == IP4_BAD_CHECKSUM ? WEIR_COUNT_IP_BAD_CHECKSUM : WEIR_COUNT_IP_BAD_HEADER);
        return false;
    }
    packet->network = packet->head;
    packet->network_length = header->header_length;
    packet->length = header->total_length;
    packet->source = weir_addr_v4(header->source);
    packet->destination = weir_addr_v4(header->destination);
    packet->protocol = header->protocol;
    packet->ttl = header->ttl;
    packet->tos = header->tos;
    return true;
}

void ip4_input(struct weir *weir, struct packet *packet)
{
    struct ip4 header;
    if (!header_acceptable(weir, packet, &header))
        return;
    if (!destination_acceptable(weir, packet)) {
        count(weir, WEIR_COUNT_IP_NOT_OURS);
        return;
    }
    if (!source_acceptable(weir, packet)) {
        count(weir, WEIR_COUNT_IP_BAD_SOURCE);
        return;
    }
    if (header.header_length > IP4_BYTES &&
        !ip4_options_acceptable(packet->head + IP4_BYTES, header.header_length - IP4_BYTES)) {
        count(weir, WEIR_COUNT_IP_OPTIONS);
        return;
    }
    packet_skip(packet, header.header_length);
    if (header.flags & IP4_MORE_FRAGMENTS || header.fragment_offset) {
        packet->flags &= (uint8_t)~PACKET_CHECKSUM_OK;  // no device verifies a checksum that spans fragments
        const struct fragment fragment = {.source = packet->source,
                                          .destination = packet->destination,
                                          .id = header.id,
                                          .offset = header.fragment_offset,
                                          .protocol = header.protocol,
                                          .next_header = header.protocol,
                                          .more = header.flags & IP4_MORE_FRAGMENTS};
        fragment_input(weir, packet, &fragment);
        return;
    }
    if (WEIR_CFG_FAST_PATH)
        flow_learn_match(weir, packet);
    ip_deliver(weir, packet);
}

// --- down ------------------------------------------------------------------------------------------------------------

// RFC 2113: the option that makes routers look into the packet, behind a header that is written.
static void emit_router_alert(uint8_t *bytes)
{
    static const uint8_t alert[IP4_ROUTER_ALERT_BYTES] = {0x94, 4, 0, 0};
    bytes[0] = 0x46;
    put16(bytes + 10, 0);
    memcpy(bytes + IP4_BYTES, alert, sizeof alert);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, IP4_BYTES + IP4_ROUTER_ALERT_BYTES));
}

enum weir_tx_verdict ip4_transmit(struct path *path, const struct ip_out *ip, const struct ip4_piece *piece,
                                  struct packet_out *out, struct sock *waiter)
{
    const bool alert = WEIR_CFG_IGMP && ip->router_alert;
    const uint32_t header_bytes = IP4_BYTES + (alert ? IP4_ROUTER_ALERT_BYTES : ip4_options_bytes(ip));
    uint8_t *bytes = packet_out_header(out, header_bytes);
    struct ip4 header = {
        .source = weir_addr_to_v4(ip->source),
        .destination = weir_addr_to_v4(ip->destination),
        .total_length = (uint16_t)packet_out_length(out),
        .id = piece->id,
        .fragment_offset = piece->offset,
        .flags = piece->flags,
        .tos = ip->tos,
        .ttl = ip4_ttl(ip->ttl),
        .protocol = ip->protocol,
    };
    ip4_emit(bytes, &header);
    if (alert)
        emit_router_alert(bytes);
    else if (header_bytes > IP4_BYTES)
        ip4_options_emit(path->netif, bytes, ip, piece->offset > 0);
    if (WEIR_CFG_TX_OFFLOAD && out->tx.checksum_start)
        out->tx.checksum_start = (uint16_t)header_bytes;
    return path->netif->link->output(path->netif, path, ip4_family.ethertype, out, waiter);
}

enum weir_tx_verdict ip4_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter)
{
    // RFC 6864 §4.1: a packet that cannot be fragmented has no use for an identification, and tells nobody anything by
    // it.
    const struct ip4_piece piece = {ip->dont_fragment ? 0 : ip4_id(weir, ip), 0,
                                    ip->dont_fragment ? IP4_DONT_FRAGMENT : 0};
    return ip4_transmit(path, ip, &piece, out, waiter);
}

#if !WEIR_CFG_FRAGMENTS
uint16_t ip4_id(struct weir *weir, const struct ip_out *ip)
{
    (void)ip;
    return (uint16_t)random_u32(&weir->random);
}
#endif

#if WEIR_CFG_RAW
// Room for the longest header, options included, is in packet_out; the rest of the packet is lent as it is.
static bool header_included_valid(const uint8_t *bytes, uint32_t length)
{
    const uint32_t header_length = length >= IP4_BYTES ? (bytes[0] & 0x0fu) * 4 : 0;
    return header_length >= IP4_BYTES && header_length <= length && bytes[0] >> 4 == 4;
}

enum weir_tx_verdict ip_output_header_included(struct weir *weir, struct path *path, struct weir_addr source,
                                               const uint8_t *bytes, uint32_t length, struct sock *waiter, int *error)
{
    if (!header_included_valid(bytes, length))
        *error = WEIR_INVALID;
    else if (length > path->mtu)
        *error = WEIR_TOO_BIG;
    if (*error)
        return WEIR_TX_DONE;
    const uint32_t header_length = (bytes[0] & 0x0fu) * 4;
    struct packet_out out;
    packet_out_init(&out);
    uint8_t *header = packet_out_header(&out, header_length);
    memcpy(header, bytes, header_length);
    put16(header + 2, length);
    if (get32(header + 12) == 0)
        put32(header + 12, weir_addr_to_v4(source));
    if (get16(header + 4) == 0 && !(header[6] & 0x40)) {
        const struct ip_out ip = {.source = weir_addr_v4(get32(header + 12)),
                                  .destination = weir_addr_v4(get32(header + 16)),
                                  .protocol = header[9]};
        put16(header + 4, ip4_id(weir, &ip));
    }
    put16(header + 10, 0);
    checksum_put(header + 10, checksum_sum_portable(header, header_length));
    if (length > header_length)
        packet_out_payload(&out, bytes + header_length, length - header_length);
    return path->netif->link->output(path->netif, path, ip4_family.ethertype, &out, waiter);
}
#endif
