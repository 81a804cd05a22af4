// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include "base_test.h"

static struct test_memory t;

static void gets_and_puts_are_accounted(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    void *a = memory_get(memory, 100);
    if (!WEIR_CFG_ALLOCATOR) {
        assert_null(a);
        return;
    }
    void *b = memory_get(memory, 50);
    assert_int_equal(memory->used_bytes, 150);
    memory_put(memory, a, 100);
    memory_put(memory, NULL, 77);
    assert_int_equal(memory->used_bytes, 50);
    memory_put(memory, b, 50);
    test_memory_empty(&t);
}

#if WEIR_CFG_ALLOCATOR
static void the_budget_holds(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    memory_budget_set(memory, 100);
    void *a = memory_get(memory, 60);
    assert_null(memory_get(memory, 41));
    assert_null(memory_get(memory, SIZE_MAX));
    void *b = memory_get(memory, 40);
    assert_non_null(b);
    assert_null(memory_get(memory, 1));
    memory_budget_set(memory, 50);  // lowered below what is used
    assert_null(memory_get(memory, 1));
    memory_put(memory, a, 60);
    a = memory_get(memory, 10);
    assert_non_null(a);
    memory_put(memory, a, 10);
    memory_put(memory, b, 40);
    test_memory_empty(&t);
}
#endif

static void nothing_without_an_allocator_or_when_it_fails(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    t.heap.fail_after = 0;
    if (WEIR_CFG_ALLOCATOR) {
        assert_null(memory_get(memory, 8));
        assert_null(memory_carve(memory, 8));
    }
    t.port.alloc = NULL;
    t.port.free = NULL;
    assert_null(memory_get(memory, 8));
    assert_int_equal(memory->used_bytes, 0);
}

static void carves_aligned_and_zeroed_until_the_block_ends(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    memset(t.block, 0xff, sizeof t.block);
    memory->block = t.block + 3;
    memory->block_bytes = 64;
    uint8_t *a = memory_carve(memory, 11);
    assert_ptr_equal(a, t.block + 8);
    for (int i = 0; i < 11; i++)
        assert_int_equal(a[i], 0);
    assert_int_equal(a[11], 0xff);
    uint8_t *b = memory_carve(memory, 40);
    assert_ptr_equal(b, t.block + 24);
    assert_int_equal(memory->block_bytes, 3);
    assert_null(memory_carve(memory, 4));
    assert_null(memory_carve(memory, SIZE_MAX));
    assert_non_null(memory_carve(memory, 3));
    assert_int_equal(memory->block_bytes, 0);
    assert_null(memory_carve(memory, 1));
}

static void carves_from_the_allocator_without_a_block(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    memory->block = NULL;
    uint8_t *a = memory_carve(memory, 20);
    if (!WEIR_CFG_ALLOCATOR) {
        assert_null(a);
        return;
    }
    for (int i = 0; i < 20; i++)
        assert_int_equal(a[i], 0);
    memory_put(memory, a, 20);
    test_memory_empty(&t);
}

static void a_pool_keeps_some_and_gives_back_the_rest(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct pool pool;
    void *objects[5];
    pool_init(&pool, 3, 2);
    assert_true(pool.object_bytes >= sizeof(void *));
    assert_int_equal(pool_carve(&pool, memory, 5), WEIR_OK);
    for (int i = 0; i < 5; i++) {
        objects[i] = pool_get(&pool, memory);
        assert_non_null(objects[i]);
        assert_int_equal((uintptr_t)objects[i] % 8, 0);
        for (int k = 0; k < i; k++)
            assert_ptr_not_equal(objects[i], objects[k]);
        memset(objects[i], 0xee, pool.object_bytes);
    }
    for (int i = 0; i < 5; i++)
        pool_put(&pool, memory, objects[i]);
    assert_int_equal(pool.free_count, WEIR_CFG_ALLOCATOR ? 2 : 5);
    void *again = pool_get(&pool, memory);
    assert_non_null(again);
    assert_int_equal(t.heap.calls, WEIR_CFG_ALLOCATOR ? 5 : 0);
    pool_put(&pool, memory, again);
    pool_drain(&pool, memory);
    assert_int_equal(pool.free_count, 0);
    test_memory_empty(&t);
}

static void a_carved_pool_ends(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct pool pool;
    memory->block = t.block;
    memory->block_bytes = 100;
    t.port.alloc = NULL;
    pool_init(&pool, 20, 0);
    assert_int_equal(pool_carve(&pool, memory, 5), WEIR_NO_MEMORY);
    assert_int_equal(pool_carve(&pool, memory, 0xffffffff), WEIR_NO_MEMORY);
    assert_int_equal(pool_carve(&pool, memory, 0), WEIR_OK);
    assert_null(pool_get(&pool, memory));
    assert_int_equal(pool_carve(&pool, memory, 4), WEIR_OK);
    void *objects[4];
    for (int i = 0; i < 4; i++)
        objects[i] = pool_get(&pool, memory);
    assert_non_null(objects[3]);
    assert_null(pool_get(&pool, memory));
    for (int i = 0; i < 4; i++)
        pool_put(&pool, memory, objects[i]);
    assert_int_equal(pool.free_count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gets_and_puts_are_accounted),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(the_budget_holds),
#endif
        cmocka_unit_test(nothing_without_an_allocator_or_when_it_fails),
        cmocka_unit_test(carves_aligned_and_zeroed_until_the_block_ends),
        cmocka_unit_test(carves_from_the_allocator_without_a_block),
        cmocka_unit_test(a_pool_keeps_some_and_gives_back_the_rest),
        cmocka_unit_test(a_carved_pool_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
