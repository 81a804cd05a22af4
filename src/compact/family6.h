// SPDX-License-Identifier: BSD-2-Clause
// What is IPv6's in the compact stack: addresses, and the state of their configuration (nd.c). There are two, that of
// the link and one out of a router's prefix, which are the interface's list; a peer is spoken to from the one that it
// spoke to.
#ifndef COMPACT_FAMILY6_H
#define COMPACT_FAMILY6_H

#include "base/checksum.h"
#include "weir/netif.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"  // the numbers of protocols
#include "wire/ip6.h"

#if !WEIR_CFG_IP4
#define IP_BYTES IP6_BYTES
#define IP_ADDRESS_BYTES IP6_ADDRESS_BYTES
#define ETHERTYPE_IP ETHERTYPE_IP6
#define NETIF_MTU_MIN IP6_MTU_MIN
#define MSS_DEFAULT 1220u  // RFC 9293 §3.7.1
#define UDP_SUM_OPTIONAL false
#define HOP_LIMIT 64u  // where no router says another

// The other end, as its packets say it: bytes in network order, only compared and copied.
struct peer {
    uint8_t address[IP6_ADDRESS_BYTES];
    uint8_t ports[4];  // its own, then ours
    uint8_t mac[6];
    uint16_t mss;   // bytes of payload a segment to it may carry
    uint8_t local;  // our end: an enum own; with it the address and the ports name a connection
};
// What IP knows of it.
static inline void peer_copy(struct peer *to, const struct peer *from)
{
    memcpy(to->address, from->address, IP6_ADDRESS_BYTES);
    to->local = from->local;
}
enum own { OWN_LINK, OWN_GLOBAL, OWN_COUNT };

// What an address is made of, and when what is next due.
struct nd_state {
    uint64_t due_us;               // no later than whatever is due next, and within 32 bits of now; 0: look
    uint64_t report_due_us;        // of our groups to multicast routers (RFC 9777); WEIR_NEVER: none
    uint64_t solicit_due_us;       // of routers; WEIR_NEVER: one has answered, or none is asked
    uint32_t solicit_interval_us;  // RFC 7559
    uint32_t secret[4];            // of identifiers (RFC 7217)
    uint8_t how;                   // enum weir_ip6; 0: no IPv6
    uint8_t hop_limit;
    uint8_t record;  // of the next report: whether it tells of groups that are new
#if WEIR_CFG_COMPACT_MLD1
    uint8_t mld1_told;              // whose groups the report that is under way has told: a bit for each of enum own
    uint64_t old_querier_until_us;  // version 1 is spoken
#endif
    struct weir_netif_address global;  // out of a router's prefix
};

#define IP6_GROUP_MAC 0x3333u  // how a link address of a group begins (RFC 2464 §7)
static inline bool address_is_none(const uint8_t *a)
{
    return !(native32(a) | native32(a + 4) | native32(a + 8) | native32(a + 12));
}
// From the end, where addresses differ.
static inline bool address_same(const uint8_t *a, const void *other)
{
    const uint8_t *b = other;
    return native32(a + 12) == native32(b + 12) && native32(a + 8) == native32(b + 8) &&
           native32(a + 4) == native32(b + 4) && native32(a) == native32(b);
}
static inline const struct weir_netif_address *own_address(const struct weir_netif *netif, uint32_t own)
{
    return own == OWN_LINK ? &netif->address : netif->address.next;
}
// The last four bytes of groups of the link, as they lie: of all hosts (ff02::1), and of those that an address is
// solicited by (ff02::1:ff00:0/104).
#define GROUP_ALL_NODES network32(1)
static inline uint32_t solicited_node(const struct weir_netif_address *a)
{
    return a->addr.words[3] | network32(0xff000000u);
}

// Whether it is, or may become, ours.
static inline bool address_live(const struct weir_netif_address *a)
{
    return a->state == WEIR_ADDRESS_PROBING || a->state == WEIR_ADDRESS_READY;
}
// Which of ours an address is, one that is ready; OWN_COUNT: none.
static inline uint32_t own_of(const struct weir_netif *netif, const uint8_t *address)
{
    uint32_t own = OWN_LINK;
    for (const struct weir_netif_address *a = &netif->address; a; a = a->next, own++)
        if (a->state == WEIR_ADDRESS_READY && address_same(address, a->addr.words))
            break;
    return own;
}

// What names a connection, as it lies in struct peer.
typedef struct peer_key {
    const uint8_t *address;
    uint32_t ports, local;
} peer_key;
static inline peer_key peer_key_of(const struct peer *peer)
{
    return (peer_key){peer->address, native32(peer->ports), peer->local};
}
static inline bool peer_is(const struct peer *peer, peer_key key)
{
    return native32(peer->ports) == key.ports && peer->local == key.local && address_same(peer->address, key.address);
}
static inline bool peer_same(const struct peer *a, const struct peer *b) { return peer_is(a, peer_key_of(b)); }
static inline struct weir_addr peer_address(const struct peer *peer)
{
    struct weir_addr address;
    memcpy(address.words, peer->address, sizeof address.words);
    return address;
}
// All that names a connection, mixed into a state block by block.
#define PEER_BLOCKS 2u
static inline void peer_mix(uint32_t v[4], uint32_t block, const struct weir_netif *netif, const struct peer *peer)
{
    const uint8_t *address = block ? (const uint8_t *)own_address(netif, peer->local)->addr.words : peer->address;
    for (uint32_t i = 0; i < 4; i++)
        v[i] ^= native32(address + 4 * i);
    v[block] ^= native32(peer->ports);
}

// What the shortcut asks of a header: whether it is one of TCP in a whole packet, with nothing behind it; bytes of the
// packet; whose it is; the sum of its addresses, and whether its own is right.
static inline bool plain_head(const uint8_t *ip) { return ip[0] >> 4 == 6 && ip[6] == IP6_TCP; }
static inline uint32_t plain_length(const uint8_t *ip) { return IP6_BYTES + get16(ip + 4); }
static inline peer_key plain_key(const struct weir_netif *netif, const uint8_t *ip)
{
    return (peer_key){ip + 8, native32(ip + IP6_BYTES), own_of(netif, ip + 24)};
}
static inline bool plain_to_us(const struct weir_netif *netif, const uint8_t *ip)
{
    return own_of(netif, ip + 24) != OWN_COUNT;
}
static inline uint64_t plain_addresses(const struct weir_port *port, const uint8_t *ip)
{
    return checksum_sum(port, ip + 8, 2 * IP6_ADDRESS_BYTES);
}
static inline bool plain_sum_good(const uint8_t *ip, uint64_t addresses) { return (void)ip, (void)addresses, true; }

// Our end of what is exchanged with a peer, and whether it may be spoken from.
static inline struct weir_addr local_address(const struct weir_netif *netif, const struct peer *peer)
{
    return own_address(netif, peer->local)->addr;
}
static inline bool local_ready(const struct weir_netif *netif, const struct peer *peer)
{
    return own_address(netif, peer->local)->state == WEIR_ADDRESS_READY;
}
// A listener hears both addresses, and is bound to `any` alone.
static inline bool local_bindable(const struct weir_netif *netif, struct weir_addr address)
{
    return (void)netif, (void)address, false;
}

#endif
#endif
