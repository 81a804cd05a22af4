// SPDX-License-Identifier: BSD-2-Clause
// What IPv6's files of src/ip share among themselves.
#ifndef IP_IP6_H
#define IP_IP6_H

#include "ip/internal.h"

#if WEIR_CFG_IP6
#include "wire/nd.h"

// When a lifetime that a router named in seconds ends (RFC 4861 §4.6.2: all ones, never).
static inline uint64_t ip6_until_us(const struct weir *weir, uint32_t lifetime_s)
{
    return lifetime_s == UINT32_MAX ? WEIR_NEVER : weir->now_us + (uint64_t)lifetime_s * 1000000u;
}
static inline struct weir_addr ip6_link_group(uint32_t low)  // ff02::low
{
    const struct weir_addr group = {{weir_addr_word_of(0xff020000u), 0, 0, weir_addr_word_of(low)}};
    return group;
}
static inline struct weir_addr ip6_all_nodes(void) { return ip6_link_group(1); }
static inline struct weir_addr ip6_all_routers(void) { return ip6_link_group(2); }

// Writes the network header in front of out->head, with a router alert's before it where `ip` wants that, and hands the
// packet to the link. The path is valid. `next_header`: what begins at out->head.
enum weir_tx_verdict ip6_transmit(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                  uint8_t next_header, struct sock *waiter);
// Sends what is in `out` as a fragment of a datagram; id: of 16 bits, another for each datagram to the same
// destination.
enum weir_tx_verdict ip6_piece(struct weir *weir, struct path *path, const struct ip_out *ip, uint32_t id,
                               uint32_t offset, bool more, struct packet_out *out, struct sock *waiter);

// Writes a message's checksum, which covers its addresses too.
void icmp6_sum_put(const struct weir *weir, const struct ip_out *ip, uint8_t *message, uint32_t length);
// What is said on the link itself comes from the link-local address; there is none: `any`.
struct weir_addr icmp6_link_source(const struct weir_netif *netif);
// Sends a message to a group of the link, for which no way has to be found.
void icmp6_link_send(struct weir *weir, struct weir_netif *netif, const struct ip_out *ip, const uint8_t *message,
                     uint32_t length);
// Parameter Problem (RFC 4443 §3.4) about a packet at any of its headers; pointer: from the network header on.
// `multicast`: also about one that went to a group.
void icmp6_parameter_send(struct weir *weir, const struct packet *packet, uint8_t code, uint32_t pointer,
                          bool multicast);
void icmp6_error_input(struct weir *weir, struct packet *packet);  // at the ICMPv6 header, checksum verified

// At an ICMPv6 header, checksum verified: of neighbour discovery, of multicast listener discovery.
void nd_input(struct weir *weir, struct packet *packet);
void mld_input(struct weir *weir, struct packet *packet);
#endif

#endif
