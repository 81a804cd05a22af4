// SPDX-License-Identifier: BSD-2-Clause
// What the resolver knows of families of addresses, and of a NAT64.
#ifndef APPS_DNS_FAMILY_H
#define APPS_DNS_FAMILY_H

#include <string.h>

#include "message.h"
#include "../text.h"
#include "weir/names.h"

#if WEIR_CFG_IP6
#define DNS_FAMILIES 2u  // types of records that a name is asked for
// Bytes of an address record's data; 0: it is no address record.
static inline uint32_t dns_record_bytes(uint16_t type) { return type == DNS_A ? 4 : type == DNS_AAAA ? 16 : 0; }
// An address of IPv4 has no business in a record of IPv6 (RFC 4291 §2.5.5.2 has it inside a host).
static inline bool dns_record_address(const uint8_t *data, uint16_t type, struct weir_addr *out)
{
    *out = type == DNS_A ? weir_ip4(data[0], data[1], data[2], data[3]) : weir_addr_v6(data);
    return type == DNS_A || !weir_addr_is_mapped(*out);
}
static inline uint16_t dns_type_of(struct weir_addr addr) { return weir_addr_is_mapped(addr) ? DNS_A : DNS_AAAA; }
static inline struct weir_addr dns_loopback(uint16_t type)
{
    static const uint8_t loopback[16] = {[15] = 1};
    return type == DNS_A ? weir_ip4(127, 0, 0, 1) : weir_addr_v6(loopback);
}
static inline bool dns_literal(const char *name, struct weir_addr *out)
{
    const uint32_t length = text_length(name);
    return weir_addr_read(name, length, out) || (!WEIR_CFG_IP4 && text_read_addr(name, length, out));
}

// RFC 6052 §2.2: IPv4's bytes stand behind the prefix, but for the ninth byte of all, which is 0.
static inline struct weir_addr dns_nat64(struct weir_addr prefix, uint8_t bits, struct weir_addr v4)
{
    uint8_t bytes[16];
    weir_addr_to_v6(prefix, bytes);
    for (uint32_t i = 0, at = bits / 8; i < 4; i++, at++) {
        at += at == 8;
        bytes[at] = (uint8_t)(weir_addr_to_v4(v4) >> (24 - 8 * i));
    }
    return weir_addr_v6(bytes);
}

// On a link without IPv4 behind a NAT64 that routers told of (RFC 8781), addresses of IPv4 are reached by IPv6: fills
// `out` with those for `found`, of type A. False: there is no such need, or no way.
static inline bool dns_synthesise(struct weir *weir, const struct dns_answer *found, struct dns_answer *out)
{
    struct weir_addr prefix, source;
    uint8_t bits;
    if (!found->count || !weir_router_nat64(weir, &prefix, &bits) ||
        weir_source_find(weir, found->addresses[0], &source))
        return false;
    *out = *found;
    for (uint32_t i = 0; i < found->count; i++)
        out->addresses[i] = dns_nat64(prefix, bits, found->addresses[i]);
    return true;
}
// Whether a name's addresses of IPv4 are of use: without IPv4 to a NAT64 alone.
static inline bool dns_wants_ip4(struct weir *weir)
{
    struct weir_addr prefix;
    uint8_t bits;
    return WEIR_CFG_IP4 || weir_router_nat64(weir, &prefix, &bits);
}
#else
#define DNS_FAMILIES 1u
static inline uint32_t dns_record_bytes(uint16_t type) { return type == DNS_A ? 4 : 0; }
static inline bool dns_record_address(const uint8_t *data, uint16_t type, struct weir_addr *out)
{
    *out = weir_ip4(data[0], data[1], data[2], data[3]);
    return (void)type, true;
}
static inline uint16_t dns_type_of(struct weir_addr addr) { return (void)addr, DNS_A; }
static inline struct weir_addr dns_loopback(uint16_t type) { return (void)type, weir_ip4(127, 0, 0, 1); }
static inline bool dns_literal(const char *name, struct weir_addr *out)
{
    return text_read_addr(name, text_length(name), out);
}
static inline bool dns_synthesise(struct weir *weir, const struct dns_answer *found, struct dns_answer *out)
{
    return (void)weir, (void)found, (void)out, false;
}
static inline bool dns_wants_ip4(struct weir *weir) { return (void)weir, true; }
#endif

#endif
