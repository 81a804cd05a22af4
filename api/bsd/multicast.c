// SPDX-License-Identifier: BSD-2-Clause
// Options of multicast: memberships and the interface of what is sent (RFC 1112, RFC 3493 §5.2), and source filters in
// both families' calls (RFC 3678 §4, §5).
#include "option.h"

// The interface a membership or IP_MULTICAST_IF means: by index (ip_mreqn) or by one of its addresses; 0: by route.
static int membership_netif(struct bsd_request *r, struct weir_in_addr address, int index)
{
    if (index)
        return index > 0 && index <= 255 ? index : WEIR_INVALID;
    if (address.s_addr == 0)
        return 0;
    for (int at = 1; at <= 255; at++) {
        const struct weir_netif *netif = weir_netif_at(r->bsd->weir, (uint8_t)at);
        if (netif && weir_htonl(weir_addr_to_v4(netif->address.addr)) == address.s_addr)
            return at;
    }
    return WEIR_NO_ADDRESS;
}

#if WEIR_CFG_UDP
static int set_membership(struct bsd_request *r, bool join)
{
    if (!bsd_whole(r, sizeof(struct weir_ip_mreq)))
        return WEIR_INVALID;
    const struct weir_ip_mreqn group = r->value.group;
    const int index = membership_netif(r, group.imr_address, bsd_whole(r, sizeof group) ? group.imr_ifindex : 0);
    if (index < 0)
        return index;
    return weir_socket_membership(r->bsd->weir, r->file->socket, weir_addr_v4(weir_ntohl(group.imr_multiaddr.s_addr)),
                                  (uint8_t)index, join);
}
#else
static int set_membership(struct bsd_request *r, bool join)
{
    (void)r, (void)join;
    return BSD_NO_PROTOCOL_OPTION;
}
#endif

static int set_multicast_netif(struct bsd_request *r)
{
    struct weir_in_addr address = r->value.group.imr_multiaddr;  // a lone struct in_addr stands first
    int by_index = 0;
    if (!bsd_whole(r, sizeof address))
        return WEIR_INVALID;
    if (bsd_whole(r, sizeof(struct weir_ip_mreq)))
        address = r->value.group.imr_address;
    if (bsd_whole(r, sizeof r->value.group))
        by_index = r->value.group.imr_ifindex;
    const int index = membership_netif(r, address, by_index);
    return index < 0 ? index : bsd_number_set(r, WEIR_OPTION_MULTICAST_NETIF, index);
}

static int get_multicast_netif(struct bsd_request *r)
{
    const int error = bsd_number_get(r, WEIR_OPTION_MULTICAST_NETIF);
    const struct weir_netif *netif = error ? NULL : weir_netif_at(r->bsd->weir, (uint8_t)r->value.number);
    const uint32_t address = netif ? weir_htonl(weir_addr_to_v4(netif->address.addr)) : 0;
    if (!error)
        memcpy(&r->value, &address, sizeof address);
    return error;
}

#if WEIR_CFG_IP6
static int set_membership6(struct bsd_request *r, bool join)
{
    const struct weir_ipv6_mreq group = r->value.group6;
    if (!bsd_whole(r, sizeof group) || group.ipv6mr_interface > UINT8_MAX)
        return WEIR_INVALID;
    const struct weir_addr addr = weir_addr_v6(group.ipv6mr_multiaddr.s6_bytes);
    if (weir_addr_is_v4(addr))
        return WEIR_INVALID;
    return weir_socket_membership(r->bsd->weir, r->file->socket, addr, (uint8_t)group.ipv6mr_interface, join);
}
#else
static int set_membership6(struct bsd_request *r, bool join) { return (void)r, (void)join, BSD_NO_PROTOCOL_OPTION; }
#endif

// --- source filters --------------------------------------------------------------------------------------------------

#if WEIR_CFG_MULTICAST_SOURCES
static struct weir_addr addr_of(struct weir_in_addr address) { return weir_addr_v4(weir_ntohl(address.s_addr)); }

// An address of the level's family, from a value that may lie at any place.
static int storage_read(const struct bsd_request *r, const struct weir_sockaddr_storage *from, struct weir_addr *out)
{
    union bsd_sockaddr address;
    struct bsd_name name = {.family = (uint8_t)from->ss_family};
    memcpy(&address, from, sizeof address);
    if (r->level == WEIR_IPPROTO_IP) {
        *out = addr_of(address.in.sin_addr);
        return from->ss_family == WEIR_AF_INET ? WEIR_OK : WEIR_INVALID;
    }
    const int error = bsd_sockaddr_read(&address, sizeof address, &name);
    *out = name.endpoint.addr;
    return error || weir_addr_is_v4(*out) ? WEIR_INVALID : WEIR_OK;
}

static int group_read(const struct bsd_request *r, uint32_t index, const struct weir_sockaddr_storage *from,
                      struct weir_membership *out)
{
    out->netif_index = (uint8_t)index;
    return index > UINT8_MAX ? BSD_NO_DEVICE : storage_read(r, from, &out->group);
}

static int set_group(struct bsd_request *r, bool join)
{
    struct weir_membership which;
    if (!bsd_whole(r, sizeof r->value.joined))
        return WEIR_INVALID;
    const int error = group_read(r, r->value.joined.gr_interface, &r->value.joined.gr_group, &which);
    return error ? error : weir_socket_membership(r->bsd->weir, r->file->socket, which.group, which.netif_index, join);
}

static int set_source(struct bsd_request *r, enum weir_source_action action)
{
    const struct weir_group_source_req *const value = &r->value.source;
    struct weir_membership which;
    struct weir_addr source;
    if (!bsd_whole(r, sizeof *value))
        return WEIR_INVALID;
    int error = group_read(r, value->gsr_interface, &value->gsr_group, &which);
    if (!error)
        error = storage_read(r, &value->gsr_source, &source);
    return error ? error : weir_socket_source(r->bsd->weir, r->file->socket, &which, source, action);
}

static int set_source4(struct bsd_request *r, enum weir_source_action action)
{
    const struct weir_ip_mreq_source value = r->value.source4;
    if (!bsd_whole(r, sizeof value))
        return WEIR_INVALID;
    const int index = membership_netif(r, value.imr_interface, 0);
    if (index < 0)
        return index;
    return weir_socket_source(r->bsd->weir, r->file->socket,
                              &(struct weir_membership){addr_of(value.imr_multiaddr), (uint8_t)index},
                              addr_of(value.imr_sourceaddr), action);
}

// A filter as the caller gives it, in either form.
struct filter {
    struct weir_membership which;
    uint32_t mode, count;
    struct weir_addr sources[WEIR_CFG_MULTICAST_SOURCES];
};

// The group, and how many sources follow, or have room.
static int filter_head(struct bsd_request *r, struct filter *filter)
{
    const struct weir_group_filter *const value = &r->value.filter;
    if (!bsd_whole(r, WEIR_GROUP_FILTER_SIZE(0)))
        return WEIR_INVALID;
    filter->mode = value->gf_fmode;
    filter->count = value->gf_numsrc;
    return group_read(r, value->gf_interface, &value->gf_group, &filter->which);
}

static int filter_head4(struct bsd_request *r, struct filter *filter)
{
    const struct weir_ip_msfilter *const value = &r->value.filter4;
    if (!bsd_whole(r, WEIR_IP_MSFILTER_SIZE(0)))
        return WEIR_INVALID;
    const int index = membership_netif(r, value->imsf_interface, 0);
    filter->which = (struct weir_membership){addr_of(value->imsf_multiaddr), (uint8_t)index};
    filter->mode = value->imsf_fmode;
    filter->count = value->imsf_numsrc;
    return index < 0 ? index : WEIR_OK;
}

static int filter_apply(struct bsd_request *r, const struct filter *filter)
{
    if (filter->mode != WEIR_MCAST_INCLUDE && filter->mode != WEIR_MCAST_EXCLUDE)
        return WEIR_INVALID;
    return weir_socket_sources_set(r->bsd->weir, r->file->socket, &filter->which, filter->mode == WEIR_MCAST_EXCLUDE,
                                   filter->sources, (int)filter->count);
}

static int set_filter(struct bsd_request *r)
{
    struct filter filter;
    int error = filter_head(r, &filter);
    if (!error && filter.count > WEIR_CFG_MULTICAST_SOURCES)
        error = WEIR_NO_MEMORY;
    if (!error && !bsd_whole(r, WEIR_GROUP_FILTER_SIZE(filter.count)))
        error = WEIR_INVALID;
    for (uint32_t i = 0; !error && i < filter.count; i++)
        error = storage_read(r, &r->value.filter.gf_slist[0] + i, &filter.sources[i]);
    return error ? error : filter_apply(r, &filter);
}

static int set_filter4(struct bsd_request *r)
{
    struct filter filter;
    int error = filter_head4(r, &filter);
    if (!error && filter.count > WEIR_CFG_MULTICAST_SOURCES)
        error = WEIR_NO_MEMORY;
    if (!error && !bsd_whole(r, WEIR_IP_MSFILTER_SIZE(filter.count)))
        error = WEIR_INVALID;
    for (uint32_t i = 0; !error && i < filter.count; i++)
        filter.sources[i] = addr_of((&r->value.filter4.imsf_slist[0])[i]);
    return error ? error : filter_apply(r, &filter);
}

// Reads the filter; *written are the sources that the caller has room for. Returns how many there are.
static int filter_read(struct bsd_request *r, struct filter *filter, uint32_t *written)
{
    int exclude;
    const int count = weir_socket_sources(r->bsd->weir, r->file->socket, &filter->which, &exclude, filter->sources,
                                          WEIR_CFG_MULTICAST_SOURCES);
    filter->mode = exclude ? WEIR_MCAST_EXCLUDE : WEIR_MCAST_INCLUDE;
    *written = count >= 0 && (uint32_t)count < filter->count ? (uint32_t)count : filter->count;
    return count;
}

static int get_filter(struct bsd_request *r)
{
    struct filter filter;
    uint32_t written = 0;
    const int error = filter_head(r, &filter);
    const int count = error ? error : filter_read(r, &filter, &written);
    if (count < 0)
        return count;
    r->value.filter.gf_fmode = filter.mode;
    r->value.filter.gf_numsrc = (uint32_t)count;
    r->length = (weir_socklen)WEIR_GROUP_FILTER_SIZE(written);
    for (uint32_t i = 0; i < written; i++) {
        union bsd_sockaddr address;
        const struct weir_endpoint endpoint = {filter.sources[i], 0};
        const uint8_t family = r->level == WEIR_IPPROTO_IP ? WEIR_AF_INET : WEIR_AF_INET6;
        const weir_socklen length = bsd_sockaddr_make(family, &endpoint, &address);
        memset(&r->value.filter.gf_slist[0] + i, 0, sizeof(struct weir_sockaddr_storage));
        memcpy(&r->value.filter.gf_slist[0] + i, &address, length);
    }
    return WEIR_OK;
}

static int get_filter4(struct bsd_request *r)
{
    struct filter filter;
    uint32_t written = 0;
    const int error = filter_head4(r, &filter);
    const int count = error ? error : filter_read(r, &filter, &written);
    if (count < 0)
        return count;
    r->value.filter4.imsf_fmode = filter.mode;
    r->value.filter4.imsf_numsrc = (uint32_t)count;
    r->length = (weir_socklen)WEIR_IP_MSFILTER_SIZE(written);
    for (uint32_t i = 0; i < written; i++)
        (&r->value.filter4.imsf_slist[0])[i].s_addr = weir_htonl(weir_addr_to_v4(filter.sources[i]));
    return WEIR_OK;
}

bool bsd_multicast_asks(int level, int name)
{
    const bool ip6 = WEIR_CFG_IP6 && level == WEIR_IPPROTO_IPV6;
    return (level == WEIR_IPPROTO_IP && (name == WEIR_IP_MSFILTER || name == WEIR_MCAST_MSFILTER)) ||
           (ip6 && name == WEIR_MCAST_MSFILTER);
}

// The options of both families, which have the same numbers at either level.
static int set_sources(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_MCAST_JOIN_GROUP: return set_group(r, true);
    case WEIR_MCAST_LEAVE_GROUP: return set_group(r, false);
    case WEIR_MCAST_JOIN_SOURCE_GROUP: return set_source(r, WEIR_SOURCE_JOIN);
    case WEIR_MCAST_LEAVE_SOURCE_GROUP: return set_source(r, WEIR_SOURCE_LEAVE);
    case WEIR_MCAST_BLOCK_SOURCE: return set_source(r, WEIR_SOURCE_BLOCK);
    case WEIR_MCAST_UNBLOCK_SOURCE: return set_source(r, WEIR_SOURCE_UNBLOCK);
    case WEIR_MCAST_MSFILTER: return set_filter(r);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

static int set_sources4(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IP_ADD_SOURCE_MEMBERSHIP: return set_source4(r, WEIR_SOURCE_JOIN);
    case WEIR_IP_DROP_SOURCE_MEMBERSHIP: return set_source4(r, WEIR_SOURCE_LEAVE);
    case WEIR_IP_BLOCK_SOURCE: return set_source4(r, WEIR_SOURCE_BLOCK);
    case WEIR_IP_UNBLOCK_SOURCE: return set_source4(r, WEIR_SOURCE_UNBLOCK);
    case WEIR_IP_MSFILTER: return set_filter4(r);
    default: return set_sources(r);
    }
}

static int get_sources(struct bsd_request *r)
{
    if (r->level == WEIR_IPPROTO_IP && r->name == WEIR_IP_MSFILTER)
        return get_filter4(r);
    return r->name == WEIR_MCAST_MSFILTER ? get_filter(r) : BSD_NO_PROTOCOL_OPTION;
}
#else
static int set_sources(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int set_sources4(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
static int get_sources(struct bsd_request *r) { return (void)r, BSD_NO_PROTOCOL_OPTION; }
#endif

// --- both ------------------------------------------------------------------------------------------------------------

static int set6(struct bsd_request *r)
{
    switch (r->name) {
    case WEIR_IPV6_JOIN_GROUP: return set_membership6(r, true);
    case WEIR_IPV6_LEAVE_GROUP: return set_membership6(r, false);
    default: return set_sources(r);
    }
}

int bsd_multicast_set(struct bsd_request *r)
{
    if (r->level != WEIR_IPPROTO_IP)
        return set6(r);
    switch (r->name) {
    case WEIR_IP_MULTICAST_IF: return set_multicast_netif(r);
    case WEIR_IP_ADD_MEMBERSHIP: return set_membership(r, true);
    case WEIR_IP_DROP_MEMBERSHIP: return set_membership(r, false);
    default: return set_sources4(r);
    }
}

int bsd_multicast_get(struct bsd_request *r)
{
    return r->level == WEIR_IPPROTO_IP && r->name == WEIR_IP_MULTICAST_IF ? get_multicast_netif(r) : get_sources(r);
}
