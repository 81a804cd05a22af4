// SPDX-License-Identifier: BSD-2-Clause
// BIC: Xu, Harfoush and Rhee, "Binary increase congestion control for fast long-distance networks", INFOCOM 2004, with
// the constants that Linux chose. Between the window that was lost and the one that was left, the next is searched as
// in a sorted list: half way (here a quarter) at a time, never more than BIC_STEP_MAX segments; beyond it, slowly
// first, then faster.
//
// Segments acknowledged are counted, and yet growth is multiplied by how many an ACK covers, as Linux does: the steps
// are those of the paper where each segment has its ACK, and twice as long beside the usual delayed ACKs. Like there
// all of it is in whole segments, whose fractions are dropped at each division: with windows of ten or thirty segments
// that is a sixth of the goodput (1 % loss over 20 ms).
#include "cc/common.h"

#define BIC_LOW_WINDOW 14u   // segments; up to here it is Reno
#define BIC_STEP_MAX 16u     // segments a round trip
#define BIC_SEARCH 4u        // part of the distance that a round trip goes; also the width of the plateau in segments
#define BIC_SMOOTH 5u        // round trips for one segment near the plateau
#define BIC_FIRST 20u        // where no window was lost yet: 1/20 of it a round trip, at the least
#define BIC_RATIO_ONE 256u   // segments an ACK covers, 256ths
#define BIC_RATIO_MAX 4u     // more than four is the work of an offload, and nothing to grow by
#define BIC_RENEW_US 31250u  // the pace is worked out again at least so often, as the ratio changes
#define BIC_BETA(x) ((uint32_t)((uint64_t)(x)*819 >> 10))       // 0.8
#define BIC_CONVERGE(x) ((uint32_t)((uint64_t)(x)*1843 >> 11))  // (1 + beta) / 2

struct bic {
    struct cc_loss loss;
    uint32_t credit;                  // bytes acknowledged towards the next segment
    uint32_t w_max, prior_w_max;      // the window that was lost; 0: none, or a timeout
    uint32_t per, per_cwnd, per_mss;  // bytes acknowledged for one segment of growth, and for which cwnd and mss
    uint32_t per_us;                  // the time at which `per` was worked out
    uint32_t ratio;                   // 256ths; 0: none yet, which means two
};
_Static_assert(sizeof(struct bic) <= WEIR_CC_STATE_BIC, "state of bic");

// Segments acknowledged for one of growth, where each has its ACK.
static uint32_t bic_count(uint32_t cwnd, uint32_t w_max)
{
    const uint32_t slowest = cwnd * BIC_SMOOTH;
    if (cwnd >= w_max) {
        const uint32_t beyond = cwnd - w_max;
        if (beyond < BIC_SEARCH)
            return slowest;
        return beyond < (BIC_SEARCH - 1) * BIC_STEP_MAX ? cwnd * (BIC_SEARCH - 1) / beyond : cwnd / BIC_STEP_MAX;
    }
    const uint32_t step = (w_max - cwnd) / BIC_SEARCH;
    return step <= 1 ? slowest : cwnd / min_u32(step, BIC_STEP_MAX);
}

static uint32_t bic_ratio(const struct bic *bic) { return bic->ratio ? bic->ratio : 2 * BIC_RATIO_ONE; }

// A segment for each `per` bytes acknowledged makes that step: one segment acknowledged at the least, or it would be
// faster than slow start.
static void bic_work_out(struct bic *bic, const struct weir_cc_sample *sample, uint32_t cwnd)
{
    if (bic->per && bic->per_cwnd == cwnd && bic->per_mss == sample->mss &&
        sample->now_us - bic->per_us <= BIC_RENEW_US)
        return;
    const uint32_t segments = cwnd / sample->mss;
    uint32_t count = segments;  // Reno
    if (segments > BIC_LOW_WINDOW) {
        count = bic_count(segments, bic->w_max / sample->mss);
        if (!bic->w_max)
            count = min_u32(count, BIC_FIRST);
        count = (uint32_t)((uint64_t)count * BIC_RATIO_ONE / bic_ratio(bic));
    }
    bic->per = min_u32(max_u32(count, 1), CC_WINDOW_MAX / sample->mss) * sample->mss;
    bic->per_cwnd = cwnd;
    bic->per_mss = sample->mss;
    bic->per_us = sample->now_us;
}

static void bic_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct bic *bic = state;
    if (sample->acked_segments && !sample->acked_again && !sample->in_recovery) {  // EWMA, 15/16
        const uint32_t ratio = bic_ratio(bic), covered = min_u32(sample->acked_segments, BIC_RATIO_MAX);
        bic->ratio = ratio - ratio / 16 + covered * BIC_RATIO_ONE / 16;
    }
    const uint32_t acked = cc_slow_start(&bic->loss, sample, window);
    if (!acked)
        return;
    bic_work_out(bic, sample, window->cwnd);
    cc_grow(&bic->credit, acked, bic->per, sample->mss, window);
}

static void bic_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                      struct weir_cc_window *window)
{
    struct bic *bic = state;
    if (cc_reduces(event)) {
        bic->prior_w_max = bic->w_max;
        // A window that was not reached again makes room for new flows (fast convergence).
        bic->w_max = window->cwnd < bic->w_max ? BIC_CONVERGE(window->cwnd) : window->cwnd;
        if (event == WEIR_CC_RTO)  // what a timeout leaves of the path is not known: the search begins anew
            bic->w_max = 0;
    }
    if (cc_undoes(&bic->loss, event))
        bic->w_max = bic->prior_w_max;
    const uint32_t flight = cc_flight_size(event, sample, window);
    cc_event(&bic->loss, event, sample, window, flight <= BIC_LOW_WINDOW * sample->mss ? flight / 2 : BIC_BETA(flight));
    if (event != WEIR_CC_EXIT_RECOVERY && event != WEIR_CC_EXIT_SLOW_START)
        bic->per = bic->credit = 0;
}

const struct weir_cc weir_cc_bic = {
    .name = "bic", .state_bytes = sizeof(struct bic), .ack = bic_ack, .event = bic_event};
