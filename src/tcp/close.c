// SPDX-License-Identifier: BSD-2-Clause
// Ending: shutdown, close, abort, TIME-WAIT (RFC 9293 §3.6, §3.10.4, .5).
#include "tcp/internal.h"
#include "tcp/timewait.h"

// Queues our FIN behind the data and moves the state as RFC 9293 §3.10.4 says.
static void queue_fin(struct weir *weir, struct tcp_conn *c)
{
    if (c->attention & ATTEND_FIN_QUEUED)
        return;
    c->attention |= ATTEND_FIN_QUEUED;
    c->flags &= ~(uint32_t)TCP_CORK;
    if (c->state == WEIR_TCP_ESTABLISHED || tcp_syn_received(c))
        tcp_set_state(weir, c, WEIR_TCP_FIN_WAIT_1);
    else if (c->state == WEIR_TCP_CLOSE_WAIT)
        tcp_set_state(weir, c, WEIR_TCP_LAST_ACK);
    tcp_wants_output(weir, c);
}

int tcp_shutdown(struct weir *weir, struct tcp_conn *c, enum weir_shutdown how)
{
    if (!tcp_synchronised(c) && !tcp_syn_received(c))
        return WEIR_NOT_CONNECTED;
    if (how & WEIR_SHUT_READ) {
        c->attention |= ATTEND_READ_SHUT;
        if (c->receive)
            stream_drop(&weir->memory, c->receive, stream_length(c->receive));
        sock_event(&weir->socks, &c->sock, WEIR_READABLE | WEIR_READ_CLOSED);
    }
    if (how & WEIR_SHUT_WRITE)
        queue_fin(weir, c);
    return WEIR_OK;
}

static bool reset_is_due(const struct tcp_conn *c)
{
    return c->state >= WEIR_TCP_SYN_RECEIVED && c->state != WEIR_TCP_TIME_WAIT && c->state != WEIR_TCP_LISTEN;
}

static void end_handle(struct tcp_conn *c)
{
    c->attention |= ATTEND_CLOSED_BY_USER;
    c->sock.flags &= (uint8_t)~SOCK_HANDLED;
}

void tcp_conn_abort(struct weir *weir, struct tcp_conn *c)
{
    if (reset_is_due(c) && tcp_reply_from(weir, c, TCP_RST | TCP_ACK))
        count(weir, WEIR_COUNT_TCP_RST_SENT);
    end_handle(c);
    tcp_conn_drop(weir, c, WEIR_OK);
}

void tcp_conn_insane(struct weir *weir, struct tcp_conn *c)
{
    count(weir, WEIR_COUNT_TCP_INSANE);
    if (reset_is_due(c) && tcp_reply_from(weir, c, TCP_RST | TCP_ACK))
        count(weir, WEIR_COUNT_TCP_RST_SENT);
    tcp_conn_drop(weir, c, WEIR_ABORTED);
}

void tcp_abort(struct weir *weir, struct sock *sock)
{
    if (sock->kind == SOCK_LISTENER)
        tcp_listener_close(weir, (struct tcp_listener *)sock);
    else
        tcp_conn_abort(weir, (struct tcp_conn *)sock);
}

void tcp_close(struct weir *weir, struct sock *sock)
{
    struct tcp_conn *c = (struct tcp_conn *)sock;
    // Unread data will never be read: the peer must learn of that (RFC 2525 §2.17), as with a linger time of zero.
    if (sock->kind == SOCK_LISTENER || c->linger_s == 0 || (tcp_receive_queued(c) && tcp_synchronised(c)) ||
        tcp_syn_sent(c)) {
        tcp_abort(weir, sock);
        return;
    }
    end_handle(c);
    if (c->state == WEIR_TCP_CLOSED || c->state == WEIR_TCP_TIME_WAIT) {
        tcp_conn_unhash(weir, c);
        tcp_conn_release(weir, c);
        return;
    }
    queue_fin(weir, c);
    if (c->state == WEIR_TCP_FIN_WAIT_2)
        tcp_timers_state(weir, c);  // now it counts
}

// The connection goes on as a small record; its socket, if it still has an owner, stays to be read and closed. An
// acknowledgement that it owes is sent at its turn.
void tcp_enter_time_wait(struct weir *weir, struct tcp_conn *c)
{
    time_wait_enter(weir, c);
    tcp_conn_unhash(weir, c);
    tcp_set_state(weir, c, WEIR_TCP_TIME_WAIT);
    tcp_timers_off(weir, c);
    if (!WEIR_CFG_FAST_PATH || tcp_attached(c))
        tcp_conn_idle(weir, c);
    sock_event(&weir->socks, &c->sock, WEIR_READABLE | WEIR_WRITABLE | WEIR_HANGUP);
    tcp_conn_release(weir, c);
}

// RFC 9293 leaves it open how. As in Linux, it goes on as if the FIN had come: when that does, it is one that comes
// again, and is acknowledged.
void tcp_fin_wait_2_end(struct weir *weir, struct tcp_conn *c)
{
    c->rcv.nxt++;
    tcp_enter_time_wait(weir, c);
}
