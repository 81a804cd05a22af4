// SPDX-License-Identifier: BSD-2-Clause
// What the files of src/tcp share among themselves, by file. The state is in conn.h.
#ifndef TCP_INTERNAL_H
#define TCP_INTERNAL_H

#include "instance.h"
#include "tcp/conn_state.h"
#include "tcp/dsack.h"
#include "tcp/info.h"
#include "tcp/keepalive.h"
#include "tcp/realtime.h"
#include "tcp/recovery.h"
#include "tcp/receive.h"
#include "tcp/timers.h"
#include "tcp/timestamps.h"
#include "tcp/trace.h"
#include "tcp/urgent.h"
#include "tcp/verdict.h"
#include "wire/ip4.h"

// RFC 9293 §3.8.3, MUST-23: R2 of a SYN is at least three minutes
#define TCP_SYN_TIMEOUT_MS 180000u
#define TCP_MSS_MIN 48u        // a smaller MSS option is taken as this (CVE-2019-11479)
#define TCP_SEND_FLOOR 65536u  // send queue open to the user whatever cwnd is
// the same while the memory budget is short (MEMORY_IDLE): a segment
#define TCP_SEND_SHORT 2048u
#define TCP_PEEK_SPANS (WEIR_CFG_ALLOCATOR ? 16u : 2u)  // spans one peek lends at the most; a ring is no more than two
#define TCP_CHALLENGE_REFILL_MS 1262u                   // a second, and a quarter of uncertainty (input.c)

// ack.c
enum tcp_verdict tcp_input_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
// The send queue has room again: a writer that waits for it is told.
static inline void tcp_room_opened(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->flags & TCP_WRITE_BLOCKED))
        return;
    c->flags &= ~(uint32_t)TCP_WRITE_BLOCKED;
    sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
}

// pacing.c (pacing.h)
#if WEIR_CFG_TCP_PACING
static inline bool tcp_paced(const struct tcp_conn *c)
{
    return c->flow->window.pacing_rate | c->flow->pacing.rate || c->extra || WEIR_CFG_TCP_PACING == 2;
}
// Whether the schedule of pacing is kept.
static inline bool tcp_pacing_on(const struct tcp_conn *c) { return c->flow->pacing.rate != 0; }
// the schedule held the last output back
static inline bool tcp_pacing_held(const struct tcp_conn *c) { return c->flow->pacing.held; }
// Of the room that cwnd leaves, what the schedule allows now.
static inline uint32_t tcp_pacing_room(const struct tcp_conn *c, uint32_t room)
{
    return min_u32(room, c->flow->pacing.allowed);
}
static inline void tcp_pacing_sent(struct tcp_conn *c, uint32_t bytes)
{
    if (c->flow->pacing.allowed != UINT32_MAX)
        c->flow->pacing.allowed -= min_u32(bytes, c->flow->pacing.allowed);
}
#else
static inline bool tcp_paced(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_pacing_on(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_pacing_held(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_pacing_room(const struct tcp_conn *c, uint32_t room) { return (void)c, room; }
static inline void tcp_pacing_sent(struct tcp_conn *c, uint32_t bytes) { (void)c, (void)bytes; }
#endif

// congestion.c
// Tells the congestion control of `acked` bytes cumulatively acknowledged, and what the log made of it.
void tcp_cc_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked,
                uint32_t inflight, uint32_t prior_inflight);
void tcp_cc_event(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event);
// At an ACK that was taken already: with what was in flight before it.
void tcp_cc_event_at(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event, uint32_t prior_inflight);

// predict.c: the usual segment, without the list of steps. false: nothing was done, take the steps
#if WEIR_CFG_TCP_PREDICT
bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment,
                 bool copied);
#else
static inline bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                               const struct tcp_segment *segment, bool copied)
{
    (void)weir, (void)c, (void)packet, (void)segment, (void)copied;
    return false;
}
#endif

// transfer.c
// what a reader without data finds: an error once, the end of the stream, or nothing yet
int tcp_receive_nothing(struct tcp_conn *c);

// input.c
bool tcp_challenge_allowed(struct weir *weir, struct tcp_conn *c);

// close.c
void tcp_conn_abort(struct weir *weir, struct tcp_conn *c);  // RST where one is due; the user has it no more
// What the connection remembers of itself contradicts itself, which no peer may bring about: it ends (RST,
// WEIR_ABORTED) and is counted, and no memory is read by its numbers. It may be freed.
void tcp_conn_insane(struct weir *weir, struct tcp_conn *c);
void tcp_enter_time_wait(struct weir *weir, struct tcp_conn *c);
// No FIN came, and it is waited for no more.
void tcp_fin_wait_2_end(struct weir *weir, struct tcp_conn *c);
void tcp_listener_close(struct weir *weir, struct tcp_listener *listener);  // listen.c

#if !WEIR_CFG_ALLOCATOR
// orphan.c: all sockets are taken. Ends a connection that its owner has closed, which needs its place least; false:
// there is none.
bool tcp_orphan_end(struct weir *weir);
#else
static inline bool tcp_orphan_end(struct weir *weir) { return (void)weir, false; }
#endif

// reply.c
bool tcp_reply_on(struct weir *weir, const struct path *path, const struct packet *reply_to,
                  const struct weir_endpoint *local, const struct weir_endpoint *remote, struct ip_params params,
                  const struct tcp_segment *segment);
bool tcp_reply_from(struct weir *weir, const struct tcp_conn *c, uint8_t flags);
bool tcp_reply_ack(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment, uint8_t tos);
// reply.c: RFC 9293 §3.10.7.4, SYN-RECEIVED: RST for an unacceptable ACK, out of the connection's own addresses
void tcp_reply_reset_for(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment);

// connect.c: SYN-SENT
#if WEIR_CFG_TCP_CONNECT
enum tcp_verdict tcp_input_syn_sent(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                    struct tcp_segment *segment);
#else
static inline enum tcp_verdict tcp_input_syn_sent(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                                  struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)packet, (void)segment;
    return TCP_DROP;
}
#endif

#endif
