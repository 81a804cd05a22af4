// SPDX-License-Identifier: BSD-2-Clause
// Memory for blocks of one size, that of a stream queue's chunk, in one range of addresses. Chunks come and go with
// every burst: left to malloc they are given back to the system and fetched again, a page fault for each 4 KB of data.
// Here they stay, the last given is the first taken, and where the system has large pages (Linux:
// transparent_hugepage/enabled, madvise) two megabytes come with one fault: the first when the pool begins, so that no
// connection waits for it, the others when they are needed. One thread at a time, as the host's lock has it.
#ifndef POSIX_POOL_H
#define POSIX_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

// of a chunk; static builds have none
#define POSIX_POOL_BYTES ((size_t)(WEIR_CFG_QUEUE_CHUNK_BYTES ? WEIR_CFG_QUEUE_CHUNK_BYTES : 16384))

struct posix_pool {
    void *returned;               // given back and not taken again: a list
    uint8_t *begin, *next, *end;  // what lies from `next` on was never taken. All NULL: the system had no such range,
                                  // and the pool is empty
};

void posix_pool_init(struct posix_pool *pool);
void *posix_pool_take(struct posix_pool *pool);               // NULL: all are in use
bool posix_pool_give(struct posix_pool *pool, void *memory);  // false: it is not the pool's
void posix_pool_close(struct posix_pool *pool);

WEIR_END_DECLS

#endif
