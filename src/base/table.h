// SPDX-License-Identifier: BSD-2-Clause
// A hash table of intrusive nodes that grows one bucket at a time (linear hashing): no insertion ever pauses for a
// rehash, also at a million nodes. Keyed hashes are the caller's. Static builds: one bucket, a list.
#ifndef BASE_TABLE_H
#define BASE_TABLE_H

#include "base/memory.h"

struct table_node {
    struct table_node *next;
    uint32_t hash;
    uint32_t spare;  // the owner's, for what it seldom needs: would be padding on 64-bit machines
};

#if WEIR_CFG_ALLOCATOR

#define TABLE_FIRST 16u     // buckets at first, within struct table
#define TABLE_SEGMENTS 24u  // up to 2^27 buckets
// buckets of a larger segment's pages: no call takes or gives back more than 32 KB of buckets at once
#define TABLE_PAGE 4096u
struct table {
    uint32_t count;    // nodes
    uint32_t buckets;  // in use now; starts with TABLE_FIRST
    uint32_t mask;     // smallest power of two not below `buckets`, less one
    // Segment k > 0 holds the buckets from 8 << k on, as many again; a segment never moves. Segment 0 is `first`. Where
    // there are more than TABLE_PAGE of them it is a list of pages, each taken when the first of its buckets comes into
    // use.
    union table_segment {
        struct table_node **bucket;
        struct table_node ***page;
    } segment[TABLE_SEGMENTS];
    struct table_node *first[TABLE_FIRST];
};

void table_init(struct table *table);
// never fails: without memory chains get longer
void table_insert(struct table *table, struct memory *memory, struct table_node *node, uint32_t hash);
void table_remove(struct table *table, struct memory *memory, struct table_node *node);  // shrinks one bucket at a time
void table_free(struct table *table, struct memory *memory);
// Head of the chain that may hold `hash`; compare node->hash, follow next.
struct table_node *table_first(const struct table *table, uint32_t hash);

static inline struct table_node **table_slot(const struct table *table, uint32_t bucket)
{
    if (bucket < TABLE_FIRST)
        return (struct table_node **)&table->first[bucket];
    const unsigned k = 28u - (unsigned)__builtin_clz(bucket);
    const uint32_t at = bucket - (8u << k);
    return 8u << k <= TABLE_PAGE ? &table->segment[k].bucket[at]
                                 : &table->segment[k].page[at / TABLE_PAGE][at % TABLE_PAGE];
}
static inline uint32_t table_bucket(const struct table *table, uint32_t hash)
{
    const uint32_t bucket = hash & table->mask;
    return bucket < table->buckets ? bucket : bucket & table->mask >> 1;
}
static inline uint32_t table_buckets(const struct table *table) { return table->buckets; }

#else

struct table {
    uint32_t count;
    struct table_node *first;
};

static inline void table_init(struct table *table) { *table = (struct table){0, NULL}; }
static inline void table_insert(struct table *table, struct memory *memory, struct table_node *node, uint32_t hash)
{
    (void)memory;
    node->hash = hash;
    node->next = table->first;
    table->first = node;
    table->count++;
}
static inline void table_remove(struct table *table, struct memory *memory, struct table_node *node)
{
    (void)memory;
    struct table_node **link = &table->first;
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    table->count--;
}
static inline void table_free(struct table *table, struct memory *memory) { (void)table, (void)memory; }
static inline struct table_node **table_slot(const struct table *table, uint32_t bucket)
{
    (void)bucket;
    return (struct table_node **)&table->first;
}
static inline uint32_t table_bucket(const struct table *table, uint32_t hash)
{
    (void)table, (void)hash;
    return 0;
}
static inline uint32_t table_buckets(const struct table *table)
{
    (void)table;
    return 1;
}
static inline struct table_node *table_first(const struct table *table, uint32_t hash)
{
    return (void)hash, table->first;
}

#endif

// The next of a chain with this hash, from `node` (NULL: its end) on.
static inline struct table_node *table_alike(struct table_node *node, uint32_t hash)
{
    while (node && node->hash != hash)
        node = node->next;
    return node;
}
// Walking while nodes come and go. Start with {0}; NULL: there are no more. What is in the table all the time is met
// exactly once, however the table grows and shrinks in between (of nodes with the very same hash one may be met twice,
// or not at all). O(1) a node on average.
struct table_cursor {
    uint32_t at, ties;  // where in the order of the walk; how many nodes there were met already
#if WEIR_CFG_ALLOCATOR
    uint32_t looked;  // buckets and nodes so far: for tests of what that costs
#endif
};
#if WEIR_CFG_ALLOCATOR
struct table_node *table_walk(const struct table *table, struct table_cursor *cursor);
#else
static inline struct table_node *table_walk(const struct table *table, struct table_cursor *cursor)
{
    struct table_node *node = table->first;
    for (uint32_t i = 0; node && i < cursor->ties; i++)
        node = node->next;
    cursor->ties++;
    return node;
}
#endif
// Walking at one go: the chains of buckets 0 to table_buckets - 1 hold every node once, as long as nothing is inserted
// or removed.
static inline struct table_node *table_chain(const struct table *table, uint32_t bucket)
{
    return *table_slot(table, bucket);
}

#endif
