// SPDX-License-Identifier: BSD-2-Clause
// Secrets: a keyed hash (SipHash-2-4; Aumasson, Bernstein 2012) for demultiplexing, sequence numbers (RFC 6528), ports
// (RFC 6056) and cookies, and a generator that is that hash over a counter, re-keyed as it goes (fast key erasure).
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include "base/bytes.h"

struct siphash_key {
    uint64_t k0, k1;
};
uint64_t siphash(const struct siphash_key *key, const void *data, size_t bytes);
// SipHash-1-3 of two 64-bit words (as 16 bytes, little-endian), its halves folded together; for hash tables: fast,
// still keyed.
uint32_t siphash_words(const struct siphash_key *key, uint64_t a, uint64_t b);
// SipHash-2-4 of the two ends of a connection: addresses and ports as 12 bytes, little-endian.
uint64_t siphash_ends(const struct siphash_key *key, uint64_t addresses, uint32_t ports);
#if WEIR_CFG_IP6
// The same of addresses of 16 bytes: as 36 bytes.
uint64_t siphash_wide_ends(const struct siphash_key *key, const uint64_t addresses[4], uint32_t ports);
#endif

struct random {
    struct siphash_key key;
    uint64_t counter;
    uint32_t spare, spare_bits;  // of an output, what random_bits has not handed out yet
};
void random_seed(struct random *random, const uint8_t seed[16]);
void random_stir(struct random *random, const void *data, size_t bytes);
uint32_t random_u32(struct random *random);
uint32_t random_below(struct random *random, uint32_t bound);  // uniform in [0, bound); 0 for bound 0
// uniform in [0, 2^bits), bits <= 16: one output serves many such
uint32_t random_bits(struct random *random, unsigned bits);
void random_bytes(struct random *random, void *out, size_t bytes);

#endif
