// SPDX-License-Identifier: BSD-2-Clause
// Address conflict detection (RFC 5227): an address is probed before its use, announced, and defended.
#ifndef LINK_ACD_H
#define LINK_ACD_H

#include "instance.h"

#if WEIR_CFG_ARP_CACHE
void acd_address_changed(struct weir_netif *netif, enum weir_address_mode mode);
// A well-formed ARP packet of another's came. Whether it conflicted with our address.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp);
// Returns when an address wants to be cared for next, µs.
uint64_t acd_poll(struct weir *weir);
// Whether our address may be used and answered for.
static inline bool acd_address_ours(const struct weir_netif *netif)
{
    return netif->arp_state == WEIR_ADDRESS_READY || netif->arp_state == WEIR_ADDRESS_ANNOUNCING;
}
#else
static inline void acd_address_changed(struct weir_netif *netif, enum weir_address_mode mode) { (void)netif, (void)mode; }
static inline bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    (void)weir, (void)netif, (void)arp;
    return false;
}
static inline uint64_t acd_poll(struct weir *weir)
{
    (void)weir;
    return WEIR_NEVER;
}
static inline bool acd_address_ours(const struct weir_netif *netif) { return !weir_addr_is_any(netif->address); }
#endif

#endif
