// SPDX-License-Identifier: BSD-2-Clause
// IPv4 options of a stream (RFC 1122 §3.2.1.8, §4.2.3.8; RFC 9293 §3.9.2.1): those that each of its segments carries,
// and those that the peer's SYN came with. What is sent takes of the segments' room for data (RFC 6691 §3), and has no
// header template; a listener's go with its SYN-ACKs and are inherited. ACKs of TIME-WAIT and resets for nobody go
// without, as does a connection whose segments are too small for them.
#ifndef TCP_IP_OPTIONS_H
#define TCP_IP_OPTIONS_H

#include "ip/options.h"

struct tcp_conn;
struct tcp_listener;

#if WEIR_CFG_IP_OPTIONS
// In struct tcp_extra, which a connection with any keeps. One that sends any takes the steps (ATTEND_IP_OPTIONS).
struct tcp_ip_options {
    struct weir_ip_options sent, received;
    bool fit;    // its segments have room for those that are sent
    bool takes;  // WEIR_OPTION_RECEIVE_IP_OPTIONS
};

// Of a connection or a listener. WEIR_NO_MEMORY.
int tcp_ip_options_set(struct weir *weir, struct sock *sock, const struct weir_ip_options *options);
void tcp_ip_options_get(const struct sock *sock, struct weir_ip_options *options);
void tcp_ip_options_received(const struct sock *sock, struct weir_ip_options *options);
int tcp_ip_options_receive(struct weir *weir, struct tcp_conn *c, uint32_t on);
int32_t tcp_ip_options_receives(const struct tcp_conn *c);
void tcp_ip_options_bequeath(const struct tcp_conn *c, struct tcp_listener *listener);
void tcp_ip_options_inherit(struct weir *weir, struct tcp_conn *c, const struct tcp_listener *listener);
// The peer's SYN came to an active open, or with these to a passive one.
void tcp_ip_options_heard(struct tcp_conn *c, const struct packet *packet);
void tcp_ip_options_kept(struct tcp_conn *c, const struct weir_ip_options *received);
bool tcp_ip_options_on(const struct tcp_conn *c);  // some are set
bool tcp_ip_options_keeps_extra(const struct tcp_conn *c);
// What is left for data of a segment with room for so much.
uint32_t tcp_ip_options_fit(struct tcp_conn *c, uint32_t mss);
// What the connection's segments carry; NULL: nothing.
const struct weir_ip_options *tcp_ip_options(const struct tcp_conn *c);
#else
static inline void tcp_ip_options_bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    (void)c, (void)listener;
}
static inline void tcp_ip_options_inherit(struct weir *weir, struct tcp_conn *c, const struct tcp_listener *listener)
{
    (void)weir, (void)c, (void)listener;
}
static inline void tcp_ip_options_heard(struct tcp_conn *c, const struct packet *packet) { (void)c, (void)packet; }
static inline bool tcp_ip_options_on(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_ip_options_keeps_extra(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_ip_options_fit(struct tcp_conn *c, uint32_t mss) { return (void)c, mss; }
#endif

#endif
