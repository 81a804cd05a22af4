// SPDX-License-Identifier: BSD-2-Clause
#include "ports/posix/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct posix_pool pool;

static int open_pool(void **state)
{
    (void)state;
    posix_pool_init(&pool);
    return 0;
}

static int close_pool(void **state)
{
    (void)state;
    posix_pool_close(&pool);
    return 0;
}

// Each is a chunk of its own, as long as all of it is written to; then there are no more.
static void no_two_chunks_overlap(void **state)
{
    static void *chunks[8192];
    uint32_t count = 0;
    (void)state;
    for (void *chunk; (chunk = posix_pool_take(&pool)); count++) {
        assert_true(count < sizeof chunks / sizeof *chunks);
        memset(chunk, (int)(count % 251), POSIX_POOL_BYTES);
        chunks[count] = chunk;
    }
#ifdef __SANITIZE_ADDRESS__
    assert_int_equal(count, 0);
#else
    assert_true(count * POSIX_POOL_BYTES >= (size_t)10 << 20);  // the queues of a stream each way, when they are full
    assert_int_equal((uintptr_t)chunks[0] % ((size_t)2 << 20), 0);
#endif
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *byte = chunks[i];
        assert_int_equal(byte[0], i % 251);
        assert_memory_equal(byte, byte + 1, POSIX_POOL_BYTES - 1);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_true(posix_pool_give(&pool, chunks[i]));
    for (uint32_t i = count; i-- > 0;)
        assert_ptr_equal(posix_pool_take(&pool), chunks[i]);
    assert_null(posix_pool_take(&pool));
}

static void what_malloc_gave_is_not_the_pools(void **state)
{
    static uint8_t here;
    void *other = malloc(POSIX_POOL_BYTES);
    (void)state;
    assert_non_null(other);
    assert_false(posix_pool_give(&pool, other));
    assert_false(posix_pool_give(&pool, &here));
    if (pool.begin) {
        assert_false(posix_pool_give(&pool, pool.begin - 1));
        assert_false(posix_pool_give(&pool, pool.end));
    }
    free(other);
}

// The system refused, or addresses are watched by a sanitizer.
static void a_pool_without_memory_is_empty(void **state)
{
    struct posix_pool none = {0};
    (void)state;
    assert_null(posix_pool_take(&none));
    assert_false(posix_pool_give(&none, &none));
    posix_pool_close(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_two_chunks_overlap, open_pool, close_pool),
        cmocka_unit_test_setup_teardown(what_malloc_gave_is_not_the_pools, open_pool, close_pool),
        cmocka_unit_test(a_pool_without_memory_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
