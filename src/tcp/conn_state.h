// SPDX-License-Identifier: BSD-2-Clause
// conn.c, and what follows from a connection's state, by name.
#ifndef TCP_CONN_STATE_H
#define TCP_CONN_STATE_H

#include "instance.h"
#include "tcp/cc_register.h"
#include "tcp/ecn.h"
#include "tcp/held.h"
#include "tcp/listen.h"

// Microseconds of a pause: after 71 minutes as many as 32 bits hold, not few again.
static inline uint32_t tcp_pause_us(uint32_t ms) { return ms > UINT32_MAX / 1000 ? UINT32_MAX : ms * 1000; }

// A connection that was accepted begins where its handshake has ended: only one that opens has a SYN to be
// acknowledged, or these states.
static inline bool tcp_syn_unacked(const struct tcp_conn *c)
{
    return WEIR_CFG_TCP_CONNECT && !(c->flags & TCP_SYN_ACKED);
}
static inline bool tcp_syn_sent(const struct tcp_conn *c)
{
    return WEIR_CFG_TCP_CONNECT && c->state == WEIR_TCP_SYN_SENT;
}
static inline bool tcp_syn_received(const struct tcp_conn *c)
{
    return WEIR_CFG_TCP_CONNECT && c->state == WEIR_TCP_SYN_RECEIVED;
}
// Window scale shifts; a build that offers none has none.
static inline uint32_t tcp_snd_scale(const struct tcp_conn *c) { return WEIR_CFG_TCP_WINDOW_SCALE ? c->snd_scale : 0; }
// MAX.SND.WND, the largest window offered (Nagle, SWS, RFC 5961 §5): bytes.
static inline uint32_t tcp_max_window(const struct tcp_conn *c) { return (uint32_t)c->max_snd_wnd << tcp_snd_scale(c); }
static inline uint32_t tcp_rcv_scale(const struct tcp_conn *c) { return WEIR_CFG_TCP_WINDOW_SCALE ? c->rcv_scale : 0; }
// A place for the connection with these ports that was found last.
static inline struct tcp_conn **tcp_conn_recent(struct weir *weir, uint32_t local_port, uint32_t remote_port)
{
    return &weir->tcp.recent[(local_port ^ remote_port) % TCP_RECENT];  // the ports' last bytes will do
}
// Why the connection ended, as long as its user has not been told.
static inline int tcp_error_pending(const struct tcp_conn *c)
{
    return c->state == WEIR_TCP_CLOSED ? c->error : WEIR_OK;
}
int tcp_error_take(struct tcp_conn *c);  // the same, and now its user has
// Whether it has anything but its hot block. (One test, not four: most connections that open or close have nothing.)
static inline bool tcp_attached(const struct tcp_conn *c)
{
    return ((uintptr_t)c->flow | (uintptr_t)c->send | (uintptr_t)c->receive | (uintptr_t)c->extra) != 0;
}
#if WEIR_CFG_FAST_PATH
// A connection without data opens and closes without a flow, which is for data: of a SYN or FIN that is alone on its
// way, and left once, the sequence numbers tell all but when. The time stands where its deadline would, and the
// deadline is worked out only when somebody asks (as with TCP_WAIT_LAZY). Whoever wants to know more than that it was
// acknowledged has the flow made from it (tcp_conn_attach). Whether such a SYN or FIN is out. (Nothing else can be,
// without a flow.)
static inline bool tcp_control_out(const struct tcp_conn *c) { return !c->flow && c->snd.una != c->snd.nxt; }
// Its round trip when it is acknowledged now, with the resolution of a flight log.
static inline uint32_t tcp_control_rtt(const struct weir *weir, const struct tcp_conn *c)
{
    return max_u32(weir->now - flight_time(c->deadline[TCP_TIMER_SEND]), 1);
}
#else
static inline bool tcp_control_out(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_control_rtt(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, 1;
}
#endif
static inline uint32_t tcp_send_queued(const struct tcp_conn *c)
{
    return c->send ? stream_length(c->send) - tcp_held_lag(c) : 0;
}
static inline uint32_t tcp_receive_queued(const struct tcp_conn *c)
{
    return c->receive ? stream_length(c->receive) : 0;
}
// Sequence number of the first byte in the send queue, and of the byte after its last (where FIN goes).
static inline uint32_t tcp_data_start(const struct tcp_conn *c) { return c->snd.una + tcp_syn_unacked(c); }
static inline uint32_t tcp_data_end(const struct tcp_conn *c) { return tcp_data_start(c) + tcp_send_queued(c); }
// Queued and never sent. FIN follows all data, so with it sent nothing is left.
static inline uint32_t tcp_unsent(const struct tcp_conn *c)
{
    return c->attention & ATTEND_FIN_SENT || !c->send ? 0 : tcp_data_end(c) - seq_max(c->snd.nxt, tcp_data_start(c));
}
static inline bool tcp_synchronised(const struct tcp_conn *c)
{
    return c->state >= WEIR_TCP_ESTABLISHED && c->state < WEIR_TCP_TIME_WAIT;
}
static inline bool tcp_fin_acked(const struct tcp_conn *c)
{
    return (c->attention & ATTEND_FIN_SENT) && c->snd.una == c->snd.nxt && !tcp_send_queued(c);
}
// A build with one algorithm needs not look which.
static inline const struct weir_cc *tcp_cc(const struct weir *weir, const struct tcp_conn *c)
{
    return tcp_cc_list(weir)[TCP_CC_MOST == 1 ? 0 : c->cc];
}
#if WEIR_CFG_FAST_PATH
// Whether what it may send can leave so. (With a user timeout the deadline is another one; a rate's sample needs each
// byte's stamp.)
static inline bool tcp_control_only(const struct weir *weir, const struct tcp_conn *c)
{
    return !tcp_attached(c) && !(c->attention & ~(uint32_t)ATTEND_CONTROL_ONLY) && tcp_ecn_silent(c) &&
           !tcp_syn_received(c) && !c->user_timeout_s && !tcp_cc(weir, c)->wants_rate;
}
#else
static inline bool tcp_control_only(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, false;
}
#endif
#if WEIR_CFG_REALTIME_SENDER
static inline bool tcp_deadline_on(const struct tcp_conn *c) { return c->extra && c->extra->deadline.us; }
#else
static inline bool tcp_deadline_on(const struct tcp_conn *c) { return (void)c, false; }
#endif
static inline bool tcp_disordered(const struct tcp_conn *c) { return c->extra && c->extra->out_of_order; }
#if WEIR_CFG_TCP_REFINEMENTS
static inline uint16_t tcp_uto_told_s(uint16_t own_s) { return own_s ? own_s : WEIR_CFG_TCP_USER_TIMEOUT_S; }
static inline uint32_t tcp_uto_tell(uint16_t own_s, struct tcp_options *options)
{
    options->seen |= TCP_SEEN_USER_TIMEOUT;
    options->user_timeout = tcp_uto_told_s(own_s);
    return 4;
}
static inline void tcp_uto_fill_syn_ack(const struct tcp_listener *listener, struct tcp_options *options)
{
    if (listener->uto)
        (void)tcp_uto_tell(listener->user_timeout_s, options);
}
static inline bool tcp_uto_owed(const struct tcp_conn *c) { return c->extra && c->extra->uto.owed; }
#else
static inline void tcp_uto_fill_syn_ack(const struct tcp_listener *listener, struct tcp_options *options)
{
    (void)listener, (void)options;
}
static inline bool tcp_uto_owed(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_uto_chosen(struct tcp_conn *c, uint16_t seconds) { c->user_timeout_s = seconds; }
#endif
struct tcp_extra *tcp_conn_extra(struct weir *weir, struct tcp_conn *c);  // made when there is none; NULL: no memory
void tcp_conn_release(struct weir *weir, struct tcp_conn *c);  // unhashed: frees it when its user is done, too
void tcp_conn_hash(struct weir *weir, struct tcp_conn *c);     // into the connections' table
void tcp_conn_unhash(struct weir *weir, struct tcp_conn *c);
bool tcp_conn_attach(struct weir *weir, struct tcp_conn *c);  // the flow; false: no memory
void tcp_conn_idle(struct weir *weir, struct tcp_conn *c);    // lets go of everything an idle connection needs not
void tcp_mss_update(struct tcp_conn *c);                      // c->mss from path, peer, options
// The remote end is known: how much its segments are taken to carry at first differs by family. (Of one alone
// tcp_conn_new has said it.)
static inline void tcp_mss_assume(struct tcp_conn *c)
{
    if (WEIR_CFG_IP6)
        c->rcv_mss = ip_family_of(c->remote.addr)->mss_default;
}
bool tcp_path_renew(struct weir *weir, struct tcp_conn *c);
// A valid path, or false (the error is noted).
static inline bool tcp_path_refresh(struct weir *weir, struct tcp_conn *c)
{
    return (c->path.netif && c->path.generation == weir->ip.generation) || tcp_path_renew(weir, c);
}
void tcp_wants_output(struct weir *weir, struct tcp_conn *c);
void tcp_ack_now(struct weir *weir, struct tcp_conn *c);  // an ACK is owed, and leaves with the next poll
struct sock *tcp_sock_of(struct table_node *node);        // a node of weir->tcp.listeners

// What a device must offer to do a part of the work on this connection's segments.
static inline uint16_t tcp_offload_checksum(const struct tcp_conn *c)
{
    return weir_addr_is_v4(c->remote.addr) ? WEIR_NETIF_TX_CHECKSUM : WEIR_NETIF_TX_CHECKSUM6;
}
// A segment with IP options is not cut by it.
static inline uint16_t tcp_offload_tso(const struct tcp_conn *c)
{
    if (tcp_ip_options_on(c))
        return 0;
    return weir_addr_is_v4(c->remote.addr) ? WEIR_NETIF_TSO4 : WEIR_NETIF_TSO6;
}
static inline uint8_t tcp_offload_gso(const struct tcp_conn *c)
{
    return weir_addr_is_v4(c->remote.addr) ? WEIR_GSO_TCP4 : WEIR_GSO_TCP6;
}

#endif
