// SPDX-License-Identifier: BSD-2-Clause
// Memory pools and message queues: a list of places behind two semaphores, one that counts free places, one that counts
// what is there.
#include "internal.h"

#include <string.h>

static osStatus_t status_of(int result, uint32_t ticks)
{
    return result == KERNEL_WOKEN ? osOK : ticks ? osErrorTimeout : osErrorResource;
}
static uint32_t rounded(uint32_t bytes) { return (bytes + 7) & ~7u; }

// --- memory pools ----------------------------------------------------------------------------------------------------
struct pool {
    const char *name;
    void *own, *own_memory;
    uint8_t *memory;
    uint32_t blocks, bytes;
    void *free;  // a list through the blocks themselves
    struct semaphore available;
};

osMemoryPoolId_t osMemoryPoolNew(uint32_t blocks, uint32_t bytes, const osMemoryPoolAttr_t *attr)
{
    const uint32_t each = rounded(bytes);
    void *own;
    if (!blocks || !bytes || bytes > UINT16_MAX || blocks > UINT16_MAX ||
        (attr && attr->mp_mem && attr->mp_size < blocks * each))
        return NULL;
    struct pool *pool = rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *pool, &own);
    void *memory = attr && attr->mp_mem ? attr->mp_mem : pool ? rtos2_alloc((size_t)blocks * each) : NULL;
    if (!pool || !memory) {
        rtos2_free(own);
        return NULL;
    }
    *pool = (struct pool){.name = attr ? attr->name : NULL,
                          .own = own,
                          .own_memory = attr && attr->mp_mem ? NULL : memory,
                          .memory = memory,
                          .blocks = blocks,
                          .bytes = bytes,
                          .available = {.count = blocks, .most = blocks}};
    for (uint32_t i = blocks; i--;) {
        memcpy(pool->memory + (size_t)i * each, &pool->free, sizeof pool->free);
        pool->free = pool->memory + (size_t)i * each;
    }
    return pool;
}

const char *osMemoryPoolGetName(osMemoryPoolId_t id) { return id ? ((struct pool *)id)->name : NULL; }

void *osMemoryPoolAlloc(osMemoryPoolId_t id, uint32_t timeout)
{
    struct pool *pool = id;
    if (!pool || semaphore_take(&pool->available, rtos2_deadline(timeout)) != KERNEL_WOKEN)
        return NULL;
    const uint32_t state = arch_interrupts_off();
    void *block = pool->free;
    memcpy(&pool->free, block, sizeof pool->free);
    arch_interrupts_restore(state);
    return block;
}

osStatus_t osMemoryPoolFree(osMemoryPoolId_t id, void *block)
{
    struct pool *pool = id;
    const size_t offset = pool ? (size_t)((uint8_t *)block - pool->memory) : 0;
    if (!pool || !block || offset % rounded(pool->bytes) || offset / rounded(pool->bytes) >= pool->blocks)
        return osErrorParameter;
    const uint32_t state = arch_interrupts_off();
    memcpy(block, &pool->free, sizeof pool->free);
    pool->free = block;
    semaphore_give(&pool->available);
    arch_interrupts_restore(state);
    return osOK;
}

uint32_t osMemoryPoolGetCapacity(osMemoryPoolId_t id) { return id ? ((struct pool *)id)->blocks : 0; }
uint32_t osMemoryPoolGetBlockSize(osMemoryPoolId_t id) { return id ? ((struct pool *)id)->bytes : 0; }
uint32_t osMemoryPoolGetSpace(osMemoryPoolId_t id) { return id ? ((struct pool *)id)->available.count : 0; }
uint32_t osMemoryPoolGetCount(osMemoryPoolId_t id) { return osMemoryPoolGetCapacity(id) - osMemoryPoolGetSpace(id); }

osStatus_t osMemoryPoolDelete(osMemoryPoolId_t id)
{
    struct pool *pool = id;
    if (!pool)
        return osErrorParameter;
    if (pool->available.waiting.first)
        return osErrorResource;
    rtos2_free(pool->own_memory);
    rtos2_free(pool->own);
    return osOK;
}

// --- message queues --------------------------------------------------------------------------------------------------
struct place {
    struct place *next;
    uint8_t priority;
};
struct queue {
    const char *name;
    void *own, *own_memory;
    uint32_t messages, bytes;
    struct place *free, *first;  // first: by priority, equals in order of coming
    struct semaphore room, there;
};

osMessageQueueId_t osMessageQueueNew(uint32_t messages, uint32_t bytes, const osMessageQueueAttr_t *attr)
{
    const uint32_t each = (uint32_t)sizeof(struct place) + rounded(bytes);
    void *own;
    if (!messages || !bytes || bytes > UINT16_MAX || messages > UINT16_MAX ||
        (attr && attr->mq_mem && attr->mq_size < messages * each))
        return NULL;
    struct queue *queue = rtos2_block(attr ? attr->cb_mem : NULL, attr ? attr->cb_size : 0, sizeof *queue, &own);
    uint8_t *memory = attr && attr->mq_mem ? attr->mq_mem : queue ? rtos2_alloc((size_t)messages * each) : NULL;
    if (!queue || !memory) {
        rtos2_free(own);
        return NULL;
    }
    *queue = (struct queue){.name = attr ? attr->name : NULL,
                            .own = own,
                            .own_memory = attr && attr->mq_mem ? NULL : memory,
                            .messages = messages,
                            .bytes = bytes,
                            .room = {.count = messages, .most = messages},
                            .there = {.most = messages}};
    for (uint32_t i = 0; i < messages; i++) {
        struct place *place = (struct place *)(void *)(memory + (size_t)i * each);
        place->next = queue->free;
        queue->free = place;
    }
    return queue;
}

const char *osMessageQueueGetName(osMessageQueueId_t id) { return id ? ((struct queue *)id)->name : NULL; }

osStatus_t osMessageQueuePut(osMessageQueueId_t id, const void *message, uint8_t priority, uint32_t timeout)
{
    struct queue *queue = id;
    if (!queue || !message)
        return osErrorParameter;
    const int result = semaphore_take(&queue->room, rtos2_deadline(timeout));
    if (result != KERNEL_WOKEN)
        return status_of(result, timeout);
    const uint32_t state = arch_interrupts_off();
    struct place *place = queue->free, **at = &queue->first;
    queue->free = place->next;
    memcpy(place + 1, message, queue->bytes);
    place->priority = priority;
    while (*at && (*at)->priority >= priority)
        at = &(*at)->next;
    place->next = *at;
    *at = place;
    semaphore_give(&queue->there);
    arch_interrupts_restore(state);
    return osOK;
}

osStatus_t osMessageQueueGet(osMessageQueueId_t id, void *message, uint8_t *priority, uint32_t timeout)
{
    struct queue *queue = id;
    if (!queue || !message)
        return osErrorParameter;
    const int result = semaphore_take(&queue->there, rtos2_deadline(timeout));
    if (result != KERNEL_WOKEN)
        return status_of(result, timeout);
    const uint32_t state = arch_interrupts_off();
    struct place *place = queue->first;
    queue->first = place->next;
    memcpy(message, place + 1, queue->bytes);
    if (priority)
        *priority = place->priority;
    place->next = queue->free;
    queue->free = place;
    semaphore_give(&queue->room);
    arch_interrupts_restore(state);
    return osOK;
}

uint32_t osMessageQueueGetCapacity(osMessageQueueId_t id) { return id ? ((struct queue *)id)->messages : 0; }
uint32_t osMessageQueueGetMsgSize(osMessageQueueId_t id) { return id ? ((struct queue *)id)->bytes : 0; }
uint32_t osMessageQueueGetCount(osMessageQueueId_t id) { return id ? ((struct queue *)id)->there.count : 0; }
uint32_t osMessageQueueGetSpace(osMessageQueueId_t id) { return id ? ((struct queue *)id)->room.count : 0; }

osStatus_t osMessageQueueReset(osMessageQueueId_t id)
{
    struct queue *queue = id;
    if (!queue)
        return osErrorParameter;
    while (queue->there.count) {
        const uint32_t state = arch_interrupts_off();
        if (queue->there.count) {
            struct place *place = queue->first;
            queue->there.count--;
            queue->first = place->next;
            place->next = queue->free;
            queue->free = place;
            semaphore_give(&queue->room);
        }
        arch_interrupts_restore(state);
    }
    return osOK;
}

osStatus_t osMessageQueueDelete(osMessageQueueId_t id)
{
    struct queue *queue = id;
    if (!queue)
        return osErrorParameter;
    if (queue->room.waiting.first || queue->there.waiting.first)
        return osErrorResource;
    rtos2_free(queue->own_memory);
    rtos2_free(queue->own);
    return osOK;
}
