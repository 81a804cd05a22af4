// SPDX-License-Identifier: BSD-2-Clause
// Linear hashing (Litwin 1980). With B buckets and 2^k < B <= 2^(k+1), a hash belongs to bucket (hash mod 2^(k+1)), or,
// when there is no such bucket yet, to (hash mod 2^k). So bucket B - 1 is made by splitting bucket B - 1 - 2^k alone,
// and given up by joining it to that one again. The table is as large as its count while it grows and at most twice as
// large while it shrinks; each call splits or joins at most two buckets.
#include "base/table.h"

// per call; two, so that it can catch up after memory was short, and shrink faster than nodes go
#define TABLE_STEPS 2u

void table_init(struct table *table)
{
    memset(table, 0, sizeof *table);
    table->buckets = TABLE_FIRST;
    table->mask = TABLE_FIRST - 1;
}

struct table_node *table_first(const struct table *table, uint32_t hash)
{
    return *table_slot(table, table_bucket(table, hash));
}

#define TABLE_PAGE_BYTES (TABLE_PAGE * sizeof(struct table_node *))

static size_t table_segment_bytes(unsigned k)
{
    const size_t buckets = (size_t)8 << k;
    return buckets <= TABLE_PAGE ? buckets * sizeof(struct table_node *)
                                 : buckets / TABLE_PAGE * sizeof(struct table_node **);
}

// The segment k exists, and the page of its bucket `at`: buckets are set one by one as they come into use, with no
// pause to clear them.
static bool table_make(struct table *table, struct memory *memory, unsigned k, uint32_t at)
{
    union table_segment *segment = &table->segment[k];
    if (!segment->bucket)
        segment->bucket = memory_get(memory, table_segment_bytes(k));
    if (!segment->bucket || 8u << k <= TABLE_PAGE || at % TABLE_PAGE)
        return segment->bucket;
    segment->page[at / TABLE_PAGE] = memory_get(memory, TABLE_PAGE_BYTES);
    return segment->page[at / TABLE_PAGE];
}

// The last bucket in use, `at` of segment k, was given up.
static void table_unmake(struct table *table, struct memory *memory, unsigned k, uint32_t at)
{
    union table_segment *segment = &table->segment[k];
    if (8u << k > TABLE_PAGE && at % TABLE_PAGE == 0)
        memory_put(memory, segment->page[at / TABLE_PAGE], TABLE_PAGE_BYTES);
    if (at)
        return;
    memory_put(memory, segment->bucket, table_segment_bytes(k));
    segment->bucket = NULL;
}

// False: no memory, or no larger table possible.
COLD static bool table_split(struct table *table, struct memory *memory)
{
    const uint32_t made = table->buckets;
    const unsigned k = 28u - (unsigned)__builtin_clz(made);
    if (k >= TABLE_SEGMENTS || !table_make(table, memory, k, made - (8u << k)))
        return false;
    if (made > table->mask)
        table->mask = table->mask << 1 | 1;
    table->buckets = made + 1;
    struct table_node **stay = table_slot(table, made & table->mask >> 1), **go = table_slot(table, made);
    struct table_node *node = *stay;
    for (; node; node = node->next) {
        struct table_node ***link = (node->hash & table->mask) == made ? &go : &stay;
        **link = node;
        *link = &node->next;
    }
    *stay = *go = NULL;
    return true;
}

COLD static void table_join(struct table *table, struct memory *memory)
{
    const uint32_t given_up = table->buckets - 1;
    struct table_node **link = table_slot(table, given_up & table->mask >> 1), *chain = *table_slot(table, given_up);
    while (*link)
        link = &(*link)->next;
    *link = chain;
    table->buckets = given_up;
    if ((given_up & (given_up - 1)) == 0)  // the first bucket of its segment
        table->mask >>= 1;
    const unsigned k = 28u - (unsigned)__builtin_clz(given_up);
    table_unmake(table, memory, k, given_up - (8u << k));
}

void table_insert(struct table *table, struct memory *memory, struct table_node *node, uint32_t hash)
{
    struct table_node **slot = table_slot(table, table_bucket(table, hash));
    node->hash = hash;
    node->next = *slot;
    *slot = node;
    table->count++;
    for (unsigned i = 0; i < TABLE_STEPS && table->count > table->buckets; i++) {
        if (!table_split(table, memory))
            return;
    }
}

void table_remove(struct table *table, struct memory *memory, struct table_node *node)
{
    struct table_node **link = table_slot(table, table_bucket(table, node->hash));
    while (*link != node)
        link = &(*link)->next;
    *link = node->next;
    table->count--;
    for (unsigned i = 0; i < TABLE_STEPS && table->buckets > TABLE_FIRST && table->count < table->buckets / 2; i++)
        table_join(table, memory);
}

static uint32_t reversed(uint32_t bits)
{
    bits = (bits & 0x55555555) << 1 | (bits >> 1 & 0x55555555);
    bits = (bits & 0x33333333) << 2 | (bits >> 2 & 0x33333333);
    bits = (bits & 0x0f0f0f0f) << 4 | (bits >> 4 & 0x0f0f0f0f);
    bits = (bits & 0x00ff00ff) << 8 | (bits >> 8 & 0x00ff00ff);
    return bits << 16 | bits >> 16;
}

// Of a bucket: where its stretch of the walk's order ends; 0: with the order itself. Its hashes end in the bits of the
// larger mask, or of the smaller one where the bucket has not been split.
static uint32_t stretch_end(const struct table *table, uint32_t bucket, uint32_t at)
{
    const uint32_t half = table->mask >> 1,
                   mask = bucket <= half && bucket + half + 1 >= table->buckets ? half : table->mask;
    const uint32_t stretch = UINT32_MAX / (mask + 1) + 1;  // of powers of two; the mask is 7 at least
    return (at & ~(stretch - 1)) + stretch;
}

// The order of the walk is that of the hashes with their bits reversed. All nodes of a bucket are one stretch of it,
// whatever the table's size (as a split-ordered list has it, Shalev and Shavit 2006): growing and shrinking only
// divides stretches and joins them.
struct table_node *table_walk(const struct table *table, struct table_cursor *cursor)
{
    do {
        const uint32_t bucket = table_bucket(table, reversed(cursor->at));
        struct table_node *best = NULL;
        uint32_t best_at = 0, ties = 0;
        cursor->looked++;
        for (struct table_node *node = table_chain(table, bucket); node; node = node->next) {
            const uint32_t at = reversed(node->hash);
            cursor->looked++;
            if (at < cursor->at || (at == cursor->at && ties++ < cursor->ties) || (best && at >= best_at))
                continue;
            best = node;
            best_at = at;
        }
        if (best) {
            cursor->ties = best_at == cursor->at ? cursor->ties + 1 : 1;
            cursor->at = best_at;
            return best;
        }
        cursor->at = stretch_end(table, bucket, cursor->at);
        cursor->ties = 0;
    } while (cursor->at);
    return NULL;
}

void table_free(struct table *table, struct memory *memory)
{
    for (unsigned k = 1; k < TABLE_SEGMENTS; k++) {
        const uint32_t first = 8u << k, used = table->buckets > first ? min_u32(table->buckets - first, first) : 0;
        for (uint32_t at = 0; first > TABLE_PAGE && at < used; at += TABLE_PAGE)
            memory_put(memory, table->segment[k].page[at / TABLE_PAGE], TABLE_PAGE_BYTES);
        memory_put(memory, table->segment[k].bucket, table_segment_bytes(k));
    }
    table_init(table);
}
