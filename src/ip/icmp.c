// SPDX-License-Identifier: BSD-2-Clause
// ICMP (RFC 792, RFC 1122 §3.2.2): the way in, and echo. Redirects are ignored (RFC 6918's list of the obsolete apart,
// a host that believes them can be led anywhere); so are source quench (RFC 6633), timestamp and address mask.
#include "ip/internal.h"
#include "wire/icmp4.h"

// RFC 1122 §3.2.2.6: the data comes back as it was. Broadcast and multicast echoes are not answered (Smurf). The sum
// was right, so the reply's differs from it by the type alone (RFC 1624, equation 3). Of the two zeroes of ones'
// complement the one with bits in it is stored: right in every case, also for a message that holds nothing else.
static void echo_answer(struct weir *weir, const struct packet *packet)
{
    struct path path;
    if (packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST) || !icmp_limit_take_echo(weir, packet->source))
        return;
    if (ip_path_reply(weir, &path, packet) != WEIR_OK) {
        count(weir, WEIR_COUNT_IP_NO_ROUTE);
        return;
    }
    struct ip_out ip = {.source = packet->destination,
                        .destination = packet->source,
                        .protocol = IP_ICMP,
                        .ttl = IP_TTL_DEFAULT,
                        .tos = packet->tos & 0xfcu};
    ip_answers(&ip, &path, packet);
    uint8_t *reply = ip_outbox_push(weir, &path, &ip, packet->length);
    if (!reply)
        return;
    packet_copy(packet, 0, reply, packet->length);
    const uint32_t sum = (uint16_t)~get16(reply + 2) + (uint32_t)(uint16_t) ~(ICMP4_ECHO << 8);
    reply[0] = ICMP4_ECHO_REPLY;
    put16(reply + 2, checksum_fold(sum) == 0xffff ? 0xffff : (uint16_t)~checksum_fold(sum));
    count(weir, WEIR_COUNT_ICMP_ECHO_ANSWERED);
}

void icmp_input(struct weir *weir, struct packet *packet)
{
    struct icmp4 header;
    // Verified here in any case: devices that verify TCP and UDP say nothing about ICMP.
    if (packet_head_room(packet) < ICMP4_BYTES || !icmp4_parse(packet->head, packet->length, &header) ||
        packet_sum(weir->port, packet, 0, packet->length) != 0xffff) {
        count(weir, WEIR_COUNT_ICMP_BAD);
        return;
    }
    switch (header.type) {
    case ICMP4_ECHO:
        if (header.code == 0)
            echo_answer(weir, packet);
        break;
    case ICMP4_ECHO_REPLY:
        if (!WEIR_CFG_RAW)
            count(weir, WEIR_COUNT_ICMP_IGNORED);
        raw_echo_input(weir, packet);
        break;
    case ICMP4_UNREACHABLE:
    case ICMP4_TIME_EXCEEDED:
    case ICMP4_PARAMETER: icmp_error_input(weir, packet); break;
    default: count(weir, WEIR_COUNT_ICMP_IGNORED); break;
    }
}
