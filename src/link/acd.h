// SPDX-License-Identifier: BSD-2-Clause
// Address conflict detection (RFC 5227): an address is probed before its use, announced, and defended.
#ifndef LINK_ACD_H
#define LINK_ACD_H

#include "instance.h"
#include "link/address.h"

#if WEIR_CFG_ARP_CACHE
// RFC 3927 §2.5: what carries a link-local sender is broadcast, replies too, so that every host sees a conflict.
static inline bool acd_broadcasts(uint32_t sender) { return sender >> 16 == 0xa9fe; }
void acd_address_changed(struct weir_netif *netif, struct weir_netif_address *a, enum weir_address_mode mode);
// A well-formed ARP packet of another's came. Whether it conflicted with an address of ours. (Where IPv4 is built.)
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp);
#if WEIR_CFG_IP6
// A neighbour solicitation from :: came (`nonce`: what it had of RFC 7527, six zeros without), or an advertisement
// (nonce NULL), for `target`. Whether that is an address of ours that is concerned.
bool acd_seen6(struct weir *weir, struct weir_netif *netif, struct weir_addr target, const uint8_t *nonce,
               const uint8_t mac[6]);
#endif
// Returns when an address wants to be cared for next, µs.
uint64_t acd_poll(struct weir *weir);
#else
static inline bool acd_broadcasts(uint32_t sender) { return (void)sender, false; }
static inline void acd_address_changed(struct weir_netif *netif, struct weir_netif_address *a,
                                       enum weir_address_mode mode)
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
