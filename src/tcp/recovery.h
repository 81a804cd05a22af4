// SPDX-License-Identifier: BSD-2-Clause
// recovery.c, and what output and prediction ask each segment of the files that watch losses and the window: hystart.c,
// tlp.c, frto.c, cwv.c.
#ifndef TCP_RECOVERY_H
#define TCP_RECOVERY_H

#include "tcp/conn_state.h"

// What an acknowledgement said, beside what the log made of it.
struct tcp_ack_info {
    const struct tcp_segment *segment;
    uint32_t acked;           // bytes cumulatively acknowledged
    uint32_t prior_inflight;  // tcp_recovery_pipe before it
    bool duplicate;           // RFC 5681 §2
    bool reports_duplicate;   // RFC 2883
};
void tcp_recovery_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta,
                      const struct tcp_ack_info *news);
void tcp_recovery_timeout(struct weir *weir, struct tcp_conn *c);
void tcp_recovery_again(struct tcp_conn *c);                       // all that is in flight goes again: it was refused
void tcp_recovery_reorder(struct weir *weir, struct tcp_conn *c);  // the timer that RACK asked for
void tcp_recovery_probe(struct weir *weir, struct tcp_conn *c);    // the first hole is filled anew
uint32_t tcp_recovery_pipe(const struct tcp_conn *c);
void tcp_scoreboard_changed(struct tcp_conn *c);  // the flight log was marked, or marks have left it

#if WEIR_CFG_TCP_REFINEMENTS
static inline void tcp_cwv_acked(struct weir *weir, struct tcp_conn *c)
{
    if (!seq_lt(c->snd.una, c->flow->cwv.round_end) &&
        (c->flags & TCP_CWND_LIMITED || c->attention & ATTEND_RECOVERY ||
         !tcp_cwv_glance(&c->flow->cwv, weir->now_ms, c->snd.una, c->snd.nxt)))
        tcp_cwv_round(weir, c);
}
static inline void tcp_cwv_resent(struct tcp_conn *c, uint32_t bytes) { c->flow->cwv.resent += bytes; }
// In slow start half a window in flight, now or as the round trip began, already says that the window, not the
// application, is the limit (RFC 7661 §4.1): a burst of just cwnd is acknowledged piece by piece.
static inline bool tcp_half_used(const struct tcp_conn *c, uint32_t prior_inflight)
{
    return max_u32(prior_inflight, tcp_cwv_burst(&c->flow->cwv)) > c->flow->window.cwnd / 2;
}
#else
static inline bool tcp_half_used(const struct tcp_conn *c, uint32_t prior_inflight)
{
    return prior_inflight > c->flow->window.cwnd / 2;
}
static inline void tcp_cwv_acked(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_cwv_resent(struct tcp_conn *c, uint32_t bytes) { (void)c, (void)bytes; }
#endif
#if WEIR_CFG_TCP_REFINEMENTS
static inline bool tcp_hystart_calm(struct tcp_conn *c, uint32_t rtt_us)
{
    return tcp_hystart_glance(&c->flow->hystart, c->snd.una, c->snd.nxt, rtt_us);
}
#else
static inline bool tcp_hystart_calm(struct tcp_conn *c, uint32_t rtt_us) { return (void)c, (void)rtt_us, true; }
#endif
// An acknowledgement that prediction takes is of the newest delivered, too, sent `age_us` ago (RFC 8985 §6.2, step 1):
// a timeout goes by it.
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline void tcp_rack_predicted(struct tcp_flow *flow, uint32_t age_us) { flow->rack.rtt_us = age_us; }
#else
static inline void tcp_rack_predicted(struct tcp_flow *flow, uint32_t age_us) { (void)flow, (void)age_us; }
#endif
// Holes are being filled, or something lies beyond one.
static inline bool tcp_filling(const struct tcp_conn *c)
{
    return c->attention & ATTEND_RECOVERY || c->flow->flight->sacked;
}
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline bool tcp_tlp_due(const struct tcp_conn *c) { return c->attention & ATTEND_TLP_DUE; }
// Of tcp_tlp_least, what neither round trip nor clock adds to.
static inline uint32_t tcp_tlp_floor(const struct tcp_conn *c)
{
    return c->snd.nxt - c->snd.una <= c->mss ? TLP_SLACK_US + TLP_MAX_ACK_DELAY_US : TLP_SLACK_US;
}
static inline bool tcp_tlp_waiting(const struct tcp_conn *c) { return c->attention & ATTEND_TLP_OUT; }
static inline bool tcp_tlp_ticked(const struct tcp_conn *c) { return c->flow->tlp.ticked; }
#else
static inline bool tcp_tlp_due(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_tlp_floor(const struct tcp_conn *c) { return (void)c, INT32_MAX; }
static inline bool tcp_tlp_waiting(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_tlp_ticked(const struct tcp_conn *c) { return (void)c, false; }
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline bool tcp_frto_new_data_first(const struct tcp_conn *c) { return c->flow && c->flow->frto.step == 2; }
static inline void tcp_frto_off(struct tcp_conn *c) { c->flow->frto.step = 0; }
#else
static inline bool tcp_frto_new_data_first(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_frto_off(struct tcp_conn *c) { (void)c; }
#endif

#endif
