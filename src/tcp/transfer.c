// SPDX-License-Identifier: BSD-2-Clause
// The user's side of the two queues: reserve and commit to send, peek and consume to receive (RFC 9293 §3.9.1.2, .3).
#include "tcp/internal.h"

// How much of the send limit is open to the user now: twice the congestion window keeps the pipe full and the rest of
// the memory (and of the CPU's cache) free. What the peer holds beyond a hole takes no window, but stays in the queue
// until the hole is filled. Where the memory budget is short, so little is that every connection may go on.
static uint32_t send_limit(const struct weir *weir, const struct tcp_conn *c)
{
    if (memory_beyond(&weir->memory, MEMORY_IDLE))
        return min_u32(c->send_limit, TCP_SEND_SHORT);
    if (!c->flow)
        return min_u32(c->send_limit, TCP_SEND_FLOOR);
    const uint32_t cwnd = min_u32(c->flow->window.cwnd, UINT32_MAX / 4);
    return min_u32(c->send_limit, max_u32(2 * cwnd, TCP_SEND_FLOOR) + c->flow->flight->sacked);
}

static int send_error(const struct tcp_conn *c)
{
    if (c->state == WEIR_TCP_ESTABLISHED)  // which ends with the user's FIN
        return WEIR_OK;
    if (tcp_error_pending(c))
        return c->error;
    if (c->attention & ATTEND_FIN_QUEUED)
        return WEIR_SHUT_DOWN;
    if (c->state == WEIR_TCP_CLOSED)
        return c->remote.port ? WEIR_SHUT_DOWN : WEIR_NOT_CONNECTED;
    if (tcp_syn_sent(c) || tcp_syn_received(c))
        return WEIR_OK;  // queued until the connection is established
    return c->state == WEIR_TCP_CLOSE_WAIT ? WEIR_OK : WEIR_SHUT_DOWN;
}

// Makes memory for up to `want` bytes behind those queued exist, as far as the limit is open to the user: how many, or
// why none.
static int send_room(struct weir *weir, struct tcp_conn *c, uint32_t want)
{
    const int error = send_error(c);
    if (error)
        return error;
    const uint32_t queued = c->send ? stream_length(c->send) : 0;  // also what a driver holds
    const uint32_t limit = send_limit(weir, c);
    const uint32_t room = limit > queued ? min_u32(limit - queued, want) : 0;
    if (!c->send && room)
        c->send = stream_open(&weir->memory, c->send_limit);
    const uint32_t end = c->send && room ? stream_ensure(&weir->memory, c->send, queued + room) : 0;
    if (end > queued)
        return (int)(end - queued);
    c->flags |= TCP_WRITE_BLOCKED;
    return queued || !room ? WEIR_AGAIN : WEIR_NO_MEMORY;
}

int tcp_reserve(struct weir *weir, struct tcp_conn *c, uint32_t want, struct weir_span *spans, int count)
{
    const int room = send_room(weir, c, want);
    if (room <= 0)
        return room;
    const uint32_t used =
        stream_spans(c->send, stream_length(c->send), min_u32((uint32_t)room, want), spans, (uint32_t)count);
    uint32_t lent = 0;
    for (uint32_t i = 0; i < used; i++)
        lent += spans[i].length;
    return (int)lent;
}

int tcp_commit(struct weir *weir, struct tcp_conn *c, uint32_t bytes, bool urgent)
{
    const int error = send_error(c);
    if (error)
        return error;
    if (!c->send)
        return bytes ? WEIR_INVALID : WEIR_OK;
    if (bytes > stream_room(c->send) - stream_length(c->send))
        return WEIR_INVALID;  // more than was reserved
    if (c->flow && tcp_cc(weir, c)->wants_rate)
        tcp_rate_written(weir, c);
    stream_commit(c->send, bytes);
    stream_settle(c->send);
    if (urgent)
        tcp_urgent_queued(weir, c);
    tcp_timers_active(weir, c);
    tcp_wants_output(weir, c);
    return (int)bytes;
}

#define COPY_BULK 512u  // bytes; less than that memcpy copies as fast as anything

static inline void copy(const struct weir_port *port, uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    if (bytes >= COPY_BULK && port->copy)
        port->copy(to, from, bytes);
    else
        memcpy(to, from, bytes);
}

// A few bytes, with room for them at hand. false: nothing was done.
static inline bool write_small(struct weir *weir, struct tcp_conn *c, const uint8_t *data, uint32_t bytes)
{
    if (!WEIR_CFG_FAST_PATH || bytes > SMALL_COPY_MAX || !c->send || c->state != WEIR_TCP_ESTABLISHED ||
        !(c->armed & 1u << TCP_TIMER_LONG) || (c->flow && flight_stamped(c->flow->flight)))
        return false;
    const uint32_t queued = stream_length(c->send);
    uint8_t *place;
    if (!stream_contiguous_room(c->send, queued, bytes, &place) || queued + bytes > TCP_SEND_FLOOR)
        return false;
    stream_commit(c->send, bytes);
    stream_settle(c->send);
    tcp_wants_output(weir, c);
    copy_small(place, data, bytes);
    return true;
}

static __attribute__((noinline)) int write_many(struct weir *weir, struct tcp_conn *c, const uint8_t *data,
                                                uint32_t bytes)
{
    const int room = send_room(weir, c, bytes);
    if (room <= 0)
        return room;
    const uint32_t take = min_u32((uint32_t)room, bytes), queued = stream_length(c->send);
    uint32_t done = 0;
    do {
        const struct weir_span span = stream_stretch(c->send, queued + done, take - done);
        copy(weir->port, span.data, data + done, span.length);
        done += span.length;
    } while (done < take);
    if (c->flow && tcp_cc(weir, c)->wants_rate)
        tcp_rate_written(weir, c);
    stream_commit(c->send, take);
    stream_settle(c->send);
    if (take < bytes)
        c->flags |= TCP_WRITE_BLOCKED;
    tcp_timers_active(weir, c);
    tcp_wants_output(weir, c);
    return (int)take;
}

int tcp_write(struct weir *weir, struct tcp_conn *c, const uint8_t *data, uint32_t bytes)
{
    return write_small(weir, c, data, bytes) ? (int)bytes : write_many(weir, c, data, bytes);
}

int tcp_error_take(struct tcp_conn *c)
{
    const int error = tcp_error_pending(c);
    if (error)
        c->error = WEIR_OK;
    return error;
}

int tcp_receive_nothing(struct tcp_conn *c)
{
    if (c->attention & (ATTEND_FIN_RECEIVED | ATTEND_READ_SHUT))
        return 0;
    const int error = tcp_error_take(c);
    if (error)
        return error;
    if (c->state == WEIR_TCP_CLOSED)
        return c->remote.port ? 0 : WEIR_NOT_CONNECTED;
    return c->state == WEIR_TCP_TIME_WAIT ? 0 : WEIR_AGAIN;
}

int tcp_peek(struct weir *weir, struct tcp_conn *c, uint32_t skip, struct weir_slice *slices, int count)
{
    uint32_t length = tcp_receive_queued(c);
    if (c->attention & ATTEND_URGENT_RECEIVED)
        length = tcp_urgent_limit(weir, c, skip, length);
    if (length <= skip)
        return tcp_receive_queued(c) > skip ? WEIR_AGAIN : tcp_receive_nothing(c);
    struct weir_span spans[TCP_PEEK_SPANS];
    const uint32_t used =
        stream_spans(c->receive, skip, length - skip, spans, min_u32((uint32_t)count, TCP_PEEK_SPANS));
    uint32_t lent = 0;
    for (uint32_t i = 0; i < used; i++) {
        slices[i] = (struct weir_slice){spans[i].data, spans[i].length};
        lent += spans[i].length;
    }
    return (int)lent;
}

int tcp_consume(struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    if (bytes > tcp_receive_queued(c))
        return WEIR_INVALID;
    if (!bytes)
        return WEIR_OK;
    stream_drop(&weir->memory, c->receive, bytes);
    if (!WEIR_CFG_FAST_PATH || !tcp_receive_window_wide(c))
        tcp_receive_window_opened(weir, c);
    return (int)bytes;
}

void tcp_acknowledge(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->flags & TCP_ACK_DELAYED))
        return;
    tcp_ack_now(weir, c);
}

// All there is, a few bytes, that opens no window worth telling of; or so much of it. 0: nothing was done.
static inline uint32_t read_small(struct tcp_conn *c, uint8_t *data, uint32_t bytes)
{
    const uint32_t take = min_u32(tcp_receive_queued(c), bytes);
    if (!WEIR_CFG_FAST_PATH || take - 1 >= SMALL_COPY_MAX || c->attention & ATTEND_URGENT_RECEIVED ||
        !tcp_receive_window_wide(c))
        return 0;
    uint8_t *place;
    if (!stream_contiguous(c->receive, 0, take, &place))
        return 0;
    copy_small(data, place, take);
    return stream_drop_fast(c->receive, take) ? take : 0;
}

// One look at the queue: a read stops at the urgent mark, as the look does (RFC 6093 §3.1).
static __attribute__((noinline)) int read_many(struct weir *weir, struct tcp_conn *c, uint8_t *data, uint32_t bytes)
{
    uint32_t length = tcp_receive_queued(c);
    if (c->attention & ATTEND_URGENT_RECEIVED)
        length = tcp_urgent_limit(weir, c, 0, length);
    if (!length)
        return tcp_receive_queued(c) ? WEIR_AGAIN : tcp_receive_nothing(c);
    const uint32_t take = min_u32(length, bytes);
    uint32_t done = 0;
    do {
        const struct weir_span span = stream_stretch(c->receive, done, take - done);
        copy(weir->port, data + done, span.data, span.length);
        done += span.length;
    } while (done < take);
    stream_drop(&weir->memory, c->receive, take);
    if (!WEIR_CFG_FAST_PATH || !tcp_receive_window_wide(c))
        tcp_receive_window_opened(weir, c);
    return (int)take;
}

int tcp_read(struct weir *weir, struct tcp_conn *c, uint8_t *data, uint32_t bytes)
{
    const uint32_t few = read_small(c, data, bytes);
    return few ? (int)few : read_many(weir, c, data, bytes);
}

// Readiness now (include/weir/socket.h).
static uint8_t conn_ready(const struct weir *weir, const struct tcp_conn *c)
{
    uint8_t ready = 0;
    if (tcp_error_pending(c))
        ready |= WEIR_ERROR | WEIR_READABLE | WEIR_WRITABLE;
    if (c->attention & (ATTEND_FIN_RECEIVED | ATTEND_READ_SHUT))
        ready |= WEIR_READABLE | WEIR_READ_CLOSED;
    if (tcp_receive_queued(c) && !tcp_realtime_on(c) && tcp_low_water_met(weir, c))
        ready |= WEIR_READABLE;
    if (tcp_urgent_pending(c))
        ready |= WEIR_URGENT;
    if (c->state == WEIR_TCP_CLOSED || c->state == WEIR_TCP_TIME_WAIT)
        return (uint8_t)(ready | WEIR_HANGUP | WEIR_WRITABLE | (c->remote.port ? WEIR_READABLE : 0));
    if (c->attention & ATTEND_FIN_QUEUED)
        return (uint8_t)(ready | WEIR_WRITABLE | (c->attention & ATTEND_FIN_RECEIVED ? WEIR_HANGUP : 0));
    // also what a driver holds
    if (c->state >= WEIR_TCP_ESTABLISHED && (!c->send || stream_length(c->send) < send_limit(weir, c)))
        ready |= WEIR_WRITABLE;
    return ready;
}

uint8_t tcp_ready(struct weir *weir, struct sock *sock)
{
    if (sock->kind == SOCK_LISTENER)
        return ((const struct tcp_listener *)sock)->accept_head ? WEIR_READABLE : 0;
    struct tcp_conn *c = (struct tcp_conn *)sock;
    const uint8_t ready =
        (uint8_t)(conn_ready(weir, c) | (tcp_realtime_on(c) && tcp_realtime_readable(weir, c) ? WEIR_READABLE : 0));
    if (!(ready & WEIR_WRITABLE))
        c->flags |= TCP_WRITE_BLOCKED;  // somebody asked: tell when it changes
    return ready;
}
