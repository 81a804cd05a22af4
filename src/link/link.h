// SPDX-License-Identifier: BSD-2-Clause
// The link contract: what the network layer may ask of a link type, and how a frame reaches a driver. A second link
// type is another const struct weir_link; no file above src/link knows which one it has.
#ifndef LINK_LINK_H
#define LINK_LINK_H

#include "base/packet.h"
#include "base/sock.h"
#include "link/trace.h"

struct neighbour;

// Ethertypes built in: a const table in src/instance.c, found through weir->ethertypes, ended by type 0. ARP is the
// link's own.
struct ethertype {
    uint16_t type;
    void (*input)(struct weir *weir, struct packet *packet);  // packet at the network header
};

// How to reach a destination, cached by whoever sends there often. Valid while `generation` is the instance's
// (w->ip.generation moves when routes, addresses, interfaces or path MTUs change).
struct path {
    struct weir_netif *netif;  // NULL: not looked up yet
    struct weir_addr next_hop;
    uint16_t mtu;  // bytes of the whole network packet that reach the destination unfragmented
    uint16_t generation;
#if WEIR_CFG_ARP_CACHE
    uint16_t neighbour;  // cached by the link (neighbour_of_path); 0: not looked up yet, or none needed
#else
    uint8_t link_address[6];  // where the peer's last frame came from
#endif
};

struct weir_link {
    const char *name;
    uint8_t header_bytes;    // the most it puts before a packet
    uint8_t untagged_bytes;  // what it puts there where no VLAN is
    uint16_t pcap_linktype;  // LINKTYPE_ value of frames on it: 1 Ethernet, 101 raw IP
    // A frame arrived.
    void (*input)(struct weir_netif *netif, const struct weir_frame *frame);
    // Sends a packet whose network header is at out->head. `waiter` (may be NULL) goes on the neighbour's waiting list
    // when the answer is UNRESOLVED and is put back on the output list when the neighbour is known, or gets
    // link-failure news (see neighbour_failed in instance.h). Without waiter an unresolved packet is copied into a
    // bounded queue and reported DONE.
    enum weir_tx_verdict (*output)(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                   struct packet_out *out, struct sock *waiter);
    // An address of the interface was set, or the carrier came back: probe, announce. NULL: nobody can be told.
    void (*address_changed)(struct weir_netif *netif, struct weir_netif_address *a, enum weir_address_mode mode);
    // Joins or leaves a multicast group in the receive filter. NULL: the link has none.
    void (*multicast)(struct weir_netif *netif, struct weir_addr group, bool join);
    // The peer is alive: upper layers saw forward progress (RFC 4861's idea, used for ARP too). May be NULL.
    void (*confirm)(struct weir_netif *netif, struct path *path);
};

// Counts what befell an interface, where anything is counted.
#define NETIF_COUNT(netif, field) (WEIR_CFG_COUNTERS ? (void)(netif)->stats.field++ : (void)0)

static inline bool netif_open(const struct weir_netif *netif)  // whether it takes frames now
{
    return (netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}

// Offers a complete frame to the driver of an interface that is open; one that is full is open no more until
// weir_tx_ready.
static inline enum weir_tx_verdict netif_offer(struct weir_netif *netif, const struct weir_tx *tx)
{
    const enum weir_tx_verdict verdict = netif->driver->tx(netif, tx);
    if (verdict == WEIR_TX_FULL) {
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        NETIF_COUNT(netif, tx_full);
    } else {
        trace_frame(netif, "out", tx->length);
    }
    return verdict;
}

// Completes the slices and lengths of `out`, shows it to taps, hands it to the driver, counts. WEIR_TX_FULL sets
// WEIR_NETIF_TX_BLOCKED; while that is set nothing reaches the driver and the answer is WEIR_TX_FULL at once.
enum weir_tx_verdict netif_transmit(struct weir_netif *netif, struct packet_out *out);

// Hands a packet, at its network header, to its ethertype: built in, or registered. Counts what nobody wants.
void link_deliver(struct weir_netif *netif, uint16_t type, struct packet *packet);

// Expected from above (src/ip/route.c): whether a route leads through this neighbour.
bool ip_is_gateway(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address);

#if WEIR_CFG_IP6
// Likewise: a neighbour does not answer, or is a router no longer: routes through it come last, or go.
void ip_gateway_silent(struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
void ip_gateway_answers(struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
void ip_router_lost(struct weir *weir, const struct weir_netif *netif, struct weir_addr address);
// Joins or leaves the group that an address of the interface's is solicited by (nothing of IPv4's).
void ip_address_group(struct weir_netif *netif, struct weir_addr address, bool join);
// An address proved to be another host's, and was given up.
void ip_address_taken(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a);
#else
static inline void ip_gateway_silent(struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    (void)weir, (void)netif, (void)address;
}
static inline void ip_address_group(struct weir_netif *netif, struct weir_addr address, bool join)
{
    (void)netif, (void)address, (void)join;
}
static inline void ip_address_taken(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    (void)weir, (void)netif, (void)a;
}
#endif

// The interface with this index; NULL: none.
struct weir_netif *netif_by_index(struct weir *weir, uint8_t index);

// self_check.c: stops the program where a table of the link contradicts itself; after a poll, and at the end
#if WEIR_CFG_SELF_CHECK
void link_self_check(struct weir *weir);
void link_self_check_all(const struct weir *weir);  // nothing of an instance that was never polled
bool neighbours_sound(const struct weir *weir);
#else
static inline void link_self_check(struct weir *weir) { (void)weir; }
static inline void link_self_check_all(const struct weir *weir) { (void)weir; }
#endif

#endif
