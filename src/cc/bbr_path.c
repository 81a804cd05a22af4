// SPDX-License-Identifier: BSD-2-Clause
#include "cc/bbr_path.h"

#define BBR_PROBE_RTT_US 200000u
#define BBR_SLOW 150000u  // bytes/s: below, segments leave one by one (1.2 Mbit/s)

// Shorter than a round trip is a sample of acknowledgements that came bunched.
uint32_t bbr_delivery_rate(const struct weir_cc_sample *s)
{
    if (!s->interval_us || (s->min_rtt_us != WEIR_CC_UNLIMITED && s->interval_us < s->min_rtt_us))
        return 0;
    return bbr_limit((uint64_t)s->delivered * 1000000 / s->interval_us);
}

uint32_t bbr_product(uint32_t rate, uint32_t rtt_us)
{
    const uint64_t bytes = (uint64_t)rate * rtt_us / 1000000;
    return bytes < CC_WINDOW_MAX ? (uint32_t)bytes : CC_WINDOW_MAX;
}

uint32_t bbr_bursts(uint32_t rate) { return rate < BBR_SLOW ? 3 : 6; }

bool bbr_rtt_take(struct bbr_rtt *rtt, const struct weir_cc_sample *s, uint32_t window_us)
{
    const bool expired = s->now_us - rtt->at_us > window_us && rtt->us != WEIR_CC_UNLIMITED;
    if (s->rtt_us && (s->rtt_us < rtt->us || expired))
        *rtt = (struct bbr_rtt){s->rtt_us, s->now_us};
    return expired;
}

// --- what comes at once ----------------------------------------------------------------------------------------------

static void bbr_extra_begin(struct bbr_extra *e, uint32_t now_us)
{
    e->from_us = now_us;
    e->delivered = 0;
}

void bbr_extra_acked(struct bbr_extra *e, uint32_t bandwidth, uint32_t delivered, uint32_t cwnd, uint32_t now_us)
{
    uint32_t expected = bbr_product(bandwidth, now_us - e->from_us);
    if (e->delivered <= expected) {
        bbr_extra_begin(e, now_us);
        expected = 0;
    }
    e->delivered = min_u32(e->delivered + min_u32(delivered, CC_WINDOW_MAX), CC_WINDOW_MAX);
    e->most[0] = max_u32(e->most[0], min_u32(e->delivered - min_u32(e->delivered, expected), cwnd));
}

void bbr_extra_round(struct bbr_extra *e, uint32_t rounds)
{
    if (++e->rounds < rounds)
        return;
    e->rounds = 0;
    e->most[1] = e->most[0];
    e->most[0] = 0;
}

// --- the flow --------------------------------------------------------------------------------------------------------

// The first pace is the window in the round-trip time of the handshake, or in a millisecond.
void bbr_path_begin(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w, uint32_t gain)
{
    struct cc_loss none = {0};
    p->attached = !w->cwnd;
    cc_event(&none, WEIR_CC_INIT, s, w, 0);
    p->min_rtt = (struct bbr_rtt){s->min_rtt_us, s->now_us};
    p->phase_at_us = s->now_us;
    p->total = s->total_delivered;
    bbr_extra_begin(&p->extra, s->now_us);
    w->pacing_rate = bbr_limit((uint64_t)w->cwnd * 1000000 / (s->srtt_us ? s->srtt_us : 1000) * gain / BBR_ONE);
    if (s->clock_coarse)
        w->pacing_rate = WEIR_CC_UNLIMITED;
}

uint32_t bbr_path_resume(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w,
                         uint32_t bandwidth)
{
    p->idle = true;
    bbr_extra_begin(&p->extra, s->now_us);
    if (!p->attached || bandwidth || w->ssthresh == WEIR_CC_UNLIMITED || p->min_rtt.us == WEIR_CC_UNLIMITED ||
        !p->min_rtt.us)
        return 0;
    const uint32_t remembered = bbr_limit((uint64_t)w->ssthresh * 1000000 / p->min_rtt.us);
    if (remembered) {
        p->full_reached = true;
        w->cwnd = max_u32(w->cwnd, w->ssthresh);
    }
    return remembered;
}

// A peer that reneges takes back what it had SACKed (RFC 2018 §8), and then the total is less than it was.
uint32_t bbr_path_delivered(struct bbr_path *p, const struct weir_cc_sample *s)
{
    const uint32_t delivered = seq_lt(p->total, s->total_delivered) ? s->total_delivered - p->total : 0;
    p->total = s->total_delivered;
    return delivered;
}

void bbr_path_probe_rtt(struct bbr_path *p, const struct weir_cc_window *w)
{
    bbr_path_save_cwnd(p, w);
    p->mode = BBR_PROBE_RTT;
    p->probe_rtt_timed = false;
}

bool bbr_path_emptied(struct bbr_path *p, const struct weir_cc_sample *s, uint32_t enough)
{
    if (p->probe_rtt_timed || s->inflight > enough)
        return false;
    p->phase_at_us = s->now_us;
    return p->probe_rtt_timed = true;
}

bool bbr_path_rested(const struct bbr_path *p, uint32_t now_us)
{
    return p->probe_rtt_timed && now_us - p->phase_at_us >= BBR_PROBE_RTT_US;
}

// --- the window ------------------------------------------------------------------------------------------------------

void bbr_path_save_cwnd(struct bbr_path *p, const struct weir_cc_window *w)
{
    const bool reduced = p->recovering || p->after_rto || p->mode == BBR_PROBE_RTT;
    p->prior_cwnd = reduced ? max_u32(p->prior_cwnd, w->cwnd) : w->cwnd;
}

void bbr_path_timeout(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w)
{
    bbr_path_save_cwnd(p, w);
    p->recovering = false;
    p->after_rto = bbr_most_inflight(s);
    w->cwnd = s->mss;
}

void bbr_path_recovered(struct bbr_path *p, struct weir_cc_window *w)
{
    p->recovering = false;
    p->after_rto = 0;
    if (p->mode != BBR_PROBE_RTT)
        w->cwnd = max_u32(w->cwnd, p->prior_cwnd);
}

void bbr_path_after_rto(struct bbr_path *p, uint32_t delivered, struct weir_cc_window *w)
{
    if (!p->after_rto)
        return;
    p->after_rto -= min_u32(p->after_rto, delivered);
    if (!p->after_rto)
        w->cwnd = max_u32(w->cwnd, p->prior_cwnd);
}

void bbr_path_grow(uint32_t delivered, uint32_t target, bool bounded, struct weir_cc_window *w)
{
    if (bounded || w->cwnd < target)
        w->cwnd = min_u32(w->cwnd + delivered, bounded ? target : CC_WINDOW_MAX);
}

void bbr_path_remember(const struct bbr_path *p, uint32_t bandwidth, uint32_t mss, struct weir_cc_window *w)
{
    if (p->full_reached)
        w->ssthresh = max_u32(bbr_product(bandwidth, p->min_rtt.us), BBR_MIN_SEGMENTS * mss);
}
