// SPDX-License-Identifier: BSD-2-Clause
// Keepalive (RFC 9293 §3.8.4): off unless asked for, two hours by default, and no single unanswered probe ends a
// connection.
#include "tcp/internal.h"

void tcp_keepalive_defaults(struct tcp_conn *c)
{
    c->keepalive_idle_s = 7200;
    c->keepalive_interval_s = 75;
    c->keepalive_count = 9;
}

void tcp_keepalive_inherit(struct tcp_conn *c, const struct tcp_listener *listener)
{
    c->keepalive_idle_s = listener->keepalive_idle_s;
    c->keepalive_interval_s = listener->keepalive_interval_s;
    c->keepalive_count = listener->keepalive_count;
}

void tcp_keepalive_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    listener->keepalive_idle_s = c->keepalive_idle_s;
    listener->keepalive_interval_s = c->keepalive_interval_s;
    listener->keepalive_count = c->keepalive_count;
}

uint32_t tcp_keepalive_due(struct weir *weir, struct tcp_conn *c, bool *gone)
{
    if (!(c->flags & TCP_KEEPALIVE_ON) || !tcp_synchronised(c) || c->snd.una != c->snd.nxt)
        return UINT32_MAX;
    const uint32_t quiet_ms = weir->now_ms - c->last_received_ms;
    const uint32_t due_ms = c->keepalive_idle_s * 1000u + c->keepalive_probes * (c->keepalive_interval_s * 1000u);
    if (quiet_ms < due_ms)
        return due_ms - quiet_ms;
    // With a user timeout that decides, otherwise the count of probes (as Linux has it for TCP_USER_TIMEOUT).
    const bool out_of_time = c->user_timeout_s ? c->keepalive_probes && quiet_ms >= c->user_timeout_s * 1000u
                                               : c->keepalive_probes >= c->keepalive_count;
    if (out_of_time) {
        if (tcp_reply_from(weir, c, TCP_RST | TCP_ACK))
            count(weir, WEIR_COUNT_TCP_RST_SENT);
        tcp_conn_drop(weir, c, WEIR_TIMED_OUT);
        *gone = true;
        return 0;
    }
    if (c->keepalive_probes < UINT8_MAX)
        c->keepalive_probes++;
    c->attention |= ATTEND_KEEPALIVE_NOW;
    count(weir, WEIR_COUNT_TCP_KEEPALIVE);
    trace_timer(weir, c, "keepalive");
    tcp_wants_output(weir, c);
    return c->keepalive_interval_s * 1000u;
}
