// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/record.h"

#include "instance.h"

void tcp_record_append(struct tcp_record_list *list, struct tcp_record *record)
{
    record->next = NULL;
    record->link = list->tail;
    *list->tail = record;
    list->tail = &record->next;
}

void tcp_record_unlink(struct tcp_record_list *list, struct tcp_record *record)
{
    *record->link = record->next;
    if (record->next)
        record->next->link = record->link;
    else
        list->tail = record->link;
}

#if WEIR_CFG_ALLOCATOR
// Records come by the hundred thousand, and nearly in the order in which they go: the allocator is asked for a slab of
// them at a time, which it has back when the last is free. Slabs that have a free record are linked, those that are
// full are found by their records alone.
#define SLAB_RECORDS 32u
struct tcp_record_slab {
    struct tcp_record_slab *next, **link;
    struct tcp_record *free;  // of those that were in use before, by their `next`
    uint32_t used, fresh;     // in use; from this place on none ever was
};

static size_t slab_bytes(const struct tcp_records *records)
{
    return sizeof(struct tcp_record_slab) + SLAB_RECORDS * records->record_bytes;
}

static void slab_open(struct tcp_records *records, struct tcp_record_slab *slab)
{
    slab->next = records->open;
    slab->link = &records->open;
    if (slab->next)
        slab->next->link = &slab->next;
    records->open = slab;
}

static void slab_unlink(struct tcp_record_slab *slab)
{
    *slab->link = slab->next;
    if (slab->next)
        slab->next->link = slab->link;
}

COLD static struct tcp_record_slab *slab_new(struct tcp_records *records, struct memory *memory)
{
    struct tcp_record_slab *slab = memory_get(memory, slab_bytes(records));
    if (slab == NULL)
        return NULL;
    slab->free = NULL;
    slab->used = slab->fresh = 0;
    slab_open(records, slab);
    return slab;
}

static struct tcp_record *record_get(struct tcp_records *records, struct memory *memory)
{
    struct tcp_record_slab *slab = records->open ? records->open : slab_new(records, memory);
    if (slab == NULL)
        return NULL;
    struct tcp_record *record = slab->free;
    if (record != NULL) {
        slab->free = record->next;
    } else {
        record = (struct tcp_record *)((uint8_t *)(slab + 1) + (size_t)slab->fresh * records->record_bytes);
        record->node.spare = slab->fresh++;
    }
    if (++slab->used == SLAB_RECORDS)
        slab_unlink(slab);
    return record;
}

static void record_put(struct tcp_records *records, struct memory *memory, struct tcp_record *record)
{
    struct tcp_record_slab *slab =
        (struct tcp_record_slab *)((uint8_t *)record - (size_t)record->node.spare * records->record_bytes) - 1;
    record->next = slab->free;
    slab->free = record;
    if (slab->used-- == SLAB_RECORDS)
        slab_open(records, slab);
    if (slab->used || (slab == records->open && !slab->next))
        return;  // the last one stays for those to come
    slab_unlink(slab);
    memory_put(memory, slab, slab_bytes(records));
}

int tcp_records_init(struct weir *weir, struct tcp_records *records, uint32_t bytes, uint32_t count)
{
    (void)weir, (void)count;
    table_init(&records->table);
    records->open = NULL;
    records->record_bytes = bytes;
    return WEIR_OK;
}

void tcp_records_free(struct weir *weir, struct tcp_records *records)
{
    if (records->open)
        memory_put(&weir->memory, records->open, slab_bytes(records));
    records->open = NULL;
    table_free(&records->table, &weir->memory);
}
#else
static struct tcp_record *record_get(struct tcp_records *records, struct memory *memory)
{
    return pool_get(&records->pool, memory);
}
static void record_put(struct tcp_records *records, struct memory *memory, struct tcp_record *record)
{
    pool_put(&records->pool, memory, record);
}

int tcp_records_init(struct weir *weir, struct tcp_records *records, uint32_t bytes, uint32_t count)
{
    table_init(&records->table);
    pool_init(&records->pool, bytes, 0);
    return pool_carve(&records->pool, &weir->memory, count);
}

void tcp_records_free(struct weir *weir, struct tcp_records *records)
{
    pool_drain(&records->pool, &weir->memory);
    table_free(&records->table, &weir->memory);
}
#endif

static uint32_t tcp_record_hash(const struct weir *weir, const struct weir_endpoint *local,
                                const struct weir_endpoint *remote)
{
    return tcp_hash(weir, local->addr, local->port, remote->addr, remote->port);
}

struct tcp_record *tcp_record_new(struct weir *weir, struct tcp_records *records, const struct weir_endpoint *local,
                                  const struct weir_endpoint *remote)
{
    struct tcp_record *record = record_get(records, &weir->memory);
    if (record == NULL)
        return NULL;
    record->local = local->addr;
    record->local_port = local->port;
    record->remote = remote->addr;
    record->remote_port = remote->port;
    table_insert(&records->table, &weir->memory, &record->node, tcp_record_hash(weir, local, remote));
    return record;
}

void tcp_record_end(struct weir *weir, struct tcp_records *records, struct tcp_record_list *list,
                    struct tcp_record *record)
{
    tcp_record_unlink(list, record);
    table_remove(&records->table, &weir->memory, &record->node);
    record_put(records, &weir->memory, record);
}

struct tcp_record *tcp_record_search(const struct weir *weir, const struct tcp_records *records,
                                     const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    if (!WEIR_CFG_FAST_PATH && !records->table.count)
        return NULL;
    const uint32_t hash = tcp_record_hash(weir, local, remote);
    for (struct table_node *node = table_first(&records->table, hash); node != NULL; node = node->next) {
        struct tcp_record *r = container_of(node, struct tcp_record, node);
        if (node->hash == hash && tcp_record_is(r, local, remote))
            return r;
    }
    return NULL;
}

bool tcp_records_walk(const struct tcp_records *records, struct table_cursor *cursor, enum weir_tcp_state state,
                      struct weir_socket_info *out)
{
    struct table_node *node = table_walk(&records->table, cursor);
    if (!node)
        return false;
    const struct tcp_record *r = container_of(node, struct tcp_record, node);
    *out = (struct weir_socket_info){
        .type = WEIR_STREAM, .tcp_state = (uint8_t)state, .local = tcp_record_local(r), .peer = tcp_record_remote(r)};
    return true;
}
