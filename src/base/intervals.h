// SPDX-License-Identifier: BSD-2-Clause
// A bounded, sorted list of disjoint intervals [start, end) of sequence space: what is present beyond a hole.
// Work per insertion is bounded by the capacity (binary search, one memmove), flat in the number of segments received.
#ifndef BASE_INTERVALS_H
#define BASE_INTERVALS_H

#include "base/memory.h"

struct interval {
    uint32_t start, end;
};
#define INTERVALS_EARLIER 3u  // with the newest as many as fit into an option
struct intervals {
    uint16_t count, capacity;
    uint16_t recent;  // index of the interval that the newest data made or joined (RFC 2018 §4: first SACK block)
    uint16_t earlier_count;
    uint32_t total;                       // bytes in all of them, where there is an allocator
    uint32_t earlier[INTERVALS_EARLIER];  // where data before that came into others, newest first (the next blocks)
    struct interval item[];
};

static inline uint32_t intervals_bytes(uint32_t capacity)
{
    return (uint32_t)(sizeof(struct intervals) + capacity * sizeof(struct interval));
}
// How many bytes are present. (Memory is given by it where there is an allocator, and only there is it counted.)
static inline uint32_t intervals_total(const struct intervals *list) { return WEIR_CFG_ALLOCATOR ? list->total : 0; }
void intervals_init(struct intervals *list, uint16_t capacity);
// Adds [start, end), joining neighbours. Returns false, changing nothing, when it would need one more entry than there
// is room for.
bool intervals_add(struct intervals *list, uint32_t start, uint32_t end);
// Of [start, end): the first part that is not present. Returns its length (0: all present) and sets *hole_start.
// `base` is the sequence number all arithmetic is relative to (<= everything in the list).
uint32_t intervals_hole(const struct intervals *list, uint32_t start, uint32_t end, uint32_t *hole_start);
bool intervals_covers(const struct intervals *list, uint32_t start, uint32_t end);
// The interval that holds `at`; NULL: none does.
const struct interval *intervals_at(const struct intervals *list, uint32_t at);
// The first interval begins at or before `next`: removes it (and any wholly below) and returns its end; otherwise
// returns `next`.
uint32_t intervals_advance(struct intervals *list, uint32_t next);

#endif
