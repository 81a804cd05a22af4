// SPDX-License-Identifier: BSD-2-Clause
// What IPv6 adds: its group, its addresses' bytes. Twice: with it, and without.
#ifndef APPS_MDNS_FAMILY_H
#define APPS_MDNS_FAMILY_H

#include <string.h>

#include "weir/netif.h"

#define MDNS_GROUP4 weir_ip4(224, 0, 0, 251)

#if WEIR_CFG_IP6
static inline struct weir_addr mdns_group6(void)
{
    static const uint8_t group[16] = {0xff, 2, [15] = 0xfb};
    return weir_addr_v6(group);
}
static inline void mdns_bytes6(struct weir_addr addr, uint8_t bytes[16]) { weir_addr_to_v6(addr, bytes); }
static inline struct weir_addr mdns_addr6(const uint8_t bytes[16], uint8_t netif_index)
{
    return weir_addr_with_zone(weir_addr_v6(bytes), netif_index);
}
static inline bool mdns_link_local(struct weir_addr addr) { return weir_addr_is_link_local6(addr); }
#else
static inline struct weir_addr mdns_group6(void) { return weir_addr_any(); }
static inline void mdns_bytes6(struct weir_addr addr, uint8_t bytes[16])
{
    (void)addr;
    memset(bytes, 0, 16);
}
static inline struct weir_addr mdns_addr6(const uint8_t bytes[16], uint8_t netif_index)
{
    (void)bytes, (void)netif_index;
    return weir_addr_any();
}
static inline bool mdns_link_local(struct weir_addr addr) { return (void)addr, false; }
#endif

// Whether an address is told to others: in use, to be used longer, and not one that changes every day (RFC 8981).
#if WEIR_CFG_COMPACT
static inline bool mdns_tellable(const struct weir_netif_address *address) { return (void)address, true; }
#elif WEIR_CFG_IP6
static inline bool mdns_tellable(const struct weir_netif_address *address)
{
    return (address->state == WEIR_ADDRESS_READY || address->state == WEIR_ADDRESS_ANNOUNCING) &&
           !address->deprecated && address->origin != WEIR_ADDRESS_TEMPORARY;
}
#else
static inline bool mdns_tellable(const struct weir_netif_address *address)
{
    return (address->state == WEIR_ADDRESS_READY || address->state == WEIR_ADDRESS_ANNOUNCING) && !address->deprecated;
}
#endif

#endif
