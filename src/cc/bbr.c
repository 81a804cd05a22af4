// SPDX-License-Identifier: BSD-2-Clause
// BBR, version 1's model (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: ACM Queue 14(5), 2016; draft-cardwell-iccrg-bbr-congestion-control-00),
// in integers: pace at the bottleneck's bandwidth (the greatest delivery rate of ten rounds), keep at most twice bandwidth times smallest
// round-trip time in flight, with what acknowledgements bring at once (draft-ietf-ccwg-bbr's extra_acked, bounded), and find out about both
// by sending faster for one round trip of eight and nearly nothing every ten seconds. What is known of the path is in bbr_path.h.
//
// Where the clock is coarser than the round trip (sample.clock_coarse) nothing is paced: at a rate that is known once a tick a tick's worth
// would leave at once, and be lost in a queue that holds less. The window alone probes, yields and cruises, a tick or more at a time.
//
// Two things differ, both for paths that lose at random. There is no policer mode, which such a path sets off. And the rate is
// compensated for what the path loses whatever is sent (bbr_loss.h).
#include "cc/bbr_loss.h"
#include "cc/bbr_path.h"

#define BBR_HIGH 739u       // 2/ln 2: the smallest that doubles the rate each round
#define BBR_DRAIN 88u       // … and its inverse
#define BBR_PROBE 320u      // 5/4
#define BBR_YIELD 192u      // 3/4
#define BBR_CWND 512u       // twice, for delayed and stretched acknowledgements
#define BBR_ROUNDS 10u      // the bandwidth filter's window
#define BBR_PHASES 8u       // one to probe, one to yield, six to cruise
#define BBR_EXTRA_US 1000u  // so much of what comes at once: busy hosts and drivers; more would be taken from others where round trips vary

enum bbr_mode { BBR_EMPTYING = BBR_OTHER_MODES, BBR_PROBE_BW };

struct bbr {
    struct bbr_path path;
    struct bbr_loss loss;
    uint32_t best[BBR_ROUNDS];  // greatest delivery rate of each of the last rounds; [0] is this one
    uint32_t bandwidth;         // the greatest of them
    uint32_t full;              // what the bandwidth must exceed by a quarter if the pipe is not full
    uint32_t conserve_from;     // total_delivered when recovery began
    uint32_t quiet_until;       // what was sent before so much was delivered says nothing about the bandwidth
    uint16_t gain;              // of the pace
    uint8_t phase;
    bool overrun;     // a round of a STARTUP without a clock lost too much
    bool next_round;  // a round began: `best` moves with its first sample
    bool entering;    // the first acknowledgement of recovery's first round
};
_Static_assert(sizeof(struct bbr) <= WEIR_CC_STATE_MAX, "state of bbr");

// What to send per second for `bandwidth` to arrive, times `gain`.
static uint32_t bbr_rate(const struct bbr *b, uint32_t gain)
{
    return bbr_limit((uint64_t)b->bandwidth * BBR_SHARE / (BBR_SHARE - b->loss.share) * gain / BBR_ONE);
}

// Bytes that `gain` bandwidth-delay products have in flight.
static uint32_t bbr_inflight(const struct bbr *b, uint32_t gain) { return bbr_product(bbr_rate(b, gain), b->path.min_rtt.us); }

// … and three bursts more: while they are put together at both ends the bottleneck would be idle, and a small product never be reached.
static uint32_t bbr_target(const struct bbr *b, uint32_t gain, uint32_t mss)
{
    if (b->path.min_rtt.us == WEIR_CC_UNLIMITED || !b->bandwidth)
        return weir_cc_initial_window(mss);
    const uint32_t segments = bbr_inflight(b, gain) / mss + 1 + bbr_bursts(bbr_rate(b, BBR_ONE));
    return min_u32((segments + 1) / 2 * 2 * mss, CC_WINDOW_MAX);  // even: one delayed acknowledgement is for two
}

static void bbr_set_gain(struct bbr *b, uint32_t gain)
{
    if ((gain < BBR_ONE) != (b->gain < BBR_ONE))
        bbr_loss_slow(&b->loss, gain < BBR_ONE, b->path.total + bbr_inflight(b, BBR_ONE) / 8);
    b->gain = (uint16_t)gain;
}

static void bbr_set_phase(struct bbr *b, uint32_t phase, uint32_t now_us)
{
    b->path.mode = BBR_PROBE_BW;
    b->path.phase_at_us = now_us;
    b->phase = (uint8_t)phase;
    bbr_set_gain(b, phase == 0 ? BBR_PROBE : phase == 1 ? BBR_YIELD : BBR_ONE);
}

// Any phase but the yielding one, so that flows that began together do not probe together: the clock's low bits choose.
static void bbr_cruise(struct bbr *b, uint32_t now_us)
{
    const uint32_t choice = (uint32_t)((uint64_t)(now_us * 2654435769u) * (BBR_PHASES - 1) >> 32);
    bbr_set_phase(b, choice ? choice + 1 : 0, now_us);
}

// The filter moves on only with samples that count: idling, and PROBE_RTT, make it forget nothing.
static void bbr_bandwidth(struct bbr *b, const struct weir_cc_sample *s)
{
    const uint32_t rate = bbr_delivery_rate(s);
    b->next_round |= s->round_start;
    if (b->path.mode != BBR_PROBE_RTT && seq_le(b->quiet_until, s->prior_delivered))
        b->path.quiet = false;
    if (!rate || (rate < b->bandwidth && (s->app_limited || b->path.quiet)))
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

// --- modes ---------------------------------------------------------------------------------------------------------------------------

// STARTUP where the clock cannot tell a round trip. A rate once a tick would let it grow once a tick, and pacing by that send no more in
// one, however many round trips there are: instead the window doubles each round, and acknowledgements alone say when something may go,
// until a rate has not grown, or more is lost than a path's own loss explains. Then what such a round delivered is what the path holds, and
// the window until there is a rate.
static bool bbr_blind(const struct bbr *b, const struct weir_cc_sample *s)
{
    return s->clock_coarse && !b->path.full_reached && !b->overrun && !b->path.full_rounds;
}

static void bbr_check_overrun(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    if (b->path.full_reached || !s->round_start)
        return;
    const uint32_t holds = bbr_loss_overrun(&b->loss, s);
    if (!holds || b->overrun || !s->clock_coarse)
        return;
    b->overrun = true;
    w->cwnd = w->ssthresh = b->path.prior_cwnd = holds;
    b->path.recovering = false;
}

// Rounds within a tick of a coarse clock say nothing about growth: only the one that brings a rate.
static void bbr_check_full(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->path.full_reached || !s->round_start || s->app_limited || (s->clock_coarse && !s->interval_us))
        return;
    if (!b->overrun && b->bandwidth >= b->full + b->full / 4) {
        b->full = b->bandwidth;
        b->path.full_rounds = 0;
        return;
    }
    b->path.full_reached = b->overrun || ++b->path.full_rounds >= BBR_FULL_ROUNDS;
}

static void bbr_cycle(struct bbr *b, const struct weir_cc_sample *s)
{
    bool over = s->now_us - b->path.phase_at_us > b->path.min_rtt.us;
    if (s->clock_coarse)  // until there are a rate and a round trip of it
        over = s->interval_us;
    else if (b->gain > BBR_ONE)  // until it shows: that much is in flight, or something is lost
        over = over && (s->lost || s->prior_inflight >= bbr_target(b, BBR_PROBE, s->mss));
    else if (b->gain < BBR_ONE)  // until the queue that probing built is gone
        over = over || s->prior_inflight <= bbr_inflight(b, BBR_ONE);
    if (over)
        bbr_set_phase(b, (b->phase + 1) % BBR_PHASES, s->now_us);
}

static void bbr_modes(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->path.mode == BBR_PROBE_BW)
        bbr_cycle(b, s);
    bbr_check_full(b, s);
    if (b->path.mode == BBR_STARTUP && b->path.full_reached) {
        b->path.mode = BBR_EMPTYING;
        bbr_set_gain(b, BBR_DRAIN);
    }
    if (b->path.mode == BBR_EMPTYING && s->clock_coarse)
        bbr_set_phase(b, 1, s->now_us);
    else if (b->path.mode == BBR_EMPTYING && s->inflight <= bbr_inflight(b, BBR_ONE))
        bbr_cruise(b, s->now_us);
}

static void bbr_leave_probe_rtt(struct bbr *b, uint32_t now_us, struct weir_cc_window *w)
{
    b->path.min_rtt.at_us = now_us;
    b->quiet_until = b->path.total;
    w->cwnd = max_u32(w->cwnd, b->path.prior_cwnd);
    if (b->path.full_reached) {
        bbr_cruise(b, now_us);
    } else {
        b->path.mode = BBR_STARTUP;
        bbr_set_gain(b, BBR_HIGH);
    }
}

// Ten seconds without a round trip as short as the shortest: the queue is let run empty, to see how long it really is.
static void bbr_probe_rtt(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr_path *p = &b->path;
    const bool expired = bbr_rtt_take(&p->min_rtt, s, BBR_MIN_RTT_US);
    if (s->rtt_us && s->rtt_us == p->min_rtt.us)  // as short again
        p->min_rtt.at_us = s->now_us;
    if (expired && !p->idle && p->mode != BBR_PROBE_RTT) {
        bbr_path_probe_rtt(p, w);
        bbr_set_gain(b, BBR_ONE);
    }
    if (p->mode != BBR_PROBE_RTT)
        return;
    p->quiet = true;
    if (bbr_path_emptied(p, s, BBR_MIN_SEGMENTS * s->mss))
        b->quiet_until = p->total;
    else if (bbr_path_rested(p, s->now_us) && seq_le(b->quiet_until, s->prior_delivered))
        bbr_leave_probe_rtt(b, s->now_us, w);
}

// --- what comes out ------------------------------------------------------------------------------------------------------------------

static void bbr_pace(const struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t rate = bbr_rate(b, b->gain);
    if (s->clock_coarse)
        w->pacing_rate = WEIR_CC_UNLIMITED;
    else if (b->bandwidth && (b->path.full_reached || rate > w->pacing_rate || w->pacing_rate == WEIR_CC_UNLIMITED))
        w->pacing_rate = bbr_margin(rate);
}

// Recovery's first round. True: cwnd is what it says and nothing more. Loss that the path was known for is no reason to send less.
static bool bbr_conserve(struct bbr *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    b->path.recovering = b->path.recovering && seq_lt(s->prior_delivered, b->conserve_from);
    if (!b->path.recovering)
        return false;
    w->cwnd = b->entering ? 0 : w->cwnd - min_u32(w->cwnd, s->lost);
    w->cwnd = max_u32(w->cwnd, s->inflight + delivered);
    b->entering = false;
    return true;
}

static void bbr_grow(const struct bbr *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    const bool full = b->path.full_reached, coarse = s->clock_coarse, overrun = b->overrun && coarse && !full;
    const uint32_t gain = !full ? BBR_HIGH : coarse ? max_u32(b->gain, BBR_YIELD) : BBR_CWND;
    uint32_t target = bbr_target(b, gain, s->mss);
    if (b->path.mode == BBR_PROBE_BW && b->phase == 0)
        target += 2 * s->mss;
    if (full && !coarse)
        target += min_u32(bbr_extra_most(&b->path.extra), bbr_product(b->bandwidth, BBR_EXTRA_US));
    if (overrun)
        target = w->ssthresh;
    else if (bbr_blind(b, s) && s->cwnd_limited)
        target = WEIR_CC_UNLIMITED;
    bbr_path_grow(delivered, target, full || overrun, w);
}

static void bbr_window(struct bbr *b, const struct weir_cc_sample *s, uint32_t delivered, struct weir_cc_window *w)
{
    bbr_path_after_rto(&b->path, delivered, w);
    if (!bbr_conserve(b, s, delivered, w))
        bbr_grow(b, s, delivered, w);
    w->cwnd = max_u32(w->cwnd, BBR_MIN_SEGMENTS * s->mss);
    if (b->path.mode == BBR_PROBE_RTT)
        w->cwnd = BBR_MIN_SEGMENTS * s->mss;
    bbr_path_remember(&b->path, bbr_rate(b, BBR_ONE), s->mss, w);
}

static void bbr_ack(void *state, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr *b = state;
    const uint32_t delivered = bbr_path_delivered(&b->path, s);
    if (s->round_start)
        bbr_extra_round(&b->path.extra, BBR_EXTRA_ROUNDS);
    if (delivered) {
        bbr_bandwidth(b, s);
        bbr_extra_acked(&b->path.extra, b->bandwidth, delivered, w->cwnd, s->now_us);
        bbr_loss_count(&b->loss, s, b->gain < BBR_ONE);
    }
    bbr_check_overrun(b, s, w);
    if (bbr_loss_queue(&b->loss, s, b->bandwidth, b->path.min_rtt.us))  // it need not run empty to show the shortest round trip
        b->path.min_rtt.at_us = s->now_us;
    bbr_modes(b, s);
    bbr_probe_rtt(b, s, w);
    if (delivered)
        b->path.idle = false;
    bbr_pace(b, s, w);
    bbr_window(b, s, delivered, w);
}

// --- events --------------------------------------------------------------------------------------------------------------------------

static void bbr_begin(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    bbr_path_begin(&b->path, s, w, BBR_HIGH);
    b->loss.round_rtt_us = WEIR_CC_UNLIMITED;
    b->gain = BBR_HIGH;
}

// Sending again after idling: at the bandwidth, without another STARTUP.
static void bbr_resume(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t remembered = bbr_path_resume(&b->path, s, w, b->bandwidth);
    if (remembered)
        b->best[0] = b->bandwidth = remembered;
    if (!b->path.full_reached)
        return;
    bbr_set_phase(b, 2, s->now_us);
    bbr_pace(b, s, w);
}

// Conserves for a round, unless loss of the path's own is compensated for.
static void bbr_enter_recovery(struct bbr *b, const struct weir_cc_sample *s, const struct weir_cc_window *w)
{
    if (b->loss.share || b->path.recovering)
        return;
    bbr_path_save_cwnd(&b->path, w);
    b->path.recovering = b->entering = true;
    b->conserve_from = s->total_delivered;
}

static void bbr_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    struct bbr *b = state;
    switch (event) {
    case WEIR_CC_INIT: bbr_begin(b, s, w); break;
    case WEIR_CC_ECN:
        b->loss.share = 0;  // a queue marked it
    // fall through
    case WEIR_CC_ENTER_RECOVERY: bbr_enter_recovery(b, s, w); break;
    case WEIR_CC_RTO:
        bbr_path_timeout(&b->path, s, w);
        b->full = 0;
        b->path.full_rounds = 0;
        break;
    case WEIR_CC_EXIT_RECOVERY:
    case WEIR_CC_UNDO: bbr_path_recovered(&b->path, w); break;
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
