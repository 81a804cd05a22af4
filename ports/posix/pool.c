// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "pool.h"

#include <string.h>
#include <sys/mman.h>

#define LARGE_PAGE ((size_t)2 << 20)
#ifdef __SANITIZE_ADDRESS__
#define POOL_PAGES 0u  // it sees a use after free in malloc's memory only
#else
#define POOL_PAGES 8u  // a stream each way at full speed has 10 MB in its queues
#endif
#define POOL_BYTES (POOL_PAGES * LARGE_PAGE)
_Static_assert(LARGE_PAGE % POSIX_POOL_BYTES == 0, "WEIR_CFG_QUEUE_CHUNK_BYTES must divide 2 MB");

void posix_pool_init(struct posix_pool *pool)
{
    *pool = (struct posix_pool){0};
    if (!POOL_PAGES)
        return;
    uint8_t *found =
        mmap(NULL, POOL_BYTES + LARGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (found == MAP_FAILED)
        return;
    const size_t before = -(uintptr_t)found % LARGE_PAGE;
    if (before)
        munmap(found, before);
    pool->begin = pool->next = found + before;
    pool->end = pool->begin + POOL_BYTES;
    munmap(pool->end, LARGE_PAGE - before);
    madvise(pool->begin, POOL_BYTES, MADV_HUGEPAGE);
    *pool->begin = 0;
}

void *posix_pool_take(struct posix_pool *pool)
{
    void *memory = pool->returned;
    if (memory) {
        memcpy(&pool->returned, memory, sizeof pool->returned);
    } else if (pool->next != pool->end) {
        memory = pool->next;
        pool->next += POSIX_POOL_BYTES;
    }
    return memory;
}

bool posix_pool_give(struct posix_pool *pool, void *memory)
{
    if ((uintptr_t)memory - (uintptr_t)pool->begin >= (size_t)(pool->end - pool->begin))
        return false;
    memcpy(memory, &pool->returned, sizeof pool->returned);
    pool->returned = memory;
    return true;
}

void posix_pool_close(struct posix_pool *pool)
{
    if (pool->begin)
        munmap(pool->begin, POOL_BYTES);
}
