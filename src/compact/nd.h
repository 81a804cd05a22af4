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

// What address.c has of nd.c.
LOCAL void group_filter(struct weir_netif *netif, uint32_t tail, bool join);
LOCAL uint64_t start_at(const struct weir *weir, unsigned how);
LOCAL void address_probe(struct weir *weir, struct weir_netif_address *a, uint64_t at_us);
LOCAL void address_leave(struct weir *weir, struct weir_netif_address *a);
LOCAL void routers_begin(struct weir *weir);

// What mld1.c has of it.
static const uint32_t nobody[4];
LOCAL void alert_put(uint8_t *alert);
LOCAL bool message_leave(struct weir *weir, const uint32_t *source, uint32_t tail, uint32_t next_and_hops,
                         uint32_t extension, uint32_t length);
// mld1.c: a query of so many bytes came; whether one of version 1 did, a while ago; our groups are reported by it
// (false: the driver is full).
#if WEIR_CFG_COMPACT_MLD1
LOCAL void mld1_heard(struct weir *weir, uint32_t query_bytes);
LOCAL bool mld1_report(struct weir *weir);
static inline bool mld1_spoken(const struct weir *weir) { return weir->nd.old_querier_until_us > weir->now_us; }
#else
static inline void mld1_heard(struct weir *weir, uint32_t query_bytes) { (void)weir, (void)query_bytes; }
static inline bool mld1_report(struct weir *weir) { return (void)weir, true; }
static inline bool mld1_spoken(const struct weir *weir) { return (void)weir, false; }
#endif

// Where others count conflicts (weir_netif_address.conflicts), an address that was given by hand has one of these: past
// all retries, so that one conflict ends it.
enum by_hand { BY_HAND = 0x80, BY_HAND_AT_ONCE = 0xc0 };
#if WEIR_CFG_COMPACT_ADDRESS
static inline bool by_hand(const struct weir_netif_address *a) { return a->conflicts & BY_HAND; }
// What is to be probed is in use already, where it was given so.
static inline void address_unprobed(struct weir_netif_address *a)
{
    if (a->conflicts != BY_HAND_AT_ONCE)
        return;
    a->state = WEIR_ADDRESS_READY;
    a->sent = 1;
}
#else
static inline bool by_hand(const struct weir_netif_address *a) { return (void)a, false; }
static inline void address_unprobed(struct weir_netif_address *a) { (void)a; }
#endif
#endif

#endif
