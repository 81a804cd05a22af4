// SPDX-License-Identifier: BSD-2-Clause
// Loss detection and recovery: fast retransmit and NewReno (RFC 5681, 6582), SACK-based (RFC 6675), limited transmit (RFC 3042),
// and what follows a retransmission timeout. congestion.c tells congestion control of it.
#include "tcp/internal.h"

#define DUPLICATE_ACKS_LOSS 3u  // RFC 5681 §3.2, DupThresh

// Bytes thought to be in the network. Without SACK each duplicate ACK says that one segment has left it (RFC 5681 §3.2, step 4).
uint32_t tcp_recovery_pipe(const struct tcp_conn *c)
{
    if (!c->flow)
        return 0;
    const uint32_t pipe = flight_pipe(c->flow->flight);
    if (c->flags & TCP_USE_SACK)
        return pipe;
    return pipe - min_u32(pipe, (uint32_t)c->duplicate_acks * c->mss);
}

static void enter(struct weir *weir, struct tcp_conn *c)
{
    const bool reduced = tcp_ecn_reducing(c) && !tcp_cc(c)->owns_recovery;  // once in a window, for marks and losses together
    if (!reduced)
        tcp_cc_event(weir, c, WEIR_CC_ENTER_RECOVERY);
    tcp_ecn_reduced(c);
    c->flow->recover = c->snd.nxt;
    c->flow->retransmit_from = c->snd.una;
    c->flow->undo_from = c->snd.una;
    c->flow->undo_bytes = 0;
    c->flow->may_undo = !reduced;
    c->flags |= TCP_IN_RECOVERY | TCP_RETRANSMIT_NOW;
    TCP_INFO_COUNT(c, recoveries, 1);
    count(weir, WEIR_COUNT_TCP_FAST_RECOVERY);
}

// A fast recovery in which nothing was sent again, or only what the peer had already: segments were late, not lost (RFC 3708). What the
// congestion control took for it is given back.
static void undo_if_spurious(struct weir *weir, struct tcp_conn *c)
{
    if (!c->flow->may_undo || c->flow->undo_bytes || c->flags & TCP_IN_RECOVERY)
        return;
    c->flow->may_undo = false;
    tcp_cc_event(weir, c, WEIR_CC_UNDO);
    tcp_ecn_undone(c);
    count(weir, WEIR_COUNT_TCP_SPURIOUS);
}

static void leave(struct weir *weir, struct tcp_conn *c)
{
    if (c->flags & TCP_IN_RECOVERY)
        tcp_cc_event(weir, c, WEIR_CC_EXIT_RECOVERY);
    c->flags &= ~(uint32_t)(TCP_IN_RECOVERY | TCP_RTO_RECOVERY | TCP_RETRANSMIT_NOW);
    c->duplicate_acks = 0;
    undo_if_spurious(weir, c);
}

void tcp_recovery_duplicate(struct weir *weir, struct tcp_conn *c, uint32_t left, uint32_t right)
{
    struct tcp_flow *flow = c->flow;
    if (!flow->may_undo || !seq_le(flow->undo_from, left) || !seq_lt(left, right) || !seq_le(right, flow->recover))
        return;
    flow->undo_bytes -= min_u32(flow->undo_bytes, right - left);
    undo_if_spurious(weir, c);
}

// NewReno's partial ACK (RFC 6582 §3.2, step 5): the next hole goes at once; of the duplicate ACKs counted, those for segments now
// cumulatively acknowledged are forgotten.
static void partial_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta, uint32_t acked)
{
    const uint32_t segments = (acked + c->mss - 1) / c->mss;
    c->duplicate_acks -= (uint8_t)min_u32(c->duplicate_acks, segments ? segments - 1 : 0);
    if (c->flags & TCP_USE_SACK || c->flags & TCP_RTO_RECOVERY)
        return;
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, delta);
    c->flow->retransmit_from = c->snd.una;
    c->flags |= TCP_RETRANSMIT_NOW;
}

static bool loss_found(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta)
{
    if (c->flags & TCP_USE_SACK && tcp_sack_loss(c, delta))
        return true;
    if (c->flags & (TCP_IN_RECOVERY | TCP_RTO_RECOVERY))
        return false;
    // Three duplicates are a loss also to SACK, when they are of segments too small for its rule (RFC 6675 §5, (1)).
    // RFC 6582 §3.2, step 2: only when the ACK covers more than `recover`, or this very data would be retransmitted again.
    if (c->duplicate_acks < DUPLICATE_ACKS_LOSS || !seq_le(c->flow->recover, c->snd.una))
        return false;
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, delta);
    return true;
}

void tcp_recovery_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta, uint32_t acked, bool duplicate,
                      uint32_t prior_inflight)
{
    const uint32_t recovering = c->flags & (TCP_IN_RECOVERY | TCP_RTO_RECOVERY);
    if (duplicate && c->duplicate_acks < UINT8_MAX)
        c->duplicate_acks++;
    if (recovering && seq_le(c->flow->recover, c->snd.una))
        leave(weir, c);
    else if (recovering && acked)
        partial_ack(weir, c, delta, acked);
    else if (acked)
        c->duplicate_acks = 0;
    if ((c->flags & TCP_USE_SACK || !recovering) && flight_outstanding(c->flow->flight) && loss_found(weir, c, delta) &&
        !(c->flags & (TCP_IN_RECOVERY | TCP_RTO_RECOVERY)))
        enter(weir, c);
    if (delta->newly_lost)
        c->flow->retransmit_from = c->snd.una;
    if (acked || delta->delivered)
        tcp_cc_ack(weir, c, delta, acked, tcp_recovery_pipe(c), prior_inflight);
    if (tcp_send_queued(c) || c->flags & TCP_FIN_QUEUED)
        tcp_wants_output(weir, c);
}

// RFC 5681 §3.1, RFC 6298 §5.4: everything is thought lost, slow start begins anew; the congestion control is told once for the same data.
void tcp_recovery_timeout(struct weir *weir, struct tcp_conn *c)
{
    const bool repeated = c->flags & TCP_RTO_RECOVERY && c->flow->timeout_una == c->snd.una;
    c->flow->timeout_una = c->snd.una;
    if (!repeated)
        tcp_cc_event(weir, c, WEIR_CC_RTO);
    tcp_ecn_reduced(c);
    c->flow->window.cwnd = c->mss;
    c->flow->may_undo = false;
    flight_lose_all(c->flow->flight);
    c->flow->recover = c->snd.nxt;
    c->flow->retransmit_from = c->snd.una;
    c->duplicate_acks = 0;
    c->flags = (c->flags & ~(uint32_t)TCP_IN_RECOVERY) | TCP_RTO_RECOVERY | TCP_RETRANSMIT_NOW;
    if (c->backoff < UINT8_MAX)
        c->backoff++;
    TCP_INFO_COUNT(c, rto, 1);
    count(weir, WEIR_COUNT_TCP_RTO);
    tcp_wants_output(weir, c);
}
