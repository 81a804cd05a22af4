// SPDX-License-Identifier: BSD-2-Clause
// Which of a name's addresses to try first (RFC 6724 §6). Rule 4 (home addresses) and rule 7 (tunnels) have no use
// here.
#include "instance.h"
#include "link/policy6.h"
#include "weir/names.h"
#include "wire/ip6.h"

struct destination {
    struct weir_addr addr, source;
    bool usable, deprecated;
};

bool weir_source_find(struct weir *weir, struct weir_addr destination, struct weir_addr *source)
{
    struct path path;
    *source = weir_addr_any();
    return ip_path_find(weir, &path, source, destination, 0) == WEIR_OK && !weir_addr_is_any(*source);
}

static struct destination destination_of(struct weir *weir, struct weir_addr addr)
{
    struct destination to = {.addr = addr};
    to.usable = weir_source_find(weir, addr, &to.source);
    for (const struct weir_netif *netif = weir->netifs; netif && to.usable; netif = netif->next) {
        const struct weir_netif_address *const own = address_find(netif, to.source);
        to.deprecated |= own && own->deprecated;
    }
    return to;
}

// Rule 9 is not for IPv4, where it has nothing to do with distance, and would undo a name server's rotation.
static uint32_t common(const struct destination *to)
{
    return weir_addr_is_v4(to->addr) ? 0 : policy_common_bits(to->addr, to->source, 64);
}

// Whether `a` goes before `b`, which came first (rule 10).
static bool before(const struct destination *a, const struct destination *b)
{
    const struct policy policy_a = policy_of(a->addr), policy_b = policy_of(b->addr);
    const uint8_t scope_a = policy_scope(a->addr), scope_b = policy_scope(b->addr);
    const bool same_a = scope_a == policy_scope(a->source), same_b = scope_b == policy_scope(b->source);
    const bool label_a = policy_a.label == policy_of(a->source).label;
    const bool label_b = policy_b.label == policy_of(b->source).label;
    if (a->usable != b->usable)  // rule 1
        return a->usable;
    if (same_a != same_b)  // rule 2
        return same_a;
    if (a->deprecated != b->deprecated)  // rule 3
        return b->deprecated;
    if (label_a != label_b)  // rule 5
        return label_a;
    if (policy_a.precedence != policy_b.precedence)  // rule 6
        return policy_a.precedence > policy_b.precedence;
    if (scope_a != scope_b)  // rule 8
        return scope_a < scope_b;
    return weir_addr_is_v4(a->addr) == weir_addr_is_v4(b->addr) && common(a) > common(b);
}

void weir_destinations_sort(struct weir *weir, struct weir_addr *addrs, uint32_t count)
{
    struct destination sorted[WEIR_DESTINATIONS_MAX];
    count = min_u32(count, WEIR_DESTINATIONS_MAX);
    for (uint32_t i = 0, at; i < count; i++) {
        const struct destination to = destination_of(weir, addrs[i]);
        for (at = i; at > 0 && before(&to, &sorted[at - 1]); at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = to;
    }
    for (uint32_t i = 0; i < count; i++)
        addrs[i] = sorted[i].addr;
}

bool weir_family_configured(const struct weir *weir, bool v6)
{
    for (const struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
            if (address_ready(a) && !weir_addr_is_any(a->addr) && weir_addr_is_v4(a->addr) != v6 &&
                policy_scope(a->addr) == IP6_SCOPE_GLOBAL)
                return true;
    return false;
}
