// SPDX-License-Identifier: BSD-2-Clause
// Payload lent to a driver that answered HELD (docs/DESIGN.md, "HELD"). Only bytes sent for the first time are lent,
// and completions come in the order of the frames, so one number says what the driver still needs: [held_una,
// held_end). Acknowledged bytes in there stay in the send queue (flow->lag of them) until their completion; closing
// parks the connection's memory until then.
#include "tcp/internal.h"

void tcp_held_begin(struct tcp_conn *c, uint32_t seq, uint32_t end)
{
    if (!tcp_held(c))
        c->flow->held_una = seq;
    c->flow->held_end = end;
}

// Bytes at the front of the queue that neither the peer nor a driver needs any more.
static void drop_free(struct weir *weir, struct tcp_conn *c)
{
    uint32_t bytes = c->flow->lag;
    if (tcp_held(c)) {
        const uint32_t front = tcp_data_start(c) - c->flow->lag;
        bytes = seq_lt(front, c->flow->held_una) ? min_u32(bytes, c->flow->held_una - front) : 0;
    }
    if (!bytes)
        return;
    c->flow->lag -= bytes;
    stream_drop(&weir->memory, c->send, bytes);
}

// Called before snd.una moves; `front` above is taken after, so the lag is settled by the caller's second look
// (tcp_held_complete) or here.
void tcp_held_drop_some(struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    const uint32_t front = tcp_data_start(c) - c->flow->lag;
    const uint32_t acked = c->flow->lag + bytes;
    const uint32_t free = seq_lt(front, c->flow->held_una) ? min_u32(acked, c->flow->held_una - front) : 0;
    if (free)
        stream_drop(&weir->memory, c->send, free);
    c->flow->lag = acked - free;
}

void tcp_held_complete(struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    if (!tcp_held(c) || !seq_lt(c->flow->held_una, end) || seq_lt(c->flow->held_end, end))
        return;
    c->flow->held_una = end;
    if (c->sock.flags & SOCK_DEAD) {
        if (!tcp_held(c) && !(c->sock.flags & (SOCK_ON_OUTPUT | SOCK_WAITS_NEIGHBOUR)) && !(c->flags & TCP_ACK_NOW))
            tcp_destroy(weir, c);  // while it says its last words, its turn does that
        return;
    }
    drop_free(weir, c);
    if (c->flags & TCP_WRITE_BLOCKED)
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
    tcp_wants_output(weir, c);
}
