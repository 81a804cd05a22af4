// SPDX-License-Identifier: BSD-2-Clause
// ARMv4 and ARMv5 load and store words at multiples of four alone. Of what lies otherwise the C library copies byte by
// byte, and the payload behind an Ethernet header of 14 bytes does; here two words that are read make one that is
// written. Byte order: little-endian.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "armv4t/words.h"

#define SMALL 16u  // bytes that are not worth it

static uint8_t *copy_bytes(uint8_t *out, const uint8_t *in, size_t bytes)
{
    for (; bytes; bytes--)
        *out++ = *in++;
    return out;
}

static void copy_words(word *out, const word *in, size_t count)
{
    for (; count >= WORDS_AT_ONCE; count -= WORDS_AT_ONCE, out += WORDS_AT_ONCE, in += WORDS_AT_ONCE)
        *(struct words *)(void *)out = *(const struct words *)(const void *)in;
    for (; count; count--)
        *out++ = *in++;
}

// From the word that holds the first byte on; `shift` is the bits of it that lie before that byte: 8, 16 or 24. The
// last word that is read holds bytes that are copied.
static void merge_words(word *out, const word *in, uint32_t shift, size_t count)
{
    const uint32_t rest = 32 - shift;
    uint32_t held = *in++;
    for (; count >= WORDS_AT_ONCE; count -= WORDS_AT_ONCE, out += WORDS_AT_ONCE, in += WORDS_AT_ONCE) {
        const struct words next = *(const struct words *)(const void *)in;
        const struct words all = {{held >> shift | next.of[0] << rest, next.of[0] >> shift | next.of[1] << rest,
                                   next.of[1] >> shift | next.of[2] << rest, next.of[2] >> shift | next.of[3] << rest}};
        *(struct words *)(void *)out = all;
        held = next.of[3];
    }
    for (; count; count--) {
        const uint32_t next = *in++;
        *out++ = held >> shift | next << rest;
        held = next;
    }
}

static void copy_many(uint8_t *out, const uint8_t *in, size_t bytes)
{
    const size_t first = -(uintptr_t)out & WORD_MASK, count = (bytes - first) / 4;
    word *const words = (void *)copy_bytes(out, in, first);
    const uint32_t before = (uintptr_t)(in + first) & WORD_MASK;
    const word *const from = (const void *)(in + first - before);
    if (before)
        merge_words(words, from, before * 8, count);
    else
        copy_words(words, from, count);
    (void)copy_bytes((uint8_t *)(words + count), in + first + 4 * count, bytes - first - 4 * count);
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    if (bytes < SMALL)
        (void)copy_bytes(to, from, bytes);
    else
        copy_many(to, from, bytes);
    return to;
}
