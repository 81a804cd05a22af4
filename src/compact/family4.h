// SPDX-License-Identifier: BSD-2-Clause
// What is IPv4's in the compact stack: addresses, and what else family6.h has in its way.
#ifndef COMPACT_FAMILY4_H
#define COMPACT_FAMILY4_H

#include "base/checksum.h"
#include "weir/netif.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"

#if WEIR_CFG_IP4
#define IP_BYTES IP4_BYTES
#define IP_ADDRESS_BYTES 4u
#define ETHERTYPE_IP ETHERTYPE_IP4
#define NETIF_MTU_MIN 68u  // RFC 791: every module must forward so much
#define MSS_DEFAULT 536u   // RFC 9293 §3.7.1
#define UDP_SUM_OPTIONAL true

// The other end, as its packets say it: bytes in network order, only compared and copied.
struct peer {
    uint8_t address[4];
    uint8_t ports[4];  // its own, then ours; these eight bytes name a connection
    uint8_t mac[6];
    uint16_t mss;  // bytes of payload a segment to it may carry
};
static inline bool peer_same(const struct peer *a, const struct peer *b)
{
    return native32(a->address) == native32(b->address) && native32(a->ports) == native32(b->ports);
}
// What IP knows of it.
static inline void peer_copy(struct peer *to, const struct peer *from) { memcpy(to->address, from->address, 4); }

// What names a connection, as it lies in struct peer.
typedef struct peer_key {
    uint32_t address, ports;
} peer_key;
static inline peer_key peer_key_of(const struct peer *peer)
{
    return (peer_key){native32(peer->address), native32(peer->ports)};
}
static inline bool peer_is(const struct peer *peer, peer_key key)
{
    return native32(peer->address) == key.address && native32(peer->ports) == key.ports;
}
// All that names a connection, mixed into a state block by block.
#define PEER_BLOCKS 1u
static inline void peer_mix(uint32_t v[4], uint32_t block, const struct weir_netif *netif, const struct peer *peer)
{
    (void)block;
    v[2] ^= weir_addr_to_v4(netif->address.addr);
    v[0] ^= native32(peer->address);
    v[1] ^= native32(peer->ports);
}
static inline struct weir_addr peer_address(const struct peer *peer) { return weir_addr_v4(get32(peer->address)); }

// What the shortcut asks of a header: whether it is one of TCP in a whole packet, with nothing behind it; bytes of the
// packet; whose it is; the sum of its addresses, and whether its own is right.
static inline bool plain_head(const uint8_t *ip)
{
    return ip[0] == 0x45 && !(get16(ip + 6) & 0x3fff) && ip[9] == IP_TCP;
}
static inline uint32_t plain_length(const uint8_t *ip) { return get16(ip + 2); }
static inline bool plain_to_us(const struct weir_netif *netif, const uint8_t *ip)
{
    return get32(ip + 16) == weir_addr_to_v4(netif->address.addr);
}
static inline peer_key plain_key(const struct weir_netif *netif, const uint8_t *ip)
{
    return (void)netif, (peer_key){native32(ip + 12), native32(ip + IP_BYTES)};
}
static inline uint64_t plain_addresses(const struct weir_port *port, const uint8_t *ip)
{
    return (void)port, (uint64_t)native32(ip + 12) + native32(ip + 16);
}
static inline bool plain_sum_good(const uint8_t *ip, uint64_t addresses)
{
    return checksum_fold_words(addresses + native32(ip) + native32(ip + 4) + native32(ip + 8)) == 0xffff;
}

// Our end of what is exchanged with a peer, and whether it may be spoken from.
static inline struct weir_addr local_address(const struct weir_netif *netif, const struct peer *peer)
{
    return (void)peer, netif->address.addr;
}
static inline bool local_ready(const struct weir_netif *netif, const struct peer *peer)
{
    return (void)netif, (void)peer, true;
}
// Whether a listener may be bound to an address that is not `any`.
static inline bool local_bindable(const struct weir_netif *netif, struct weir_addr address)
{
    return netif && weir_addr_equal(address, netif->address.addr);
}

#endif
#endif
