// SPDX-License-Identifier: BSD-2-Clause
// What the files of src/ip share among themselves.
#ifndef IP_INTERNAL_H
#define IP_INTERNAL_H

#include "instance.h"
#include "ip/icmp.h"
#include "link/address.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"

#define IP4_ALL_HOSTS 0xe0000001u  // 224.0.0.1
#define IP4_TOS_CONTROL 0xc0u      // internetwork control, for ICMP errors (RFC 1812 §4.3.2.5) and IGMP
#define IP4_ROUTER_ALERT_BYTES 4u  // RFC 2113
#define IP4_PACKET_MAX 65535u

// Whether anything of ours speaks first and so has to look for a way; a server only answers, the way the question came.
#define IP_SPEAKS_FIRST (WEIR_CFG_ARP_CACHE || WEIR_CFG_TCP_CONNECT || WEIR_CFG_UDP)

// Why a piece leaves as it does: the identification and fragment fields of its header.
struct ip4_piece {
    uint16_t id, offset;  // offset: bytes, a multiple of 8
    uint8_t flags;        // enum ip4_flag
};
#if WEIR_CFG_IP4
// Writes the network header in front of out->head and hands the packet to the link. The path is valid.
enum weir_tx_verdict ip4_transmit(struct path *path, const struct ip_out *ip, const struct ip4_piece *piece,
                                  struct packet_out *out, struct sock *waiter);
#else
static inline enum weir_tx_verdict ip4_transmit(struct path *path, const struct ip_out *ip,
                                                const struct ip4_piece *piece, struct packet_out *out,
                                                struct sock *waiter)
{
    return (void)path, (void)ip, (void)piece, (void)out, (void)waiter, WEIR_TX_DONE;
}
#endif
#if WEIR_CFG_IP6
enum weir_tx_verdict ip6_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter);
enum weir_tx_verdict ip6_piece(struct weir *weir, struct path *path, const struct ip_out *ip, uint32_t id,
                               uint32_t offset, bool more, struct packet_out *out, struct sock *waiter);
// The same for both families; a packet that is whole has no offset, and no more.
static inline enum weir_tx_verdict ip_piece(struct weir *weir, struct path *path, const struct ip_out *ip,
                                            const struct ip4_piece *piece, struct packet_out *out, struct sock *waiter)
{
    if (weir_addr_is_v4(ip->destination))
        return ip4_transmit(path, ip, piece, out, waiter);
    const bool more = piece->flags & IP4_MORE_FRAGMENTS;
    return piece->offset || more ? ip6_piece(weir, path, ip, piece->id, piece->offset, more, out, waiter)
                                 : ip6_output(weir, path, ip, out, waiter);
}
// Of a fragment header of its own.
static inline uint32_t ip_piece_bytes(struct weir_addr destination) { return weir_addr_is_v4(destination) ? 0 : 8; }
#else
static inline enum weir_tx_verdict ip_piece(struct weir *weir, struct path *path, const struct ip_out *ip,
                                            const struct ip4_piece *piece, struct packet_out *out, struct sock *waiter)
{
    return (void)weir, ip4_transmit(path, ip, piece, out, waiter);
}
static inline uint32_t ip_piece_bytes(struct weir_addr destination) { return (void)destination, 0; }
#endif
// An identification for a packet that may be fragmented (RFC 6864: others need none).
uint16_t ip4_id(struct weir *weir, const struct ip_out *ip);
// A datagram that was put together, at what follows the network header: of IPv6 that may be more extension headers.
#if WEIR_CFG_IP6
void fragment_deliver(struct weir *weir, struct packet *packet);
#else
#define fragment_deliver ip_deliver
#endif
// Hands a whole packet, at its transport header, to raw sockets and its protocol.
void ip_deliver(struct weir *weir, struct packet *packet);
// Tells the protocol of a packet of ours of an error about it, and raw sockets.
static inline void ip_error_deliver(struct weir *weir, uint8_t number, const struct ip_error *error)
{
    for (const struct ip_protocol *protocol = weir->protocols; protocol->number; protocol++)
        if (protocol->number == number && protocol->error)
            protocol->error(weir, error);
    raw_error(weir, number, error);
}

// µs until `due_ms` of the instance's millisecond clock; 0: it has come.
static inline uint64_t ip_wait_us(const struct weir *weir, uint32_t due_ms)
{
    return seq_le(due_ms, weir->now_ms) ? 0 : (uint64_t)(due_ms - weir->now_ms) * 1000;
}
static inline uint32_t ip4_prefix_mask(uint8_t prefix_length)
{
    return prefix_length ? 0xffffffffu << (32 - prefix_length) : 0;
}
#if WEIR_CFG_IP4
// The directed broadcast of a subnet of the interface; prefixes of 31 and 32 bits have none (RFC 3021).
bool ip_netif_broadcast(const struct weir_netif *netif, struct weir_addr address);
#else
static inline bool ip_netif_broadcast(const struct weir_netif *netif, struct weir_addr address)
{
    return (void)netif, (void)address, false;
}
#endif
static inline bool ip_netif_loopback(const struct weir_netif *netif)
{
    return WEIR_CFG_LOOPBACK && netif->capabilities & WEIR_NETIF_LOOPBACK;
}

int outbox_init(struct weir *weir);

#if WEIR_CFG_FRAGMENTS
int fragment_init(struct weir *weir);
size_t fragment_bytes(void);
void fragment_free(struct weir *weir);
// A fragment, the packet behind its network header (of IPv6: behind its fragment header, which network_length leaves
// out).
void fragment_input(struct weir *weir, struct packet *packet, const struct fragment *fragment);
uint64_t fragment_poll(struct weir *weir, uint64_t now_us);
#else
static inline size_t fragment_bytes(void) { return 0; }
static inline int fragment_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void fragment_free(struct weir *weir) { (void)weir; }
static inline void fragment_input(struct weir *weir, struct packet *packet, const struct fragment *fragment)
{
    (void)packet, (void)fragment;
    count(weir, WEIR_COUNT_FRAGMENT_LIMIT);
}
static inline uint64_t fragment_poll(struct weir *weir, uint64_t now_us)
{
    (void)weir, (void)now_us;
    return WEIR_NEVER;
}
#endif

#if WEIR_CFG_ICMP_ERRORS
int icmp_limit_init(struct weir *weir);
size_t icmp_limit_bytes(void);
void icmp_limit_free(struct weir *weir);
// as icmp_limit_take, at the price of an echo reply
bool icmp_limit_take_echo(struct weir *weir, struct weir_addr destination);
int pmtu_init(struct weir *weir);
size_t pmtu_bytes(void);
void pmtu_free(struct weir *weir);
uint64_t pmtu_poll(struct weir *weir, uint64_t now_us);
#else
static inline size_t icmp_limit_bytes(void) { return 0; }
static inline int icmp_limit_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void icmp_limit_free(struct weir *weir) { (void)weir; }
static inline bool icmp_limit_take_echo(struct weir *weir, struct weir_addr destination)
{
    (void)weir, (void)destination;
    return true;
}
static inline size_t pmtu_bytes(void) { return 0; }
static inline int pmtu_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void pmtu_free(struct weir *weir) { (void)weir; }
static inline uint64_t pmtu_poll(struct weir *weir, uint64_t now_us)
{
    (void)weir, (void)now_us;
    return WEIR_NEVER;
}
#endif

#if IP_GROUPS
int group_init(struct weir *weir);
size_t group_bytes(void);
void group_free(struct weir *weir);
uint64_t group_poll(struct weir *weir, uint64_t now_us);
void group_netif_changed(struct weir *weir, struct weir_netif *netif);
void group_netif_removed(struct weir *weir, struct weir_netif *netif);
#else
static inline size_t group_bytes(void) { return 0; }
static inline int group_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void group_free(struct weir *weir) { (void)weir; }
static inline uint64_t group_poll(struct weir *weir, uint64_t now_us)
{
    (void)weir, (void)now_us;
    return WEIR_NEVER;
}
static inline void group_netif_changed(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
static inline void group_netif_removed(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
#endif

#if WEIR_CFG_IP6
static inline bool route_advertised(const struct route *route) { return route->advertised; }
#else
static inline bool route_advertised(const struct route *route) { return (void)route, false; }
#endif

#endif
