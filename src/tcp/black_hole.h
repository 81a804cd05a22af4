// SPDX-License-Identifier: BSD-2-Clause
// Path MTU black holes: routers that drop what is too long for a link, and do not say so, or are not heard.
#ifndef TCP_BLACK_HOLE_H
#define TCP_BLACK_HOLE_H

#include "instance.h"
#include "tcp/conn.h"

#if WEIR_CFG_TCP_BLACK_HOLE
static inline void tcp_black_hole_init(struct tcp *tcp, const struct weir_config *config)
{
    tcp->black_hole_detection = config->tcp_black_hole_detection;
}
// The retransmission timer has fired, and backed off.
void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c);
#else
static inline void tcp_black_hole_init(struct tcp *tcp, const struct weir_config *config) { (void)tcp, (void)config; }
static inline void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif

#endif
