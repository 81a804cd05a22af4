// SPDX-License-Identifier: BSD-2-Clause
// Several routers with prefixes of their own (RFC 8028): what comes from an address leaves by a router that advertised
// its prefix, since others may drop it (RFC 2827).
#ifndef IP_MULTIHOME_H
#define IP_MULTIHOME_H

#include "ip/ip6.h"

struct route;

#if WEIR_CFG_IP6_MULTIHOMED
// A router advertised a prefix; withdrawn: with no lifetime left.
void multihome_advertised(struct weir_netif *netif, struct weir_addr router, struct weir_addr prefix, uint8_t bits,
                          bool withdrawn);
void multihome_link_lost(struct weir_netif *netif);
// The bit of a router in weir_netif_address.routers; 0: it has advertised no prefix.
uint8_t multihome_router(const struct weir_netif *netif, struct weir_addr router);
// Instead of `route`, which is the best, the best as long a one by a router of the source's prefix that answers.
const struct route *multihome_route(const struct weir *weir, const struct route *route, struct weir_addr source);
#else
static inline void multihome_advertised(struct weir_netif *netif, struct weir_addr router, struct weir_addr prefix,
                                        uint8_t bits, bool withdrawn)
{
    (void)netif, (void)router, (void)prefix, (void)bits, (void)withdrawn;
}
static inline void multihome_link_lost(struct weir_netif *netif) { (void)netif; }
static inline uint8_t multihome_router(const struct weir_netif *netif, struct weir_addr router)
{
    return (void)netif, (void)router, (uint8_t)0;
}
static inline const struct route *multihome_route(const struct weir *weir, const struct route *route,
                                                  struct weir_addr source)
{
    return (void)weir, (void)source, route;
}
#endif

#endif
