// SPDX-License-Identifier: BSD-2-Clause
// How much the path holds, as bbr3 learns it from loss (draft-ietf-ccwg-bbr §5.5.10): what was lost while probing
// bounds the amount in flight in the long term, and a loss at any other time bounds rate and amount for the rest of a
// cycle, the short term. The contract tells of no lost segment when it was sent, so RS.lost is what was lost since the
// loss round began, and tx_in_flight that of the newest delivered one.
#ifndef CC_BBR3_BOUNDS_H
#define CC_BBR3_BOUNDS_H

#include "cc/bbr_path.h"

#define BBR3_FULL_LOSSES 6u

struct bbr3_limits {
    uint32_t bw_shortterm, inflight_shortterm, inflight_longterm;  // WEIR_CC_UNLIMITED: none
};

struct bbr3_bounds {
    struct bbr3_limits now, before;  // `before` recovery: given back if that was for nothing
    uint32_t bw_latest, inflight_latest;
    uint32_t
        loss_round;  // a segment sent when so much was delivered ends the loss round, which begins with its first loss
    uint32_t lost_from;  // total_lost when it began
    uint32_t up_acked, up_acked_per_inc;
    uint8_t up_rounds;
    uint8_t losses;         // in the loss round, as far as BBR3_FULL_LOSSES
    bool loss_in_round;     // there was one
    bool loss_round_start;  // it ends with this acknowledgement, and the next begins
    bool too_high;          // the last probe was
};

// In flight when what this acknowledges was sent. It is not known of what was sent again: then as much as was until
// now.
static inline uint32_t bbr3_tx_inflight(const struct weir_cc_sample *s)
{
    return s->tx_inflight ? s->tx_inflight : bbr_most_inflight(s);
}

static inline uint32_t bbr3_beta(uint32_t value) { return (uint32_t)((uint64_t)value * 7 / 10); }

void bbr3_bounds_begin(struct bbr3_bounds *b, const struct weir_cc_sample *s);

// A loss or a mark, when so much was delivered; what an acknowledgement delivered; the end of its loss round, with this
// acknowledgement.
void bbr3_bounds_lost(struct bbr3_bounds *b, uint32_t total);
void bbr3_bounds_delivered(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t rate);
void bbr3_bounds_next_round(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t rate);

// More than 2 % of a flight were lost since the loss round began.
bool bbr3_bounds_exceeded(const struct bbr3_bounds *b, const struct weir_cc_sample *s);

// The short term: rate and amount of what was delivered, or less by 30 % than before; and none.
void bbr3_bounds_shorten(struct bbr3_bounds *b, uint32_t max_bw, uint32_t cwnd);
void bbr3_bounds_forget_shortterm(struct bbr3_bounds *b);

// The long term. As much was in flight and not too much was lost: it is raised to that. True: and is reached by a
// window that is full, of `full_cwnd` bytes (0: none), as a probe goes up; then it grows by one segment more in the
// first round, then two, four, … (steeper).
bool bbr3_bounds_raise(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t delivered, uint32_t full_cwnd);
void bbr3_bounds_steeper(struct bbr3_bounds *b, uint32_t mss, uint32_t cwnd);
uint32_t bbr3_bounds_with_headroom(const struct bbr3_bounds *b, uint32_t mss);  // leaves 15 % of it to others

// All that was bounded since `before` was for nothing.
void bbr3_bounds_undo(struct bbr3_bounds *b);

#endif
