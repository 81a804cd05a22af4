// SPDX-License-Identifier: BSD-2-Clause
// held.c: payload lent to a driver that answered HELD (docs/DESIGN.md).
#ifndef TCP_HELD_H
#define TCP_HELD_H

#include "instance.h"
#include "tcp/conn.h"

// A few bytes are copied sooner than waited for.
static inline bool tcp_worth_holding(uint32_t payload_bytes) { return payload_bytes > SMALL_COPY_MAX; }
#if WEIR_CFG_TCP_HELD
static inline uint32_t tcp_flow_lag(const struct tcp_flow *flow) { return flow->lag; }
static inline uint32_t tcp_held_lag(const struct tcp_conn *c) { return c->flow ? tcp_flow_lag(c->flow) : 0; }
static inline bool tcp_flow_held(const struct tcp_flow *flow) { return flow->held_una != flow->held_end; }
static inline bool tcp_held(const struct tcp_conn *c) { return c->flow && tcp_flow_held(c->flow); }
void tcp_held_begin(struct tcp_conn *c, uint32_t seq, uint32_t end);
void tcp_held_drop_some(struct weir *weir, struct tcp_conn *c, uint32_t bytes);
// The oldest `bytes` are acknowledged: drops what nobody holds.
static inline void tcp_held_drop(struct weir *weir, struct tcp_conn *c, const struct tcp_flow *flow, uint32_t bytes)
{
    if (!tcp_flow_held(flow))
        stream_drop(&weir->memory, c->send, bytes);
    else
        tcp_held_drop_some(weir, c, bytes);
}
#else
static inline uint32_t tcp_flow_lag(const struct tcp_flow *flow) { return (void)flow, 0; }
static inline uint32_t tcp_held_lag(const struct tcp_conn *c)
{
    (void)c;
    return 0;
}
static inline bool tcp_held(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
static inline void tcp_held_begin(struct tcp_conn *c, uint32_t seq, uint32_t end) { (void)c, (void)seq, (void)end; }
static inline void tcp_held_drop(struct weir *weir, struct tcp_conn *c, const struct tcp_flow *flow, uint32_t bytes)
{
    (void)flow;
    stream_drop(&weir->memory, c->send, bytes);
}
#endif

#endif
