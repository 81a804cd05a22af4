// SPDX-License-Identifier: BSD-2-Clause
// The addresses of an interface: which it has, which of them speaks to whom, and the setting of the first.
#include "link/address.h"

#include "base/addr.h"
#include "instance.h"

struct weir_netif_address *address_find(const struct weir_netif *netif, struct weir_addr addr)
{
    const struct weir_netif_address *a = &netif->address;
    while (a && !weir_addr_equal(a->addr, addr))
        a = address_next(a);
    return (struct weir_netif_address *)a;
}

bool address_ours(const struct weir_netif *netif, struct weir_addr addr)
{
    const struct weir_netif_address *a = address_find(netif, addr);
    return a && address_ready(a);
}

const struct weir_netif_address *address_toward(const struct weir_netif *netif, struct weir_addr peer)
{
    const struct weir_netif_address *best = NULL;
    uint32_t best_rank = 0;
    if (!weir_addr_is_v4(peer))
        return address_source6(netif, peer, 0);
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a)) {
        uint32_t rank = a->deprecated ? 1 : 256;
        if (weir_addr_in_prefix(peer, a->addr, a->prefix_length))
            rank += 1u + a->prefix_length;
        if (address_ready(a) && weir_addr_is_v4(a->addr) && rank > best_rank) {
            best = a;
            best_rank = rank;
        }
    }
    return best;
}

bool address_acceptable(const struct weir_netif *netif, struct weir_addr addr, uint8_t prefix_length)
{
    const bool loops = netif->capabilities & WEIR_NETIF_LOOPBACK;
    return netif->weir && prefix_length <= weir_addr_bits(addr) && !weir_addr_is_multicast(addr) &&
           !weir_addr_is_broadcast(addr) && weir_addr_is_loopback(addr) == (loops && !weir_addr_is_any(addr));
}

static void address_store(struct weir_netif_address *a, struct weir_addr addr, uint8_t prefix_length,
                          enum weir_address_mode mode)
{
    const bool none = weir_addr_is_any(addr);
    a->addr = addr;
    a->prefix_length = none ? 0 : prefix_length;
    a->state = none ? WEIR_ADDRESS_NONE : WEIR_ADDRESS_READY;
    a->mode = (uint8_t)mode;
    address_routers_set(a, 0);
    if (WEIR_CFG_ADDRESSES) {
        a->deprecated = false;
        a->preferred_until_us = a->valid_until_us = WEIR_NEVER;
    }
}

int address_take(struct weir_netif *netif, struct weir_netif_address *a, struct weir_addr addr, uint8_t prefix_length,
                 enum weir_address_mode mode)
{
    for (int error = WEIR_OK;;
         addr = weir_addr_any()) {  // a second time where there is no room for the connected route
        ip_address_group(netif, a->addr, false);
        address_store(a, addr, prefix_length, mode);
        ip_address_group(netif, addr, true);
        if (netif->link->address_changed && a->state != WEIR_ADDRESS_NONE)
            netif->link->address_changed(netif, a, mode);
        const int routed = ip_netif_changed(netif->weir, netif);
        if (!routed || weir_addr_is_any(addr))
            return error;
        error = routed;
    }
}

int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode)
{
    if (addr_foreign(address))
        return WEIR_NOT_SUPPORTED;
    if (!address_acceptable(netif, address, prefix_length))
        return WEIR_INVALID;
    const struct weir_netif_address *other = WEIR_CFG_ADDRESSES ? address_find(netif, address) : NULL;
    if (other && other != &netif->address)
        return WEIR_IN_USE;
    return address_take(netif, &netif->address, address, prefix_length, mode);
}
