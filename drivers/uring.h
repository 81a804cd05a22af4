// SPDX-License-Identifier: BSD-2-Clause
// Several writes in one system call, by Linux' io_uring (linux/io_uring.h; "Efficient IO with io_uring", J. Axboe): the
// entry into the kernel is paid once a batch. For descriptors that are O_NONBLOCK: each write then ends within the
// call, in order, as write(2) would. Where the kernel has none, or does not allow it, uring_open says so, and whoever
// asked writes one by one.
#ifndef DRIVERS_URING_H
#define DRIVERS_URING_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

#define URING_WRITES 32u  // in a batch at most; a power of two

struct io_uring_sqe;
struct io_uring_cqe;

struct uring {
    void *rings, *entries;  // mapped; NULL: closed
    uint32_t rings_bytes, entries_bytes;
    int fd;
    int wait_flags;  // of each write: not to wait
    uint32_t *submit_tail, *complete_head, *complete_tail;
    uint32_t submit_mask, complete_mask;
    struct io_uring_sqe *submissions;
    struct io_uring_cqe *completions;
};

struct uring_write {
    const void *data;
    uint32_t bytes;
    int32_t result;  // bytes written, or -errno
};

// False: no io_uring here; the struct is closed then.
bool uring_open(struct uring *ring);
void uring_close(struct uring *ring);
static inline bool uring_is_open(const struct uring *ring) { return ring->rings != 0; }
// Does them all, 1 to URING_WRITES, and fills in their results. False: the call itself failed, with what has no result
// yet at -EAGAIN.
bool uring_writes(struct uring *ring, int fd, struct uring_write *writes, uint32_t count);

WEIR_END_DECLS

#endif
