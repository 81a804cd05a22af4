// SPDX-License-Identifier: BSD-2-Clause
// The life of a connection's block: made, found, attached to memory, let go of it, dropped, freed.
#include "tcp/attach.h"
#include "tcp/isn.h"
#include "tcp/label.h"
#include "tcp/sack.h"

_Static_assert(offsetof(struct tcp_conn, node) == offsetof(struct tcp_listener, node),
               "tcp_sock_of finds either by its node");

static struct tcp_conn *conn_get(struct weir *weir)
{
    struct tcp_conn *c = pool_get_zeroed(&weir->tcp.conns, &weir->memory);
    if (!c && tcp_orphan_end(weir))
        c = pool_get_zeroed(&weir->tcp.conns, &weir->memory);
    return c;
}

struct tcp_conn *tcp_conn_new(struct weir *weir)
{
    struct tcp_conn *c = conn_get(weir);
    if (!c)
        return NULL;
    c->sock.kind = SOCK_TCP;
    c->attention = ATTEND_STATE;
    c->cc = weir->tcp.cc;
    tcp_ecn_default(weir, c);
    c->node.spare = WEIR_CC_UNLIMITED;
    c->ttl = IP_TTL_UNASKED;
    c->linger_s = 0xffff;
    c->challenge_ms = weir->now_ms - TCP_CHALLENGE_REFILL_MS;
    c->send_limit = weir->tcp.send_bytes;
    c->receive_limit = weir->tcp.receive_bytes;
    c->remote.mss = c->mss = c->rcv_mss = ip_family_of(c->remote.addr)->mss_default;
    rtt_init(&c->rtt, weir->port->granularity_us);
    tcp_keepalive_defaults(c);
    return c;
}

#define LINEAR_SEARCH_MAX 8  // are looked through as fast as a key is hashed

uint32_t tcp_hash(const struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                  uint16_t remote_port)
{
    if (WEIR_CFG_TCP_CONNECTIONS && WEIR_CFG_TCP_CONNECTIONS <= LINEAR_SEARCH_MAX)
        return 0;
    return (uint32_t)tcp_tuple_hash(weir, local, local_port, remote, remote_port);
}

static inline bool conn_is(const struct tcp_conn *c, struct weir_addr local, uint16_t local_port,
                           struct weir_addr remote, uint16_t remote_port)
{
    return c->remote.port == remote_port && c->local.port == local_port && weir_addr_equal(c->remote.addr, remote) &&
           weir_addr_equal(c->local.addr, local);
}

static struct tcp_conn *conn_search(struct weir *weir, struct weir_addr local, uint16_t local_port,
                                    struct weir_addr remote, uint16_t remote_port)
{
    const uint32_t hash = tcp_hash(weir, local, local_port, remote, remote_port);
    for (struct table_node *node = table_first(&weir->tcp.connections, hash); node; node = node->next) {
        struct tcp_conn *c = container_of(node, struct tcp_conn, node);
        if (node->hash == hash && conn_is(c, local, local_port, remote, remote_port))
            return *tcp_conn_recent(weir, local_port, remote_port) = c;
    }
    return NULL;
}

struct tcp_conn *tcp_conn_find(struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                               uint16_t remote_port)
{
    struct tcp_conn *const recent = *tcp_conn_recent(weir, local_port, remote_port);
    if (recent && conn_is(recent, local, local_port, remote, remote_port))
        return recent;
    return conn_search(weir, local, local_port, remote, remote_port);
}

void tcp_conn_hash(struct weir *weir, struct tcp_conn *c)
{
    c->flags |= TCP_HASHED;
    table_insert(&weir->tcp.connections, &weir->memory, &c->node,
                 tcp_hash(weir, c->local.addr, c->local.port, c->remote.addr, c->remote.port));
    *tcp_conn_recent(weir, c->local.port, c->remote.port) = c;  // its next segment is rather soon to come
}

void tcp_conn_unhash(struct weir *weir, struct tcp_conn *c)
{
    if (c->flags & TCP_HASHED)
        table_remove(&weir->tcp.connections, &weir->memory, &c->node);
    if (c->flags & TCP_BOUND)
        table_remove(&weir->tcp.listeners, &weir->memory, &c->node);
    c->flags &= ~(uint32_t)(TCP_HASHED | TCP_BOUND);
    struct tcp_conn **const recent = tcp_conn_recent(weir, c->local.port, c->remote.port);
    if (*recent == c)
        *recent = NULL;
}

struct sock *tcp_sock_of(struct table_node *node) { return &container_of(node, struct tcp_conn, node)->sock; }

void tcp_wants_output(struct weir *weir, struct tcp_conn *c) { sock_output(&weir->socks, &c->sock); }

void tcp_ack_now(struct weir *weir, struct tcp_conn *c)
{
    c->flags |= TCP_ACK_NOW;
    tcp_wants_output(weir, c);
}

// --- memory attached while there is something to remember ------------------------------------------------------------

bool tcp_conn_attach(struct weir *weir, struct tcp_conn *c)
{
    if (c->flow)
        return true;
    const bool control_out = tcp_control_out(c);
    struct tcp_flow *flow = pool_get_zeroed(&weir->tcp.flows, &weir->memory);
    if (!flow)
        return false;
    flow->flight = attach_flight(weir, flow, c->snd.una);
    if (!flow->flight) {
        pool_put(&weir->tcp.flows, &weir->memory, flow);
        return false;
    }
    c->flow = flow;
    flow->retransmit_from = c->snd.una;
    flow->recover = c->snd.una - 1;
    tcp_pacing_attach(c);
    tcp_cwv_attach(c);
    tcp_rate_attach(weir, c);
    tcp_cc_event(weir, c, WEIR_CC_INIT);
    // After idling the algorithm begins anew, but what the path taught of its capacity stays (RFC 5681 §4.1).
    flow->window.ssthresh = c->node.spare;
    if (c->idle_cwnd)
        flow->window.cwnd = min_u32(flow->window.cwnd, (uint32_t)c->idle_cwnd * c->mss);
    if (control_out) {
        flight_sent(flow->flight, c->snd.nxt, c->deadline[TCP_TIMER_SEND]);
        tcp_timers_flow_attached(c);
    }
    return true;
}

SELDOM static void flow_put(struct weir *weir, struct tcp_conn *c)
{
    if (tcp_held(c))
        return;
    c->node.spare = c->flow->window.ssthresh;
    c->idle_cwnd = (uint8_t)max_u32(min_u32(c->flow->window.cwnd / c->mss, 10), 1);
    detach_flight(weir, c->flow);
    pool_put(&weir->tcp.flows, &weir->memory, c->flow);
    c->flow = NULL;
    c->attention &= ~(uint32_t)ATTEND_FLOW;
}

static inline void flow_free(struct weir *weir, struct tcp_conn *c)
{
    if (c->flow)
        flow_put(weir, c);
}

static void stream_free(struct weir *weir, struct stream **stream)
{
    if (*stream)
        stream_close(&weir->memory, *stream);
    *stream = NULL;
}

// Not while a driver reads it, or the user writes into spans lent by tcp_reserve.
static void send_free(struct weir *weir, struct tcp_conn *c)
{
    const bool reserved =
        c->send && !(c->attention & ATTEND_CLOSED_BY_USER) && stream_room(c->send) > stream_length(c->send);
    if (!tcp_held(c) && !reserved)
        stream_free(weir, &c->send);
}

struct tcp_extra *tcp_conn_extra(struct weir *weir, struct tcp_conn *c)
{
    if (!c->extra)
        c->extra = pool_get_zeroed(&weir->tcp.extras, &weir->memory);
    return c->extra;
}

static void extra_free(struct weir *weir, struct tcp_conn *c)
{
    if (!c->extra)
        return;
    tcp_out_of_order_free(weir, c);
    tcp_realtime_free(weir, c);
    pool_put(&weir->tcp.extras, &weir->memory, c->extra);
    c->extra = NULL;
}

void tcp_conn_idle(struct weir *weir, struct tcp_conn *c)
{
    if (c->snd.una == c->snd.nxt && !tcp_send_queued(c)) {
        flow_free(weir, c);
        send_free(weir, c);
    }
    if (!tcp_receive_queued(c) && !tcp_disordered(c))
        stream_free(weir, &c->receive);
    const bool urgent = c->attention & (ATTEND_URGENT_SEND | ATTEND_URGENT_RECEIVED);
    if (c->extra && !c->extra->out_of_order && !tcp_sack_pending(c) && !(c->attention & ATTEND_FIN_AHEAD) && !urgent &&
        !tcp_ecn_keeps_extra(c) && !tcp_pacing_asked(c) && !tcp_realtime_on(c) && !tcp_deadline_on(c) &&
        !tcp_uto_keeps_extra(c) && !tcp_low_water_on(c) && !tcp_info_keeps_extra(c) && !tcp_ip_options_keeps_extra(c))
        extra_free(weir, c);
}

// --- the end ---------------------------------------------------------------------------------------------------------

void tcp_destroy(struct weir *weir, struct tcp_conn *c)
{
    tcp_timers_off(weir, c);
    if (tcp_held(c)) {
        c->flags &= ~(uint32_t)TCP_ACK_NOW;
        c->sock.flags |= SOCK_DEAD;  // a driver still reads the send queue: tcp_held_complete comes back
        return;
    }
    flow_free(weir, c);
    stream_free(weir, &c->send);
    stream_free(weir, &c->receive);
    extra_free(weir, c);
    pool_put(&weir->tcp.conns, &weir->memory, c);
}

void tcp_conn_release(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->attention & ATTEND_CLOSED_BY_USER))
        return;
    if (c->sock.flags & (SOCK_ON_OUTPUT | SOCK_WAITS_NEIGHBOUR)) {
        tcp_timers_off(weir, c);
        c->sock.flags |= SOCK_DEAD;  // freed when its turn comes
        return;
    }
    tcp_destroy(weir, c);
}

void tcp_conn_drop(struct weir *weir, struct tcp_conn *c, int error)
{
    if (error == WEIR_TIMED_OUT || (error && error == c->error))
        count(weir, WEIR_COUNT_TCP_TIMED_OUT);
    c->error = (int8_t)error;
    c->state = WEIR_TCP_CLOSED;
    trace_state(weir, c);
    c->attention |= ATTEND_STATE;
    c->snd.nxt = c->snd.una;
    c->flags &= ~(uint32_t)(TCP_ACK_NOW | TCP_ACK_DELAYED);
    c->attention &= ~(uint32_t)(ATTEND_RETRANSMIT_NOW | ATTEND_PROBE_NOW | ATTEND_KEEPALIVE_NOW);
    tcp_conn_unhash(weir, c);
    tcp_timers_off(weir, c);
    flow_free(weir, c);
    send_free(weir, c);
    tcp_out_of_order_free(weir, c);
    sock_event(&weir->socks, &c->sock,
               (uint8_t)(WEIR_READABLE | WEIR_WRITABLE | WEIR_HANGUP | (error ? WEIR_ERROR : 0)));
    tcp_conn_release(weir, c);
}

// --- path and segment size -------------------------------------------------------------------------------------------

uint16_t tcp_mss_for_mtu(struct weir_addr remote, uint16_t mtu)
{
    return (uint16_t)(mtu - ip_header_bytes(remote) - TCP_BYTES);
}

void tcp_mss_update(struct tcp_conn *c)
{
    uint32_t mss = min_u32(c->remote.mss, tcp_mss_for_mtu(c->remote.addr, tcp_mtu_search_path(c, c->path.mtu)));
    if (c->user_mss)
        mss = min_u32(mss, c->user_mss);
    mss = tcp_ip_options_fit(c, mss);
    if (c->flags & TCP_USE_TIMESTAMPS)
        mss -= 12;           // RFC 6691: the option is in every segment
    c->mss = (uint16_t)mss;  // 16 at least: an MTU is 68 or more, a peer's MSS TCP_MSS_MIN, a user's 64
    if (c->flow)  // the window that shorter ones left must still let one go, or it would wait for an acknowledgement of
                  // nothing
        c->flow->window.cwnd = max_u32(c->flow->window.cwnd, mss);
}

bool tcp_path_renew(struct weir *weir, struct tcp_conn *c)
{
    const int error = ip_path_renew(weir, &c->path, &c->local.addr, c->remote.addr, c->sock.netif_bound);
    if (error) {
        c->path.netif = NULL;
        if (tcp_syn_sent(c))
            tcp_conn_drop(weir, c, error);
        return false;
    }
    tcp_mss_update(c);
    return true;
}

uint8_t tcp_scale_for(uint32_t receive_limit)
{
    return receive_limit >> 16 ? (uint8_t)min_u32(16u - (unsigned)__builtin_clz(receive_limit), 14) : 0;
}

uint32_t tcp_timestamp(const struct weir *weir, uint32_t offset) { return weir->now_ms + offset; }

// --- an established connection out of a handshake --------------------------------------------------------------------

static void inherit(struct tcp_conn *c, const struct tcp_listener *listener)
{
    c->flags |= listener->flags;
    c->cc = listener->cc;
    c->ttl = listener->ttl;
    c->tos = listener->tos;
    c->linger_s = listener->linger_s;
    c->user_mss = listener->user_mss;
    c->user_timeout_s = listener->user_timeout_s;
    c->rtt.floor_us = listener->rto_floor_us;
    c->send_limit = listener->send_limit;
    c->receive_limit = listener->receive_limit;
    c->sock.netif_bound = listener->sock.netif_bound;
    tcp_keepalive_inherit(c, listener);
}

static void adopt_params(struct weir *weir, struct tcp_conn *c, const struct tcp_open_params *params)
{
    c->local = params->local;
    c->remote = params->remote;
    tcp_label_open(weir, c);
    tcp_mss_assume(c);
    c->iss = params->iss;
    c->snd.una = c->snd.nxt = params->iss + 1;
    c->snd.wnd = params->window << params->snd_scale;
    c->max_snd_wnd = (uint16_t)params->window;
    c->snd.wl1 = params->irs;
    tcp_info_open(c, params->irs);
    c->rcv.nxt = c->rcv.acked = params->irs + 1;
    c->rcv.edge = c->rcv.nxt + min_u32(c->receive_limit, 65535);
    c->snd_scale = params->snd_scale;
    c->rcv_scale = params->rcv_scale;
    c->flags |= (params->scaling ? TCP_USE_SCALING : 0u) | (params->sack ? TCP_USE_SACK : 0u) |
                (params->timestamps ? TCP_USE_TIMESTAMPS : 0u) | TCP_SYN_ACKED;
    tcp_timestamps_open(c, params->ts_recent, params->ts_offset);
    c->last_received_ms = c->progress_ms = weir->now_ms;
    if (params->rtt_us)
        rtt_sample(&c->rtt, params->rtt_us);
    else
        rtt_no_sample(&c->rtt);
}

static int passive_path(struct weir *weir, struct tcp_conn *c, const struct packet *packet)
{
    if (!WEIR_CFG_ARP_CACHE)
        return ip_path_reply(weir, &c->path, packet);
    return ip_path_find(weir, &c->path, &c->local.addr, c->remote.addr, c->sock.netif_bound);
}

struct tcp_conn *tcp_conn_passive(struct weir *weir, struct tcp_listener *listener,
                                  const struct tcp_open_params *params, const struct packet *packet)
{
    if (listener->accept_count >= listener->backlog)
        return NULL;
    struct tcp_conn *c = tcp_conn_new(weir);
    if (!c)
        return NULL;
    inherit(c, listener);
    tcp_rare_options_inherit(weir, c, listener);
    adopt_params(weir, c, params);
    if (passive_path(weir, c, packet) || !tcp_ecn_begin(weir, c, params->ecn)) {
        tcp_destroy(weir, c);  // with what the listener's options have attached
        return NULL;
    }
    tcp_mss_update(c);
    c->quick_acks = TCP_QUICK_ACKS;
    tcp_conn_hash(weir, c);
    tcp_set_state(weir, c, WEIR_TCP_ESTABLISHED);
    c->flags |= TCP_WAITS_ACCEPT;
    *listener->accept_tail = &c->sock;
    listener->accept_tail = &c->sock.ready_next;
    listener->accept_count++;
    count(weir, WEIR_COUNT_TCP_ACCEPTED);
    sock_event(&weir->socks, &listener->sock, WEIR_READABLE);
    return c;
}
