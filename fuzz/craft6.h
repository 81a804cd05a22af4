// SPDX-License-Identifier: BSD-2-Clause
// IPv6 packets in the making, for fuzz/hostile6.c: addresses, options of Neighbour Discovery and extension headers come
// out of dictionaries of what means something, and of what lies just beside it.
#ifndef FUZZ_CRAFT6_H
#define FUZZ_CRAFT6_H

#include "base/checksum.h"
#include "fixture.h"
#include "fuzz.h"
#include "wire/mld.h"
#include "wire/nd.h"
#include "wire/tcp.h"
#include "wire/udp.h"

#define PAYLOAD_MAX 2600u
#define CHAIN_MAX 400u

struct draft {
    uint8_t source[16], destination[16], mac[6];
    uint8_t hop_limit, protocol, traffic_class;
    bool bad_sum, length_lies;
    uint8_t chain[CHAIN_MAX];  // extension headers; the last of them names `protocol`
    uint32_t chain_length;
    uint8_t first;  // protocol of what follows the IPv6 header
    uint8_t payload[PAYLOAD_MAX];
    uint32_t length;
};

// Beside these: addresses that the world knows (hostile6.c).
static const uint8_t places6[16][16] = {
    {0x20, 1, 0x0d, 0xb8, [15] = 2},              // the peer
    {0xfe, 0x80, [15] = 2},                       // its address of the link
    {0xfe, 0x80, [15] = 0xfe},                    // a router
    {0xfe, 0x80, [15] = 0xfd},                    // another
    {0x20, 1, 0x0d, 0xb8, [15] = 1},              // ours
    {0x20, 1, 0x0d, 0xb8, [15] = 3},              // another host on the link
    {0x20, 1, 0x0d, 0xb8, 0x99, 0x99, [15] = 7},  // one far away
    {0xff, 2, [15] = 1},                          // all nodes
    {0xff, 2, [15] = 2},                          // all routers
    {0xff, 2, [11] = 1, 0xff, [15] = 1},          // the group of ours
    {0xff, 2, [13] = 0xab, [15] = 0xcd},          // a group that was joined
    {0},                                          // none
    {[15] = 1},                                   // loopback
    {[10] = 0xff, 0xff, 10, 0, 0, 1},             // mapped
    {0x20, 1, 0x0d, 0xb8, [7] = 1, [15] = 7},     // of a prefix that may have been advertised
    {0xff, 5, [15] = 1},                          // of the site
};

static inline uint8_t pick8(struct bytes *in, const uint8_t *from, uint32_t count) { return from[take8(in) % count]; }

static inline void append(struct draft *d, const void *bytes, uint32_t length)
{
    length = min_u32(length, PAYLOAD_MAX - d->length);
    if (length)
        memcpy(d->payload + d->length, bytes, length);
    d->length += length;
}

static inline void append_zeros(struct draft *d, uint32_t length)
{
    static const uint8_t zeros[64];
    append(d, zeros, min_u32(length, sizeof zeros));
}

static inline void append_input(struct draft *d, struct bytes *in, uint32_t length)
{
    const uint8_t *bytes = take(in, &length);
    append(d, bytes, length);
}

static inline uint32_t lifetime_of(uint8_t choice)
{
    static const uint32_t lifetimes[8] = {0, 1, 10, 1800, 7200, 7201, 0x80000000, UINT32_MAX};
    return lifetimes[choice & 7];
}

// --- options of Neighbour Discovery ----------------------------------------------------------------------------------

static inline void option_head(struct draft *d, uint8_t type, uint8_t units)
{
    const uint8_t head[2] = {type, units};
    append(d, head, 2);
}

static inline void option_link(struct draft *d, uint8_t type, uint8_t how)
{
    static const uint8_t macs[4][6] = {
        {0x02, 0x50, 0x45, 0x45, 0x52, 0x02}, {0x02, 0x50, 0x45, 0x45, 0x52, 0x03}, {0x33, 0x33, [5] = 1}, {0}};
    option_head(d, type, 1);
    append(d, how & 4 ? FIXTURE_MAC : macs[how & 3], 6);
}

static inline void option_prefix(struct draft *d, struct bytes *in, uint8_t how)
{
    static const uint8_t bits[8] = {64, 64, 64, 0, 63, 65, 128, 200};
    uint8_t prefix[16] = {0x20, 1, 0x0d, 0xb8, 0, 0, 0, take8(in)}, numbers[14] = {0};
    const uint8_t choice = take8(in);
    if (how & 8)
        memcpy(prefix, places6[choice & 15], 16);
    numbers[0] = bits[how & 7];
    numbers[1] = (uint8_t)(choice & 0xc0 ? choice & 0xe0 : 0xc0);
    put32(numbers + 2, lifetime_of(choice));
    put32(numbers + 6, lifetime_of(choice >> 3));
    option_head(d, ND_PREFIX, 4);
    append(d, numbers, sizeof numbers);
    append(d, prefix, 16);
}

static inline void option_route(struct draft *d, struct bytes *in, uint8_t how)
{
    static const uint8_t bits[8] = {0, 1, 32, 48, 64, 65, 128, 129};
    const uint8_t choice = take8(in), units = 1 + how % 3;
    uint8_t body[22] = {bits[choice & 7], (uint8_t)(how << 3 & 0x18)};
    put32(body + 2, lifetime_of(choice >> 3));
    memcpy(body + 6, places6[choice >> 4], 16);
    option_head(d, ND_ROUTE, units);
    append(d, body, 8u * units - 2);
}

static inline void option_names(struct draft *d, uint8_t how)
{
    static const uint8_t names[22] = {3, 'l', 'a', 'b', 4, 't', 'e', 's', 't', 0, 63, 'a', 192, 12};
    const uint8_t units = 2 + (how & 1);
    uint8_t head[6] = {0};
    put32(head + 2, lifetime_of(how >> 1));
    option_head(d, ND_DNS_DOMAINS, units);
    append(d, head, 6);
    append(d, names + (how & 8 ? 4 : 0), 8u * units - 8);
}

static inline void option_words(struct draft *d, struct bytes *in, uint8_t type, uint8_t units)
{
    option_head(d, type, units);
    append_input(d, in, 8u * (units & 7) - (units & 7 ? 2 : 0));
}

static inline void option_mtu(struct draft *d, uint8_t how)
{
    static const uint32_t sizes[8] = {0, 1279, 1280, 1281, 1500, 1501, 9000, UINT32_MAX};
    uint8_t body[6] = {0};
    put32(body + 2, sizes[how & 7]);
    option_head(d, ND_MTU, 1);
    append(d, body, 6);
}

// One option, by a byte of the input and those after it. `nonce`: that of our last probe.
static inline void nd_option_draft(struct draft *d, struct bytes *in, const uint8_t nonce[6])
{
    const uint8_t what = take8(in), how = what >> 4;
    uint8_t head[6] = {0};
    switch (what & 15) {
    case 0:
    case 1: option_link(d, ND_SOURCE_LINK, how); break;
    case 2: option_link(d, ND_TARGET_LINK, how); break;
    case 3:
    case 4:
    case 5: option_prefix(d, in, how); break;
    case 6: option_mtu(d, how); break;
    case 7:
        option_head(d, ND_NONCE, 1);
        append(d, nonce, 6);
        break;
    case 8: option_route(d, in, how); break;
    case 9:
        put32(head + 2, lifetime_of(how));
        option_head(d, ND_DNS_SERVERS, how & 8 ? 4 : 3);
        append(d, head, 6);
        append(d, places6[0], 16);
        break;
    case 10: option_names(d, how); break;
    case 11: option_words(d, in, ND_PREF64, 2); break;
    case 12: option_words(d, in, take8(in), how); break;  // also of no length, and longer than there is
    case 13: option_words(d, in, ND_REDIRECTED, 1 + (how & 7)); break;
    case 14: option_words(d, in, ND_NONCE, 1 + (how & 1)); break;
    default: append_input(d, in, how); break;
    }
}

// --- extension headers -----------------------------------------------------------------------------------------------

static inline void chain_add(struct draft *d, uint8_t type, const uint8_t *bytes, uint32_t length)
{
    if (d->chain_length + length > CHAIN_MAX || length < 8)
        return;
    // The header before it names this one, and it the protocol.
    uint8_t *named = &d->first;
    for (uint32_t at = 0; at < d->chain_length;) {
        named = d->chain + at;
        const uint32_t bytes_of = *named == IP6_FRAGMENT ? 8 : 8u * (d->chain[at + 1] + 1u);
        at += bytes_of < 8 || at + bytes_of > d->chain_length ? d->chain_length - at : bytes_of;
    }
    *named = type;
    memcpy(d->chain + d->chain_length, bytes, length);
    d->chain[d->chain_length] = d->protocol;
    d->chain_length += length;
}

static inline void chain_options(struct draft *d, struct bytes *in, uint8_t type, uint8_t how)
{
    static const uint8_t known[8][14] = {{5, 2, 0, 0, 1, 0},    {1, 4, 0, 0, 0, 0},     {0x1e, 4, 1, 2, 3, 4},
                                         {0x5e, 4, 1, 2, 3, 4}, {0x9e, 4, 1, 2, 3, 4},  {0xde, 4, 1, 2, 3, 4},
                                         {0xc2, 4, 0, 1, 0, 0}, {0x1e, 200, 1, 2, 3, 4}};
    uint8_t header[64] = {0};
    uint32_t length = 8;
    memcpy(header + 2, known[how & 7], 6);
    if (how & 8) {  // more, as the input has it
        const uint8_t units = take8(in) % 7;
        uint32_t given = 8u * units;
        const uint8_t *bytes = take(in, &given);
        if (given)
            memcpy(header + 8, bytes, given);
        header[1] = units;
        length += 8u * units;
    }
    chain_add(d, type, header, length);
}

static inline void chain_draft(struct draft *d, struct bytes *in)
{
    const uint8_t what = take8(in), how = what >> 4;
    uint8_t header[24] = {0, 0, how, 1};
    switch (what & 7) {
    case 0:
    case 1: chain_options(d, in, IP6_HOP_BY_HOP, how); break;
    case 2:
    case 3: chain_options(d, in, IP6_DESTINATION, how); break;
    case 4:
        header[3] = how & 8 ? 1 : 0;
        header[1] = how & 4 ? 2 : 0;
        header[2] = how & 3;
        chain_add(d, IP6_ROUTING, header, header[1] ? 24 : 8);
        break;
    case 5:  // of one piece
        header[1] = 0;
        put16(header + 2, how & 8 ? take16(in) : 0);
        chain_add(d, IP6_FRAGMENT, header, 8);
        break;
    case 6: chain_add(d, how & 1 ? IP6_AUTHENTICATION : IP6_ESP, header, 8); break;
    // a length that lies
    default:
        header[1] = take8(in);
        chain_add(d, IP6_DESTINATION, header, 8);
        break;
    }
}

// --- the packet ------------------------------------------------------------------------------------------------------

static inline void sum_draft(struct draft *d)
{
    static const uint8_t at_of[256] = {[IP6_TCP] = 16, [IP6_UDP] = 6, [IP6_ICMP] = 2};
    const uint32_t at = at_of[d->protocol];
    if (!at || d->length < at + 2)
        return;
    put16(d->payload + at, 0);
    checksum_put(d->payload + at, checksum_add(ip6_pseudo_sum(d->source, d->destination, d->protocol, d->length),
                                               checksum_sum_portable(d->payload, d->length)));
    d->payload[at] ^= d->bad_sum;
}

// Ethernet, IPv6, and what is behind them, into a frame of exactly its length.
static inline void send_draft(struct fixture *f, const struct draft *d, const uint8_t *chain, uint32_t chain_length,
                              const uint8_t *payload, uint32_t length)
{
    const uint32_t rest = chain_length + length;
    uint8_t *frame = malloc(14 + IP6_BYTES + rest);
    CHECK(frame != NULL && rest <= UINT16_MAX);
    if (d->destination[0] == 0xff) {
        memcpy(frame, "\x33\x33", 2);
        memcpy(frame + 2, d->destination + 12, 4);
    } else {
        memcpy(frame, FIXTURE_MAC, 6);
    }
    memcpy(frame + 6, d->mac, 6);
    put16(frame + 12, 0x86dd);
    ip6_emit(frame + 14, &(struct ip6){.source = d->source,
                                       .destination = d->destination,
                                       .payload_length = (uint16_t)(rest - (d->length_lies && rest ? 1 : 0)),
                                       .traffic_class = d->traffic_class,
                                       .next_header = d->first,
                                       .hop_limit = d->hop_limit});
    if (chain_length)
        memcpy(frame + 14 + IP6_BYTES, chain, chain_length);
    if (length)
        memcpy(frame + 14 + IP6_BYTES + chain_length, payload, length);
    fixture_input(f, frame, 14 + IP6_BYTES + rest);
    free(frame);
}

#endif
