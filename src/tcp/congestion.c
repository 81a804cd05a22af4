// SPDX-License-Identifier: BSD-2-Clause
// What congestion control is told, through its contract (weir/cc.h): one sample for each acknowledgement, and the
// events.
#include "tcp/internal.h"

void tcp_cc_event_at(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event, uint32_t prior_inflight)
{
    const uint32_t inflight = flight_outstanding(c->flow->flight);
    struct weir_cc_sample sample = {
        .now_us = weir->now,
        .inflight = inflight,
        .prior_inflight = max_u32(inflight, prior_inflight),
        .mss = c->mss,
        .srtt_us = rtt_smoothed(&c->rtt),
        .min_rtt_us = c->rtt.min_us,
        .in_recovery = (c->attention & ATTEND_FAST_RECOVERY) != 0,
    };
    if (tcp_cc(weir, c)->wants_rate)
        tcp_rate_event(weir, c, &sample);
    tcp_cc(weir, c)->event(c->flow->cc_state, event, &sample, &c->flow->window);
    trace_congestion(weir, c, event);
}

void tcp_cc_event(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event)
{
    tcp_cc_event_at(weir, c, event, 0);
}

void tcp_cc_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked,
                uint32_t inflight, uint32_t prior_inflight)
{
    const struct weir_cc *cc = tcp_cc(weir, c);
    const uint32_t cwnd = c->flow->window.cwnd;
    const bool slow_start = cwnd < c->flow->window.ssthresh;
    // What waits for its moment waits for the window if half of that is used: TCP's own rate lets it be, a limit of the
    // user's may not.
    const bool stopped = (c->flags & TCP_CWND_LIMITED) != 0;
    const bool cwnd_limited =
        (stopped && !tcp_pacing_held(c)) || ((stopped || slow_start) && tcp_half_used(c, prior_inflight));
    const bool recovering = (c->attention & ATTEND_FAST_RECOVERY) != 0 || tcp_ecn_reducing(c);
    const uint32_t rtt_us = delta->rtt_valid ? max_u32(weir->now - delta->rtt_sent_us, 1) : 0;
    uint32_t held = 0;
    if (c->flow->window.ssthresh == WEIR_CC_UNLIMITED) {  // the first slow start: later ones know where it ends
        if (WEIR_CFG_TCP_REFINEMENTS && acked && !recovering && !cc->owns_slow_start)
            held = tcp_hystart_ack(weir, c, rtt_us, acked, cwnd_limited);
        if (WEIR_CFG_TCP_PREDICT && cc->only_grows && !cwnd_limited)
            return;
    }
    struct weir_cc_sample sample = {
        .now_us = weir->now,
        .acked = acked,
        .acked_again = acked - min_u32(acked, delta->delivered - delta->sacked),
        .slow_start_held = held,
        .sacked = delta->sacked,
        .lost = delta->newly_lost,
        .ce = delta->ce,
        .inflight = inflight,
        .prior_inflight = prior_inflight,
        .mss = c->mss,
        .rtt_us = rtt_us,
        .srtt_us = rtt_smoothed(&c->rtt),
        .min_rtt_us = c->rtt.min_us,
        .acked_segments = acked <= c->mss ? acked != 0 : (uint16_t)min_u32((acked + c->mss - 1) / c->mss, UINT16_MAX),
        .app_limited = !cwnd_limited,
        .cwnd_limited = cwnd_limited,
        .in_recovery = recovering,
    };
    if (WEIR_CFG_TCP_RATE && cc->wants_rate)
        tcp_rate_sample(weir, c, delta, &sample);
    cc->ack(c->flow->cc_state, &sample, &c->flow->window);
}
