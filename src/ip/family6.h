// SPDX-License-Identifier: BSD-2-Clause
// IPv6's row (family.h).
#ifndef IP_FAMILY6_H
#define IP_FAMILY6_H

#include "ip/family.h"

#if WEIR_CFG_IP6
#include "link/nd.h"
#include "wire/ip6.h"

enum weir_tx_verdict ip6_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter);

static inline uint16_t ip6_family_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                                      uint32_t length)
{
    const struct weir_addr from = weir_addr_with_zone(source, 0), to = weir_addr_with_zone(destination, 0);
    return ip6_pseudo_sum((const uint8_t *)from.words, (const uint8_t *)to.words, protocol, length);
}
static inline void ip6_group_mac(struct weir_addr group, uint8_t mac[6])  // RFC 2464 §7
{
    put16(mac, 0x3333);
    put32(mac + 2, weir_addr_word(group, 3));
}

// Version and both addresses.
static inline void ip6_head_mask(uint8_t *mask)
{
    memset(mask, 0, 8);
    mask[0] = 0xf0;
    memset(mask + 8, 0xff, 2 * IP6_ADDRESS_BYTES);
}
static inline uint32_t ip6_source_low(const uint8_t *header) { return header[23]; }
// Without extension headers.
static inline bool ip6_whole(const uint8_t *header, uint32_t room)
{
    const uint32_t payload = get16(header + 4), next = header[6];
    return payload && payload + IP6_BYTES <= room && (next == IP6_TCP || next == IP6_UDP);
}
static inline void ip6_read(const uint8_t *header, struct packet *packet)
{
    packet->length = get16(header + 4);
    packet->protocol = header[6];
    packet->ttl = header[7];
    packet->tos = (uint8_t)(get16(header) >> 4);
}
static inline uint8_t ip6_hop_limit(const struct weir_netif *netif, uint8_t ttl)
{
    return ttl != IP_TTL_UNASKED ? ttl : netif->ip6.hop_limit ? netif->ip6.hop_limit : IP_TTL_DEFAULT;
}
static inline uint32_t ip6_fixed_sum(const uint8_t *header) { return (void)header, 0; }
static inline void ip6_fit(const struct weir_netif *netif, uint8_t *header, struct ip_params params, uint32_t length)
{
    put32(header, 6u << 28 | (uint32_t)params.tos << 20 | params.flow_label);
    put16(header + 4, length - IP6_BYTES);
    header[7] = ip6_hop_limit(netif, params.ttl);
}

static inline void ip6_reassembled(uint8_t *header, uint32_t header_length, uint32_t length, uint8_t tos)
{
    (void)header_length;
    put32(header, (get32(header) & 0xf00fffffu) | (uint32_t)tos << 20);
    put16(header + 4, length - IP6_BYTES);
}

// The row. Smallest MTU: RFC 8200 §5; default MSS: RFC 9293 §3.7.1.
#define IP6_FAMILY_ROW \
    { \
        .ethertype = ETHERTYPE_IP6, .header_bytes = IP6_BYTES, .head_words = 8, .mtu_min = 1280, .mss_default = 1220, \
        .transmit = ip6_output, .pseudo_sum = ip6_family_sum, .neighbour_ask = nd_ask, .group_mac = ip6_group_mac, \
        .head_mask = ip6_head_mask, .fixed_sum = ip6_fixed_sum, .reassembled = ip6_reassembled, \
    }
#endif

#endif
