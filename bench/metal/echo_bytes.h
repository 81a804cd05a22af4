// SPDX-License-Identifier: BSD-2-Clause
// Bytes in network order and their sum, for the clients of echo_client.c.
#ifndef ECHO_BYTES_H
#define ECHO_BYTES_H

#include <stdint.h>

static inline void put16(uint8_t *p, uint32_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}
static inline void put32(uint8_t *p, uint32_t value)
{
    put16(p, value >> 16);
    put16(p + 2, value);
}
static inline uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline uint32_t sum16(uint32_t sum, const uint8_t *p, uint32_t bytes)
{
    for (; bytes > 1; bytes -= 2, p += 2)
        sum += (uint32_t)p[0] << 8 | p[1];
    return bytes ? sum + ((uint32_t)p[0] << 8) : sum;
}
static inline uint32_t folded(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return ~(sum + (sum >> 16)) & 0xffff;
}

#endif
