// SPDX-License-Identifier: BSD-2-Clause
// keepalive.c (RFC 9293 §3.8.4).
#ifndef TCP_KEEPALIVE_H
#define TCP_KEEPALIVE_H

#include "tcp/conn.h"

#if WEIR_CFG_TCP_KEEPALIVE
// Milliseconds until the long timer has something to do for keepalive; 0: now (a probe was asked for, or the connection
// was dropped: *gone).
uint32_t tcp_keepalive_due(struct weir *weir, struct tcp_conn *c, bool *gone);
void tcp_keepalive_defaults(struct tcp_conn *c);
void tcp_keepalive_inherit(struct tcp_conn *c, const struct tcp_listener *listener);
void tcp_keepalive_bequeath(const struct tcp_conn *c, struct tcp_listener *listener);
#else
static inline void tcp_keepalive_inherit(struct tcp_conn *c, const struct tcp_listener *listener)
{
    (void)c, (void)listener;
}
static inline void tcp_keepalive_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    (void)c, (void)listener;
}
static inline uint32_t tcp_keepalive_due(struct weir *weir, struct tcp_conn *c, bool *gone)
{
    (void)weir, (void)c, (void)gone;
    return UINT32_MAX;
}
static inline void tcp_keepalive_defaults(struct tcp_conn *c) { (void)c; }
#endif

#endif
