// SPDX-License-Identifier: BSD-2-Clause
// What a half-open connection and one in TIME-WAIT have in common: a small record of two ends, in a table by them and
// on a list by time.
#ifndef TCP_RECORD_H
#define TCP_RECORD_H

#include "tcp/conn.h"

struct tcp_record {
    struct table_node node;           // spare: its place in its slab (record.c)
    struct tcp_record *next, **link;  // its place on a list
    struct weir_addr local, remote;
    uint16_t local_port, remote_port;
    uint32_t time;  // its owner's; lists are in the order of it
};

struct tcp_record_list {
    struct tcp_record *head, **tail;
};
struct tcp_records {
    struct table table;
#if WEIR_CFG_ALLOCATOR
    struct tcp_record_slab *open;  // those that have a free record
    uint32_t record_bytes;
#else
    struct pool pool;
#endif
};

static inline struct weir_endpoint tcp_record_local(const struct tcp_record *r)
{
    return (struct weir_endpoint){r->local, r->local_port};
}
static inline struct weir_endpoint tcp_record_remote(const struct tcp_record *r)
{
    return (struct weir_endpoint){r->remote, r->remote_port};
}
static inline bool tcp_record_is(const struct tcp_record *r, const struct weir_endpoint *local,
                                 const struct weir_endpoint *remote)
{
    return r->local_port == local->port && r->remote_port == remote->port && weir_addr_equal(r->local, local->addr) &&
           weir_addr_equal(r->remote, remote->addr);
}
static inline void tcp_record_list_init(struct tcp_record_list *list) { list->tail = &list->head; }  // of a zeroed list
void tcp_record_append(struct tcp_record_list *list, struct tcp_record *record);
void tcp_record_unlink(struct tcp_record_list *list, struct tcp_record *record);

// Makes a table for records of `bytes` bytes; `count` of them at once in static builds.
int tcp_records_init(struct weir *weir, struct tcp_records *records, uint32_t bytes, uint32_t count);
void tcp_records_free(struct weir *weir, struct tcp_records *records);  // when every record is gone
// What an owner's structure has behind its struct tcp_record `record`.
#define TCP_RECORD_ZERO(entry) \
    memset((uint8_t *)(entry) + sizeof(entry)->record, 0, sizeof *(entry) - sizeof(entry)->record)
// Takes a record (NULL: no memory) and puts it into the table; its owner fills in what follows struct tcp_record
// (TCP_RECORD_ZERO), and puts it on a list.
struct tcp_record *tcp_record_new(struct weir *weir, struct tcp_records *records, const struct weir_endpoint *local,
                                  const struct weir_endpoint *remote);
void tcp_record_end(struct weir *weir, struct tcp_records *records, struct tcp_record_list *list,
                    struct tcp_record *record);
struct tcp_record *tcp_record_search(const struct weir *weir, const struct tcp_records *records,
                                     const struct weir_endpoint *local, const struct weir_endpoint *remote);
static inline struct tcp_record *tcp_record_find(const struct weir *weir, const struct tcp_records *records,
                                                 const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    return WEIR_CFG_FAST_PATH && !records->table.count ? NULL : tcp_record_search(weir, records, local, remote);
}
// Fills *out with the next record. false: there is none.
bool tcp_records_walk(const struct tcp_records *records, struct table_cursor *cursor, enum weir_tcp_state state,
                      struct weir_socket_info *out);

#endif
