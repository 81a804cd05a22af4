// SPDX-License-Identifier: BSD-2-Clause
// H-TCP: Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
// draft-leith-tcp-htcp-06. The longer the last congestion event is past, the faster the window grows; and it shrinks
// only so far that the queue runs empty (beta from the round-trip times), unless the throughput has changed.
#include "cc/common.h"

#define HTCP_BETA_MIN 64u   // 0.5, in 128ths
#define HTCP_BETA_MAX 102u  // 0.8
#define HTCP_SECOND_US 1000000u
#define HTCP_PAST_MAX_US 100000000u  // the time since the last event stands still there: alpha is 3441 by then
#define HTCP_SCALE_RTT_US 100000u    // the round trip at which alpha is as the formula says
#define HTCP_RTT_RISE_US 20000u      // a round trip longer by more is an outlier, not a queue
#define HTCP_ADAPT_RTT_US 10000u     // shorter round trips are too coarse for a ratio of two

// What a spurious reduction must give back.
struct htcp_path {
    uint32_t past_us;      // since the last congestion event, or the recovery from it, ended (the draft's Delta)
    uint32_t max_us;       // largest round trip, fading; 0: none yet
    uint32_t rate_max;     // largest throughput since the last event, bytes/s
    uint32_t rate_before;  // largest throughput between the two events before
    uint8_t beta;          // 128ths; 0: as at first
    bool adaptive;         // the throughput has not changed: beta may follow the round-trip times
};
struct htcp {
    struct cc_loss loss;
    struct htcp_path now, prior;
    uint32_t credit;
    uint32_t last_us;              // time of the last ACK
    uint32_t alpha;                // segments a round trip, 128ths
    uint32_t rate;                 // throughput, smoothed, bytes/s
    uint32_t rate_bytes, rate_us;  // delivered so far of the next sample, and in what time
    uint32_t min_us;               // smallest round trip of a full segment; 0: none yet
};
_Static_assert(sizeof(struct htcp) <= WEIR_CC_STATE_HTCP, "state of htcp");

static uint8_t htcp_beta(const struct htcp *htcp) { return htcp->now.beta ? htcp->now.beta : HTCP_BETA_MIN; }

// alpha = 2 (1 - beta) (1 + 10 (D - 1) + ((D - 1) / 2)^2), D in seconds and not below 1, scaled by the round-trip time
// so that flows on short paths do not outrun those on long ones; yet never slower than a Reno that backs off by beta.
static uint32_t htcp_alpha(const struct htcp *htcp, uint32_t min_rtt_us)
{
    uint64_t factor = 128;
    if (htcp->now.past_us > HTCP_SECOND_US) {
        const uint64_t over = htcp->now.past_us - HTCP_SECOND_US;
        factor += 1280 * over / HTCP_SECOND_US + 32 * over * over / HTCP_SECOND_US / HTCP_SECOND_US;
    }
    if (min_rtt_us != WEIR_CC_UNLIMITED) {
        // 0: less than a tick
        const uint32_t rtt_us = max_u32(min_u32(min_rtt_us, 2 * HTCP_SCALE_RTT_US), HTCP_SCALE_RTT_US / 10);
        factor = factor * rtt_us / HTCP_SCALE_RTT_US;
    }
    return (uint32_t)(2 * (factor > 128 ? factor : 128) * (128 - htcp_beta(htcp)) >> 7);
}

// The throughput, a sample a round trip. Those just after a reduction are taken as they are.
static void htcp_measure_rate(struct htcp *htcp, const struct weir_cc_sample *sample, uint32_t passed_us, uint32_t cwnd)
{
    htcp->rate_bytes = min_u32(htcp->rate_bytes + min_u32(sample->acked, CC_WINDOW_MAX), CC_WINDOW_MAX);
    htcp->rate_us = min_u32(htcp->rate_us + passed_us, HTCP_PAST_MAX_US);
    if (sample->min_rtt_us == WEIR_CC_UNLIMITED || htcp->rate_us < max_u32(sample->min_rtt_us, 1) ||
        htcp->rate_bytes < cwnd - min_u32(cwnd, (htcp->alpha >> 7) * sample->mss))
        return;
    const uint64_t rate = (uint64_t)htcp->rate_bytes * HTCP_SECOND_US / htcp->rate_us;
    const uint32_t sampled = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
    if (htcp->now.past_us / max_u32(sample->min_rtt_us, 1) <= 3) {
        htcp->rate = htcp->now.rate_max = sampled;
    } else {
        htcp->rate = (uint32_t)((3 * (uint64_t)htcp->rate + sampled) / 4);
        htcp->now.rate_max = max_u32(htcp->now.rate_max, htcp->rate);
    }
    htcp->rate_bytes = htcp->rate_us = 0;
}

static void htcp_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct htcp *htcp = state;
    const uint32_t passed_us = min_u32(sample->now_us - htcp->last_us, HTCP_PAST_MAX_US);
    htcp->last_us = sample->now_us;
    htcp->now.past_us = min_u32(htcp->now.past_us + passed_us, HTCP_PAST_MAX_US);
    const uint32_t full_us = cc_full_rtt(sample);
    if (full_us && (!htcp->min_us || full_us < htcp->min_us))
        htcp->min_us = full_us;
    if (!sample->in_recovery) {
        const uint32_t rtt_us = min_u32(sample->srtt_us, HTCP_PAST_MAX_US),
                       least_us = htcp->now.max_us ? htcp->now.max_us : rtt_us;
        if (rtt_us >= least_us && rtt_us <= least_us + HTCP_RTT_RISE_US)
            htcp->now.max_us = rtt_us;
        htcp_measure_rate(htcp, sample, passed_us, window->cwnd);
    }
    const uint32_t acked = cc_slow_start(&htcp->loss, sample, window);
    if (!acked)
        return;
    if (!htcp->alpha || htcp->credit < sample->mss)  // about once a segment of growth
        htcp->alpha = htcp_alpha(htcp, sample->min_rtt_us);
    const uint64_t per = ((uint64_t)window->cwnd << 7) / max_u32(htcp->alpha, 1);
    cc_grow(&htcp->credit, acked, max_u32(per < CC_WINDOW_MAX ? (uint32_t)per : CC_WINDOW_MAX, 1), sample->mss, window);
}

// beta = RTTmin / RTTmax within [0.5, 0.8]; 0.5 when the throughput has changed by more than a fifth since the event
// before.
static void htcp_adapt(struct htcp *htcp)
{
    struct htcp_path *now = &htcp->now;
    const uint64_t rate = now->rate_max, before = now->rate_before;
    const bool steady = 5 * rate >= 4 * before && 5 * rate <= 6 * before;
    const bool usable = htcp->min_us > HTCP_ADAPT_RTT_US && now->max_us;
    now->rate_before = now->rate_max;
    now->beta = HTCP_BETA_MIN;
    if (steady && now->adaptive && usable)
        now->beta = (uint8_t)max_u32(min_u32((uint32_t)(((uint64_t)htcp->min_us << 7) / now->max_us), HTCP_BETA_MAX),
                                     HTCP_BETA_MIN);
    now->adaptive = steady;
    if (usable && now->max_us > htcp->min_us)  // fades, so that a route that became shorter is noticed
        now->max_us = htcp->min_us + (uint32_t)((uint64_t)(now->max_us - htcp->min_us) * 95 / 100);
}

static void htcp_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                       struct weir_cc_window *window)
{
    struct htcp *htcp = state;
    const uint32_t passed_us = min_u32(sample->now_us - htcp->last_us, HTCP_PAST_MAX_US);
    if (event != WEIR_CC_INIT) {
        htcp->now.past_us = min_u32(htcp->now.past_us + passed_us, HTCP_PAST_MAX_US);
        htcp->prior.past_us = min_u32(htcp->prior.past_us + passed_us, HTCP_PAST_MAX_US);
    }
    htcp->last_us = sample->now_us;
    if (cc_reduces(event)) {
        htcp->prior = htcp->now;
        htcp_adapt(htcp);
        htcp->now.past_us = 0;
        htcp->credit = htcp->rate_bytes = htcp->rate_us = 0;
        htcp->alpha = 0;
    }
    if (event == WEIR_CC_EXIT_RECOVERY)
        htcp->now.past_us = 0;
    if (cc_undoes(&htcp->loss, event)) {
        htcp->now = htcp->prior;
        htcp->alpha = 0;
    }
    cc_event(&htcp->loss, event, sample, window,
             (uint32_t)((uint64_t)cc_flight_size(event, sample, window) * htcp_beta(htcp) >> 7));
}

const struct weir_cc weir_cc_htcp = {
    .name = "htcp", .state_bytes = sizeof(struct htcp), .ack = htcp_ack, .event = htcp_event};
