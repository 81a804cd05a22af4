// SPDX-License-Identifier: BSD-2-Clause
// Keyed hashes of addresses, for tables.
#ifndef BASE_ADDR_H
#define BASE_ADDR_H

#include "base/random.h"
#include "weir/addr.h"

#if WEIR_CFG_IP6
static inline uint32_t addr_hash(const struct siphash_key *key, struct weir_addr a, uint32_t salt)
{
    const uint32_t words[] = {a.words[0], a.words[1], a.words[2], a.words[3], salt};
    return (uint32_t)siphash(key, words, sizeof words);
}
static inline uint64_t addr_ends_hash(const struct siphash_key *key, struct weir_addr a, struct weir_addr b,
                                      uint32_t ports)
{
    const uint32_t words[] = {a.words[0], a.words[1], a.words[2], a.words[3], b.words[0],
                              b.words[1], b.words[2], b.words[3], ports};
    return siphash(key, words, sizeof words);
}
// The low bits of an address, by which hosts are told apart best.
static inline uint32_t addr_low(struct weir_addr a) { return weir_addr_word(a, 3); }
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
#endif

#endif
