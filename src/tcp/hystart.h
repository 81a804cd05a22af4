// SPDX-License-Identifier: BSD-2-Clause
// HyStart++ (RFC 9406): the first slow start of a connection ends when the round-trip time rises, before the queue
// overflows. A rise leads to Conservative Slow Start, a quarter as fast; that is taken back when the round-trip time
// falls again, and after five rounds the algorithm is told WEIR_CC_EXIT_SLOW_START.
//
// A short queue overflows before a round's smallest sample has risen: that sample met the queue of half the window. So
// a train of acknowledgements counts, too, the other sign of HyStart (Ha and Rhee, 2011) and of Linux. There it ends
// slow start by itself; here it slows it, and ends it if the next round's smallest sample has risen.
#ifndef TCP_HYSTART_H
#define TCP_HYSTART_H

#include "base/bytes.h"
#include "weir/cc.h"

struct weir;
struct tcp_conn;

#define HYSTART_NO_RTT UINT32_MAX
#define HYSTART_SAMPLES 8u           // of a round, before its round-trip time counts (RFC 9406 §4.3, N_RTT_SAMPLE)
#define HYSTART_LEAST_RISE_US 4000u  // RFC 9406 §4.3, MIN_RTT_THRESH

#if WEIR_CFG_TCP_REFINEMENTS
// Whether a train of acknowledgements was seen, in this round or before.
enum hystart_train { TRAIN_NONE, TRAIN_NOW, TRAIN_BEFORE };

// Of a flow.
struct tcp_hystart {
    uint32_t round_end;    // snd.nxt when the round began (RFC 9406: windowEnd)
    uint32_t last_us;      // smallest RTT of the round before; HYSTART_NO_RTT: none
    uint32_t current_us;   // smallest RTT of this round so far
    uint32_t baseline_us;  // in CSS: the RTT that led to it; after a train: the smallest RTT without a queue
    uint32_t credit;       // in CSS or after a train: acknowledged bytes not yet worth a byte of growth
    uint32_t train_began_us, train_last_us;  // of the acknowledgements that let the window grow
    uint8_t train;                           // enum hystart_train
    uint8_t samples;                         // of this round
    uint8_t css_rounds;                      // begun in CSS, the one it began in included; 0: slow start
    bool running;
};

// An acknowledgement in the first slow start, with its round-trip time (0: none); `limited`: cwnd is what limits.
// Returns how much of `acked` shall not count for growth. The algorithm may be told that slow start is over.
uint32_t tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, uint32_t rtt_us, uint32_t acked, bool limited);

static inline void tcp_hystart_round(struct tcp_hystart *h, uint32_t last_us, uint32_t round_end)
{
    h->round_end = round_end;
    h->last_us = last_us;
    h->current_us = HYSTART_NO_RTT;
    h->samples = 0;
}
// What tcp_hystart_ack comes to for nearly all of them, where no growth is asked for: no rise. false: nothing was done.
static inline bool tcp_hystart_glance(struct tcp_hystart *h, uint32_t una, uint32_t nxt, uint32_t rtt_us)
{
    const uint32_t current_us = min_u32(h->current_us, rtt_us), samples = h->samples + (h->samples < HYSTART_SAMPLES);
    if (!h->running || h->css_rounds || h->train || !rtt_us ||
        (samples == HYSTART_SAMPLES && current_us >= h->last_us + HYSTART_LEAST_RISE_US))
        return false;
    h->current_us = current_us;
    h->samples = (uint8_t)samples;
    if (!seq_lt(una, h->round_end))
        tcp_hystart_round(h, current_us, nxt);
    return true;
}
#else
static inline uint32_t tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, uint32_t rtt_us, uint32_t acked,
                                       bool limited)
{
    return (void)weir, (void)c, (void)rtt_us, (void)acked, (void)limited, 0;
}
#endif

#endif
