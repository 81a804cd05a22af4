// SPDX-License-Identifier: BSD-2-Clause
// timers.c: the verbs by which a connection's timers are set.
#ifndef TCP_TIMERS_H
#define TCP_TIMERS_H

#include "instance.h"
#include "tcp/conn.h"

void tcp_timers_sent(struct weir *weir, struct tcp_conn *c);                   // data, SYN or FIN left
void tcp_timers_resent(struct weir *weir, struct tcp_conn *c);                 // the first segment was sent again
void tcp_timers_acked(struct weir *weir, struct tcp_conn *c, uint32_t acked);  // una moved by so much
void tcp_timers_sacked(struct weir *weir, struct tcp_conn *c);  // una did not move, but something was delivered
void tcp_timers_ack_within(struct weir *weir, struct tcp_conn *c, uint32_t us);
void tcp_timers_ack_owed(struct weir *weir, struct tcp_conn *c);  // an ACK may be delayed
void tcp_timers_ack_sent(struct tcp_conn *c);
// data waits, nothing is in flight, the window forbids
void tcp_timers_zero_window(struct weir *weir, struct tcp_conn *c);
// something could not be sent for want of a way or of memory
void tcp_timers_retry(struct weir *weir, struct tcp_conn *c);
void tcp_timers_window_opened(struct weir *weir, struct tcp_conn *c);
// something happened: the long timer watches for its end
void tcp_timers_active(struct weir *weir, struct tcp_conn *c);
void tcp_timers_state(struct weir *weir, struct tcp_conn *c);  // the state changed: FIN-WAIT-2, keepalive
void tcp_timers_off(struct weir *weir, struct tcp_conn *c);
// The same in the steady state (predict.c), which leaves the deadline to be worked out later; whatever else looks at it
// has to settle that before.
#if WEIR_CFG_FAST_PATH
void tcp_timers_acked_steady(struct weir *weir, struct tcp_conn *c);
void tcp_timers_sent_steady(struct weir *weir, struct tcp_conn *c);
// SYN or FIN left, without a flow (tcp_control_out)
void tcp_timers_sent_control(struct weir *weir, struct tcp_conn *c);
void tcp_timers_flow_attached(struct tcp_conn *c);  // to what left without one
void tcp_timers_resolve_lazy(struct weir *weir, struct tcp_conn *c);
static inline void tcp_timers_resolve_deadline(struct weir *weir, struct tcp_conn *c)
{
    if (c->flow ? c->flow->wait == TCP_WAIT_LAZY : c->snd.una != c->snd.nxt)
        tcp_timers_resolve_lazy(weir, c);
}
#else
static inline void tcp_timers_sent_control(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_timers_flow_attached(struct tcp_conn *c) { (void)c; }
static inline void tcp_timers_acked_steady(struct weir *weir, struct tcp_conn *c) { tcp_timers_acked(weir, c, 0); }
static inline void tcp_timers_sent_steady(struct weir *weir, struct tcp_conn *c) { tcp_timers_sent(weir, c); }
static inline void tcp_timers_resolve_deadline(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif
void tcp_timers_realtime(struct weir *weir, struct tcp_conn *c, uint32_t due_us);  // the policy wants to be called
void tcp_timers_paced(struct weir *weir, struct tcp_conn *c);                      // data waits for the schedule

#endif
