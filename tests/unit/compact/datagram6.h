// SPDX-License-Identifier: BSD-2-Clause
// IPv6 below udp_test.c: hosts, and the header before a datagram, either way.
#ifndef TESTS_COMPACT_DATAGRAM6_H
#define TESTS_COMPACT_DATAGRAM6_H

#include "weir/options.h"

#if !WEIR_CFG_IP4
#include "compact/peer6.h"

typedef const uint8_t *host;
#define SERVER server_address
#define PEER peer_address6
#define OTHER ((const uint8_t[16]){0x20, 1, 0xd, 0xb8, 7, [15] = 7})  // of another network
#define SUM_MAY_BE_NONE false                                         // RFC 8200 §8.1

static inline struct weir_addr host_address(host h) { return weir_addr_v6(h); }
static inline struct weir_addr bindable(void) { return weir_addr_any(); }
static inline void wrap_from(uint8_t *bytes, host source, uint32_t length)
{
    wrap_ip6(bytes, source, server_address, IP6_UDP, 64, length);
}
static inline bool wrapped_for(const uint8_t *frame, uint32_t length, host to)
{
    struct ip6 ip;
    return ip6_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, &ip) == IP6_OK &&
           ip.payload_length == length - HEADERS && ip.next_header == IP6_UDP && !memcmp(ip.source, SERVER, 16) &&
           !memcmp(ip.destination, to, 16);
}
static inline uint16_t datagram_sum(host peer, const uint8_t *udp, uint32_t told, uint32_t length)
{
    return checksum_add(ip6_pseudo_sum(peer, SERVER, IP6_UDP, told), checksum_sum_portable(udp, length));
}

#endif
#endif
