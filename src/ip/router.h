// SPDX-License-Identifier: BSD-2-Clause
// What routers advertise, as the routing table sees it (router.c).
#ifndef IP_ROUTER_H
#define IP_ROUTER_H

#include "ip/ip6.h"

#if WEIR_CFG_IP6
// The interface came up or went down, or has other addresses: the link-local address, the groups of addresses,
// solicitations.
void router_netif_changed(struct weir *weir, struct weir_netif *netif);
static inline void router_netif_removed(struct weir *weir, const struct weir_netif *netif)
{
    names_forget(weir, netif);
}
uint64_t router_poll(struct weir *weir, uint64_t now_us);
static inline uint8_t route_silent(const struct route *route) { return route->silent; }

// its checks are passed
void router_advertisement_input(struct weir *weir, const struct packet *packet, const struct nd *message);
void redirect_input(struct weir *weir, const struct packet *packet, const struct nd *message);  // likewise
// A route that lives until then (WEIR_NEVER: for ever; not after now: it goes). False: there is no room, and nothing
// that makes room.
bool route_advertise(struct weir *weir, const struct route *route);
// Deletes the routes for which `goes` says so.
void route_delete_each(struct weir *weir,
                       bool (*goes)(const struct weir *weir, const struct route *route, const void *context),
                       const void *context);
#else
static inline void router_netif_changed(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
static inline void router_netif_removed(struct weir *weir, const struct weir_netif *netif) { (void)weir, (void)netif; }
static inline uint64_t router_poll(struct weir *weir, uint64_t now_us) { return (void)weir, (void)now_us, WEIR_NEVER; }
static inline uint8_t route_silent(const struct route *route) { return (void)route, (uint8_t)0; }
#endif

#endif
