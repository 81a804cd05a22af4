// SPDX-License-Identifier: BSD-2-Clause
// Addresses. Outside src/ip, src/wire and api/ nothing looks inside a weir_addr: use the functions below, so that
// a second family (and its zone) can be added without touching a caller. Integers are in host byte order.
#ifndef WEIR_ADDR_H
#define WEIR_ADDR_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

struct weir_addr {
    uint32_t v4;  // 0xc0a80001 is 192.168.0.1
};

// One end of a conversation. Port 0 means "any" when binding, and is invalid as a destination.
struct weir_endpoint {
    struct weir_addr addr;
    uint16_t port;
};

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
static inline struct weir_addr weir_ip4(uint8_t a, uint8_t b, uint8_t c, uint8_t d)
{
    return weir_addr_v4((uint32_t)a << 24 | (uint32_t)b << 16 | (uint32_t)c << 8 | d);
}
static inline bool weir_addr_equal(struct weir_addr a, struct weir_addr b) { return a.v4 == b.v4; }
// Whether the first `bits` bits are the same, 0 to the length of an address.
static inline bool weir_addr_in_prefix(struct weir_addr a, struct weir_addr prefix, uint8_t bits)
{
    return bits == 0 || (a.v4 ^ prefix.v4) >> (32 - bits) == 0;
}
static inline bool weir_addr_is_any(struct weir_addr a) { return a.v4 == 0; }
static inline bool weir_addr_is_multicast(struct weir_addr a) { return a.v4 >> 28 == 0xe; }
static inline bool weir_addr_is_loopback(struct weir_addr a) { return a.v4 >> 24 == 127; }
// Limited broadcast only; whether an address is a subnet's broadcast is the interface's knowledge.
static inline bool weir_addr_is_broadcast(struct weir_addr a) { return a.v4 == 0xffffffffu; }

WEIR_END_DECLS

#endif
