// SPDX-License-Identifier: BSD-2-Clause
// Multicast listener discovery of a host, version 2 (RFC 9777) for groups without source filters, and version 1 for an
// older querier. Every group is reported, those that neighbours are solicited by too: switches that listen would cut us
// off otherwise.
#include "ip/group.h"
#include "ip/ip6.h"
#include "wire/mld.h"

// RFC 9777 §9.12: 2 × 125 s and a response of 10 s: so long a version 1 querier is remembered
#define OLD_QUERIER_MS 260000u

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

static void record_send(struct weir *weir, const struct group *group, enum mld_record_type type)
{
    uint8_t bytes[MLD_REPORT_BYTES + MLD_RECORD_BYTES], address[IP6_ADDRESS_BYTES];
    struct mld_report report;
    weir_addr_to_v6(group->address, address);
    const struct mld_record record = {.type = type, .group = address};
    mld_report_begin(&report, bytes, sizeof bytes);
    (void)mld_report_add(&report, &record);  // there is room for one
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

// Whether a querier of version 1 is there (RFC 9777 §8.2.1), for the whole interface; also groups joined since then
// speak its version.
static bool old_querier(struct weir *weir, const struct weir_netif *netif)
{
    bool old = false;
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->netif != netif || weir_addr_is_v4(group->address) || group->version != 1)
            continue;
        if (seq_le(group->version_until_ms, weir->now_ms))
            group->version = 2;
        old |= group->version == 1;
    }
    return old;
}

void mld_report(struct weir *weir, const struct group *group)
{
    if (old_querier(weir, group->netif))
        message_v1_send(weir, group, ICMP6_MLD_REPORT_V1, group->address);
    else
        record_send(weir, group, group->unsolicited ? MLD_TO_EXCLUDE : MLD_IS_EXCLUDE);
}

void mld_left(struct weir *weir, const struct group *group)
{
    if (!old_querier(weir, group->netif))
        record_send(weir, group, MLD_TO_INCLUDE);
    else if (group->reported_last)
        message_v1_send(weir, group, ICMP6_MLD_DONE, ip6_all_routers());
}

// --- input -----------------------------------------------------------------------------------------------------------

static void query_input(struct weir *weir, const struct packet *packet, const struct mld *query)
{
    const struct weir_addr asked = weir_addr_v6(query->group);
    const bool old = old_querier(weir, packet->netif), changes = query->version == 1 && !old;
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->netif != packet->netif || weir_addr_is_v4(group->address))
            continue;
        if (query->version == 1) {
            group->version = 1;
            group->version_until_ms = weir->now_ms + OLD_QUERIER_MS;
        }
        if (changes) {  // what was to be said in the other version is said no more
            group->pending = false;
            group->unsolicited = 0;
        }
        if (weir_addr_is_any(asked) || weir_addr_equal(asked, group->address))
            group_schedule(weir, group, query->max_response_ms);
    }
}

// Another member has answered: our answer is not needed. (Version 2 knows no suppression.)
static void report_input(struct weir *weir, const struct packet *packet, const struct mld *report)
{
    struct group *const group = group_find(weir, packet->netif, weir_addr_v6(report->group));
    if (!group || !group->pending || !old_querier(weir, packet->netif))
        return;
    group->pending = false;
    group->unsolicited = 0;
    group->reported_last = false;
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
