// SPDX-License-Identifier: BSD-2-Clause
#include "api/flock/flock.h"

uint32_t pton(unsigned a, unsigned b, unsigned c, unsigned d)
{
    return (a & 255u) << 24 | (b & 255u) << 16 | (c & 255u) << 8 | (d & 255u);
}

uint32_t swapl(uint32_t value) { return value >> 24 | (value >> 8 & 0xff00u) | (value << 8 & 0xff0000u) | value << 24; }

uint16_t swaps(uint16_t value) { return (uint16_t)(value >> 8 | value << 8); }
