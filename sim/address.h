// SPDX-License-Identifier: BSD-2-Clause
// Addresses as the simulator's nodes and its observer keep them, whichever families the stack was built with: 128 bits,
// an IPv4 address as the one that is mapped into them.
#ifndef SIM_ADDRESS_H
#define SIM_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"

struct sim_address {
    uint64_t high, low;
};

static inline struct sim_address sim_address_v4(uint32_t address)
{
    return (struct sim_address){0, UINT64_C(0xffff00000000) | address};
}
static inline bool sim_address_is_v4(struct sim_address a) { return !a.high && a.low >> 32 == 0xffff; }
static inline bool sim_address_equal(struct sim_address a, struct sim_address b)
{
    return a.high == b.high && a.low == b.low;
}
static inline uint64_t sim_word(const uint8_t *bytes)
{
    uint64_t word = 0;
    for (unsigned at = 0; at < 8; at++)
        word = word << 8 | bytes[at];
    return word;
}
// 16 bytes as they are on the wire, and to them.
static inline struct sim_address sim_address_read(const uint8_t *bytes)
{
    return (struct sim_address){sim_word(bytes), sim_word(bytes + 8)};
}
static inline void sim_address_write(struct sim_address a, uint8_t *bytes)
{
    for (unsigned at = 0; at < 8; at++) {
        bytes[at] = (uint8_t)(a.high >> (56 - 8 * at));
        bytes[8 + at] = (uint8_t)(a.low >> (56 - 8 * at));
    }
}
#if WEIR_CFG_IP6
static inline struct sim_address sim_address_of(struct weir_addr addr)
{
    uint8_t bytes[16];
    weir_addr_to_v6(addr, bytes);
    return sim_address_read(bytes);
}
static inline struct weir_addr sim_address_weir(struct sim_address a)
{
    uint8_t bytes[16];
    sim_address_write(a, bytes);
    return weir_addr_v6(bytes);
}
#else
static inline struct sim_address sim_address_of(struct weir_addr addr) { return sim_address_v4(weir_addr_to_v4(addr)); }
static inline struct weir_addr sim_address_weir(struct sim_address a) { return weir_addr_v4((uint32_t)a.low); }
#endif

#endif
