// SPDX-License-Identifier: BSD-2-Clause
// The state of bbr, for bbr.c and bbr_modes.c.
#ifndef CC_BBR_H
#define CC_BBR_H

#include "cc/bbr_loss.h"
#include "cc/bbr_path.h"

#define BBR_HIGH 739u   // 2/ln 2: the smallest that doubles the rate each round
#define BBR_PROBE 320u  // 5/4
#define BBR_YIELD 192u  // 3/4
#define BBR_ROUNDS 10u  // the bandwidth filter's window
#define BBR_PHASES 8u   // one to probe, one to yield, six to cruise

enum bbr_mode { BBR_DRAIN = BBR_OTHER_MODES, BBR_PROBE_BW };

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
_Static_assert(sizeof(struct bbr) <= WEIR_CC_STATE_BBR, "state of bbr");

// What to send per second for `bandwidth` to arrive, times `gain`.
static inline uint32_t bbr_rate(const struct bbr *b, uint32_t gain)
{
    return bbr_limit((uint64_t)b->bandwidth * BBR_SHARE / (BBR_SHARE - b->loss.share) * gain / BBR_ONE);
}

// Bytes that `gain` bandwidth-delay products have in flight.
static inline uint32_t bbr_inflight(const struct bbr *b, uint32_t gain)
{
    return bbr_product(bbr_rate(b, gain), b->path.min_rtt.us);
}

// That in even segments, and three bursts more: while they are put together at both ends the bottleneck would be idle,
// and a small product never be reached.
uint32_t bbr_target(const struct bbr *b, uint32_t gain, uint32_t mss);

// A phase of PROBE_BW: 0 probes, 1 yields, the others cruise.
void bbr_set_phase(struct bbr *b, uint32_t phase, uint32_t now_us);

// What this acknowledgement makes of the mode: whether STARTUP is over, the next phase, PROBE_RTT.
void bbr_modes(struct bbr *b, const struct weir_cc_sample *s, struct weir_cc_window *w);

#endif
