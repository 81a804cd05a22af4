// SPDX-License-Identifier: BSD-2-Clause
// Whether the attention word is what it must be (WEIR_CFG_SELF_CHECK): each bit that follows from other state, computed
// anew.
#include "tcp/internal.h"

// What hangs in struct tcp_extra.
static uint32_t extra_bits(const struct tcp_conn *c)
{
    if (!c->extra)
        return 0;
    return (c->extra->out_of_order ? ATTEND_OUT_OF_ORDER : 0) | (tcp_dsack_owed(c->extra) ? ATTEND_DSACK : 0) |
           (tcp_uto_owed(c) ? ATTEND_USER_TIMEOUT : 0) | (tcp_realtime_on(c) ? ATTEND_REALTIME : 0) |
           (tcp_deadline_on(c) ? ATTEND_DEADLINE : 0) | (tcp_low_water_on(c) ? ATTEND_LOW_WATER : 0);
}

static bool conn_is_right(const struct tcp_conn *c)
{
    const uint32_t derived = (c->state == WEIR_TCP_ESTABLISHED ? 0 : ATTEND_STATE) | (c->backoff ? ATTEND_BACKOFF : 0) |
                             (c->flow && !flight_plain(c->flow->flight) ? ATTEND_SCOREBOARD : 0) | extra_bits(c);
    return (c->attention & ATTEND_DERIVED) == derived && (c->flow || !(c->attention & ATTEND_FLOW));
}

void tcp_attention_check(struct weir *weir)
{
    const struct table *const connections = &weir->tcp.connections;
    if (connections->count > TCP_CHECKED_MOST)
        return;
    for (uint32_t bucket = 0; bucket < table_buckets(connections); bucket++)
        for (struct table_node *node = table_chain(connections, bucket); node; node = node->next)
            if (!conn_is_right(container_of(node, struct tcp_conn, node)))
                __builtin_trap();
}
