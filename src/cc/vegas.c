// SPDX-License-Identifier: BSD-2-Clause
// Vegas: Brakmo and Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", JSAC 1995. Once a
// round trip it works out how much of the window waits in a queue, and keeps that between two and four segments. A loss
// is answered as Reno does; so is a path that shows fewer than three round-trip times a window.
#include "cc/common.h"
#include "cc/delay.h"

#define VEGAS_ALPHA 2u  // segments in the queue: below, the window grows
#define VEGAS_BETA 4u   // segments in the queue: above, the window shrinks
#define VEGAS_GAMMA 1u  // segments in the queue: above, slow start ends

struct vegas {
    struct cc_loss loss;
    struct cc_delay delay;
    uint32_t credit;  // Reno's
    bool plain;       // this round trip Reno's rule holds: the one before showed too few samples
};
_Static_assert(sizeof(struct vegas) <= WEIR_CC_STATE_VEGAS, "state of vegas");

// By `less`, but for a segment; never below two. Slow start is over then: ssthresh is just below the window.
static void vegas_shrink(struct weir_cc_window *window, uint32_t less, uint32_t mss)
{
    const uint32_t left = max_u32(window->cwnd - min_u32(window->cwnd, less) + mss, 2 * mss);
    window->cwnd = min_u32(window->cwnd, left);
    window->ssthresh = min_u32(window->ssthresh, max_u32(window->cwnd - min_u32(window->cwnd, mss), 2 * mss));
}

// A round trip is over: `above_us` longer than the path.
static void vegas_adapt(const struct vegas *vegas, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    const uint32_t mss = sample->mss, base_us = vegas->delay.base_us, above_us = vegas->delay.rtt_us - base_us;
    const uint32_t queued = cc_delay_share(window->cwnd, above_us, base_us);
    if (window->cwnd < window->ssthresh) {
        if (queued > VEGAS_GAMMA * mss)  // what the path itself holds, and a segment
            vegas_shrink(window, cc_delay_share(window->cwnd, above_us, vegas->delay.rtt_us), mss);
    } else if (queued > VEGAS_BETA * mss) {
        vegas_shrink(window, 2 * mss, mss);
    } else if (queued < VEGAS_ALPHA * mss && sample->cwnd_limited) {
        window->cwnd = min_u32(window->cwnd + mss, CC_WINDOW_MAX);
    }
}

static void vegas_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct vegas *vegas = state;
    if (sample->in_recovery)
        return;
    const bool over = cc_delay_ack(&vegas->delay, sample);
    const bool slow_start = window->cwnd < window->ssthresh;
    const uint32_t acked = cc_slow_start(&vegas->loss, sample, window);
    if (vegas->plain && !slow_start && acked)
        cc_grow(&vegas->credit, acked, window->cwnd, sample->mss, window);
    if (!over)
        return;
    vegas->plain = vegas->loss.after_rto || vegas->delay.samples < CC_DELAY_SAMPLES_MIN;
    if (!vegas->plain)
        vegas_adapt(vegas, sample, window);
    cc_delay_begin(&vegas->delay, sample);
}

static void vegas_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                        struct weir_cc_window *window)
{
    struct vegas *vegas = state;
    if (event == WEIR_CC_RTO || event == WEIR_CC_IDLE_RESTART)
        cc_delay_forget(&vegas->delay);
    cc_event(&vegas->loss, event, sample, window, cc_flight_size(event, sample, window) / 2);
    if (event != WEIR_CC_EXIT_SLOW_START) {
        cc_delay_begin(&vegas->delay, sample);
        vegas->credit = 0;
        vegas->plain = false;
    }
}

const struct weir_cc weir_cc_vegas = {
    .name = "vegas", .state_bytes = sizeof(struct vegas), .ack = vegas_ack, .event = vegas_event};
