// SPDX-License-Identifier: BSD-2-Clause
// TCP_INFO.
#include "tcp/internal.h"

#define REORDERING_LEAST 3u  // DupThresh (RFC 5681 §3.2): how late a segment may come and nobody asks

static uint8_t recovery_state(const struct tcp_conn *c)
{
    if (c->attention & ATTEND_RTO_RECOVERY)
        return 4;
    if (c->attention & ATTEND_FAST_RECOVERY)
        return 3;
    if (tcp_ecn_reducing(c))
        return 2;
    return c->flow && (c->flow->duplicate_acks || c->flow->flight->sacked) ? 1 : 0;
}

// Rare, and each connection has few of them: beside it, not in it. Without memory it is not counted.
void tcp_info_reordered(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return;
    extra->reorder_seen++;
    extra->reordering = max_u32(extra->reordering, (delta->fack - delta->late_start + c->mss - 1) / c->mss);
}

void tcp_info_duplicate(struct weir *weir, struct tcp_conn *c, const struct tcp_sack_block *block)
{
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (extra)
        extra->duplicates += max_u32((block->right - block->left + c->mss - 1) / c->mss, 1);
}

// What is under way, and what came of it.
static void tell_flight(struct tcp_conn *c, struct weir_tcp_info *out)
{
    out->cwnd = c->flow        ? c->flow->window.cwnd
                : c->idle_cwnd ? (uint32_t)c->idle_cwnd * c->mss
                               : weir_cc_initial_window(c->mss);
    out->ssthresh = c->flow ? c->flow->window.ssthresh : c->node.spare;
    out->inflight = tcp_recovery_pipe(c);
    out->sacked = c->flow ? c->flow->flight->sacked : 0;
    out->lost = c->flow ? c->flow->flight->lost : 0;
    out->retrans_out = c->flow ? flight_resent_out(c->flow->flight) : 0;
    out->reordering = REORDERING_LEAST;
    if (c->extra) {
        out->reordering = max_u32(c->extra->reordering, REORDERING_LEAST);
        out->reorder_seen = c->extra->reorder_seen;
        out->duplicates = c->extra->duplicates;
    }
}

int tcp_info(struct weir *weir, struct tcp_conn *c, struct weir_tcp_info *out)
{
    memset(out, 0, sizeof *out);
    out->state = c->state;
    out->recovery = recovery_state(c);
    out->backoff = c->backoff;
    out->probes = c->attention & ATTEND_PERSIST ? c->backoff : c->keepalive_probes;
    out->sack = c->flags & TCP_USE_SACK;
    out->timestamps = c->flags & TCP_USE_TIMESTAMPS;
    out->window_scaling = c->flags & TCP_USE_SCALING;
    out->ecn = tcp_ecn_agreed(c);
    out->accecn = out->ecn && tcp_ecn_accurate(c);
    out->received_ce = tcp_ecn_received_ce(c);
    out->delivered_ce = tcp_ecn_delivered_ce(c);
    out->snd_wscale = c->snd_scale;
    out->rcv_wscale = c->rcv_scale;
    out->rto_us = rtt_timeout(&c->rtt, c->backoff);
    out->srtt_us = rtt_smoothed(&c->rtt);
    out->rttvar_us = c->rtt.srtt8_us ? c->rtt.rttvar4_us >> 2 : 0;
    out->min_rtt_us = c->rtt.min_us == UINT32_MAX ? 0 : c->rtt.min_us;
    out->snd_mss = c->mss;
    out->rcv_mss = c->rcv_mss;
    out->path_mtu = c->path.netif ? c->path.mtu : 0;
    tell_flight(c, out);
    out->snd_wnd = c->snd.wnd;
    out->rcv_wnd = c->rcv.edge - c->rcv.nxt;
    out->send_queue = tcp_send_queued(c);
    out->receive_queue = tcp_receive_queued(c);
    out->unsent = tcp_unsent(c);
    out->total_retrans = c->info.retransmits;
    out->rto_count = c->info.rto;
    out->fast_recoveries = c->info.recoveries;
    out->out_of_order = c->info.out_of_order;
    // Sequence spaces wrap every 4 GiB; the wraps are counted. SYN is not data, nor is FIN.
    const uint64_t sent = ((uint64_t)c->info.sent_wraps << 32 | c->snd.nxt) - c->iss;
    const uint64_t received = ((uint64_t)c->info.received_wraps << 32 | c->rcv.nxt) - c->info.irs;
    const uint32_t fin = c->attention & ATTEND_FIN_SENT ? 1 : 0;
    out->bytes_sent = (sent > fin ? sent - 1 - fin : 0) + c->info.bytes_retrans;
    out->bytes_retrans = c->info.bytes_retrans;
    out->bytes_acked = sent > fin + (c->snd.nxt - c->snd.una) ? sent - 1 - fin - (c->snd.nxt - c->snd.una) : 0;
    out->bytes_received =
        received && c->state >= WEIR_TCP_ESTABLISHED ? received - 1 - (c->attention & ATTEND_FIN_RECEIVED ? 1 : 0) : 0;
    out->segs_out = c->info.segs_out;
    out->segs_in = c->info.segs_in;
    out->bytes_delivered = out->bytes_acked + out->sacked;
    out->delivered = (uint32_t)((out->bytes_delivered + c->mss - 1) / c->mss);
    if (c->flow) {
        out->pacing_rate = tcp_pacing_rate(c);
        tcp_rate_info(c, out);
    }
    out->last_sent_us = tcp_pause_us(weir->now_ms - c->progress_ms);
    out->last_received_us = tcp_pause_us(weir->now_ms - c->last_received_ms);
    return WEIR_OK;
}
