// SPDX-License-Identifier: BSD-2-Clause
// Addresses. Outside src/ip, src/wire and api/ nothing looks inside a weir_addr: use the functions below. Integers are
// in host byte order.
//
// Without WEIR_CFG_IP6 an address is of IPv4, and 4 bytes. With it, it is 16 bytes as they are on the wire, and an IPv4
// address is the one that is mapped into them (RFC 4291 §2.5.5.2); without WEIR_CFG_IP4 that is an address which nobody
// has and nothing is sent to: what would use one answers WEIR_NOT_SUPPORTED. The zone of an IPv6 link-local unicast
// address (RFC 4007 §11: the index of its interface) lies in its second 16 bits, which are 0 on the wire: it is part of
// the address wherever addresses are compared, and never leaves the host. A multicast address has none: the interface
// stands beside it.
#ifndef WEIR_ADDR_H
#define WEIR_ADDR_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir_addr {
#if WEIR_CFG_IP6
    uint32_t words[4];  // in network byte order
#else
    uint32_t v4;  // 0xc0a80001 is 192.168.0.1
#endif
};

// One end of a conversation. Port 0 means "any" when binding, and is invalid as a destination.
struct weir_endpoint {
    struct weir_addr addr;
    uint16_t port;
};

#if WEIR_CFG_IP6
static inline uint32_t weir_addr_word(struct weir_addr a, unsigned i)
{
    const uint8_t *const b = (const uint8_t *)&a.words[i];
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}
static inline uint32_t weir_addr_word_of(uint32_t host_order)
{
    uint32_t word = 0;
    uint8_t *const b = (uint8_t *)&word;
    b[0] = (uint8_t)(host_order >> 24);
    b[1] = (uint8_t)(host_order >> 16);
    b[2] = (uint8_t)(host_order >> 8);
    b[3] = (uint8_t)host_order;
    return word;
}
// No address: bound to none, of both families; and :: of IPv6. (0.0.0.0, which is of IPv4 alone, is weir_addr_v4(0).)
static inline struct weir_addr weir_addr_any(void)
{
    const struct weir_addr any = {{0, 0, 0, 0}};
    return any;
}
static inline struct weir_addr weir_addr_v4(uint32_t host_order)
{
    const struct weir_addr addr = {{0, 0, weir_addr_word_of(0xffff), weir_addr_word_of(host_order)}};
    return addr;
}
// The other way, for protocols that know IPv4 addresses alone; 0 for `any`.
static inline uint32_t weir_addr_to_v4(struct weir_addr a) { return weir_addr_word(a, 3); }
// Eight bytes at once, which is how a machine of 64 bits has them in its registers.
static inline uint64_t weir_addr_half(const struct weir_addr *a, unsigned i)
{
    uint64_t half;
    memcpy(&half, &a->words[2 * i], sizeof half);
    return half;
}
// Whether it is an IPv4 address, built or not.
static inline bool weir_addr_is_mapped(struct weir_addr a)
{
    return !weir_addr_half(&a, 0) && a.words[2] == weir_addr_word_of(0xffff);
}
#if WEIR_CFG_IP4
static inline bool weir_addr_is_v4(struct weir_addr a) { return weir_addr_is_mapped(a); }
#else
static inline bool weir_addr_is_v4(struct weir_addr a) { return (void)a, false; }
#endif
// From 16 bytes as on the wire. (The zone of a link-local address is 0.)
struct weir_addr weir_addr_v6(const uint8_t bytes[16]);
static inline bool weir_addr_is_link_local6(struct weir_addr a) { return weir_addr_word(a, 0) >> 22 == 0xfe80u >> 6; }
// 0: none is given, or it has none.
static inline uint8_t weir_addr_zone(struct weir_addr a)
{
    return (uint8_t)(weir_addr_is_link_local6(a) ? weir_addr_word(a, 0) & 0xffffu : 0);
}
// Changes nothing but link-local addresses of IPv6.
struct weir_addr weir_addr_with_zone(struct weir_addr a, uint8_t netif_index);
// To 16 bytes as on the wire: without its zone.
void weir_addr_to_v6(struct weir_addr a, uint8_t bytes[16]);
static inline bool weir_addr_equal(struct weir_addr a, struct weir_addr b)
{
    return !((weir_addr_half(&a, 0) ^ weir_addr_half(&b, 0)) | (weir_addr_half(&a, 1) ^ weir_addr_half(&b, 1)));
}
// :: and, where IPv4 is built, 0.0.0.0.
static inline bool weir_addr_is_any(struct weir_addr a)
{
    return !(weir_addr_half(&a, 0) | a.words[3]) &&
           (!a.words[2] || (WEIR_CFG_IP4 && a.words[2] == weir_addr_word_of(0xffff)));
}
bool weir_addr_is_multicast(struct weir_addr a);
bool weir_addr_is_loopback(struct weir_addr a);
// Limited broadcast only; whether an address is a subnet's broadcast is the interface's knowledge.
static inline bool weir_addr_is_broadcast(struct weir_addr a)
{
    return weir_addr_is_v4(a) && weir_addr_word(a, 3) == 0xffffffffu;
}
static inline uint8_t weir_addr_bits(struct weir_addr a) { return weir_addr_is_v4(a) ? 32 : 128; }
// Whether the first `bits` bits are the same, 0 to the length of an address of the family; of one family always.
bool weir_addr_in_prefix(struct weir_addr a, struct weir_addr prefix, uint8_t bits);
// The address with all but its first `bits` bits 0.
struct weir_addr weir_addr_prefix(struct weir_addr a, uint8_t bits);
#else
static inline struct weir_addr weir_addr_any(void)
{
    const struct weir_addr any = {0};
    return any;
}
static inline struct weir_addr weir_addr_v4(uint32_t host_order)
{
    const struct weir_addr addr = {host_order};
    return addr;
}
// The other way, for protocols that know IPv4 addresses alone.
static inline uint32_t weir_addr_to_v4(struct weir_addr a) { return a.v4; }
static inline bool weir_addr_is_v4(struct weir_addr a) { return (void)a, true; }
static inline uint8_t weir_addr_zone(struct weir_addr a) { return (void)a, (uint8_t)0; }
static inline struct weir_addr weir_addr_with_zone(struct weir_addr a, uint8_t netif_index)
{
    return (void)netif_index, a;
}
static inline bool weir_addr_equal(struct weir_addr a, struct weir_addr b) { return a.v4 == b.v4; }
static inline bool weir_addr_is_any(struct weir_addr a) { return a.v4 == 0; }
static inline bool weir_addr_is_multicast(struct weir_addr a) { return a.v4 >> 28 == 0xe; }
static inline bool weir_addr_is_loopback(struct weir_addr a) { return a.v4 >> 24 == 127; }
// Limited broadcast only; whether an address is a subnet's broadcast is the interface's knowledge.
static inline bool weir_addr_is_broadcast(struct weir_addr a) { return a.v4 == 0xffffffffu; }
static inline uint8_t weir_addr_bits(struct weir_addr a) { return (void)a, (uint8_t)32; }
// Whether the first `bits` bits are the same, 0 to the length of an address.
static inline bool weir_addr_in_prefix(struct weir_addr a, struct weir_addr prefix, uint8_t bits)
{
    return bits == 0 || (a.v4 ^ prefix.v4) >> (32 - bits) == 0;
}
// The address with all but its first `bits` bits 0.
static inline struct weir_addr weir_addr_prefix(struct weir_addr a, uint8_t bits)
{
    a.v4 &= bits ? 0xffffffffu << (32 - bits) : 0;
    return a;
}
#endif

#if WEIR_CFG_IP6
// Addresses as text, of either family: 192.0.2.1, 2001:db8::1 (RFC 5952), and a link-local one with its zone as a
// number, fe80::1%2.
#define WEIR_ADDR_TEXT_BYTES 50u  // room for any of them with its 0
// False, and `out` unchanged: the `length` characters are not one address and nothing else.
bool weir_addr_read(const char *text, uint32_t length, struct weir_addr *out);
// Writes the text with a 0 behind it; returns its length.
uint32_t weir_addr_write(struct weir_addr addr, char out[WEIR_ADDR_TEXT_BYTES]);
#endif

static inline struct weir_addr weir_ip4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return weir_addr_v4((uint32_t)a << 24 | (uint32_t)b << 16 | (uint32_t)c << 8 | d);
}

// The same for constants: static const struct weir_endpoint to = {WEIR_ADDR_V4(0xc0a80001), 80};
#if !WEIR_CFG_IP6
#define WEIR_ADDR_V4(host_order) \
    { \
        host_order \
    }
#elif __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define WEIR_ADDR_V4(host_order) \
    { \
        { \
            0, 0, 0xffff, host_order \
        } \
    }
#else
#define WEIR_ADDR_V4(host_order) \
    { \
        { \
            0, 0, 0xffff0000u, __builtin_bswap32(host_order) \
        } \
    }
#endif

WEIR_END_DECLS

#endif
