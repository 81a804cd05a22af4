// SPDX-License-Identifier: BSD-2-Clause
// The multicast groups a datagram socket joined. It receives only what it joined itself, on the interface it joined on.
#include "instance.h"

bool membership_has(const struct datagram *d, const struct packet *packet)
{
    const bool looped = packet->netif->capabilities & WEIR_NETIF_LOOPBACK;
    for (uint32_t i = 0; i < MEMBERSHIPS; i++) {
        const struct membership *m = &d->memberships[i];
        if (m->netif_index && weir_addr_equal(m->group, packet->destination) &&
            (looped || m->netif_index == packet->netif->index) && membership_hears(m, packet->source))
            return true;
    }
    return false;
}

struct membership *membership_find(struct datagram *d, struct weir_addr group, uint8_t netif_index)
{
    for (uint32_t i = 0; i < MEMBERSHIPS; i++) {
        struct membership *m = &d->memberships[i];
        if (m->netif_index && weir_addr_equal(m->group, group) && (!netif_index || m->netif_index == netif_index))
            return m;
    }
    return NULL;
}

static struct membership *vacant(struct datagram *d)
{
    for (uint32_t i = 0; i < MEMBERSHIPS; i++)
        if (!d->memberships[i].netif_index)
            return &d->memberships[i];
    return NULL;
}

void membership_leave(struct weir *weir, struct membership *m)
{
    struct weir_netif *netif = netif_by_index(weir, m->netif_index);
    membership_filter_drop(weir, netif, m);
    if (netif)
        ip_group_leave(weir, netif, m->group);
    m->netif_index = 0;
}

struct weir_netif *membership_netif(struct weir *weir, const struct datagram *d, struct weir_addr group,
                                    uint8_t netif_index)
{
    struct path path;
    struct weir_addr source = weir_addr_any();
    if (!netif_index)
        netif_index = d->multicast_netif ? d->multicast_netif : d->sock.netif_bound;
    if (netif_index)
        return netif_by_index(weir, netif_index);
    return ip_path_find(weir, &path, &source, group, 0) == WEIR_OK ? path.netif : NULL;
}

int membership_join(struct weir *weir, struct datagram *d, struct weir_addr group, struct weir_netif *netif,
                    struct membership **out)
{
    struct membership *const m = vacant(d);
    if (!m)
        return WEIR_NO_MEMORY;
    const int error = ip_group_join(weir, netif, group);
    if (!error)
        *m = (struct membership){.group = group, .netif_index = netif->index};
    *out = m;
    return error;
}

int datagram_membership(struct weir *weir, struct datagram *d, struct weir_addr group, uint8_t netif_index, bool join)
{
    if (!weir_addr_is_multicast(group))
        return WEIR_INVALID;
    if (!join) {
        struct membership *m = membership_find(d, group, netif_index);
        if (!m)
            return WEIR_NO_ADDRESS;
        membership_leave(weir, m);
        return WEIR_OK;
    }
    struct weir_netif *netif = membership_netif(weir, d, group, netif_index);
    if (!netif)
        return WEIR_NO_ROUTE;
    if (membership_find(d, group, netif->index))
        return WEIR_IN_USE;
    struct membership *joined;
    return membership_join(weir, d, group, netif, &joined);
}

void membership_leave_all(struct weir *weir, struct datagram *d)
{
    for (uint32_t i = 0; i < MEMBERSHIPS; i++)
        if (d->memberships[i].netif_index)
            membership_leave(weir, &d->memberships[i]);
}
