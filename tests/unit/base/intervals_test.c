// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
// Against a map with one byte for each sequence number, over many starting points, the wrap among them.
#include "base/intervals.h"

#include "base_test.h"

#define SPACE 300u

static struct intervals *make(uint16_t capacity)
{
    struct intervals *list = malloc(intervals_bytes(capacity));
    intervals_init(list, capacity);
    return list;
}

static uint32_t runs(const uint8_t *map)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < SPACE; i++)
        count += map[i] && (i == 0 || !map[i - 1]);
    return count;
}

static void check_equal(const struct intervals *list, const uint8_t *map, uint32_t base)
{
    assert_int_equal(list->count, runs(map));
    uint32_t item = 0;
    for (uint32_t i = 0; i < SPACE; i++) {
        if (map[i] && (i == 0 || !map[i - 1]))
            assert_int_equal(list->item[item].start, base + i);
        if (map[i] && (i + 1 == SPACE || !map[i + 1]))
            assert_int_equal(list->item[item++].end, base + i + 1);
    }
    assert_true(list->recent < list->count || (list->recent == 0 && list->count == 0));
}

static void check_hole(const struct intervals *list, const uint8_t *map, uint32_t base, uint32_t from, uint32_t to)
{
    uint32_t first = from, end, hole_start = 0;
    while (first < to && map[first])
        first++;
    end = first;
    while (end < to && !map[end])
        end++;
    assert_int_equal(intervals_hole(list, base + from, base + to, &hole_start), end - first);
    assert_int_equal(hole_start, base + first);
    assert_int_equal(intervals_covers(list, base + from, base + to), first == to);
}

static void equals_the_map(void **state)
{
    (void)state;
    static const uint32_t bases[] = {0, 1000, 0x7fffff80u, 0x7fffffffu, 0xfffffff0u, 0xffffff00u, 0xfffffed4u};
    for (uint32_t round = 0; round < 700; round++) {
        const uint32_t base = bases[round % 7];
        const uint16_t capacity = (uint16_t)(1 + test_random(20));
        struct intervals *list = make(capacity);
        uint8_t map[SPACE] = {0}, tried[SPACE];
        for (int step = 0; step < 60; step++) {
            const uint32_t from = test_random(SPACE),
                           to = from + test_random(min_u32(SPACE - from, 1 + test_random(60)) + 1);
            memcpy(tried, map, SPACE);
            memset(tried + from, 1, to - from);
            const bool fits = runs(tried) <= capacity;
            assert_int_equal(intervals_add(list, base + from, base + to), fits);
            if (fits)
                memcpy(map, tried, SPACE);
            check_equal(list, map, base);
            if (fits && to > from) {
                assert_true(seq_le(list->item[list->recent].start, base + from));
                assert_true(seq_le(base + to, list->item[list->recent].end));
            }
            const uint32_t a = test_random(SPACE), b = a + test_random(SPACE - a + 1);
            check_hole(list, map, base, a, b);
            if (test_random(8) == 0) {  // in-order data has come up to a
                uint32_t next = a;
                while (next < SPACE && map[next])
                    next++;
                memset(map, 0, next);
                assert_int_equal(intervals_advance(list, base + a), base + next);
                check_equal(list, map, base);
            }
        }
        free(list);
    }
}

static void touching_intervals_join(void **state)
{
    (void)state;
    struct intervals *list = make(4);
    assert_true(intervals_add(list, 10, 20));
    assert_true(intervals_add(list, 30, 40));
    assert_int_equal(list->recent, 1);
    assert_true(intervals_add(list, 5, 10));
    assert_int_equal(list->count, 2);
    assert_int_equal(list->recent, 0);
    assert_true(intervals_add(list, 20, 30));
    assert_int_equal(list->count, 1);
    assert_int_equal(list->item[0].start, 5);
    assert_int_equal(list->item[0].end, 40);
    assert_true(intervals_add(list, 50, 50));  // nothing
    assert_int_equal(list->count, 1);
    free(list);
}

static void a_full_list_refuses_and_keeps_what_it_has(void **state)
{
    (void)state;
    struct intervals *list = make(2);
    assert_true(intervals_add(list, 10, 20));
    assert_true(intervals_add(list, 30, 40));
    assert_false(intervals_add(list, 50, 60));
    assert_false(intervals_add(list, 22, 28));
    assert_int_equal(list->count, 2);
    assert_int_equal(list->recent, 1);
    assert_true(intervals_add(list, 15, 35));  // joining needs no entry
    assert_int_equal(list->count, 1);
    assert_true(intervals_add(list, 50, 60));
    free(list);
}

static void advancing_keeps_the_recent_one(void **state)
{
    (void)state;
    struct intervals *list = make(8);
    for (uint32_t i = 1; i <= 4; i++)
        assert_true(intervals_add(list, i * 100, i * 100 + 10));
    assert_true(intervals_add(list, 300, 305));
    assert_int_equal(list->recent, 2);
    assert_int_equal(intervals_advance(list, 99), 99);
    assert_int_equal(list->count, 4);
    assert_int_equal(intervals_advance(list, 100), 110);
    assert_int_equal(list->count, 3);
    assert_int_equal(list->recent, 1);
    assert_int_equal(list->item[list->recent].start, 300);
    assert_int_equal(intervals_advance(list, 400), 410);
    assert_int_equal(list->count, 0);
    assert_int_equal(list->recent, 0);
    free(list);
}

// RFC 2018 §4: the blocks after the first are those that were first before, newest first.
static void the_history_names_what_was_newest_before(void **state)
{
    (void)state;
    struct intervals *list = make(8);
    for (uint32_t i = 1; i <= 5; i++)
        assert_true(intervals_add(list, i * 100, i * 100 + 10));
    assert_int_equal(list->earlier_count, INTERVALS_EARLIER);
    for (uint32_t i = 0; i < INTERVALS_EARLIER; i++)
        assert_int_equal(intervals_at(list, list->earlier[i])->start, (4 - i) * 100);
    assert_true(intervals_add(list, 200, 230));  // an old one grows: it is the newest now
    assert_int_equal(list->recent, 1);
    assert_int_equal(list->earlier[0], 500);
    assert_int_equal(list->earlier[1], 400);
    assert_int_equal(list->earlier[2], 300);
    assert_true(intervals_add(list, 230, 420));  // takes two in
    assert_int_equal(list->earlier_count, 1);
    assert_int_equal(list->earlier[0], 500);
    assert_null(intervals_at(list, 420));
    assert_null(intervals_at(list, 199));
    assert_int_equal(intervals_at(list, 419)->start, 200);
    free(list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equals_the_map),
        cmocka_unit_test(touching_intervals_join),
        cmocka_unit_test(a_full_list_refuses_and_keeps_what_it_has),
        cmocka_unit_test(advancing_keeps_the_recent_one),
        cmocka_unit_test(the_history_names_what_was_newest_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
