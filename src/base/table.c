// SPDX-License-Identifier: BSD-2-Clause
// Linear hashing (Litwin 1980). With B buckets and 2^k < B <= 2^(k+1), a hash belongs to bucket (hash mod 2^(k+1)), or, when there is
// no such bucket yet, to (hash mod 2^k). So bucket B - 1 is made by splitting bucket B - 1 - 2^k alone, and given up by joining it to
// that one again. The table is as large as its count while it grows and at most twice as large while it shrinks; each call splits or
// joins at most two buckets.
#include "base/table.h"

#define TABLE_STEPS 2u  // per call; two, so that it can catch up after memory was short, and shrink faster than nodes go

void table_init(struct table *table)
{
    memset(table, 0, sizeof *table);
    table->buckets = TABLE_FIRST;
    table->mask = TABLE_FIRST - 1;
}

struct table_node *table_first(const struct table *table, uint32_t hash) { return *table_slot(table, table_bucket(table, hash)); }

static size_t table_segment_bytes(unsigned k) { return ((size_t)8 << k) * sizeof(struct table_node *); }

// False: no memory, or no larger table possible.
COLD static bool table_split(struct table *table, struct memory *memory)
{
    const uint32_t made = table->buckets;
    const unsigned k = 28u - (unsigned)__builtin_clz(made);
    if (k >= TABLE_SEGMENTS)
        return false;
    if (!table->segment[k]) {  // its buckets are set one by one as they come into use: no pause to clear them
        table->segment[k] = memory_get(memory, table_segment_bytes(k));
        if (!table->segment[k])
            return false;
    }
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
    if ((given_up & (given_up - 1)) == 0) {  // the first bucket of its segment
        const unsigned k = 28u - (unsigned)__builtin_clz(given_up);
        memory_put(memory, table->segment[k], table_segment_bytes(k));
        table->segment[k] = NULL;
        table->mask >>= 1;
    }
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

void table_free(struct table *table, struct memory *memory)
{
    for (unsigned k = 1; k < TABLE_SEGMENTS; k++)
        memory_put(memory, table->segment[k], table_segment_bytes(k));
    table_init(table);
}
