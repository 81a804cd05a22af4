// SPDX-License-Identifier: BSD-2-Clause
// The permutation that the compact stack's keyed hashes are made of.
#ifndef COMPACT_PERMUTE_H
#define COMPACT_PERMUTE_H

#include <stdint.h>

static inline uint32_t rotate(uint32_t word, unsigned bits) { return word << bits | word >> (32 - bits); }

// A permutation of 128 bits, that of the Chaskey MAC with its 12 rounds (Mouha et al. 2014; ISO/IEC 29192-6).
static inline void permute(uint32_t v[4])
{
    for (unsigned round = 0; round < 12; round++) {
        v[0] += v[1];
        v[1] = rotate(v[1], 5) ^ v[0];
        v[0] = rotate(v[0], 16);
        v[2] += v[3];
        v[3] = rotate(v[3], 8) ^ v[2];
        v[0] += v[3];
        v[3] = rotate(v[3], 13) ^ v[0];
        v[2] += v[1];
        v[1] = rotate(v[1], 7) ^ v[2];
        v[2] = rotate(v[2], 16);
    }
}

#endif
