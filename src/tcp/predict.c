// SPDX-License-Identifier: BSD-2-Clause
// Header prediction (Jacobson 1990): in a transfer that goes well each segment but brings what was expected next, and the steps of
// RFC 9293 §3.10.7.4 (input.c) then come to very little. tcp_predict recognises such a segment and does that little.
#include "tcp/internal.h"

// A connection with any of these has something under way that the steps must see.
#define UNUSUAL \
    (TCP_CLOSED_BY_USER | TCP_READ_SHUT | TCP_FIN_QUEUED | TCP_FIN_RECEIVED | TCP_IN_RECOVERY | TCP_RTO_RECOVERY | TCP_PERSIST | TCP_URGENT_SEND | \
     TCP_URGENT_RECEIVED | TCP_RETRANSMIT_NOW | TCP_PROBE_NOW)

// An established connection at peace, and the segment next in order that does no more than bring data (in its place already), or acknowledge,
// or both. Each line is a step that has nothing to do.
static inline bool is_expected(const struct tcp_conn *c, const struct tcp_segment *segment, bool copied)
{
    const uint8_t options = c->flags & TCP_USE_TIMESTAMPS ? TCP_SEEN_TIMESTAMPS : 0;
    if (segment->seq != c->rcv.nxt || c->state != WEIR_TCP_ESTABLISHED || (segment->flags & ~TCP_PSH) != TCP_ACK)
        return false;  // sequence number, RST, SYN, state, URG, FIN
    if (c->flags & UNUSUAL || c->extra || segment->options.seen != options || segment->options.sack_count)
        return false;  // data beyond a hole, duplicates to report, urgent data, recovery, a closed window, a closed user
    if (options && tcp_timestamp_old(c, segment))
        return false;  // PAWS
    if (segment->length && (!copied || segment->length > c->rcv.edge - c->rcv.nxt))
        return false;
    const uint32_t acked = segment->ack - c->snd.una;
    if (!acked)  // a duplicate, or a window update: the steps tell which
        return segment->length && (uint32_t)segment->window << c->snd_scale == c->snd.wnd;
    return acked <= c->snd.nxt - c->snd.una && c->flow && !c->flow->flight->sacked && !c->flow->flight->lost;
}

// tcp_input_ack and tcp_recovery_ack, for new data acknowledged when none was lost.
static inline void take_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct flight_delta delta = {0};
    const uint32_t acked = segment->ack - c->snd.una, prior_inflight = c->snd.nxt - c->snd.una;
    c->snd.wnd = (uint32_t)segment->window << c->snd_scale;
    c->snd.max_wnd = max_u32(c->snd.max_wnd, c->snd.wnd);
    tcp_held_drop(weir, c, acked);
    flight_acked(c->flow->flight, segment->ack, &delta);
    c->snd.una = segment->ack;
    c->flow->retransmit_from = seq_max(c->flow->retransmit_from, segment->ack);
    c->progress_ms = weir->now_ms;
    c->duplicate_acks = 0;
    const uint32_t rtt_us = delta.rtt_valid ? max_u32(weir->now - delta.rtt_sent_us, 1) : tcp_timestamps_rtt(weir, c, segment);
    if (rtt_us)
        rtt_sample(&c->rtt, rtt_us, weir->port->granularity_us);
    tcp_cc_ack(weir, c, &delta, acked, prior_inflight);
    tcp_timers_acked(weir, c);
    if (c->flags & TCP_WRITE_BLOCKED) {
        c->flags &= ~(uint32_t)TCP_WRITE_BLOCKED;
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
    }
    if (tcp_send_queued(c))
        tcp_wants_output(weir, c);
}

bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment, bool copied)
{
    if (!is_expected(c, segment, copied))
        return false;
    TCP_INFO_COUNT(c, segs_in, 1);
    c->last_received_ms = weir->now_ms;
    c->keepalive_probes = 0;
    c->snd.wl1 = segment->seq;
    tcp_timestamps_update(weir, c, segment);
    if (segment->ack != c->snd.una)
        take_ack(weir, c, segment);
    if (segment->length)
        tcp_receive_expected(weir, c, packet, segment);
    return true;
}
