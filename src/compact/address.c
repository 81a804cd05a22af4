// SPDX-License-Identifier: BSD-2-Clause
// COMPACT_ADDRESS: an address of IPv6 that is given by hand, in place of one that nd.c would make. One of the link
// takes the place of that one, any other that of the one out of a router's prefix, and prefixes are not looked at while
// it is there.
#include "compact/compact.h"
#include "compact/nd.h"

// A group, or of ::/32, where loopback and IPv4 addresses are.
static bool acceptable(struct weir_addr address)
{
    return address.words[0] && !ip6_is_multicast((const uint8_t *)address.words);
}

static void address_take(struct weir *weir, struct weir_netif_address *a, enum weir_address_mode mode)
{
    weir->port->entropy(weir->port->context, a->nonce, sizeof a->nonce);
    group_filter(weir->netif, solicited_node(a), true);
    address_probe(weir, a, start_at(weir, weir->nd.how));
    a->conflicts = mode == WEIR_ADDRESS_AT_ONCE ? BY_HAND_AT_ONCE : BY_HAND;
    address_unprobed(a);
}

int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode)
{
    struct weir *weir = netif->weir;
    const bool none = weir_addr_is_any(address);
    if (!weir || !weir->nd.how || prefix_length > 8 * IP6_ADDRESS_BYTES || !(none || acceptable(address)))
        return WEIR_INVALID;
    struct weir_netif_address *a =
        ip6_is_link_local((const uint8_t *)address.words) ? &netif->address : &weir->nd.global;
    if (none && !by_hand(a))
        return WEIR_OK;
    address_leave(weir, a);
    a->addr = weir_addr_with_zone(address, 0);  // there is one interface
    a->prefix_length = prefix_length;
    a->valid_until_us = a->preferred_until_us = WEIR_NEVER;
    a->conflicts = 0;
    weir->nd.due_us = 0;
    if (none)
        routers_begin(weir);  // whose prefixes are looked at again
    else
        address_take(weir, a, mode);
    return WEIR_OK;
}
