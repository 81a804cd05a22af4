// SPDX-License-Identifier: BSD-2-Clause
// Multicast memberships of the instance, counted per interface and group. A new one is reported at once and once more
// within the interval of its protocol (robustness 2); a query is answered after a random delay. What every host is a
// member of is never reported.
#include "ip/group.h"
#include "wire/mld.h"

#define IGMP_UNSOLICITED_MS 10000u  // RFC 2236 §8.10
#define MLD_UNSOLICITED_MS 1000u    // RFC 9777 §9.11

size_t group_bytes(void) { return memory_carve_bytes(GROUPS_MAX * sizeof(struct group)); }

int group_init(struct weir *weir)
{
    weir->ip.groups = memory_carve(&weir->memory, GROUPS_MAX * sizeof(struct group));
    return weir->ip.groups ? WEIR_OK : WEIR_NO_MEMORY;
}

void group_free(struct weir *weir)
{
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

#if WEIR_CFG_IP6
static void report_send(struct weir *weir, const struct group *group)
{
    if (weir_addr_is_v4(group->address))
        igmp_report(weir, group);
    else
        mld_report(weir, group);
}
static void left_send(struct weir *weir, const struct group *group)
{
    if (weir_addr_is_v4(group->address))
        igmp_left(weir, group);
    else
        mld_left(weir, group);
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
static uint32_t unsolicited_ms(const struct group *group)
{
    return weir_addr_is_v4(group->address) ? IGMP_UNSOLICITED_MS : MLD_UNSOLICITED_MS;
}
#else
static void report_send(struct weir *weir, const struct group *group) { igmp_report(weir, group); }
static void left_send(struct weir *weir, const struct group *group) { igmp_left(weir, group); }
static bool silent(struct weir_addr a) { return weir_addr_to_v4(a) == IP4_ALL_HOSTS; }
static uint32_t unsolicited_ms(const struct group *group) { return (void)group, IGMP_UNSOLICITED_MS; }
#endif

bool ip_group_member(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    return (weir_addr_is_v4(address) && weir_addr_to_v4(address) == IP4_ALL_HOSTS) || group_find(weir, netif, address);
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
    return alike < (wanted ? WEIR_CFG_ADDRESSES : WEIR_CFG_MULTICAST_GROUPS);
}
#else
static bool room_for(const struct ip *ip, struct weir_addr address)
{
    return (void)address, ip->group_count < GROUPS_MAX;
}
#endif

static void report(struct weir *weir, struct group *group)
{
    report_send(weir, group);
    group->reported_last = true;
    group->pending = false;
    if (group->unsolicited && --group->unsolicited) {
        group->pending = true;
        group->due_ms = weir->now_ms + 1 + random_below(&weir->random, unsolicited_ms(group));
    }
}

void group_schedule(struct weir *weir, struct group *group, uint32_t within_ms)
{
    const uint32_t due_ms = weir->now_ms + (within_ms ? random_below(&weir->random, within_ms) : 0);
    if (silent(group->address) || (group->pending && seq_le(group->due_ms, due_ms)))
        return;
    group->pending = true;
    group->due_ms = due_ms;
    slow_due(weir, weir->now_us + ip_wait_us(weir, due_ms));
}

static void announce(struct weir *weir, struct group *group)
{
    group->unsolicited = GROUP_ROBUSTNESS;
    group_schedule(weir, group, 0);
}

// Work: the table.
uint64_t group_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t wait_us = WEIR_NEVER;
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++) {
        if (group->pending && seq_le(group->due_ms, weir->now_ms))
            report(weir, group);
        if (group->pending && ip_wait_us(weir, group->due_ms) < wait_us)
            wait_us = ip_wait_us(weir, group->due_ms);
    }
    return wait_us == WEIR_NEVER ? WEIR_NEVER : now_us + wait_us;
}

static void filter(const struct group *group, bool join)
{
    if (group->netif->link->multicast)
        group->netif->link->multicast(group->netif, group->address, join);
}

int ip_group_join(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    if (!weir_addr_is_multicast(address))
        return WEIR_INVALID;
    struct group *group = group_find(weir, netif, address);
    if (group) {
        if (group->references == UINT16_MAX)
            return WEIR_NO_MEMORY;
        group->references++;
        return WEIR_OK;
    }
    if (!room_for(&weir->ip, address))
        return WEIR_NO_MEMORY;
    group = &weir->ip.groups[weir->ip.group_count++];
    *group = (struct group){.netif = netif, .address = address, .references = 1, .version = 2};
    filter(group, true);
    announce(weir, group);
    return WEIR_OK;
}

static void group_remove(struct weir *weir, struct group *group) { *group = weir->ip.groups[--weir->ip.group_count]; }

int ip_group_leave(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    struct group *group = group_find(weir, netif, address);
    if (!group)
        return WEIR_NO_ADDRESS;
    if (--group->references)
        return WEIR_OK;
    if (!silent(group->address))
        left_send(weir, group);
    filter(group, false);
    group_remove(weir, group);
    return WEIR_OK;
}

void group_netif_changed(struct weir *weir, struct weir_netif *netif)
{
    for (struct group *group = weir->ip.groups; group < weir->ip.groups + weir->ip.group_count; group++)
        if (group->netif == netif && netif->flags & WEIR_NETIF_UP && netif->flags & WEIR_NETIF_LINK)
            announce(weir, group);
}

void group_netif_removed(struct weir *weir, struct weir_netif *netif)
{
    for (uint32_t i = weir->ip.group_count; i-- > 0;)
        if (weir->ip.groups[i].netif == netif)
            group_remove(weir, &weir->ip.groups[i]);
}
