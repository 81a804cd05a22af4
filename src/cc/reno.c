// SPDX-License-Identifier: BSD-2-Clause
// Reno: RFC 5681 with byte counting (RFC 3465). How recovery itself sends is TCP's business (RFC 6582, RFC 6675).
#include "cc/common.h"

struct reno {
    uint32_t credit;                      // bytes acknowledged towards the next segment of growth
    uint32_t after_rto;                   // bytes outstanding at a timeout that are not acknowledged yet
    uint32_t prior_cwnd, prior_ssthresh;  // before the last reduction; cwnd 0: nothing to undo
    bool rto;                             // the last reduction was a timeout: slow start goes on through the end of recovery
};
_Static_assert(sizeof(struct reno) <= WEIR_CC_STATE_MAX, "state of reno");

static void reno_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct reno *reno = state;
    // Growing a window that was not used would prove nothing (RFC 7661 §4).
    if (!sample->cwnd_limited || sample->in_recovery || sample->acked == 0)
        return;
    uint32_t acked = sample->acked;
    if (window->cwnd < window->ssthresh) {
        acked = cc_slow_start(sample, window, &reno->after_rto);
        if (window->cwnd < window->ssthresh)
            return;
    }
    // One segment for each window acknowledged (§3.1); the remainder is kept, so nothing is lost to rounding.
    reno->credit += acked;
    if (reno->credit >= window->cwnd) {
        reno->credit = min_u32(reno->credit - window->cwnd, window->cwnd);
        window->cwnd = min_u32(window->cwnd + sample->mss, CC_WINDOW_MAX);
    }
}

static void reno_reduce(struct reno *reno, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    reno->prior_cwnd = window->cwnd;
    reno->prior_ssthresh = window->ssthresh;
    reno->credit = 0;
    reno->after_rto = 0;
    reno->rto = false;
    window->cwnd = window->ssthresh = max_u32(cc_flight_size(sample) / 2, 2 * sample->mss);
}

static void reno_undo(struct reno *reno, struct weir_cc_window *window)
{
    if (reno->prior_cwnd == 0)
        return;
    window->cwnd = max_u32(window->cwnd, reno->prior_cwnd);
    window->ssthresh = max_u32(window->ssthresh, reno->prior_ssthresh);
    reno->prior_cwnd = 0;
    reno->after_rto = 0;
    reno->rto = false;
}

static void reno_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct reno *reno = state;
    switch (event) {
    case WEIR_CC_INIT: cc_init_window(sample, window); break;
    case WEIR_CC_ENTER_RECOVERY:
    case WEIR_CC_ECN: reno_reduce(reno, sample, window); break;
    case WEIR_CC_EXIT_RECOVERY:
        if (!reno->rto)
            window->cwnd = window->ssthresh;
        reno->rto = false;
        break;
    case WEIR_CC_RTO:
        reno_reduce(reno, sample, window);
        window->cwnd = sample->mss;
        reno->after_rto = cc_flight_size(sample);
        reno->rto = true;
        break;
    case WEIR_CC_UNDO: reno_undo(reno, window); break;
    case WEIR_CC_IDLE_RESTART:
        cc_idle_restart(sample, window);
        reno->credit = 0;
        break;
    case WEIR_CC_EXIT_SLOW_START: window->ssthresh = min_u32(window->ssthresh, window->cwnd); break;
    }
}

const struct weir_cc weir_cc_reno = {.name = "reno", .state_bytes = sizeof(struct reno), .ack = reno_ack, .event = reno_event};
