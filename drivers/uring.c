// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // syscall, RWF_NOWAIT
#include "uring.h"

#include <errno.h>
#include <string.h>

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void *map(int fd, uint32_t bytes, uint64_t what)
{
    void *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, (off_t)what);
    return mapped == MAP_FAILED ? NULL : mapped;
}

static uint32_t *word_at(const struct uring *ring, uint32_t offset)
{
    return (uint32_t *)(void *)((uint8_t *)ring->rings + offset);
}

#define NEEDED (IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS)  // the latter came with IORING_OP_WRITE, Linux 5.6

bool uring_open(struct uring *ring)
{
    struct io_uring_params about;
    memset(ring, 0, sizeof *ring);
    memset(&about, 0, sizeof about);
    ring->fd = (int)syscall(SYS_io_uring_setup, URING_WRITES, &about);
    if (ring->fd < 0)
        return false;
    const uint32_t submit_bytes = about.sq_off.array + about.sq_entries * (uint32_t)sizeof(uint32_t);
    const uint32_t complete_bytes = about.cq_off.cqes + about.cq_entries * (uint32_t)sizeof(struct io_uring_cqe);
    ring->rings_bytes = submit_bytes > complete_bytes ? submit_bytes : complete_bytes;
    ring->entries_bytes = about.sq_entries * (uint32_t)sizeof(struct io_uring_sqe);
    if ((about.features & NEEDED) == NEEDED) {
        ring->rings = map(ring->fd, ring->rings_bytes, IORING_OFF_SQ_RING);
        ring->entries = map(ring->fd, ring->entries_bytes, IORING_OFF_SQES);
    }
    if (!ring->rings || !ring->entries) {
        uring_close(ring);
        return false;
    }
    ring->submit_tail = word_at(ring, about.sq_off.tail);
    ring->complete_head = word_at(ring, about.cq_off.head);
    ring->complete_tail = word_at(ring, about.cq_off.tail);
    ring->submit_mask = *word_at(ring, about.sq_off.ring_mask);
    ring->complete_mask = *word_at(ring, about.cq_off.ring_mask);
    ring->submissions = ring->entries;
    ring->wait_flags = RWF_NOWAIT;
    ring->completions = (struct io_uring_cqe *)(void *)((uint8_t *)ring->rings + about.cq_off.cqes);
    for (uint32_t i = 0; i < about.sq_entries; i++)
        word_at(ring, about.sq_off.array)[i] = i;
    return true;
}

void uring_close(struct uring *ring)
{
    if (ring->rings)
        munmap(ring->rings, ring->rings_bytes);
    if (ring->entries)
        munmap(ring->entries, ring->entries_bytes);
    if (ring->fd > 0)
        close(ring->fd);
    memset(ring, 0, sizeof *ring);
}

static void queue(struct uring *ring, int fd, const struct uring_write *writes, uint32_t count)
{
    const uint32_t tail = *ring->submit_tail;  // only we write it
    for (uint32_t i = 0; i < count; i++) {
        struct io_uring_sqe *entry = &ring->submissions[(tail + i) & ring->submit_mask];
        memset(entry, 0, sizeof *entry);
        entry->opcode = IORING_OP_WRITE;
        entry->fd = fd;
        entry->addr = (uint64_t)(uintptr_t)writes[i].data;
        entry->len = writes[i].bytes;
        entry->rw_flags = ring->wait_flags;
        entry->user_data = i;
    }
    __atomic_store_n(ring->submit_tail, tail + count, __ATOMIC_RELEASE);
}

static uint32_t collect(struct uring *ring, struct uring_write *writes)
{
    uint32_t head = *ring->complete_head, count = 0;  // only we write it
    bool flag_unknown = false;
    for (; head != __atomic_load_n(ring->complete_tail, __ATOMIC_ACQUIRE); head++, count++) {
        const struct io_uring_cqe *entry = &ring->completions[head & ring->complete_mask];
        // Files that do not know the flag never wait when they are O_NONBLOCK; those that do wait without it.
        const bool unknown = entry->res == -EOPNOTSUPP && ring->wait_flags;
        writes[entry->user_data].result = unknown ? -EAGAIN : entry->res;
        flag_unknown |= unknown;
    }
    __atomic_store_n(ring->complete_head, head, __ATOMIC_RELEASE);
    if (flag_unknown)
        ring->wait_flags = 0;
    return count;
}

bool uring_writes(struct uring *ring, int fd, struct uring_write *writes, uint32_t count)
{
    uint32_t submitted = 0, completed = 0;
    for (uint32_t i = 0; i < count; i++)
        writes[i].result = -EAGAIN;
    queue(ring, fd, writes, count);
    while (completed < count) {
        const long taken = syscall(SYS_io_uring_enter, ring->fd, count - submitted, count - completed,
                                   IORING_ENTER_GETEVENTS, NULL, 0);
        if (taken < 0 && errno != EINTR && errno != EAGAIN && errno != EBUSY)
            return false;
        submitted += taken > 0 ? (uint32_t)taken : 0;
        completed += collect(ring, writes);
    }
    return true;
}
