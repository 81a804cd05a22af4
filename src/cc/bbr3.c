// SPDX-License-Identifier: BSD-2-Clause
// BBR, version 3 (draft-ietf-ccwg-bbr), in integers. As in the first model the pace is the bottleneck's bandwidth and
// the window twice what that has in flight; beyond that it learns from loss how much the path holds (bbr3_bounds.h).
// Once the pipe is full it goes round in a cycle of four phases (bbr3_cycle.c), but for PROBE_RTT, which lets the queue
// run empty.
//
// Where this differs from the draft, besides what the contract tells of loss: a mark of congestion (ECN, not in the
// draft) ends a probe, and bounds the short term, as a loss beyond 2 % does. While the clock cannot tell a round trip,
// STARTUP is held back by nothing but loss.
#include "cc/bbr3.h"

#define BBR3_MIN_RTT_PROBE_US 5000000u  // PROBE_RTT so often, if no round trip was as short
#define BBR3_DRAIN_ROUNDS 3u

// In 256ths, by mode: STARTUP, PROBE_RTT, DRAIN, DOWN, CRUISE, REFILL, UP.
static const uint16_t bbr3_pacing[] = {709, 256, 128, 230, 256, 256, 320};  // 2.77, 1, 0.5, 0.9, 1, 1, 1.25
static const uint16_t bbr3_cwnd[] = {512, 128, 512, 512, 512, 512, 576};    // 2, in PROBE_RTT 0.5, in UP 2.25

// `gain` products and `extra`, but what is being put together at both ends fits besides.
static uint32_t bbr3_inflight(const struct bbr3 *b, uint32_t gain, uint32_t extra, uint32_t mss)
{
    if (b->path.min_rtt.us == WEIR_CC_UNLIMITED || !bbr3_max_bw(b))
        return weir_cc_initial_window(mss);
    const uint64_t bytes = (uint64_t)bbr3_bdp(b) * gain / BBR_ONE + extra;
    const uint32_t least = max_u32(bbr_bursts(bbr3_bw(b)), BBR_MIN_SEGMENTS) * mss;
    return max_u32(bytes < CC_WINDOW_MAX ? (uint32_t)bytes : CC_WINDOW_MAX, least) +
           (b->path.mode == BBR3_UP ? 2 * mss : 0);
}

// --- what loss says --------------------------------------------------------------------------------------------------

// A STARTUP whose queue overflows: a round of recovery lost more than 2 %, in six places at least.
static void bbr3_check_startup_loss(struct bbr3 *b, const struct weir_cc_sample *s)
{
    if (b->path.full_reached || !b->path.recovering || b->bounds.losses < BBR3_FULL_LOSSES ||
        !bbr3_bounds_exceeded(&b->bounds, s))
        return;
    b->undo = BBR3_UNDO_STARTUP;
    b->path.full_reached = b->full_now = true;
    b->bounds.now.inflight_longterm = max_u32(bbr3_bdp(b), b->bounds.inflight_latest);
}

// At the end of a round with a loss, unless the flow was probing, the short term is bounded.
static void bbr3_loss_round(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t cwnd)
{
    const bool probing = b->path.mode == BBR_STARTUP || b->path.mode == BBR3_REFILL || b->path.mode == BBR3_UP;
    if (b->bounds.loss_in_round && !probing)
        bbr3_bounds_shorten(&b->bounds, bbr3_max_bw(b), cwnd);
    bbr3_check_startup_loss(b, s);
    b->bounds.losses = 0;
    b->bounds.loss_in_round = false;
}

// --- the model -------------------------------------------------------------------------------------------------------

static void bbr3_rounds(struct bbr3 *b, const struct weir_cc_sample *s)
{
    b->round_start = seq_le(b->next_round, s->prior_delivered);
    if (!b->round_start)
        return;
    b->next_round = b->path.total;
    b->rounds_since_probe = (uint8_t)min_u32(b->rounds_since_probe + 1u, BBR3_RENO_ROUNDS);
    b->drain_rounds = (uint8_t)min_u32(b->drain_rounds + 1u, BBR3_DRAIN_ROUNDS);
}

// Growth shows in any sample, its absence in a whole round.
static void bbr3_check_full(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate)
{
    if (b->full_now || s->app_limited || !rate)
        return;
    if (rate >= (uint64_t)b->full_bw * 5 / 4) {
        bbr3_reset_full(b, rate);
    } else if (b->round_start) {
        b->full_now = ++b->path.full_rounds >= BBR_FULL_ROUNDS;
        b->path.full_reached |= b->full_now;
    }
}

static void bbr3_modes(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t delivered, uint32_t cwnd)
{
    if (b->path.mode == BBR_STARTUP && b->path.full_reached) {
        b->path.mode = BBR3_DRAIN;
        b->drain_rounds = 0;
    }
    if (b->path.mode == BBR3_DRAIN &&
        (s->inflight <= bbr3_inflight(b, BBR_ONE, 0, s->mss) || b->drain_rounds >= BBR3_DRAIN_ROUNDS))
        bbr3_start_down(b, s->now_us);
    if (b->path.full_reached)
        bbr3_cycle(b, s, rate, delivered, cwnd);
}

static void bbr3_leave_probe_rtt(struct bbr3 *b, uint32_t now_us, struct weir_cc_window *w)
{
    b->probe_rtt.at_us = now_us;
    w->cwnd = max_u32(w->cwnd, b->path.prior_cwnd);
    bbr3_bounds_forget_shortterm(&b->bounds);
    b->path.mode = BBR_STARTUP;
    if (!b->path.full_reached)
        return;
    bbr3_start_down(b, now_us);
    b->path.mode = BBR3_CRUISE;  // there is no queue
}

// Half a product.
static uint32_t bbr3_probe_rtt_cwnd(const struct bbr3 *b, uint32_t mss)
{
    return bbr3_inflight(b, bbr3_cwnd[BBR_PROBE_RTT], 0, mss);
}

// Five seconds without a round trip as short as the shortest of them: the queue is let run empty. What is known for ten
// gives way only then.
static void bbr3_probe_rtt(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr_path *p = &b->path;
    const bool expired = bbr_rtt_take(&b->probe_rtt, s, BBR3_MIN_RTT_PROBE_US);
    if (b->probe_rtt.us <= p->min_rtt.us || s->now_us - p->min_rtt.at_us > BBR_MIN_RTT_US)
        p->min_rtt = b->probe_rtt;
    if (expired && !p->idle && p->mode != BBR_PROBE_RTT) {
        bbr_path_probe_rtt(p, w);
        p->quiet = true;
        b->probe_ending = true;
        b->next_round = p->total;
    }
    if (p->mode != BBR_PROBE_RTT)
        return;
    if (bbr_path_emptied(p, s, bbr3_probe_rtt_cwnd(b, s->mss)))
        b->next_round = p->total;
    else if (bbr_path_rested(p, s->now_us) && b->round_start)
        bbr3_leave_probe_rtt(b, s->now_us, w);
}

// --- what comes out --------------------------------------------------------------------------------------------------

static bool bbr3_blind(const struct bbr3 *b, const struct weir_cc_sample *s)
{
    return s->clock_coarse && !b->path.full_reached;
}

static void bbr3_pace(const struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t bw = bbr3_bw(b), rate = bbr_margin(bbr_limit((uint64_t)bw * bbr3_pacing[b->path.mode] / BBR_ONE));
    if (bbr3_blind(b, s))
        w->pacing_rate = WEIR_CC_UNLIMITED;
    else if (bw && (b->path.full_reached || rate > w->pacing_rate || w->pacing_rate == WEIR_CC_UNLIMITED))
        w->pacing_rate = rate;
}

static uint32_t bbr3_cap(const struct bbr3 *b, uint32_t mss)
{
    uint32_t cap = WEIR_CC_UNLIMITED;
    if (b->path.mode == BBR3_CRUISE || b->path.mode == BBR_PROBE_RTT)
        cap = bbr3_bounds_with_headroom(&b->bounds, mss);
    else if (bbr3_in_probe_bw(b))
        cap = b->bounds.now.inflight_longterm;
    return max_u32(min_u32(cap, b->bounds.now.inflight_shortterm), BBR_MIN_SEGMENTS * mss);
}

static void bbr3_window(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    bbr_path_after_rto(&b->path, delivered, w);
    uint32_t target = bbr3_inflight(b, bbr3_cwnd[b->path.mode], bbr_extra_most(&b->path.extra), s->mss);
    if (bbr3_blind(b, s) && s->cwnd_limited)
        target = WEIR_CC_UNLIMITED;
    bbr_path_grow(delivered, target, b->path.full_reached, w);
    w->cwnd = max_u32(w->cwnd, BBR_MIN_SEGMENTS * s->mss);
    if (b->path.mode == BBR_PROBE_RTT)
        w->cwnd = min_u32(w->cwnd, bbr3_probe_rtt_cwnd(b, s->mss));
    w->cwnd = min_u32(w->cwnd, bbr3_cap(b, s->mss));
    bbr_path_remember(&b->path, bbr3_max_bw(b), s->mss, w);
}

static void bbr3_delivered(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    const uint32_t rate = bbr_delivery_rate(s);
    bbr3_rounds(b, s);
    bbr3_bounds_delivered(&b->bounds, s, rate);
    if (rate >= bbr3_max_bw(b) || !(s->app_limited || b->path.quiet))
        b->max_bw[0] = max_u32(b->max_bw[0], rate);
    if (b->bounds.loss_round_start)
        bbr3_loss_round(b, s, w->cwnd);
    if (b->round_start)
        bbr_extra_round(&b->path.extra, b->path.full_reached ? BBR_EXTRA_ROUNDS : 1);
    bbr_extra_acked(&b->path.extra, bbr3_bw(b), delivered, w->cwnd, s->now_us);
    bbr3_check_full(b, s, rate);
    bbr3_modes(b, s, rate, delivered, w->cwnd);
    bbr3_probe_rtt(b, s, w);
    b->path.idle = false;
    if (b->bounds.loss_round_start)
        bbr3_bounds_next_round(&b->bounds, s, rate);
}

static void bbr3_ack(void *state, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr3 *b = state;
    const uint32_t delivered = bbr_path_delivered(&b->path, s);
    if (s->lost) {
        bbr3_bounds_lost(&b->bounds, b->path.total);
        if (b->probe_sample && bbr3_bounds_exceeded(&b->bounds, s))
            bbr3_too_high(b, s, bbr3_tx_inflight(s), w->cwnd);
    }
    if (delivered)
        bbr3_delivered(b, s, delivered, w);
    bbr3_pace(b, s, w);
    bbr3_window(b, s, delivered, w);
}

// --- events ----------------------------------------------------------------------------------------------------------

static void bbr3_begin(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    bbr_path_begin(&b->path, s, w, bbr3_pacing[BBR_STARTUP]);
    bbr3_bounds_begin(&b->bounds, s);
    b->probe_rtt = b->path.min_rtt;
    b->next_round = b->path.total;
}

// Sending again after idling: at the bandwidth, without another STARTUP, and without PROBE_RTT: the queue has been
// empty.
static void bbr3_resume(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t remembered = bbr_path_resume(&b->path, s, w, bbr3_max_bw(b));
    if (remembered) {
        b->max_bw[0] = remembered;
        bbr3_start_down(b, s->now_us);
    }
    if (b->path.mode == BBR_PROBE_RTT && bbr_path_rested(&b->path, s->now_us))
        bbr3_leave_probe_rtt(b, s->now_us, w);
    if (!bbr3_in_probe_bw(b))
        return;
    if (b->path.mode == BBR3_DOWN || b->path.mode == BBR3_UP)
        b->path.mode = BBR3_CRUISE;
    bbr3_pace(b, s, w);
}

// Recovery, or a timeout, begins: should it turn out to be for nothing, what loss bounded since is taken back.
static void bbr3_reduce(struct bbr3 *b, enum weir_cc_event event, const struct weir_cc_sample *s,
                        struct weir_cc_window *w)
{
    if (!b->path.recovering && !b->path.after_rto) {
        b->bounds.before = b->bounds.now;
        b->undo = BBR3_UNDO_NOTHING;
    }
    if (event == WEIR_CC_RTO) {
        bbr_path_timeout(&b->path, s, w);
    } else {
        bbr_path_save_cwnd(&b->path, w);
        b->path.recovering = true;
    }
}

static void bbr3_undo(struct bbr3 *b)
{
    bbr3_bounds_undo(&b->bounds);
    bbr3_reset_full(b, 0);
    if (b->undo == BBR3_UNDO_STARTUP) {
        b->path.full_reached = false;
        b->path.mode = b->path.mode == BBR_PROBE_RTT ? BBR_PROBE_RTT : BBR_STARTUP;
    } else if (b->undo == BBR3_UNDO_UP && bbr3_in_probe_bw(b) && b->path.mode != BBR3_UP) {
        bbr3_start_refill(b);
    }
    b->undo = BBR3_UNDO_NOTHING;
}

static void bbr3_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr3 *b = state;
    switch (event) {
    case WEIR_CC_INIT: bbr3_begin(b, s, w); break;
    case WEIR_CC_ENTER_RECOVERY:
    case WEIR_CC_RTO: bbr3_reduce(b, event, s, w); break;
    case WEIR_CC_ECN:
        bbr3_bounds_lost(&b->bounds, b->path.total);
        if (b->probe_sample)
            bbr3_too_high(b, s, bbr_most_inflight(s), w->cwnd);
        break;
    case WEIR_CC_UNDO: bbr3_undo(b);  // fall through
    case WEIR_CC_EXIT_RECOVERY: bbr_path_recovered(&b->path, w); break;
    case WEIR_CC_IDLE_RESTART: bbr3_resume(b, s, w); break;
    case WEIR_CC_EXIT_SLOW_START: break;  // STARTUP ends when the rate grows no more, or by loss
    }
}

const struct weir_cc weir_cc_bbr3 = {.name = "bbr3",
                                     .state_bytes = sizeof(struct bbr3),
                                     .wants_rate = true,
                                     .owns_recovery = true,
                                     .owns_slow_start = true,
                                     .ack = bbr3_ack,
                                     .event = bbr3_event};
