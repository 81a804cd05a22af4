// SPDX-License-Identifier: BSD-2-Clause
// RFC 1071's sum for ARMv4T, which loads words at multiples of four alone: the words that the bytes lie in are added
// up, what of the first and the last is not asked for is left out, and where the first byte lies at an odd address the
// sum has its bytes exchanged (RFC 1071 §2, B). Byte order: little-endian.
#include <stddef.h>
#include <stdint.h>

#include "armv4t/sum.h"
#include "armv4t/words.h"

static uint64_t add_words(const word *in, size_t count, uint64_t sum)
{
    for (; count >= WORDS_AT_ONCE; count -= WORDS_AT_ONCE, in += WORDS_AT_ONCE) {
        const struct words some = *(const struct words *)(const void *)in;
        sum += some.of[0];
        sum += some.of[1];
        sum += some.of[2];
        sum += some.of[3];
    }
    for (; count; count--)
        sum += *in++;
    return sum;
}

static uint16_t fold(uint64_t sum)
{
    uint32_t half = (uint32_t)(sum >> 32) + (uint32_t)(sum & 0xffff) + (uint32_t)(sum >> 16 & 0xffff);
    half = (half & 0xffff) + (half >> 16);
    return (uint16_t)(half + (half >> 16));
}

uint16_t armv4t_sum(const void *data, size_t bytes)
{
    const uint32_t before = (uintptr_t)data & WORD_MASK;
    const word *const in = (const void *)((const uint8_t *)data - before);
    const size_t all = bytes + before, count = all / 4;
    const uint32_t first = UINT32_MAX << 8 * before, last = (1u << 8 * (all & WORD_MASK)) - 1;
    if (!bytes)
        return 0;
    uint64_t sum = *in & (count ? first : first & last);
    if (count)
        sum = add_words(in + 1, count - 1, sum);
    if (count && last)
        sum += in[count] & last;
    return before & 1 ? __builtin_bswap16(fold(sum)) : fold(sum);
}
