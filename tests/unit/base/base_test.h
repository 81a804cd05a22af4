// SPDX-License-Identifier: BSD-2-Clause
// What the tests of src/base share: cmocka, a seeded generator, and a port whose allocator counts, checks sizes, and
// can be made to fail.
#ifndef BASE_TEST_H
#define BASE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"

// xorshift32 (Marsaglia 2003): the same numbers in every run.
static uint32_t test_random_state = 2463534242u;
static inline uint32_t test_random(uint32_t bound)
{
    test_random_state ^= test_random_state << 13;
    test_random_state ^= test_random_state >> 17;
    test_random_state ^= test_random_state << 5;
    return test_random_state % bound;
}
static inline void test_fill(void *data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)data)[i] = (uint8_t)test_random(256);
}

struct test_heap {
    long blocks;      // not yet freed
    size_t bytes;     // in them
    long calls;       // of alloc
    long fail_after;  // alloc fails when this many more calls were made; negative: never
};
struct test_block {
    size_t bytes;
    size_t pad;
};

static inline void *heap_alloc(void *context, size_t bytes)
{
    struct test_heap *heap = context;
    heap->calls++;
    if (heap->fail_after == 0)
        return NULL;
    if (heap->fail_after > 0)
        heap->fail_after--;
    struct test_block *block = malloc(sizeof *block + bytes);
    assert_non_null(block);
    block->bytes = bytes;
    memset(block + 1, 0xa5, bytes);  // memory_get promises nothing about contents
    heap->blocks++;
    heap->bytes += bytes;
    return block + 1;
}
static inline void heap_free(void *context, void *memory, size_t bytes)
{
    struct test_heap *heap = context;
    struct test_block *block = (struct test_block *)memory - 1;
    assert_int_equal(block->bytes, bytes);
    heap->blocks--;
    heap->bytes -= bytes;
    free(block);
}

// A memory over the counting heap in allocator builds, over `block` in static ones.
struct test_memory {
    struct memory memory;
    struct weir_port port;
    struct test_heap heap;
    _Alignas(8) uint8_t block[200000];
};
static inline struct memory *test_memory_init(struct test_memory *t)
{
    memset(t, 0, offsetof(struct test_memory, block));
    t->heap.fail_after = -1;
    t->memory.port = &t->port;
    if (WEIR_CFG_ALLOCATOR) {
        t->port.context = &t->heap;
        t->port.alloc = heap_alloc;
        t->port.free = heap_free;
        memory_budget_set(&t->memory, UINT64_MAX);
    } else {
        t->memory.block = t->block;
        t->memory.block_bytes = sizeof t->block;
    }
    return &t->memory;
}
static inline void test_memory_empty(const struct test_memory *t)
{
    assert_int_equal(t->heap.blocks, 0);
    assert_int_equal(t->heap.bytes, 0);
    assert_int_equal(t->memory.used_bytes, 0);
}

#endif
