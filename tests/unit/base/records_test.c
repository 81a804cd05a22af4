// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
// The queue against a plain array, in both kinds of build: the ring of static ones, the growing rings of allocator
// ones.
#include "base/records.h"

#include "base_test.h"

static struct test_memory t;
enum { LIMIT = 8192 };

struct expected {
    uint32_t length;
    uint8_t *bytes;  // where push put it
    uint32_t seed;
};

static void write_pattern(uint8_t *bytes, uint32_t length, uint32_t seed)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)(seed + i * 7);
}

static void check_pattern(const uint8_t *bytes, uint32_t length, uint32_t seed)
{
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(bytes[i], (uint8_t)(seed + i * 7));
}

static void first_in_first_out_and_nothing_moves(void **state)
{
    (void)state;
    static struct expected queue[4096];
    struct memory *memory = test_memory_init(&t);
    struct records records;
    uint32_t head = 0, tail = 0, used = 0, length;
    records_init(&records, LIMIT);
    assert_int_equal(records_carve(&records, memory), WEIR_OK);
    for (uint32_t step = 0; step < 60000; step++) {
        const bool filling = step / 500 % 2 == 0;
        if (test_random(4) < (filling ? 3u : 1u)) {
            const uint32_t bytes = test_random(test_random(3) ? 100 : 1500), need = (bytes + 15) & ~7u;
            uint8_t *to = records_push(&records, memory, bytes);
            if (!to) {
                assert_true(used + need > LIMIT / 4);  // not refused while it is nearly empty
            } else {
                assert_int_equal((uintptr_t)to % 8, 0);
                write_pattern(to, bytes, step);
                if (test_random(10) == 0) {
                    records_unpush(&records);
                } else {
                    queue[tail++ % 4096] = (struct expected){bytes, to, step};
                    used += need;
                }
            }
        } else if (head != tail) {
            const struct expected *oldest = &queue[head++ % 4096];
            assert_ptr_equal(records_front(&records, &length), oldest->bytes);
            assert_int_equal(length, oldest->length);
            check_pattern(oldest->bytes, length, oldest->seed);
            records_pop(&records, memory);
            used -= (length + 15) & ~7u;
        } else {
            assert_null(records_front(&records, &length));
            records_pop(&records, memory);
        }
        assert_int_equal(records.count, tail - head);
        assert_int_equal(records.used, used);
        assert_true(records.size <= LIMIT);
        if (WEIR_CFG_ALLOCATOR) {
            assert_int_equal(records_memory(&records), t.heap.bytes);
            assert_int_equal(memory->used_bytes, t.heap.bytes);
        }
    }
    for (uint32_t i = head; i != tail; i++)  // all at once: none overlaps another
        check_pattern(queue[i % 4096].bytes, queue[i % 4096].length, queue[i % 4096].seed);
    records_clear(&records, memory);
    assert_null(records_front(&records, &length));
    test_memory_empty(&t);
    assert_non_null(records_push(&records, memory, 100));  // of use again
    records_clear(&records, memory);
    test_memory_empty(&t);
}

static void an_empty_queue_takes_what_the_limit_allows(void **state)
{
    (void)state;
    for (int before = 0; before < 3; before++) {
        struct memory *memory = test_memory_init(&t);
        struct records records;
        records_init(&records, LIMIT + 5);
        assert_int_equal(records_carve(&records, memory), WEIR_OK);
        for (int i = 0; i < before * 2; i++)
            assert_non_null(records_push(&records, memory, 300));
        for (int i = 0; i < before * 2; i++)
            records_pop(&records, memory);
        assert_null(records_push(&records, memory, LIMIT - 7));
        assert_null(records_push(&records, memory, 0xffffffff));
        assert_null(records_push(&records, memory, 0xfffffff0));
        uint8_t *whole = records_push(&records, memory, LIMIT - 8);
        assert_non_null(whole);
        memset(whole, 1, LIMIT - 8);
        assert_null(records_push(&records, memory, 0));
        records_pop(&records, memory);
        assert_non_null(records_push(&records, memory, 0));
        uint32_t length = 1;
        assert_non_null(records_front(&records, &length));
        assert_int_equal(length, 0);
        records_clear(&records, memory);
        test_memory_empty(&t);
    }
}

static void a_full_ring_takes_again_as_it_drains(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct records records;
    records_init(&records, LIMIT);
    assert_int_equal(records_carve(&records, memory), WEIR_OK);
    uint32_t held = 0;
    while (records_push(&records, memory, 120))
        held++;
    assert_true(held >= LIMIT * 9 / 10 / 128);
    for (int i = 0; i < 1000; i++) {
        for (uint32_t k = 0; k < held / 2; k++)
            records_pop(&records, memory);
        for (uint32_t k = 0; k < held / 4; k++)
            assert_non_null(records_push(&records, memory, 120));
        while (records.count < held / 2)
            assert_non_null(records_push(&records, memory, 120));
        while (records.count < held && records_push(&records, memory, 120))
            ;
        assert_true(records.count >= held * 3 / 4);
    }
    records_clear(&records, memory);
    test_memory_empty(&t);
}

static void a_lowered_limit_holds(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct records records;
    records_init(&records, LIMIT);
    assert_int_equal(records_carve(&records, memory), WEIR_OK);
    for (int i = 0; i < 4; i++)
        assert_non_null(records_push(&records, memory, 992));
    records.limit = 2000;
    assert_null(records_push(&records, memory, 1));
    records_pop(&records, memory);
    records_pop(&records, memory);
    records_pop(&records, memory);
    assert_null(records_push(&records, memory, 993));
    assert_non_null(records_push(&records, memory, 992));
    records_clear(&records, memory);
    test_memory_empty(&t);
}

static void a_record_can_be_taken_back_once(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct records records;
    uint32_t length;
    records_init(&records, LIMIT);
    assert_int_equal(records_carve(&records, memory), WEIR_OK);
    records_unpush(&records);
    records_push(&records, memory, 10);
    records_push(&records, memory, 20);
    records_unpush(&records);
    records_unpush(&records);  // nothing: only the newest, only once
    assert_int_equal(records.count, 1);
    assert_non_null(records_front(&records, &length));
    assert_int_equal(length, 10);
    records_pop(&records, memory);
    records_unpush(&records);
    assert_int_equal(records.count, 0);
    records_clear(&records, memory);
    test_memory_empty(&t);
}

#if WEIR_CFG_ALLOCATOR
static void memory_is_taken_by_need_and_given_back(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct records records;
    records_init(&records, 1000000);
    assert_int_equal(t.heap.bytes, 0);
    assert_non_null(records_push(&records, memory, 40));
    assert_true(t.heap.bytes <= 600);
    while (records_push(&records, memory, 1400))
        ;
    assert_true(records.used > 950000);
    assert_true(t.heap.calls < 20);
    while (records.count)
        records_pop(&records, memory);
    assert_true(t.heap.bytes <= 2200);
    t.heap.fail_after = 0;
    assert_null(records_push(&records, memory, 60000));
    t.heap.fail_after = -1;
    assert_non_null(records_push(&records, memory, 60000));
    records_clear(&records, memory);
    test_memory_empty(&t);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_in_first_out_and_nothing_moves),
        cmocka_unit_test(an_empty_queue_takes_what_the_limit_allows),
        cmocka_unit_test(a_full_ring_takes_again_as_it_drains),
        cmocka_unit_test(a_lowered_limit_holds),
        cmocka_unit_test(a_record_can_be_taken_back_once),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(memory_is_taken_by_need_and_given_back),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
