// SPDX-License-Identifier: BSD-2-Clause
#include "virtio_ring.h"

#include <stdatomic.h>
#include <string.h>

enum { DESC_NEXT = 1, DESC_WRITE = 2, AVAIL_NO_INTERRUPT = 1, USED_NO_NOTIFY = 1 };

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static uint16_t le16(uint16_t v) { return __builtin_bswap16(v); }
static uint32_t le32(uint32_t v) { return __builtin_bswap32(v); }
static uint64_t le64(uint64_t v) { return __builtin_bswap64(v); }
#else
static uint16_t le16(uint16_t v) { return v; }
static uint32_t le32(uint32_t v) { return v; }
static uint64_t le64(uint64_t v) { return v; }
#endif

// The device runs beside this processor as another would: what is written first must be seen first, and what says
// "there is more" must be read before it.
static void written_before(void) { atomic_thread_fence(memory_order_release); }
static void read_before(void) { atomic_thread_fence(memory_order_acquire); }
static void written_before_reading(void) { atomic_thread_fence(memory_order_seq_cst); }

void virtio_ring_init(struct virtio_ring *ring, struct virtio_ring_memory *memory, uint16_t size, bool event_index)
{
    memset(ring, 0, sizeof *ring);
    memset(memory, 0, sizeof *memory);
    ring->memory = memory;
    ring->size = ring->free_count = size;
    ring->event_index = event_index;
    ring->head = ring->tail = VIRTIO_RING_NONE;
    for (uint16_t i = 0; i < size; i++)
        ring->next[i] = (uint16_t)(i + 1);
    virtio_ring_silence(ring);
}

void virtio_ring_put(struct virtio_ring *ring, const void *memory, uint32_t length, bool device_writes)
{
    const uint16_t at = ring->first_free;
    struct virtio_descriptor *descriptor = &ring->memory->descriptors[at];
    ring->first_free = ring->next[at];
    ring->free_count--;
    descriptor->address = le64((uint64_t)(uintptr_t)memory);
    descriptor->length = le32(length);
    descriptor->flags = le16(device_writes ? DESC_WRITE : 0);
    if (ring->head == VIRTIO_RING_NONE) {
        ring->head = at;
        ring->count[at] = 0;
        ring->writable[at] = 0;
    } else {
        struct virtio_descriptor *before = &ring->memory->descriptors[ring->tail];
        before->next = le16(at);
        before->flags = le16((uint16_t)(le16(before->flags) | DESC_NEXT));
        ring->next[ring->tail] = at;
    }
    ring->tail = at;
    ring->count[ring->head]++;
    ring->writable[ring->head] += device_writes ? length : 0;
}

uint16_t virtio_ring_end(struct virtio_ring *ring)
{
    const uint16_t head = ring->head;
    ring->memory->available.ring[ring->available++ & (ring->size - 1)] = le16(head);
    ring->outstanding++;
    ring->head = ring->tail = VIRTIO_RING_NONE;
    written_before();
    ring->memory->available.index = le16(ring->available);
    return head;
}

// §2.7.10: with the event index, when the entry that the device named was passed since the last time.
bool virtio_ring_kick(struct virtio_ring *ring)
{
    const uint16_t new = ring->available, old = ring->told;
    if (new == old)
        return false;
    ring->told = new;
    written_before_reading();
    if (!ring->event_index)
        return !(le16(ring->memory->used.flags) & USED_NO_NOTIFY);
    const uint16_t event = (uint16_t)le32(ring->memory->used.ring[ring->size].id);
    return (uint16_t)(new - event - 1) < (uint16_t)(new - old);
}

uint16_t virtio_ring_ready(struct virtio_ring *ring)
{
    const uint16_t ready = (uint16_t)(le16(ring->memory->used.index) - ring->used);
    if (ready > ring->outstanding)
        ring->broken = true;
    if (ring->broken)
        return 0;
    read_before();
    return ready;
}

static void free_chain(struct virtio_ring *ring, uint16_t head)
{
    uint16_t last = head;
    for (uint16_t left = ring->count[head]; left > 1; left--)
        last = ring->next[last];
    ring->next[last] = ring->first_free;
    ring->first_free = head;
    ring->free_count = (uint16_t)(ring->free_count + ring->count[head]);
    ring->count[head] = 0;
    ring->outstanding--;
}

bool virtio_ring_take(struct virtio_ring *ring, uint16_t *head, uint32_t *length)
{
    if (!virtio_ring_ready(ring))
        return false;
    const struct virtio_used *entry = &ring->memory->used.ring[ring->used & (ring->size - 1)];
    const uint32_t id = le32(entry->id), written = le32(entry->length);
    if (id >= ring->size || !ring->count[id]) {
        ring->broken = true;
        return false;
    }
    ring->used++;
    *head = (uint16_t)id;
    *length = written < ring->writable[id] ? written : ring->writable[id];
    free_chain(ring, *head);
    return true;
}

bool virtio_ring_await(struct virtio_ring *ring, uint16_t count)
{
    ring->memory->available.flags = 0;
    ring->memory->available.ring[ring->size] = le16((uint16_t)(ring->used + count - 1));
    written_before_reading();
    return virtio_ring_ready(ring) >= count;
}

void virtio_ring_silence(struct virtio_ring *ring)
{
    if (ring->event_index)
        ring->memory->available.ring[ring->size] = le16((uint16_t)(ring->used - 1));
    else
        ring->memory->available.flags = le16(AVAIL_NO_INTERRUPT);
}
