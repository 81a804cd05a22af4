// SPDX-License-Identifier: BSD-2-Clause
// Builds without an allocator have so many sockets. When all are taken, a connection that its owner has closed makes
// room for a new one. (With an allocator the memory budget decides who is to go: pressure.c.)
#include "tcp/internal.h"

#define ORPHAN_IDLE_MS 10000u  // ten times what a timeout mostly takes (RFC 6298)

// How long an orphan has waited: for a FIN of the peer alone, which costs nobody anything, or for acknowledgements that
// do not come. 0: it is none, or is not to be ended.
static uint32_t orphan_waits_ms(const struct weir *weir, const struct tcp_conn *c)
{
    const bool busy = c->sock.flags & (SOCK_ON_OUTPUT | SOCK_WAITS_NEIGHBOUR) || tcp_held(c);
    if (!(c->attention & ATTEND_CLOSED_BY_USER) || busy)
        return 0;
    const uint32_t waits_ms = min_u32(weir->now_ms - c->progress_ms, INT32_MAX);
    if (c->state == WEIR_TCP_FIN_WAIT_2)
        return waits_ms + INT32_MAX;
    return waits_ms < ORPHAN_IDLE_MS ? 0 : waits_ms;
}

bool tcp_orphan_end(struct weir *weir)
{
    struct tcp_conn *longest = NULL;
    uint32_t most_ms = 0;
    for (struct table_node *node = table_first(&weir->tcp.connections, 0); node; node = node->next) {
        struct tcp_conn *c = container_of(node, struct tcp_conn, node);
        const uint32_t waits_ms = orphan_waits_ms(weir, c);
        if (waits_ms > most_ms) {
            most_ms = waits_ms;
            longest = c;
        }
    }
    if (!longest)
        return false;
    count(weir, WEIR_COUNT_TCP_EVICTED);
    if (longest->state == WEIR_TCP_FIN_WAIT_2)
        tcp_fin_wait_2_end(weir, longest);
    else
        tcp_conn_abort(weir, longest);
    return true;
}
