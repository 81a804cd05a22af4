// SPDX-License-Identifier: BSD-2-Clause
// What the tests of both models of BBR share: acknowledgements made by hand, and what came of them.
#ifndef TESTS_CC_BBR_SAMPLES_H
#define TESTS_CC_BBR_SAMPLES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bottleneck.h"

#define MSS 1448u
#define RTT 20000u
#define MBIT 125000u  // bytes/s
#define SECOND 1000000u

static const struct weir_cc *model;
static _Alignas(8) uint8_t cc_state[WEIR_CC_STATE_MAX];
static struct weir_cc_window window;
static uint32_t now_us, total, lost_total, rtt_us, lost_now, inflight_now;
static bool app_limited, clock_coarse, sent_again;  // sent_again: what was in flight is not known of it

static inline struct weir_cc_sample sample_now(void)
{
    return (struct weir_cc_sample){.now_us = now_us,
                                   .mss = MSS,
                                   .srtt_us = RTT,
                                   .min_rtt_us = RTT,
                                   .inflight = inflight_now,
                                   .prior_inflight = inflight_now,
                                   .clock_coarse = clock_coarse,
                                   .total_delivered = total,
                                   .total_lost = lost_total};
}
static inline void event(enum weir_cc_event what)
{
    const struct weir_cc_sample sample = sample_now();
    model->event(cc_state, what, &sample, &window);
}
static inline void bbr_begin(const struct weir_cc *cc)
{
    model = cc;
    memset(cc_state, 0, sizeof cc_state);
    window = (struct weir_cc_window){0};
    now_us = 0xfff00000u;  // clock and counters wrap in every longer test
    total = 0xfffff000u;
    lost_total = lost_now = inflight_now = 0;
    rtt_us = RTT;
    app_limited = clock_coarse = sent_again = false;
    event(WEIR_CC_INIT);
}
// One acknowledgement of `bytes`, whose newest segment was sent when `prior` was delivered, at this delivery rate over
// `interval_us`.
static inline void ack(uint32_t bytes, uint32_t prior, uint32_t rate, uint32_t interval_us, bool round_start)
{
    total += bytes;
    lost_total += lost_now;
    struct weir_cc_sample sample = sample_now();
    sample.acked = bytes;
    sample.lost = lost_now;
    sample.rtt_us = rtt_us;
    sample.app_limited = app_limited;
    sample.cwnd_limited = true;
    sample.round_start = round_start;
    sample.delivered = (uint32_t)((uint64_t)rate * interval_us / SECOND);
    sample.interval_us = interval_us;
    sample.prior_delivered = prior;
    sample.tx_inflight = sent_again ? 0 : inflight_now;
    model->ack(cc_state, &sample, &window);
}
// A round trip: ten acknowledgements of what arrives at `rate`; the first begins the round.
static inline void round_trip(uint32_t rate)
{
    const uint32_t bytes = (uint32_t)((uint64_t)rate * RTT / SECOND / 10), prior = total;
    for (uint32_t i = 0; i < 10; i++) {
        now_us += RTT / 10;
        ack(bytes, prior, rate, RTT, i == 0);
    }
}
static inline uint32_t product(uint32_t rate) { return (uint32_t)((uint64_t)rate * RTT / SECOND); }
static inline void near(uint32_t got, uint32_t want, uint32_t per_mille)
{
    const uint32_t slack = (uint32_t)((uint64_t)want * per_mille / 1000);
    if (got + slack < want || got > want + slack)
        fail_msg("%u is not within %u/1000 of %u", got, per_mille, want);
}

#endif
