// SPDX-License-Identifier: BSD-2-Clause
// What delay-based algorithms share: the smallest round-trip time of each round trip beside the smallest ever, which is
// taken for the path's without any queue (Brakmo and Peterson, JSAC 1995, section III.C).
#ifndef CC_DELAY_H
#define CC_DELAY_H

#include "base/bytes.h"
#include "weir/cc.h"

#define CC_DELAY_SAMPLES_MIN 3u  // with fewer in a round trip, a delayed ACK could pass for a queue

struct cc_delay {
    uint32_t base_us;  // smallest since the path was last thought to be the same; 0: none yet
    uint32_t rtt_us;   // smallest of this round trip, 0: none yet. Not the mean: late ACKs say nothing of the queue
    uint32_t left;     // bytes to be acknowledged until the round trip is over
    uint16_t samples;
};

// A round trip begins with this ACK: it is over when what is in flight now is acknowledged.
static inline void cc_delay_begin(struct cc_delay *delay, const struct weir_cc_sample *sample)
{
    delay->left = sample->inflight;
    delay->rtt_us = 0;
    delay->samples = 0;
}

// What is known of the path is forgotten, as after idling or a timeout: the route may be another, and so its length.
static inline void cc_delay_forget(struct cc_delay *delay) { *delay = (struct cc_delay){0}; }

static inline uint32_t cc_delay_smaller(uint32_t known_us, uint32_t rtt_us)
{
    return known_us ? min_u32(known_us, rtt_us) : rtt_us;
}

// Takes the sample. true: a round trip is over; the caller looks at it and begins the next.
static inline bool cc_delay_ack(struct cc_delay *delay, const struct weir_cc_sample *sample)
{
    if (sample->rtt_us) {
        delay->base_us = cc_delay_smaller(delay->base_us, sample->rtt_us);
        delay->rtt_us = cc_delay_smaller(delay->rtt_us, sample->rtt_us);
        delay->samples += delay->samples < UINT16_MAX;
    }
    const bool over = sample->acked > delay->left;
    delay->left -= min_u32(delay->left, sample->acked);
    return over;
}

// Bytes of a window that wait in a queue, were its round trip to take rtt_us instead of base_us (not 0): window * (rtt
// - base) / divisor.
static inline uint32_t cc_delay_share(uint32_t window, uint32_t above_us, uint32_t divisor_us)
{
    const uint64_t bytes = (uint64_t)window * above_us / divisor_us;
    return bytes < 0x40000000 ? (uint32_t)bytes : 0x40000000;
}

#endif
