// SPDX-License-Identifier: BSD-2-Clause
// Sorted, disjoint, and never touching: [1, 2) and [2, 3) are always one. All live within 2^31 of each other, so
// serial-number comparison orders them.
#include "base/intervals.h"

// For proofs: what memory a list has. Its fields by name: \valid of a struct that ends in an array is a contradiction.
/*@ predicate intervals_shape(struct intervals *list) =
      \valid(&list->count) && \valid(&list->capacity) && \valid(&list->recent) && \valid(&list->earlier_count) &&
      \valid(&list->total) && \valid(&list->earlier[0 .. 2]) && \valid(&list->item[0 .. list->capacity - 1]) &&
      list->count <= list->capacity && list->earlier_count <= 3 &&
      (list->count == 0 || list->recent < list->count); */
/*@ requires \valid(&list->count) && \valid(&list->capacity) && \valid(&list->recent) &&
             \valid(&list->earlier_count) && \valid(&list->total) && \valid(&list->earlier[0 .. 2]);
    requires \valid(&list->item[0 .. capacity - 1]);
    assigns list->count, list->capacity, list->recent, list->earlier_count, list->total;
    ensures intervals_shape(list) && list->count == 0; */
void intervals_init(struct intervals *list, uint16_t capacity)
{
    list->count = list->recent = list->earlier_count = 0;
    list->capacity = capacity;
    list->total = 0;
}

// Index of the first interval that ends at or after `at`; count if none does.
/*@ requires intervals_shape(list);
    assigns \nothing;
    ensures \result <= list->count; */
static uint32_t intervals_find(const struct intervals *list, uint32_t at)
{
    uint32_t low = 0, high = list->count;
    /*@ loop invariant low <= high <= list->count;
        loop assigns low, high;
        loop variant high - low; */
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (seq_lt(list->item[middle].end, at))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Replaces the intervals [from, to) by `with` empty places.
/*@ requires intervals_shape(list) && from <= to <= list->count && with <= 1;
    requires from + with <= to || list->count < list->capacity;
    assigns list->item[from + with .. list->capacity - 1], list->count;
    ensures list->count == \old(list->count) - to + from + with; */
static void intervals_replace(struct intervals *list, uint32_t from, uint32_t to, uint32_t with)
{
    memmove(&list->item[from + with], &list->item[to], (list->count - to) * sizeof list->item[0]);
    list->count = (uint16_t)(list->count - to + from + with);
}

// `at` goes to the front of the history; what the newest interval, [start, end), has taken in leaves it.
/*@ requires intervals_shape(list);
    assigns list->earlier[0 .. 2], list->earlier_count;
    ensures list->earlier_count <= 3; */
static void intervals_remember(struct intervals *list, uint32_t at, uint32_t start, uint32_t end)
{
    uint32_t old[INTERVALS_EARLIER], kept = 0;
    const uint32_t count = list->earlier_count;
    memcpy(old, list->earlier, sizeof old);
    if (!seq_in(at, start, end))
        list->earlier[kept++] = at;
    /*@ loop invariant i <= count && kept <= 3;
        loop assigns i, kept, list->earlier[0 .. 2];
        loop variant count - i; */
    for (uint32_t i = 0; i < count && kept < INTERVALS_EARLIER; i++)
        if (!seq_in(old[i], start, end))
            list->earlier[kept++] = old[i];
    list->earlier_count = (uint16_t)kept;
}

/*@ requires \valid(&list->total);
    assigns list->total; */
static void count_total(struct intervals *list, uint32_t more)
{
    if (WEIR_CFG_ALLOCATOR)
        list->total += more;
}

/*@ requires intervals_shape(list);
    assigns list->item[0 .. list->capacity - 1], list->count, list->recent, list->total, list->earlier[0 .. 2],
            list->earlier_count;
    ensures intervals_shape(list); */
bool intervals_add(struct intervals *list, uint32_t start, uint32_t end)
{
    if (!seq_lt(start, end))
        return true;
    const uint32_t before = list->count ? list->item[list->recent].start : start;
    const uint32_t from = intervals_find(list, start);
    uint32_t to = from, joined = 0;
    /*@ loop invariant from <= to <= list->count;
        loop assigns to, joined, start, end;
        loop variant list->count - to; */
    for (; to < list->count && seq_le(list->item[to].start, end); to++) {
        joined += list->item[to].end - list->item[to].start;
        start = seq_min(start, list->item[to].start);
        end = seq_max(end, list->item[to].end);
    }
    if (to == from && list->count >= list->capacity)
        return false;
    if (to - from != 1)
        intervals_replace(list, from, to, 1);
    list->item[from] = (struct interval){start, end};
    count_total(list, end - start - joined);
    list->recent = (uint16_t)from;
    //@ assert list->recent < list->count <= list->capacity && list->earlier_count <= 3;
    intervals_remember(list, before, start, end);
    return true;
}

/*@ requires intervals_shape(list) && \valid(hole_start) &&
             \separated(hole_start, &list->item[0 .. list->capacity - 1]);
    assigns *hole_start; */
uint32_t intervals_hole(const struct intervals *list, uint32_t start, uint32_t end, uint32_t *hole_start)
{
    uint32_t index = intervals_find(list, start);
    if (index < list->count && seq_le(list->item[index].start, start)) {
        start = list->item[index].end;
        index++;
    }
    if (!seq_lt(start, end)) {
        *hole_start = end;
        return 0;
    }
    *hole_start = start;
    return (index < list->count ? seq_min(end, list->item[index].start) : end) - start;
}

/*@ requires intervals_shape(list);
    assigns \nothing; */
bool intervals_covers(const struct intervals *list, uint32_t start, uint32_t end)
{
    uint32_t hole_start;
    return intervals_hole(list, start, end, &hole_start) == 0;
}

/*@ requires intervals_shape(list);
    assigns \nothing;
    ensures \result == \null || \valid_read(\result); */
const struct interval *intervals_at(const struct intervals *list, uint32_t at)
{
    uint32_t index = intervals_find(list, at);
    if (index < list->count && list->item[index].end == at)
        index++;  // it ends before
    return index < list->count && seq_le(list->item[index].start, at) ? &list->item[index] : NULL;
}

/*@ requires intervals_shape(list);
    assigns list->item[0 .. list->capacity - 1], list->count, list->recent, list->total;
    ensures intervals_shape(list) && list->count <= \old(list->count); */
uint32_t intervals_advance(struct intervals *list, uint32_t next)
{
    uint32_t gone = 0;
    /*@ loop invariant gone <= list->count;
        loop assigns gone, next, list->total;
        loop variant list->count - gone; */
    for (; gone < list->count && seq_le(list->item[gone].start, next); gone++) {
        count_total(list, list->item[gone].start - list->item[gone].end);
        next = seq_max(next, list->item[gone].end);
    }
    if (gone) {
        intervals_replace(list, 0, gone, 0);
        list->recent = (uint16_t)(list->recent > gone && list->count ? list->recent - gone : 0);
    }
    return next;
}
