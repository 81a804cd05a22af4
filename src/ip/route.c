// SPDX-License-Identifier: BSD-2-Clause
// The routing table and the choice of a way: interface, next hop, source address, path MTU (RFC 1122 §3.3.1, §3.3.4.3).
// The table is kept sorted, longest prefix first, then lowest metric: the first entry that fits is the best.
#include "ip/flow.h"
#include "ip/internal.h"
#include "ip/multihome.h"
#include "ip/router.h"

#if WEIR_CFG_ARP_CACHE
bool ip_path_valid(const struct weir *weir, const struct path *path)
{
    return path->generation == weir->ip.generation && path->netif;
}
#else
// Without a neighbour cache a path is all that is known of the peer's link address: it stays good as long as its
// interface exists.
bool ip_path_valid(const struct weir *weir, const struct path *path)
{
    const struct weir_netif *netif = weir->netifs;
    while (netif && netif != path->netif)
        netif = netif->next;
    return netif != NULL;
}
#endif

bool ip_is_ours(const struct weir *weir, struct weir_addr address)
{
    if (weir_addr_is_loopback(address))
        return WEIR_CFG_LOOPBACK;
    for (const struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        if (address_ours(netif, address))
            return true;
    return false;
}

#if WEIR_CFG_IP4
bool ip_netif_broadcast(const struct weir_netif *netif, struct weir_addr address)
{
    if (!weir_addr_is_v4(address))
        return false;
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (a->prefix_length < 31 && address_ready(a) && weir_addr_is_v4(a->addr) &&
            weir_addr_to_v4(address) == (weir_addr_to_v4(a->addr) | ~ip4_prefix_mask(a->prefix_length)))
            return true;
    return false;
}

bool ip_is_broadcast(const struct weir *weir, struct weir_addr address)
{
    if (weir_addr_is_broadcast(address))
        return true;
    for (const struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        if (!ip_netif_loopback(netif) && ip_netif_broadcast(netif, address))
            return true;
    return false;
}
#endif

// --- table -----------------------------------------------------------------------------------------------------------

static bool route_same(const struct route *a, const struct route *b)
{
    return a->netif == b->netif && a->prefix_length == b->prefix_length && weir_addr_equal(a->prefix, b->prefix) &&
           weir_addr_equal(a->gateway, b->gateway);
}

static void route_delete(struct ip *ip, uint32_t at)
{
    ip->route_count--;
    memmove(&ip->routes[at], &ip->routes[at + 1], (ip->route_count - at) * sizeof ip->routes[0]);
    ip->routes[ip->route_count] = (struct route){.netif = NULL};
}

static bool route_find(const struct ip *ip, const struct route *route, uint32_t *at)
{
    for (*at = 0; *at < ip->route_count; ++*at)
        if (route_same(&ip->routes[*at], route))
            return true;
    return false;
}

// Into its place. The same way again: a new metric; what only follows an address leaves one that was added by hand as
// it is. false: the table is full.
static bool route_put(struct ip *ip, const struct route *route)
{
    uint32_t at;
    if (route_find(ip, route, &at)) {
        if (route->connected && !route_advertised(&ip->routes[at]))
            return true;
        route_delete(ip, at);
    } else if (ip->route_count == WEIR_CFG_ROUTES) {
        return false;
    }
    for (at = 0; at < ip->route_count; at++) {
        const struct route *other = &ip->routes[at];
        if (other->prefix_length < route->prefix_length ||
            (other->prefix_length == route->prefix_length && other->metric > route->metric))
            break;
    }
    memmove(&ip->routes[at + 1], &ip->routes[at], (ip->route_count - at) * sizeof *route);
    ip->routes[at] = *route;
    ip->route_count++;
    return true;
}

static bool route_make(struct route *route, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                       struct weir_netif *netif, uint8_t metric)
{
    if (prefix_length > weir_addr_bits(prefix) || !netif || weir_addr_is_multicast(gateway) ||
        weir_addr_is_broadcast(gateway))
        return false;
    *route = (struct route){.prefix = weir_addr_prefix(prefix, prefix_length),
                            .gateway = gateway,
                            .netif = netif,
                            .prefix_length = prefix_length,
                            .metric = metric};
    return true;
}

#if WEIR_CFG_IP6
// `any` as the prefix of a default route is that of the gateway's family.
static struct weir_addr route_prefix(struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway)
{
    return weir_addr_is_any(prefix) && !prefix_length && weir_addr_is_v4(gateway) ? weir_addr_v4(0) : prefix;
}
#else
static struct weir_addr route_prefix(struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway)
{
    return (void)prefix_length, (void)gateway, prefix;
}
#endif

// Everything is on the link: of both families.
static bool route_of_both(struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway)
{
    return WEIR_CFG_IP4 && WEIR_CFG_IP6 && !prefix_length && weir_addr_is_any(prefix) && !weir_addr_is_v4(prefix) &&
           weir_addr_is_any(gateway);
}

static int route_add(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                     struct weir_netif *netif, uint8_t metric)
{
    struct route route;
    if (!route_make(&route, route_prefix(prefix, prefix_length, gateway), prefix_length, gateway, netif, metric))
        return WEIR_INVALID;
    if (!route_put(&weir->ip, &route))
        return WEIR_NO_MEMORY;
    paths_changed(weir);
    return WEIR_OK;
}

int weir_route_add(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                   struct weir_netif *netif, uint8_t metric)
{
    if (addr_foreign(prefix) || addr_foreign(gateway))
        return WEIR_NOT_SUPPORTED;
    if (route_of_both(prefix, prefix_length, gateway)) {
        const int error = route_add(weir, weir_addr_v4(0), 0, weir_addr_any(), netif, metric);
        if (error)
            return error;
    }
    return route_add(weir, prefix, prefix_length, gateway, netif, metric);
}

// The routes to the interface's own subnets follow its addresses; two addresses of one subnet share its route. One that
// was added as it would be made stays what it is, also when the address goes.
static int connected_routes(struct weir *weir, struct weir_netif *netif)
{
    struct ip *ip = &weir->ip;
    struct route route;
    int error = WEIR_OK;
    if (!IP_SPEAKS_FIRST)
        return WEIR_OK;
    for (uint32_t at = ip->route_count; at-- > 0;)
        if (ip->routes[at].netif == netif && ip->routes[at].connected)
            route_delete(ip, at);
    for (const struct weir_netif_address *a = &netif->address; a && !ip_netif_loopback(netif); a = address_next(a)) {
        // an address made out of a router's prefix says nothing of the link (RFC 5942)
        if (a->state == WEIR_ADDRESS_NONE || address_origin(a))
            continue;
        const bool made = route_make(&route, a->addr, a->prefix_length, weir_addr_any(), netif, 0);
        route.connected = true;
        if (!made || !route_put(ip, &route))
            error = WEIR_NO_MEMORY;
    }
    return error;
}

static int route_remove(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                        struct weir_netif *netif)
{
    struct route route;
    uint32_t at;
    if (!route_make(&route, route_prefix(prefix, prefix_length, gateway), prefix_length, gateway, netif, 0))
        return WEIR_INVALID;
    if (!route_find(&weir->ip, &route, &at))
        return WEIR_NO_ROUTE;
    const bool by_hand = !weir->ip.routes[at].connected;
    route_delete(&weir->ip, at);
    if (by_hand)  // an address of ours may need it, too
        (void)connected_routes(weir, netif);
    paths_changed(weir);
    return WEIR_OK;
}

int weir_route_remove(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                      struct weir_netif *netif)
{
    if (addr_foreign(prefix) || addr_foreign(gateway))
        return WEIR_NOT_SUPPORTED;
    if (route_of_both(prefix, prefix_length, gateway))
        (void)route_remove(weir, weir_addr_v4(0), 0, weir_addr_any(), netif);
    return route_remove(weir, prefix, prefix_length, gateway, netif);
}

#if WEIR_CFG_IP6
struct weir_addr ip_addr_complete(const struct weir *weir, struct weir_addr address, uint8_t netif_bound)
{
    const struct weir_netif *only = NULL;
    if (!weir_addr_is_link_local6(address) || weir_addr_zone(address))
        return address;
    for (const struct weir_netif *netif = weir->netifs; netif && !netif_bound; netif = netif->next) {
        if (ip_netif_loopback(netif))
            continue;
        if (only)
            return address;  // nothing says which
        only = netif;
    }
    return weir_addr_with_zone(address, netif_bound ? netif_bound : only ? only->index : 0);
}
#endif

#if WEIR_CFG_IP6
#define ROUTES_ADVERTISED_MAX (WEIR_CFG_ROUTES / 2u)  // of what strangers may say: the rest is for what was configured

void route_delete_each(struct weir *weir,
                       bool (*goes)(const struct weir *weir, const struct route *route, const void *context),
                       const void *context)
{
    bool any = false;
    for (uint32_t at = weir->ip.route_count; at-- > 0;) {
        if (!goes(weir, &weir->ip.routes[at], context))
            continue;
        route_delete(&weir->ip, at);
        any = true;
    }
    if (any)
        paths_changed(weir);
}

static bool advertised_room(const struct ip *ip)
{
    uint32_t advertised = 0;
    for (uint32_t at = 0; at < ip->route_count; at++)
        advertised += ip->routes[at].advertised;
    return advertised < ROUTES_ADVERTISED_MAX;
}

bool route_advertise(struct weir *weir, const struct route *route)
{
    struct ip *const ip = &weir->ip;
    uint32_t at;
    const bool known = route_find(ip, route, &at);
    if (known && !ip->routes[at].advertised)  // it is configured
        return true;
    if (route->until_us <= weir->now_us) {
        if (known) {
            route_delete(ip, at);
            paths_changed(weir);
        }
        return true;
    }
    slow_due(weir, route->until_us);
    if (known && ip->routes[at].metric == route->metric) {
        ip->routes[at].until_us = route->until_us;
        return true;
    }
    if ((!known && !advertised_room(ip)) || !route_put(ip, route))
        return false;
    paths_changed(weir);
    return true;
}
#endif

bool ip_is_gateway(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (uint32_t at = 0; at < weir->ip.route_count; at++) {
        const struct route *route = &weir->ip.routes[at];
        if (route->netif == netif && !weir_addr_is_any(route->gateway) && weir_addr_equal(route->gateway, address))
            return true;
    }
    return false;
}

int ip_netif_changed(struct weir *weir, struct weir_netif *netif)
{
    const int error = connected_routes(weir, netif);
    group_netif_changed(weir, netif);
    router_netif_changed(weir, netif);
    paths_changed(weir);
    return error;
}

void ip_netif_removed(struct weir *weir, struct weir_netif *netif)
{
    for (uint32_t at = weir->ip.route_count; at-- > 0;)
        if (weir->ip.routes[at].netif == netif)
            route_delete(&weir->ip, at);
    router_netif_removed(weir, netif);
    group_netif_removed(weir, netif);
    paths_changed(weir);
}

#if IP_SPEAKS_FIRST
// --- choice ----------------------------------------------------------------------------------------------------------

// What a way is wanted for.
struct route_query {
    struct weir_addr source, destination;
    struct weir_netif *bound;  // NULL: any
};

static bool route_fits(const struct route *route, const struct route_query *query, bool from_source)
{
    if (!weir_addr_in_prefix(query->destination, route->prefix, route->prefix_length) ||
        (query->bound && route->netif != query->bound))
        return false;
    return !from_source || address_find(route->netif, query->source);
}

// The best route whose interface is up. With `from_source` only interfaces that own the source address are asked. *down
// tells that a route was passed over because its interface is down.
static const struct route *route_choose(const struct weir *weir, const struct route_query *query, bool from_source,
                                        bool *down)
{
    // Routers that do not answer come last (RFC 4861 §6.3.6, RFC 4191 §3.2), by turns.
    const struct route *silent = NULL;
    for (uint32_t i = 0; i < weir->ip.route_count; i++) {
        const struct route *route = &weir->ip.routes[i];
        if (!route_fits(route, query, from_source))
            continue;
        if (!(route->netif->flags & WEIR_NETIF_UP))
            *down = true;
        else if (!route_silent(route))
            return route;
        else if (!silent || route_silent(route) < route_silent(silent))
            silent = route;
    }
    return silent;
}

// Multicast and limited broadcast need no route: the bound interface, the one that owns the source, the one a route
// leads to (multicast), the one of the default route, or simply the first that is up (RFC 1122 §3.3.1.1, §3.3.6).
static struct weir_netif *group_netif(const struct weir *weir, const struct route_query *query)
{
    bool down = false;
    if (query->bound)
        return query->bound;
    for (struct weir_netif *netif = weir->netifs; netif && !weir_addr_is_any(query->source); netif = netif->next)
        if (address_find(netif, query->source))
            return netif;
    const struct route *route = route_choose(weir, query, false, &down);
    if (route)
        return route->netif;
    for (struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        if (!ip_netif_loopback(netif) && netif->flags & WEIR_NETIF_UP)
            return netif;
    return NULL;
}

// A link-local destination is a neighbour, on the interface of its zone and no other.
static int path_zone(const struct weir *weir, struct path *path, const struct route_query *query)
{
    path->netif = netif_by_index((struct weir *)weir, weir_addr_zone(query->destination));
    path->next_hop = query->destination;
    return path->netif && (!query->bound || query->bound == path->netif) ? WEIR_OK : WEIR_NO_ROUTE;
}

static int path_group(const struct weir *weir, struct path *path, const struct route_query *query)
{
    path->netif = group_netif(weir, query);
    path->next_hop = query->destination;
    return path->netif ? WEIR_OK : WEIR_NO_ROUTE;
}

static int path_unicast(const struct weir *weir, struct path *path, const struct route_query *query)
{
    bool down = false;
    if (weir_addr_zone(query->destination))
        return path_zone(weir, path, query);
    const struct route *route =
        !weir_addr_is_any(query->source) && !query->bound ? route_choose(weir, query, true, &down) : NULL;
    if (!route)
        route = route_choose(weir, query, false, &down);
    if (!route)
        return down ? WEIR_NETIF_DOWN : WEIR_NO_ROUTE;
    route = multihome_route(weir, route, query->source);
    path->netif = route->netif;
    path->next_hop = weir_addr_is_any(route->gateway) ? query->destination : route->gateway;
    // a directed broadcast of that very subnet: every link knows this one
    if (ip_netif_broadcast(route->netif, query->destination))
        path->next_hop = weir_addr_v4(0xffffffffu);
    return WEIR_OK;
}

#if WEIR_CFG_IP6
static uint16_t netif_mtu(const struct weir_netif *netif, struct weir_addr destination)
{
    return weir_addr_is_v4(destination) || !netif->ip6.mtu ? netif->mtu : (uint16_t)min_u32(netif->ip6.mtu, netif->mtu);
}
static inline struct weir_addr loopback_address(struct weir_addr destination)
{
    const struct weir_addr loopback = {{0, 0, 0, weir_addr_word_of(1)}};
    return weir_addr_is_v4(destination) ? weir_ip4(127, 0, 0, 1) : loopback;
}
#else
static uint16_t netif_mtu(const struct weir_netif *netif, struct weir_addr destination)
{
    return (void)destination, netif->mtu;
}
static inline struct weir_addr loopback_address(struct weir_addr destination)
{
    return (void)destination, weir_ip4(127, 0, 0, 1);
}
#endif

#if WEIR_CFG_LOOPBACK
// Packets to ourselves never leave. They come from the address they go to, where nothing else is asked for.
static bool path_loopback(struct weir *weir, struct path *path, const struct route_query *query,
                          struct weir_addr *source)
{
    const struct weir_addr destination = query->destination;
    if (!ip_is_ours(weir, destination) && query->bound != &weir->loopback.netif)
        return false;
    path->netif = &weir->loopback.netif;
    path->next_hop = destination;
    path->mtu = path->netif->mtu;
    if (weir_addr_is_any(*source))
        *source = weir_addr_is_loopback(destination) || !ip_is_ours(weir, destination) ? loopback_address(destination)
                                                                                       : destination;
    return true;
}
#else
static bool path_loopback(struct weir *weir, struct path *path, const struct route_query *query,
                          struct weir_addr *source)
{
    (void)weir, (void)path, (void)query, (void)source;
    return false;
}
#endif

SELDOM static int path_search(struct weir *weir, struct path *path, struct weir_addr *source,
                              struct weir_addr destination, uint8_t netif_bound)
{
    const struct route_query query = {*source, destination, netif_bound ? netif_by_index(weir, netif_bound) : NULL};
    const bool group = weir_addr_is_multicast(destination) || weir_addr_is_broadcast(destination);
    memset(path, 0, sizeof *path);
    if (addr_foreign(destination))
        return WEIR_NOT_SUPPORTED;
    if (weir_addr_is_any(destination) || (netif_bound && !query.bound))
        return WEIR_NO_ROUTE;
    const bool chosen = !weir_addr_is_any(*source);
    if (chosen && (!ip_is_ours(weir, *source) || weir_addr_is_v4(*source) != weir_addr_is_v4(destination)))
        return WEIR_NO_ADDRESS;
    if (!path_loopback(weir, path, &query, source)) {
        if (weir_addr_is_loopback(destination) || weir_addr_is_loopback(*source))  // RFC 1122 §3.2.1.3(g)
            return WEIR_NO_ROUTE;
        const int error = group ? path_group(weir, path, &query) : path_unicast(weir, path, &query);
        if (error) {
            path->netif = NULL;
            return error;
        }
        // RFC 1122 §3.3.4.3: an address of the interface it leaves by. Without one, only a host that asks everybody may
        // speak.
        const struct weir_netif_address *own =
            weir_addr_is_v4(destination)
                ? address_toward(path->netif, weir_addr_is_broadcast(path->next_hop) ? destination : path->next_hop)
                : address_source6(path->netif, destination, multihome_router(path->netif, path->next_hop));
        if ((!own && !chosen && !group) || !(path->netif->flags & WEIR_NETIF_UP)) {
            const int why = path->netif->flags & WEIR_NETIF_UP ? WEIR_NO_ADDRESS : WEIR_NETIF_DOWN;
            path->netif = NULL;
            return why;
        }
        if (!chosen && own)
            *source = own->addr;
        path->mtu = pmtu_get(weir, destination, netif_mtu(path->netif, destination));
    }
    path->generation = weir->ip.generation;
    if (WEIR_CFG_FAST_PATH)
        flow_learn_path(weir, path, query.source, *source, destination, netif_bound);
    return WEIR_OK;
}

int ip_path_find(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                 uint8_t netif_bound)
{
    return WEIR_CFG_FAST_PATH && flow_path(weir, path, source, destination, netif_bound)
               ? WEIR_OK
               : path_search(weir, path, source, destination, netif_bound);
}

#else
int ip_path_find(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                 uint8_t netif_bound)
{
    (void)weir, (void)source, (void)destination, (void)netif_bound;
    memset(path, 0, sizeof *path);
    return WEIR_NO_ROUTE;
}
#endif

#if WEIR_CFG_DPLPMTUD
uint16_t ip_path_link_mtu(const struct path *path, struct weir_addr destination)
{
    return netif_mtu(path->netif, destination);
}
#endif

#if WEIR_CFG_ARP_CACHE
// A reply leaves by the interface the packet came in by, where a route leads that way; otherwise by the best route.
int ip_path_answer(struct weir *weir, struct path *path, struct weir_addr *source, const struct packet *packet)
{
    *source = packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST) ? weir_addr_any() : packet->destination;
    if (ip_path_find(weir, path, source, packet->source, packet->netif->index) == WEIR_OK)
        return WEIR_OK;
    return ip_path_find(weir, path, source, packet->source, 0);
}

int ip_path_reply(struct weir *weir, struct path *path, const struct packet *packet)
{
    struct weir_addr source;
    return ip_path_answer(weir, path, &source, packet);
}

int ip_path_renew(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                  uint8_t netif_bound)
{
    return ip_path_find(weir, path, source, destination, netif_bound);
}
#else
// Server mode: back to the link address it came from, without any lookup.
int ip_path_reply(struct weir *weir, struct path *path, const struct packet *packet)
{
    memset(path, 0, sizeof *path);
    path->netif = packet->netif;
    path->next_hop = packet->source;
    if (packet->link_source)
        memcpy(path->link_address, packet->link_source, sizeof path->link_address);
    path->mtu = pmtu_get(weir, packet->source, packet->netif->mtu);
    path->generation = weir->ip.generation;
    return WEIR_OK;
}

int ip_path_renew(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                  uint8_t netif_bound)
{
    if (!ip_path_valid(weir, path))
        return ip_path_find(weir, path, source, destination, netif_bound);
    path->mtu = pmtu_get(weir, destination, path->netif->mtu);
    path->generation = weir->ip.generation;
    return WEIR_OK;
}
#endif
