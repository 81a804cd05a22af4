// SPDX-License-Identifier: BSD-2-Clause
// board_entropy for a board without a generator that a program reaches: the lowest bits of counters, mixed. Guessable
// by who sees the board start; Weir stirs in the moments of frames. A product has an entropy source and uses it in its
// place.
#ifndef MIXED_ENTROPY_H
#define MIXED_ENTROPY_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

static inline void mixed_entropy(void *out, size_t bytes, uint32_t (*sample)(void))
{
    static uint32_t state = 0x57656972;
    uint8_t *to = (uint8_t *)out;
    for (; bytes; bytes--, to++) {
        state = (state << 5 | state >> 27) * 0x9e3779b1u + sample();
        *to = (uint8_t)(state >> 24);
    }
}

WEIR_END_DECLS

#endif
