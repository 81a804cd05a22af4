// SPDX-License-Identifier: BSD-2-Clause
// The state of bbr3, for bbr3.c and bbr3_cycle.c.
#ifndef CC_BBR3_H
#define CC_BBR3_H

#include "cc/bbr3_bounds.h"
#include "cc/bbr_path.h"

#define BBR3_RENO_ROUNDS 63u  // more rounds than these no cycle waits for

enum bbr3_mode { BBR3_DRAIN = BBR_OTHER_MODES, BBR3_DOWN, BBR3_CRUISE, BBR3_REFILL, BBR3_UP };
enum bbr3_undo { BBR3_UNDO_NOTHING, BBR3_UNDO_STARTUP, BBR3_UNDO_UP };  // what loss ended since recovery began

struct bbr3 {
    struct bbr_path path;
    struct bbr3_bounds bounds;
    struct bbr_rtt probe_rtt;  // the shortest within five seconds
    uint32_t max_bw[2];        // greatest delivery rate of this cycle of probing, and of the one before
    uint32_t next_round;       // a segment sent when so much was delivered ends the round
    uint32_t full_bw;
    uint16_t probe_wait_ms;
    uint8_t rounds_since_probe, drain_rounds, undo;
    bool round_start, full_now;
    bool probe_sample;   // loss now is of a probe's making
    bool probe_ending;   // its last samples come within a round
    bool precautionary;  // it ended where the last one was too much
};
_Static_assert(sizeof(struct bbr3) <= WEIR_CC_STATE_BBR3, "state of bbr3");

static inline uint32_t bbr3_max_bw(const struct bbr3 *b) { return max_u32(b->max_bw[0], b->max_bw[1]); }
static inline uint32_t bbr3_bw(const struct bbr3 *b) { return min_u32(bbr3_max_bw(b), b->bounds.now.bw_shortterm); }
static inline uint32_t bbr3_bdp(const struct bbr3 *b) { return bbr_product(bbr3_bw(b), b->path.min_rtt.us); }
static inline bool bbr3_in_probe_bw(const struct bbr3 *b) { return b->path.mode >= BBR3_DOWN; }

static inline void bbr3_reset_full(struct bbr3 *b, uint32_t rate)
{
    b->full_bw = rate;
    b->path.full_rounds = 0;
    b->full_now = false;
}

// The phases of PROBE_BW: once more with what was delivered; and where one begins for another reason.
void bbr3_cycle(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t delivered, uint32_t cwnd);
void bbr3_start_down(struct bbr3 *b, uint32_t now_us);
void bbr3_start_refill(struct bbr3 *b);

// A probe, or STARTUP, had too much in flight.
void bbr3_too_high(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t inflight, uint32_t cwnd);

#endif
