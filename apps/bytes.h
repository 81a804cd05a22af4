// SPDX-License-Identifier: BSD-2-Clause
// Big-endian numbers in the bytes of messages: those of src/base/bytes.h, which is the core's own.
#ifndef APPS_BYTES_H
#define APPS_BYTES_H

#include <stdint.h>

static inline uint16_t get16(const uint8_t *bytes) { return (uint16_t)(bytes[0] << 8 | bytes[1]); }
static inline uint32_t get32(const uint8_t *bytes) { return (uint32_t)get16(bytes) << 16 | get16(bytes + 2); }

static inline void put16(uint8_t *bytes, uint32_t value)
{
    bytes[0] = (uint8_t)(value >> 8);
    bytes[1] = (uint8_t)value;
}

static inline void put32(uint8_t *bytes, uint32_t value)
{
    put16(bytes, value >> 16);
    put16(bytes + 2, value);
}

#endif
