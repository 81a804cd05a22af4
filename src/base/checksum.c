// SPDX-License-Identifier: BSD-2-Clause
#include "base/checksum.h"

// 32-bit words are added up in 64 bits: no carry is lost below 16 GB. Words are loaded with memcpy, which is one load
// where the machine takes unaligned addresses and byte loads where it does not.
static uint16_t checksum_fold_64(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    const uint32_t low = (uint32_t)sum + (uint32_t)(sum >> 32);
    return checksum_fold(low);
}

// The last three bytes at most, as they lie in memory; the missing bytes of the word are zero (RFC 1071 §4.1).
static uint32_t checksum_last_word(const uint8_t *p, size_t bytes)
{
    uint8_t padded[4] = {0};
    uint32_t word;
    for (size_t i = 0; i < bytes; i++)
        padded[i] = p[i];
    memcpy(&word, padded, 4);
    return word;
}

uint16_t checksum_sum_portable(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint64_t sum = 0;
    for (; bytes >= 4; bytes -= 4, p += 4) {
        uint32_t word;
        memcpy(&word, p, 4);
        sum += word;
    }
    return checksum_fold_64(sum + checksum_last_word(p, bytes));
}

uint16_t checksum_copy_sum_portable(void *restrict to, const void *restrict from, size_t bytes)
{
    const uint8_t *p = from;
    uint8_t *q = to;
    uint64_t sum = 0;
    for (; bytes >= 4; bytes -= 4, p += 4, q += 4) {
        uint32_t word;
        memcpy(&word, p, 4);
        memcpy(q, &word, 4);
        sum += word;
    }
    for (size_t i = 0; i < bytes; i++)
        q[i] = p[i];
    return checksum_fold_64(sum + checksum_last_word(p, bytes));
}

uint16_t checksum_slices(const struct weir_port *port, const struct weir_slice *slices, uint32_t count, uint32_t offset,
                         uint32_t length)
{
    uint16_t sum = 0;
    uint32_t done = 0;
    for (; count && done < length; count--, slices++) {
        if (offset >= slices->length) {
            offset -= slices->length;
            continue;
        }
        const uint32_t bytes = min_u32(slices->length - offset, length - done);
        sum = checksum_add_at(sum, checksum_sum(port, slices->data + offset, bytes), done);
        done += bytes;
        offset = 0;
    }
    return sum;
}
