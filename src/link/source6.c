// SPDX-License-Identifier: BSD-2-Clause
// Which address of an interface speaks to an IPv6 destination (RFC 6724 §5). Rule 4 (home addresses) has no use here;
// rule 5, the outgoing interface, is how it is asked.
#include "link/policy6.h"

// RFC 4429 §3.1: an optimistic address counts as a deprecated one.
static bool avoided(const struct weir_netif_address *a) { return a->deprecated || address_optimistic(a); }

struct target {
    struct weir_addr to;
    uint8_t router;  // the bit of the next hop
};

// Whether `a` speaks to the target rather than `b` does.
static bool better(const struct weir_netif_address *a, const struct weir_netif_address *b, const struct target *target)
{
    const struct weir_addr to = target->to;
    const uint8_t routed_a = address_routers(a) & target->router, routed_b = address_routers(b) & target->router;
    const uint8_t scope = policy_scope(to), scope_a = policy_scope(a->addr), scope_b = policy_scope(b->addr);
    if (weir_addr_equal(a->addr, to) != weir_addr_equal(b->addr, to))  // rule 1
        return weir_addr_equal(a->addr, to);
    if (scope_a != scope_b)  // rule 2
        return scope_a < scope_b ? scope_a >= scope : scope_b < scope;
    if (avoided(a) != avoided(b))  // rule 3
        return avoided(b);
    if (routed_a != routed_b)  // rule 5.5
        return routed_a;
    const uint8_t label = policy_of(to).label;
    const bool label_a = policy_of(a->addr).label == label, label_b = policy_of(b->addr).label == label;
    if (label_a != label_b)  // rule 6
        return label_a;
    if ((a->origin == WEIR_ADDRESS_TEMPORARY) != (b->origin == WEIR_ADDRESS_TEMPORARY))  // rule 7
        return a->origin == WEIR_ADDRESS_TEMPORARY;
    return policy_common_bits(a->addr, to, a->prefix_length) >
           policy_common_bits(b->addr, to, b->prefix_length);  // rule 8
}

static const struct weir_netif_address *best_source(const struct weir_netif *netif, const struct target *target,
                                                    bool optimistic)
{
    const struct weir_netif_address *best = NULL;
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (address_ready(a) && (optimistic || !address_optimistic(a)) && !weir_addr_is_v4(a->addr) &&
            !weir_addr_is_any(a->addr) && (!best || better(a, best, target)))
            best = a;
    return best;
}

const struct weir_netif_address *address_source6(const struct weir_netif *netif, struct weir_addr to, uint8_t router)
{
    return best_source(netif, &(struct target){to, router}, true);
}

const struct weir_netif_address *address_asker6(const struct weir_netif *netif, struct weir_addr to)
{
    return best_source(netif, &(struct target){to, 0}, false);
}
