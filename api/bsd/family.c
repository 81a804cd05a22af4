// SPDX-License-Identifier: BSD-2-Clause
// Sockets of AF_INET6 (RFC 3493): their names, and which names they take. One of both families has IPv4 addresses
// mapped (§3.7).
#include "internal.h"

#if WEIR_CFG_IP6

#define SHORT_BYTES 24u  // without scope id, as RFC 2133 had it

weir_socklen bsd_sockaddr_make(uint8_t family, const struct weir_endpoint *endpoint, union bsd_sockaddr *out)
{
    memset(out, 0, sizeof *out);
    if (family != WEIR_AF_INET6)
        return bsd_sockaddr_make4(endpoint, &out->in);
    out->in6.sin6_family = WEIR_AF_INET6;
    out->in6.sin6_port = weir_htons(endpoint->port);
    weir_addr_to_v6(endpoint->addr, out->in6.sin6_addr.s6_bytes);
    out->in6.sin6_scope_id = weir_addr_zone(endpoint->addr);
    return sizeof out->in6;
}

// Interface-local and link-local groups (RFC 4291 §2.7) have a scope, but no zone in them.
static bool group_has_scope(struct weir_addr addr, const uint8_t *bytes)
{
    return weir_addr_is_multicast(addr) && !weir_addr_is_v4(addr) && (bytes[1] & 15) <= 2;
}

int bsd_sockaddr_read(const union bsd_sockaddr *from, size_t bytes, struct bsd_name *out)
{
    const struct weir_sockaddr_in6 *in6 = &from->in6;
    if (in6->sin6_family != WEIR_AF_INET6)
        return BSD_NO_FAMILY;
    out->cut = bytes < SHORT_BYTES;
    if (out->cut)
        return WEIR_OK;
    const uint32_t scope = bytes < sizeof *in6 ? 0 : in6->sin6_scope_id;
    struct weir_addr addr = weir_addr_v6(in6->sin6_addr.s6_bytes);
    if (!WEIR_CFG_IP4 && weir_addr_is_mapped(addr))
        return BSD_NO_FAMILY;
    const bool group = group_has_scope(addr, in6->sin6_addr.s6_bytes);
    if (scope > UINT8_MAX && (group || weir_addr_is_link_local6(addr)))
        return WEIR_INVALID;
    addr = weir_addr_with_zone(addr, (uint8_t)scope);
    out->endpoint = (struct weir_endpoint){addr, weir_ntohs(in6->sin6_port)};
    out->netif_index = group ? (uint8_t)scope : 0;
    return WEIR_OK;
}

// A name of AF_INET is too short for a socket of AF_INET6: it is that which Linux tells.
int bsd_name_check(const struct bsd_file *file, const struct bsd_name *name)
{
    if (name->family == WEIR_AF_UNSPEC || name->family == file->family)
        return name->cut ? WEIR_INVALID : WEIR_OK;
    return file->family == WEIR_AF_INET6 ? WEIR_INVALID : BSD_NO_FAMILY;
}

int bsd_name_peer(const struct bsd_file *file, struct bsd_name *name)
{
    static const uint8_t loopback[16] = {[15] = 1};
    struct weir_addr *addr = &name->endpoint.addr;
    if (name->family == WEIR_AF_INET6 && weir_addr_is_any(*addr))
        *addr = weir_addr_is_v4(*addr) ? weir_addr_v4(WEIR_INADDR_LOOPBACK) : weir_addr_v6(loopback);
    return bsd_name_check(file, name);
}

#endif
