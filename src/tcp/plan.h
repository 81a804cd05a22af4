// SPDX-License-Identifier: BSD-2-Clause
// What a connection sends next. plan.c is the one scheduler: it alone decides what leaves, and when.
#ifndef TCP_PLAN_H
#define TCP_PLAN_H

#include "tcp/internal.h"

enum tcp_plan_how {
    PLAN_RETRANSMIT = 1,      // sent before
    PLAN_PROBE = 2,           // of a closed window, or a keepalive: does not wait for cwnd
    PLAN_TLP = 4,             // the tail-loss probe, which does not either
    PLAN_DEADLINE_RTX = 8,    // sent again while it may still come by its deadline, which does not either
    PLAN_BUNDLE = 16,         // new data behind some that was sent before
    PLAN_DUPLICATE_RTX = 32,  // sent again just now, and once more
    // in flight already, and once more in a longer segment; 0: never
    PLAN_MTU_PROBE = WEIR_CFG_TCP_BLACK_HOLE ? 64 : 0,
};

// One segment, or one large one that the device cuts, or a run of full ones.
struct tcp_plan {
    uint32_t seq, end;  // sequence space covered, SYN and FIN included
    uint32_t payload;   // bytes of data, of each segment
    uint32_t run;       // segments of that many bytes, one after the other: 1, but for new data in the steady state
    uint8_t flags;      // enum tcp_flag; of a run those of the last, the others do without PSH
    uint8_t how;        // bits of enum tcp_plan_how
};

// Only new data can be planned. A build for size goes by urgency all the same, and comes to nothing else.
static inline bool tcp_steady(const struct tcp_conn *c) { return WEIR_CFG_FAST_PATH && !c->attention; }

// What comes next, of a run at most `quantum` segments. false: nothing may go now. Changes nothing but
// TCP_CWND_LIMITED.
bool tcp_plan_next(const struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan, uint32_t quantum);

// Whether the plan is one that the connection can have: what is sent again was sent before, and the payload is queued.
// Each plan is held to that before memory is read by its numbers.
static inline bool tcp_plan_sane(const struct tcp_conn *c, const struct tcp_plan *plan)
{
    if (tcp_steady(c))
        return plan->seq == c->snd.nxt && plan->end - c->snd.una <= tcp_send_queued(c);
    const uint32_t queued = tcp_send_queued(c), bytes = plan->payload,
                   from = plan->seq + (plan->flags & TCP_SYN ? 1 : 0) - tcp_data_start(c);
    if (plan->how & PLAN_RETRANSMIT &&
        !(seq_in(plan->seq, c->snd.una, c->snd.nxt) && seq_in(plan->end, plan->seq + 1, c->snd.nxt + 1)))
        return false;
    return !bytes || (from < queued && bytes <= queued - from);
}

// All of it sent before, or a probe of a window that may be closed: nothing that a router should mark (RFC 3168 §6.1.5,
// §6.1.6).
static inline bool tcp_plan_stale(const struct tcp_plan *plan)
{
    return plan->how & (PLAN_RETRANSMIT | PLAN_PROBE | PLAN_MTU_PROBE);
}
// Its bytes may be lent to a driver for longer: none was sent before.
static inline bool tcp_plan_new(const struct tcp_plan *plan)
{
    return !(plan->how & (PLAN_RETRANSMIT | PLAN_BUNDLE | PLAN_MTU_PROBE));
}

// Bytes of data that one segment carries: what options that come and go leave of c->mss, which has the timestamps
// subtracted (RFC 6691 §2).
uint32_t tcp_segment_payload(const struct tcp_conn *c, const struct tcp_plan *plan);

#endif
