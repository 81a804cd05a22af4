// SPDX-License-Identifier: BSD-2-Clause
// SipHash as in Aumasson, Bernstein, "SipHash: a fast short-input PRF" (2012), and a generator on it.
#include "base/random.h"

struct siphash_state {
    uint64_t v0, v1, v2, v3;
};

static inline uint64_t siphash_rotate(uint64_t x, unsigned bits) { return x << bits | x >> (64 - bits); }

static inline void siphash_round(struct siphash_state *s)
{
    s->v0 += s->v1, s->v2 += s->v3;
    s->v1 = siphash_rotate(s->v1, 13) ^ s->v0, s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
    s->v0 = siphash_rotate(s->v0, 32);
    s->v2 += s->v1, s->v0 += s->v3;
    s->v1 = siphash_rotate(s->v1, 17) ^ s->v2, s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
    s->v2 = siphash_rotate(s->v2, 32);
}

static inline void siphash_rounds(struct siphash_state *s, unsigned count)
{
    while (count--)
        siphash_round(s);
}

static inline struct siphash_state siphash_start(const struct siphash_key *key)
{
    return (struct siphash_state){key->k0 ^ 0x736f6d6570736575u, key->k1 ^ 0x646f72616e646f6du,
                                  key->k0 ^ 0x6c7967656e657261u, key->k1 ^ 0x7465646279746573u};
}

static inline void siphash_absorb(struct siphash_state *s, uint64_t word, unsigned count)
{
    s->v3 ^= word;
    siphash_rounds(s, count);
    s->v0 ^= word;
}

static inline uint64_t siphash_finish(struct siphash_state *s, unsigned count)
{
    s->v2 ^= 0xff;
    siphash_rounds(s, count);
    return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

// Up to 8 bytes as a little-endian word, the missing ones zero.
static uint64_t siphash_load(const uint8_t *p, size_t bytes)
{
    uint64_t word = 0;
    for (size_t i = bytes; i-- > 0;)
        word = word << 8 | p[i];
    return word;
}

// Eight bytes, as compilers recognise it: one load where the machine is little-endian.
static inline uint64_t siphash_load_8(const uint8_t *p)
{
    return p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
           (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 | (uint64_t)p[7] << 56;
}

// SipHash-rounds-(rounds + 2).
static uint64_t hash_bytes(const struct siphash_key *key, const void *data, size_t bytes, unsigned rounds)
{
    struct siphash_state s = siphash_start(key);
    const uint8_t *p = data;
    size_t left = bytes;
    for (; left >= 8; left -= 8, p += 8)
        siphash_absorb(&s, siphash_load_8(p), rounds);
    siphash_absorb(&s, siphash_load(p, left) | (uint64_t)bytes << 56, rounds);
    return siphash_finish(&s, rounds + 2);
}

uint64_t siphash(const struct siphash_key *key, const void *data, size_t bytes)
{
    return hash_bytes(key, data, bytes, 2);
}

#if WEIR_CFG_FAST_PATH
// Written out: the loops above, with so few rounds, cost as much as the rounds.
uint32_t siphash_words(const struct siphash_key *key, uint64_t a, uint64_t b)
{
    const uint64_t length = (uint64_t)16 << 56;
    struct siphash_state s = siphash_start(key);
    s.v3 ^= a;
    siphash_round(&s);
    s.v0 ^= a;
    s.v3 ^= b;
    siphash_round(&s);
    s.v0 ^= b;
    s.v3 ^= length;
    siphash_round(&s);
    s.v0 ^= length;
    s.v2 ^= 0xff;
    siphash_round(&s);
    siphash_round(&s);
    siphash_round(&s);
    const uint64_t hash = s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
    return (uint32_t)hash ^ (uint32_t)(hash >> 32);
}
uint64_t siphash_ends(const struct siphash_key *key, uint64_t addresses, uint32_t ports)
{
    struct siphash_state s = siphash_start(key);
    siphash_absorb(&s, addresses, 2);
    siphash_absorb(&s, (uint64_t)12 << 56 | ports, 2);
    return siphash_finish(&s, 4);
}
#else
uint32_t siphash_words(const struct siphash_key *key, uint64_t a, uint64_t b)
{
    const uint64_t words[2] = {a, b}, hash = hash_bytes(key, words, sizeof words, 1);
    return (uint32_t)hash ^ (uint32_t)(hash >> 32);
}
uint64_t siphash_ends(const struct siphash_key *key, uint64_t addresses, uint32_t ports)
{
    const uint64_t words[2] = {addresses, ports};
    return siphash(key, words, 12);
}
#endif

#if WEIR_CFG_IP6
uint64_t siphash_wide_ends(const struct siphash_key *key, const uint64_t addresses[4], uint32_t ports)
{
    struct siphash_state s = siphash_start(key);
    for (unsigned i = 0; i < 4; i++)
        siphash_absorb(&s, addresses[i], 2);
    siphash_absorb(&s, (uint64_t)36 << 56 | ports, 2);
    return siphash_finish(&s, 4);
}
#endif

// --- generator -------------------------------------------------------------------------------------------------------
// Outputs are SipHash-2-4(key, counter). The key is replaced by outputs of its own, and so forgotten, after every
// RANDOM_REKEY outputs and after every random_bytes: who reads the state later cannot compute what came out before.
#define RANDOM_REKEY 16u

static uint64_t random_next(struct random *random)
{
    const uint64_t counter = random->counter++;
    return siphash(&random->key, &counter, sizeof counter);
}

static void random_rekey(struct random *random)
{
    const uint64_t k0 = random_next(random);
    const uint64_t k1 = random_next(random);
    random->key = (struct siphash_key){k0, k1};
    random->counter = 0;
}

void random_seed(struct random *random, const uint8_t seed[16])
{
    *random = (struct random){{siphash_load(seed, 8), siphash_load(seed + 8, 8)}, 0, 0, 0};
    random_rekey(random);
}

// Both halves of the new key are hashes of the data under the old key, then of the counter under those: data an
// attacker knows or chooses leaves a secret key secret, and secret data makes a known key secret.
void random_stir(struct random *random, const void *data, size_t bytes)
{
    struct siphash_key *key = &random->key;
    const uint64_t a = siphash(key, data, bytes);
    const uint64_t b = siphash(&(struct siphash_key){key->k1 ^ a, key->k0}, data, bytes);
    *key = (struct siphash_key){key->k0 ^ a, key->k1 ^ b};
    random->spare_bits = 0;
    random_rekey(random);
}

uint32_t random_u32(struct random *random)
{
    if (random->counter >= RANDOM_REKEY)
        random_rekey(random);
    const uint64_t word = random_next(random);
    return (uint32_t)word ^ (uint32_t)(word >> 32);
}

uint32_t random_bits(struct random *random, unsigned bits)
{
    if (random->spare_bits < bits) {
        random->spare = random_u32(random);
        random->spare_bits = 32;
    }
    const uint32_t taken = random->spare & ((1u << bits) - 1);
    random->spare >>= bits;
    random->spare_bits -= bits;
    return taken;
}

// Multiply and reject (Lemire 2019): the product's high half is uniform once the few low halves that would favour some
// values are thrown away.
uint32_t random_below(struct random *random, uint32_t bound)
{
    if (!bound)
        return 0;
    const uint32_t unfair = (0u - bound) % bound;
    uint64_t product;
    do
        product = (uint64_t)random_u32(random) * bound;
    while ((uint32_t)product < unfair);
    return (uint32_t)(product >> 32);
}

void random_bytes(struct random *random, void *out, size_t bytes)
{
    uint8_t *p = out;
    while (bytes) {
        const uint64_t word = random_next(random);
        const size_t part = bytes < sizeof word ? bytes : sizeof word;
        memcpy(p, &word, part);
        p += part;
        bytes -= part;
    }
    random_rekey(random);
}
