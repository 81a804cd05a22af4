// SPDX-License-Identifier: BSD-2-Clause
// Keyed hashes of addresses, for tables.
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include "base/random.h"
#include "weir/addr.h"

#if WEIR_CFG_IP6
// Of IPv4 addresses the same as in a build of IPv4 alone: a hash of 16 bytes, or of 12, is never one of IPv6's.
static inline uint32_t addr_hash(const struct siphash_key *key, struct weir_addr a, uint32_t salt)
{
    if (weir_addr_is_v4(a))
        return siphash_words(key, weir_addr_word(a, 3), salt);
    const uint32_t words[] = {a.words[0], a.words[1], a.words[2], a.words[3], salt};
    return (uint32_t)siphash(key, words, sizeof words);
}
static inline uint64_t addr_ends_hash(const struct siphash_key *key, struct weir_addr a, struct weir_addr b,
                                      uint32_t ports)
{
    if (weir_addr_is_v4(b))  // and so is a, or any
        return siphash_ends(key, (uint64_t)weir_addr_word(a, 3) << 32 | weir_addr_word(b, 3), ports);
    const uint64_t addresses[] = {weir_addr_half(&a, 0), weir_addr_half(&a, 1), weir_addr_half(&b, 0),
                                  weir_addr_half(&b, 1)};
    return siphash_wide_ends(key, addresses, ports);
}
// The low bits of an address, by which hosts are told apart best.
static inline uint32_t addr_low(struct weir_addr a) { return weir_addr_word(a, 3); }
// Whether it is of a family that is not built.
static inline bool addr_foreign(struct weir_addr a) { return !WEIR_CFG_IP4 && weir_addr_is_mapped(a); }
#else
static inline uint32_t addr_hash(const struct siphash_key *key, struct weir_addr a, uint32_t salt)
{
    return siphash_words(key, a.v4, salt);
}
static inline uint64_t addr_ends_hash(const struct siphash_key *key, struct weir_addr a, struct weir_addr b,
                                      uint32_t ports)
{
    return siphash_ends(key, (uint64_t)a.v4 << 32 | b.v4, ports);
}
// The low bits of an address, by which hosts are told apart best.
static inline uint32_t addr_low(struct weir_addr a) { return a.v4; }
static inline bool addr_foreign(struct weir_addr a) { return (void)a, false; }
#endif

#endif
