// SPDX-License-Identifier: BSD-2-Clause
// The source filters of a datagram socket's memberships (RFC 3678 §3). A filter is not changed but exchanged for
// another, so that what the instance refuses leaves it as it was.
#include "instance.h"

static int find(const struct source_filter *filter, struct weir_addr source)
{
    for (int i = 0; i < filter->count; i++)
        if (weir_addr_equal(filter->sources[i], source))
            return i;
    return -1;
}

bool membership_hears(const struct membership *m, struct weir_addr source)
{
    return !m->filter || (find(m->filter, source) >= 0) != m->filter->exclude;
}

void membership_filter_drop(struct weir *weir, struct weir_netif *netif, struct membership *m)
{
    if (!m->filter)
        return;
    if (!netif || ip_group_filter(weir, netif, m->group, m->filter, NULL) != WEIR_OK)
        ip_source_filter_free(weir, m->filter);  // the interface is gone, and its groups with it
    m->filter = NULL;
}

static bool source_valid(struct weir_addr group, struct weir_addr source)
{
    return weir_addr_is_v4(group) == weir_addr_is_v4(source) && !weir_addr_is_multicast(source) &&
           !weir_addr_is_any(source) && !weir_addr_is_broadcast(source);
}

// Takes `next` over, or frees it. To include nothing is to leave, to exclude nothing needs no filter.
static int exchange(struct weir *weir, struct membership *m, struct source_filter *next)
{
    struct weir_netif *const netif = netif_by_index(weir, m->netif_index);
    if (!netif || (!next->exclude && !next->count)) {
        ip_source_filter_free(weir, next);
        membership_leave(weir, m);
        return WEIR_OK;
    }
    if (!next->count) {
        ip_source_filter_free(weir, next);
        membership_filter_drop(weir, netif, m);
        return WEIR_OK;
    }
    const int error = ip_group_filter(weir, netif, m->group, m->filter, next);
    if (error)
        ip_source_filter_free(weir, next);
    else
        m->filter = next;
    return error;
}

// The same for a socket that may be no member yet.
static int put(struct weir *weir, struct datagram *d, struct weir_netif *netif, struct weir_addr group,
               struct source_filter *next)
{
    struct membership *m = membership_find(d, group, netif->index);
    const bool joins = !m;
    int error = joins && !next->exclude && !next->count ? WEIR_NO_ADDRESS : WEIR_OK;
    if (!error && joins)
        error = membership_join(weir, d, group, netif, &m);
    if (error) {
        ip_source_filter_free(weir, next);
        return error;
    }
    error = exchange(weir, m, next);
    if (error && joins)
        membership_leave(weir, m);
    return error;
}

// WEIR_INVALID: the membership is of the other kind, or there is none to block sources of.
static int kind_check(const struct membership *m, enum weir_source_action action)
{
    const bool including = action == WEIR_SOURCE_JOIN || action == WEIR_SOURCE_LEAVE;
    if (!m)
        return action == WEIR_SOURCE_JOIN ? WEIR_OK : including ? WEIR_NO_ADDRESS : WEIR_INVALID;
    return including == (m->filter && !m->filter->exclude) ? WEIR_OK : WEIR_INVALID;
}

static int change(struct source_filter *next, struct weir_addr source, bool adds)
{
    const int at = find(next, source);
    if (adds == (at >= 0))
        return WEIR_NO_ADDRESS;
    if (!adds)
        next->sources[at] = next->sources[--next->count];
    else if (next->count == WEIR_CFG_MULTICAST_SOURCES)
        return WEIR_NO_MEMORY;
    else
        next->sources[next->count++] = source;
    return WEIR_OK;
}

// The membership that is meant, if there is one, and its interface.
static int which_is(struct weir *weir, struct datagram *d, const struct weir_membership *which, struct membership **m,
                    struct weir_netif **netif)
{
    if (!weir_addr_is_multicast(which->group))
        return WEIR_INVALID;
    *m = membership_find(d, which->group, which->netif_index);
    *netif = *m ? netif_by_index(weir, (*m)->netif_index) : membership_netif(weir, d, which->group, which->netif_index);
    return *netif ? WEIR_OK : WEIR_NO_ROUTE;
}

int datagram_source(struct weir *weir, struct datagram *d, const struct weir_membership *which, struct weir_addr source,
                    enum weir_source_action action)
{
    struct membership *m;
    struct weir_netif *netif;
    const bool adds = action == WEIR_SOURCE_JOIN || action == WEIR_SOURCE_BLOCK;
    int error = which_is(weir, d, which, &m, &netif);
    if (!error)
        error = source_valid(which->group, source) ? kind_check(m, action) : WEIR_INVALID;
    if (error)
        return error;
    struct source_filter *const next = ip_source_filter_new(weir);
    if (!next)
        return WEIR_NO_MEMORY;
    if (m && m->filter)
        *next = *m->filter;
    else
        next->exclude = action != WEIR_SOURCE_JOIN;
    error = change(next, weir_addr_with_zone(source, netif->index), adds);
    if (error) {
        ip_source_filter_free(weir, next);
        return error;
    }
    return put(weir, d, netif, which->group, next);
}

int datagram_sources_set(struct weir *weir, struct datagram *d, const struct weir_membership *which, bool exclude,
                         const struct weir_addr *sources, uint32_t count)
{
    struct membership *m;
    struct weir_netif *netif;
    const int error = which_is(weir, d, which, &m, &netif);
    if (error)
        return error;
    if (count > WEIR_CFG_MULTICAST_SOURCES)
        return WEIR_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        if (!source_valid(which->group, sources[i]))
            return WEIR_INVALID;
    struct source_filter *const next = ip_source_filter_new(weir);
    if (!next)
        return WEIR_NO_MEMORY;
    next->exclude = exclude;
    for (uint32_t i = 0; i < count; i++)
        (void)change(next, weir_addr_with_zone(sources[i], netif->index), true);  // named twice, it is there once
    return put(weir, d, netif, which->group, next);
}

int datagram_sources_get(struct datagram *d, const struct weir_membership *which, bool *exclude,
                         struct weir_addr *sources, uint32_t room)
{
    const struct membership *const m = membership_find(d, which->group, which->netif_index);
    if (!m)
        return WEIR_NO_ADDRESS;
    *exclude = !m->filter || m->filter->exclude;
    const uint32_t count = m->filter ? m->filter->count : 0;
    for (uint32_t i = 0; i < min_u32(count, room); i++)
        sources[i] = m->filter->sources[i];
    return (int)count;
}
