// SPDX-License-Identifier: BSD-2-Clause
// Reno: RFC 5681 with byte counting (RFC 3465). How recovery itself sends is TCP's business (RFC 6582, RFC 6675).
#include "cc/abe.h"
#include "cc/common.h"

struct reno {
    struct cc_loss loss;
    uint32_t credit;  // bytes acknowledged towards the next segment of growth
};
_Static_assert(sizeof(struct reno) <= WEIR_CC_STATE_RENO, "state of reno");

static void reno_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct reno *reno = state;
    const uint32_t acked = cc_slow_start(&reno->loss, sample, window);
    if (acked && window->cwnd >= window->ssthresh)
        // one segment for each window acknowledged (§3.1)
        cc_grow(&reno->credit, acked, window->cwnd, sample->mss, window);
}

static void reno_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                       struct weir_cc_window *window)
{
    struct reno *reno = state;
    if (cc_reduces(event) || event == WEIR_CC_IDLE_RESTART)
        reno->credit = 0;
    const uint32_t flight = cc_flight_size(event, sample, window);
    cc_event(&reno->loss, event, sample, window, abe_reduced(event, flight, flight / 2, ABE_RENO));
}

const struct weir_cc weir_cc_reno = {
    .name = "reno", .state_bytes = sizeof(struct reno), .only_grows = true, .ack = reno_ack, .event = reno_event};
