// SPDX-License-Identifier: BSD-2-Clause
// ICMPv6 (RFC 4443): the way in, echo, and what all messages share on their way out.
#include "ip/ip6.h"

void icmp6_sum_put(const struct weir *weir, const struct ip_out *ip, uint8_t *message, uint32_t length)
{
    put16(message + 2, 0);
    const uint16_t pseudo = ip_pseudo_sum(ip->source, ip->destination, IP6_ICMP, length);
    checksum_put(message + 2, checksum_add(pseudo, checksum_sum(weir->port, message, length)));
}

struct weir_addr icmp6_link_source(const struct weir_netif *netif)
{
    const struct weir_netif_address *const own = address_asker6(netif, ip6_all_nodes());
    return own && weir_addr_is_link_local6(own->addr) ? own->addr : weir_addr_any();
}

void icmp6_link_send(struct weir *weir, struct weir_netif *netif, const struct ip_out *ip, const uint8_t *message,
                     uint32_t length)
{
    struct path path = {
        .netif = netif, .next_hop = ip->destination, .mtu = IP6_MTU_MIN, .generation = weir->ip.generation};
    uint8_t *const room = ip_outbox_push(weir, &path, ip, length);
    if (!room)
        return;
    memcpy(room, message, length);
    icmp6_sum_put(weir, ip, room, length);
}

// RFC 4443 §4.2: the data comes back as it was, also to who asked a group, from an address of the interface then.
static void echo_answer(struct weir *weir, const struct packet *packet)
{
    struct path path;
    struct weir_addr source;
    if (weir_addr_is_any(packet->source) || !icmp_limit_take_echo(weir, packet->source))
        return;
    if (ip_path_answer(weir, &path, &source, packet) != WEIR_OK) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return;
    }
    struct ip_out ip = {.source = source,
                        .destination = packet->source,
                        .protocol = IP6_ICMP,
                        .ttl = IP_TTL_UNASKED,
                        .tos = packet->tos & 0xfcu};
    ip_answers(&ip, &path, packet);
    uint8_t *const reply = ip_outbox_push(weir, &path, &ip, packet->length);
    if (!reply)
        return;
    packet_copy(packet, 0, reply, packet->length);
    reply[0] = ICMP6_ECHO_REPLY;
    icmp6_sum_put(weir, &ip, reply, packet->length);
    count(weir, WEIR_COUNT_ICMP_ECHO_ANSWERED);
}

static bool sum_right(const struct weir *weir, const struct packet *packet)
{
    const uint16_t pseudo = ip_pseudo_sum(packet->source, packet->destination, IP6_ICMP, packet->length);
    return checksum_add(pseudo, packet_sum(weir->port, packet, 0, packet->length)) == 0xffff;
}

void icmp6_input(struct weir *weir, struct packet *packet)
{
    // Verified here in any case: devices that verify TCP and UDP say nothing about ICMP.
    if (packet_head_room(packet) < ICMP6_BYTES || !sum_right(weir, packet)) {
        count(weir, WEIR_COUNT_ICMP_BAD);
        return;
    }
    switch (packet->head[0]) {
    case ICMP6_ECHO:
        if (packet->head[1] == 0)
            echo_answer(weir, packet);
        break;
    case ICMP6_ECHO_REPLY:
        if (!WEIR_CFG_RAW)
            count(weir, WEIR_COUNT_ICMP_IGNORED);
        raw_echo_input(weir, packet);
        break;
    case ICMP6_UNREACHABLE:
    case ICMP6_TOO_BIG:
    case ICMP6_TIME_EXCEEDED:
    case ICMP6_PARAMETER: icmp6_error_input(weir, packet); break;
    case ICMP6_ROUTER_SOLICITATION:
    case ICMP6_ROUTER_ADVERTISEMENT:
    case ICMP6_NEIGHBOUR_SOLICITATION:
    case ICMP6_NEIGHBOUR_ADVERTISEMENT:
    case ICMP6_REDIRECT: nd_input(weir, packet); break;
    case ICMP6_MLD_QUERY:
    case ICMP6_MLD_REPORT_V1: mld_input(weir, packet); break;
    default: count(weir, WEIR_COUNT_ICMP_IGNORED); break;
    }
}
