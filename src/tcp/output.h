// SPDX-License-Identifier: BSD-2-Clause
// What of the rules for sending more than one file asks.
#ifndef TCP_OUTPUT_H
#define TCP_OUTPUT_H

#include "tcp/internal.h"

static inline uint32_t tcp_window_room(const struct tcp_conn *c)
{
    const uint32_t used = c->snd.nxt - c->snd.una, window = min_u32(c->snd.wnd, flight_bytes_most(c->mss));
    return window > used ? window - used : 0;
}

static inline bool tcp_may_send_data(const struct tcp_conn *c)
{
    const uint32_t states = 1u << WEIR_TCP_ESTABLISHED | 1u << WEIR_TCP_CLOSE_WAIT | 1u << WEIR_TCP_FIN_WAIT_1 |
                            1u << WEIR_TCP_CLOSING | 1u << WEIR_TCP_LAST_ACK;
    return states >> c->state & 1;
}

// Whether no small segment is in flight: it is a multiple of full ones, or so much less as options that come and go
// take.
static inline bool tcp_in_flight_full(const struct tcp_conn *c)
{
    const uint32_t less = min_u32(TCP_OPTIONS_MAX, c->mss / 8);
    return (c->snd.nxt - c->snd.una + less) % c->mss <= less;
}

// Nagle (RFC 9293 §3.7.4, as modified in A.3) and the sender's side of silly-window avoidance (§3.8.6.2.1): whether
// less than a full segment may go. It waits for one like it only, or the end of a large write would wait for a peer
// that delays its ACK of what went before.
static inline bool tcp_small_may_go(const struct tcp_conn *c, uint32_t length, uint32_t unsent)
{
    if (c->flags & TCP_SEND_SMALL)
        return true;
    if (length < unsent)  // the peer's window is what limits
        return length >= tcp_max_window(c) / 2;
    if (c->attention & ATTEND_FIN_QUEUED)
        return true;
    if (c->flags & TCP_CORK)
        return false;
    return c->flags & TCP_NO_DELAY || c->snd.nxt == c->snd.una || tcp_in_flight_full(c) || tcp_urgent_to_send(c);
}

// Of an ACK alone. Where a probe has gone beyond the window, the peer would refuse what bears the number after it, and
// not read the ACK.
static inline uint32_t tcp_ack_seq(const struct tcp_conn *c)
{
    return seq_min(c->snd.nxt, c->snd.una + tcp_syn_unacked(c) + c->snd.wnd);
}
// `answer`: to a SYN
void tcp_output_syn_options(const struct weir *weir, struct tcp_conn *c, bool answer, struct tcp_options *options);

// From input, an ACK that tells of all that has come so far. It waits in the outbox. Where there is no room nothing has
// changed.
#if WEIR_CFG_TCP_SACK
void tcp_output_ack_before(struct weir *weir, struct tcp_conn *c);
#endif

// An ACK left: none is owed.
static inline void tcp_ack_left(struct tcp_conn *c)
{
    c->flags &= ~(uint32_t)(TCP_ACK_NOW | TCP_ACK_DELAYED);
    c->rcv.acked = c->rcv.nxt;
    tcp_timers_ack_sent(c);
}

#endif
