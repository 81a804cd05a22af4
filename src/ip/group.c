// SPDX-License-Identifier: BSD-2-Clause
// Multicast memberships of the instance, counted per interface and group. A new one is reported at once and once more
// within the interval of its protocol (robustness 2); a query is answered after a random delay. What every host is a
// member of is never reported.
#include "ip/group.h"

#include "ip/sources.h"
#include "wire/mld.h"

#define UNSOLICITED_MS 1000u        // RFC 9776 §8.11, RFC 9777 §9.11
#define IGMP_UNSOLICITED_MS 10000u  // RFC 2236 §8.10
#define ANSWERS_MS 250u             // between two answers to queries: they may ask for one at once, and be forged

size_t group_bytes(void) { return memory_carve_bytes(GROUPS_MAX * sizeof(struct group)) + sources_bytes(); }

int group_init(struct weir *weir)
{
    weir->ip.groups = memory_carve(&weir->memory, GROUPS_MAX * sizeof(struct group));
    return weir->ip.groups ? sources_init(weir) : WEIR_NO_MEMORY;
}

void group_free(struct weir *weir)
{
    sources_free(weir);
    if (!weir->carved_all)
        memory_put(&weir->memory, weir->ip.groups, GROUPS_MAX * sizeof(struct group));
    weir->ip.groups = NULL;
}

// Entries [0, group_count) are in use.
struct group *group_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++)
        if (weir_addr_equal(group->address, address) && (group->netif == netif || !netif))
            return group;
    return NULL;
}

#if WEIR_CFG_IGMP && WEIR_CFG_IP4 && WEIR_CFG_IP6
static void report_send(struct weir *weir, const struct group *group, const struct group_record *records,
                        uint32_t count)
{
    if (weir_addr_is_v4(group->address))
        igmp_report(weir, group, records, count);
    else
        mld_report(weir, group, records, count);
}
// What is never reported: 224.0.0.1, and what MLD leaves out.
static bool silent(struct weir_addr a)
{
    if (weir_addr_is_v4(a))
        return weir_addr_to_v4(a) == IP4_ALL_HOSTS;
    uint8_t bytes[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(a, bytes);
    return !mld_is_reported(bytes);
}
static struct weir_netif_querier *querier_of(struct weir_netif *netif, bool v4)
{
    return v4 ? &netif->igmp : &netif->mld;
}
#elif WEIR_CFG_IGMP && WEIR_CFG_IP4
static void report_send(struct weir *weir, const struct group *group, const struct group_record *records,
                        uint32_t count)
{
    igmp_report(weir, group, records, count);
}
static bool silent(struct weir_addr a) { return weir_addr_to_v4(a) == IP4_ALL_HOSTS; }
static struct weir_netif_querier *querier_of(struct weir_netif *netif, bool v4) { return (void)v4, &netif->igmp; }
#else
static void report_send(struct weir *weir, const struct group *group, const struct group_record *records,
                        uint32_t count)
{
    mld_report(weir, group, records, count);
}
static bool silent(struct weir_addr a)
{
    uint8_t bytes[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(a, bytes);
    return !mld_is_reported(bytes);
}
static struct weir_netif_querier *querier_of(struct weir_netif *netif, bool v4) { return (void)v4, &netif->mld; }
#endif

uint8_t group_version(const struct weir *weir, struct weir_netif_querier *querier, uint8_t newest)
{
    if (querier->version && seq_le(querier->until_ms, weir->now_ms))
        querier->version = 0;
    return querier->version ? querier->version : newest;
}

bool ip_group_member(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    const struct group *const group = group_find(weir, netif, address);
    const bool all_hosts = WEIR_CFG_IGMP && weir_addr_is_v4(address) && weir_addr_to_v4(address) == IP4_ALL_HOSTS;
    return all_hosts || (group && !group_lingers(group));
}

#if WEIR_CFG_IP6
static bool solicited(struct weir_addr a)
{
    uint8_t bytes[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(a, bytes);
    return ip6_is_solicited_node(bytes);
}
// The groups by which our addresses are solicited have places of their own.
static bool room_for(const struct ip *ip, struct weir_addr address)
{
    const bool wanted = solicited(address);
    uint32_t alike = 0;
    for (uint32_t i = 0; i < ip->group_count; i++)
        alike += solicited(ip->groups[i].address) == wanted;
    return alike < (wanted ? GROUPS_SOLICITED : GROUPS_OF_SOCKETS);
}
#else
static bool room_for(const struct ip *ip, struct weir_addr address)
{
    return (void)address, ip->group_count < GROUPS_MAX;
}
#endif

// Between the reports of what is new. To a querier of IGMP version 2 or 1 those of its RFC.
static uint32_t unsolicited_ms(const struct weir *weir, const struct group *group)
{
    const bool v4 = weir_addr_is_v4(group->address);
    return v4 && group_version(weir, querier_of(group->netif, v4), 3) < 3 ? IGMP_UNSOLICITED_MS : UNSOLICITED_MS;
}

static void report(struct weir *weir, struct group *group)
{
    struct group_record records[GROUP_RECORDS];
    const uint32_t record_count = sources_records(weir, group, records);
    if (record_count)
        report_send(weir, group, records, record_count);
    group->reported_last = !group_lingers(group);
    group->said_ms = (uint16_t)weir->now_ms;
    group->pending = false;
    if (group->unsolicited && --group->unsolicited) {
        group->pending = true;
        group->due_ms = weir->now_ms + 1 + random_below(&weir->random, unsolicited_ms(weir, group));
    }
}

static void schedule_after(struct weir *weir, struct group *group, uint32_t wait_ms)
{
    const uint32_t due_ms = weir->now_ms + wait_ms;
    if (silent(group->address) || (group->pending && seq_le(group->due_ms, due_ms)))
        return;
    group->pending = true;
    group->due_ms = due_ms;
    slow_due(weir, weir->now_us + ip_wait_us(weir, due_ms));
}

static uint32_t random_wait_ms(struct weir *weir, uint32_t within_ms)
{
    return within_ms ? random_below(&weir->random, within_ms) : 0;
}

void group_schedule(struct weir *weir, struct group *group, uint32_t within_ms)
{
    schedule_after(weir, group, random_wait_ms(weir, within_ms));
}

// However often, and however soon, queries ask.
static void answer_within(struct weir *weir, struct group *group, uint32_t within_ms)
{
    const uint32_t said_before_ms = (uint16_t)(weir->now_ms - group->said_ms);
    const uint32_t least_ms = said_before_ms < ANSWERS_MS ? ANSWERS_MS - said_before_ms : 0;
    schedule_after(weir, group, max_u32(random_wait_ms(weir, within_ms), least_ms));
}

static void announce(struct weir *weir, struct group *group)
{
    group->unsolicited = GROUP_ROBUSTNESS;
    group_schedule(weir, group, 0);
}

// False: the group stays until that is told, often enough.
static bool left_told(struct weir *weir, struct group *group)
{
    const struct group_record record = {.type = GROUP_TO_INCLUDE};
    if (WEIR_CFG_MULTICAST_SOURCES)
        return false;
    report_send(weir, group, &record, 1);
    return true;
}

static void group_remove(struct weir *weir, struct group *group)
{
    sources_removed(weir, group);
    *group = weir->ip.groups[--weir->ip.group_count];
}

// Work: the table.
uint64_t group_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t wait_us = WEIR_NEVER;
    for (uint32_t i = weir->ip.group_count; i-- > 0;) {
        struct group *const group = &weir->ip.groups[i];
        if (group->pending && seq_le(group->due_ms, weir->now_ms))
            report(weir, group);
        if (group->pending && ip_wait_us(weir, group->due_ms) < wait_us)
            wait_us = ip_wait_us(weir, group->due_ms);
        if (!group->pending && group_lingers(group))
            group_remove(weir, group);  // the last takes its place, which is done
    }
    return wait_us == WEIR_NEVER ? WEIR_NEVER : now_us + wait_us;
}

// --- queries ---------------------------------------------------------------------------------------------------------

static void cancel(struct group *group)
{
    group->pending = false;
    group->unsolicited = 0;
    sources_cancel(group);
}

void group_old_querier(struct weir *weir, struct weir_netif *netif, bool v4, uint8_t version)
{
    struct weir_netif_querier *const querier = querier_of(netif, v4);
    const uint8_t spoken = group_version(weir, querier, 0);
    *querier = (struct weir_netif_querier){version, weir->now_ms + GROUP_OLD_QUERIER_MS};
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++)
        if (spoken != version && group->netif == netif && weir_addr_is_v4(group->address) == v4)
            cancel(group);
}

void group_query(struct weir *weir, const struct group_query *query)
{
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->netif != query->netif || group_lingers(group) || weir_addr_is_v4(group->address) != query->v4)
            continue;
        if (!weir_addr_is_any(query->group) && !weir_addr_equal(query->group, group->address))
            continue;
        sources_asked(weir, group, query);
        answer_within(weir, group, query->within_ms);
    }
}

void group_answered(struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    struct group *const group = group_find(weir, netif, address);
    if (!group || !group->pending || group_lingers(group))
        return;
    cancel(group);
    group->reported_last = false;
}

// --- members ---------------------------------------------------------------------------------------------------------

static void filter(const struct group *group, bool join)
{
    if (group->netif->link->multicast)
        group->netif->link->multicast(group->netif, group->address, join);
}

// A place in the table: one that is free, or one of a group that was left, which is then told no more.
static struct group *place_for(struct weir *weir, struct weir_addr address)
{
    struct ip *const ip = &weir->ip;
    for (uint32_t i = ip->group_count; WEIR_CFG_MULTICAST_SOURCES && i-- > 0 && !room_for(ip, address);)
        if (group_lingers(&ip->groups[i]))
            group_remove(weir, &ip->groups[i]);
    return room_for(ip, address) ? &ip->groups[ip->group_count++] : NULL;
}

int ip_group_join(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    if (!weir_addr_is_multicast(address))
        return WEIR_INVALID;
    struct group *group = group_find(weir, netif, address);
    if (!group) {
        group = place_for(weir, address);
        if (!group)
            return WEIR_NO_MEMORY;
        *group = (struct group){.netif = netif, .address = address};
        announce(weir, group);
    }
    if (group->references == UINT16_MAX)
        return WEIR_NO_MEMORY;
    if (!group->references)
        filter(group, true);
    group->references++;
    sources_members_changed(weir, group);
    return WEIR_OK;
}

int ip_group_leave(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    struct group *group = group_find(weir, netif, address);
    if (!group || group_lingers(group))
        return WEIR_NO_ADDRESS;
    group->references--;
    sources_members_changed(weir, group);
    if (group->references)
        return WEIR_OK;
    filter(group, false);
    if (silent(group->address) || left_told(weir, group))
        group_remove(weir, group);
    return WEIR_OK;
}

void group_netif_changed(struct weir *weir, struct weir_netif *netif)
{
    const bool running = netif->flags & WEIR_NETIF_UP && netif->flags & WEIR_NETIF_LINK;
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (!running || group->netif != netif || group_lingers(group))
            continue;
        sources_renew(group);
        announce(weir, group);
    }
}

void group_netif_removed(struct weir *weir, struct weir_netif *netif)
{
    for (uint32_t i = weir->ip.group_count; i-- > 0;) {
        struct group *const group = &weir->ip.groups[i];
        if (group->netif != netif)
            continue;
        if (!group_lingers(group))  // whose address is out of the device's filter already
            filter(group, false);
        group_remove(weir, group);
    }
}
