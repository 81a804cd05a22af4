// SPDX-License-Identifier: BSD-2-Clause
#include "kmem.h"

struct kmem_block {  // before what is given out
    _Alignas(8) size_t bytes;
    struct kmem_block *next;  // of the free ones
};
#define HEADER sizeof(struct kmem_block)

// Before the kernel runs there is nobody to share with.
static void lock(struct kmem *kmem)
{
    if (thread_self())
        mutex_lock(&kmem->lock);
}
static void unlock(struct kmem *kmem)
{
    if (thread_self())
        mutex_unlock(&kmem->lock);
}

static struct kmem_block *end_of(struct kmem_block *block)
{
    return (struct kmem_block *)(void *)((char *)block + block->bytes);
}

void kmem_init(struct kmem *kmem, void *memory, size_t bytes)
{
    struct kmem_block *all = memory;
    *kmem = (struct kmem){.free = all, .free_bytes = bytes & ~(HEADER - 1)};
    *all = (struct kmem_block){.bytes = kmem->free_bytes};
}

// What is left over stays free, unless it holds no header and a little more.
static void take(struct kmem_block **at, size_t bytes)
{
    struct kmem_block *block = *at;
    if (block->bytes < bytes + 2 * HEADER) {
        *at = block->next;
        return;
    }
    struct kmem_block *rest = (struct kmem_block *)(void *)((char *)block + bytes);
    *rest = (struct kmem_block){.bytes = block->bytes - bytes, .next = block->next};
    block->bytes = bytes;
    *at = rest;
}

void *kmem_alloc(struct kmem *kmem, size_t bytes)
{
    if (bytes > SIZE_MAX - 2 * HEADER)
        return NULL;
    const size_t whole = (bytes + 2 * HEADER - 1) & ~(HEADER - 1);
    lock(kmem);
    struct kmem_block **at = &kmem->free;
    while (*at && (*at)->bytes < whole)
        at = &(*at)->next;
    struct kmem_block *block = *at;
    if (block) {
        take(at, whole);
        kmem->free_bytes -= block->bytes;
    }
    unlock(kmem);
    return block ? block + 1 : NULL;
}

static void join(struct kmem_block *block)
{
    if (!block->next || end_of(block) != block->next)
        return;
    block->bytes += block->next->bytes;
    block->next = block->next->next;
}

void kmem_free(struct kmem *kmem, void *memory)
{
    if (!memory)
        return;
    struct kmem_block *block = (struct kmem_block *)memory - 1, *before = NULL;
    lock(kmem);
    for (struct kmem_block *at = kmem->free; at && at < block; at = at->next)
        before = at;
    kmem->free_bytes += block->bytes;
    block->next = before ? before->next : kmem->free;
    *(before ? &before->next : &kmem->free) = block;
    join(block);
    if (before)
        join(before);
    unlock(kmem);
}
