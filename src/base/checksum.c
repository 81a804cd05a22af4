// SPDX-License-Identifier: BSD-2-Clause
#include "base/checksum.h"

// 32-bit words are added up in 64 bits: no carry is lost below 16 GB. Words are loaded with memcpy, which is one load
// where the machine takes unaligned addresses and byte loads where it does not.
//@ assigns \nothing;
static uint16_t checksum_fold_64(uint64_t sum)
{
    sum = (sum & 0xffffffff) + (sum >> 32);
    const uint32_t low = (uint32_t)sum + (uint32_t)(sum >> 32);
    return checksum_fold(low);
}

// The last three bytes at most, as they lie in memory; the missing bytes of the word are zero (RFC 1071 §4.1).
/*@ requires bytes < 4 && \valid_read(p + (0 .. bytes - 1));
    assigns \nothing; */
static uint32_t checksum_last_word(const uint8_t *p, size_t bytes)
{
    uint8_t padded[4] = {0};
    /*@ loop invariant i <= bytes;
        loop assigns i, padded[0 .. 3];
        loop variant bytes - i; */
    for (size_t i = 0; i < bytes; i++)
        padded[i] = p[i];
    return native32(padded);
}

// The two sums take bytes, not `void`: what WP does not follow is a cast from that.
/*@ requires \valid_read(p + (0 .. bytes - 1));
    assigns \nothing; */
static inline uint16_t sum_bytes(const uint8_t *p, size_t bytes)
{
    uint64_t sum = 0;
    /*@ loop invariant bytes <= \at(bytes, Pre) && p == \at(p, Pre) + (\at(bytes, Pre) - bytes);
        loop assigns bytes, p, sum;
        loop variant bytes; */
    for (; bytes >= 4; bytes -= 4, p += 4)
        sum += native32(p);
    return checksum_fold_64(sum + checksum_last_word(p, bytes));
}

uint16_t checksum_sum_portable(const void *data, size_t bytes) { return sum_bytes(data, bytes); }

/*@ requires \valid_read(p + (0 .. bytes - 1)) && \valid(q + (0 .. bytes - 1));
    requires \separated(p + (0 .. bytes - 1), q + (0 .. bytes - 1));
    assigns q[0 .. bytes - 1]; */
static inline uint16_t copy_sum_bytes(uint8_t *restrict q, const uint8_t *restrict p, size_t bytes)
{
    uint64_t sum = 0;
    /*@ loop invariant bytes <= \at(bytes, Pre);
        loop invariant p == \at(p, Pre) + (\at(bytes, Pre) - bytes) && q == \at(q, Pre) + (\at(bytes, Pre) - bytes);
        loop assigns bytes, p, q, sum, \at(q, Pre)[0 .. \at(bytes, Pre) - 1];
        loop variant bytes; */
    for (; bytes >= 4; bytes -= 4, p += 4, q += 4) {
        const uint32_t word = native32(p);
        put_native32(q, word);
        sum += word;
    }
    /*@ loop invariant i <= bytes;
        loop assigns i, q[0 .. bytes - 1];
        loop variant bytes - i; */
    for (size_t i = 0; i < bytes; i++)
        q[i] = p[i];
    return checksum_fold_64(sum + checksum_last_word(p, bytes));
}

uint16_t checksum_copy_sum_portable(void *restrict to, const void *restrict from, size_t bytes)
{
    return copy_sum_bytes(to, from, bytes);
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
