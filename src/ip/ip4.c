// SPDX-License-Identifier: BSD-2-Clause
// IPv4 for a host (RFC 791, RFC 1122 §3.2): the checks every packet must pass, the way up to its protocol, the header on the way
// down. A Weir host is not a router: what is not for it is dropped, and nobody is told.
#include "ip/ip4.h"

#include "link/handler.h"

size_t ip_bytes(void)
{
    return records_carve_bytes(WEIR_CFG_OUTBOX_BYTES) + fragment_bytes() + icmp_limit_bytes() + pmtu_bytes() + igmp_bytes();
}

int ip_init(struct weir *weir)
{
    paths_changed(weir);
    int error = outbox_init(weir);
    if (!error)
        error = fragment_init(weir);
    if (!error)
        error = icmp_limit_init(weir);
    if (!error)
        error = pmtu_init(weir);
    if (!error)
        error = igmp_init(weir);
    return error;
}

void ip_free(struct weir *weir)
{
    igmp_free(weir);
    pmtu_free(weir);
    icmp_limit_free(weir);
    fragment_free(weir);
    records_clear(&weir->ip.outbox, &weir->memory);
}

// The outbox comes last: it sends what the others made due. Bounded by what each of them bounds.
uint64_t ip_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t due_us = fragment_poll(weir, now_us);
    uint64_t next_us = igmp_poll(weir, now_us);
    due_us = next_us < due_us ? next_us : due_us;
    next_us = pmtu_poll(weir, now_us);
    due_us = next_us < due_us ? next_us : due_us;
    next_us = outbox_poll(weir, now_us);
    return next_us < due_us ? next_us : due_us;
}

// --- up ------------------------------------------------------------------------------------------------------------------

// RFC 1122 §3.2.1.3: what may stand as a source, and §3.2.1.3(g): 127/8 never appears outside a host. Our own addresses cannot
// come from outside either. 0.0.0.0 is a host that has no address yet (DHCP, IGMP): only to everybody.
static bool source_acceptable(const struct weir *weir, const struct packet *packet)
{
    const uint32_t source = packet->source.v4, top = source >> 24;
    if (ip4_netif_loopback(packet->netif))
        return true;
    if (top == 0)
        return source == 0 && packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST);
    if (top == 127 || top >= 224)
        return false;
    for (const struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        if ((netif->address.v4 == source && ip4_netif_ready(netif)) || ip4_netif_broadcast(netif, source))
            return false;
    return true;
}

// Whether the packet is for this host; marks broadcasts and multicasts. Any of our addresses is taken on any interface (the weak
// model of RFC 1122 §3.3.4.2), 127/8 on loopback only. A link broadcast with a unicast address is dropped (§3.3.6).
static bool destination_acceptable(const struct weir *weir, struct packet *packet)
{
    const struct weir_netif *netif = packet->netif;
    const uint32_t destination = packet->destination.v4;
    if (destination == netif->address.v4 && ip4_netif_ready(netif))
        return !(packet->flags & PACKET_LINK_BROADCAST);
    if (weir_addr_is_multicast(packet->destination)) {
        packet->flags |= PACKET_IP_MULTICAST;
        return igmp_member(weir, ip4_netif_loopback(netif) ? NULL : netif, packet->destination);
    }
    if (destination == 0xffffffffu || ip4_netif_broadcast(netif, destination) ||
        (ip4_netif_loopback(netif) && ip_is_broadcast(weir, packet->destination))) {
        packet->flags |= PACKET_IP_BROADCAST;
        return true;
    }
    if (packet->flags & PACKET_LINK_BROADCAST || (destination >> 24 == 127 && !ip4_netif_loopback(netif)))
        return false;
    return ip_is_ours(weir, packet->destination);
}

// Parses and checks the header; cuts link padding off. The header lies within slices[0]: drivers promise 160 contiguous bytes,
// but a driver's promise is checked where breaking it would read past its memory.
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

#if WEIR_CFG_FAST_PATH
static inline uint64_t head_word(const uint8_t *bytes, uint32_t i)
{
    uint64_t word;
    memcpy(&word, bytes + 8 * i, 8);
    return word;
}

// Remembers how the frame of a packet that passed all checks begins: link header, version, "no fragment", and both addresses.
static void usual_keep(struct weir *weir, const struct packet *packet)
{
    const struct weir_slice *first = &packet->frame->slices[0];
    const uint32_t at = packet->netif->link->untagged_bytes;
    uint8_t mask[IP4_USUAL_WORDS * 8] = {0};
    if (packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST | PACKET_LINK_BROADCAST) || packet->network_length != IP4_BYTES ||
        packet->network != first->data + at || at + IP4_BYTES > sizeof mask || first->length < sizeof mask)
        return;
    struct ip4_usual *usual = ip4_usual_of(weir, packet->network);
    memset(mask, 0xff, at + 1);
    mask[at + 6] = 0x3f;
    mask[at + 7] = 0xff;
    memset(mask + at + 12, 0xff, 8);
    for (uint32_t i = 0; i < IP4_USUAL_WORDS; i++) {
        usual->mask[i] = head_word(mask, i);
        usual->head[i] = head_word(first->data, i) & usual->mask[i];
    }
    usual->netif = packet->netif;
    usual->generation = weir->ip.generation;
    usual->source_at = packet->link_source ? (uint8_t)(packet->link_source - first->data) : IP4_USUAL_NO_SOURCE;
}

_Static_assert(IP4_USUAL_WORDS == 5, "usual_head compares five");
static inline bool usual_head(const struct ip4_usual *usual, const uint8_t *bytes)
{
    const uint64_t *const head = usual->head, *const mask = usual->mask;
    return !(((head_word(bytes, 0) & mask[0]) ^ head[0]) | ((head_word(bytes, 1) & mask[1]) ^ head[1]) |
             ((head_word(bytes, 2) & mask[2]) ^ head[2]) | ((head_word(bytes, 3) & mask[3]) ^ head[3]) |
             ((head_word(bytes, 4) & mask[4]) ^ head[4]));
}

const uint8_t *ip4_usual(struct weir_netif *netif, const struct weir_frame *frame)
{
    struct weir *const weir = netif->weir;
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t at = netif->link->untagged_bytes;
    const uint8_t *const network = bytes + at;
    if (frame->slices[0].length < IP4_USUAL_WORDS * 8)
        return NULL;
    const struct ip4_usual *const usual = ip4_usual_of(weir, network);
    const uint32_t total_length = get16(network + 2);
    const bool good = usual->generation == weir->ip.generation && usual->netif == netif && usual_head(usual, bytes) &&
                      total_length >= IP4_BYTES && total_length <= frame->length - at && ip4_sum_good(network);
    return good ? network : NULL;
}

void ip4_usual_input(struct weir_netif *netif, const struct weir_frame *frame, const uint8_t *network)
{
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t source_at = ip4_usual_of(netif->weir, network)->source_at;
    struct packet packet = {
        .netif = netif,
        .frame = frame,
        .head = network + IP4_BYTES,
        .offset = (uint32_t)(network - bytes) + IP4_BYTES,
        .length = get16(network + 2) - IP4_BYTES,
        .network = network,
        .link_source = source_at == IP4_USUAL_NO_SOURCE ? NULL : bytes + source_at,
        .source = weir_addr_v4(get32(network + 12)),
        .destination = weir_addr_v4(get32(network + 16)),
        .network_length = IP4_BYTES,
        .protocol = network[9],
        .ttl = network[8],
        .tos = network[1],
        .flags = frame->checksum == WEIR_CHECKSUM_VERIFIED ? PACKET_CHECKSUM_OK : 0,
    };
    ip4_deliver(netif->weir, &packet);
}
#else
static void usual_keep(struct weir *weir, const struct packet *packet) { (void)weir, (void)packet; }
#endif

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
    if (header.header_length > IP4_BYTES && !ip4_options_acceptable(packet->head + IP4_BYTES, header.header_length - IP4_BYTES)) {
        count(weir, WEIR_COUNT_IP_OPTIONS);
        return;
    }
    packet_skip(packet, header.header_length);
    if (header.flags & IP4_MORE_FRAGMENTS || header.fragment_offset) {
        packet->flags &= (uint8_t)~PACKET_CHECKSUM_OK;  // no device verifies a checksum that spans fragments
        fragment_input(weir, packet, &header);
        return;
    }
    usual_keep(weir, packet);
    ip4_deliver(weir, packet);
}

void ip4_deliver(struct weir *weir, struct packet *packet)
{
    const bool taken = raw_input(weir, packet);
    for (const struct ip_protocol *protocol = weir->protocols; protocol->number; protocol++) {
        if (protocol->number == packet->protocol) {
            protocol->input(weir, packet);
            return;
        }
    }
    if (handler_protocol(weir, packet) || taken)
        return;
    count(weir, WEIR_COUNT_IP_NO_PROTOCOL);
    icmp_error_send(weir, packet, ICMP_ERROR_PROTOCOL, 0);
}

// --- down ----------------------------------------------------------------------------------------------------------------

// RFC 2113: the option that makes routers look into the packet. The one header of ours that is longer than 20 bytes.
static void emit_router_alert(uint8_t *bytes, struct ip4 *header)
{
    static const uint8_t alert[IP4_ROUTER_ALERT_BYTES] = {0x94, 4, 0, 0};
    ip4_emit(bytes, header);
    bytes[0] = 0x46;
    put16(bytes + 10, 0);
    memcpy(bytes + IP4_BYTES, alert, sizeof alert);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, IP4_BYTES + IP4_ROUTER_ALERT_BYTES));
}

enum weir_tx_verdict ip4_transmit(struct path *path, const struct ip_out *ip, const struct ip4_piece *piece, struct packet_out *out,
                                  struct sock *waiter)
{
    const uint32_t header_bytes = WEIR_CFG_IGMP && ip->router_alert ? IP4_BYTES + IP4_ROUTER_ALERT_BYTES : IP4_BYTES;
    uint8_t *bytes = packet_out_header(out, header_bytes);
    struct ip4 header = {
        .source = ip->source.v4,
        .destination = ip->destination.v4,
        .total_length = (uint16_t)packet_out_length(out),
        .id = piece->id,
        .fragment_offset = piece->offset,
        .flags = piece->flags,
        .tos = ip->tos,
        .ttl = ip->ttl,
        .protocol = ip->protocol,
    };
    if (header_bytes == IP4_BYTES)
        ip4_emit(bytes, &header);
    else
        emit_router_alert(bytes, &header);
    if (WEIR_CFG_TX_OFFLOAD && out->tx.checksum_start)
        out->tx.checksum_start = (uint16_t)header_bytes;
    return path->netif->link->output(path->netif, path, ip4_family.ethertype, out, waiter);
}

#if WEIR_CFG_FAST_PATH
// A packet that may not be fragmented, as nearly all are: RFC 6864 §4.1, its identification has no use, and tells nobody anything.
static inline void emit_whole(uint8_t *bytes, const struct ip_out *ip, uint32_t length)
{
    const uint32_t first = 0x45000000u | (uint32_t)ip->tos << 16 | length, second = (uint32_t)IP4_DONT_FRAGMENT << 13;
    const uint32_t third = (uint32_t)ip->ttl << 24 | (uint32_t)ip->protocol << 16;
    const uint64_t sum = (uint64_t)first + second + third + ip->source.v4 + ip->destination.v4;
    put32(bytes, first);
    put32(bytes + 4, second);
    put32(bytes + 8, third | (uint16_t)~checksum_fold_words(sum));
    put32(bytes + 12, ip->source.v4);
    put32(bytes + 16, ip->destination.v4);
}
static enum weir_tx_verdict transmit_whole(struct path *path, const struct ip_out *ip, struct packet_out *out, struct sock *waiter)
{
    if (ip->router_alert)
        return ip4_transmit(path, ip, &(struct ip4_piece){0, 0, IP4_DONT_FRAGMENT}, out, waiter);
    uint8_t *const bytes = packet_out_header(out, IP4_BYTES);
    emit_whole(bytes, ip, packet_out_length(out));
    if (out->tx.checksum_start)
        out->tx.checksum_start = IP4_BYTES;
    return path->netif->link->output(path->netif, path, ip4_family.ethertype, out, waiter);
}
#else
static enum weir_tx_verdict transmit_whole(struct path *path, const struct ip_out *ip, struct packet_out *out, struct sock *waiter)
{
    // RFC 6864 §4.1: a packet that cannot be fragmented has no use for an identification, and tells nobody anything by it.
    return ip4_transmit(path, ip, &(struct ip4_piece){0, 0, IP4_DONT_FRAGMENT}, out, waiter);
}
#endif

enum weir_tx_verdict ip4_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out, struct sock *waiter)
{
    if (ip->dont_fragment)
        return transmit_whole(path, ip, out, waiter);
    const struct ip4_piece piece = {ip4_id(weir, ip), 0, 0};
    return ip4_transmit(path, ip, &piece, out, waiter);
}

enum weir_tx_verdict ip_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out, struct sock *waiter)
{
    if (!ip_path_valid(weir, path)) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return WEIR_TX_DONE;
    }
    return ip_family_of(ip->destination)->transmit(weir, path, ip, out, waiter);
}

#if !WEIR_CFG_FRAGMENTS
uint16_t ip4_id(struct weir *weir, const struct ip_out *ip)
{
    (void)ip;
    return (uint16_t)random_u32(&weir->random);
}

enum weir_tx_verdict ip_output_datagram(struct weir *weir, struct path *path, const struct ip_out *ip, const uint8_t *header,
                                        uint32_t header_length, const uint8_t *payload, uint32_t payload_length, uint32_t *progress,
                                        struct sock *waiter, int *error)
{
    (void)progress;
    if (ip_header_bytes(ip->destination) + header_length + payload_length > path->mtu) {
        *error = WEIR_TOO_BIG;
        return WEIR_TX_DONE;
    }
    struct packet_out out;
    packet_out_init(&out);
    if (header_length)
        memcpy(packet_out_header(&out, header_length), header, header_length);
    if (payload_length)
        packet_out_payload(&out, payload, payload_length);
    return ip_output(weir, path, ip, &out, waiter);
}
#endif

#if WEIR_CFG_RAW
// Room for the longest header, options included, is in packet_out; the rest of the packet is lent as it is.
static bool header_included_valid(const uint8_t *bytes, uint32_t length)
{
    const uint32_t header_length = length >= IP4_BYTES ? (bytes[0] & 0x0fu) * 4 : 0;
    return header_length >= IP4_BYTES && header_length <= length && bytes[0] >> 4 == 4;
}

enum weir_tx_verdict ip_output_header_included(struct weir *weir, struct path *path, struct weir_addr source, const uint8_t *bytes,
                                               uint32_t length, struct sock *waiter, int *error)
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
        put32(header + 12, source.v4);
    if (get16(header + 4) == 0 && !(header[6] & 0x40)) {
        const struct ip_out ip = {
            .source = weir_addr_v4(get32(header + 12)), .destination = weir_addr_v4(get32(header + 16)), .protocol = header[9]};
        put16(header + 4, ip4_id(weir, &ip));
    }
    put16(header + 10, 0);
    checksum_put(header + 10, checksum_sum_portable(header, header_length));
    if (length > header_length)
        packet_out_payload(&out, bytes + header_length, length - header_length);
    return path->netif->link->output(path->netif, path, ip4_family.ethertype, &out, waiter);
}
#endif
