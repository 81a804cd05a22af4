// SPDX-License-Identifier: BSD-2-Clause
// What the files of src/ip share among themselves.
#ifndef IP_IP4_H
#define IP_IP4_H

#include "instance.h"
#include "link/address.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"

#define IP4_TTL_DEFAULT 64u
#define IP4_ALL_HOSTS 0xe0000001u  // 224.0.0.1
#define IP4_TOS_CONTROL 0xc0u      // internetwork control, for ICMP errors (RFC 1812 §4.3.2.5) and IGMP
#define IP4_ROUTER_ALERT_BYTES 4u  // RFC 2113
#define IP4_PACKET_MAX 65535u

// Whether anything of ours speaks first and so has to look for a way; a server only answers, the way the question came.
#define IP4_SPEAKS_FIRST (WEIR_CFG_ARP_CACHE || WEIR_CFG_TCP_CONNECT || WEIR_CFG_UDP)

// Why a piece leaves as it does: the identification and fragment fields of its header.
struct ip4_piece {
    uint16_t id, offset;  // offset: bytes, a multiple of 8
    uint8_t flags;        // enum ip4_flag
};
// Writes the network header in front of out->head and hands the packet to the link. The path is valid.
enum weir_tx_verdict ip4_transmit(struct path *path, const struct ip_out *ip, const struct ip4_piece *piece, struct packet_out *out,
                                  struct sock *waiter);
// An identification for a packet that may be fragmented (RFC 6864: others need none).
uint16_t ip4_id(struct weir *weir, const struct ip_out *ip);
// Hands a whole packet, at its transport header, to raw sockets and its protocol.
void ip4_deliver(struct weir *weir, struct packet *packet);
// Cached paths are looked up anew.
void ip4_paths_changed(struct weir *weir);

// µs until `due_ms` of the instance's millisecond clock; 0: it has come.
static inline uint64_t ip4_wait_us(const struct weir *weir, uint32_t due_ms)
{
    return seq_le(due_ms, weir->now_ms) ? 0 : (uint64_t)(due_ms - weir->now_ms) * 1000;
}
static inline uint32_t ip4_prefix_mask(uint8_t prefix_length) { return prefix_length ? 0xffffffffu << (32 - prefix_length) : 0; }
// The directed broadcast of a subnet of the interface; prefixes of 31 and 32 bits have none (RFC 3021).
bool ip4_netif_broadcast(const struct weir_netif *netif, uint32_t address);
static inline bool ip4_netif_loopback(const struct weir_netif *netif)
{
    return WEIR_CFG_LOOPBACK && netif->capabilities & WEIR_NETIF_LOOPBACK;
}

int outbox_init(struct weir *weir);

#if WEIR_CFG_FRAGMENTS
int fragment_init(struct weir *weir);
size_t fragment_bytes(void);
void fragment_free(struct weir *weir);
void fragment_input(struct weir *weir, struct packet *packet, const struct ip4 *header);  // packet behind the network header
uint64_t fragment_poll(struct weir *weir, uint64_t now_us);
#else
static inline size_t fragment_bytes(void) { return 0; }
static inline int fragment_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void fragment_free(struct weir *weir) { (void)weir; }
static inline void fragment_input(struct weir *weir, struct packet *packet, const struct ip4 *header)
{
    (void)packet, (void)header;
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
bool icmp_limit_take_echo(struct weir *weir, struct weir_addr destination);  // as icmp_limit_take, at the price of an echo reply
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

#if WEIR_CFG_IGMP
int igmp_init(struct weir *weir);
size_t igmp_bytes(void);
void igmp_free(struct weir *weir);
uint64_t igmp_poll(struct weir *weir, uint64_t now_us);
void igmp_netif_changed(struct weir *weir, struct weir_netif *netif);
void igmp_netif_removed(struct weir *weir, struct weir_netif *netif);
#else
static inline size_t igmp_bytes(void) { return 0; }
static inline int igmp_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void igmp_free(struct weir *weir) { (void)weir; }
static inline uint64_t igmp_poll(struct weir *weir, uint64_t now_us)
{
    (void)weir, (void)now_us;
    return WEIR_NEVER;
}
static inline void igmp_netif_changed(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
static inline void igmp_netif_removed(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
#endif

#endif
