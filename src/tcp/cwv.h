// SPDX-License-Identifier: BSD-2-Clause
// Congestion window validation (RFC 7661): how much of cwnd a flow has lately been using, pipeACK. Where that is less
// than half, as with an application that sends at a rate of its own, cwnd is not validated: it says nothing about the
// path. It may be kept, so that the application can go faster at once, but not for ever, and a loss then is answered by
// what was in use and not by what was allowed. (A pause longer than the RTO is answered as RFC 5681 §4.1 has it: the
// window of before is not kept over it.)
#ifndef TCP_CWV_H
#define TCP_CWV_H

#include "base/bytes.h"
#include "weir/options.h"

struct weir;
struct tcp_conn;

#define CWV_PERIOD_LEAST_MS 1000u  // §4.2: three round trips, at least so long
#define CWV_PARTS 4u               // of the sampling period, each with its peak

#if WEIR_CFG_TCP_REFINEMENTS
// Of a flow.
struct tcp_cwv {
    uint32_t from, round_end;  // snd.una and snd.nxt when the sample under way began; equal: nothing was in flight
    uint32_t peak[CWV_PARTS];  // greatest sample of each part of the period; [0] is this part
    uint32_t greatest;         // of all parts
    uint32_t part_ms;          // when it began
    uint32_t phase_ms;         // when the non-validated phase began
    uint32_t flight;           // what recovery goes by, begun in that phase; 0: it goes as the algorithm wants
    uint32_t resent;           // bytes sent again in it
    bool defined;              // there is a sample
    bool unused;               // the non-validated phase
};

void tcp_cwv_attach(struct tcp_conn *c);
// snd.una has reached round_end.
void tcp_cwv_round(struct weir *weir, struct tcp_conn *c);
// What that comes to in a phase that is not validated, where it has nothing new: no more was used than before in this
// part of the period. false: nothing was done.
static inline bool tcp_cwv_glance(struct tcp_cwv *v, uint32_t now_ms, uint32_t una, uint32_t nxt)
{
    const uint32_t volume = una - v->from;
    if (!v->unused || volume > v->peak[0] || now_ms - v->part_ms >= CWV_PERIOD_LEAST_MS / CWV_PARTS ||
        (v->from == v->round_end && una != nxt))
        return false;
    v->from = una;
    v->round_end = nxt;
    return true;
}
// What was in flight as the round trip under way began.
static inline uint32_t tcp_cwv_burst(const struct tcp_cwv *v) { return v->round_end - v->from; }
uint32_t tcp_cwv_pipe(const struct tcp_conn *c);  // pipeACK; UINT32_MAX: undefined
// After the congestion control was told of a loss (`recovery`: fast recovery begins), a mark of congestion or a
// timeout.
void tcp_cwv_loss(const struct weir *weir, struct tcp_conn *c, bool recovery);
void tcp_cwv_timeout(struct tcp_conn *c);
void tcp_cwv_recovered(struct tcp_conn *c);
#else
static inline void tcp_cwv_attach(struct tcp_conn *c) { (void)c; }
static inline uint32_t tcp_cwv_pipe(const struct tcp_conn *c) { return (void)c, UINT32_MAX; }
static inline void tcp_cwv_loss(const struct weir *weir, struct tcp_conn *c, bool recovery)
{
    (void)weir, (void)c, (void)recovery;
}
static inline void tcp_cwv_timeout(struct tcp_conn *c) { (void)c; }
static inline void tcp_cwv_recovered(struct tcp_conn *c) { (void)c; }
#endif

#endif
