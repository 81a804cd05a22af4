// SPDX-License-Identifier: BSD-2-Clause
// The cycle of bbr3's PROBE_BW: DOWN (a little slower, until the queue is gone), CRUISE (with headroom for others, for
// two to three seconds or as many rounds as Reno would need), REFILL (one round at full rate) and UP (a quarter faster,
// until 2 % of a flight are lost or the rate grows no more).
#include "cc/bbr3.h"

// The window itself, not only the pace, holds the flow back: a burst at most is missing.
static bool bbr3_window_full(const struct weir_cc_sample *s, uint32_t window)
{
    return s->cwnd_limited && (uint64_t)s->prior_inflight + 2 * s->mss >= window;
}

static void bbr3_start(struct bbr3 *b, enum bbr3_mode mode)
{
    b->path.mode = (uint8_t)mode;
    b->next_round = b->path.total;
}

// The clock's low bits choose how long the cycle will be, so that flows do not probe together.
void bbr3_start_down(struct bbr3 *b, uint32_t now_us)
{
    const uint32_t dice = now_us * 2654435769u;
    b->bounds.loss_in_round = false;
    b->bounds.bw_latest = b->bounds.inflight_latest = 0;
    b->bounds.up_acked_per_inc = WEIR_CC_UNLIMITED;
    b->rounds_since_probe = (uint8_t)(dice >> 31);
    b->probe_wait_ms = (uint16_t)(2000 + (dice >> 16) % 1000);
    b->path.phase_at_us = now_us;
    b->probe_ending = true;
    bbr3_start(b, BBR3_DOWN);
}

void bbr3_start_refill(struct bbr3 *b)
{
    bbr3_bounds_forget_shortterm(&b->bounds);
    b->bounds.up_rounds = 0;
    b->bounds.up_acked = 0;
    b->precautionary = false;
    b->probe_ending = false;
    bbr3_start(b, BBR3_REFILL);
}

static void bbr3_start_up(struct bbr3 *b, uint32_t rate, uint32_t mss, uint32_t cwnd)
{
    b->probe_sample = true;
    bbr3_reset_full(b, rate);
    bbr3_bounds_steeper(&b->bounds, mss, cwnd);
    bbr3_start(b, BBR3_UP);
}

static bool bbr3_time_to_probe(const struct bbr3 *b, const struct weir_cc_sample *s, uint32_t cwnd)
{
    const uint32_t reno = min_u32(min_u32(bbr3_bdp(b), cwnd) / s->mss, BBR3_RENO_ROUNDS);
    return s->now_us - b->path.phase_at_us > b->probe_wait_ms * 1000u || b->rounds_since_probe >= reno;
}

static bool bbr3_time_to_go_down(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t cwnd)
{
    const uint32_t bound = b->bounds.now.inflight_longterm;
    if (b->bounds.too_high && (uint64_t)s->prior_inflight + 2 * s->mss >= bound) {
        b->precautionary = true;  // so much was too much the last time: see first what comes of it
        return true;
    }
    if (bbr3_window_full(s, cwnd) && cwnd >= bound)
        bbr3_reset_full(b, rate);  // it is the bound that lets it grow no more
    return b->full_now;
}

// One round after a probe its last samples have come: the filter moves on. True: the next probe begins at once.
static bool bbr3_probe_over(struct bbr3 *b, const struct weir_cc_sample *s)
{
    if (!b->probe_ending || !b->round_start)
        return false;
    b->probe_sample = false;
    b->probe_ending = false;
    const bool limited = s->app_limited || b->path.quiet;
    b->path.quiet &= b->path.mode == BBR_PROBE_RTT;
    if (bbr3_in_probe_bw(b) && !limited && b->max_bw[0]) {
        b->max_bw[1] = b->max_bw[0];
        b->max_bw[0] = 0;
    }
    if (!bbr3_in_probe_bw(b) || !b->precautionary || b->bounds.too_high)
        return false;
    bbr3_start_refill(b);
    return true;
}

static void bbr3_phase(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t cwnd)
{
    switch (b->path.mode) {
    case BBR3_DOWN:
    case BBR3_CRUISE:
        if (bbr3_time_to_probe(b, s, cwnd))
            bbr3_start_refill(b);
        else if (s->inflight <= bbr3_bounds_with_headroom(&b->bounds, s->mss) &&
                 s->inflight <= bbr_product(bbr3_max_bw(b), b->path.min_rtt.us))
            b->path.mode = BBR3_CRUISE;
        break;
    case BBR3_REFILL:
        if (b->round_start)
            bbr3_start_up(b, rate, s->mss, cwnd);
        break;
    case BBR3_UP:
        if (bbr3_time_to_go_down(b, s, rate, cwnd)) {
            b->bounds.too_high = false;  // so far
            bbr3_start_down(b, s->now_us);
        }
        break;
    default: break;
    }
}

void bbr3_cycle(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t rate, uint32_t delivered, uint32_t cwnd)
{
    if (bbr3_probe_over(b, s))
        return;
    const uint32_t full_cwnd = b->path.mode == BBR3_UP && bbr3_window_full(s, cwnd) ? cwnd : 0;
    if (bbr3_bounds_raise(&b->bounds, s, delivered, full_cwnd) && b->round_start)
        bbr3_bounds_steeper(&b->bounds, s->mss, cwnd);
    bbr3_phase(b, s, rate, cwnd);
}

void bbr3_too_high(struct bbr3 *b, const struct weir_cc_sample *s, uint32_t inflight, uint32_t cwnd)
{
    b->bounds.too_high = true;
    b->probe_sample = false;  // one answer for each probe
    if (!s->app_limited)
        b->bounds.now.inflight_longterm =
            min_u32(max_u32(inflight, bbr3_beta(min_u32(bbr3_bdp(b), cwnd))), CC_WINDOW_MAX);
    if (b->path.mode != BBR3_UP)
        return;
    b->undo = BBR3_UNDO_UP;
    bbr3_start_down(b, s->now_us);
}
