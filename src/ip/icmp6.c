// SPDX-License-Identifier: BSD-2-Clause
// ICMPv6 (RFC 4443): the way in, and echo.
#include "ip/ip6.h"

// RFC 4443 §4.2: the data comes back as it was, also to who asked a group, from an address of the interface then.
static void echo_answer(struct weir *weir, const struct packet *packet)
{
    struct path path;
    struct weir_addr source = packet->flags & PACKET_IP_MULTICAST ? weir_addr_any() : packet->destination;
    if (weir_addr_is_any(packet->source) || !icmp_limit_take_echo(weir, packet->source))
        return;
    if (ip_path_find(weir, &path, &source, packet->source, packet->netif->index) != WEIR_OK &&
        ip_path_find(weir, &path, &source, packet->source, 0) != WEIR_OK) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return;
    }
    struct ip_out ip = {
        .source = source, .destination = packet->source, .protocol = IP6_ICMP, .ttl = IP_TTL_DEFAULT, .tos = packet->tos & 0xfcu};
    ip_answers(&ip, &path, packet);
    uint8_t *const reply = ip_outbox_push(weir, &path, &ip, packet->length);
    if (!reply)
        return;
    packet_copy(packet, 0, reply, packet->length);
    reply[0] = ICMP6_ECHO_REPLY;
    put16(reply + 2, 0);
    const uint16_t sum = ip_pseudo_sum(source, packet->source, IP6_ICMP, packet->length);
    checksum_put(reply + 2, checksum_add(sum, checksum_sum(weir->port, reply, packet->length)));
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
    case ICMP6_ECHO_REPLY: raw_echo_input(weir, packet); break;
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
