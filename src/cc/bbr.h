// SPDX-License-Identifier: BSD-2-Clause
// What both models of BBR share: which samples count and what rate they show, what a rate has in flight, how much comes at once, how the
// first segments are paced, the way back from a timeout, and what ssthresh keeps of the path while the state is let go. Gains have eight
// fractional bits.
#ifndef CC_BBR_H
#define CC_BBR_H

#include "cc/common.h"

#define BBR_ONE 256u
#define BBR_CWND 512u             // twice, for delayed and stretched acknowledgements
#define BBR_PROBE 320u            // 5/4
#define BBR_MIN_RTT_US 10000000u  // that filter's window
#define BBR_PROBE_RTT_US 200000u
#define BBR_MIN_SEGMENTS 4u
#define BBR_FULL_ROUNDS 3u  // the pipe is full when the rate has not grown by a quarter for so many rounds
#define BBR_SLOW 150000u    // bytes/s: below, segments leave one by one (1.2 Mbit/s)

static inline uint32_t bbr_limit(uint64_t value) { return value < WEIR_CC_UNLIMITED ? (uint32_t)value : WEIR_CC_UNLIMITED - 1; }

// In flight before this, or after, whichever is more.
static inline uint32_t bbr_most_inflight(const struct weir_cc_sample *s) { return max_u32(s->inflight, s->prior_inflight); }

// Shorter than a round trip is a sample of acknowledgements that came bunched.
static inline bool bbr_counts(const struct weir_cc_sample *s)
{
    return s->interval_us && (s->min_rtt_us == WEIR_CC_UNLIMITED || s->interval_us >= s->min_rtt_us);
}

static inline uint32_t bbr_delivery_rate(const struct weir_cc_sample *s)
{
    return bbr_limit((uint64_t)s->delivered * 1000000 / s->interval_us);
}

// Bytes that a rate has in flight within a round trip.
static inline uint32_t bbr_product(uint32_t rate, uint32_t rtt_us)
{
    const uint64_t bytes = (uint64_t)rate * rtt_us / 1000000;
    return bytes < CC_WINDOW_MAX ? (uint32_t)bytes : CC_WINDOW_MAX;
}

// Three bursts, in segments: one is put together here, one at the other end, one is on its way.
static inline uint32_t bbr_bursts(uint32_t rate) { return rate < BBR_SLOW ? 3 : 6; }

// How much more arrives at once than the bandwidth explains: so much is to be in flight besides, or sending stops between two bunches.
struct bbr_extra {
    uint32_t from_us, delivered;  // since then
    uint32_t most[2];             // of this half of the filter's window, and of the one before
    uint32_t rounds;              // of this half
};
#define BBR_EXTRA_ROUNDS 5u  // in each

static inline void bbr_extra_begin(struct bbr_extra *e, uint32_t now_us)
{
    e->from_us = now_us;
    e->delivered = 0;
}

static inline void bbr_extra_acked(struct bbr_extra *e, uint32_t bandwidth, uint32_t delivered, uint32_t cwnd, uint32_t now_us)
{
    uint32_t expected = bbr_product(bandwidth, now_us - e->from_us);
    if (e->delivered <= expected) {
        bbr_extra_begin(e, now_us);
        expected = 0;
    }
    e->delivered = min_u32(e->delivered + min_u32(delivered, CC_WINDOW_MAX), CC_WINDOW_MAX);
    e->most[0] = max_u32(e->most[0], min_u32(e->delivered - min_u32(e->delivered, expected), cwnd));
}

static inline void bbr_extra_round(struct bbr_extra *e, uint32_t rounds)
{
    if (++e->rounds < rounds)
        return;
    e->rounds = 0;
    e->most[1] = e->most[0];
    e->most[0] = 0;
}

static inline uint32_t bbr_extra(const struct bbr_extra *e) { return max_u32(e->most[0], e->most[1]); }

// A little less: a queue that is there for no reason goes away.
static inline uint32_t bbr_margin(uint32_t rate) { return max_u32(rate - rate / 100, 1); }

// Before there is a sample: the window in the round-trip time of the handshake, or in a millisecond.
static inline void bbr_pace_first(const struct weir_cc_sample *s, struct weir_cc_window *w, uint32_t gain)
{
    w->pacing_rate = bbr_limit((uint64_t)w->cwnd * 1000000 / (s->srtt_us ? s->srtt_us : 1000) * gain / BBR_ONE);
    if (s->clock_coarse)
        w->pacing_rate = WEIR_CC_UNLIMITED;
}

// The window comes back when what was outstanding at a timeout is delivered.
static inline void bbr_after_rto(uint32_t *after_rto, uint32_t delivered, uint32_t prior_cwnd, struct weir_cc_window *w)
{
    if (!*after_rto)
        return;
    *after_rto -= min_u32(*after_rto, delivered);
    if (!*after_rto)
        w->cwnd = max_u32(w->cwnd, prior_cwnd);
}

// The bandwidth that ssthresh kept, as a product, while the state was let go; 0: none.
static inline uint32_t bbr_remembered(const struct weir_cc_window *w, uint32_t min_rtt_us)
{
    if (w->ssthresh == WEIR_CC_UNLIMITED || min_rtt_us == WEIR_CC_UNLIMITED || !min_rtt_us)
        return 0;
    return bbr_limit((uint64_t)w->ssthresh * 1000000 / min_rtt_us);
}

#endif
