// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
// Every list of up to four intervals, with every call, in every order that their numbers can have. The list's choices
// depend on nothing but which number is before which (docs/proof.md proves that order): the eight numbers of four
// intervals and the two of a call lie somewhere among ten, so that a list of any lengths goes as one of these does.
// What is counted of lengths are sums, which each list here has as well.
#include "base/intervals.h"

#include "base_test.h"

#define MOST 4u
#define PLACES (2 * MOST + 2)
#define MASKS (1u << PLACES)

// `bytes` has a bit for each number that is present; `ends` one where an interval begins, and one where it ends.
static uint32_t bytes_of(uint32_t ends)
{
    uint32_t bytes = 0, within = 0;
    for (uint32_t i = 0; i < PLACES; i++) {
        within ^= ends >> i & 1;
        bytes |= within << i;
    }
    return bytes;
}

static uint32_t bits(uint32_t mask)
{
    uint32_t count = 0;
    for (; mask; mask &= mask - 1)
        count++;
    return count;
}

static uint32_t between(uint32_t from, uint32_t to) { return from < to ? (1u << to) - (1u << from) : 0; }

struct list {
    struct intervals *list;
    uint32_t base, ends, capacity;
};

static void fill(struct list *l, uint32_t recent)
{
    struct intervals *list = l->list;
    const uint32_t bytes = bytes_of(l->ends);
    intervals_init(list, (uint16_t)l->capacity);
    for (uint32_t i = 0; i < PLACES; i++) {
        if (!(l->ends >> i & 1))
            continue;
        if (bytes >> i & 1)
            list->item[list->count].start = l->base + i;
        else
            list->item[list->count++].end = l->base + i;
    }
    list->recent = (uint16_t)recent;
    list->total = WEIR_CFG_ALLOCATOR ? bits(bytes) : 0;
}

// In order, apart from each other, and just these bytes.
static void check(const struct list *l, uint32_t bytes)
{
    const struct intervals *list = l->list;
    uint32_t present = 0, last = 0;
    assert_true(list->count <= l->capacity && list->recent < (list->count ? list->count : 1));
    assert_int_equal(list->total, WEIR_CFG_ALLOCATOR ? bits(bytes) : 0);
    for (uint32_t i = 0; i < list->count; i++) {
        const uint32_t start = list->item[i].start - l->base, end = list->item[i].end - l->base;
        assert_true(start < end && end < PLACES && (i == 0 || last < start));
        present |= between(start, end);
        last = end;
    }
    assert_int_equal(present, bytes);
}

static void check_add(struct list *l, uint32_t recent, uint32_t start, uint32_t end)
{
    const uint32_t before = bytes_of(l->ends), after = before | between(start, end);
    const uint32_t intervals = bits(after & ~(after << 1));
    fill(l, recent);
    assert_int_equal(intervals_add(l->list, l->base + start, l->base + end), intervals <= l->capacity);
    check(l, intervals <= l->capacity ? after : before);
    if (intervals <= l->capacity && start < end) {
        assert_true(l->list->item[l->list->recent].start - l->base <= start);
        assert_true(l->list->item[l->list->recent].end - l->base >= end);
    }
}

static void check_advance(struct list *l, uint32_t recent, uint32_t next)
{
    uint32_t reached = next;
    const uint32_t before = bytes_of(l->ends);
    while (before >> reached & 1)
        reached++;
    fill(l, recent);
    const uint32_t newest = l->list->count ? l->list->item[recent].end : 0;
    assert_int_equal(intervals_advance(l->list, l->base + next), l->base + reached);
    check(l, before & ~between(0, reached));
    if (l->list->count)
        assert_int_equal(l->list->item[l->list->recent].end,
                         newest - l->base > reached ? newest : l->list->item[0].end);
}

static void check_hole(const struct list *l, uint32_t start, uint32_t end)
{
    const uint32_t bytes = bytes_of(l->ends);
    uint32_t first = start, last, hole = 0;
    while (first < end && bytes >> first & 1)
        first++;
    for (last = first; last < end && !(bytes >> last & 1);)
        last++;
    assert_int_equal(intervals_hole(l->list, l->base + start, l->base + end, &hole), last - first);
    assert_int_equal(hole, l->base + first);
    assert_int_equal(intervals_covers(l->list, l->base + start, l->base + end), first == end);
}

static void check_at(const struct list *l, uint32_t at)
{
    const struct interval *found = intervals_at(l->list, l->base + at);
    assert_int_equal(found != NULL, bytes_of(l->ends) >> at & 1);
    if (found)
        assert_true(found->start - l->base <= at && at < found->end - l->base);
}

static void check_calls(struct list *l)
{
    const uint32_t count = bits(l->ends) / 2;
    for (uint32_t recent = 0; recent == 0 || recent < count; recent++)
        for (uint32_t i = 0; i < PLACES; i++) {
            check_advance(l, recent, i);
            for (uint32_t j = 0; j < PLACES; j++)
                check_add(l, recent, i, j);
        }
    fill(l, 0);
    for (uint32_t i = 0; i < PLACES; i++) {
        check_at(l, i);
        for (uint32_t j = i; j < PLACES; j++)
            check_hole(l, i, j);
    }
}

static void each_order_is_kept(void **state)
{
    static const uint32_t bases[] = {1000, 0x7fffffff - PLACES / 2, UINT32_MAX - PLACES / 2};
    struct list l;
    (void)state;
    for (uint32_t base = 0; base < sizeof bases / sizeof bases[0]; base++)
        for (l.ends = 0; l.ends < MASKS; l.ends++) {
            const uint32_t count = bits(l.ends) / 2;
            l.base = bases[base];
            for (l.capacity = count ? count : 1; bits(l.ends) % 2 == 0 && count <= MOST && l.capacity <= count + 1;
                 l.capacity++) {
                l.list = malloc(intervals_bytes(l.capacity));
                check_calls(&l);
                free(l.list);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_order_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
