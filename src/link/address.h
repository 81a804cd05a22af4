// SPDX-License-Identifier: BSD-2-Clause
// The addresses of an interface, as the link and the network layer see them: a list that begins in the interface
// itself. Further ones have places in the instance (WEIR_CFG_ADDRESSES of them). Nothing in it names a family.
#ifndef LINK_ADDRESS_H
#define LINK_ADDRESS_H

#include "link/link.h"

// The first is netif->address, which alone may be empty (its state is then NONE).
static inline struct weir_netif_address *address_next(const struct weir_netif_address *a)
{
    return WEIR_CFG_ADDRESSES ? a->next : NULL;
}
#if WEIR_CFG_IP6_OPTIMISTIC
// Whether it is in use before it is known to be ours alone (RFC 4429): nobody's cache may be changed for it.
static inline bool address_optimistic(const struct weir_netif_address *a)
{
    return a->state == WEIR_ADDRESS_OPTIMISTIC;
}
// One that is to be probed is used from now on.
void address_use(struct weir_netif *netif, struct weir_netif_address *a);
#else
static inline bool address_optimistic(const struct weir_netif_address *a) { return (void)a, false; }
static inline void address_use(struct weir_netif *netif, struct weir_netif_address *a) { (void)netif, (void)a; }
#endif
static inline bool address_probing(const struct weir_netif_address *a)
{
    return a->state == WEIR_ADDRESS_PROBING || address_optimistic(a);
}
// Whether it may be used, and is answered for: one that is being probed or that another host has may not (RFC 5227).
static inline bool address_ready(const struct weir_netif_address *a)
{
    return a->state == WEIR_ADDRESS_ANNOUNCING || a->state == WEIR_ADDRESS_READY || address_optimistic(a);
}
// The entry of an address, in whatever state. NULL: the interface does not have it. (`addr` any may find the first
// place, while that is empty.)
struct weir_netif_address *address_find(const struct weir_netif *netif, struct weir_addr addr);
// Whether `addr` is ready on the interface.
bool address_ours(const struct weir_netif *netif, struct weir_addr addr);
// The address to speak to `peer` with, a neighbour: RFC 6724 §5, rules 3 and 8. NULL: none is ready.
const struct weir_netif_address *address_toward(const struct weir_netif *netif, struct weir_addr peer);
#if WEIR_CFG_IP6
// IPv6, all rules (source6.c). `router`: the bit of the next hop (rule 5.5, src/ip/multihome.h); 0: none is preferred.
const struct weir_netif_address *address_source6(const struct weir_netif *netif, struct weir_addr to, uint8_t router);
// Likewise, of those that are not optimistic: what changes neighbours' caches comes from such a one (RFC 4429 §3.2).
const struct weir_netif_address *address_asker6(const struct weir_netif *netif, struct weir_addr to);
#else
static inline const struct weir_netif_address *address_source6(const struct weir_netif *netif, struct weir_addr to,
                                                               uint8_t router)
{
    return (void)netif, (void)to, (void)router, NULL;
}
#endif

#if WEIR_CFG_IP6_MULTIHOMED
static inline uint8_t address_routers(const struct weir_netif_address *a) { return a->routers; }
static inline void address_routers_set(struct weir_netif_address *a, uint8_t routers) { a->routers = routers; }
#else
static inline uint8_t address_routers(const struct weir_netif_address *a) { return (void)a, (uint8_t)0; }
static inline void address_routers_set(struct weir_netif_address *a, uint8_t routers) { (void)a, (void)routers; }
#endif

// What weir_netif_set_address and weir_netif_address_add share: whether the interface may have it; and taking it into a
// place of the list, or (any) emptying that.
bool address_acceptable(const struct weir_netif *netif, struct weir_addr addr, uint8_t prefix_length);
#if WEIR_CFG_IP6
static inline void address_originate(struct weir_netif_address *a, uint8_t origin) { a->origin = origin; }
static inline uint8_t address_origin(const struct weir_netif_address *a) { return a->origin; }
#else
static inline void address_originate(struct weir_netif_address *a, uint8_t origin) { (void)a, (void)origin; }
static inline uint8_t address_origin(const struct weir_netif_address *a) { return (void)a, 0; }
#endif
int address_take(struct weir_netif *netif, struct weir_netif_address *a, struct weir_addr addr, uint8_t prefix_length,
                 enum weir_address_mode mode);

#if WEIR_CFG_ADDRESSES
// weir_netif_address_add, of another origin (enum weir_address_origin; 0: configured).
int address_add(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length, enum weir_address_mode mode,
                uint8_t origin);
// What its lifetimes make of an address now: it may be removed. Returns when the next ends, µs.
uint64_t address_age(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a);
// the interface goes: the places of its further addresses are free
void address_forget_further(struct weir_netif *netif);
#else
static inline uint64_t address_age(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    (void)weir, (void)netif, (void)a;
    return WEIR_NEVER;
}
static inline void address_forget_further(struct weir_netif *netif) { (void)netif; }
#endif

#endif
