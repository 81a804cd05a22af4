// SPDX-License-Identifier: BSD-2-Clause
// The routing table and the neighbour cache, shown (weir/tables.h).
#include "weir/tables.h"

#include "instance.h"
#include "ip/internal.h"
#include "link/neighbour.h"

bool weir_route_at(const struct weir *weir, uint32_t at, struct weir_route_info *out)
{
    if (at >= weir->ip.route_count)
        return false;
    const struct route *const route = &weir->ip.routes[at];
    *out = (struct weir_route_info){.prefix = route->prefix,
                                    .gateway = route->gateway,
                                    .netif = route->netif,
                                    .prefix_length = route->prefix_length,
                                    .metric = route->metric,
                                    .connected = route->connected,
                                    .advertised = route_advertised(route)};
    return true;
}

#if WEIR_CFG_ARP_CACHE
// One that was confirmed too long ago is stale, though nobody has looked since.
static const char *neighbour_state_name(const struct weir *weir, const struct neighbour *n)
{
    static const char *const names[] = {[NEIGHBOUR_INCOMPLETE] = "INCOMPLETE",
                                        [NEIGHBOUR_REACHABLE] = "REACHABLE",
                                        [NEIGHBOUR_STALE] = "STALE",
                                        [NEIGHBOUR_PROBE] = "PROBE",
                                        [NEIGHBOUR_STATIC] = "PERMANENT"};
    return names[n->state == NEIGHBOUR_REACHABLE && !neighbour_fresh(weir, n) ? NEIGHBOUR_STALE : n->state];
}

uint32_t weir_neighbour_next(const struct weir *weir, uint32_t cursor, struct weir_neighbour_info *out)
{
    for (; cursor < WEIR_CFG_NEIGHBOURS; cursor++) {
        const struct neighbour *const n = &weir->arp.table[cursor];
        if (!n->netif || n->state == NEIGHBOUR_FREE)
            continue;
        *out = (struct weir_neighbour_info){.address = n->address,
                                            .netif = n->netif,
                                            .known = n->state != NEIGHBOUR_INCOMPLETE,
                                            .state = neighbour_state_name(weir, n)};
        memcpy(out->mac, n->mac, sizeof out->mac);
        return cursor + 1;
    }
    return 0;
}
#else
uint32_t weir_neighbour_next(const struct weir *weir, uint32_t cursor, struct weir_neighbour_info *out)
{
    return (void)weir, (void)cursor, (void)out, (uint32_t)0;
}
#endif
