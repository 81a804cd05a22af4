// SPDX-License-Identifier: BSD-2-Clause
// Multicast membership of a host: IGMP version 2 (RFC 2236), falling back to version 1 reports for a version 1 querier and rising to
// version 3 reports (RFC 9776, groups without source filters) for a version 3 querier.
//
// Memberships are counted per interface and group. A new one is reported at once and once more within ten seconds (robustness 2); a
// query is answered after a random delay, unless (versions 1 and 2) another member answers first. 224.0.0.1 is never reported.
#include "ip/ip4.h"
#include "wire/igmp.h"

#define UNSOLICITED_INTERVAL_MS 10000u  // RFC 2236 §8.10
#define ROBUSTNESS 2u                   // RFC 2236 §8.1
#define V1_RESPONSE_MS 10000u           // RFC 2236 §4: what a version 1 query means
#define OLD_QUERIER_MS 400000u          // RFC 2236 §8.11: so long a version 1 querier is remembered
#define ALL_ROUTERS 0xe0000002u         // 224.0.0.2: leaves
#define V3_ROUTERS 0xe0000016u          // 224.0.0.22: version 3 reports
#define V3_REPORT_BYTES 16u             // with one group record
enum record_type { RECORD_IS_EXCLUDE = 2, RECORD_TO_INCLUDE = 3, RECORD_TO_EXCLUDE = 4 };

struct igmp_group {
    struct weir_netif *netif;  // NULL: free
    uint32_t address;
    uint16_t references;
    uint8_t version;      // of the querier
    uint8_t unsolicited;  // reports still to be sent without being asked
    bool pending;         // a report is due at due_ms
    bool reported_last;   // we, not another member, reported last: we tell when we leave
    uint32_t due_ms;
    uint32_t version_until_ms;  // version 1 is believed so long
};

size_t igmp_bytes(void) { return memory_carve_bytes(WEIR_CFG_MULTICAST_GROUPS * sizeof(struct igmp_group)); }

int igmp_init(struct weir *weir)
{
    weir->ip.groups = memory_carve(&weir->memory, WEIR_CFG_MULTICAST_GROUPS * sizeof(struct igmp_group));
    return weir->ip.groups ? WEIR_OK : WEIR_NO_MEMORY;
}

void igmp_free(struct weir *weir)
{
    if (!weir->carved_all)
        memory_put(&weir->memory, weir->ip.groups, WEIR_CFG_MULTICAST_GROUPS * sizeof(struct igmp_group));
    weir->ip.groups = NULL;
}

// Entries [0, group_count) are in use.
static struct igmp_group *group_find(const struct weir *weir, const struct weir_netif *netif, uint32_t address)
{
    for (struct igmp_group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++)
        if (group->address == address && (group->netif == netif || !netif))
            return group;
    return NULL;
}

bool igmp_member(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    return address.v4 == IP4_ALL_HOSTS || group_find(weir, netif, address.v4);
}

// --- reports -----------------------------------------------------------------------------------------------------------------

static void message_send(struct weir *weir, const struct weir_netif *netif, uint32_t destination, const uint8_t *bytes, uint32_t length)
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

static void message_v2_send(struct weir *weir, const struct igmp_group *group, enum igmp_type type, uint32_t destination)
{
    uint8_t bytes[IGMP_BYTES];
    const struct igmp message = {.type = (uint8_t)type, .group = group->address};
    igmp_emit(bytes, &message);
    message_send(weir, group->netif, destination, bytes, sizeof bytes);
}

// RFC 9776 §4.2: one record, no sources: all of them, or none.
static void message_v3_send(struct weir *weir, const struct igmp_group *group, enum record_type type)
{
    uint8_t bytes[V3_REPORT_BYTES] = {IGMP_REPORT_V3, 0, 0, 0, 0, 0, 0, 1, (uint8_t)type};
    put32(bytes + 12, group->address);
    message_send(weir, group->netif, V3_ROUTERS, bytes, sizeof bytes);
}

static void report(struct weir *weir, struct igmp_group *group)
{
    if (group->version == 3)
        message_v3_send(weir, group, group->unsolicited ? RECORD_TO_EXCLUDE : RECORD_IS_EXCLUDE);
    else
        message_v2_send(weir, group, group->version == 1 ? IGMP_REPORT_V1 : IGMP_REPORT_V2, group->address);
    group->reported_last = true;
    group->pending = false;
    if (group->unsolicited && --group->unsolicited) {
        group->pending = true;
        group->due_ms = weir->now_ms + 1 + random_below(&weir->random, UNSOLICITED_INTERVAL_MS);
    }
}

// A report is to be made within `within_ms`; one due earlier stands (RFC 2236 §3).
static void schedule(struct weir *weir, struct igmp_group *group, uint32_t within_ms)
{
    const uint32_t due_ms = weir->now_ms + (within_ms ? random_below(&weir->random, within_ms) : 0);
    if (group->address == IP4_ALL_HOSTS || (group->pending && seq_le(group->due_ms, due_ms)))
        return;
    group->pending = true;
    group->due_ms = due_ms;
    slow_due(weir, weir->now_us + ip4_wait_us(weir, due_ms));
}

static void announce(struct weir *weir, struct igmp_group *group)
{
    group->unsolicited = ROBUSTNESS;
    schedule(weir, group, 0);
}

// Work: the table.
uint64_t igmp_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t wait_us = WEIR_NEVER;
    for (struct igmp_group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->pending && seq_le(group->due_ms, weir->now_ms))
            report(weir, group);
        if (group->pending && ip4_wait_us(weir, group->due_ms) < wait_us)
            wait_us = ip4_wait_us(weir, group->due_ms);
    }
    return wait_us == WEIR_NEVER ? WEIR_NEVER : now_us + wait_us;
}

// --- membership --------------------------------------------------------------------------------------------------------------

static void filter(const struct igmp_group *group, bool join)
{
    if (group->netif->link->multicast)
        group->netif->link->multicast(group->netif, weir_addr_v4(group->address), join);
}

int igmp_join(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    if (!weir_addr_is_multicast(address))
        return WEIR_INVALID;
    struct igmp_group *group = group_find(weir, netif, address.v4);
    if (group) {
        if (group->references == UINT16_MAX)
            return WEIR_NO_MEMORY;
        group->references++;
        return WEIR_OK;
    }
    if (weir->ip.group_count == WEIR_CFG_MULTICAST_GROUPS)
        return WEIR_NO_MEMORY;
    group = &weir->ip.groups[weir->ip.group_count++];
    *group = (struct igmp_group){.netif = netif, .address = address.v4, .references = 1, .version = 2};
    filter(group, true);
    announce(weir, group);
    return WEIR_OK;
}

static void group_remove(struct weir *weir, struct igmp_group *group) { *group = weir->ip.groups[--weir->ip.group_count]; }

int igmp_leave(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    struct igmp_group *group = group_find(weir, netif, address.v4);
    if (!group)
        return WEIR_NO_ADDRESS;
    if (--group->references)
        return WEIR_OK;
    if (group->version == 3 && group->address != IP4_ALL_HOSTS)
        message_v3_send(weir, group, RECORD_TO_INCLUDE);
    else if (group->version == 2 && group->reported_last)
        message_v2_send(weir, group, IGMP_LEAVE, ALL_ROUTERS);
    filter(group, false);
    group_remove(weir, group);
    return WEIR_OK;
}

void igmp_netif_changed(struct weir *weir, struct weir_netif *netif)
{
    for (struct igmp_group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++)
        if (group->netif == netif && netif->flags & WEIR_NETIF_UP && netif->flags & WEIR_NETIF_LINK)
            announce(weir, group);
}

void igmp_netif_removed(struct weir *weir, struct weir_netif *netif)
{
    for (uint32_t i = weir->ip.group_count; i-- > 0;)
        if (weir->ip.groups[i].netif == netif)
            group_remove(weir, &weir->ip.groups[i]);
}

// --- input -------------------------------------------------------------------------------------------------------------------

static void query_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    const uint32_t within_ms = message->version == 1 ? V1_RESPONSE_MS : message->max_response_ms;
    for (struct igmp_group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->netif != packet->netif)
            continue;
        if (message->version == 1)
            group->version_until_ms = weir->now_ms + OLD_QUERIER_MS;
        if (message->version == 1 || group->version != 1 || seq_le(group->version_until_ms, weir->now_ms))
            group->version = message->version;
        if (!message->group || message->group == group->address)
            schedule(weir, group, within_ms);
    }
}

// RFC 2236 §3: another member has answered: our answer is not needed. (Version 3 knows no suppression.)
static void report_input(struct weir *weir, const struct packet *packet, const struct igmp *message)
{
    struct igmp_group *group = group_find(weir, packet->netif, message->group);
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
    if (packet->ttl != 1 || !(packet->flags & PACKET_IP_MULTICAST) || packet_head_room(packet) < min_u32(packet->length, 12) ||
        packet_sum(weir->port, packet, 0, packet->length) != 0xffff || !igmp_parse(packet->head, packet->length, &message)) {
        count(weir, WEIR_COUNT_IGMP_BAD);
        return;
    }
    if (ip4_netif_loopback(packet->netif))
        return;
    if (message.type == IGMP_QUERY)
        query_input(weir, packet, &message);
    else if (message.type == IGMP_REPORT_V1 || message.type == IGMP_REPORT_V2)
        report_input(weir, packet, &message);
}
