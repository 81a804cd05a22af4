// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of rings between processes that do not trust each other. Each side keeps its own counter to itself and
// shows a copy; what the other shows is read once, and whatever it is, no more follows from it than the ring has.
// Counters count bytes (or slots) since the ring began and wrap at 2^32; sizes are powers of two.
#ifndef MICRO_RING_H
#define MICRO_RING_H

#include <stdint.h>
#include <string.h>

#include "weir/atomic.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

typedef WEIR_ATOMIC(uint32_t)
    shared_word;  // in shared memory: loads and stores in one order for all, data before its counter

// What lies between our counter and the other side's, which is ahead.
static inline uint32_t ring_filled(uint32_t theirs, uint32_t ours, uint32_t size)
{
    const uint32_t filled = theirs - ours;
    return filled < size ? filled : size;
}

// The room ahead of our counter, when the other side has taken everything before its own.
static inline uint32_t ring_room(uint32_t theirs, uint32_t ours, uint32_t size)
{
    const uint32_t filled = ours - theirs;
    return filled < size ? size - filled : 0;
}

// Of so many bytes at `at`, those before the ring's end; the others are at its beginning.
static inline uint32_t ring_first(uint32_t size, uint32_t at, uint32_t bytes)
{
    const uint32_t left = size - (at & (size - 1));
    return bytes < left ? bytes : left;
}

static inline void ring_put(uint8_t *ring, uint32_t size, uint32_t at, const void *from, uint32_t bytes)
{
    const uint32_t first = ring_first(size, at, bytes);
    memcpy(ring + (at & (size - 1)), from, first);
    memcpy(ring, (const uint8_t *)from + first, bytes - first);
}

static inline void ring_get(const uint8_t *ring, uint32_t size, uint32_t at, void *to, uint32_t bytes)
{
    const uint32_t first = ring_first(size, at, bytes);
    memcpy(to, ring + (at & (size - 1)), first);
    memcpy((uint8_t *)to + first, ring, bytes - first);
}

WEIR_END_DECLS

#endif
