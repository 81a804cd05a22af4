// SPDX-License-Identifier: BSD-2-Clause
// Real-time streams in TCP: what a policy of src/rt sees of a connection, and what it may do to it. A connection with a
// mode has its state in struct tcp_extra and takes the steps, not the prediction (ATTEND_REALTIME); one without is
// asked for nothing but that pointer.
#ifndef TCP_REALTIME_H
#define TCP_REALTIME_H

#include "tcp/conn.h"
#include "weir/realtime.h"

#if WEIR_CFG_REALTIME
struct rt;
int tcp_realtime_set(struct weir *weir, struct tcp_conn *c, const struct weir_realtime *settings);
int tcp_realtime_get(const struct tcp_conn *c, struct weir_realtime *settings);
int tcp_realtime_read(struct weir *weir, struct tcp_conn *c, uint8_t *data, uint32_t bytes,
                      struct weir_realtime_frame *frame);
int tcp_realtime_next(struct weir *weir, struct tcp_conn *c, struct weir_realtime_frame *frame);
int tcp_realtime_deadline(struct weir *weir, struct tcp_conn *c, uint64_t deadline_us);
int tcp_realtime_stats(const struct tcp_conn *c, struct weir_realtime_stats *stats);

static inline bool tcp_realtime_on(const struct tcp_conn *c) { return c->extra && c->extra->realtime; }
bool tcp_realtime_bare(const struct tcp_conn *c);  // its SYN offers no timestamps
// The hooks, of a connection with a mode only. A segment was taken, or (unsent) is about to be looked at; a bare ACK
// left.
void tcp_realtime_heard_on(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_realtime_unsent_on(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_realtime_acked_on(struct weir *weir, struct tcp_conn *c);
static inline void tcp_realtime_heard(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (tcp_realtime_on(c))
        tcp_realtime_heard_on(weir, c, segment);
}
static inline void tcp_realtime_unsent(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (tcp_realtime_on(c))
        tcp_realtime_unsent_on(weir, c, segment);
}
static inline void tcp_realtime_acked(struct weir *weir, struct tcp_conn *c)
{
    if (tcp_realtime_on(c))
        tcp_realtime_acked_on(weir, c);
}
bool tcp_realtime_readable(struct weir *weir, struct tcp_conn *c);
bool tcp_realtime_armed(const struct tcp_conn *c);
uint32_t tcp_realtime_due(const struct tcp_conn *c);
void tcp_realtime_fire(struct weir *weir, struct tcp_conn *c);
void tcp_realtime_disarm(struct tcp_conn *c);
void tcp_realtime_free(struct weir *weir, struct tcp_conn *c);
void tcp_realtime_init(struct weir *weir);
int tcp_realtime_carve(struct weir *weir);
size_t tcp_realtime_bytes(void);
void tcp_realtime_drain(struct weir *weir);
#else
static inline bool tcp_realtime_on(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_realtime_bare(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_realtime_heard(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline void tcp_realtime_unsent(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline void tcp_realtime_acked(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool tcp_realtime_readable(struct weir *weir, struct tcp_conn *c) { return (void)weir, (void)c, false; }
static inline bool tcp_realtime_armed(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_realtime_due(const struct tcp_conn *c) { return (void)c, 0; }
static inline void tcp_realtime_fire(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_realtime_disarm(struct tcp_conn *c) { (void)c; }
static inline void tcp_realtime_free(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_realtime_init(struct weir *weir) { (void)weir; }
static inline int tcp_realtime_carve(struct weir *weir) { return (void)weir, WEIR_OK; }
static inline size_t tcp_realtime_bytes(void) { return 0; }
static inline void tcp_realtime_drain(struct weir *weir) { (void)weir; }
#endif

#endif
