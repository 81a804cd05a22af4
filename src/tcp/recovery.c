// SPDX-License-Identifier: BSD-2-Clause
// Loss recovery: its beginning and end, what acknowledgements and timers mean for it, and what congestion control is
// told. Loss is found by RACK (rack.c) or, where that is not built, by RFC 6675's rule, and without SACK by duplicates:
// fast retransmit and NewReno (RFC 5681, 6582). loss.h lists the mechanisms that take part.
#include "tcp/internal.h"
#include "tcp/label.h"
#include "tcp/sack.h"

#define DUPLICATE_ACKS_LOSS 3u  // RFC 5681 §3.2, DupThresh

// Bytes thought to be in the network. Without SACK each duplicate ACK says that one segment has left it (RFC 5681 §3.2,
// step 4).
uint32_t tcp_recovery_pipe(const struct tcp_conn *c)
{
    if (!c->flow)
        return c->snd.nxt - c->snd.una;  // SYN or FIN (tcp_control_out)
    const uint32_t pipe = flight_pipe(c->flow->flight);
    if (c->flags & TCP_USE_SACK)
        return pipe;
    return pipe - min_u32(pipe, (uint32_t)c->flow->duplicate_acks * c->mss);
}

void tcp_scoreboard_changed(struct tcp_conn *c) { tcp_attend(c, ATTEND_SCOREBOARD, !flight_plain(c->flow->flight)); }

// What is sent within a tick is told apart by its sequence numbers alone. What now is sent again is below some that was
// sent before it, so it gets a time of its own.
static void send_again_from_the_first(struct weir *weir, struct tcp_conn *c)
{
    c->flow->retransmit_from = flight_first_lost(c->flow->flight);
    clock_step(weir, FLIGHT_STEP_US);
}

static void enter_recovery(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked)
{
    // once in a window, for marks and losses together
    const bool reduced = tcp_ecn_reducing(c) && !tcp_cc(weir, c)->owns_recovery;
    const bool in_use = flight_outstanding(c->flow->flight) >= c->flow->window.cwnd / 2;
    if (!reduced)
        tcp_cc_event(weir, c, WEIR_CC_ENTER_RECOVERY);
    if (!reduced && !in_use)
        tcp_cwv_loss(weir, c, true);
    tcp_ecn_reduced(c);
    tcp_undo_begin(c);
    if (reduced)
        tcp_undo_done(c);
    tcp_tlp_off(c);
    tcp_prr_enter(c, delta, acked);
    c->flow->recover = c->snd.nxt;
    c->flow->recovery_una = c->flow->retransmit_from = c->snd.una;
    c->attention |= ATTEND_FAST_RECOVERY | ATTEND_RETRANSMIT_NOW;
    TCP_INFO_COUNT(c, recoveries, 1);
    count(weir, WEIR_COUNT_TCP_FAST_RECOVERY);
}

// What the congestion control took for loss is given back (RFC 4015).
static void give_back(struct weir *weir, struct tcp_conn *c)
{
    tcp_undo_done(c);
    tcp_cc_event(weir, c, WEIR_CC_UNDO);
    tcp_ecn_undone(c);
    count(weir, WEIR_COUNT_TCP_SPURIOUS);
}

static void leave_recovery(struct weir *weir, struct tcp_conn *c)
{
    if (c->attention & ATTEND_FAST_RECOVERY) {
        tcp_cc_event(weir, c, WEIR_CC_EXIT_RECOVERY);
        tcp_cwv_recovered(c);
    }
    c->attention &= ~(uint32_t)(ATTEND_FAST_RECOVERY | ATTEND_RTO_RECOVERY | ATTEND_RETRANSMIT_NOW);
    c->flow->duplicate_acks = 0;
    tcp_frto_off(c);
    tcp_rack_recovered(c);
}

// Segments were late, not lost: recovery ends, and what was never sent again is in flight as it was.
static void undo_spurious(struct weir *weir, struct tcp_conn *c)
{
    if (c->attention & ATTEND_FAST_RECOVERY)
        tcp_rack_late(weir, c);
    flight_unlose(c->flow->flight);
    leave_recovery(weir, c);
    give_back(weir, c);
}

// What the acknowledgement says of the last reduction: all that was sent again the peer had already, or this answers
// what was sent before.
static void detect_spurious(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                            const struct tcp_ack_info *news)
{
    const uint32_t recovering = c->attention & ATTEND_RECOVERY;
    const struct tcp_sack_block *block = &news->segment->options.sack[0];
    if (news->reports_duplicate) {
        tcp_info_duplicate(weir, c, block);
        tcp_undo_duplicate(c, block->left, block->right);
        // bundles are duplicates that were meant
        if (!tcp_tlp_waiting(c) && !tcp_deadline_on(c) && !tcp_rtx_probe_expected(c, block->right))
            tcp_rack_duplicate(c);
    }
    if (recovering && delta->retransmitted_acked && tcp_undo_echo(c, news->segment, news->acked)) {
        undo_spurious(weir, c);
        return;
    }
    if (recovering && seq_le(c->flow->recover, c->snd.una))
        leave_recovery(weir, c);
    if (!tcp_undo_due(c) || c->attention & ATTEND_FAST_RECOVERY)
        return;
    if (c->attention & ATTEND_RTO_RECOVERY && news->reports_duplicate)
        undo_spurious(weir, c);
    else if (!(c->attention & ATTEND_RTO_RECOVERY))
        give_back(weir, c);
}

// NewReno's partial ACK (RFC 6582 §3.2, step 5): the next hole goes at once; of the duplicate ACKs counted, those for
// segments now cumulatively acknowledged are forgotten.
static void partial_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta, uint32_t acked)
{
    const uint32_t segments = (acked + c->mss - 1) / c->mss;
    c->flow->duplicate_acks -= (uint8_t)min_u32(c->flow->duplicate_acks, segments ? segments - 1 : 0);
    if (c->flags & TCP_USE_SACK || c->attention & ATTEND_RTO_RECOVERY)
        return;
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, delta);
    c->flow->retransmit_from = c->snd.una;
    c->attention |= ATTEND_RETRANSMIT_NOW;
}

static bool loss_found(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta)
{
    const uint32_t use_sack = c->flags & TCP_USE_SACK;
    if (tcp_rack_on(use_sack)) {
        tcp_rack_detect(weir, c, delta);
        return c->flow->flight->lost != 0;
    }
    if (use_sack && tcp_sack_loss(c, delta))
        return true;
    if (c->attention & ATTEND_RECOVERY)
        return false;
    // Three duplicates are a loss also to SACK, when they are of segments too small for its rule (RFC 6675 §5, (1)).
    // RFC 6582 §3.2, step 2: only when the ACK covers more than `recover`, or what was sent again for nothing would be
    // taken for a loss. (An older `recover` is none of what is in flight.)
    if (c->flow->duplicate_acks < DUPLICATE_ACKS_LOSS || c->flow->recover - c->snd.una <= c->snd.nxt - c->snd.una)
        return false;
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, delta);
    return true;
}

// What the acknowledgement means for a recovery under way, or for one that just ended.
static void update_state(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta,
                         const struct tcp_ack_info *news)
{
    const uint32_t recovering = c->attention & ATTEND_RECOVERY;
    if (news->duplicate && !news->reports_duplicate && c->flow->duplicate_acks < UINT8_MAX)
        c->flow->duplicate_acks++;
    if (c->attention & ATTEND_RTO_RECOVERY && tcp_frto_ack(c, delta, news->acked))
        undo_spurious(weir, c);
    detect_spurious(weir, c, delta, news);
    if (recovering & c->attention && news->acked)
        partial_ack(weir, c, delta, news->acked);
    else if (news->acked)
        c->flow->duplicate_acks = 0;
    if (tcp_tlp_ack(c, news->reports_duplicate || (news->duplicate && !delta->delivered)) && !recovering) {
        tcp_cc_event(weir, c, WEIR_CC_ENTER_RECOVERY);  // RFC 8985 §7.4.2: the probe has mended it, but it was a loss
        tcp_cc_event(weir, c, WEIR_CC_EXIT_RECOVERY);
    }
}

// Without SACK duplicates stood for what the ACK that ends a recovery covers: no more than a segment of it is news.
static void notify_cc(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                      const struct tcp_ack_info *news, bool was_fast)
{
    struct flight_delta told = *delta;
    told.newly_lost += c->flow->lost_untold;
    c->flow->lost_untold = 0;
    if (was_fast && !(c->flags & TCP_USE_SACK))
        told.delivered = min_u32(told.delivered, c->mss);
    if (news->acked || told.delivered || told.newly_lost)
        tcp_cc_ack(weir, c, &told, news->acked, tcp_recovery_pipe(c), news->prior_inflight);
    trace_window(weir, c);
    if (c->attention & ATTEND_FAST_RECOVERY && !tcp_cc(weir, c)->owns_recovery)
        tcp_prr_ack(c, delta, news->acked, news->duplicate);
}

void tcp_recovery_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta,
                      const struct tcp_ack_info *news)
{
    const bool was_fast = c->attention & ATTEND_FAST_RECOVERY;
    tcp_rack_ack(weir, c, delta);
    if (delta->reordered)
        tcp_info_reordered(weir, c, delta);
    update_state(weir, c, delta, news);
    const uint32_t recovering = c->attention & ATTEND_RECOVERY;
    if ((c->flags & TCP_USE_SACK || !recovering) && flight_outstanding(c->flow->flight) && loss_found(weir, c, delta) &&
        !recovering)
        enter_recovery(weir, c, delta, news->acked);
    tcp_scoreboard_changed(c);
    tcp_rtx_probe_ack(weir, c, delta, news);
    if (delta->newly_lost)
        send_again_from_the_first(weir, c);
    notify_cc(weir, c, delta, news, was_fast);
    tcp_cwv_acked(weir, c);
    if (tcp_send_queued(c) || c->attention & ATTEND_FIN_QUEUED)
        tcp_wants_output(weir, c);
}

// A timer, not an acknowledgement, has found what is lost.
static void lost_by_time(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    c->flow->lost_untold += delta->newly_lost;
    tcp_scoreboard_changed(c);
    send_again_from_the_first(weir, c);
    if (!(c->attention & ATTEND_RECOVERY))
        enter_recovery(weir, c, delta, 0);
    if (c->attention & ATTEND_FAST_RECOVERY && !tcp_cc(weir, c)->owns_recovery)
        tcp_prr_ack(c, delta, 0, false);
    tcp_wants_output(weir, c);
}

void tcp_recovery_reorder(struct weir *weir, struct tcp_conn *c)
{
    struct flight_delta delta = {0};
    tcp_rack_detect(weir, c, &delta);
    if (delta.newly_lost)
        lost_by_time(weir, c, &delta);
}

#if TCP_RTX_PROBE
void tcp_recovery_probe(struct weir *weir, struct tcp_conn *c)
{
    struct flight_delta delta = {0};
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, &delta);
    lost_by_time(weir, c, &delta);
    c->attention |= ATTEND_RETRANSMIT_NOW;
}
#endif

// It was not the network that lost it, for want of room: cwnd stays, and what of it still waits is no reason for
// another recovery.
void tcp_recovery_again(struct tcp_conn *c)
{
    flight_lose_all(c->flow->flight);
    tcp_scoreboard_changed(c);
    c->flow->recover = c->snd.nxt;
    c->flow->retransmit_from = c->snd.una;
    c->attention |=
        c->attention & ATTEND_FAST_RECOVERY ? ATTEND_RETRANSMIT_NOW : ATTEND_RETRANSMIT_NOW | ATTEND_RTO_RECOVERY;
}

// RFC 5681 §3.1, RFC 6298 §5.4: slow start begins anew; the congestion control is told once for the same data. What was
// in flight is lost, but for what RACK knows to be too young.
void tcp_recovery_timeout(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_flow *flow = c->flow;
    const uint32_t ssthresh = flow->window.ssthresh, recovering = c->attention & ATTEND_RECOVERY;
    const bool repeated = c->attention & ATTEND_RTO_RECOVERY && flow->recovery_una == c->snd.una;
    flow->recovery_una = c->snd.una;
    tcp_frto_timeout(c, !recovering);
    tcp_tlp_off(c);
    if (!repeated) {
        tcp_undo_begin(c);
        tcp_cc_event(weir, c, WEIR_CC_RTO);
    }
    tcp_ecn_reduced(c);
    tcp_cwv_timeout(c);
    if (recovering & ATTEND_FAST_RECOVERY)  // it has fallen for this data already
        flow->window.ssthresh = min_u32(flow->window.ssthresh, ssthresh);
    flow->window.cwnd = c->mss;
    flow->lost_untold +=
        tcp_rack_on(c->flags & TCP_USE_SACK) ? tcp_rack_timeout(weir, c) : flight_lose_all(flow->flight);
    tcp_scoreboard_changed(c);
    flow->recover = c->snd.nxt;
    flow->retransmit_from = c->snd.una;
    c->flow->duplicate_acks = 0;
    c->attention = (c->attention & ~(uint32_t)ATTEND_FAST_RECOVERY) | ATTEND_RTO_RECOVERY | ATTEND_RETRANSMIT_NOW;
    if (c->backoff < UINT8_MAX && !(tcp_deadline_on(c) && tcp_deadline_ahead(weir, c)))
        tcp_backoff_set(c, (uint8_t)(c->backoff + 1));
    tcp_label_timeout(weir, c);
    tcp_black_hole_timeout(weir, c);
    TCP_INFO_COUNT(c, rto, 1);
    count(weir, WEIR_COUNT_TCP_RTO);
    tcp_wants_output(weir, c);
}
