// SPDX-License-Identifier: BSD-2-Clause
// Of a few bytes. It is a call all the same: inlined into the loop over a run of segments, its own loop is made ready
// for each run, by as many instructions as a header takes.
#include "base/checksum.h"

// The last byte of an odd number of them, as it contributes: a zero follows it.
static uint32_t checksum_last(uint8_t byte) { return checksum_word(1) == 1 ? (uint32_t)byte << 8 : byte; }

__attribute__((noinline)) uint32_t checksum_copy_small(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint32_t sum = 0;
    for (; bytes > 1; bytes -= 2, to += 2, from += 2) {
        const uint16_t word = native16(from);
        memcpy(to, &word, sizeof word);
        sum += word;
    }
    if (bytes)
        sum += checksum_last(*to = *from);
    return sum;
}
