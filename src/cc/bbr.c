// SPDX-License-Identifier: BSD-2-Clause
// BBR, version 1's model (Cardwell, Cheng, Gunn, Yeganeh, Jacobson: ACM Queue 14(5), 2016;
// draft-cardwell-iccrg-bbr-congestion-control-00), in integers: pace at the bottleneck's bandwidth (the greatest
// delivery rate of ten rounds), keep at most twice bandwidth times smallest round-trip time in flight, with what
// acknowledgements bring at once (draft-ietf-ccwg-bbr's extra_acked, bounded), and find out about both by sending
// faster for one round trip of eight and nearly nothing every ten seconds. What is known of the path is in bbr_path.h,
// when to send faster in bbr_modes.c.
//
// Where the clock is coarser than the round trip (sample.clock_coarse) nothing is paced: at a rate that is known once a
// tick a tick's worth would leave at once, and be lost in a queue that holds less. The window alone probes, yields and
// cruises, a tick or more at a time.
//
// Two things differ, both for paths that lose at random. There is no policer mode, which such a path sets off. And the
// rate is compensated for what the path loses whatever is sent (bbr_loss.h).
#include "cc/bbr.h"

#define BBR_CWND 512u  // twice, for delayed and stretched acknowledgements
// so much of what comes at once: busy hosts and drivers; more would be taken from others where round trips vary
#define BBR_EXTRA_US 1000u

uint32_t bbr_target(const struct bbr *b, uint32_t gain, uint32_t mss)
{
    if (b->path.min_rtt.us == WEIR_CC_UNLIMITED || !b->bandwidth)
        return weir_cc_initial_window(mss);
    const uint32_t segments = bbr_inflight(b, gain) / mss + 1 + bbr_bursts(bbr_rate(b, BBR_ONE));
    return min_u32((segments + 1) / 2 * 2 * mss, CC_WINDOW_MAX);  // even: one delayed acknowledgement is for two
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

// --- what comes out --------------------------------------------------------------------------------------------------

static void bbr_pace(const struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    const uint32_t rate = bbr_rate(b, b->gain);
    if (s->clock_coarse)
        w->pacing_rate = WEIR_CC_UNLIMITED;
    else if (b->bandwidth && (b->path.full_reached || rate > w->pacing_rate || w->pacing_rate == WEIR_CC_UNLIMITED))
        w->pacing_rate = bbr_margin(rate);
}

// Recovery's first round. True: cwnd is what it says and nothing more. Loss that the path was known for is no reason to
// send less.
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

// STARTUP where the clock cannot tell a round trip. A rate once a tick would let it grow once a tick, and pacing by
// that send no more in one, however many round trips there are: instead the window doubles each round, and
// acknowledgements alone say when something may go, until a rate has not grown, or more is lost than a path's own loss
// explains. Then what such a round delivered is what the path holds, and the window until there is a rate.
static bool bbr_blind(const struct bbr *b, const struct weir_cc_sample *s)
{
    return s->clock_coarse && !b->path.full_reached && !b->overrun && !b->path.full_rounds;
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
    bbr_modes(b, s, w);
    if (delivered)
        b->path.idle = false;
    bbr_pace(b, s, w);
    bbr_window(b, s, delivered, w);
}

// --- events ----------------------------------------------------------------------------------------------------------

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
    // a queue marked it
    case WEIR_CC_ECN: b->loss.share = 0;
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
