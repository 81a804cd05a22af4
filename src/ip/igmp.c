// SPDX-License-Identifier: BSD-2-Clause
// Multicast membership of a host: IGMP version 3 (RFC 9776), falling back to the reports of versions 2 (RFC 2236) and 1
// while there is a querier that knows no other.
//
// A query is answered after a random delay, unless (versions 1 and 2) another member answers first (group.c).
#include "ip/group.h"
#include "wire/igmp.h"

#define V1_RESPONSE_MS 10000u    // RFC 2236 §4: what a version 1 query means
#define ALL_ROUTERS 0xe0000002u  // 224.0.0.2: leaves
#define V3_ROUTERS 0xe0000016u   // 224.0.0.22: version 3 reports
#define V3_REPORT_MAX (IGMP_REPORT_V3_BYTES + GROUP_RECORDS * (IGMP_RECORD_BYTES + WEIR_CFG_MULTICAST_SOURCES * 4u))

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

#if WEIR_CFG_MULTICAST_SOURCES
static uint32_t sources_emit(uint8_t *at, const struct group_record *record)
{
    put16(at + 2, (uint16_t)record->count);
    for (uint32_t i = 0; i < record->count; i++)
        put32(at + IGMP_RECORD_BYTES + 4 * i, weir_addr_to_v4(record->sources[i]));
    return record->count * 4;
}
#else
static uint32_t sources_emit(uint8_t *at, const struct group_record *record) { return (void)at, (void)record, 0; }
#endif

// RFC 9776 §4.2.
static void message_v3_send(struct weir *weir, const struct group *group, const struct group_record *records,
                            uint32_t count)
{
    uint8_t bytes[V3_REPORT_MAX] = {IGMP_REPORT_V3, [7] = (uint8_t)count};
    uint32_t length = IGMP_REPORT_V3_BYTES;
    for (uint32_t i = 0; i < count; i++) {
        bytes[length] = (uint8_t)records[i].type;
        put32(bytes + length + 4, weir_addr_to_v4(group->address));
        length += IGMP_RECORD_BYTES + sources_emit(bytes + length, &records[i]);
    }
    message_send(weir, group->netif, V3_ROUTERS, bytes, length);
}

void igmp_report(struct weir *weir, const struct group *group, const struct group_record *records, uint32_t count)
{
    const uint8_t version = group_version(weir, &group->netif->igmp, 3);
    if (version == 3)
        message_v3_send(weir, group, records, count);
    else if (group->references)
        message_v2_send(weir, group, version == 1 ? IGMP_REPORT_V1 : IGMP_REPORT_V2, weir_addr_to_v4(group->address));
    else if (version == 2 && group->reported_last)
        message_v2_send(weir, group, IGMP_LEAVE, ALL_ROUTERS);
}

// --- input -----------------------------------------------------------------------------------------------------------

static void query_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    struct weir_netif *const netif = packet->netif;
    // What lies in other pieces of the frame is not looked at: then the whole group is answered for.
    const bool sources = packet_head_room(packet) >= IGMP_QUERY_V3_BYTES + 4 * message->source_count;
    const struct group_query query = {.netif = netif,
                                      .group = message->group ? weir_addr_v4(message->group) : weir_addr_any(),
                                      .v4 = true,
                                      .within_ms = message->version == 1 ? V1_RESPONSE_MS : message->max_response_ms,
                                      .sources = packet->head + IGMP_QUERY_V3_BYTES,
                                      .source_count = sources ? message->source_count : 0};
    // While one of version 1 is there, it is for all (RFC 9776 §7.2.1).
    if (message->version < 3 && message->version <= group_version(weir, &netif->igmp, 3))
        group_old_querier(weir, netif, true, message->version);
    group_query(weir, &query);
}

// Version 3 knows no suppression.
static void report_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    if (group_version(weir, &packet->netif->igmp, 3) < 3)
        group_answered(weir, packet->netif, weir_addr_v4(message->group));
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
