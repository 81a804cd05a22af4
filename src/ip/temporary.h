// SPDX-License-Identifier: BSD-2-Clause
// Temporary addresses (RFC 8981): beside the stable address of each prefix, one that changes.
#ifndef IP_TEMPORARY_H
#define IP_TEMPORARY_H

#include "ip/ip6.h"

#if WEIR_CFG_IP6_TEMPORARY
// No lifetime of a router's prolongs a temporary address beyond its own (§3.4).
void temporary_bound(const struct weir_netif_address *a, uint64_t *preferred_us, uint64_t *valid_us);
// Makes those that are wanted. Returns when the next will be, µs.
uint64_t temporary_poll(struct weir *weir, struct weir_netif *netif);
// A temporary address, which is removed, was another host's.
void temporary_taken(struct weir_netif *netif, struct weir_addr address, uint8_t counter);
void temporary_link_lost(struct weir_netif *netif);  // what failed there is tried again on another link
#else
static inline void temporary_bound(const struct weir_netif_address *a, uint64_t *preferred_us, uint64_t *valid_us)
{
    (void)a, (void)preferred_us, (void)valid_us;
}
static inline uint64_t temporary_poll(struct weir *weir, struct weir_netif *netif)
{
    return (void)weir, (void)netif, WEIR_NEVER;
}
static inline void temporary_taken(struct weir_netif *netif, struct weir_addr address, uint8_t counter)
{
    (void)netif, (void)address, (void)counter;
}
static inline void temporary_link_lost(struct weir_netif *netif) { (void)netif; }
#endif

#endif
