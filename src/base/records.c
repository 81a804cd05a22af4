// SPDX-License-Identifier: BSD-2-Clause
// Each call is O(1), with at most one allocation and one release (records_clear, and seldom records_pop: one for each
// ring).
#include "base/records.h"

#define RECORDS_RING_FIRST 512u  // bytes of the first ring
#define RECORDS_RING_KEPT 2048u  // the largest that an empty queue keeps

// Records lie in [head, tail); or, once round, in [head, wrap) and [0, tail). head == tail: full if used, else empty.
struct records_ring {
    struct records_ring *next;
    uint32_t size;
    uint32_t used;
    uint32_t head, tail, wrap;
};
struct record {
    uint32_t length, taken;  // taken: with this header and padding
};
#define RECORDS_RING_HEADER ((sizeof(struct records_ring) + 7u) & ~(size_t)7)
_Static_assert(sizeof(struct record) == 8, "records stay aligned to 8");

static inline uint8_t *records_place(const struct records_ring *ring, uint32_t at)
{
    return (uint8_t *)ring + RECORDS_RING_HEADER + at;
}

void records_init(struct records *records, uint32_t limit)
{
    memset(records, 0, sizeof *records);
    records->limit = limit & ~7u;
}

static void records_attach(struct records *records, struct records_ring *ring, uint32_t size)
{
    memset(ring, 0, sizeof *ring);
    ring->size = size;
    records->size += size;
    if (records->last)
        records->last->next = ring;
    else
        records->first = ring;
    records->last = ring;
}

size_t records_carve_bytes(uint32_t limit)
{
    return WEIR_CFG_ALLOCATOR || !limit ? 0 : memory_carve_bytes(RECORDS_RING_HEADER + limit);
}

int records_carve(struct records *records, struct memory *memory)
{
    if (WEIR_CFG_ALLOCATOR || !records->limit)
        return WEIR_OK;
    struct records_ring *ring = memory_carve(memory, RECORDS_RING_HEADER + records->limit);
    if (!ring)
        return WEIR_NO_MEMORY;
    records_attach(records, ring, records->limit);
    return WEIR_OK;
}

static void records_detach_first(struct records *records, struct memory *memory)
{
    struct records_ring *ring = records->first;
    records->first = ring->next;
    if (!records->first)
        records->last = NULL;
    records->size -= ring->size;
    memory_put(memory, ring, RECORDS_RING_HEADER + ring->size);
}

// `need` contiguous bytes of the ring; NULL: there are not.
static uint8_t *records_ring_take(struct records_ring *ring, uint32_t need)
{
    if (!ring->used) {
        ring->head = ring->tail = 0;
        ring->wrap = ring->size;
    }
    uint32_t at = ring->tail;
    if (!ring->used || ring->tail > ring->head) {
        if (ring->size - at < need) {
            if (ring->head < need)
                return NULL;
            ring->wrap = at;
            at = 0;
        }
    } else if (ring->head - at < need) {
        return NULL;
    }
    ring->tail = at + need;
    ring->used += need;
    return records_place(ring, at);
}

// A new newest ring, at least as large as all the others together, and for `need` bytes.
static uint8_t *records_grow(struct records *records, struct memory *memory, uint32_t need)
{
    if (!WEIR_CFG_ALLOCATOR)
        return NULL;
    if (!records->count && records->first)
        records_detach_first(records, memory);
    const uint32_t left = records->limit - min_u32(records->size, records->limit);
    if (need > left)
        return NULL;
    const uint32_t size = min_u32(left, max_u32(need, max_u32(RECORDS_RING_FIRST, records->size)));
    struct records_ring *ring = memory_get(memory, RECORDS_RING_HEADER + size);
    if (!ring)
        return NULL;
    records_attach(records, ring, size);
    return records_ring_take(ring, need);
}

void *records_push(struct records *records, struct memory *memory, uint32_t length)
{
    records->newest = 0;
    if (length > UINT32_MAX - 16)
        return NULL;
    const uint32_t need = (length + (uint32_t)sizeof(struct record) + 7) & ~7u;
    if (records->used > records->limit || need > records->limit - records->used)  // the limit may have been lowered
        return NULL;
    uint8_t *taken = records->last ? records_ring_take(records->last, need) : NULL;
    if (!taken)
        taken = records_grow(records, memory, need);
    if (!taken)
        return NULL;
    struct record *record = (void *)taken;
    record->length = length;
    record->taken = need;
    records->used += need;
    records->newest = need;
    records->count++;
    return record + 1;
}

// The newest record ends at the tail of the newest ring that has any; it began a `taken` before, and if that was the
// ring's beginning with others behind, it had come round there.
void records_unpush(struct records *records)
{
    struct records_ring *ring = records->last;
    const uint32_t taken = records->newest;
    if (!taken)
        return;
    records->newest = 0;
    records->count--;
    records->used -= taken;
    ring->used -= taken;
    ring->tail -= taken;
    if (!ring->tail && ring->used) {
        ring->tail = ring->wrap;
        ring->wrap = ring->size;
    }
}

void *records_front(const struct records *records, uint32_t *length)
{
    if (!records->count)
        return NULL;
    struct record *record = (void *)records_place(records->first, records->first->head);
    *length = record->length;
    return record + 1;
}

void records_pop(struct records *records, struct memory *memory)
{
    struct records_ring *ring = records->first;
    if (!records->count)
        return;
    const uint32_t taken = ((struct record *)(void *)records_place(ring, ring->head))->taken;
    records->count--;
    records->used -= taken;
    records->newest = records->count ? records->newest : 0;
    ring->used -= taken;
    ring->head += taken;
    if (ring->head == ring->wrap) {
        ring->head = 0;
        ring->wrap = ring->size;
    }
    if (!WEIR_CFG_ALLOCATOR)
        return;
    while (!records->first->used && records->first->next)  // more than one when a record taken back left a ring empty
        records_detach_first(records, memory);
    if (!records->count && records->first->size > RECORDS_RING_KEPT)
        records_detach_first(records, memory);
}

void records_clear(struct records *records, struct memory *memory)
{
    records->count = records->used = records->newest = 0;
    if (WEIR_CFG_ALLOCATOR) {
        while (records->first)
            records_detach_first(records, memory);
    } else if (records->first) {
        records->first->used = 0;
    }
}

uint32_t records_memory(const struct records *records)
{
    uint32_t bytes = records->size;
    for (const struct records_ring *ring = records->first; ring; ring = ring->next)
        bytes += (uint32_t)RECORDS_RING_HEADER;
    return bytes;
}
