// SPDX-License-Identifier: BSD-2-Clause
// Multicast listener discovery of a host, version 2 (RFC 9777), and version 1 while there is a querier that is older.
// Every group is reported, those that neighbours are solicited by too: switches that listen would cut us off otherwise.
#include "ip/group.h"
#include "ip/ip6.h"
#include "wire/mld.h"

#define REPORT_MAX (MLD_REPORT_BYTES + GROUP_RECORDS * (MLD_RECORD_BYTES + WEIR_CFG_MULTICAST_SOURCES * 16u))

static struct weir_addr group_all_mldv2(void) { return ip6_link_group(0x16); }

// From :: while there is no link-local address (RFC 9777 §5.2.13).
static void message_send(struct weir *weir, struct weir_netif *netif, struct weir_addr destination,
                         const uint8_t *bytes, uint32_t length)
{
    const struct ip_out ip = {.source = icmp6_link_source(netif),
                              .destination = destination,
                              .protocol = IP6_ICMP,
                              .ttl = MLD_HOP_LIMIT,
                              .router_alert = true};
    if (!ip_netif_loopback(netif))
        icmp6_link_send(weir, netif, &ip, bytes, length);
}

#if WEIR_CFG_MULTICAST_SOURCES
static void record_add(struct mld_report *report, const uint8_t *group, const struct group_record *record)
{
    uint8_t sources[WEIR_CFG_MULTICAST_SOURCES * IP6_ADDRESS_BYTES];
    for (uint32_t i = 0; i < record->count; i++)
        weir_addr_to_v6(record->sources[i], sources + i * IP6_ADDRESS_BYTES);
    (void)mld_report_add(report, &(struct mld_record){record->type, (uint16_t)record->count, group, sources});
}
#else
static void record_add(struct mld_report *report, const uint8_t *group, const struct group_record *record)
{
    (void)mld_report_add(report, &(struct mld_record){.type = record->type, .group = group});
}
#endif

static void records_send(struct weir *weir, const struct group *group, const struct group_record *records,
                         uint32_t count)
{
    uint8_t bytes[REPORT_MAX], address[IP6_ADDRESS_BYTES];
    struct mld_report report;
    weir_addr_to_v6(group->address, address);
    mld_report_begin(&report, bytes, sizeof bytes);
    for (uint32_t i = 0; i < count; i++)
        record_add(&report, address, &records[i]);  // there is room for all
    message_send(weir, group->netif, group_all_mldv2(), bytes, report.length);
}

static void message_v1_send(struct weir *weir, const struct group *group, enum icmp6_type type,
                            struct weir_addr destination)
{
    uint8_t bytes[MLD_V1_BYTES], address[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(group->address, address);
    mld_v1_emit(bytes, type, address);
    message_send(weir, group->netif, destination, bytes, sizeof bytes);
}

// The version holds for the whole interface (RFC 9777 §8.2.1).
void mld_report(struct weir *weir, const struct group *group, const struct group_record *records, uint32_t count)
{
    if (group_version(weir, &group->netif->mld, 2) == 2)
        records_send(weir, group, records, count);
    else if (group->references)
        message_v1_send(weir, group, ICMP6_MLD_REPORT_V1, group->address);
    else if (group->reported_last)
        message_v1_send(weir, group, ICMP6_MLD_DONE, ip6_all_routers());
}

// --- input -----------------------------------------------------------------------------------------------------------

static void query_input(struct weir *weir, const struct packet *packet, const struct mld *query)
{
    if (query->version == 1)
        group_old_querier(weir, packet->netif, false, 1);
    group_query(weir, &(struct group_query){.netif = packet->netif,
                                            .group = weir_addr_v6(query->group),
                                            .within_ms = query->max_response_ms,
                                            .sources = query->sources,
                                            .source_count = query->source_count});
}

// Version 2 knows no suppression.
static void report_input(struct weir *weir, const struct packet *packet, const struct mld *report)
{
    if (group_version(weir, &packet->netif->mld, 2) == 1)
        group_answered(weir, packet->netif, weir_addr_v6(report->group));
}

void mld_input(struct weir *weir, struct packet *packet)
{
    const struct icmp6_arrival arrival = {.source = packet->network + 8,
                                          .destination = packet->network + 24,
                                          .hop_limit = packet->ttl,
                                          .fragmented = packet->flags & (PACKET_FRAGMENTED | PACKET_REASSEMBLED),
                                          .router_alert = packet->router_alert};
    struct mld message;
    if (ip_netif_loopback(packet->netif))
        return;
    if (!(packet->flags & PACKET_IP_MULTICAST) || packet_head_room(packet) < packet->length ||
        !mld_parse(packet->head, packet->length, &arrival, &message))
        count(weir, WEIR_COUNT_IGMP_BAD);
    else if (message.type == ICMP6_MLD_QUERY)
        query_input(weir, packet, &message);
    else
        report_input(weir, packet, &message);
}
