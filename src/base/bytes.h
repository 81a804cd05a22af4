// SPDX-License-Identifier: BSD-2-Clause
// Big-endian fields in byte arrays, and small arithmetic. Wire headers are never cast.
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "weir/options.h"

//@ requires \valid_read(p + (0 .. 1)); assigns \nothing;
static inline uint16_t get16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }
// gcc -Os takes these for larger than a call, before it sees that each is two instructions.
#ifdef __GNUC__
#define BYTES_INLINE inline __attribute__((always_inline))
#define COLD __attribute__((noinline, cold))  // taken into a fast path it would cost that its registers
#else
#define BYTES_INLINE inline
#define COLD
#endif
// What holds nearly always in a path that is to be short: it goes straight on there.
#ifdef __GNUC__
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#else
#define LIKELY(condition) (condition)
#endif
#if WEIR_CFG_FAST_PATH
#define SELDOM COLD  // seldom run, in a build whose paths are to be short
#else
#define SELDOM  // a build for size puts no code elsewhere
#endif
// In builds for speed: inlined where the compiler agrees, or wherever it is used.
#ifdef __OPTIMIZE_SIZE__
#define SPEED_INLINE
#define HOT_INLINE
#else
#define SPEED_INLINE inline
#define HOT_INLINE BYTES_INLINE
#endif
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static BYTES_INLINE uint32_t network32(uint32_t value)
{
    return value << 24 | (value & 0xff00) << 8 | (value >> 8 & 0xff00) | value >> 24;
}
// Swapped in a register, then stored at once: gcc for Arm does not merge stores of single bytes, which made the code
// half again as long.
static BYTES_INLINE void put16(uint8_t *p, uint32_t value)
{
    const uint16_t half = (uint16_t)value, swapped = (uint16_t)(half << 8 | half >> 8);
    memcpy(p, &swapped, sizeof swapped);
}
static BYTES_INLINE void put32(uint8_t *p, uint32_t value)
{
    const uint32_t swapped = network32(value);
    memcpy(p, &swapped, sizeof swapped);
}
#else
static inline uint32_t network32(uint32_t value) { return value; }
static inline void put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}
static inline void put32(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 24);
    p[1] = (uint8_t)(value >> 16);
    p[2] = (uint8_t)(value >> 8);
    p[3] = (uint8_t)value;
}
#endif

//@ requires \valid_read(p + (0 .. 3)); assigns \nothing;
static BYTES_INLINE uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

// Words as they lie, for sums and comparisons in the machine's own order: network32 gives what a value looks like
// there.
static inline uint16_t native16(const uint8_t *p)
{
    uint16_t word;
    memcpy(&word, p, sizeof word);
    return word;
}
//@ requires \valid_read(p + (0 .. 3)); assigns \nothing;
static inline uint32_t native32(const uint8_t *p)
{
    uint32_t word;
    memcpy(&word, p, sizeof word);
    return word;
}
//@ requires \valid(p + (0 .. 3)); assigns p[0 .. 3];
static inline void put_native32(uint8_t *p, uint32_t word) { memcpy(p, &word, sizeof word); }
static inline uint64_t native64(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return word;
}

//@ assigns \nothing; ensures \result <= a && \result <= b && (\result == a || \result == b);
static inline uint32_t min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
//@ assigns \nothing; ensures \result >= a && \result >= b && (\result == a || \result == b);
static inline uint32_t max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

// For a few bytes: a call takes longer than copying them.
#define SMALL_COPY_MAX 8u
static inline void copy_small(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    for (; bytes > 1; bytes -= 2, to += 2, from += 2)
        memcpy(to, from, 2);
    if (bytes)
        *to = *from;
}

#if WEIR_CFG_WIDE_DIVISION
static inline uint64_t divide_u64(uint64_t dividend, uint32_t divisor) { return dividend / divisor; }
#else
uint64_t divide_u64(uint64_t dividend, uint32_t divisor);
#endif

// Serial-number order, for TCP sequence numbers (RFC 9293 §3.4) and 32-bit times: a is before b.
//@ logic integer seq_off(integer from, integer to) = from <= to ? to - from : to - from + 4294967296;
//@ assigns \nothing; ensures \result <==> seq_off(b, a) >= 2147483648;
static inline bool seq_lt(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }
//@ assigns \nothing; ensures \result <==> a == b || seq_off(b, a) >= 2147483648;
static inline bool seq_le(uint32_t a, uint32_t b) { return (int32_t)(a - b) <= 0; }
// Whether x lies in [lo, hi). By offsets from lo: two comparisons of signed differences would both hold for an x that
// is 2^31 away.
//@ assigns \nothing; ensures \result <==> seq_off(lo, x) < seq_off(lo, hi);
static inline bool seq_in(uint32_t x, uint32_t lo, uint32_t hi) { return x - lo < hi - lo; }
//@ assigns \nothing; ensures \result == (seq_off(b, a) >= 2147483648 ? b : a);
static inline uint32_t seq_max(uint32_t a, uint32_t b) { return seq_lt(a, b) ? b : a; }
//@ assigns \nothing; ensures \result == (seq_off(b, a) >= 2147483648 ? a : b);
static inline uint32_t seq_min(uint32_t a, uint32_t b) { return seq_lt(a, b) ? a : b; }

#define container_of(pointer, type, member) ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

#endif
