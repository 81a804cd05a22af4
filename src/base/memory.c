// SPDX-License-Identifier: BSD-2-Clause
#include "base/memory.h"

#define CARVE_ALIGN 8u  // enough for every type the stack keeps

#if WEIR_CFG_ALLOCATOR
void memory_budget_set(struct memory *memory, uint64_t bytes)
{
    memory->budget_bytes = bytes;
    for (uint32_t mark = 0; mark < MEMORY_MARKS; mark++)
        memory->mark_bytes[mark] = bytes / 16 * (16 - MEMORY_MARKS + mark);
}

void *memory_get(struct memory *memory, size_t bytes)
{
    const struct weir_port *port = memory->port;
    if (!port->alloc)
        return NULL;
    if (memory->used_bytes > memory->budget_bytes || bytes > memory->budget_bytes - memory->used_bytes)
        return NULL;
    void *pointer = port->alloc(port->context, bytes);
    if (pointer)
        memory->used_bytes += bytes;
    return pointer;
}

void memory_put(struct memory *memory, void *pointer, size_t bytes)
{
    const struct weir_port *port = memory->port;
    if (!pointer)
        return;
    memory->used_bytes -= bytes;
    if (port->free)
        port->free(port->context, pointer, bytes);
}
#endif

void *memory_carve(struct memory *memory, size_t bytes)
{
    void *pointer;
    if (memory->block) {
        const size_t skip = (size_t)(-(uintptr_t)memory->block & (CARVE_ALIGN - 1));
        if (memory->block_bytes < skip || bytes > memory->block_bytes - skip)
            return NULL;
        pointer = memory->block + skip;
        memory->block += skip + bytes;
        memory->block_bytes -= skip + bytes;
    } else {
        pointer = memory_get(memory, bytes);
        if (!pointer)
            return NULL;
    }
    return memset(pointer, 0, bytes);
}

void pool_init(struct pool *pool, uint32_t object_bytes, uint32_t keep)
{
    pool->free = NULL;
    pool->object_bytes = max_u32(object_bytes, sizeof(void *));
    pool->free_count = 0;
    pool->keep = keep;
}

// A free object's first word is the link to the next; memcpy, since the object's own type is unknown here.
static void pool_push(struct pool *pool, void *object)
{
    memcpy(object, &pool->free, sizeof(void *));
    pool->free = object;
    pool->free_count++;
}

static void *pool_pop(struct pool *pool)
{
    void *object = pool->free;
    if (object) {
        memcpy(&pool->free, object, sizeof(void *));
        pool->free_count--;
    }
    return object;
}

int pool_carve(struct pool *pool, struct memory *memory, uint32_t count)
{
    const uint32_t stride = (pool->object_bytes + CARVE_ALIGN - 1) & ~(CARVE_ALIGN - 1);
    if (!count || (WEIR_CFG_ALLOCATOR && !memory->block))  // with an allocator objects come one by one
        return WEIR_OK;
    if (stride < pool->object_bytes || count > SIZE_MAX / stride)
        return WEIR_NO_MEMORY;
    uint8_t *objects = memory_carve(memory, (size_t)stride * count);
    if (!objects)
        return WEIR_NO_MEMORY;
    for (uint32_t i = count; i-- > 0;)
        pool_push(pool, objects + (size_t)stride * i);
    pool->keep = max_u32(pool->keep, pool->free_count);
    return WEIR_OK;
}

void *pool_get(struct pool *pool, struct memory *memory)
{
    void *object = pool_pop(pool);
    return object ? object : memory_get(memory, pool->object_bytes);
}

// Of a size that is not known when it is compiled: memset has better ways for it than what a compiler puts in its
// place.
void *pool_get_zeroed(struct pool *pool, struct memory *memory)
{
    void *object = pool_get(pool, memory);
    return object ? memset(object, 0, pool->object_bytes) : NULL;
}

void pool_put(struct pool *pool, struct memory *memory, void *object)
{
    if (pool->free_count < pool->keep)
        pool_push(pool, object);
    else
        memory_put(memory, object, pool->object_bytes);
}

void pool_drain(struct pool *pool, struct memory *memory)
{
    void *object;
    while ((object = pool_pop(pool)))
        memory_put(memory, object, pool->object_bytes);
}
