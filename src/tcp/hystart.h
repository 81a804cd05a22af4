// SPDX-License-Identifier: BSD-2-Clause
// HyStart++ (RFC 9406): the first slow start of a connection ends when the round-trip time rises, before the queue overflows. A rise leads
// to Conservative Slow Start, a quarter as fast; that is taken back when the round-trip time falls again, and after five rounds the
// algorithm is told WEIR_CC_EXIT_SLOW_START.
#ifndef TCP_HYSTART_H
#define TCP_HYSTART_H

#include "base/bytes.h"
#include "weir/cc.h"

struct weir;
struct tcp_conn;

#if WEIR_CFG_TCP_HYSTART
// Of a flow.
struct tcp_hystart {
    uint32_t round_end;    // snd.nxt when the round began (RFC 9406: windowEnd)
    uint32_t last_us;      // smallest RTT of the round before; UINT32_MAX: none
    uint32_t current_us;   // … of this round so far
    uint32_t baseline_us;  // in CSS: the RTT that led to it
    uint32_t credit;       // in CSS: acknowledged bytes not yet worth a byte of growth
    uint8_t samples;       // of this round
    uint8_t css_rounds;    // begun in CSS, the one it began in included; 0: slow start
    bool running;
};

// An acknowledgement in the first slow start: sets sample->slow_start_held. The algorithm may be told that slow start is over.
void tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, struct weir_cc_sample *sample);
#else
static inline void tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, struct weir_cc_sample *sample)
{
    (void)weir, (void)c, (void)sample;
}
#endif

#endif
