// SPDX-License-Identifier: BSD-2-Clause
#include "cc/bbr3_bounds.h"

#define BBR3_LOSS_THRESH 50u  // one of so many: 2 %

static const struct bbr3_limits bbr3_unbounded = {WEIR_CC_UNLIMITED, WEIR_CC_UNLIMITED, WEIR_CC_UNLIMITED};

void bbr3_bounds_begin(struct bbr3_bounds *b, const struct weir_cc_sample *s)
{
    b->now = b->before = bbr3_unbounded;
    b->loss_round = s->total_delivered;
    b->lost_from = s->total_lost;
    b->up_acked_per_inc = WEIR_CC_UNLIMITED;
}

void bbr3_bounds_lost(struct bbr3_bounds *b, uint32_t total)
{
    if (!b->loss_in_round)
        b->loss_round = total;
    b->loss_in_round = true;
    b->losses = (uint8_t)min_u32(b->losses + 1u, BBR3_FULL_LOSSES);
}

void bbr3_bounds_delivered(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t rate)
{
    b->loss_round_start = seq_le(b->loss_round, s->prior_delivered);
    if (b->loss_round_start)
        b->loss_round = s->total_delivered;
    b->bw_latest = max_u32(b->bw_latest, rate);
    b->inflight_latest = max_u32(b->inflight_latest, s->delivered);
}

void bbr3_bounds_next_round(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t rate)
{
    b->bw_latest = rate;
    b->inflight_latest = s->delivered;
    b->lost_from = s->total_lost;
}

bool bbr3_bounds_exceeded(const struct bbr3_bounds *b, const struct weir_cc_sample *s)
{
    return s->total_lost - b->lost_from > bbr3_tx_inflight(s) / BBR3_LOSS_THRESH;
}

void bbr3_bounds_shorten(struct bbr3_bounds *b, uint32_t max_bw, uint32_t cwnd)
{
    struct bbr3_limits *now = &b->now;
    if (now->bw_shortterm == WEIR_CC_UNLIMITED)
        now->bw_shortterm = max_bw;
    if (now->inflight_shortterm == WEIR_CC_UNLIMITED)
        now->inflight_shortterm = cwnd;
    now->bw_shortterm = max_u32(b->bw_latest, bbr3_beta(now->bw_shortterm));
    now->inflight_shortterm = max_u32(b->inflight_latest, bbr3_beta(now->inflight_shortterm));
}

void bbr3_bounds_forget_shortterm(struct bbr3_bounds *b)
{
    b->now.bw_shortterm = b->now.inflight_shortterm = WEIR_CC_UNLIMITED;
}

bool bbr3_bounds_raise(struct bbr3_bounds *b, const struct weir_cc_sample *s, uint32_t delivered, uint32_t full_cwnd)
{
    uint32_t *bound = &b->now.inflight_longterm;
    if (*bound == WEIR_CC_UNLIMITED || bbr3_bounds_exceeded(b, s))
        return false;
    *bound = min_u32(max_u32(*bound, s->tx_inflight), CC_WINDOW_MAX);
    if (!full_cwnd || full_cwnd < *bound)
        return false;
    b->up_acked += min_u32(delivered, CC_WINDOW_MAX);
    const uint32_t segments = b->up_acked / b->up_acked_per_inc;
    b->up_acked -= segments * b->up_acked_per_inc;
    *bound = bbr_limit(*bound + (uint64_t)segments * s->mss);
    return true;
}

void bbr3_bounds_steeper(struct bbr3_bounds *b, uint32_t mss, uint32_t cwnd)
{
    b->up_acked_per_inc = max_u32(cwnd >> b->up_rounds, mss);
    b->up_rounds = (uint8_t)min_u32(b->up_rounds + 1u, 30);
}

uint32_t bbr3_bounds_with_headroom(const struct bbr3_bounds *b, uint32_t mss)
{
    const uint32_t bound = b->now.inflight_longterm;
    if (bound == WEIR_CC_UNLIMITED)
        return bound;
    const uint32_t headroom = max_u32(mss, (uint32_t)((uint64_t)bound * 15 / 100));
    return max_u32(bound - min_u32(bound, headroom), BBR_MIN_SEGMENTS * mss);
}

void bbr3_bounds_undo(struct bbr3_bounds *b)
{
    b->loss_in_round = false;
    b->now.bw_shortterm = max_u32(b->now.bw_shortterm, b->before.bw_shortterm);
    b->now.inflight_shortterm = max_u32(b->now.inflight_shortterm, b->before.inflight_shortterm);
    b->now.inflight_longterm = max_u32(b->now.inflight_longterm, b->before.inflight_longterm);
}
