// SPDX-License-Identifier: BSD-2-Clause
// memcpy for this core, whose compiler comes with no C library that runs without an operating system. (Others:
// boards/string.c; memory in blocks: boards/blocks.c.)
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define WORD_MASK 3u

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if (((uintptr_t)out & WORD_MASK) == ((uintptr_t)in & WORD_MASK)) {
        for (; bytes && (uintptr_t)out & WORD_MASK; bytes--)
            *out++ = *in++;
        for (; bytes >= 4; bytes -= 4, out += 4, in += 4)
            *(uint32_t __attribute__((may_alias)) *)(void *)out =
                *(const uint32_t __attribute__((may_alias)) *)(const void *)in;
    }
    for (; bytes; bytes--)
        *out++ = *in++;
    return to;
}
