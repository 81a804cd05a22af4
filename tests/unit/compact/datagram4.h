// SPDX-License-Identifier: BSD-2-Clause
// IPv4 below udp_test.c: hosts, and the header before a datagram, either way.
#ifndef TESTS_COMPACT_DATAGRAM4_H
#define TESTS_COMPACT_DATAGRAM4_H

#include "compact/peer4.h"

typedef uint32_t host;
#define OTHER 0xc0a80107u  // of another network: its gateway's link address comes with it
#define SUM_MAY_BE_NONE true

static inline struct weir_addr host_address(host h) { return weir_addr_v4(h); }
static inline struct weir_addr bindable(void) { return host_address(SERVER); }
static inline void wrap_from(uint8_t *bytes, host source, uint32_t length)
{
    wrap(bytes, IP_UDP, length);
    put32(bytes + ETHERNET_BYTES + 12, source);
    put16(bytes + ETHERNET_BYTES + 10, 0);
    checksum_put(bytes + ETHERNET_BYTES + 10, checksum_sum_portable(bytes + ETHERNET_BYTES, IP4_BYTES));
}
static inline bool wrapped_for(const uint8_t *frame, uint32_t length, host to)
{
    struct ip4 ip;
    return ip4_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, false, &ip) == IP4_OK &&
           ip.total_length == length - ETHERNET_BYTES && ip.protocol == IP_UDP && ip.source == SERVER &&
           ip.destination == to;
}
static inline uint16_t datagram_sum(host peer, const uint8_t *udp, uint32_t told, uint32_t length)
{
    return checksum_add(ip4_pseudo_sum(peer, SERVER, IP_UDP, told), checksum_sum_portable(udp, length));
}

#endif
