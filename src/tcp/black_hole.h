// SPDX-License-Identifier: BSD-2-Clause
// Path MTU black holes: routers that drop what is too long for a link, and do not say so, or are not heard.
#ifndef TCP_BLACK_HOLE_H
#define TCP_BLACK_HOLE_H

#include "tcp/tcp.h"
#include "weir/instance.h"
#include "wire/tcp.h"

struct tcp_conn;
struct tcp_plan;
#if WEIR_CFG_TCP_BLACK_HOLE
// The search of a connection for the longest packet that its path carries.
struct tcp_mtu_search {
    uint32_t start, end, after;  // of the probe in flight; and snd.nxt when it left
    uint16_t low, high;          // bytes that arrive, and that may; low 0: no search
    uint16_t next;               // of the probe
    uint16_t path;               // the path's MTU as it was taken into account
    uint8_t failed;              // probes of that size in a row
    bool probing;                // one is in flight
};

static inline void tcp_black_hole_init(struct tcp *tcp, const struct weir_config *config)
{
    tcp->black_hole_detection = config->tcp_black_hole_detection;
}
// The retransmission timer has fired, and backed off.
void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c);
// The packet size that a connection may use: `mtu`, its path's, or less while larger ones are searched for.
uint16_t tcp_mtu_search_path(struct tcp_conn *c, uint16_t mtu);
// How many bytes of data a probe has that may go now; 0: none may.
uint32_t tcp_mtu_search_due(const struct tcp_conn *c);
void tcp_mtu_search_left(struct tcp_conn *c, const struct tcp_plan *plan);
// An acknowledgement came. Whether the duplicate that it reports is the probe.
bool tcp_mtu_search_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
#else
static inline void tcp_black_hole_init(struct tcp *tcp, const struct weir_config *config) { (void)tcp, (void)config; }
static inline void tcp_black_hole_timeout(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline uint16_t tcp_mtu_search_path(struct tcp_conn *c, uint16_t mtu) { return (void)c, mtu; }
static inline uint32_t tcp_mtu_search_due(const struct tcp_conn *c) { return (void)c, 0; }
static inline void tcp_mtu_search_left(struct tcp_conn *c, const struct tcp_plan *plan) { (void)c, (void)plan; }
static inline bool tcp_mtu_search_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    return (void)weir, (void)c, (void)segment, false;
}
#endif

#endif
