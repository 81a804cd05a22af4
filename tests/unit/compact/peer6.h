// SPDX-License-Identifier: BSD-2-Clause
// The peer's IPv6 (peer.h), and messages of neighbours and routers to the server.
#ifndef TESTS_COMPACT_PEER6_H
#define TESTS_COMPACT_PEER6_H

#include "compact/stations.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/nd.h"

#define SERVER_NUMBER 0  // it makes its own address
#define HEADERS (ETHERNET_BYTES + IP6_BYTES)
#define ALL_NODES ((const uint8_t[16]){0xff, 2, [15] = 1})

static uint8_t server_address[16];  // as settle found it
static const uint8_t peer_address6[16] = {0xfe, 0x80, [8] = 0x12, [15] = 2};

// A frame from the peer's station, to the server's or the group's, around a payload at bytes + HEADERS.
static inline uint32_t wrap_ip6(uint8_t *bytes, const uint8_t *source, const uint8_t *destination, uint8_t next,
                                uint8_t hops, uint32_t length)
{
    uint8_t mac[6] = {0x33, 0x33, destination[12], destination[13], destination[14], destination[15]};
    const struct ip6 ip = {.source = source,
                           .destination = destination,
                           .payload_length = (uint16_t)length,
                           .next_header = next,
                           .hop_limit = hops};
    const struct ethernet link = {
        .destination = ip6_is_multicast(destination) ? mac : server_mac, .source = peer_mac, .type = ETHERTYPE_IP6};
    ip6_emit(bytes + ETHERNET_BYTES, &ip);
    ethernet_emit(bytes + ETHERNET_BYTES, &link);
    return HEADERS + length;
}
// The same around a message of ICMPv6, whose sum it writes.
static inline uint32_t wrap_icmp6(uint8_t *bytes, const uint8_t *source, const uint8_t *destination, uint8_t hops,
                                  uint32_t length)
{
    uint8_t *icmp = bytes + HEADERS;
    put16(icmp + 2, 0);
    checksum_put(icmp + 2, checksum_add(ip6_pseudo_sum(source, destination, IP6_ICMP, length),
                                        checksum_sum_portable(icmp, length)));
    return wrap_ip6(bytes, source, destination, IP6_ICMP, hops, length);
}

static inline uint32_t wrap(uint8_t *bytes, uint8_t protocol, uint32_t length)
{
    return wrap_ip6(bytes, peer_address6, server_address, protocol, 9, length);
}

static inline void unwrap(const uint8_t *frame, uint32_t length, uint8_t protocol)
{
    struct ip6 ip;
    assert_int_equal(ip6_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, &ip), IP6_OK);
    assert_int_equal(ip.payload_length, length - HEADERS);
    assert_int_equal(ip.next_header, protocol);
    assert_int_equal(ip.hop_limit, 64);
    assert_memory_equal(ip.source, server_address, 16);
    assert_memory_equal(ip.destination, peer_address6, 16);
}

// In either direction.
static inline uint16_t transport_sum(uint8_t protocol, const uint8_t *packet, uint32_t length)
{
    return checksum_add(ip6_pseudo_sum(peer_address6, server_address, protocol, length),
                        checksum_sum_portable(packet, length));
}

// Whether the sums know of a bit of the frame: not of the traffic class, flow label and hop limit. Makes those of a
// damaged frame right again, with the old addresses.
static inline bool bit_is_summed(uint32_t bit)
{
    const uint32_t at = bit - 8 * ETHERNET_BYTES;
    return bit >= 8 * ETHERNET_BYTES && ((at >= 4 && at < 8) || at >= 32) && at / 8 != 7;
}
static inline void sums_mend(uint8_t *damaged, const uint8_t *bytes, uint32_t length)
{
    memcpy(damaged + ETHERNET_BYTES + 8, bytes + ETHERNET_BYTES + 8, 32);
    put16(damaged + HEADERS + 16, 0);
    checksum_put(damaged + HEADERS + 16, transport_sum(IP_TCP, damaged + HEADERS, length - HEADERS));
}

// A router's advertisement without a prefix: it is asked for no more.
static inline uint32_t make_advertisement(uint8_t *bytes, uint8_t hop_limit, uint32_t lifetime_s)
{
    memset(bytes + HEADERS, 0, 16);
    bytes[HEADERS] = ICMP6_ROUTER_ADVERTISEMENT;
    bytes[HEADERS + 4] = hop_limit;
    put16(bytes + HEADERS + 6, lifetime_s);
    return wrap_icmp6(bytes, peer_address6, ALL_NODES, 255, 16);
}

// Its address is ready when it asks for routers; one answers.
static inline void settle(struct serving *serving, const uint8_t *frames, uint32_t *count, uint64_t *now_us)
{
    uint8_t bytes[HEADERS + 16];
    uint64_t next;
    for (*count = 0; !*count || frames[HEADERS] != ICMP6_ROUTER_SOLICITATION;
         *now_us = next > *now_us ? next : *now_us) {
        *count = 0;  // the last frame is the one that is looked at
        next = serving_turn(serving, *now_us);
        assert_true(next != UINT64_MAX);
    }
    memcpy(server_address, frames + ETHERNET_BYTES + 8, 16);
    serving_input(serving, bytes, make_advertisement(bytes, 0, 1800));
    while (serving_turn(serving, *now_us) <= *now_us)
        *count = 0;
}

#endif
