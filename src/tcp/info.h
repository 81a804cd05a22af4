// SPDX-License-Identifier: BSD-2-Clause
// info.c: what is counted of a connection for its user.
#ifndef TCP_INFO_H
#define TCP_INFO_H

#include "tcp/conn.h"

#if WEIR_CFG_TCP_INFO
#define TCP_INFO_COUNT(c, field, amount) ((c)->info.field += (amount))
static inline void tcp_info_open(struct tcp_conn *c, uint32_t irs) { c->info.irs = irs; }
// segments came late
void tcp_info_reordered(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta);
// the peer had that already
void tcp_info_duplicate(struct weir *weir, struct tcp_conn *c, const struct tcp_sack_block *block);
static inline bool tcp_info_keeps_extra(const struct tcp_conn *c)
{
    return c->extra->reorder_seen || c->extra->duplicates;
}
#else
#define TCP_INFO_COUNT(c, field, amount) ((void)(c))
static inline void tcp_info_open(struct tcp_conn *c, uint32_t irs) { (void)c, (void)irs; }
static inline void tcp_info_reordered(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    (void)weir, (void)c, (void)delta;
}
static inline void tcp_info_duplicate(struct weir *weir, struct tcp_conn *c, const struct tcp_sack_block *block)
{
    (void)weir, (void)c, (void)block;
}
static inline bool tcp_info_keeps_extra(const struct tcp_conn *c) { return (void)c, false; }
#endif

#endif
