// SPDX-License-Identifier: BSD-2-Clause
// CUBIC, RFC 9438, in integers. Windows are bytes; a window in the RFC's segments is bytes / mss.
//
// Time is in ticks of 1024 µs. With C = 0.4 the cubic term C (t - K)^3 is, in segments, d^3 * 0.4 * 1.024e-3^3 = d^3 /
// 2^31.117 for a distance d in ticks; CUBIC_RECIPROCAL is that fraction times 2^42, and its result has 10 fractional
// bits. Distances are held below 2^17 ticks (134 s, worth a million segments), so d^3 * CUBIC_RECIPROCAL stays below
// 2^62.
//
// The epoch's clock runs only from one cwnd-limited ACK to the next, so that idle and application-limited times do not
// count (§5.8). Target and pace of growth are worked out eight times a round trip at the most; between, acknowledged
// bytes are only added up.
#include "cc/abe.h"
#include "cc/common.h"

#define CUBIC_DISTANCE_MAX 0x1ffffu
#define CUBIC_ELAPSED_MAX_US 0x10000000u                         // 268 s; beyond, the epoch's clock stands still
#define CUBIC_RECIPROCAL 1889u                                   // 0.4 * 1.073741824e-9 * 2^42
#define CUBIC_TICKS3_PER_SEGMENT 2328306437u                     // 1 / (0.4 * 1.073741824e-9)
#define CUBIC_BETA(x) ((uint32_t)((uint64_t)(x)*717 >> 10))      // 0.7
#define CUBIC_CONVERGE(x) ((uint32_t)((uint64_t)(x)*870 >> 10))  // (1 + beta) / 2
#define CUBIC_ALPHA(x) ((uint32_t)((uint64_t)(x)*34696 >> 16))   // 3 (1 - beta) / (1 + beta) = 9/17

// Everything that a spurious reduction must give back (§4.9.1).
struct cubic_epoch {
    uint32_t w_max;    // 0: no loss yet, or a timeout
    uint32_t origin;   // height of the plateau
    uint32_t k_ticks;  // when the plateau is reached
    uint32_t elapsed_us;
    uint32_t work_out_us;  // elapsed_us at which step and target are worked out again
    uint32_t target;       // cwnd is not raised beyond it before it is worked out again
    uint32_t step;         // bytes to be acknowledged for one segment of growth
    uint32_t credit;       // bytes of that acknowledged so far
    uint32_t w_est;        // what Reno would have (§4.3)
    uint32_t est_credit;
    bool running;
    bool friendly;  // W_cubic is below w_est
};
struct cubic {
    struct cc_loss loss;
    struct cubic_epoch now, prior;
    uint32_t last_us;  // time of the last ACK
};
_Static_assert(sizeof(struct cubic) <= WEIR_CC_STATE_CUBIC, "state of cubic");

// The largest r with r^3 <= x, for x < 2^51 (so r < 2^17), bit by bit.
static uint32_t cube_root(uint64_t x)
{
    uint64_t root = 0;
    for (uint64_t bit = 0x10000; bit; bit >>= 1) {
        const uint64_t guess = root | bit;
        if (guess * guess * guess <= x)
            root = guess;
    }
    return (uint32_t)root;
}

// W_cubic(t) (equation 1), never negative.
static uint32_t cubic_window(const struct cubic_epoch *e, uint32_t t_ticks, uint32_t mss)
{
    const bool below = t_ticks < e->k_ticks;
    const uint64_t d = min_u32(below ? e->k_ticks - t_ticks : t_ticks - e->k_ticks, CUBIC_DISTANCE_MAX);
    const uint64_t bytes = (d * d * d * CUBIC_RECIPROCAL >> 32) * mss >> 10;
    if (below)
        return bytes < e->origin ? e->origin - (uint32_t)bytes : 0;
    return bytes < CC_WINDOW_MAX - e->origin ? e->origin + (uint32_t)bytes : CC_WINDOW_MAX;
}

// Congestion avoidance begins (§4.2): K from how far the plateau is above; already above it, the plateau is here and K
// is 0.
static void cubic_begin(struct cubic_epoch *e, uint32_t cwnd, uint32_t mss)
{
    e->origin = max_u32(e->w_max, cwnd);
    const uint64_t ticks3 = divide_u64((uint64_t)(e->origin - cwnd) * CUBIC_TICKS3_PER_SEGMENT, mss);
    e->k_ticks = cube_root(ticks3 >> 51 ? (1ull << 51) - 1 : ticks3);
    e->elapsed_us = 0;
    e->work_out_us = 0;
    e->credit = e->est_credit = 0;
    e->w_est = cwnd;
    e->running = true;
}

// Reno's window beside it, counting bytes acknowledged, not ACKs (equation 4). RFC 9438 §4.3 lets alpha become 1 above
// the window before the last reduction (SHOULD). Linux keeps it, and so do we: with 1, on paths that lose at random,
// CUBIC has a fifth more than Linux's at 1 and 2 % loss, and more than Reno.
static void cubic_estimate(struct cubic_epoch *e, uint32_t acked, uint32_t cwnd, uint32_t mss)
{
    e->est_credit += CUBIC_ALPHA(acked);
    if (e->est_credit >= cwnd) {
        e->est_credit = min_u32(e->est_credit - cwnd, cwnd);
        e->w_est = min_u32(e->w_est + mss, CC_WINDOW_MAX);
    }
}

// Target and pace of growth for the next eighth of a round trip (§4.4, §4.5): (target - cwnd) / cwnd for each segment
// acknowledged.
static void cubic_work_out(struct cubic_epoch *e, uint32_t cwnd, const struct weir_cc_sample *sample)
{
    e->work_out_us = e->elapsed_us + min_u32(max_u32(sample->srtt_us >> 3, 1024), 32768);
    e->friendly = cubic_window(e, e->elapsed_us >> 10, sample->mss) < e->w_est;
    e->target = cubic_window(e, (e->elapsed_us + min_u32(sample->srtt_us, CUBIC_ELAPSED_MAX_US)) >> 10, sample->mss);
    e->target = max_u32(cwnd, min_u32(e->target, cwnd + cwnd / 2));
    const uint32_t gap = e->target - cwnd;
    const uint64_t step = gap ? divide_u64((uint64_t)cwnd * sample->mss, gap) : CC_WINDOW_MAX;
    e->step = step < CC_WINDOW_MAX ? max_u32((uint32_t)step, 1) : CC_WINDOW_MAX;
}

static void cubic_avoid(struct cubic *cubic, uint32_t acked, const struct weir_cc_sample *sample,
                        struct weir_cc_window *window)
{
    struct cubic_epoch *e = &cubic->now;
    if (!e->running)
        cubic_begin(e, window->cwnd, sample->mss);
    else
        e->elapsed_us = min_u32(e->elapsed_us + min_u32(sample->now_us - cubic->last_us, CUBIC_ELAPSED_MAX_US),
                                CUBIC_ELAPSED_MAX_US);
    cubic_estimate(e, acked, window->cwnd, sample->mss);
    if (e->elapsed_us >= e->work_out_us)
        cubic_work_out(e, window->cwnd, sample);
    e->credit += acked;
    if (e->credit >= e->step) {
        const uint32_t segments = e->credit / e->step;
        e->credit -= segments * e->step;
        // More than the clamp below lets through in one go is never used: no product can overflow.
        const uint32_t grown = window->cwnd + min_u32(segments, 0x4000) * min_u32(sample->mss, 0xffff);
        window->cwnd = max_u32(window->cwnd, min_u32(grown, e->target));
    }
    // in steps, should cwnd have been taken down meanwhile by something else
    if (e->friendly && window->cwnd < e->w_est)
        window->cwnd = min_u32(e->w_est, window->cwnd + min_u32(acked, CC_WINDOW_MAX) + sample->mss);
    window->cwnd = min_u32(window->cwnd, CC_WINDOW_MAX);
}

static void cubic_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct cubic *cubic = state;
    const uint32_t acked = cc_slow_start(&cubic->loss, sample, window);
    if (acked)
        cubic_avoid(cubic, acked, sample, window);
    cubic->last_us = sample->now_us;
}

// §4.6, §4.7, §4.8. w_max is the height just lost, or a little less when the last one was not reached again, to make
// room for new flows; after a timeout it is forgotten: K is 0 and the plateau is where avoidance begins.
static void cubic_reduce(struct cubic *cubic, bool rto, uint32_t cwnd)
{
    const uint32_t w_max = cwnd < cubic->now.w_max ? CUBIC_CONVERGE(cwnd) : cwnd;
    cubic->prior = cubic->now;
    cubic->now = (struct cubic_epoch){.w_max = rto ? 0 : w_max};
}

static void cubic_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                        struct weir_cc_window *window)
{
    struct cubic *cubic = state;
    if (cc_reduces(event))
        cubic_reduce(cubic, event == WEIR_CC_RTO, window->cwnd);
    if (cc_undoes(&cubic->loss, event))
        cubic->now = cubic->prior;
    const uint32_t flight = cc_flight_size(event, sample, window);
    cc_event(&cubic->loss, event, sample, window, abe_reduced(event, flight, CUBIC_BETA(flight), ABE_CUBIC));
    if (event == WEIR_CC_IDLE_RESTART)
        cubic->now.running &= window->cwnd >= window->ssthresh;
    cubic->last_us = sample->now_us;
}

const struct weir_cc weir_cc_cubic = {
    .name = "cubic", .state_bytes = sizeof(struct cubic), .only_grows = true, .ack = cubic_ack, .event = cubic_event};
