// SPDX-License-Identifier: BSD-2-Clause
// TCP of an instance: its start and end, ICMP errors, news from the link, and the walk over all there is.
#include "tcp/tcp.h"
#include "ip/icmp.h"
#include "tcp/black_hole.h"
#include "tcp/halfopen.h"
#include "tcp/internal.h"
#include "tcp/timewait.h"

#define POOL_KEEP 64u  // freed blocks of each kind kept for the next connection
#define FLOWS_KEEP 8u  // of the larger ones, which come and go with each burst of an idle connection
#define CONNECTIONS (WEIR_CFG_TCP_CONNECTIONS ? WEIR_CFG_TCP_CONNECTIONS : WEIR_CFG_SOCKETS)

static uint32_t default_send_bytes(const struct weir_config *config)
{
    return config->tcp_send_buffer_bytes ? config->tcp_send_buffer_bytes : WEIR_CFG_TCP_SEND_BYTES;
}
static uint32_t default_receive_bytes(const struct weir_config *config)
{
    return config->tcp_receive_buffer_bytes ? config->tcp_receive_buffer_bytes : WEIR_CFG_TCP_RECEIVE_BYTES;
}
// The window is told in steps of its scale, so it may promise up to one step more than the limit.
static uint32_t receive_ring_bytes(uint32_t limit) { return limit + (1u << tcp_scale_for(limit)); }

size_t tcp_bytes(const struct weir_config *config)
{
    return pool_carve_bytes(sizeof(struct tcp_conn), CONNECTIONS) +
           pool_carve_bytes(sizeof(struct tcp_flow), CONNECTIONS) +
           pool_carve_bytes(sizeof(struct tcp_extra), CONNECTIONS) +
           pool_carve_bytes(sizeof(struct tcp_listener), WEIR_CFG_LISTENERS) + tcp_realtime_bytes() +
           stream_carve_bytes(CONNECTIONS, default_send_bytes(config)) +
           stream_carve_bytes(CONNECTIONS, receive_ring_bytes(default_receive_bytes(config))) + half_open_bytes() +
           time_wait_bytes();
}

#if WEIR_CFG_ALLOCATOR
static void flights_init(struct tcp *tcp) { pool_init(&tcp->flights, (uint32_t)flight_first_bytes(), FLOWS_KEEP); }
static void flights_free(struct weir *weir) { pool_drain(&weir->tcp.flights, &weir->memory); }
#else
static void flights_init(struct tcp *tcp) { (void)tcp; }  // within the flows
static void flights_free(struct weir *weir) { (void)weir; }
#endif

// Static builds: everything that connections will ever attach (in allocator builds these set nothing aside).
static int static_init(struct weir *weir)
{
    struct tcp *tcp = &weir->tcp;
    int error = pool_carve(&tcp->conns, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : CONNECTIONS);
    if (!error)
        error = pool_carve(&tcp->flows, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : CONNECTIONS);
    if (!error)
        error = pool_carve(&tcp->extras, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : CONNECTIONS);
    if (!error)
        error = pool_carve(&tcp->listener_pool, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : WEIR_CFG_LISTENERS);
    if (!error)
        error = tcp_realtime_carve(weir);
    if (!error)
        error = stream_carve(&weir->memory, WEIR_CFG_ALLOCATOR ? 0 : CONNECTIONS, tcp->send_bytes);
    if (!error)
        error =
            stream_carve(&weir->memory, WEIR_CFG_ALLOCATOR ? 0 : CONNECTIONS, receive_ring_bytes(tcp->receive_bytes));
    return error;
}

int tcp_init(struct weir *weir, const struct weir_config *config)
{
    struct tcp *tcp = &weir->tcp;
    table_init(&tcp->connections);
    table_init(&tcp->listeners);
    pool_init(&tcp->conns, sizeof(struct tcp_conn), POOL_KEEP);
    pool_init(&tcp->listener_pool, sizeof(struct tcp_listener), 1);
    pool_init(&tcp->flows, sizeof(struct tcp_flow), FLOWS_KEEP);
    pool_init(&tcp->extras, sizeof(struct tcp_extra), POOL_KEEP);
    flights_init(tcp);
    tcp_realtime_init(weir);
    tcp->send_bytes = default_send_bytes(config);
    tcp->receive_bytes = default_receive_bytes(config);
    tcp->ecn = tcp_ecn_wanted(config->tcp_ecn);
    tcp_black_hole_init(tcp, config);
    const struct weir_cc *cc = weir_cc_find(config->congestion_control);
    if (!cc)
        return WEIR_INVALID;
    tcp_cc_init(weir);
    tcp->cc = TCP_CC_MOST == 1 ? 0 : tcp_cc_index(weir, cc);
    int error = static_init(weir);
    if (!error)
        error = half_open_init(weir);
    return error ? error : time_wait_init(weir);
}

void tcp_abort_all(struct weir *weir)
{
    struct table *connections = &weir->tcp.connections;
    // Removing shrinks the table, gives up its last buckets, and may move nodes to buckets already seen: round again
    // until it is empty.
    while (connections->count)
        for (uint32_t bucket = 0; bucket < table_buckets(connections); bucket++)
            while (bucket < table_buckets(connections) && table_chain(connections, bucket))
                tcp_abort(weir, tcp_sock_of(table_chain(connections, bucket)));
}

void tcp_free(struct weir *weir)
{
    struct tcp *tcp = &weir->tcp;
    half_open_free(weir);
    time_wait_free(weir);
    pool_drain(&tcp->conns, &weir->memory);
    pool_drain(&tcp->listener_pool, &weir->memory);
    pool_drain(&tcp->flows, &weir->memory);
    pool_drain(&tcp->extras, &weir->memory);
    flights_free(weir);
    tcp_realtime_drain(weir);
    table_free(&tcp->connections, &weir->memory);
    table_free(&tcp->listeners, &weir->memory);
}

uint64_t tcp_poll(struct weir *weir, uint64_t now_us)
{
    const uint64_t half_open = half_open_poll(weir, now_us);
    const uint64_t time_wait = time_wait_poll(weir, now_us);
    return half_open < time_wait ? half_open : time_wait;
}

// --- errors from below -----------------------------------------------------------------------------------------------

// RFC 1191 §6, with the check of RFC 5927 §7: only a packet in flight can have been too big.
static void path_mtu_lowered(struct weir *weir, struct tcp_conn *c, const struct ip_error *error)
{
    pmtu_set(weir, c->remote.addr, error->mtu);
    if (!tcp_path_refresh(weir, c) || !c->flow)
        return;
    tcp_recovery_again(c);
    tcp_wants_output(weir, c);
}

void tcp_error(struct weir *weir, const struct ip_error *error)
{
    if (error->transport_length < 8)
        return;
    const uint16_t local_port = get16(error->transport), remote_port = get16(error->transport + 2);
    const uint32_t seq = get32(error->transport + 4);
    struct tcp_conn *c = tcp_conn_find(weir, error->local, local_port, error->remote, remote_port);
    // RFC 5927 §4.1: the quoted sequence number must be of data in flight.
    if (!c || !seq_in(seq, c->snd.una, c->snd.nxt)) {
        count(weir, WEIR_COUNT_ICMP_IGNORED);
        return;
    }
    if (error->error == WEIR_TOO_BIG)
        path_mtu_lowered(weir, c, error);
    else if (tcp_syn_sent(c) && error->hard)
        tcp_conn_drop(weir, c, error->error);  // RFC 1122 §4.2.3.9; not once synchronised (RFC 5927 §5.2)
    else
        c->error = (int8_t)error->error;
}

// The neighbour did not answer: an error for a connection that is only opening; an open one waits for its timers (the
// cable may come back).
void tcp_link_failed(struct weir *weir, struct tcp_conn *c, int error)
{
    c->path.netif = NULL;
    if (c->state == WEIR_TCP_TIME_WAIT)
        c->flags &= ~(uint32_t)TCP_ACK_NOW;  // its last words: they are not asked for again
    else if (tcp_syn_sent(c))
        tcp_conn_drop(weir, c, error);
    else if (c->state != WEIR_TCP_CLOSED)
        tcp_timers_retry(weir, c);
}

// --- inspection ------------------------------------------------------------------------------------------------------

static void describe(const struct sock *sock, struct weir_socket_info *out)
{
    memset(out, 0, sizeof *out);
    out->socket = sock->handle;
    out->type = WEIR_STREAM;
    out->tcp_state = (uint8_t)tcp_state(sock);
    tcp_endpoints(sock, &out->local, &out->peer);
    if (sock->kind == SOCK_TCP) {
        out->send_queue = tcp_send_queued((const struct tcp_conn *)sock);
        out->receive_queue = tcp_receive_queued((const struct tcp_conn *)sock);
    } else {
        out->receive_queue = ((const struct tcp_listener *)sock)->accept_count;
        out->send_queue = ((const struct tcp_listener *)sock)->backlog;
    }
}

static bool walk_table(const struct table *table, struct table_cursor *cursor, struct weir_socket_info *out)
{
    struct table_node *node = table_walk(table, cursor);
    if (node)
        describe(tcp_sock_of(node), out);
    return node;
}

bool tcp_walk(struct weir *weir, uint32_t kind, struct table_cursor *cursor, struct weir_socket_info *out)
{
    switch (kind) {
    case 0: return walk_table(&weir->tcp.listeners, cursor, out);
    case 1: return walk_table(&weir->tcp.connections, cursor, out);
    case 2: return half_open_walk(weir, cursor, out);
    default: return time_wait_walk(weir, cursor, out);
    }
}

uint32_t tcp_count(const struct weir *weir)
{
    return weir->tcp.listeners.count + weir->tcp.connections.count + half_open_count(weir) + time_wait_count(weir);
}
