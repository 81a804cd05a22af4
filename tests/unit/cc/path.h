// SPDX-License-Identifier: BSD-2-Clause
// An algorithm and the path it believes in: a test says how long round trips take and what is lost, and looks at the
// window.
//
//     struct path_flow f;
//     flow_open(&f, &weir_cc_vegas);
//     flow_round(&f, 2 * MSS, 20000);   // the whole window is acknowledged within 20 ms, two segments an ACK
//     flow_lose(&f);                    // fast recovery, from beginning to end
#ifndef TESTS_CC_PATH_H
#define TESTS_CC_PATH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weir/cc.h"

#define MSS 1448u

struct path_flow {
    const struct weir_cc *cc;
    _Alignas(8) uint8_t state[WEIR_CC_STATE_MAX];
    struct weir_cc_window window;
    uint32_t now_us, srtt_us, min_us;
};

static inline struct weir_cc_sample flow_sample(const struct path_flow *f)
{
    return (struct weir_cc_sample){
        .mss = MSS, .now_us = f->now_us, .srtt_us = f->srtt_us, .min_rtt_us = f->min_us, .cwnd_limited = true};
}

static inline void flow_event(struct path_flow *f, enum weir_cc_event event, uint32_t inflight)
{
    struct weir_cc_sample sample = flow_sample(f);
    sample.inflight = sample.prior_inflight = inflight;
    sample.cwnd_limited = false;
    f->cc->event(f->state, event, &sample, &f->window);
}

static inline void flow_open(struct path_flow *f, const struct weir_cc *cc)
{
    // the clock wraps in every longer test
    *f = (struct path_flow){.cc = cc, .now_us = 0xfff00000u, .min_us = WEIR_CC_UNLIMITED};
    flow_event(f, WEIR_CC_INIT, 0);
}

// In congestion avoidance with so many segments.
static inline void flow_avoid(struct path_flow *f, const struct weir_cc *cc, uint32_t segments)
{
    flow_open(f, cc);
    f->window.cwnd = f->window.ssthresh = segments * MSS;
}

static inline void flow_ack(struct path_flow *f, uint32_t bytes, uint32_t rtt_us)
{
    f->srtt_us = rtt_us ? rtt_us : f->srtt_us;
    f->min_us = rtt_us && rtt_us < f->min_us ? rtt_us : f->min_us;
    struct weir_cc_sample sample = flow_sample(f);
    sample.acked = bytes;
    sample.acked_segments = (uint16_t)((bytes + MSS - 1) / MSS);
    sample.rtt_us = rtt_us;
    sample.prior_inflight = f->window.cwnd;
    sample.inflight = f->window.cwnd > bytes ? f->window.cwnd - bytes : 0;
    f->cc->ack(f->state, &sample, &f->window);
}

// A round trip: the window as it is now is acknowledged, `each` bytes an ACK, evenly.
static inline void flow_round(struct path_flow *f, uint32_t each, uint32_t rtt_us)
{
    const uint32_t acks = (f->window.cwnd + each - 1) / each;
    const uint32_t end_us = f->now_us + rtt_us;
    for (uint32_t i = 0; i < acks; i++) {
        f->now_us += rtt_us / acks;
        flow_ack(f, each, rtt_us);
    }
    f->now_us = end_us;
}

static inline void flow_rounds(struct path_flow *f, int count, uint32_t rtt_us)
{
    for (int i = 0; i < count; i++)
        flow_round(f, 2 * MSS, rtt_us);
}

static inline void flow_lose(struct path_flow *f)
{
    flow_event(f, WEIR_CC_ENTER_RECOVERY, f->window.cwnd);
    flow_event(f, WEIR_CC_EXIT_RECOVERY, f->window.cwnd);
}

static inline uint32_t flow_segments(const struct path_flow *f) { return f->window.cwnd / MSS; }

#endif
