// SPDX-License-Identifier: BSD-2-Clause
#include "cc/common.h"

static void cc_reduce(struct cc_loss *loss, const struct weir_cc_sample *sample, struct weir_cc_window *window,
                      uint32_t ssthresh)
{
    *loss = (struct cc_loss){.prior_cwnd = window->cwnd, .prior_ssthresh = window->ssthresh};
    window->cwnd = window->ssthresh = min_u32(max_u32(ssthresh, 2 * sample->mss), CC_WINDOW_MAX);
}

static void cc_undo(struct cc_loss *loss, struct weir_cc_window *window)
{
    if (!loss->prior_cwnd)
        return;
    window->cwnd = max_u32(window->cwnd, loss->prior_cwnd);
    window->ssthresh = max_u32(window->ssthresh, loss->prior_ssthresh);
    *loss = (struct cc_loss){.keep = true};
}

static void cc_begin(const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    window->pacing_rate = 0;  // the algorithm before this one may have paced
    window->burst_segments = 0;
    if (window->cwnd)  // the algorithm was changed on a live connection: what the path taught stays
        return;
    window->cwnd = weir_cc_initial_window(sample->mss);
    window->ssthresh = WEIR_CC_UNLIMITED;
}

void cc_event(struct cc_loss *loss, enum weir_cc_event event, const struct weir_cc_sample *sample,
              struct weir_cc_window *window, uint32_t ssthresh)
{
    switch (event) {
    case WEIR_CC_INIT: cc_begin(sample, window); break;
    case WEIR_CC_ENTER_RECOVERY:
    case WEIR_CC_ECN: cc_reduce(loss, sample, window, ssthresh); break;
    case WEIR_CC_EXIT_RECOVERY:
        if (!loss->keep)
            window->cwnd = window->ssthresh;
        loss->keep = false;
        break;
    case WEIR_CC_RTO:
        cc_reduce(loss, sample, window, ssthresh);
        window->cwnd = sample->mss;
        loss->after_rto = cc_flight_size(event, sample, window);
        loss->keep = true;
        break;
    case WEIR_CC_UNDO: cc_undo(loss, window); break;
    case WEIR_CC_IDLE_RESTART:  // it is no longer known to fit the path: begin again, but remember most of it (RFC 2861
                                // §2, RFC 5681 §4.1)
        window->ssthresh = max_u32(window->ssthresh, window->cwnd - window->cwnd / 4);
        window->cwnd = min_u32(window->cwnd, weir_cc_initial_window(sample->mss));
        break;
    case WEIR_CC_EXIT_SLOW_START: window->ssthresh = min_u32(window->ssthresh, window->cwnd); break;
    }
}

// Bytes are counted (RFC 3465), so an ACK that stands for many segments is worth as many. Only what a timeout left
// behind is worth one segment an ACK (§2.3): that data did not leave the network just now.
uint32_t cc_slow_start(struct cc_loss *loss, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    uint32_t acked = sample->acked - min_u32(sample->acked, sample->acked_again);
    if (loss->after_rto) {
        loss->after_rto -= min_u32(loss->after_rto, sample->acked);
        acked = min_u32(acked, sample->mss);
    }
    if (!sample->cwnd_limited || sample->in_recovery)
        return 0;
    if (window->cwnd >= window->ssthresh)
        return acked;
    acked -= min_u32(acked, sample->slow_start_held);
    const uint32_t grown = min_u32(acked, window->ssthresh - window->cwnd);
    window->cwnd = min_u32(window->cwnd + grown, CC_WINDOW_MAX);
    return acked - grown;
}

void cc_grow(uint32_t *credit, uint32_t acked, uint32_t per, uint32_t mss, struct weir_cc_window *window)
{
    *credit += min_u32(acked, CC_WINDOW_MAX);
    if (*credit < per)
        return;
    const uint32_t segments = min_u32(*credit / per, max_u32(acked / mss, 1));
    *credit = min_u32(*credit - segments * per, per);
    window->cwnd = min_u32(window->cwnd + segments * mss, CC_WINDOW_MAX);
}
