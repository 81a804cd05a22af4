// SPDX-License-Identifier: BSD-2-Clause
// Numbers of a 32-bit space on, beside, and half the space away from those that matter, and distances between them in
// 64 bits: what the boundary tests of both stacks try, and what they judge by.
#ifndef TESTS_BOUNDARIES_H
#define TESTS_BOUNDARIES_H

#include <stdint.h>

#define BOUNDARY_VALUES 64u

// The signed distance from `from`, -2^31 included: half the space away is neither before nor after.
static inline int64_t boundary_distance(uint32_t number, uint32_t from)
{
    const uint32_t ahead = number - from;
    return ahead < UINT32_C(0x80000000) ? (int64_t)ahead : (int64_t)ahead - INT64_C(0x100000000);
}

static const uint32_t boundary_deltas[] = {0, 1, UINT32_MAX, 0x80000000u, 0x7fffffffu, 0x80000001u};
#define BOUNDARY_DELTAS (sizeof boundary_deltas / sizeof boundary_deltas[0])

// Adds x, x +- 1, x +- 2^31 and x +- (2^31 - 1), each number once. Returns how many there are.
static inline uint32_t boundary_add(uint32_t *values, uint32_t count, uint32_t x)
{
    for (uint32_t i = 0; i < BOUNDARY_DELTAS; i++) {
        const uint32_t value = x + boundary_deltas[i];
        uint32_t known = 0;
        while (known < count && values[known] != value)
            known++;
        values[known] = value;
        count += known == count;
    }
    return count;
}

#endif
