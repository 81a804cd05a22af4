// SPDX-License-Identifier: BSD-2-Clause
// What loss-based algorithms share: the initial window, slow start, the answer to idling. Sizes are bytes.
#ifndef CC_COMMON_H
#define CC_COMMON_H

#include "base/bytes.h"
#include "weir/cc.h"

#define CC_WINDOW_MAX 0x40000000u  // 1 GiB, the largest window TCP can express (RFC 7323 §2.3); keeps sums below 2^32

// RFC 6928 §2.
static inline uint32_t cc_initial_window(uint32_t mss) { return min_u32(10 * mss, max_u32(2 * mss, 14600)); }

// FlightSize when something was lost (RFC 5681 equation 4): not cwnd, which an idle application leaves unused.
static inline uint32_t cc_flight_size(const struct weir_cc_sample *sample) { return max_u32(sample->inflight, sample->prior_inflight); }

// Slow start counts bytes (RFC 3465), so an ACK that stands for many segments is worth as many. Only what a timeout left
// behind is worth one segment an ACK (§2.3): that data did not leave the network just now. Returns the acknowledged bytes
// that were not used because ssthresh was reached.
static inline uint32_t cc_slow_start(const struct weir_cc_sample *sample, struct weir_cc_window *window, uint32_t *after_rto)
{
    uint32_t acked = sample->acked;
    if (*after_rto) {
        *after_rto -= min_u32(*after_rto, acked);
        acked = min_u32(acked, sample->mss);
    }
    const uint32_t grown = min_u32(acked, window->ssthresh - window->cwnd);
    window->cwnd = min_u32(window->cwnd + grown, CC_WINDOW_MAX);
    return acked - grown;
}

static inline void cc_init_window(const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    if (window->cwnd == 0) {  // otherwise the algorithm was changed on a live connection
        window->cwnd = cc_initial_window(sample->mss);
        window->ssthresh = WEIR_CC_UNLIMITED;
    }
}

// After idling the window is no longer known to fit the path: begin again, but remember most of it (RFC 2861 §2, RFC 5681 §4.1).
static inline void cc_idle_restart(const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    window->ssthresh = max_u32(window->ssthresh, window->cwnd - window->cwnd / 4);
    window->cwnd = min_u32(window->cwnd, cc_initial_window(sample->mss));
}

#endif
