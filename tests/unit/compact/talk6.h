// SPDX-License-Identifier: BSD-2-Clause
// A talk with a server over IPv6 (peer.h) from its first moment on: messages of neighbours and routers to it, and its
// own ones taken apart.
#ifndef TESTS_COMPACT_TALK6_H
#define TESTS_COMPACT_TALK6_H

#include "weir/options.h"

#if !WEIR_CFG_IP4
#include "compact/peer.h"
#include "wire/mld.h"

#define SECOND UINT64_C(1000000)
#define HOUR (3600 * SECOND)

static const uint8_t none[16], prefix_a[16] = {0x20, 1, 0xd, 0xb8, 0, 1}, prefix_b[16] = {0x20, 1, 0xd, 0xb8, 0, 2},
                               global_peer[16] = {0x20, 1, 0xd, 0xb8, 9, [15] = 9};

// The first time of a talk, when nothing has been said yet.
static inline void begin(struct talk *t)
{
    memset(t, 0, sizeof *t);
    t->now_us = 1000000;
    t->port = PEER_PORT;
    t->window = 8000;
    t->mss = MSS;
    t->serving = serving_open(server_mac, 0, SERVING_ECHO, tx, t, t->now_us);
    turn(t);
}

static inline void forget(struct talk *t) { t->count = t->seen = 0; }
static const struct weir_netif_address *own(const struct talk *t, bool global)
{
    return global ? t->serving->netif.address.next : &t->serving->netif.address;
}
static const uint8_t *own_bytes(const struct talk *t, bool global)
{
    return (const uint8_t *)own(t, global)->addr.words;
}
static inline void ready(const struct talk *t, bool global)
{
    assert_int_equal(own(t, global)->state, WEIR_ADDRESS_READY);
}

static inline void solicited(const uint8_t *address, uint8_t group[16]) { ip6_solicited_node(address, group); }

// The next frame sent is a message of ICMPv6, sound and of this type; NULL: none was sent.
static const uint8_t *message(struct talk *t, uint8_t type, struct ip6 *ip)
{
    if (!has_sent(t))
        return NULL;
    const uint8_t *frame = t->frames[t->seen];
    const uint32_t length = t->lengths[t->seen++] - ETHERNET_BYTES;
    struct ip6_chain chain;
    assert_int_equal(ip6_parse(frame + ETHERNET_BYTES, length, ip), IP6_OK);
    assert_int_equal(ip->payload_length, length - IP6_BYTES);
    ip6_chain_walk(frame + HEADERS, ip->payload_length, ip->next_header, &chain);
    assert_int_equal(chain.verdict, IP6_CHAIN_OK);
    assert_int_equal(chain.protocol, IP6_ICMP);
    const uint8_t *icmp = frame + HEADERS + chain.bytes;
    const uint32_t bytes = ip->payload_length - chain.bytes;
    assert_int_equal(
        checksum_add(ip6_pseudo_sum(ip->source, ip->destination, IP6_ICMP, bytes), checksum_sum_portable(icmp, bytes)),
        0xffff);
    assert_int_equal(icmp[0], type);
    if (ip6_is_multicast(ip->destination)) {
        assert_int_equal(get16(frame), 0x3333);
        assert_memory_equal(frame + 2, ip->destination + 12, 4);
    } else {
        assert_memory_equal(frame, peer_mac, 6);
    }
    assert_memory_equal(frame + 6, server_mac, 6);
    return icmp;
}

static inline void icmp_in(struct talk *t, uint8_t *bytes, const uint8_t *source, const uint8_t *destination,
                           uint8_t hops, uint32_t length)
{
    raw_input(t, bytes, wrap_icmp6(bytes, source, destination, hops, length));
    turn(t);
}

static inline void probe_in(struct talk *t, const uint8_t *target, const uint8_t *nonce)
{
    uint8_t bytes[200], group[16];
    solicited(target, group);
    const uint32_t length = nd_ns_emit(bytes + HEADERS, target, NULL, nonce);
    icmp_in(t, bytes, none, group, 255, length);
}

static inline void advertisement_in(struct talk *t, const uint8_t *target)
{
    uint8_t bytes[200];
    const uint32_t length = nd_na_emit(bytes + HEADERS, target, ND_OVERRIDE, peer_mac);
    icmp_in(t, bytes, peer_address6, ALL_NODES, 255, length);
}

struct prefix {
    const uint8_t *prefix;
    uint32_t valid_s, preferred_s;
    uint8_t bits, flags;
};
static inline uint32_t make_prefix(uint8_t *bytes, const struct prefix *said)
{
    uint8_t *option = bytes + HEADERS + 16;
    make_advertisement(bytes, 0, 1800);
    memset(option, 0, 32);
    option[0] = ND_PREFIX;
    option[1] = 4;
    option[2] = said->bits;
    option[3] = said->flags;
    put32(option + 4, said->valid_s);
    put32(option + 8, said->preferred_s);
    memcpy(option + 16, said->prefix, 16);
    return 48;
}
static inline void prefix_in(struct talk *t, const uint8_t *prefix, uint32_t valid_s, uint32_t preferred_s)
{
    uint8_t bytes[200];
    const struct prefix said = {prefix, valid_s, preferred_s, 64, 0xc0};
    const uint32_t length = make_prefix(bytes, &said);
    icmp_in(t, bytes, peer_address6, ALL_NODES, 255, length);
}

// With both addresses; nothing is under way.
static inline void begin_global(struct talk *t)
{
    begin(t);
    pass(t, 2 * SECOND);
    prefix_in(t, prefix_a, 86400, 14400);
    pass(t, 2 * SECOND);
    ready(t, false);
    ready(t, true);
    forget(t);
}

#endif
#endif
