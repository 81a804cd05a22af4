// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small small6
#include "base/table.h"

#include <time.h>

#include "base_test.h"

// CPU seconds for a million insertions; a rehash of all nodes at each would take hours. Sanitizers are slower.
#if defined(__SANITIZE_ADDRESS__)
#define SECONDS 5.0
#else
#define SECONDS 1.0
#endif

struct entry {
    struct table_node node;
    uint32_t key;
    bool in;
};

static struct test_memory t;

static uint32_t hash_of(uint32_t key) { return key * 2654435761u ^ key >> 7; }

static struct entry *lookup(const struct table *table, uint32_t key)
{
    const uint32_t hash = hash_of(key);
    for (struct table_node *node = table_first(table, hash); node; node = node->next) {
        struct entry *entry = container_of(node, struct entry, node);
        if (node->hash == hash && entry->key == key)
            return entry;
    }
    return NULL;
}

static uint32_t walk(const struct table *table)
{
    uint32_t count = 0;
    for (uint32_t bucket = 0; bucket < table_buckets(table); bucket++) {
        for (const struct table_node *node = table_chain(table, bucket); node; node = node->next) {
            assert_int_equal(table_bucket(table, node->hash), bucket);
            count++;
        }
    }
    return count;
}

static void finds_what_is_in_and_nothing_else(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    struct memory *memory = test_memory_init(&t);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct table table;
    table_init(&table);
    uint32_t in = 0;
    const uint32_t used = WEIR_CFG_ALLOCATOR ? COUNT : 30;
    for (uint32_t i = 0; i < used; i++)
        entries[i].key = i * 7;
    for (int step = 0; step < 60000; step++) {
        struct entry *entry = &entries[test_random(used)];
        const bool growing = step / 10000 % 2 == 0;
        assert_ptr_equal(lookup(&table, entry->key), entry->in ? entry : NULL);
        if (entry->in && (!growing || test_random(4) == 0)) {
            table_remove(&table, memory, &entry->node);
            entry->in = false;
            in--;
        } else if (!entry->in && (growing || test_random(4) == 0)) {
            table_insert(&table, memory, &entry->node, hash_of(entry->key));
            entry->in = true;
            in++;
        }
        assert_int_equal(table.count, in);
        if (step % 5000 == 0)
            assert_int_equal(walk(&table), in);
    }
    for (uint32_t i = 0; i < used; i++) {
        if (entries[i].in)
            table_remove(&table, memory, &entries[i].node);
    }
    assert_int_equal(walk(&table), 0);
    test_memory_empty(&t);  // an empty table is as small as a new one
    table_free(&table, memory);
    free(entries);
}

#if WEIR_CFG_ALLOCATOR
static void grows_one_bucket_at_a_time(void **state)
{
    (void)state;
    enum { COUNT = 5000 };
    struct memory *memory = test_memory_init(&t);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct table table;
    table_init(&table);
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t before = table.buckets;
        const long calls = t.heap.calls;
        table_insert(&table, memory, &entries[i].node, hash_of(i));
        assert_true(table.buckets - before <= 1);
        assert_true(t.heap.calls - calls <= 1);
        assert_int_equal(table.buckets, max_u32(table.count, 16));
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        const uint32_t before = table.buckets;
        table_remove(&table, memory, &entries[i].node);
        assert_true(before - table.buckets <= 2);
        assert_true(table.buckets <= max_u32(2 * table.count + 1, 16));
        assert_true(table.buckets >= max_u32(table.count, 16));
    }
    assert_int_equal(table.buckets, 16);
    test_memory_empty(&t);
    free(entries);
}

#if WEIR_CFG_ALLOCATOR
static size_t largest_bytes;
static void *get_noting(void *context, size_t bytes)
{
    (void)context;
    largest_bytes = bytes > largest_bytes ? bytes : largest_bytes;
    return malloc(bytes);
}
static void put_noting(void *context, void *pointer, size_t bytes)
{
    (void)context;
    largest_bytes = bytes > largest_bytes ? bytes : largest_bytes;
    free(pointer);
}

// Half a million nodes come and go, and no call takes or gives back more than a page of buckets.
static void memory_comes_and_goes_by_pages(void **state)
{
    (void)state;
    enum { COUNT = 500000 };
    const struct weir_port port = {.alloc = get_noting, .free = put_noting};
    struct memory memory = {.port = &port};
    memory_budget_set(&memory, UINT64_MAX);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct table table;
    table_init(&table);
    for (uint32_t i = 0; i < COUNT; i++) {
        entries[i].key = i;
        table_insert(&table, &memory, &entries[i].node, hash_of(i));
    }
    assert_true(memory.used_bytes >= COUNT * sizeof(void *));
    for (uint32_t i = 0; i < COUNT; i += 997)
        assert_ptr_equal(lookup(&table, i), &entries[i]);
    for (uint32_t i = 0; i < COUNT; i++)
        table_remove(&table, &memory, &entries[i].node);
    assert_in_range(largest_bytes, 1, 32768);
    assert_int_equal(memory.used_bytes, 0);
    table_free(&table, &memory);
    free(entries);
}
#endif

// The nodes an insertion looks at are those of one chain, which is short as long as hashes are even: no insertion is
// dear.
static void a_million_insertions_are_cheap_each(void **state)
{
    (void)state;
    enum { COUNT = 1000000 };
    struct memory *memory = test_memory_init(&t);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct table table;
    uint32_t longest = 0;
    uint64_t moves = 0;
    table_init(&table);
    const clock_t begin = clock();
    for (uint32_t i = 0; i < COUNT; i++) {
        entries[i].key = i;
        const uint32_t made = table.buckets;
        table_insert(&table, memory, &entries[i].node, hash_of(i));
        if (table.buckets > made) {  // the new bucket and the one it was split from are what was looked at
            uint32_t looked_at = 0;
            for (const struct table_node *node = table_chain(&table, made); node; node = node->next)
                looked_at++;
            for (const struct table_node *node = table_chain(&table, made & table.mask >> 1); node; node = node->next)
                looked_at++;
            moves += looked_at;
            longest = max_u32(longest, looked_at);
        }
    }
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    assert_true(longest <= 24);
    assert_true(moves <= 3 * (uint64_t)COUNT);
    assert_true(seconds < SECONDS);
    for (uint32_t i = 0; i < COUNT; i += 997)
        assert_ptr_equal(lookup(&table, i), &entries[i]);
    table_free(&table, memory);
    test_memory_empty(&t);
    free(entries);
}

static void without_memory_chains_get_longer_and_later_it_catches_up(void **state)
{
    (void)state;
    enum { COUNT = 400 };
    struct memory *memory = test_memory_init(&t);
    struct entry entries[COUNT] = {0};
    struct table table;
    table_init(&table);
    for (uint32_t i = 0; i < COUNT; i++) {
        t.heap.fail_after = i < 200 ? 0 : -1;
        entries[i].key = i;
        table_insert(&table, memory, &entries[i].node, hash_of(i));
        if (i < 200)
            assert_int_equal(table.buckets, 16);
        for (uint32_t k = 0; k <= i; k += 13)
            assert_ptr_equal(lookup(&table, k), &entries[k]);
    }
    assert_int_equal(table.buckets, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        table_remove(&table, memory, &entries[i].node);
    test_memory_empty(&t);
}
#endif

static void equal_hashes_live_together(void **state)
{
    (void)state;
    struct memory *memory = test_memory_init(&t);
    struct entry entries[100];
    struct table table;
    memset(entries, 0, sizeof entries);
    table_init(&table);
    for (int i = 0; i < 100; i++)
        table_insert(&table, memory, &entries[i].node, 5);
    assert_int_equal(walk(&table), 100);
    for (int i = 99; i >= 0; i--)
        table_remove(&table, memory, &entries[i].node);
    assert_int_equal(walk(&table), 0);
    test_memory_empty(&t);
}

#if WEIR_CFG_ALLOCATOR
static uint32_t walk_all(const struct table *table, uint32_t *looked)
{
    struct table_cursor cursor = {0};
    uint32_t met = 0;
    while (table_walk(table, &cursor))
        met++;
    *looked = cursor.looked;
    return met;
}

// What is looked at for each node does not depend on how many there are, also in a table that has just shrunk.
static void a_walk_costs_the_same_for_each_node(void **state)
{
    (void)state;
    enum { COUNT = 100000 };
    struct memory *memory = test_memory_init(&t);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    struct table table;
    uint32_t looked;
    table_init(&table);
    assert_int_equal(walk_all(&table, &looked), 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        entries[i].key = i;
        table_insert(&table, memory, &entries[i].node, hash_of(i));
        if ((i & (i + 1)) == 0 || i == COUNT - 1) {
            assert_int_equal(walk_all(&table, &looked), i + 1);
            assert_true(looked <= 8 * (i + 1) + 64);
        }
    }
    for (uint32_t i = 0; i < COUNT; i++) {
        table_remove(&table, memory, &entries[i].node);
        const uint32_t left = COUNT - 1 - i;
        if ((left & (left + 1)) == 0) {
            assert_int_equal(walk_all(&table, &looked), left);
            assert_true(looked <= 8 * left + 64);
        }
    }
    test_memory_empty(&t);
    free(entries);
}

// Thousands come and go between two steps, so that the table grows and shrinks by many sizes: who stays is met once,
// and the walk ends.
static void a_walk_meets_once_who_stays(void **state)
{
    (void)state;
    enum { STAY = 500, COUNT = 20000 };
    struct memory *memory = test_memory_init(&t);
    struct entry *entries = calloc(COUNT, sizeof *entries);
    for (int round = 0; round < 20; round++) {
        struct table table;
        struct table_cursor cursor = {0};
        uint32_t met[STAY] = {0}, inserted = STAY, steps = 0;
        table_init(&table);
        for (uint32_t i = 0; i < COUNT; i++)
            entries[i].key = i;
        for (uint32_t i = 0; i < STAY; i++)  // some with the same hash
            table_insert(&table, memory, &entries[i].node, hash_of((uint32_t)round * STAY + (i % 10 ? i : 0)));
        for (struct table_node *node; (node = table_walk(&table, &cursor)) != NULL; steps++) {
            const struct entry *entry = container_of(node, struct entry, node);
            if (entry->key < STAY)
                met[entry->key]++;
            const uint32_t target = STAY + test_random(test_random(2) ? COUNT - STAY : 50);
            for (uint32_t i = 0; i < 200 && inserted < target; i++, inserted++)
                table_insert(&table, memory, &entries[inserted].node, hash_of(inserted + 7000000));
            for (uint32_t i = 0; i < 200 && inserted > target; i++)
                table_remove(&table, memory, &entries[--inserted].node);
            assert_true(steps < 2 * COUNT);
        }
        for (uint32_t i = 0; i < STAY; i++)
            assert_int_equal(met[i], 1);
        while (inserted)
            table_remove(&table, memory, &entries[--inserted].node);
        test_memory_empty(&t);
    }
    free(entries);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_is_in_and_nothing_else),
        cmocka_unit_test(equal_hashes_live_together),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(grows_one_bucket_at_a_time),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(memory_comes_and_goes_by_pages),
#endif
        cmocka_unit_test(a_million_insertions_are_cheap_each),
        cmocka_unit_test(a_walk_costs_the_same_for_each_node),
        cmocka_unit_test(a_walk_meets_once_who_stays),
        cmocka_unit_test(without_memory_chains_get_longer_and_later_it_catches_up),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
