// SPDX-License-Identifier: BSD-2-Clause
// Which router advertised which prefix (RFC 8028). An interface has places for eight routers, and each address bits for
// those that advertised its prefix. A router for which there is no place, or that advertised no prefix, is as good as
// any other.
#include "ip/multihome.h"

#include "ip/router.h"

#define PLACES 8u

uint8_t multihome_router(const struct weir_netif *netif, struct weir_addr router)
{
    for (uint32_t i = 0; i < PLACES && !weir_addr_is_any(router); i++)
        if (weir_addr_equal(netif->ip6.routers[i], router))
            return (uint8_t)(1u << i);
    return 0;
}

static bool leads_somewhere(const struct weir_netif *netif, uint8_t router)
{
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (a->state != WEIR_ADDRESS_NONE && a->routers & router)
            return true;
    return false;
}

// A place for it: a free one, or one of a router whose prefixes have no address any more.
static uint8_t router_place(struct weir_netif *netif, struct weir_addr router)
{
    for (uint32_t i = 0; i < PLACES; i++) {
        const uint8_t bit = (uint8_t)(1u << i);
        if (leads_somewhere(netif, bit))
            continue;
        netif->ip6.routers[i] = router;
        return bit;
    }
    return 0;
}

void multihome_advertised(struct weir_netif *netif, struct weir_addr router, struct weir_addr prefix, uint8_t bits,
                          bool withdrawn)
{
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a)) {
        if (a->state == WEIR_ADDRESS_NONE || weir_addr_is_v4(a->addr) || !weir_addr_in_prefix(a->addr, prefix, bits))
            continue;
        const uint8_t known = multihome_router(netif, router),
                      bit = known || withdrawn ? known : router_place(netif, router),
                      routers = (uint8_t)(withdrawn ? a->routers & ~bit : a->routers | bit);
        if (routers == a->routers)
            continue;
        a->routers = routers;
        paths_changed(netif->weir);
    }
}

void multihome_link_lost(struct weir_netif *netif)
{
    memset(netif->ip6.routers, 0, sizeof netif->ip6.routers);
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        a->routers = 0;
}

const struct route *multihome_route(const struct weir *weir, const struct route *route, struct weir_addr source)
{
    const struct weir_netif *const netif = route->netif;
    const struct weir_netif_address *const own =
        weir_addr_is_any(source) || weir_addr_is_v4(source) || !route->advertised ? NULL : address_find(netif, source);
    if (!own || !own->routers || weir_addr_is_any(route->gateway))
        return route;
    for (const struct route *other = weir->ip.routes; other < weir->ip.routes + weir->ip.route_count; other++)
        if (other->netif == netif && other->prefix_length == route->prefix_length && !route_silent(other) &&
            weir_addr_equal(other->prefix, route->prefix) && own->routers & multihome_router(netif, other->gateway))
            return other;
    return route;
}
