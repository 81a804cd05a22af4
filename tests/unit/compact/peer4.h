// SPDX-License-Identifier: BSD-2-Clause
// The peer's IPv4 (peer.h).
#ifndef TESTS_COMPACT_PEER4_H
#define TESTS_COMPACT_PEER4_H

#include "compact/stations.h"
#include "wire/ip4.h"

#define SERVER 0x0a000001u
#define PEER 0x0a000002u
#define SERVER_NUMBER SERVER
#define HEADERS (ETHERNET_BYTES + IP4_BYTES)

static inline void settle(struct serving *serving, const uint8_t *frames, const uint32_t *count, uint64_t *now_us)
{
    (void)serving, (void)frames, (void)count, (void)now_us;
}

static inline uint32_t wrap(uint8_t *bytes, uint8_t protocol, uint32_t length)
{
    const struct ip4 ip = {.source = PEER,
                           .destination = SERVER,
                           .total_length = (uint16_t)(IP4_BYTES + length),
                           .ttl = 9,
                           .protocol = protocol};
    const struct ethernet link = {.destination = server_mac, .source = peer_mac, .type = ETHERTYPE_IP4};
    ip4_emit(bytes + ETHERNET_BYTES, &ip);
    ethernet_emit(bytes + ETHERNET_BYTES, &link);
    return HEADERS + length;
}

static inline void unwrap(const uint8_t *frame, uint32_t length, uint8_t protocol)
{
    struct ip4 ip;
    assert_int_equal(ip4_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, false, &ip), IP4_OK);
    assert_int_equal(ip.total_length, length - ETHERNET_BYTES);
    assert_int_equal(ip.protocol, protocol);
    assert_int_equal(ip.source, SERVER);
    assert_int_equal(ip.destination, PEER);
}

// In either direction.
static inline uint16_t transport_sum(uint8_t protocol, const uint8_t *packet, uint32_t length)
{
    return checksum_add(ip4_pseudo_sum(PEER, SERVER, protocol, length), checksum_sum_portable(packet, length));
}

// Whether the sums know of a bit of the frame. Makes those of a damaged frame right again, with the old addresses.
static inline bool bit_is_summed(uint32_t bit) { return bit >= 8 * ETHERNET_BYTES; }
static inline void sums_mend(uint8_t *damaged, const uint8_t *bytes, uint32_t length)
{
    put16(damaged + 24, 0);
    checksum_put(damaged + 24, checksum_sum_portable(damaged + ETHERNET_BYTES, IP4_BYTES));
    memcpy(damaged + 26, bytes + 26, 8);
    put16(damaged + HEADERS + 16, 0);
    checksum_put(damaged + HEADERS + 16, transport_sum(IP_TCP, damaged + HEADERS, length - HEADERS));
}

#endif
