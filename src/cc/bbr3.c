// SPDX-License-Identifier: BSD-2-Clause
// BBR, version 3 (draft-ietf-ccwg-bbr), in integers. As in the first model the pace is the bottleneck's bandwidth and the window twice what
// that has in flight; beyond that it learns from loss how much the path holds. What was lost while probing bounds the amount in flight in
// the long term (inflight_longterm), and a loss at any other time bounds rate and amount for the rest of a cycle (shortterm). A cycle goes
// DOWN (a little slower, until the queue is gone), CRUISE (with headroom for others, for two to three seconds or as many rounds as Reno
// would need), REFILL (one round at full rate) and UP (a quarter faster, until 2 % of a flight are lost or the rate grows no more).
//
// Where this differs from the draft: the contract tells of no lost segment when it was sent, so RS.lost is what was lost since the loss
// round began, and tx_in_flight that of the newest delivered segment. A mark of congestion (ECN, not in the draft) ends a probe, and bounds
// the short term, as a loss beyond 2 % does. While the clock cannot tell a round trip, STARTUP is held back by nothing but loss.
#include "cc/bbr.h"

#define BBR3_MIN_RTT_PROBE_US 5000000u  // PROBE_RTT so often, if no round trip was as short
#define BBR3_LOSS_THRESH 50u            // one of so many: 2 %
#define BBR3_FULL_LOSSES 6u
#define BBR3_RENO_ROUNDS 63u
#define BBR3_DRAIN_ROUNDS 3u

enum bbr3_mode { BBR3_STARTUP, BBR3_DRAIN, BBR3_DOWN, BBR3_CRUISE, BBR3_REFILL, BBR3_UP, BBR3_PROBE_RTT };
enum bbr3_acks { BBR3_ACKS_INIT, BBR3_ACKS_REFILLING, BBR3_ACKS_STARTING, BBR3_ACKS_FEEDBACK, BBR3_ACKS_STOPPING };

// In 256ths, by mode.
static const uint16_t bbr3_pacing[] = {709, 128, 230, 256, 256, 320, 256};  // 2.77, 0.5, 0.9, 1, 1, 1.25, 1
static const uint16_t bbr3_cwnd[] = {512, 512, 512, 512, 512, 576, 128};    // 2, in UP 2.25, in PROBE_RTT 0.5

struct bbr3_bounds {
    uint32_t bw_shortterm, inflight_shortterm, inflight_longterm;  // WEIR_CC_UNLIMITED: none
};

struct bbr3 {
    uint32_t max_bw[2];              // greatest delivery rate of this cycle of probing, and of the one before
    struct bbr3_bounds now, before;  // … recovery, to be given back if it was for nothing
    uint32_t bw_latest, inflight_latest;
    uint32_t prior_cwnd;  // before recovery, a timeout or PROBE_RTT
    uint32_t after_rto;   // bytes outstanding at a timeout that are not delivered yet
    uint32_t total;       // total_delivered at the last acknowledgement
    uint32_t next_round;  // a segment sent when so much was delivered ends the round
    uint32_t loss_round;  // … and this one, which begins with its first loss
    uint32_t lost_from;   // total_lost when the latter began
    uint32_t min_rtt_us, min_rtt_at_us;
    uint32_t probe_rtt_us, probe_rtt_at_us;  // the same within five seconds
    uint32_t phase_at_us;                    // when the cycle began; in PROBE_RTT: when little enough was in flight
    uint32_t full_bw;
    uint32_t up_acked, up_acked_per_inc;
    struct bbr_extra extra;
    uint16_t probe_wait_ms;
    uint8_t rounds_since_probe, up_rounds;
    uint8_t mode : 3, acks : 3, full_rounds : 2;
    uint8_t undo : 3, losses : 3, drain_rounds : 2;
    bool full_now : 1, full_reached : 1, loss_in_round : 1, probe_sample : 1, too_high : 1, precautionary : 1, round_start : 1, quiet : 1;
    bool loss_round_start : 1, recovering : 1, probe_rtt_timed : 1, idle : 1, attached : 1, app_limited : 1;
};
_Static_assert(sizeof(struct bbr3) <= WEIR_CC_STATE_MAX, "state of bbr3");

static const struct bbr3_bounds bbr3_unbounded = {WEIR_CC_UNLIMITED, WEIR_CC_UNLIMITED, WEIR_CC_UNLIMITED};

static uint32_t bbr3_max_bw(const struct bbr3 *b) { return max_u32(b->max_bw[0], b->max_bw[1]); }
static uint32_t bbr3_bw(const struct bbr3 *b) { return min_u32(bbr3_max_bw(b), b->now.bw_shortterm); }
static uint32_t bbr3_bdp(const struct bbr3 *b) { return bbr_product(bbr3_bw(b), b->min_rtt_us); }
static uint32_t bbr3_beta(uint32_t value) { return (uint32_t)((uint64_t)value * 7 / 10); }
static bool bbr3_in_probe_bw(const struct bbr3 *b) { return b->mode >= BBR3_DOWN && b->mode <= BBR3_UP; }
static bool bbr3_probing(const struct bbr3 *b) { return b->mode == BBR3_STARTUP || b->mode == BBR3_REFILL || b->mode == BBR3_UP; }

// `gain` products and `extra`, but what is being put together at both ends fits besides.
static uint32_t bbr3_inflight(const struct bbr3 *b, uint32_t gain, uint32_t extra, uint32_t mss)
{
    if (b->min_rtt_us == WEIR_CC_UNLIMITED || !bbr3_max_bw(b))
        return weir_cc_initial_window(mss);
    const uint64_t bytes = (uint64_t)bbr3_bdp(b) * gain / BBR_ONE + extra;
    const uint32_t least = max_u32(bbr_bursts(bbr3_bw(b)), BBR_MIN_SEGMENTS) * mss;
    return max_u32(bytes < CC_WINDOW_MAX ? (uint32_t)bytes : CC_WINDOW_MAX, least) + (b->mode == BBR3_UP ? 2 * mss : 0);
}

// What leaves 15 % of the long-term bound to others.
static uint32_t bbr3_with_headroom(const struct bbr3 *b, uint32_t mss)
{
    const uint32_t bound = b->now.inflight_longterm;
    if (bound == WEIR_CC_UNLIMITED)
        return bound;
    const uint32_t headroom = max_u32(mss, (uint32_t)((uint64_t)bound * 15 / 100));
    return max_u32(bound - min_u32(bound, headroom), BBR_MIN_SEGMENTS * mss);
}

// The window itself, not only the pace, holds the flow back: a burst at most is missing.
static bool bbr3_window_full(const struct weir_cc_sample *s, uint32_t window)
{
    return s->cwnd_limited && (uint64_t)s->prior_inflight + 2 * s->mss >= window;
}

static void bbr3_start_round(struct bbr3 *b) { b->next_round = b->total; }

static void bbr3_reset_full(struct bbr3 *b, uint32_t rate)
{
    b->full_bw = rate;
    b->full_rounds = 0;
    b->full_now = false;
}

static void bbr3_forget_shortterm(struct bbr3 *b) { b->now.bw_shortterm = b->now.inflight_shortterm = WEIR_CC_UNLIMITED; }

// --- phases of PROBE_BW --------------------------------------------------------------------------------------------------------------

// The clock's low bits choose how long the cycle will be, so that flows do not probe together.
static void bbr3_start_down(struct bbr3 *b, uint32_t now_us)
{
    const uint32_t dice = now_us * 2654435769u;
    b->loss_in_round = false;
    b->bw_latest = b->inflight_latest = 0;
    b->up_acked_per_inc = WEIR_CC_UNLIMITED;
    b->rounds_since_probe = (uint8_t)(dice >> 31);
    b->probe_wait_ms = (uint16_t)(2000 + (dice >> 16) % 1000);
    b->phase_at_us = now_us;
    b->acks = BBR3_ACKS_STOPPING;
    b->mode = BBR3_DOWN;
    bbr3_start_round(b);
}

static void bbr3_start_refill(struct bbr3 *b)
{
    bbr3_forget_shortterm(b);
    b->up_rounds = 0;
    b->up_acked = 0;
    b->precautionary = false;
    b->acks = BBR3_ACKS_REFILLING;
    b->mode = BBR3_REFILL;
    bbr3_start_round(b);
}

// One segment more in the first round, then two, four, …
static void bbr3_steeper(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t cwnd)
{
    b->up_acked_per_inc = max_u32(cwnd >> b->up_rounds, s->mss);
    b->up_rounds = (uint8_t)min_u32(b->up_rounds + 1, 30);
}

static void bbr3_start_up(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t cwnd)
{
    b->probe_sample = true;
    b->acks = BBR3_ACKS_STARTING;
    b->mode = BBR3_UP;
    bbr3_start_round(b);
    bbr3_reset_full(b, rate);
    bbr3_steeper(b, s, cwnd);
}

static bool bbr3_time_to_probe(const struct bbr3 *b, const struct weir_cc_sample *s, uint32_t cwnd)
{
    const uint32_t reno = min_u32(min_u32(bbr3_bdp(b), cwnd) / s->mss, BBR3_RENO_ROUNDS);
    return s->now_us - b->phase_at_us > b->probe_wait_ms * 1000u || b->rounds_since_probe >= reno;
}

static bool bbr3_time_to_go_down(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t cwnd)
{
    if (b->too_high && (uint64_t)s->prior_inflight + 2 * s->mss >= b->now.inflight_longterm) {
        b->precautionary = true;  // so much was too much the last time: see first what comes of it
        return true;
    }
    if (bbr3_window_full(s, cwnd) && cwnd >= b->now.inflight_longterm)
        bbr3_reset_full(b, rate);  // it is the bound that lets it grow no more
    return b->full_now;
}

// --- what loss says ------------------------------------------------------------------------------------------------------------------

// In flight when what this acknowledges was sent. It is not known of what was sent again: then as much as was until now.
static uint32_t bbr3_tx_inflight(const struct weir_cc_sample *s) { return s->tx_inflight ? s->tx_inflight : bbr_most_inflight(s); }

static bool bbr3_is_too_high(const struct bbr3 *b, const struct weir_cc_sample *s)
{
    return s->total_lost - b->lost_from > bbr3_tx_inflight(s) / BBR3_LOSS_THRESH;
}

static void bbr3_too_high(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t inflight, uint32_t cwnd)
{
    b->too_high = true;
    b->probe_sample = false;  // one answer for each probe
    if (!s->app_limited)
        b->now.inflight_longterm = min_u32(max_u32(inflight, bbr3_beta(min_u32(bbr3_bdp(b), cwnd))), CC_WINDOW_MAX);
    if (b->mode != BBR3_UP)
        return;
    b->undo = BBR3_UP;
    bbr3_start_down(b, s->now_us);
}

static void bbr3_note_loss(struct bbr3 *b)
{
    if (!b->loss_in_round)
        b->loss_round = b->total;
    b->loss_in_round = true;
    b->losses = (uint8_t)min_u32(b->losses + 1u, BBR3_FULL_LOSSES);
}

// At the end of a round with a loss, unless the flow was probing: rate and amount of what was delivered, or less by 30 %.
static void bbr3_adapt_shortterm(struct bbr3 *b, uint32_t cwnd)
{
    if (bbr3_probing(b) || !b->loss_in_round)
        return;
    if (b->now.bw_shortterm == WEIR_CC_UNLIMITED)
        b->now.bw_shortterm = bbr3_max_bw(b);
    if (b->now.inflight_shortterm == WEIR_CC_UNLIMITED)
        b->now.inflight_shortterm = cwnd;
    b->now.bw_shortterm = max_u32(b->bw_latest, bbr3_beta(b->now.bw_shortterm));
    b->now.inflight_shortterm = max_u32(b->inflight_latest, bbr3_beta(b->now.inflight_shortterm));
}

// A STARTUP whose queue overflows: a round of recovery lost more than 2 %, in six places at least.
static void bbr3_check_startup_loss(struct bbr3 *b, const struct weir_cc_sample *s)
{
    if (!b->full_reached && b->recovering && b->losses >= BBR3_FULL_LOSSES && bbr3_is_too_high(b, s)) {
        b->undo = BBR3_STARTUP + 1;
        b->full_reached = b->full_now = true;
        b->now.inflight_longterm = max_u32(bbr3_bdp(b), b->inflight_latest);
    }
    b->losses = 0;
}

// --- the model -----------------------------------------------------------------------------------------------------------------------

static void bbr3_rounds(struct bbr3 *b, const struct weir_cc_sample *s)
{
    b->loss_round_start = seq_le(b->loss_round, s->prior_delivered);
    if (b->loss_round_start)
        b->loss_round = b->total;
    b->round_start = seq_le(b->next_round, s->prior_delivered);
    if (!b->round_start)
        return;
    bbr3_start_round(b);
    b->rounds_since_probe = (uint8_t)min_u32(b->rounds_since_probe + 1u, BBR3_RENO_ROUNDS);
    b->drain_rounds = (uint8_t)min_u32(b->drain_rounds + 1u, BBR3_DRAIN_ROUNDS);
}

static void bbr3_delivery(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate)
{
    b->bw_latest = max_u32(b->bw_latest, rate);
    b->inflight_latest = max_u32(b->inflight_latest, s->delivered);
    if (rate >= bbr3_max_bw(b) || !(s->app_limited || b->quiet))
        b->max_bw[0] = max_u32(b->max_bw[0], rate);
}

// Growth shows in any sample, its absence in a whole round.
static void bbr3_check_full(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate)
{
    if (b->full_now || s->app_limited || !rate)
        return;
    if (rate >= (uint64_t)b->full_bw * 5 / 4) {
        bbr3_reset_full(b, rate);
    } else if (b->round_start) {
        b->full_now = ++b->full_rounds >= BBR_FULL_ROUNDS;
        b->full_reached |= b->full_now;
    }
}

static void bbr3_raise_longterm(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t delivered, uint32_t cwnd)
{
    if (b->now.inflight_longterm == WEIR_CC_UNLIMITED || bbr3_is_too_high(b, s))
        return;
    b->now.inflight_longterm = min_u32(max_u32(b->now.inflight_longterm, s->tx_inflight), CC_WINDOW_MAX);
    if (b->mode != BBR3_UP || !bbr3_window_full(s, cwnd) || cwnd < b->now.inflight_longterm)
        return;
    b->up_acked += min_u32(delivered, CC_WINDOW_MAX);
    const uint32_t segments = b->up_acked / b->up_acked_per_inc;
    b->up_acked -= segments * b->up_acked_per_inc;
    b->now.inflight_longterm = bbr_limit(b->now.inflight_longterm + (uint64_t)segments * s->mss);
    if (b->round_start)
        bbr3_steeper(b, s, cwnd);
}

// One round after a probe its last samples have come: the filter moves on. True: the next probe begins at once.
static bool bbr3_probe_over(struct bbr3 *b, const struct weir_cc_sample *s)
{
    if (b->acks == BBR3_ACKS_STARTING && b->round_start)
        b->acks = BBR3_ACKS_FEEDBACK;
    if (b->acks != BBR3_ACKS_STOPPING || !b->round_start)
        return false;
    b->probe_sample = false;
    b->acks = BBR3_ACKS_INIT;
    const bool limited = s->app_limited || b->quiet;
    b->quiet &= b->mode == BBR3_PROBE_RTT;
    if (bbr3_in_probe_bw(b) && !limited && b->max_bw[0]) {
        b->max_bw[1] = b->max_bw[0];
        b->max_bw[0] = 0;
    }
    if (!bbr3_in_probe_bw(b) || !b->precautionary || b->too_high)
        return false;
    bbr3_start_refill(b);
    return true;
}

// --- modes ---------------------------------------------------------------------------------------------------------------------------

static void bbr3_cycle(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t cwnd)
{
    switch (b->mode) {
    case BBR3_DOWN:
    case BBR3_CRUISE:
        if (bbr3_time_to_probe(b, s, cwnd))
            bbr3_start_refill(b);
        else if (s->inflight <= bbr3_with_headroom(b, s->mss) && s->inflight <= bbr_product(bbr3_max_bw(b), b->min_rtt_us))
            b->mode = BBR3_CRUISE;
        break;
    case BBR3_REFILL:
        if (b->round_start)
            bbr3_start_up(b, s, rate, cwnd);
        break;
    case BBR3_UP:
        if (bbr3_time_to_go_down(b, s, rate, cwnd)) {
            b->too_high = false;  // so far
            bbr3_start_down(b, s->now_us);
        }
        break;
    default: break;
    }
}

static void bbr3_modes(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t delivered, uint32_t cwnd)
{
    if (b->mode == BBR3_STARTUP && b->full_reached) {
        b->mode = BBR3_DRAIN;
        b->drain_rounds = 0;
    }
    if (b->mode == BBR3_DRAIN && (s->inflight <= bbr3_inflight(b, BBR_ONE, 0, s->mss) || b->drain_rounds >= BBR3_DRAIN_ROUNDS))
        bbr3_start_down(b, s->now_us);
    if (!b->full_reached || bbr3_probe_over(b, s))
        return;
    bbr3_raise_longterm(b, s, delivered, cwnd);
    bbr3_cycle(b, s, rate, cwnd);
}

static void bbr3_save_cwnd(struct bbr3 *b, uint32_t cwnd)
{
    const bool reduced = b->recovering || b->after_rto || b->mode == BBR3_PROBE_RTT;
    b->prior_cwnd = reduced ? max_u32(b->prior_cwnd, cwnd) : cwnd;
}

static void bbr3_leave_probe_rtt(struct bbr3 *b, uint32_t now_us, struct weir_cc_window *w)
{
    b->probe_rtt_at_us = now_us;
    w->cwnd = max_u32(w->cwnd, b->prior_cwnd);
    bbr3_forget_shortterm(b);
    b->mode = BBR3_STARTUP;
    if (!b->full_reached)
        return;
    bbr3_start_down(b, now_us);
    b->mode = BBR3_CRUISE;  // there is no queue
}

// Five seconds without a round trip as short as the shortest of them: the queue is let run empty. What is known for ten gives way only
// then.
static void bbr3_min_rtt(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const bool expired = s->now_us - b->probe_rtt_at_us > BBR3_MIN_RTT_PROBE_US && b->probe_rtt_us != WEIR_CC_UNLIMITED;
    if (s->rtt_us && (s->rtt_us < b->probe_rtt_us || expired)) {
        b->probe_rtt_us = s->rtt_us;
        b->probe_rtt_at_us = s->now_us;
    }
    if (b->probe_rtt_us <= b->min_rtt_us || s->now_us - b->min_rtt_at_us > BBR_MIN_RTT_US) {
        b->min_rtt_us = b->probe_rtt_us;
        b->min_rtt_at_us = b->probe_rtt_at_us;
    }
    if (expired && !b->idle && b->mode != BBR3_PROBE_RTT) {
        bbr3_save_cwnd(b, w->cwnd);
        b->mode = BBR3_PROBE_RTT;
        b->probe_rtt_timed = false;
        b->quiet = true;
        b->acks = BBR3_ACKS_STOPPING;
        bbr3_start_round(b);
    }
    if (b->mode != BBR3_PROBE_RTT)
        return;
    if (!b->probe_rtt_timed && s->inflight <= bbr3_inflight(b, bbr3_cwnd[BBR3_PROBE_RTT], 0, s->mss)) {
        b->probe_rtt_timed = true;
        b->phase_at_us = s->now_us;
        bbr3_start_round(b);
    } else if (b->probe_rtt_timed && b->round_start && s->now_us - b->phase_at_us >= BBR_PROBE_RTT_US) {
        bbr3_leave_probe_rtt(b, s->now_us, w);
    }
}

// --- what comes out ------------------------------------------------------------------------------------------------------------------

static bool bbr3_blind(const struct bbr3 *b, const struct weir_cc_sample *s) { return s->clock_coarse && !b->full_reached; }

static void bbr3_pace(const struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t bw = bbr3_bw(b), rate = bbr_margin(bbr_limit((uint64_t)bw * bbr3_pacing[b->mode] / BBR_ONE));
    if (bbr3_blind(b, s))
        w->pacing_rate = WEIR_CC_UNLIMITED;
    else if (bw && (b->full_reached || rate > w->pacing_rate || w->pacing_rate == WEIR_CC_UNLIMITED))
        w->pacing_rate = rate;
}

static uint32_t bbr3_cap(const struct bbr3 *b, uint32_t mss)
{
    uint32_t cap = WEIR_CC_UNLIMITED;
    if (b->mode == BBR3_CRUISE || b->mode == BBR3_PROBE_RTT)
        cap = bbr3_with_headroom(b, mss);
    else if (bbr3_in_probe_bw(b))
        cap = b->now.inflight_longterm;
    return max_u32(min_u32(cap, b->now.inflight_shortterm), BBR_MIN_SEGMENTS * mss);
}

static void bbr3_window(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    bbr_after_rto(&b->after_rto, delivered, b->prior_cwnd, w);
    const uint32_t target = bbr3_inflight(b, bbr3_cwnd[b->mode], bbr_extra(&b->extra), s->mss);
    if (b->full_reached)
        w->cwnd = min_u32(w->cwnd + delivered, target);
    else if (w->cwnd < target || (bbr3_blind(b, s) && s->cwnd_limited))
        w->cwnd = min_u32(w->cwnd + delivered, CC_WINDOW_MAX);
    w->cwnd = max_u32(w->cwnd, BBR_MIN_SEGMENTS * s->mss);
    if (b->mode == BBR3_PROBE_RTT)
        w->cwnd = min_u32(w->cwnd, bbr3_inflight(b, bbr3_cwnd[BBR3_PROBE_RTT], 0, s->mss));
    w->cwnd = min_u32(w->cwnd, bbr3_cap(b, s->mss));
    if (b->full_reached)  // what the socket remembers of the path when it lets go of this state
        w->ssthresh = max_u32(bbr_product(bbr3_max_bw(b), b->min_rtt_us), BBR_MIN_SEGMENTS * s->mss);
}

static void bbr3_ack(void *state, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr3 *b = state;
    // A peer that reneges takes back what it had SACKed (RFC 2018 §8), and then the total is less than it was.
    const uint32_t delivered = seq_lt(b->total, s->total_delivered) ? s->total_delivered - b->total : 0;
    const uint32_t rate = delivered && bbr_counts(s) ? bbr_delivery_rate(s) : 0;
    b->total = s->total_delivered;
    if (s->lost) {
        bbr3_note_loss(b);
        if (b->probe_sample && bbr3_is_too_high(b, s))
            bbr3_too_high(b, s, bbr3_tx_inflight(s), w->cwnd);
    }
    if (delivered) {
        bbr3_rounds(b, s);
        bbr3_delivery(b, s, rate);
        if (b->loss_round_start) {
            bbr3_adapt_shortterm(b, w->cwnd);
            bbr3_check_startup_loss(b, s);
            b->loss_in_round = false;
        }
        if (b->round_start)
            bbr_extra_round(&b->extra, b->full_reached ? BBR_EXTRA_ROUNDS : 1);
        bbr_extra_acked(&b->extra, bbr3_bw(b), delivered, w->cwnd, s->now_us);
        bbr3_check_full(b, s, rate);
        bbr3_modes(b, s, rate, delivered, w->cwnd);
        bbr3_min_rtt(b, s, w);
        b->idle = false;
        if (b->loss_round_start) {
            b->bw_latest = rate;
            b->inflight_latest = s->delivered;
            b->lost_from = s->total_lost;
        }
    }
    bbr3_pace(b, s, w);
    bbr3_window(b, s, delivered, w);
}

// --- events --------------------------------------------------------------------------------------------------------------------------

static void bbr3_begin(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct cc_loss none = {0};
    b->attached = !w->cwnd;
    cc_event(&none, WEIR_CC_INIT, s, w, 0);
    b->now = b->before = bbr3_unbounded;
    b->min_rtt_us = b->probe_rtt_us = s->min_rtt_us;
    b->min_rtt_at_us = b->probe_rtt_at_us = b->phase_at_us = s->now_us;
    bbr_extra_begin(&b->extra, s->now_us);
    b->total = b->next_round = b->loss_round = s->total_delivered;
    b->lost_from = s->total_lost;
    b->up_acked_per_inc = WEIR_CC_UNLIMITED;
    bbr_pace_first(s, w, bbr3_pacing[BBR3_STARTUP]);
}

// Sending again after idling: at the bandwidth, without another STARTUP, and without PROBE_RTT: the queue has been empty.
static void bbr3_resume(struct bbr3 *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t remembered = b->attached && !bbr3_max_bw(b) ? bbr_remembered(w, b->min_rtt_us) : 0;
    b->idle = true;
    bbr_extra_begin(&b->extra, s->now_us);
    if (remembered) {
        b->max_bw[0] = remembered;
        b->full_reached = true;
        w->cwnd = max_u32(w->cwnd, w->ssthresh);
        bbr3_start_down(b, s->now_us);
    }
    if (b->mode == BBR3_PROBE_RTT && b->probe_rtt_timed && s->now_us - b->phase_at_us >= BBR_PROBE_RTT_US)
        bbr3_leave_probe_rtt(b, s->now_us, w);
    if (!bbr3_in_probe_bw(b))
        return;
    if (b->mode == BBR3_DOWN || b->mode == BBR3_UP)
        b->mode = BBR3_CRUISE;
    bbr3_pace(b, s, w);
}

static void bbr3_retreat(struct bbr3 *b, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    bbr3_save_cwnd(b, w->cwnd);
    if (!b->recovering && !b->after_rto) {
        b->before = b->now;
        b->undo = 0;
    }
    b->recovering = true;
    if (event != WEIR_CC_RTO)
        return;
    b->recovering = false;
    b->after_rto = bbr_most_inflight(s);
    w->cwnd = s->mss;
}

static void bbr3_undo(struct bbr3 *b)
{
    b->loss_in_round = false;
    bbr3_reset_full(b, 0);
    b->now.bw_shortterm = max_u32(b->now.bw_shortterm, b->before.bw_shortterm);
    b->now.inflight_shortterm = max_u32(b->now.inflight_shortterm, b->before.inflight_shortterm);
    b->now.inflight_longterm = max_u32(b->now.inflight_longterm, b->before.inflight_longterm);
    if (b->undo == BBR3_STARTUP + 1) {
        b->full_reached = false;
        b->mode = b->mode == BBR3_PROBE_RTT ? BBR3_PROBE_RTT : BBR3_STARTUP;
    } else if (b->undo == BBR3_UP && bbr3_in_probe_bw(b) && b->mode != BBR3_UP) {
        bbr3_start_refill(b);
    }
    b->undo = 0;
}

static void bbr3_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr3 *b = state;
    switch (event) {
    case WEIR_CC_INIT: bbr3_begin(b, s, w); break;
    case WEIR_CC_ENTER_RECOVERY:
    case WEIR_CC_RTO: bbr3_retreat(b, event, s, w); break;
    case WEIR_CC_ECN:
        bbr3_note_loss(b);
        if (b->probe_sample)
            bbr3_too_high(b, s, bbr_most_inflight(s), w->cwnd);
        break;
    case WEIR_CC_UNDO: bbr3_undo(b);  // fall through
    case WEIR_CC_EXIT_RECOVERY:
        b->recovering = false;
        b->after_rto = 0;
        if (b->mode != BBR3_PROBE_RTT)
            w->cwnd = max_u32(w->cwnd, b->prior_cwnd);
        break;
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
