// SPDX-License-Identifier: BSD-2-Clause
// Address conflict detection (RFC 5227): an address is probed before its use, announced, and defended.
#ifndef LINK_ACD_H
#define LINK_ACD_H

#include "instance.h"
#include "link/address.h"

#if WEIR_CFG_ARP_CACHE
void acd_address_changed(struct weir_netif *netif, struct weir_netif_address *a, enum weir_address_mode mode);
// A well-formed ARP packet of another's came. Whether it conflicted with an address of ours.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp);
// Returns when an address wants to be cared for next, µs.
uint64_t acd_poll(struct weir *weir);
#else
static inline void acd_address_changed(struct weir_netif *netif, struct weir_netif_address *a, enum weir_address_mode mode)
{
    (void)netif, (void)a, (void)mode;
}
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
#endif

#endif
