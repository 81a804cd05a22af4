// SPDX-License-Identifier: BSD-2-Clause
// Multicast membership of a host: IGMP version 2 (RFC 2236), falling back to version 1 reports for a version 1 querier
// and rising to version 3 reports (RFC 9776, groups without source filters) for a version 3 querier.
//
// A query is answered after a random delay, unless (versions 1 and 2) another member answers first (group.c).
#include "ip/group.h"
#include "wire/igmp.h"

#define V1_RESPONSE_MS 10000u    // RFC 2236 §4: what a version 1 query means
#define OLD_QUERIER_MS 400000u   // RFC 2236 §8.11: so long a version 1 querier is remembered
#define ALL_ROUTERS 0xe0000002u  // 224.0.0.2: leaves
#define V3_ROUTERS 0xe0000016u   // 224.0.0.22: version 3 reports
#define V3_REPORT_BYTES 16u      // with one group record
enum record_type { RECORD_IS_EXCLUDE = 2, RECORD_TO_INCLUDE = 3, RECORD_TO_EXCLUDE = 4 };

// --- reports ---------------------------------------------------------------------------------------------------------

static void message_send(struct weir *weir, const struct weir_netif *netif, uint32_t destination, const uint8_t *bytes,
                         uint32_t length)
{
    struct path path;
    struct weir_addr source = weir_addr_any();
    if (ip_path_find(weir, &path, &source, weir_addr_v4(destination), netif->index) != WEIR_OK)
        return;
    const struct ip_out ip = {.source = source,
                              .destination = weir_addr_v4(destination),
                              .protocol = IP_IGMP,
                              .ttl = 1,
                              .tos = IP4_TOS_CONTROL,
                              .router_alert = true};
    uint8_t *room = ip_outbox_push(weir, &path, &ip, length);
    if (!room)
        return;
    memcpy(room, bytes, length);
    checksum_put(room + 2, checksum_sum_portable(room, length));
}

static void message_v2_send(struct weir *weir, const struct group *group, enum igmp_type type, uint32_t destination)
{
    uint8_t bytes[IGMP_BYTES];
    const struct igmp message = {.type = (uint8_t)type, .group = weir_addr_to_v4(group->address)};
    igmp_emit(bytes, &message);
    message_send(weir, group->netif, destination, bytes, sizeof bytes);
}

// RFC 9776 §4.2: one record, no sources: all of them, or none.
static void message_v3_send(struct weir *weir, const struct group *group, enum record_type type)
{
    uint8_t bytes[V3_REPORT_BYTES] = {IGMP_REPORT_V3, 0, 0, 0, 0, 0, 0, 1, (uint8_t)type};
    put32(bytes + 12, weir_addr_to_v4(group->address));
    message_send(weir, group->netif, V3_ROUTERS, bytes, sizeof bytes);
}

void igmp_report(struct weir *weir, const struct group *group)
{
    if (group->version == 3)
        message_v3_send(weir, group, group->unsolicited ? RECORD_TO_EXCLUDE : RECORD_IS_EXCLUDE);
    else
        message_v2_send(weir, group, group->version == 1 ? IGMP_REPORT_V1 : IGMP_REPORT_V2,
                        weir_addr_to_v4(group->address));
}

void igmp_left(struct weir *weir, const struct group *group)
{
    if (group->version == 3)
        message_v3_send(weir, group, RECORD_TO_INCLUDE);
    else if (group->version == 2 && group->reported_last)
        message_v2_send(weir, group, IGMP_LEAVE, ALL_ROUTERS);
}

// --- input -----------------------------------------------------------------------------------------------------------

static void query_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    const uint32_t within_ms = message->version == 1 ? V1_RESPONSE_MS : message->max_response_ms;
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->netif != packet->netif || !weir_addr_is_v4(group->address))
            continue;
        if (message->version == 1)
            group->version_until_ms = weir->now_ms + OLD_QUERIER_MS;
        if (message->version == 1 || group->version != 1 || seq_le(group->version_until_ms, weir->now_ms))
            group->version = message->version;
        if (!message->group || message->group == weir_addr_to_v4(group->address))
            group_schedule(weir, group, within_ms);
    }
}

// RFC 2236 §3: another member has answered: our answer is not needed. (Version 3 knows no suppression.)
static void report_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    struct group *group = group_find(weir, packet->netif, weir_addr_v4(message->group));
    if (!group || !group->pending || group->version == 3)
        return;
    group->pending = false;
    group->unsolicited = 0;
    group->reported_last = false;
}

// Only what comes from this link (a time to live of 1), and to a group, counts (RFC 9776 §9).
void igmp_input(struct weir *weir, struct packet *packet)
{
    struct igmp message;
    if (packet->ttl != 1 || !(packet->flags & PACKET_IP_MULTICAST) ||
        packet_head_room(packet) < min_u32(packet->length, 12) ||
        packet_sum(weir->port, packet, 0, packet->length) != 0xffff ||
        !igmp_parse(packet->head, packet->length, &message)) {
        count(weir, WEIR_COUNT_IGMP_BAD);
        return;
    }
    if (ip_netif_loopback(packet->netif))
        return;
    if (message.type == IGMP_QUERY)
        query_input(weir, packet, &message);
    else if (message.type == IGMP_REPORT_V1 || message.type == IGMP_REPORT_V2)
        report_input(weir, packet, &message);
}
