// SPDX-License-Identifier: BSD-2-Clause
// The Internet checksum (RFC 1071). A "sum" here is the 16-bit ones'-complement sum in native byte order, not yet
// complemented; it can be computed on any machine without swapping, piece by piece. Stored with checksum_put.
#ifndef BASE_CHECKSUM_H
#define BASE_CHECKSUM_H

#include "base/bytes.h"
#include "weir/netif.h"
#include "weir/port.h"

// Portable C, used where the port has no routine of its own.
COLD uint16_t checksum_sum_portable(const void *data, size_t bytes);
COLD uint16_t checksum_copy_sum_portable(void *restrict to, const void *restrict from, size_t bytes);

// A program may bind one routine when it is built: -DWEIR_SUM=name. weir_port.sum and copy_sum are not asked then.
#ifdef WEIR_SUM
uint16_t WEIR_SUM(const void *data, size_t bytes);
static inline uint16_t checksum_sum(const struct weir_port *port, const void *data, size_t bytes)
{
    (void)port;
    return WEIR_SUM(data, bytes);
}
static inline uint16_t checksum_copy_sum(const struct weir_port *port, void *to, const void *from, size_t bytes)
{
    (void)port;
    memcpy(to, from, bytes);
    return WEIR_SUM(to, bytes);
}
static inline uint16_t checksum_short(const void *header, size_t bytes) { return WEIR_SUM(header, bytes); }
#define CHECKSUM_BOUND 1
#else
#define CHECKSUM_BOUND 0
static inline uint16_t checksum_sum(const struct weir_port *port, const void *data, size_t bytes)
{
    return port->sum ? port->sum(data, bytes) : checksum_sum_portable(data, bytes);
}
static inline uint16_t checksum_copy_sum(const struct weir_port *port, void *to, const void *from, size_t bytes)
{
    return port->copy_sum ? port->copy_sum(to, from, bytes) : checksum_copy_sum_portable(to, from, bytes);
}
// Of a header, which is too short for a port's routine.
static inline uint16_t checksum_short(const void *header, size_t bytes) { return checksum_sum_portable(header, bytes); }
#endif

// For short pieces, as headers: the sum of `bytes` bytes, a multiple of 4, not folded, to be added to others like it.
static inline uint64_t checksum_words(const uint8_t *data, uint32_t bytes)
{
    uint64_t sum = 0;
    for (const uint8_t *end = data + (bytes & ~7u); data < end; data += 8)
        sum += (uint64_t)native32(data) + native32(data + 4);
    return bytes & 4 ? sum + native32(data) : sum;
}
// Of a TCP header: its usual lengths by name, which leaves no loop; or by the bound routine, which has none to speak
// of.
static inline uint64_t checksum_header(const uint8_t *data, uint32_t bytes)
{
    if (CHECKSUM_BOUND && !WEIR_CFG_FAST_PATH)
        return checksum_short(data, bytes);
    if (WEIR_CFG_FAST_PATH && bytes == 32)
        return checksum_words(data, 32);
    if (WEIR_CFG_FAST_PATH && bytes == 40)
        return checksum_words(data, 40);
    return checksum_words(data, bytes);
}
// Folds such a total. The upper half of x + (x with its halves exchanged) is the sum of the halves with the carry
// brought round.
static BYTES_INLINE uint16_t checksum_fold_words(uint64_t sum)
{
    const uint32_t half = (uint32_t)((sum + (sum << 32 | sum >> 32)) >> 32);
    return (uint16_t)((half + (half << 16 | half >> 16)) >> 16);
}
// Whether such a total, not 0, folds to all ones, as a right packet does: the multiples of 65535 do. (A multiplication
// and a comparison, where registers have 64 bits.)
static inline bool checksum_words_good(uint64_t sum)
{
    return UINTPTR_MAX > UINT32_MAX ? sum % 65535 == 0 : checksum_fold_words(sum) == 0xffff;
}
static inline uint16_t checksum_fold(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}
static inline uint16_t checksum_add(uint16_t a, uint16_t b)
{
    uint32_t sum = (uint32_t)a + b;
    return (uint16_t)(sum + (sum >> 16));
}
static inline uint16_t checksum_swap(uint16_t sum) { return (uint16_t)(sum << 8 | sum >> 8); }
// Adds the sum of a piece that begins `offset` bytes into the whole (an odd offset swaps its bytes, RFC 1071 §2(B)).
static inline uint16_t checksum_add_at(uint16_t sum, uint16_t piece, uint32_t offset)
{
    return checksum_add(sum, offset & 1 ? checksum_swap(piece) : piece);
}
// A host-order 16-bit word as it contributes to a sum.
static inline uint16_t checksum_word(uint16_t host)
{
    uint8_t bytes[2];
    uint16_t native;
    put16(bytes, host);
    memcpy(&native, bytes, 2);
    return native;
}
// The other way, for a total not folded yet: 2^8 is what swapping multiplies by, modulo 65535.
static inline uint32_t checksum_host(uint32_t sum) { return checksum_word(1) == 1 ? sum : sum << 8; }
#if WEIR_CFG_FAST_PATH
// Copies SMALL_COPY_MAX bytes at the most, and returns their sum, not folded (less than 2^18). (checksum_small.c)
uint32_t checksum_copy_small(uint8_t *to, const uint8_t *from, uint32_t bytes);
// A payload's: what a connection is asked, and answers, is often a few bytes.
static inline uint32_t checksum_copy_payload(const struct weir_port *port, uint8_t *to, const uint8_t *from,
                                             uint32_t bytes)
{
    return bytes > SMALL_COPY_MAX ? checksum_copy_sum(port, to, from, bytes) : checksum_copy_small(to, from, bytes);
}
#else
static inline uint32_t checksum_copy_payload(const struct weir_port *port, uint8_t *to, const uint8_t *from,
                                             uint32_t bytes)
{
    return checksum_copy_sum(port, to, from, bytes);
}
#endif
// Stores the complement of `sum` in a header's checksum field.
static inline void checksum_put(uint8_t *field, uint16_t sum)
{
    const uint16_t complement = (uint16_t)~sum;
    memcpy(field, &complement, 2);
}

// Sum over `length` bytes of a slice list, from `offset` bytes in.
uint16_t checksum_slices(const struct weir_port *port, const struct weir_slice *slices, uint32_t count, uint32_t offset,
                         uint32_t length);

#endif
