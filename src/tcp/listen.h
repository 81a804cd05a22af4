// SPDX-License-Identifier: BSD-2-Clause
// A listener: what a stream socket becomes by weir_socket_listen.
#ifndef TCP_LISTEN_H
#define TCP_LISTEN_H

#include "tcp/conn.h"

struct tcp_listener {
    struct sock sock;        // first; SOCK_LISTENER
    struct table_node node;  // listeners, by local port
    struct tcp_end local;
    struct sock *accept_head, **accept_tail;  // complete, in order
    uint32_t backlog, accept_count, half_open_count;
    uint32_t send_limit, receive_limit;  // inherited by connections, as are the options below
    uint32_t rto_floor_us;               // of struct rtt
    uint32_t flags;                      // the enum tcp_conn_flag bits that are options
    uint16_t user_mss, user_timeout_s, linger_s, defer_accept_s;
    uint8_t cc, ttl, tos;
#if WEIR_CFG_TCP_ECN
    uint8_t ecn;  // enum tcp_ecn_mode wanted
#endif
    int8_t error;
#if WEIR_CFG_TCP_KEEPALIVE
    uint16_t keepalive_idle_s, keepalive_interval_s;
    uint8_t keepalive_count;
#endif
#if WEIR_CFG_TCP_PACING
    uint32_t pacing_limit;
#endif
#if WEIR_CFG_TCP_REFINEMENTS
    uint32_t uto;  // enum weir_user_timeout_option
#endif
#if WEIR_CFG_REALTIME_SENDER
    uint32_t deadline_us;
#endif
#if WEIR_CFG_IP_OPTIONS
    struct weir_ip_options ip_options;
    uint32_t receives_ip_options;
#endif
};

// The listener for a SYN to (local, port); NULL: none.
struct tcp_listener *tcp_listener_find(struct weir *weir, struct weir_addr local, uint16_t port, uint8_t netif_index);
// Options that a connection has in its struct tcp_extra go from a socket to the listener that it becomes, and from that
// to what it accepts.
void tcp_rare_options_bequeath(const struct tcp_conn *c, struct tcp_listener *listener);
void tcp_rare_options_inherit(struct weir *weir, struct tcp_conn *c, struct tcp_listener *listener);

#endif
