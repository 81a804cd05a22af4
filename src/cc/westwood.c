// SPDX-License-Identifier: BSD-2-Clause
// Westwood+: Mascolo, Grieco and others, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP
// congestion control", CCR 2004. The window grows as Reno's; after a loss it is what the path holds: the bandwidth
// measured, times the smallest round-trip time. So a loss that has nothing to do with a queue costs nothing.
#include "cc/common.h"

// the bandwidth is measured over a round trip, at least so long: ACKs come in bunches
#define WESTWOOD_SAMPLE_US 50000u
#define WESTWOOD_SECOND_US 1000000u

struct westwood {
    struct cc_loss loss;
    uint32_t credit;
    uint32_t last_us;           // time of the last ACK
    uint32_t bytes, passed_us;  // delivered since the last sample, and in what time
    uint32_t rtt_us;            // newest
    uint32_t min_us;            // smallest of a full segment since the last timeout; 0: none
    uint32_t once, twice;       // bandwidth, bytes/s, filtered once and twice; 0: none yet
    bool renew;                 // a timeout: the next round-trip time is the smallest known
};
_Static_assert(sizeof(struct westwood) <= WEIR_CC_STATE_WESTWOOD, "state of westwood");

static void westwood_measure(struct westwood *westwood, const struct weir_cc_sample *sample)
{
    const uint32_t full_us = cc_full_rtt(sample);
    if (sample->rtt_us)
        westwood->rtt_us = sample->rtt_us;
    if (full_us) {
        westwood->min_us = westwood->min_us && !westwood->renew ? min_u32(westwood->min_us, full_us) : full_us;
        westwood->renew = false;
    }
    westwood->passed_us += min_u32(sample->now_us - westwood->last_us, CC_WINDOW_MAX);
    westwood->last_us = sample->now_us;
    // The sample ends before this ACK: what it acknowledges is of the next.
    if (westwood->rtt_us &&
        westwood->passed_us > max_u32(min_u32(westwood->rtt_us, CC_WINDOW_MAX), WESTWOOD_SAMPLE_US)) {
        const uint64_t rate = (uint64_t)westwood->bytes * WESTWOOD_SECOND_US / westwood->passed_us;
        const uint32_t sampled = rate < UINT32_MAX ? (uint32_t)rate : UINT32_MAX;
        // the first is taken as it is: a filter that begins at 0 would be long in coming
        if (!westwood->once && !westwood->twice) {
            westwood->once = westwood->twice = sampled;
        } else {
            westwood->once = westwood->once - westwood->once / 8 + sampled / 8;
            westwood->twice = westwood->twice - westwood->twice / 8 + westwood->once / 8;
        }
        westwood->bytes = westwood->passed_us = 0;
    }
    // Every byte counts when it came: out of order when it is SACKed, and not again when the hole before it is filled.
    const uint64_t delivered = (uint64_t)sample->acked - min_u32(sample->acked, sample->acked_again) + sample->sacked;
    westwood->bytes =
        (uint32_t)(westwood->bytes + delivered < CC_WINDOW_MAX ? westwood->bytes + delivered : CC_WINDOW_MAX);
}

static void westwood_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct westwood *westwood = state;
    westwood_measure(westwood, sample);
    const uint32_t acked = cc_slow_start(&westwood->loss, sample, window);
    if (acked)
        cc_grow(&westwood->credit, acked, window->cwnd, sample->mss, window);
}

// Bandwidth times smallest round trip; half the flight, as Reno, until both are known.
static uint32_t westwood_holds(const struct westwood *westwood, uint32_t flight)
{
    if (!westwood->twice || !westwood->min_us)
        return flight / 2;
    const uint64_t bytes = (uint64_t)westwood->twice * westwood->min_us / WESTWOOD_SECOND_US;
    return bytes < CC_WINDOW_MAX ? (uint32_t)bytes : CC_WINDOW_MAX;
}

static void westwood_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                           struct weir_cc_window *window)
{
    struct westwood *westwood = state;
    // A bandwidth of before and a round trip that grew since may come to more than ever was in flight: what shrinks the
    // window never opens it.
    const uint32_t before = event == WEIR_CC_EXIT_RECOVERY ? westwood->loss.prior_cwnd : window->cwnd;
    const uint32_t holds = min_u32(westwood_holds(westwood, cc_flight_size(event, sample, window)),
                                   max_u32(before, sample->prior_inflight));
    if (event == WEIR_CC_INIT)
        westwood->last_us = sample->now_us;
    if (event == WEIR_CC_EXIT_RECOVERY && westwood->twice && !westwood->loss.keep)  // recovery has measured on
        window->ssthresh = max_u32(holds, 2 * sample->mss);
    if (cc_reduces(event) || event == WEIR_CC_IDLE_RESTART)
        westwood->credit = 0;
    // In recovery half the flight goes, and what the path holds is asked at its end (Linux): until then a queue can
    // drain.
    const uint32_t half = cc_flight_size(event, sample, window) / 2;
    cc_event(&westwood->loss, event, sample, window, event == WEIR_CC_ENTER_RECOVERY ? half : holds);
    westwood->renew |= event == WEIR_CC_RTO;
}

const struct weir_cc weir_cc_westwood = {
    .name = "westwood", .state_bytes = sizeof(struct westwood), .ack = westwood_ack, .event = westwood_event};
