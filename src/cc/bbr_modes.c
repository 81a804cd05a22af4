// SPDX-License-Identifier: BSD-2-Clause
// BBR's modes: STARTUP doubles until the pipe is full, DRAIN lets the queue go that this built, PROBE_BW cycles through
// eight phases, and PROBE_RTT looks every ten seconds how short the round trip really is.
#include "cc/bbr.h"

#define BBR_DRAIN 88u  // the inverse of BBR_HIGH

static void bbr_set_gain(struct bbr *b, uint32_t gain)
{
    if ((gain < BBR_ONE) != (b->gain < BBR_ONE))
        bbr_loss_slow(&b->loss, gain < BBR_ONE, b->path.total + bbr_inflight(b, BBR_ONE) / 8);
    b->gain = (uint16_t)gain;
}

void bbr_set_phase(struct bbr *b, uint32_t phase, uint32_t now_us)
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

static void bbr_next(struct bbr *b, const struct weir_cc_sample *s)
{
    if (b->path.mode == BBR_PROBE_BW)
        bbr_cycle(b, s);
    bbr_check_full(b, s);
    if (b->path.mode == BBR_STARTUP && b->path.full_reached) {
        b->path.mode = BBR_DRAIN;
        bbr_set_gain(b, BBR_DRAIN);
    }
    if (b->path.mode == BBR_DRAIN && s->clock_coarse)
        bbr_set_phase(b, 1, s->now_us);
    else if (b->path.mode == BBR_DRAIN && s->inflight <= bbr_inflight(b, BBR_ONE))
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

void bbr_modes(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    bbr_check_overrun(b, s, w);
    // it need not run empty to show the shortest round trip
    if (bbr_loss_queue(&b->loss, s, b->bandwidth, b->path.min_rtt.us))
        b->path.min_rtt.at_us = s->now_us;
    bbr_next(b, s);
    bbr_probe_rtt(b, s, w);
}
