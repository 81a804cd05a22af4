// SPDX-License-Identifier: BSD-2-Clause
// ICMPv6 errors, out and in (RFC 4443 §2.4, RFC 5927, RFC 8201). The limits are those of icmp_error.c.
#include "ip/ip6.h"

// --- out -------------------------------------------------------------------------------------------------------------

// The type of the ICMPv6 message that a packet carries behind whatever headers, as far as they are at hand. -1: it
// carries none.
static int icmp6_type(const struct packet *packet)
{
    const uint8_t *const bytes = packet->network;
    const uint32_t room = (uint32_t)(packet->head - bytes) + packet_head_room(packet);
    uint8_t next = bytes[IP6_NEXT_HEADER_AT];
    uint32_t at = IP6_BYTES;
    while (at + 8 <= room &&
           (next == IP6_HOP_BY_HOP || next == IP6_DESTINATION || next == IP6_ROUTING || next == IP6_FRAGMENT)) {
        if (next == IP6_FRAGMENT && get16(bytes + at + 2) & 0xfff8)  // what follows is no header
            return -1;
        const uint32_t length = next == IP6_FRAGMENT ? IP6_FRAGMENT_BYTES : (bytes[at + 1] + 1u) * 8;
        next = bytes[at];
        at += length;
    }
    return next == IP6_ICMP && at < room ? bytes[at] : -1;
}

// RFC 4443 §2.4(e): never about an error or a redirect, about what went to many (but for the two exceptions,
// `multicast`), or to a source that is not a single host.
static bool error_allowed(const struct packet *packet, bool multicast)
{
    const int type = icmp6_type(packet);
    if (packet->flags & (PACKET_LINK_BROADCAST | PACKET_IP_MULTICAST) && !multicast)
        return false;
    return !weir_addr_is_any(packet->source) && !weir_addr_is_multicast(packet->source) &&
           !(type >= 0 && icmp6_is_error((uint8_t)type)) && type != ICMP6_REDIRECT;
}

static void error_send(struct weir *weir, const struct packet *packet, const struct icmp6 *header, bool multicast)
{
    struct path path;
    struct weir_addr source;
    if (!error_allowed(packet, multicast) || !icmp_limit_take(weir, packet->source))
        return;
    if (ip_path_answer(weir, &path, &source, packet) != WEIR_OK) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return;
    }
    struct ip_out ip = {.source = source, .destination = packet->source, .protocol = IP6_ICMP, .ttl = IP_TTL_UNASKED};
    struct packet whole = *packet;  // from its network header on, of which as much is quoted as fits in 1280 bytes
    const uint32_t headers = (uint32_t)(packet->head - packet->network);
    whole.head = packet->network;
    whole.offset -= headers;
    whole.length += headers;
    const uint32_t quoted = min_u32(whole.length, IP6_MTU_MIN - IP6_BYTES - ICMP6_BYTES), length = ICMP6_BYTES + quoted;
    ip_answers(&ip, &path, packet);
    uint8_t *const bytes = ip_outbox_push(weir, &path, &ip, length);
    if (!bytes)
        return;
    icmp6_emit(bytes, header);
    packet_copy(&whole, 0, bytes + ICMP6_BYTES, quoted);
    icmp6_sum_put(weir, &ip, bytes, length);
    count(weir, WEIR_COUNT_ICMP_SENT);
}

void icmp6_parameter_send(struct weir *weir, const struct packet *packet, uint8_t code, uint32_t pointer,
                          bool multicast)
{
    const struct icmp6 header = {.type = ICMP6_PARAMETER, .code = code, .rest = pointer};
    count(weir, WEIR_COUNT_IP_OPTIONS);
    error_send(weir, packet, &header, multicast);
}

void ip_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind)
{
    if (weir_addr_is_v4(packet->source)) {
        icmp_error_send(weir, packet, kind, 0);
        return;
    }
    const struct icmp6 headers[] = {
        [ICMP_ERROR_PORT] = {.type = ICMP6_UNREACHABLE, .code = ICMP6_PORT},
        [ICMP_ERROR_PROTOCOL] = {.type = ICMP6_PARAMETER, .code = IP6_UNKNOWN_NEXT_HEADER, .rest = packet->next_at},
        [ICMP_ERROR_REASSEMBLY_TIME] = {.type = ICMP6_TIME_EXCEEDED, .code = ICMP6_REASSEMBLY},
    };
    if (kind != ICMP_ERROR_PARAMETER)  // of IPv4's options; IPv6's have icmp6_parameter_send
        error_send(weir, packet, &headers[kind], false);
}

// --- in --------------------------------------------------------------------------------------------------------------

// The packet an error quotes, which must be one that could be ours. Returns its protocol; 0: it is not.
static uint8_t quote_parse(const struct weir *weir, const struct packet *packet, const uint8_t *bytes, uint32_t length,
                           struct ip_error *error)
{
    struct ip6_chain chain;
    if (length < IP6_BYTES + 8 || bytes[0] >> 4 != 6)
        return 0;
    error->local = weir_addr_with_zone(weir_addr_v6(bytes + 8), packet->netif->index);
    error->remote = weir_addr_with_zone(weir_addr_v6(bytes + 24), packet->netif->index);
    ip6_chain_walk(bytes + IP6_BYTES, length - IP6_BYTES, bytes[IP6_NEXT_HEADER_AT], &chain);
    // only a first one carries the ports that say whose it was
    if (chain.verdict == IP6_CHAIN_FRAGMENT && !chain.fragment.offset)
        ip6_chain_continue(bytes + IP6_BYTES, length - IP6_BYTES, &chain);
    if (chain.verdict != IP6_CHAIN_OK || IP6_BYTES + chain.bytes + 8 > length)
        return 0;
    error->transport = bytes + IP6_BYTES + chain.bytes;
    error->transport_length = length - IP6_BYTES - chain.bytes;
    return ip_is_ours(weir, error->local) && !weir_addr_is_multicast(error->remote) ? chain.protocol : 0;
}

// RFC 8201 §4: less than every link carries is no news at all, nor is what does not lower what we assume now.
static bool too_big_bounded(struct weir *weir, uint32_t reported, struct ip_error *error)
{
    struct path path;
    struct weir_addr source = error->local;
    if (reported < IP6_MTU_MIN || ip_path_find(weir, &path, &source, error->remote, 0) != WEIR_OK ||
        ip_netif_loopback(path.netif))
        return false;
    error->mtu = (uint16_t)min_u32(reported, UINT16_MAX);
    return error->mtu < path.mtu;
}

// What a message means to the transport (RFC 4443 §3, RFC 1122 §4.2.3.9 in its sense).
static void meaning(uint8_t type, uint8_t code, struct ip_error *error)
{
    error->error = WEIR_HOST_UNREACHABLE;
    if (type == ICMP6_TOO_BIG) {
        error->error = WEIR_TOO_BIG;
    } else if (type == ICMP6_UNREACHABLE && code == ICMP6_NO_ROUTE) {
        error->error = WEIR_NETWORK_UNREACHABLE;
    } else if ((type == ICMP6_UNREACHABLE && code == ICMP6_PORT) ||
               (type == ICMP6_PARAMETER && code == IP6_UNKNOWN_NEXT_HEADER)) {
        error->error = WEIR_REFUSED;
        error->hard = true;
    }
}

void icmp6_error_input(struct weir *weir, struct packet *packet)
{
    struct ip_error error = {.error = WEIR_OK};
    const uint32_t room = packet_head_room(packet);
    const uint8_t protocol = packet->flags & PACKET_IP_MULTICAST
                                 ? 0  // an error to everybody is an error about nobody's packet
                                 : quote_parse(weir, packet, packet->head + ICMP6_BYTES, room - ICMP6_BYTES, &error);
    meaning(packet->head[0], packet->head[1], &error);
    if (!protocol || (error.error == WEIR_TOO_BIG && !too_big_bounded(weir, get32(packet->head + 4), &error))) {
        count(weir, WEIR_COUNT_ICMP_IGNORED);
        return;
    }
    ip_error_deliver(weir, protocol, &error);
}
