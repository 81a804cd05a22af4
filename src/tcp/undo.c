// SPDX-License-Identifier: BSD-2-Clause
// Whether the last reduction was for nothing. Either what was sent again was reported as a duplicate, all of it (RFC
// 2883, RFC 3708), or the first acknowledgement echoes a timestamp older than the first retransmission (Eifel
// detection, RFC 3522).
#include "tcp/internal.h"

void tcp_undo_begin(struct tcp_conn *c)
{
    // What is in flight for the second time already would be acknowledged with an echo older than what is sent again
    // from now on.
    const bool mixed = flight_any_resent(c->flow->flight);
    c->flow->undo = (struct undo){.from = c->snd.una, .to = c->snd.nxt, .possible = true, .mixed = mixed};
}

void tcp_undo_resent(const struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    struct undo *undo = &c->flow->undo;
    undo->bytes += bytes;
    if (!undo->resent)
        undo->resent_ms = weir->now_ms;
    undo->resent = true;
}

void tcp_undo_duplicate(struct tcp_conn *c, uint32_t left, uint32_t right)
{
    struct undo *undo = &c->flow->undo;
    if (undo->possible && seq_in(left, undo->from, undo->to) && seq_in(right, left + 1, undo->to + 1))
        undo->bytes -= min_u32(undo->bytes, right - left);
}

bool tcp_undo_due(const struct tcp_conn *c) { return c->flow->undo.possible && !c->flow->undo.bytes; }

bool tcp_undo_echo(const struct tcp_conn *c, const struct tcp_segment *segment, uint32_t acked)
{
    const struct undo *undo = &c->flow->undo;
    if (!acked || c->snd.una - acked != undo->from || !undo->possible || !undo->resent || undo->mixed ||
        !(c->flags & TCP_USE_TIMESTAMPS) || !(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return false;
    return seq_lt(tcp_timestamps_echo_ms(c, segment), undo->resent_ms);
}

void tcp_undo_done(struct tcp_conn *c) { c->flow->undo.possible = false; }
