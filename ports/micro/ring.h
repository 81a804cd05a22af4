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

static inline void ring_put(uint8_t *ring, uint32_t size, uint32_t at, const void *from, uint32_t bytes)
{
    const uint32_t begin = at & (size - 1), first = bytes < size - begin ? bytes : size - begin;
    memcpy(ring + begin, from, first);
    memcpy(ring, (const uint8_t *)from + first, bytes - first);
}

static inline void ring_get(const uint8_t *ring, uint32_t size, uint32_t at, void *to, uint32_t bytes)
{
    const uint32_t begin = at & (size - 1), first = bytes < size - begin ? bytes : size - begin;
    memcpy(to, ring + begin, first);
    memcpy((uint8_t *)to + first, ring, bytes - first);
}

WEIR_END_DECLS

#endif
