// SPDX-License-Identifier: BSD-2-Clause
// An AF_XDP socket of Linux by its system calls alone: memory for frames, four rings shared with the kernel, and the
// program of five instructions that puts what a queue of the interface receives into one of them. Users include
// af_xdp.h.
#ifndef DRIVERS_XSK_H
#define DRIVERS_XSK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

#define XSK_RING 2048u             // entries of each ring, a power of two
#define XSK_FRAMES (2 * XSK_RING)  // the first half are received into, the second half sent from
// A frame to be sent begins so far into its memory; before it lies what is asked of the device.
#define XSK_TX_AT 64u
#define XSK_PACKET_FRAMES 18u  // frames that one packet may take: Linux's MAX_SKB_FRAGS and the first

// One ring: its one producer and its one consumer each write an index of their own, free-running.
struct xsk_ring {
    uint32_t *producer, *consumer;
    uint32_t *flags;
    void *entries;  // struct xdp_desc (rx, tx), or uint64_t (fill, completion)
    uint32_t at;    // this side's index, ahead of what is published
    void *mapped;
    size_t mapped_bytes;
};

struct xsk {
    int fd, map, program, link;  // -1: closed
    struct xsk_ring rx, tx, fill, completion;
    uint8_t *memory;
    uint32_t frame_bytes;  // 2048 or 4096
    bool many;             // a packet may take several frames
    bool checksum;         // the kernel or the device completes checksums
    bool zero_copy;        // the device reads and writes the memory itself
    const char *step;      // of the open that failed: what was asked for
};

// Opens a socket on queue `queue` of the interface, for packets of `mtu` bytes; `generic`: the program runs in Linux's
// general code and not in the device's driver. Returns 0 or an errno; `xsk_close` in either case.
int xsk_open(struct xsk *xsk, uint32_t ifindex, uint32_t queue, uint32_t mtu, bool generic);
void xsk_close(struct xsk *xsk);

// Entries that the other side has published and this side, their consumer, has not taken.
static inline uint32_t xsk_ring_filled(const struct xsk_ring *ring)
{
    return __atomic_load_n(ring->producer, __ATOMIC_ACQUIRE) - ring->at;
}
// Entries that this side, their producer, may still fill.
static inline uint32_t xsk_ring_room(const struct xsk_ring *ring)
{
    return XSK_RING - (ring->at - __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE));
}
// What this side wrote is seen by the other side before the index is.
static inline void xsk_ring_publish(struct xsk_ring *ring)
{
    __atomic_store_n(ring->producer, ring->at, __ATOMIC_RELEASE);
}
static inline void xsk_ring_release(struct xsk_ring *ring)
{
    __atomic_store_n(ring->consumer, ring->at, __ATOMIC_RELEASE);
}
static inline void xsk_ring_put(struct xsk_ring *ring, uint64_t address)
{
    ((uint64_t *)ring->entries)[ring->at++ % XSK_RING] = address;
}
static inline uint64_t xsk_ring_take(struct xsk_ring *ring)
{
    return ((const uint64_t *)ring->entries)[ring->at++ % XSK_RING];
}

WEIR_END_DECLS

#endif
