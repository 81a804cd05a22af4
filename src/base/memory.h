// SPDX-License-Identifier: BSD-2-Clause
// Memory of an instance: the port's allocator with accounting, and pools of equal objects.
// In static builds (WEIR_CFG_ALLOCATOR 0) memory_get always fails after weir_create has carved its block.
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include "base/bytes.h"
#include "weir/error.h"
#include "weir/options.h"
#include "weir/port.h"

// Marks before the budget is used up, in sixteenths of it: from each on something is done to stay within it
// (src/tcp/pressure.c says what, and why in this order).
enum memory_mark {
    MEMORY_REFUSE,   // 12: nothing more is taken for data out of order, and the silent lose theirs
    MEMORY_RENEGE,   // 13: so do others
    MEMORY_IDLE,     // 14: windows stop growing, the idle are reset
    MEMORY_LARGEST,  // 15: so are others
    MEMORY_MARKS
};

struct stream;
struct memory {
    const struct weir_port *port;
    uint64_t used_bytes;    // got from the port and not given back
    uint64_t budget_bytes;  // memory_get refuses beyond it. UINT64_MAX: none
    uint8_t *block;         // what is left of the block given to weir_create
    size_t block_bytes;
#if WEIR_CFG_ALLOCATOR
    uint64_t mark_bytes[MEMORY_MARKS];
#else
    struct stream *streams;  // closed ones, see base/stream.h
#endif
};

#if WEIR_CFG_ALLOCATOR
void memory_budget_set(struct memory *memory, uint64_t bytes);  // and the marks before it
static inline bool memory_beyond(const struct memory *memory, enum memory_mark mark)
{
    return memory->used_bytes > memory->mark_bytes[mark];
}
void *memory_get(struct memory *memory, size_t bytes);                // NULL: none. Not zeroed
void memory_put(struct memory *memory, void *pointer, size_t bytes);  // `bytes` as asked for; NULL: nothing happens
#else
static inline void memory_budget_set(struct memory *memory, uint64_t bytes) { memory->budget_bytes = bytes; }
static inline bool memory_beyond(const struct memory *memory, enum memory_mark mark)
{
    return (void)memory, (void)mark, false;
}
static inline void *memory_get(struct memory *memory, size_t bytes)
{
    (void)memory, (void)bytes;
    return NULL;
}
static inline void memory_put(struct memory *memory, void *pointer, size_t bytes)
{
    (void)memory, (void)pointer, (void)bytes;
}
#endif
// Takes from weir_create's block (or the allocator when there is none); for fixed tables at start only. Zeroed, aligned
// to 8. NULL: none. What came from the block is never given to memory_put; what came from the allocator is.
void *memory_carve(struct memory *memory, size_t bytes);
// What that takes of the block: for weir_size, which adds up what the modules say they will carve.
static inline size_t memory_carve_bytes(size_t bytes) { return (bytes + 7) & ~(size_t)7; }

// A pool: a free list of equal objects, all carved at start in static builds, taken one by one in allocator builds and
// kept (up to `keep`) for the next.
struct pool {
    void *free;
    uint32_t object_bytes;
    uint32_t free_count, keep;
};
void pool_init(struct pool *pool, uint32_t object_bytes, uint32_t keep);
// When weir_create was given a block: sets `count` objects aside, or WEIR_NO_MEMORY. Nothing to do (WEIR_OK) with an
// allocator alone.
int pool_carve(struct pool *pool, struct memory *memory, uint32_t count);
static inline size_t pool_carve_bytes(size_t object_bytes, uint32_t count)
{
    return WEIR_CFG_ALLOCATOR ? 0 : count * memory_carve_bytes(object_bytes);
}
void *pool_get(struct pool *pool, struct memory *memory);  // NULL: none. Not zeroed
void *pool_get_zeroed(struct pool *pool, struct memory *memory);
void pool_put(struct pool *pool, struct memory *memory, void *object);
void pool_drain(struct pool *pool, struct memory *memory);  // gives every free object back (weir_destroy)

#endif
