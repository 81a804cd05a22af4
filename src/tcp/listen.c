// SPDX-License-Identifier: BSD-2-Clause
// Local addresses and passive open: bind, listen, accept (RFC 9293 §3.9.1.1).
#include "tcp/halfopen.h"
#include "tcp/internal.h"
#include "tcp/isn.h"
#include "tcp/timewait.h"

// Not keyed: which ports are bound is this host's own choice, nobody outside can make them meet in one chain.
static uint32_t port_hash(uint16_t port) { return port; }

static const struct tcp_end *local_of(const struct sock *sock)
{
    return sock->kind == SOCK_LISTENER ? &((const struct tcp_listener *)sock)->local
                                       : &((const struct tcp_conn *)sock)->local;
}

struct sock *tcp_open(struct weir *weir)
{
    struct tcp_conn *c = tcp_conn_new(weir);
    return c ? &c->sock : NULL;
}

// The listener that fits best: its own address before any address.
struct tcp_listener *tcp_listener_find(struct weir *weir, struct weir_addr local, uint16_t port, uint8_t netif_index)
{
    struct tcp_listener *any = NULL;
    const uint32_t hash = port_hash(port);
    for (struct table_node *node = table_first(&weir->tcp.listeners, hash); node; node = node->next) {
        struct sock *sock = tcp_sock_of(node);
        if (node->hash != hash || sock->kind != SOCK_LISTENER ||
            (sock->netif_bound && sock->netif_bound != netif_index))
            continue;
        struct tcp_listener *listener = (struct tcp_listener *)sock;
        if (listener->local.port != port)
            continue;
        if (weir_addr_equal(listener->local.addr, local))
            return listener;
        // that of one family fits better
        if (sock_covers(sock, listener->local.addr, local) && !(any && weir_addr_is_v4(any->local.addr)))
            any = listener;
    }
    return any;
}

// Whether a bound or listening socket stands in the way. Two with REUSE_ADDRESS get along unless one listens.
static bool bound_conflict(struct weir *weir, const struct sock *sock, const struct weir_endpoint *local,
                           bool to_listen)
{
    const uint32_t hash = port_hash(local->port);
    for (struct table_node *node = table_first(&weir->tcp.listeners, hash); node; node = node->next) {
        const struct sock *other = tcp_sock_of(node);
        const struct tcp_end *theirs = local_of(other);
        if (node->hash != hash || other == sock || theirs->port != local->port ||
            !sock_bounds_meet(other, theirs->addr, sock, local->addr))
            continue;
        const bool both_reuse = sock->flags & other->flags & SOCK_REUSE_ADDRESS;
        if (!both_reuse || (other->kind == SOCK_LISTENER && (to_listen || !(sock->flags & SOCK_REUSE_ADDRESS))))
            return true;
    }
    return false;
}

// Connections that use the port: asked at bind without REUSE_ADDRESS only. Cost: a walk over all connections.
static bool connection_conflict(struct weir *weir, const struct sock *sock, const struct weir_endpoint *local)
{
    for (uint32_t bucket = 0; bucket < table_buckets(&weir->tcp.connections); bucket++)
        for (struct table_node *node = table_chain(&weir->tcp.connections, bucket); node; node = node->next) {
            const struct tcp_conn *c = container_of(node, struct tcp_conn, node);
            if (c->local.port == local->port && sock_bounds_meet(&c->sock, c->local.addr, sock, local->addr))
                return true;
        }
    return time_wait_uses_port(weir, local->addr, local->port);
}

static uint16_t choose_port(struct weir *weir, const struct sock *sock, struct weir_addr addr)
{
    const uint32_t range = TCP_PORT_LAST - TCP_PORT_FIRST + 1;
    uint32_t offset = random_below(&weir->random, range);
    for (uint32_t tries = 0; tries < range; tries++, offset = (offset + 1) % range) {
        const struct weir_endpoint candidate = {addr, (uint16_t)(TCP_PORT_FIRST + offset)};
        if (!bound_conflict(weir, sock, &candidate, false))
            return candidate.port;
    }
    return 0;
}

int tcp_bind(struct weir *weir, struct sock *sock, const struct weir_endpoint *local)
{
    struct tcp_conn *c = (struct tcp_conn *)sock;
    if (sock->kind != SOCK_TCP || c->state != WEIR_TCP_CLOSED || c->flags & TCP_BOUND || c->remote.port)
        return WEIR_INVALID;
    struct weir_endpoint wanted = *local;
    wanted.addr = ip_addr_complete(weir, wanted.addr, sock->netif_bound);
    if (!weir_addr_is_any(wanted.addr) && !ip_is_ours(weir, wanted.addr))
        return WEIR_NO_ADDRESS;
    if (!wanted.port)
        wanted.port = choose_port(weir, sock, wanted.addr);
    if (!wanted.port || bound_conflict(weir, sock, &wanted, false) ||
        (!(sock->flags & SOCK_REUSE_ADDRESS) && connection_conflict(weir, sock, &wanted)))
        return WEIR_IN_USE;
    c->local = (struct tcp_end){.addr = wanted.addr, .port = wanted.port};
    c->flags |= TCP_BOUND;
    table_insert(&weir->tcp.listeners, &weir->memory, &c->node, port_hash(wanted.port));
    return WEIR_OK;
}

static void bequeath(const struct tcp_conn *c, struct tcp_listener *listener)
{
    listener->sock = c->sock;
    listener->sock.kind = SOCK_LISTENER;
    listener->sock.flags &= (uint8_t) ~(SOCK_ON_OUTPUT | SOCK_ON_READY);
    listener->sock.events = 0;
    listener->local = c->local;
    listener->rto_floor_us = c->rtt.floor_us;
    listener->send_limit = c->send_limit;
    listener->receive_limit = c->receive_limit;
    listener->flags = c->flags & (TCP_NO_DELAY | TCP_CORK | TCP_QUICK_ACK | TCP_OOB_INLINE | TCP_KEEPALIVE_ON);
    listener->cc = c->cc;
    listener->user_mss = c->user_mss;
    listener->user_timeout_s = c->user_timeout_s;
    listener->linger_s = c->linger_s;
    listener->ttl = c->ttl;
    listener->tos = c->tos;
    tcp_ecn_bequeath(c, listener);
    tcp_keepalive_bequeath(c, listener);
    tcp_rare_options_bequeath(c, listener);
}

static uint32_t clamp_backlog(uint32_t backlog) { return min_u32(max_u32(backlog, 1), WEIR_CFG_LISTEN_BACKLOG_MAX); }

int tcp_listen(struct weir *weir, struct tcp_conn *c, uint32_t backlog, struct sock **out)
{
    if (c->state != WEIR_TCP_CLOSED || c->remote.port)
        return WEIR_CONNECTED;
    if (!(c->flags & TCP_BOUND)) {
        const struct weir_endpoint any = {c->local.addr, 0};
        const int error = tcp_bind(weir, &c->sock, &any);
        if (error)
            return error;
    }
    if (bound_conflict(weir, &c->sock, &c->local.endpoint, true))
        return WEIR_IN_USE;
    struct tcp_listener *listener = pool_get_zeroed(&weir->tcp.listener_pool, &weir->memory);
    if (!listener)
        return WEIR_NO_MEMORY;
    bequeath(c, listener);
    listener->backlog = clamp_backlog(backlog);
    listener->accept_tail = &listener->accept_head;
    tcp_conn_unhash(weir, c);
    table_insert(&weir->tcp.listeners, &weir->memory, &listener->node, port_hash(listener->local.port));
    sock_ready_remove(&weir->socks, &c->sock);
    c->sock.flags &= (uint8_t)~SOCK_HANDLED;
    c->attention |= ATTEND_CLOSED_BY_USER;
    tcp_conn_release(weir, c);
    *out = &listener->sock;
    return WEIR_OK;
}

int tcp_listen_again(struct weir *weir, struct tcp_listener *listener, uint32_t backlog)
{
    (void)weir;
    listener->backlog = clamp_backlog(backlog);
    return WEIR_OK;
}

static struct tcp_conn *accept_pop(struct tcp_listener *listener)
{
    struct tcp_conn *c = (struct tcp_conn *)listener->accept_head;
    if (!c)
        return NULL;
    listener->accept_head = c->sock.ready_next;
    if (!listener->accept_head)
        listener->accept_tail = &listener->accept_head;
    listener->accept_count--;
    c->sock.ready_next = NULL;
    c->flags &= ~(uint32_t)TCP_WAITS_ACCEPT;
    return c;
}

// A connection that was reset while it waited is accepted too: its reader learns of the reset (as BSD sockets do).
struct sock *tcp_accept(struct weir *weir, struct tcp_listener *listener)
{
    (void)weir;
    struct tcp_conn *c = accept_pop(listener);
    return c ? &c->sock : NULL;
}

void tcp_listener_close(struct weir *weir, struct tcp_listener *listener)
{
    struct tcp_conn *c;
    half_open_forget(weir, listener);
    while ((c = accept_pop(listener)) != NULL)
        tcp_conn_abort(weir, c);
    table_remove(&weir->tcp.listeners, &weir->memory, &listener->node);
    pool_put(&weir->tcp.listener_pool, &weir->memory, listener);
}
