// SPDX-License-Identifier: BSD-2-Clause
// ICMP errors, out and in (RFC 1122 §3.2.2, RFC 5927).
//
// Out: header and 8 bytes of the packet at fault, no more: it is all that RFC 792 asks for, and an answer never larger
// than its cause amplifies nothing.
//
// In: the quoted packet must be one that could be ours; the protocol it names decides whether it is (RFC 5927 §4).
#include "ip/internal.h"
#include "wire/icmp4.h"

// --- out -------------------------------------------------------------------------------------------------------------

// RFC 1122 §3.2.2: never about an ICMP error, a broadcast or multicast (of the link, too), a fragment other than the
// first, or to a source that is not a single host.
static bool error_allowed(const struct packet *packet)
{
    if (packet->flags & (PACKET_LINK_BROADCAST | PACKET_IP_BROADCAST | PACKET_IP_MULTICAST) ||
        weir_addr_is_any(packet->source))
        return false;
    if (get16(packet->network + 6) & 0x1fff || packet_head_room(packet) < 8)
        return false;
    return packet->protocol != IP_ICMP || packet->head[0] == ICMP4_ECHO || packet->head[0] == ICMP4_ECHO_REPLY;
}

void icmp_error_send(struct weir *weir, const struct packet *packet, enum icmp_error_kind kind, uint8_t parameter)
{
    static const struct {
        uint8_t type, code;
    } messages[] = {
        [ICMP_ERROR_PORT] = {ICMP4_UNREACHABLE, ICMP4_PORT},
        [ICMP_ERROR_PROTOCOL] = {ICMP4_UNREACHABLE, ICMP4_PROTOCOL},
        [ICMP_ERROR_REASSEMBLY_TIME] = {ICMP4_TIME_EXCEEDED, 1},
        [ICMP_ERROR_PARAMETER] = {ICMP4_PARAMETER, 0},
    };
    struct path path;
    if (!error_allowed(packet) || !icmp_limit_take(weir, packet->source))
        return;
    if (ip_path_reply(weir, &path, packet) != WEIR_OK) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return;
    }
    struct ip_out ip = {.source = packet->destination,
                        .destination = packet->source,
                        .protocol = IP_ICMP,
                        .ttl = IP_TTL_DEFAULT,
                        .tos = IP4_TOS_CONTROL};
    const uint32_t length = ICMP4_BYTES + packet->network_length + 8;
    ip_answers(&ip, &path, packet);
    uint8_t *bytes = ip_outbox_push(weir, &path, &ip, length);
    if (!bytes)
        return;
    const struct icmp4 header = {
        .type = messages[kind].type, .code = messages[kind].code, .rest = (uint32_t)parameter << 24};
    icmp4_emit(bytes, &header);
    memcpy(bytes + ICMP4_BYTES, packet->network, packet->network_length);
    memcpy(bytes + ICMP4_BYTES + packet->network_length, packet->head, 8);
    checksum_put(bytes + 2, checksum_sum(weir->port, bytes, length));
    count(weir, WEIR_COUNT_ICMP_SENT);
}

// --- in --------------------------------------------------------------------------------------------------------------

// The packet an error quotes. Its header's checksum is not looked at: routers change what it covers.
struct quote {
    uint32_t header_length, total_length;
    uint8_t protocol;
};

static bool quote_parse(const struct weir *weir, const uint8_t *bytes, uint32_t length, struct quote *quote,
                        struct ip_error *error)
{
    if (length < IP4_BYTES + 8 || bytes[0] >> 4 != 4)
        return false;
    quote->header_length = (bytes[0] & 0x0fu) * 4;
    quote->total_length = get16(bytes + 2);
    quote->protocol = bytes[9];
    // Only a first fragment carries the ports that say whose it was.
    if (quote->header_length < IP4_BYTES || length < quote->header_length + 8 || get16(bytes + 6) & 0x1fff)
        return false;
    error->local = weir_addr_v4(get32(bytes + 12));
    error->remote = weir_addr_v4(get32(bytes + 16));
    error->transport = bytes + quote->header_length;
    error->transport_length = length - quote->header_length;
    return ip_is_ours(weir, error->local) && !weir_addr_is_multicast(error->remote) &&
           !ip_is_broadcast(weir, error->remote);
}

// RFC 1191 §7.1: the plateaus below 65535, for routers that do not tell the MTU of the next hop.
static uint16_t plateau_below(uint32_t length)
{
    static const uint16_t plateaus[] = {32000, 17914, 8166, 4352, 2002, 1492, 1006, 508, 296, 68};
    for (uint32_t i = 0; i < sizeof plateaus / sizeof plateaus[0]; i++)
        if (plateaus[i] < length)
            return plateaus[i];
    return 68;
}

// Takes what the router reports down to what may be believed: lower than the packet it refused, not below 576 bytes
// (unless the interface itself is narrower), and really lower than what we assume now. false: nothing to learn.
static bool too_big_bounded(struct weir *weir, const struct quote *quote, uint16_t reported, struct ip_error *error)
{
    struct path path;
    struct weir_addr source = error->local;
    if (ip_path_find(weir, &path, &source, error->remote, 0) != WEIR_OK || ip_netif_loopback(path.netif))
        return false;
    const uint32_t mtu = reported ? reported : plateau_below(quote->total_length);
    if (mtu >= quote->total_length)
        return false;
    error->mtu = (uint16_t)max_u32(mtu, min_u32(ip4_family.mtu_min, path.netif->mtu));
    return error->mtu < path.mtu;
}

// What an unreachable's code means to the transport (RFC 1122 §3.2.2.1, §4.2.3.9; RFC 1812 §5.2.7.1).
static void unreachable_meaning(uint8_t code, struct ip_error *error)
{
    switch (code) {
    case ICMP4_PROTOCOL:
    case ICMP4_PORT:
        error->error = WEIR_REFUSED;
        error->hard = true;
        break;
    case ICMP4_FRAGMENTATION_NEEDED: error->error = WEIR_TOO_BIG; break;
    case ICMP4_NET:
    case 6:   // destination network unknown
    case 9:   // network administratively prohibited
    case 11:  // network unreachable for this type of service
        error->error = WEIR_NETWORK_UNREACHABLE;
        break;
    default: error->error = WEIR_HOST_UNREACHABLE; break;
    }
}

void icmp_error_input(struct weir *weir, struct packet *packet)
{
    struct icmp4 header;
    struct quote quote;
    struct ip_error error = {.error = WEIR_HOST_UNREACHABLE};
    const uint32_t room = packet_head_room(packet);
    // An error to everybody is an error about nobody's packet.
    bool good = !(packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST)) &&
                icmp4_parse(packet->head, room, &header) &&
                quote_parse(weir, packet->head + ICMP4_BYTES, room - ICMP4_BYTES, &quote, &error);
    if (good && header.type == ICMP4_UNREACHABLE)
        unreachable_meaning(header.code, &error);
    if (good && error.error == WEIR_TOO_BIG)
        good = too_big_bounded(weir, &quote, header.next_hop_mtu, &error);
    if (!good) {
        count(weir, WEIR_COUNT_ICMP_IGNORED);
        return;
    }
    ip_error_deliver(weir, quote.protocol, &error);
}
