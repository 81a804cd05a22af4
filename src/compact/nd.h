// SPDX-License-Identifier: BSD-2-Clause
// What an IPv6 host has to do about its addresses (nd.c); of IPv4 there is nothing to do.
#ifndef COMPACT_ND_H
#define COMPACT_ND_H

#include "compact/compact.h"

#if WEIR_CFG_IP4
static inline uint32_t nd_turn(struct weir *weir) { return (void)weir, WAIT_FOREVER; }
static inline void nd_link_up(struct weir_netif *netif) { (void)netif; }
static inline void nd_stop(struct weir_netif *netif) { (void)netif; }
#else
LOCAL uint32_t nd_turn(struct weir *weir);
LOCAL void nd_link_up(struct weir_netif *netif);
LOCAL void nd_stop(struct weir_netif *netif);
LOCAL void group_put(uint8_t *group, uint32_t tail);  // the group of the link that ends in these four bytes
// A message of ICMPv6 whose sum is right, behind the IPv6 header `ip`; echoes are ip6.c's.
LOCAL void nd_input(struct weir *weir, const uint8_t *frame, const uint8_t *icmp, uint32_t length);
#endif

#endif
