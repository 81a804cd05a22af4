// SPDX-License-Identifier: BSD-2-Clause
// The blocks of a pcapng file, as a reader walks them.
#ifndef TESTS_APPS_BLOCKS_H
#define TESTS_APPS_BLOCKS_H

#include "capture_file.h"
#include "fixture.h"

struct blocks_found {
    uint32_t sections, interfaces, packets, statistics;
    uint64_t last_us;  // of the last packet
    uint64_t dropped;  // as the statistics tell
    uint32_t longest;  // bytes kept of a packet
    uint32_t flags;    // of the last packet
};

static inline uint32_t blocks_u32(const char *at)
{
    const uint8_t *const bytes = (const uint8_t *)at;
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

// All of `file` is whole blocks, each with its length at both ends, the section's header first, and no packet of an
// interface that is not described.
static inline struct blocks_found blocks_walk(const char *file, uint32_t length)
{
    struct blocks_found found = {0};
    for (uint32_t at = 0, size; at < length; at += size) {
        assert_true(length - at >= 12);
        const uint32_t type = blocks_u32(file + at);
        size = blocks_u32(file + at + 4);
        assert_true(size >= 12 && size % 4 == 0 && size <= length - at);
        assert_int_equal(blocks_u32(file + at + size - 4), size);
        const char *const content = file + at + 8;
        assert_int_equal(at == 0, type == 0x0a0d0d0au);
        if (type == 0x0a0d0d0au) {
            assert_int_equal(blocks_u32(content), 0x1a2b3c4du);
            found.sections++;
        } else if (type == 1) {
            found.interfaces++;
        } else if (type == 5) {
            found.dropped = blocks_u32(content + 16);
            found.statistics++;
        } else {
            assert_int_equal(type, 6);
            assert_true(blocks_u32(content) < found.interfaces);
            const uint32_t kept = blocks_u32(content + 12);
            assert_true(kept <= blocks_u32(content + 16) && kept <= CAPTURE_BYTES && kept + 32 <= size);
            found.longest = kept > found.longest ? kept : found.longest;
            found.last_us = (uint64_t)blocks_u32(content + 4) << 32 | blocks_u32(content + 8);
            found.flags = blocks_u32(content + 20 + ((kept + 3) & ~3u) + 4);
            found.packets++;
        }
    }
    return found;
}

#endif
