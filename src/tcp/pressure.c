// SPDX-License-Identifier: BSD-2-Clause
// When the instance's memory budget runs short. By sixteenths of it that are in use (enum memory_mark):
//   12  nothing more is taken for data beyond a gap (stream_ahead.c): it is dropped as if lost, and comes again. A
//       connection on which nothing came for TCP_PRESSURE_SILENT_MS throws away what it holds beyond a gap, though it
//       was SACKed (RFC 2018 §8 allows it, and has senders keep such data); the one that holds most first.
//   13  so does any other.
//   14  windows do not grow (tcp_receive_budget). Where nothing lies beyond a gap, the connection that holds most while
//       nothing has moved for TCP_PRESSURE_IDLE_MS is reset.
//   15  where it stays so for TCP_PRESSURE_LAST_MS, though senders may write no more and readers could have read, the
//       largest of the address that holds most is reset.
// So the last sixteenth is for those who are let in, and for the small.
//
// Work: at most TCP_PRESSURE_STEP connections are looked at each TCP_PRESSURE_PAUSE_US, and TCP_PRESSURE_WINDOW, or all
// there are, before one of them is chosen. With a million connections that is the largest of a thousand, which is large
// enough.
#include "tcp/internal.h"

#define TCP_PRESSURE_STEP 256u  // 2 % of a millisecond each
#define TCP_PRESSURE_WINDOW 1024u
#define TCP_PRESSURE_PAUSE_US 1000u
#define TCP_PRESSURE_CLOSE_US 20000u  // for an owner to close what was reset: only then its memory is free
#define TCP_PRESSURE_SILENT_MS 1000u  // a sender that lives has sent something by then (RFC 6298's first timeout)
#define TCP_PRESSURE_IDLE_MS 10000u   // ten times what a timeout mostly takes (RFC 6298)
#define TCP_PRESSURE_LAST_MS 2000u
#define TCP_PRESSURE_LEAST 4096u  // bytes of a connection that is worth resetting

static struct tcp_holder holder(const struct tcp_conn *c, uint32_t bytes)
{
    return (struct tcp_holder){c->local, c->remote, bytes};
}

static struct tcp_conn *holder_find(struct weir *weir, const struct tcp_holder *holder)
{
    if (!holder->bytes)
        return NULL;
    return tcp_conn_find(weir, holder->local.addr, holder->local.port, holder->remote.addr, holder->remote.port);
}

static bool is_idle(const struct weir *weir, const struct tcp_conn *c)
{
    const bool sends = tcp_send_queued(c) != 0;
    return weir->now_ms - (sends ? c->progress_ms : c->last_received_ms) >= TCP_PRESSURE_IDLE_MS;
}

// The sum of an address that is not among those added up takes the place of the smallest, and its bytes: no large one
// is ever missed.
static void add_to_source(struct tcp_pressure *p, const struct tcp_holder *more)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < TCP_PRESSURE_SOURCES; i++) {
        if (p->source[i].bytes && weir_addr_equal(p->source[i].largest.remote.addr, more->remote.addr)) {
            p->source[i].bytes += more->bytes;
            if (more->bytes > p->source[i].largest.bytes)
                p->source[i].largest = *more;
            return;
        }
        if (p->source[i].bytes < p->source[at].bytes)
            at = i;
    }
    p->source[at].bytes += more->bytes;
    p->source[at].largest = *more;
}

static void look_at(const struct weir *weir, struct tcp_pressure *p, const struct tcp_conn *c)
{
    const uint32_t ahead =
        c->receive && tcp_disordered(c) ? stream_ahead_bytes(c->receive) + intervals_total(c->extra->out_of_order) : 0;
    const uint32_t held = (c->send ? stream_memory(c->send) : 0) + (c->receive ? stream_memory(c->receive) : 0);
    const struct tcp_holder all = holder(c, held);
    const bool gives_up =
        memory_beyond(&weir->memory, MEMORY_RENEGE) || weir->now_ms - c->last_received_ms >= TCP_PRESSURE_SILENT_MS;
    if (gives_up && ahead > p->ahead.bytes)
        p->ahead = holder(c, ahead);
    if (held < TCP_PRESSURE_LEAST)
        return;
    if (held > p->idle.bytes && is_idle(weir, c))
        p->idle = all;
    add_to_source(p, &all);
}

// True: so many were looked at that one may be chosen.
static bool look(struct weir *weir, struct tcp_pressure *p)
{
    const struct table *table = &weir->tcp.connections;
    for (uint32_t step = 0; step < TCP_PRESSURE_STEP; p->bucket++) {
        if (p->bucket >= table_buckets(table)) {
            p->bucket = 0;
            return true;
        }
        for (struct table_node *node = table_chain(table, p->bucket); node; node = node->next, step++, p->looked++)
            look_at(weir, p, container_of(node, struct tcp_conn, node));
        step++;  // an empty bucket is a look, too
    }
    return p->looked >= TCP_PRESSURE_WINDOW;
}

static const struct tcp_holder *largest_of_source(const struct tcp_pressure *p)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < TCP_PRESSURE_SOURCES; i++)
        if (p->source[i].bytes > p->source[most].bytes)
            most = i;
    return &p->source[most].largest;
}

// Its queues go when its owner closes it, who may be reading them.
static void evict(struct weir *weir, struct tcp_conn *c)
{
    if (tcp_reply_from(weir, c, TCP_RST | TCP_ACK))
        count(weir, WEIR_COUNT_TCP_RST_SENT);
    count(weir, WEIR_COUNT_TCP_EVICTED);
    tcp_conn_drop(weir, c, WEIR_NO_MEMORY);
}

// Whether all means but the last have had their time.
static bool lasts(const struct weir *weir, struct tcp_pressure *p)
{
    if (!p->full)
        p->full_ms = weir->now_ms;
    p->full = memory_beyond(&weir->memory, MEMORY_LARGEST);
    return p->full && weir->now_ms - p->full_ms >= TCP_PRESSURE_LAST_MS;
}

// Returns how long what was done is given to take effect, µs; 0: there was nothing to be done.
static uint32_t choose(struct weir *weir, struct tcp_pressure *p)
{
    const bool lasting = lasts(weir, p);
    struct tcp_conn *c = holder_find(weir, &p->ahead);
    if (c && tcp_disordered(c)) {
        tcp_renege(weir, c);
        stream_trim(&weir->memory, c->receive);
        return TCP_PRESSURE_PAUSE_US;
    }
    c = memory_beyond(&weir->memory, MEMORY_IDLE) ? holder_find(weir, &p->idle) : NULL;
    if (!c && lasting)
        c = holder_find(weir, largest_of_source(p));
    if (!c)
        return 0;
    evict(weir, c);
    return TCP_PRESSURE_CLOSE_US;
}

COLD uint64_t tcp_relieve(struct weir *weir)
{
    struct tcp_pressure *p = &weir->tcp.pressure;
    if (weir->now_us < p->due_us)
        return p->due_us;
    if (weir->now_us - p->due_us >= TCP_PRESSURE_LAST_MS * 1000u)
        *p = (struct tcp_pressure){.bucket = p->bucket};  // it was not short meanwhile
    uint32_t pause_us = TCP_PRESSURE_PAUSE_US;
    if (look(weir, p)) {
        pause_us = choose(weir, p);
        *p = (struct tcp_pressure){.bucket = p->bucket, .full = p->full, .full_ms = p->full_ms};
    }
    p->due_us = weir->now_us + (pause_us ? pause_us : TCP_PRESSURE_CLOSE_US);
    return p->due_us;
}
