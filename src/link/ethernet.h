// SPDX-License-Identifier: BSD-2-Clause
// The Ethernet link and its neighbours (ARP, RFC 826, 1122 §2.3.2, 5227). Of the functions in arp.c those without a
// packet in their hands are the whole link's: a build without IPv4 has them in no_arp.c.
#ifndef LINK_ETHERNET_H
#define LINK_ETHERNET_H

#include "base/records.h"
#include "link/link.h"
#include "wire/arp.h"
#include "wire/ethernet.h"

#define ARP_REPLIES 4u  // answers waiting for weir_poll: one batch's worth; more are dropped, and the asker asks again

struct arp_reply {
    struct weir_netif *netif;
    uint8_t mac[6];
    uint32_t address, ours;  // who asked, and for which of our addresses
};

enum neighbour_state {
    NEIGHBOUR_FREE,
    NEIGHBOUR_INCOMPLETE,
    NEIGHBOUR_REACHABLE,
    NEIGHBOUR_STALE,
    NEIGHBOUR_PROBE,
    NEIGHBOUR_STATIC
};

struct neighbour_packet;  // a datagram that waits (src/link/neighbour_packets.c)

// An entry of the neighbour cache. `path.neighbour` is an index into the table and may be of a recycled entry, so its
// users compare netif and address before they trust it (neighbour_of_path).
struct neighbour {
    struct weir_netif *netif;          // NULL: free
    struct sock *waiting;              // socks waiting for resolution, linked by output_next, newest first
    struct neighbour_packet *packets;  // datagrams waiting for it, oldest first
    struct weir_addr address;
    uint32_t due_us;        // on the timer list: when the next request is due
    uint32_t confirmed_ms;  // when it last showed that it is there; until it did, when it was made
    uint8_t mac[6];
    uint8_t state;
    uint8_t tries : 7;  // requests without an answer
    bool strange : 1;   // nothing of ours needs it (neighbour.c)
#if WEIR_CFG_IP6
    bool router;  // it said so (RFC 4861 §7.2.5)
#endif
    uint16_t next;                        // hash chain or free list, index + 1
    uint16_t timer_next, timer_previous;  // timer list, index + 1
    uint16_t used_at;                     // in units of 2^18 µs, for recycling the least recently used
};

struct arp {
#if WEIR_CFG_IP4
    struct arp_reply replies[ARP_REPLIES];
    uint8_t reply_count;
#endif
#if WEIR_CFG_ARP_CACHE
    struct neighbour *table;  // WEIR_CFG_NEIGHBOURS entries, carved at start
    uint16_t *buckets;        // index + 1 of the first entry
    uint32_t bucket_mask;
    uint16_t free;                       // index + 1
    uint16_t timer_first, timer_last;    // entries with something to do, in the order of their deadlines, index + 1
    uint16_t strangers, strangers_made;  // entries they have; those made since strangers_ms
    uint32_t strangers_ms;
    const uint8_t *answered;  // of the reply that the outbox sends: where its question came from; NULL: unknown
    uint32_t queue_bytes;     // of waiting datagrams, all neighbours together
    struct records queue;     // their memory in static builds
#endif
};

extern const uint8_t ethernet_broadcast[6];
extern const uint8_t arp_unknown_mac[6];  // zeros, in the place of what a request asks for

int arp_init(struct weir *weir);  // WEIR_NO_MEMORY
size_t arp_bytes(void);
void arp_free(struct weir *weir);
// Sends pending replies, requests, probes, announcements; ages entries. Returns the next deadline (64-bit µs;
// WEIR_NEVER).
uint64_t arp_poll(struct weir *weir, uint64_t now_us);
#if WEIR_CFG_IP4
void arp_input(struct weir *weir, struct packet *packet);  // `packet` at the ARP header
// Sends one ARP packet. sender: our address, or 0 in a probe (RFC 5227). `target_mac` goes into the packet.
enum weir_tx_verdict arp_send(struct weir_netif *netif, const uint8_t destination[6], uint16_t operation,
                              uint32_t sender, const uint8_t target_mac[6], uint32_t target);
// Asks for the link address of an IPv4 neighbour: at `mac`, or everybody where that is NULL.
enum weir_tx_verdict arp_ask(const struct neighbour *n, const uint8_t *mac);
#else
static inline void arp_input(struct weir *weir, struct packet *packet) { (void)weir, (void)packet; }
static inline enum weir_tx_verdict arp_send(struct weir_netif *netif, const uint8_t destination[6], uint16_t operation,
                                            uint32_t sender, const uint8_t target_mac[6], uint32_t target)
{
    (void)netif, (void)destination, (void)operation, (void)sender, (void)target_mac, (void)target;
    return WEIR_TX_DONE;
}
#endif
// the deadline (64-bit µs) of a module that is due at due_us
uint64_t arp_wait_until(const struct weir *weir, uint32_t due_us);
// What was learnt on an interface goes (carrier lost); who waited for an answer goes back to the output list. With
// `removed` also what was configured: nothing points at the interface any more.
void arp_flush(struct weir *weir, struct weir_netif *netif, bool removed);
// A permanent entry, never overwritten by the wire, kept until the interface is removed. WEIR_NO_MEMORY: the table is
// full of such. WEIR_NOT_SUPPORTED: no cache is built.
int weir_neighbour_add_static(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                              const uint8_t mac[6]);

#endif
