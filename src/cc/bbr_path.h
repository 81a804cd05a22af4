// SPDX-License-Identifier: BSD-2-Clause
// What both models of BBR know of the path: which samples count and what rate they show, what a rate has in flight, the
// shortest round trip, how much comes at once, what ssthresh keeps of it while the state is let go; and the window that
// is to come back after recovery, a timeout or PROBE_RTT. Gains have eight fractional bits.
#ifndef CC_BBR_PATH_H
#define CC_BBR_PATH_H

#include "cc/common.h"

#define BBR_ONE 256u
#define BBR_MIN_RTT_US 10000000u  // the window of the shortest round trip
#define BBR_MIN_SEGMENTS 4u
#define BBR_FULL_ROUNDS 3u  // the pipe is full when the rate has not grown by a quarter for so many rounds

enum { BBR_STARTUP, BBR_PROBE_RTT, BBR_OTHER_MODES };  // the modes that both have

// The shortest round trip within a window of time.
struct bbr_rtt {
    uint32_t us, at_us;  // its length, WEIR_CC_UNLIMITED: none yet; when it was seen
};

// How much more arrives at once than the bandwidth explains: so much is to be in flight besides, or sending stops
// between two bunches.
struct bbr_extra {
    uint32_t from_us, delivered;  // since then
    uint32_t most[2];             // of this half of the filter's window, and of the one before
    uint32_t rounds;              // of this half
};
#define BBR_EXTRA_ROUNDS 5u  // in each

struct bbr_path {
    struct bbr_rtt min_rtt;
    struct bbr_extra extra;
    uint32_t total;        // total_delivered at the last acknowledgement
    uint32_t prior_cwnd;   // before recovery, a timeout or PROBE_RTT
    uint32_t after_rto;    // bytes outstanding at a timeout that are not delivered yet
    uint32_t phase_at_us;  // when the phase, or the cycle, began; in PROBE_RTT: when little enough was in flight
    uint8_t mode;
    uint8_t full_rounds;
    bool full_reached;     // the pipe was found full: out of STARTUP
    bool recovering;       // in bbr: its first round, when as much leaves as arrives
    bool probe_rtt_timed;  // little enough is in flight
    bool quiet;            // after PROBE_RTT samples say nothing about the bandwidth for a while
    bool idle;             // sending begins after idling
    bool attached;         // began with a window of its own, or one it had left (not another algorithm's)
};

static inline uint32_t bbr_limit(uint64_t value)
{
    return value < WEIR_CC_UNLIMITED ? (uint32_t)value : WEIR_CC_UNLIMITED - 1;
}

// In flight before this, or after, whichever is more.
static inline uint32_t bbr_most_inflight(const struct weir_cc_sample *s)
{
    return max_u32(s->inflight, s->prior_inflight);
}

// The delivery rate; 0: the sample does not count.
uint32_t bbr_delivery_rate(const struct weir_cc_sample *s);

// Bytes that a rate has in flight within a round trip.
uint32_t bbr_product(uint32_t rate, uint32_t rtt_us);

// Three bursts, in segments: one is put together here, one at the other end, one is on its way.
uint32_t bbr_bursts(uint32_t rate);

// A little less: a queue that is there for no reason goes away.
static inline uint32_t bbr_margin(uint32_t rate) { return max_u32(rate - rate / 100, 1); }

// True: no round trip was as short for `window_us`, and this one is taken for the shortest.
bool bbr_rtt_take(struct bbr_rtt *rtt, const struct weir_cc_sample *s, uint32_t window_us);

void bbr_extra_acked(struct bbr_extra *e, uint32_t bandwidth, uint32_t delivered, uint32_t cwnd, uint32_t now_us);
void bbr_extra_round(struct bbr_extra *e, uint32_t rounds);
static inline uint32_t bbr_extra_most(const struct bbr_extra *e) { return max_u32(e->most[0], e->most[1]); }

// The flow begins; paced by the window, times `gain`, until there is a sample.
void bbr_path_begin(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w, uint32_t gain);

// Sending again after idling. Returns the bandwidth that ssthresh kept if the state was let go meanwhile; 0: none, or
// `bandwidth` is known.
uint32_t bbr_path_resume(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w,
                         uint32_t bandwidth);

// What this acknowledges or SACKs, in bytes.
uint32_t bbr_path_delivered(struct bbr_path *p, const struct weir_cc_sample *s);

// PROBE_RTT begins; little enough is in flight from now on; was so for long enough (a round trip, besides, is the
// model's to count).
void bbr_path_probe_rtt(struct bbr_path *p, const struct weir_cc_window *w);
bool bbr_path_emptied(struct bbr_path *p, const struct weir_cc_sample *s, uint32_t enough);
bool bbr_path_rested(const struct bbr_path *p, uint32_t now_us);

// The window before a reduction is kept; and comes back when recovery ends, or what was outstanding at a timeout is
// delivered.
void bbr_path_save_cwnd(struct bbr_path *p, const struct weir_cc_window *w);
void bbr_path_timeout(struct bbr_path *p, const struct weir_cc_sample *s, struct weir_cc_window *w);
void bbr_path_recovered(struct bbr_path *p, struct weir_cc_window *w);
void bbr_path_after_rto(struct bbr_path *p, uint32_t delivered, struct weir_cc_window *w);

// cwnd moves with what was delivered. Until the pipe is known to be full (`bounded`) it only grows; then never beyond
// the target.
void bbr_path_grow(uint32_t delivered, uint32_t target, bool bounded, struct weir_cc_window *w);

// What the socket remembers of the path when it lets go of the state (see bbr_path_resume).
void bbr_path_remember(const struct bbr_path *p, uint32_t bandwidth, uint32_t mss, struct weir_cc_window *w);

#endif
