// SPDX-License-Identifier: BSD-2-Clause
// The neighbour cache (RFC 826, 1122 §2.3.2), as the rest of the link sees it.
#ifndef LINK_NEIGHBOUR_H
#define LINK_NEIGHBOUR_H

#include "instance.h"

#if WEIR_CFG_ARP_CACHE
#define NEIGHBOUR_TRIES 3u            // requests before giving up
#define NEIGHBOUR_LIFETIME_MS 30000u  // a confirmed neighbour is believed so long (RFC 4861's REACHABLE_TIME)

int neighbour_init(struct weir *weir);
size_t neighbour_bytes(void);
void neighbour_free(struct weir *weir);
void neighbour_flush(struct weir *weir, struct weir_netif *netif, bool removed);
// A well-formed ARP packet came. `target`: the address of ours that it asks for, or answers; NULL: it is not for us.
void neighbour_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp,
                    const struct weir_netif_address *target);  // (neighbour4.c)
#if WEIR_CFG_IP6
// A solicitation or an advertisement of a router, or a redirect, told a neighbour's link address (RFC 4861 §7.2.3,
// §6.3.4, §8.3). `create`: also of one that has no entry yet; `router`: it is one.
void neighbour_told(struct weir *weir, struct weir_netif *netif, struct weir_addr address, const uint8_t mac[6],
                    bool create, bool router);
// A neighbour advertised itself (RFC 4861 §7.2.5); mac NULL: without its link address.
struct neighbour_claim {
    const uint8_t *mac;
    bool solicited, router;
};
// Negative advice (RFC 1122 §3.3.1.4): what went along the path seems not to arrive.
void neighbour_doubt(struct weir_netif *netif, const struct path *path);
void neighbour_advertised(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                          const struct neighbour_claim *claim);
#endif
uint64_t neighbour_poll(struct weir *weir);
void neighbour_confirm(struct weir_netif *netif, struct path *path);
// The link address for a packet whose network header is at out->head. NULL: it cannot leave now, and *verdict says what
// became of it: UNRESOLVED (the waiter waits), DONE (kept as a copy, or dropped).
const uint8_t *neighbour_resolve(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                 const struct packet_out *out, struct sock *waiter, enum weir_tx_verdict *verdict);

#if WEIR_CFG_IP6
static inline uint32_t neighbour_lifetime_ms(const struct neighbour *n)
{
    return weir_addr_is_v4(n->address) ? NEIGHBOUR_LIFETIME_MS : n->netif->ip6.reachable_ms;
}
#else
static inline uint32_t neighbour_lifetime_ms(const struct neighbour *n) { return (void)n, NEIGHBOUR_LIFETIME_MS; }
#endif
static inline bool neighbour_fresh(const struct weir *weir, const struct neighbour *n)
{
    return n->state == NEIGHBOUR_STATIC ||
           (n->state == NEIGHBOUR_REACHABLE && weir->now_ms - n->confirmed_ms < neighbour_lifetime_ms(n));
}
// The table, for neighbour.c, neighbour4.c and neighbour6.c.
struct neighbour *neighbour_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
// A new entry, linked and otherwise empty. NULL: the table is full, or strangers had their share.
struct neighbour *neighbour_entry_new(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                                      bool strange);
void neighbour_confirmed(struct weir *weir, struct neighbour *n);
void neighbour_resolved(struct weir *weir, struct neighbour *n, const uint8_t mac[6]);  // REACHABLE; who waited goes on
void neighbour_stale(struct weir *weir, struct neighbour *n, const uint8_t mac[6]);     // STALE, likewise
// Somebody claims that it is elsewhere: PROBE, with one question, unless progress comes first; while it is asked
// further claims change nothing.
void neighbour_contested(struct weir *weir, struct neighbour *n);

// The datagrams that wait for it, for neighbour.c. Keeps a copy of one until it is known; false: no room.
bool neighbour_packet_keep(struct weir *weir, struct neighbour *n, uint16_t ethertype, const struct packet_out *out);
bool neighbour_packets_send(struct weir *weir, struct neighbour *n);  // false: the interface is full; the rest stays
void neighbour_packets_drop(struct weir *weir, struct neighbour *n);

// Entries are named by their index + 1; 0 is none.
static inline struct neighbour *neighbour_entry(const struct arp *arp, uint16_t index)
{
    return &arp->table[index - 1];
}
static inline uint16_t neighbour_index_of(const struct arp *arp, const struct neighbour *n)
{
    return (uint16_t)(n - arp->table + 1);
}
// The path's neighbour. NULL: it has none yet, or the entry is another's by now.
static inline struct neighbour *neighbour_of_path(const struct weir_netif *netif, const struct path *path)
{
    if (!path->neighbour)
        return NULL;
    struct neighbour *const n = neighbour_entry(&netif->weir->arp, path->neighbour);
    return n->netif == netif && weir_addr_equal(n->address, path->next_hop) ? n : NULL;
}
// The usual case: the path's neighbour was found before and is known. NULL: ask neighbour_resolve.
static inline const uint8_t *neighbour_known(const struct weir_netif *netif, struct path *path)
{
    const struct weir *weir = netif->weir;
    struct neighbour *const n = neighbour_of_path(netif, path);
    // One that is being asked again (PROBE) is used meanwhile.
    if (!n || (n->state != NEIGHBOUR_PROBE && !neighbour_fresh(weir, n)))
        return NULL;
    n->used_at = (uint16_t)(weir->now_us >> 18);
    return n->mac;
}
#else
static inline size_t neighbour_bytes(void) { return 0; }
static inline int neighbour_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void neighbour_free(struct weir *weir) { (void)weir; }
static inline void neighbour_flush(struct weir *weir, struct weir_netif *netif, bool removed)
{
    (void)weir, (void)netif, (void)removed;
}
static inline void neighbour_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp,
                                  const struct weir_netif_address *target)
{
    (void)weir, (void)netif, (void)arp, (void)target;
}
static inline uint64_t neighbour_poll(struct weir *weir)
{
    (void)weir;
    return WEIR_NEVER;
}
static inline void neighbour_confirm(struct weir_netif *netif, struct path *path) { (void)netif, (void)path; }
// Replies go to where the request came from, and nothing else is sent.
static inline const uint8_t *neighbour_known(const struct weir_netif *netif, struct path *path)
{
    (void)netif;
    return path->link_address;
}
static inline const uint8_t *neighbour_resolve(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                               const struct packet_out *out, struct sock *waiter,
                                               enum weir_tx_verdict *verdict)
{
    (void)netif, (void)ethertype, (void)out, (void)waiter, (void)verdict;
    return path->link_address;
}
#endif

#endif
