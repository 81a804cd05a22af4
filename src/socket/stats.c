// SPDX-License-Identifier: BSD-2-Clause
// Looking at sockets, and the names of counters and states.
#include "socket/socket.h"

#if WEIR_CFG_COUNTER_NAMES
static const char *const counter_names[WEIR_COUNT_COUNT] = {
#define ROW(name, text) [WEIR_COUNT_##name] = #name,
    WEIR_COUNTERS(ROW)
#undef ROW
};
static const char *const counter_texts[WEIR_COUNT_COUNT] = {
#define ROW(name, text) [WEIR_COUNT_##name] = text,
    WEIR_COUNTERS(ROW)
#undef ROW
};

const char *weir_counter_name(enum weir_counter counter)
{
    return (unsigned)counter < WEIR_COUNT_COUNT ? counter_names[counter] : "?";
}
const char *weir_counter_text(enum weir_counter counter)
{
    return (unsigned)counter < WEIR_COUNT_COUNT ? counter_texts[counter] : "?";
}
#endif

#if WEIR_CFG_TCP_INFO
int weir_socket_tcp_info(struct weir *weir, weir_socket socket, struct weir_tcp_info *out)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_info(weir, c, out);
}
#endif

#if WEIR_CFG_UDP
static void describe_datagram(struct weir *weir, struct datagram *datagram, struct weir_socket_info *out)
{
    int32_t bytes = 0;
    *out = (struct weir_socket_info){
        .socket = datagram->sock.handle, .type = datagram->type, .local = datagram->local, .peer = datagram->peer};
    if (datagram_get(weir, datagram, WEIR_OPTION_READABLE_BYTES, &bytes) == WEIR_OK)
        out->receive_queue = (uint32_t)bytes;
    if (datagram_get(weir, datagram, WEIR_OPTION_UNSENT_BYTES, &bytes) == WEIR_OK)
        out->send_queue = (uint32_t)bytes;
}

static bool datagram_walk(struct weir *weir, const struct table *table, struct table_cursor *cursor,
                          struct weir_socket_info *out)
{
    struct table_node *node = table_walk(table, cursor);
    if (node)
        describe_datagram(weir, container_of(node, struct datagram, node), out);
    return node;
}
static bool udp_walk(struct weir *weir, uint32_t kind, struct table_cursor *cursor, struct weir_socket_info *out)
{
    return datagram_walk(weir, kind ? &weir->udp.raws : &weir->udp.sockets, cursor, out);
}
static uint32_t udp_count(const struct weir *weir) { return weir->udp.sockets.count + weir->udp.raws.count; }
#else
static bool udp_walk(struct weir *weir, uint32_t kind, struct table_cursor *cursor, struct weir_socket_info *out)
{
    return (void)weir, (void)kind, (void)cursor, (void)out, false;
}
static uint32_t udp_count(const struct weir *weir) { return (void)weir, 0; }
#endif

// A cursor is where a table's walk stands, and which table: 1 is the first.
#define KIND_SHIFT 56
#define TIES_SHIFT 32
#define TIES_MASK 0xffffffu

uint64_t weir_socket_next(struct weir *weir, uint64_t cursor, struct weir_socket_info *out)
{
    uint32_t kind = cursor ? (uint32_t)(cursor >> KIND_SHIFT) - 1 : 0;
    struct table_cursor at = {.at = (uint32_t)cursor, .ties = (uint32_t)(cursor >> TIES_SHIFT) & TIES_MASK};
    for (; kind < TCP_WALK_KINDS + 2; kind++, at = (struct table_cursor){0})
        if (kind < TCP_WALK_KINDS ? tcp_walk(weir, kind, &at, out) : udp_walk(weir, kind - TCP_WALK_KINDS, &at, out))
            return (uint64_t)(kind + 1) << KIND_SHIFT | (uint64_t)(at.ties & TIES_MASK) << TIES_SHIFT | at.at;
    return 0;
}

uint32_t weir_socket_count(const struct weir *weir) { return tcp_count(weir) + udp_count(weir); }
