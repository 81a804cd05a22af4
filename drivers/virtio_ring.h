// SPDX-License-Identifier: BSD-2-Clause
// A split virtqueue (Virtual I/O Device specification 1.2, §2.7), the driver's side. Memory is the same to the device
// and to the driver, and coherent. What the device writes is read once and checked: an answer that cannot be true
// breaks the ring (`broken`), and no memory is touched by it. The driver keeps what it must rely on apart from the
// memory that the device could write.
//
//     virtio_ring_put(ring, header, 12, false); virtio_ring_put(ring, payload, 1460, false);
//     head = virtio_ring_end(ring);                   one chain: the device may see it
//     if (virtio_ring_kick(ring)) …notify the device…
//     while (virtio_ring_take(ring, &head, &length)) …that chain is done; its descriptors are free again…
#ifndef DRIVERS_VIRTIO_RING_H
#define DRIVERS_VIRTIO_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifndef VIRTIO_RING_MAX
#define VIRTIO_RING_MAX 256u  // descriptors; a power of two
#endif
#define VIRTIO_RING_NONE 0xffffu

struct virtio_descriptor {
    volatile uint64_t address;
    volatile uint32_t length;
    volatile uint16_t flags, next;
};
struct virtio_used {
    volatile uint32_t id, length;
};
// Shared with the device. A ring of fewer descriptors has the event words earlier: behind its last entry.
struct virtio_ring_memory {
    WEIR_ALIGNAS(16) struct virtio_descriptor descriptors[VIRTIO_RING_MAX];
    struct {
        volatile uint16_t flags, index, ring[VIRTIO_RING_MAX + 1];
    } available;
    WEIR_ALIGNAS(4) struct {
        volatile uint16_t flags, index;
        struct virtio_used ring[VIRTIO_RING_MAX + 1];
    } used;
};

struct virtio_ring {
    struct virtio_ring_memory *memory;
    uint16_t size, free_count, first_free;
    uint16_t head, tail;       // of the chain being made; VIRTIO_RING_NONE: none
    uint16_t available, told;  // chains made available; up to where the device was told
    uint16_t used;             // chains taken back
    uint16_t outstanding;      // chains at the device
    bool event_index, broken;
    uint16_t next[VIRTIO_RING_MAX];      // of a descriptor in its chain or among the free ones
    uint16_t count[VIRTIO_RING_MAX];     // descriptors of the chain at the device that begins here; 0: none does
    uint32_t writable[VIRTIO_RING_MAX];  // bytes that the device may write to that chain
};

// `size`: a power of two, at most VIRTIO_RING_MAX. Clears the memory: the device does not know it yet, or was reset.
void virtio_ring_init(struct virtio_ring *ring, struct virtio_ring_memory *memory, uint16_t size, bool event_index);
// The descriptor that virtio_ring_put takes next. There must be one (free_count).
static inline uint16_t virtio_ring_next(const struct virtio_ring *ring) { return ring->first_free; }
// Adds a descriptor to the chain being made. What the device writes to must come behind what it reads (§2.7.4.2).
void virtio_ring_put(struct virtio_ring *ring, const void *memory, uint32_t length, bool device_writes);
// Ends the chain and lets the device see it. Returns its first descriptor, which names the chain.
uint16_t virtio_ring_end(struct virtio_ring *ring);
// Whether the device wants to be notified of what was made available since it was last.
bool virtio_ring_kick(struct virtio_ring *ring);
// Chains that the device is done with and that were not taken yet.
uint16_t virtio_ring_ready(struct virtio_ring *ring);
// Takes the next of them: *length the bytes that the device says it wrote, never more than it might. false: there is
// none, or the ring broke.
bool virtio_ring_take(struct virtio_ring *ring, uint16_t *head, uint32_t *length);
// Asks for an interrupt when `count` more chains are done (1: the next). Returns whether they are already, and perhaps
// without one.
bool virtio_ring_await(struct virtio_ring *ring, uint16_t count);
// No interrupts until virtio_ring_await. (With event_index this comes by itself when the awaited one came.)
void virtio_ring_silence(struct virtio_ring *ring);

WEIR_END_DECLS

#endif
