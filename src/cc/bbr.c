// SPDX-License-Identifier: BSD-2-Clause
// BBR, version 1's model (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00),
// in integers: pace at the bottleneck's bandwidth (the greatest delivery rate of ten rounds), keep at most twice bandwidth times smallest
// round-trip time in flight, with what acknowledgements bring at once (draft-ietf-ccwg-bbr's extra_acked, bounded), and find out about both
// by sending faster for one round trip of eight and nearly nothing every ten seconds.
//
// Where the clock is coarser than the round trip (sample.clock_coarse) nothing is paced: at a rate that is known once a tick a tick's worth
// would leave at once, and be lost in a queue that holds less. The window alone probes, yields and cruises, a tick or more at a time.
//
// Two things differ, both for paths that lose at random. There is no policer mode, which such a path sets off. And the rate is
// compensated: where the path loses a share p whatever we send, a bottleneck of rate C delivers only (1 - p) C, pacing at that leaves
// p of it unused, and probing with 5/4 finds no more when p nears 1/5. So the pace is the delivery rate divided by (1 - p). This p must be
// the path's and not of our making. It is therefore counted among what was sent slower than the bottleneck, where a queue that overflows
// or a policer loses nothing; it is used only while the round-trip time shows no standing queue, which would say that the bottleneck is
// busy as it is; and it is never taken for more than BBR_LOSS_MAX.
#include "cc/bbr.h"

#define BBR_HIGH 739u    // 2/ln 2: the smallest that doubles the rate each round
#define BBR_DRAIN 88u    // … and its inverse
#define BBR_YIELD 192u   // 3/4
#define BBR_ROUNDS 10u   // the bandwidth filter's window
#define BBR_PHASES 8u    // one to probe, one to yield, six to cruise
#define BBR_SHARE 4096u  // shares of loss have twelve fractional bits
#define BBR_NOISE_US 50u
#define BBR_LOSS_MAX (BBR_SHARE * 16 / 100)
#define BBR_LOSS_NONE (BBR_SHARE * 20 / 100)
#define BBR_EXTRA_US 1000u  // so much of what comes at once: busy hosts and drivers; more would be taken from others where round trips vary
#define BBR_OVERRUN_SEGMENTS 16u  // lost in a round, and three eighths of it: more than chance takes of a path worth using

enum bbr_mode { BBR_STARTUP, BBR_EMPTYING, BBR_PROBE_BW, BBR_PROBE_RTT };
enum bbr_watch { BBR_NOT_SLOW, BBR_SLOW_SENT, BBR_SLOW_ACKED };

struct bbr {
    uint32_t best[BBR_ROUNDS];  // greatest delivery rate of each of the last rounds; [0] is this one
    uint32_t bandwidth;         // the greatest of them
    uint32_t min_rtt_us, min_rtt_at_us;
    uint32_t round_rtt_us;           // smallest of this round
    uint32_t queue_us;               // the most that a queue has been seen to add
    uint32_t full;                   // what the bandwidth must exceed by a quarter if the pipe is not full
    uint32_t phase_at_us;            // when the phase began; in PROBE_RTT: when little enough was in flight
    uint32_t total;                  // total_delivered at the last acknowledgement
    uint32_t prior_cwnd;             // before recovery, a timeout or PROBE_RTT
    uint32_t conserve_from;          // total_delivered when recovery began
    uint32_t after_rto;              // bytes outstanding at a timeout that are not delivered yet
    uint32_t quiet_until;            // what was sent before so much was delivered says nothing about the bandwidth
    uint32_t slow_from, slow_until;  // total_delivered when sending slower than the bottleneck began, and ended
    uint32_t slow_total, slow_lost;  // total_delivered and total_lost when the first of that was acknowledged
    uint32_t sent, lost;             // in the last eight such times or so, in units of 64 bytes
    struct bbr_extra extra;          // what comes at once
    uint16_t pacing_gain, share;     // share of loss that is compensated for
    uint8_t mode, phase, watch;
    uint8_t full_rounds : 7;
    uint8_t overrun : 1;   // a round of a STARTUP without a clock lost too much
    bool full_reached;     // the pipe was found full: out of STARTUP
    bool next_round;       // a round began: `best` moves with its first sample
    bool conserving;       // first round of recovery: as much leaves as arrives
    bool entering;         // … and its first acknowledgement
    bool quiet, idle;      // quiet_until is meant; sending begins after idling
    bool probe_rtt_timed;  // little enough is in flight
    bool attached;         // began with a window of its own, or one it had left (not another algorithm's)
};
_Static_assert(sizeof(struct bbr) <= WEIR_CC_STATE_MAX, "state of bbr");

// What to send per second for `bandwidth` to arrive, times `gain`.
static uint32_t bbr_rate(const struct bbr *b, uint32_t gain)
{
    return bbr_limit((uint64_t)b->bandwidth * BBR_SHARE / (BBR_SHARE - b->share) * gain / BBR_ONE);
}

// Bytes that `gain` bandwidth-delay products have in flight.
static uint32_t bbr_inflight(const struct bbr *b, uint32_t gain) { return bbr_product(bbr_rate(b, gain), b->min_rtt_us); }

// … and three bursts more: while they are put together at both ends the bottleneck would be idle, and a small product never be reached.
static uint32_t bbr_target(const struct bbr *b, uint32_t gain, uint32_t mss)
{
    if (b->min_rtt_us == WEIR_CC_UNLIMITED || !b->bandwidth)
        return weir_cc_initial_window(mss);
    const uint32_t segments = bbr_inflight(b, gain) / mss + 1 + bbr_bursts(bbr_rate(b, BBR_ONE));
    return min_u32((segments + 1) / 2 * 2 * mss, CC_WINDOW_MAX);  // even: one delayed acknowledgement is for two
}

// Changes the gain and keeps account of when what is sent goes slower than the bottleneck.
static void bbr_set_gain(struct bbr *b, uint32_t gain)
{
    const uint32_t lag = bbr_inflight(b, BBR_ONE) / 8;
    if (gain < BBR_ONE && b->pacing_gain >= BBR_ONE) {
        b->slow_from = b->total + lag;
        b->watch = BBR_SLOW_SENT;
    } else if (gain >= BBR_ONE && b->pacing_gain < BBR_ONE) {
        b->slow_until = b->total + lag;
    }
    b->pacing_gain = (uint16_t)gain;
}

static void bbr_set_phase(struct bbr *b, uint32_t phase, uint32_t now_us)
{
    b->mode = BBR_PROBE_BW;
    b->phase = (uint8_t)phase;
    b->phase_at_us = now_us;
    bbr_set_gain(b, phase == 0 ? BBR_PROBE : phase == 1 ? BBR_YIELD : BBR_ONE);
}

// Any phase but the yielding one, so that flows that began together do not probe together: the clock's low bits choose.
static void bbr_cruise(struct bbr *b, uint32_t now_us)
{
    const uint32_t choice = (uint32_t)((uint64_t)(now_us * 2654435769u) * (BBR_PHASES - 1) >> 32);
    bbr_set_phase(b, choice ? choice + 1 : 0, now_us);
}

// --- bandwidth -----------------------------------------------------------------------------------------------------------------------

// The filter moves on only with samples that count: idling, and PROBE_RTT, make it forget nothing.
static void bbr_bandwidth(struct bbr *b, const struct weir_cc_sample *s)
{
    b->next_round |= s->round_start;
    if (b->mode != BBR_PROBE_RTT && b->quiet && seq_le(b->quiet_until, s->prior_delivered))
        b->quiet = false;
    if (!bbr_counts(s))
        return;
    const uint32_t rate = bbr_delivery_rate(s);
    if (rate < b->bandwidth && (s->app_limited || b->quiet))
        return;
    if (b->next_round) {
        memmove(b->best + 1, b->best, sizeof b->best - sizeof b->best[0]);
        b->best[0] = 0;
        b->next_round = false;
    }
    b->best[0] = max_u32(b->best[0], rate);
    b->bandwidth = 0;
    for (uint32_t i = 0; i < BBR_ROUNDS; i++)
        b->bandwidth = max_u32(b->bandwidth, b->best[i]);
}

// Rounds within a tick of a coarse clock say nothing about growth: only the one that brings a rate.
static void bbr_check_full(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->full_reached || !s->round_start || s->app_limited || (s->clock_coarse && !s->interval_us))
        return;
    if (!b->overrun && b->bandwidth >= b->full + b->full / 4) {
        b->full = b->bandwidth;
        b->full_rounds = 0;
        return;
    }
    b->full_reached = b->overrun || ++b->full_rounds >= BBR_FULL_ROUNDS;
}

// STARTUP where the clock cannot tell a round trip. A rate once a tick would let it grow once a tick, and pacing by that send no more in
// one, however many round trips there are: instead the window doubles each round, and acknowledgements alone say when something may go,
// until a rate has not grown, or more is lost than a path's own loss explains. Then what such a round delivered is what the path holds, and
// the window until there is a rate.
static bool bbr_blind(const struct bbr *b, const struct weir_cc_sample *s)
{
    return s->clock_coarse && !b->full_reached && !b->overrun && !b->full_rounds;
}

static void bbr_check_overrun(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    if (b->full_reached || !s->round_start)
        return;
    const uint32_t lost = s->total_lost - b->slow_lost, delivered = s->total_delivered - b->slow_total, gone = lost + delivered;
    if (s->clock_coarse && !b->overrun && lost >= BBR_OVERRUN_SEGMENTS * s->mss && lost >= gone / 8 * 3) {
        b->overrun = true;
        w->cwnd = w->ssthresh = b->prior_cwnd = max_u32(delivered - delivered / 8, BBR_MIN_SEGMENTS * s->mss);
        b->conserving = false;
    }
    b->slow_lost = s->total_lost;  // nothing is sent slow yet
    b->slow_total = s->total_delivered;
}

// --- loss that is the path's ---------------------------------------------------------------------------------------------------------

// What is acknowledged or found lost from when the first slow segment is delivered until the first one after them is was sent slow.
static void bbr_watch_loss(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->watch == BBR_SLOW_SENT && seq_le(b->slow_from, s->prior_delivered)) {
        b->slow_total = s->total_delivered;
        b->slow_lost = s->total_lost;
        b->watch = BBR_SLOW_ACKED;
    } else if (b->watch == BBR_SLOW_ACKED && b->pacing_gain >= BBR_ONE && seq_le(b->slow_until, s->prior_delivered)) {
        const uint32_t lost = (s->total_lost - b->slow_lost) >> 6, delivered = (s->total_delivered - b->slow_total) >> 6;
        b->lost += lost - b->lost / 8;
        b->sent += lost + delivered - b->sent / 8;
        b->watch = BBR_NOT_SLOW;
    }
}

// The longest round trip that says that no queue stands: what our own burst may add to the shortest, but no more than a quarter of what the
// queue has been seen to add. (A shallow one between many flows is always full, and hardly longer than a burst.)
static uint32_t bbr_empty_rtt(const struct bbr *b, uint32_t min_rtt_us, uint32_t mss)
{
    const uint32_t segment_us = bbr_limit((uint64_t)mss * 1000000 / max_u32(b->bandwidth, 1));
    const uint32_t burst_us = min_rtt_us / 32 + min_u32(segment_us, min_rtt_us / 16);
    return bbr_limit((uint64_t)min_rtt_us + min_u32(burst_us, b->queue_us / 4) + BBR_NOISE_US);
}

// Once a round: was the queue empty at some moment of it, then the bottleneck may have capacity left that compensation would use, and
// there is no need to let it run empty to see the shortest round trip.
static void bbr_compensate(struct bbr *b, const struct weir_cc_sample *s)
{
    const uint32_t lost = b->sent ? (uint32_t)((uint64_t)b->lost * BBR_SHARE / b->sent) : 0;
    const uint32_t share = lost <= BBR_LOSS_MAX ? lost : lost < BBR_LOSS_NONE ? (BBR_LOSS_NONE - lost) * 4 : 0;
    const uint32_t rtt_us = b->round_rtt_us;
    b->round_rtt_us = WEIR_CC_UNLIMITED;
    b->queue_us -= b->queue_us / 256;  // what was long ago may no longer be so
    if (rtt_us != WEIR_CC_UNLIMITED && rtt_us <= bbr_empty_rtt(b, b->min_rtt_us, s->mss))
        b->min_rtt_at_us = s->now_us;
    if (rtt_us != WEIR_CC_UNLIMITED && rtt_us > bbr_empty_rtt(b, s->min_rtt_us, s->mss))
        b->share /= 2;
    else if (rtt_us != WEIR_CC_UNLIMITED && b->share < share)
        b->share = (uint16_t)((b->share + share + 1) / 2);
    b->share = (uint16_t)min_u32(b->share, share);
}

// --- modes ---------------------------------------------------------------------------------------------------------------------------

static void bbr_phase(struct bbr *b, const struct weir_cc_sample *s)
{
    bool over = s->now_us - b->phase_at_us > b->min_rtt_us;
    if (s->clock_coarse)  // until there are a rate and a round trip of it
        over = s->interval_us;
    else if (b->pacing_gain > BBR_ONE)  // until it shows: that much is in flight, or something is lost
        over = over && (s->lost || s->prior_inflight >= bbr_target(b, BBR_PROBE, s->mss));
    else if (b->pacing_gain < BBR_ONE)  // until the queue that probing built is gone
        over = over || s->prior_inflight <= bbr_inflight(b, BBR_ONE);
    if (over)
        bbr_set_phase(b, (b->phase + 1) % BBR_PHASES, s->now_us);
}

static void bbr_save_cwnd(struct bbr *b, const struct weir_cc_window *w)
{
    const bool reduced = b->conserving || b->after_rto || b->mode == BBR_PROBE_RTT;
    b->prior_cwnd = reduced ? max_u32(b->prior_cwnd, w->cwnd) : w->cwnd;
}

static void bbr_leave_probe_rtt(struct bbr *b, uint32_t now_us, struct weir_cc_window *w)
{
    b->min_rtt_at_us = now_us;
    b->quiet = true;
    b->quiet_until = b->total;
    w->cwnd = max_u32(w->cwnd, b->prior_cwnd);
    if (b->full_reached) {
        bbr_cruise(b, now_us);
    } else {
        b->mode = BBR_STARTUP;
        bbr_set_gain(b, BBR_HIGH);
    }
}

// Ten seconds without a round trip as short as the shortest: the queue is let run empty, to see how long it really is.
static void bbr_min_rtt(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const bool expired = s->now_us - b->min_rtt_at_us > BBR_MIN_RTT_US && b->min_rtt_us != WEIR_CC_UNLIMITED;
    if (s->rtt_us && (s->rtt_us <= b->min_rtt_us || expired)) {
        b->min_rtt_us = s->rtt_us;
        b->min_rtt_at_us = s->now_us;
    }
    if (s->rtt_us) {
        b->round_rtt_us = min_u32(b->round_rtt_us, s->rtt_us);
        b->queue_us = max_u32(b->queue_us, s->rtt_us - min_u32(s->rtt_us, s->min_rtt_us));
    }
    if (expired && !b->idle && b->mode != BBR_PROBE_RTT) {
        bbr_save_cwnd(b, w);
        b->mode = BBR_PROBE_RTT;
        b->probe_rtt_timed = false;
        bbr_set_gain(b, BBR_ONE);
    }
    if (b->mode != BBR_PROBE_RTT)
        return;
    if (!b->probe_rtt_timed && s->inflight <= BBR_MIN_SEGMENTS * s->mss) {
        b->probe_rtt_timed = true;
        b->phase_at_us = s->now_us;
        b->quiet_until = b->total;
    } else if (b->probe_rtt_timed && s->now_us - b->phase_at_us >= BBR_PROBE_RTT_US && seq_le(b->quiet_until, s->prior_delivered)) {
        bbr_leave_probe_rtt(b, s->now_us, w);
    }
    b->quiet |= b->mode == BBR_PROBE_RTT;
}

static void bbr_modes(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->mode == BBR_PROBE_BW)
        bbr_phase(b, s);
    bbr_check_full(b, s);
    if (b->mode == BBR_STARTUP && b->full_reached) {
        b->mode = BBR_EMPTYING;
        bbr_set_gain(b, BBR_DRAIN);
    }
    if (b->mode == BBR_EMPTYING && s->clock_coarse)
        bbr_set_phase(b, 1, s->now_us);
    else if (b->mode == BBR_EMPTYING && s->inflight <= bbr_inflight(b, BBR_ONE))
        bbr_cruise(b, s->now_us);
}

// --- what comes out ------------------------------------------------------------------------------------------------------------------

static void bbr_pace(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t rate = bbr_rate(b, b->pacing_gain);
    if (s->clock_coarse)
        w->pacing_rate = WEIR_CC_UNLIMITED;
    else if (b->bandwidth && (b->full_reached || rate > w->pacing_rate || w->pacing_rate == WEIR_CC_UNLIMITED))
        w->pacing_rate = bbr_margin(rate);
}

// Recovery's first round and the way back from it. True: cwnd is what it says and nothing more. Loss that the path was known for is no
// reason to send less.
static bool bbr_recovery(struct bbr *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    bbr_after_rto(&b->after_rto, delivered, b->prior_cwnd, w);
    if (!b->conserving)
        return false;
    if (seq_le(b->conserve_from, s->prior_delivered)) {
        b->conserving = false;
        return false;
    }
    w->cwnd = b->entering ? 0 : w->cwnd - min_u32(w->cwnd, s->lost);
    w->cwnd = max_u32(w->cwnd, s->inflight + delivered);
    b->entering = false;
    return true;
}

static void bbr_window(struct bbr *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    if (!bbr_recovery(b, s, delivered, w)) {
        const uint32_t gain = !b->full_reached ? BBR_HIGH : s->clock_coarse ? max_u32(b->pacing_gain, BBR_YIELD) : BBR_CWND;
        const uint32_t more = b->mode == BBR_PROBE_BW && b->phase == 0 ? 2 * s->mss : 0;
        const uint32_t extra =
            b->full_reached && !s->clock_coarse ? min_u32(bbr_extra(&b->extra), bbr_product(b->bandwidth, BBR_EXTRA_US)) : 0;
        const uint32_t target = bbr_target(b, gain, s->mss) + more + extra;
        if (b->full_reached || (b->overrun && s->clock_coarse))
            w->cwnd = min_u32(w->cwnd + delivered, b->full_reached ? target : w->ssthresh);
        else if (w->cwnd < target || (bbr_blind(b, s) && s->cwnd_limited))
            w->cwnd = min_u32(w->cwnd + delivered, CC_WINDOW_MAX);
    }
    w->cwnd = max_u32(w->cwnd, BBR_MIN_SEGMENTS * s->mss);
    if (b->mode == BBR_PROBE_RTT)
        w->cwnd = min_u32(w->cwnd, BBR_MIN_SEGMENTS * s->mss);
    if (b->full_reached)  // what the socket remembers of the path when it lets go of this state (see bbr_resume)
        w->ssthresh = max_u32(bbr_inflight(b, BBR_ONE), BBR_MIN_SEGMENTS * s->mss);
}

static void bbr_ack(void *state, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr *b = state;
    // A peer that reneges takes back what it had SACKed (RFC 2018 §8), and then the total is less than it was.
    const uint32_t delivered = seq_lt(b->total, s->total_delivered) ? s->total_delivered - b->total : 0;
    b->total = s->total_delivered;
    if (s->round_start)
        bbr_extra_round(&b->extra, BBR_EXTRA_ROUNDS);
    if (delivered) {
        bbr_bandwidth(b, s);
        bbr_extra_acked(&b->extra, b->bandwidth, delivered, w->cwnd, s->now_us);
        bbr_watch_loss(b, s);
    }
    bbr_check_overrun(b, s, w);
    if (s->round_start)
        bbr_compensate(b, s);
    bbr_modes(b, s);
    bbr_min_rtt(b, s, w);
    if (delivered)
        b->idle = false;
    bbr_pace(b, s, w);
    bbr_window(b, s, delivered, w);
}

// --- events --------------------------------------------------------------------------------------------------------------------------

static void bbr_begin(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct cc_loss none = {0};
    b->attached = !w->cwnd;
    cc_event(&none, WEIR_CC_INIT, s, w, 0);
    b->min_rtt_us = s->min_rtt_us;
    b->min_rtt_at_us = s->now_us;
    b->round_rtt_us = WEIR_CC_UNLIMITED;
    b->phase_at_us = s->now_us;
    bbr_extra_begin(&b->extra, s->now_us);
    b->total = s->total_delivered;
    b->pacing_gain = BBR_HIGH;
    bbr_pace_first(s, w, BBR_HIGH);
}

// Sending again after idling: at the bandwidth, without another STARTUP. If this state was let go meanwhile, ssthresh kept its product
// with the round-trip time.
static void bbr_resume(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    b->idle = true;
    bbr_extra_begin(&b->extra, s->now_us);
    const uint32_t remembered = b->attached && !b->bandwidth ? bbr_remembered(w, b->min_rtt_us) : 0;
    if (remembered) {
        b->best[0] = b->bandwidth = remembered;
        b->full_reached = true;
        w->cwnd = max_u32(w->cwnd, w->ssthresh);
    }
    if (!b->full_reached)
        return;
    bbr_set_phase(b, 2, s->now_us);
    bbr_pace(b, s, w);
}

static void bbr_reduce(struct bbr *b, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    if (event == WEIR_CC_ECN)
        b->share = 0;  // a queue marked it
    if (event == WEIR_CC_RTO) {
        bbr_save_cwnd(b, w);
        b->after_rto = bbr_most_inflight(s);
        b->full = 0;
        b->full_rounds = 0;
        b->conserving = false;
        w->cwnd = s->mss;
    } else if (!b->share && !b->conserving) {
        bbr_save_cwnd(b, w);
        b->conserving = b->entering = true;
        b->conserve_from = s->total_delivered;
    }
}

static void bbr_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr *b = state;
    switch (event) {
    case WEIR_CC_INIT: bbr_begin(b, s, w); break;
    case WEIR_CC_ENTER_RECOVERY:
    case WEIR_CC_ECN:
    case WEIR_CC_RTO: bbr_reduce(b, event, s, w); break;
    case WEIR_CC_EXIT_RECOVERY:
    case WEIR_CC_UNDO:
        b->conserving = false;
        b->after_rto = 0;
        if (b->mode != BBR_PROBE_RTT)
            w->cwnd = max_u32(w->cwnd, b->prior_cwnd);
        break;
    case WEIR_CC_IDLE_RESTART: bbr_resume(b, s, w); break;
    case WEIR_CC_EXIT_SLOW_START: break;  // STARTUP ends when the rate grows no more
    }
}

const struct weir_cc weir_cc_bbr = {.name = "bbr",
                                    .state_bytes = sizeof(struct bbr),
                                    .wants_rate = true,
                                    .owns_recovery = true,
                                    .owns_slow_start = true,
                                    .ack = bbr_ack,
                                    .event = bbr_event};
