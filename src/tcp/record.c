// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/record.h"

#include "instance.h"

#define CURSOR_BITS (WEIR_CFG_ALLOCATOR ? 5u : 16u)  // of a place within a chain; the others name the bucket

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

int tcp_records_init(struct weir *weir, struct tcp_records *records, uint32_t bytes, uint32_t keep, uint32_t count)
{
    table_init(&records->table);
    pool_init(&records->pool, bytes, keep);
    return pool_carve(&records->pool, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : count);
}

void tcp_records_free(struct weir *weir, struct tcp_records *records)
{
    pool_drain(&records->pool, &weir->memory);
    table_free(&records->table, &weir->memory);
}

static uint32_t tcp_record_hash(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    return tcp_hash(weir, local->addr, local->port, remote->addr, remote->port);
}

struct tcp_record *tcp_record_new(struct weir *weir, struct tcp_records *records, const struct weir_endpoint *local,
                                  const struct weir_endpoint *remote)
{
    struct tcp_record *record = pool_get_zeroed(&records->pool, &weir->memory);
    if (record == NULL)
        return NULL;
    record->local = local->addr;
    record->local_port = local->port;
    record->remote = remote->addr;
    record->remote_port = remote->port;
    table_insert(&records->table, &weir->memory, &record->node, tcp_record_hash(weir, local, remote));
    return record;
}

void tcp_record_end(struct weir *weir, struct tcp_records *records, struct tcp_record_list *list, struct tcp_record *record)
{
    tcp_record_unlink(list, record);
    table_remove(&records->table, &weir->memory, &record->node);
    pool_put(&records->pool, &weir->memory, record);
}

struct tcp_record *tcp_record_search(const struct weir *weir, const struct tcp_records *records, const struct weir_endpoint *local,
                                     const struct weir_endpoint *remote)
{
    if (!WEIR_CFG_FAST_PATH && !records->table.count)
        return NULL;
    const uint32_t hash = tcp_record_hash(weir, local, remote);
    for (struct table_node *node = table_first(&records->table, hash); node != NULL; node = node->next) {
        struct tcp_record *r = container_of(node, struct tcp_record, node);
        if (node->hash == hash && r->local_port == local->port && r->remote_port == remote->port &&
            weir_addr_equal(r->local, local->addr) && weir_addr_equal(r->remote, remote->addr))
            return r;
    }
    return NULL;
}

uint32_t tcp_records_walk(const struct tcp_records *records, uint32_t cursor, enum weir_tcp_state state, struct weir_socket_info *out)
{
    uint32_t place = cursor & ((1u << CURSOR_BITS) - 1);
    for (uint32_t bucket = cursor >> CURSOR_BITS; bucket < table_buckets(&records->table); bucket++, place = 0) {
        const struct table_node *node = table_chain(&records->table, bucket);
        for (uint32_t i = 0; i < place && node != NULL; i++)
            node = node->next;
        if (node == NULL)
            continue;
        const struct tcp_record *r = container_of(node, struct tcp_record, node);
        *out = (struct weir_socket_info){
            .type = WEIR_STREAM, .tcp_state = (uint8_t)state, .local = tcp_record_local(r), .peer = tcp_record_remote(r)};
        return (bucket << CURSOR_BITS | place) + 1;
    }
    return 0;
}
