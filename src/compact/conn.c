// SPDX-License-Identifier: BSD-2-Clause
// A connection: its beginning, its end, its timers. One timer serves retransmission and probes: it runs while anything
// is queued or in flight, so what cannot be sent now is tried again when it fires, whatever the reason was.
#include "compact/compact.h"
#include "wire/tcp.h"

#define USER_TIMEOUT_US (WEIR_CFG_TCP_USER_TIMEOUT_S * 1000000u)
#define FIN_WAIT_2_US (WEIR_CFG_TCP_FIN_WAIT_2_S * 1000000u)

// A place that is free; else that of a connection whose owner has closed it and which waits for the peer's FIN alone.
LOCAL struct conn *conn_new(struct weir *weir, const struct entry *entry)
{
    struct conn *c = NULL;
    for (struct conn *other = weir->conns + CONNS; other-- != weir->conns;)
        if (!other->socket.open && (!other->socket.state || (!c && other->socket.state == WEIR_TCP_FIN_WAIT_2)))
            c = other;
    if (!c)
        return NULL;
    const weir_socket handle = c->socket.handle;
    memset(c, 0, offsetof(struct conn, send));
    c->socket.handle = handle;
    c->socket.state = WEIR_TCP_ESTABLISHED;
    c->flags = CONN_WAITS_ACCEPT;
    c->peer = entry->peer;
    c->una = c->nxt = c->max = entry->sequence;
    c->recover = entry->sequence - 1;
    c->expected = entry->expected;
    c->edge = entry->expected + RECEIVE_BYTES;
    c->progress = now(weir);
    c->challenged = now(weir) - USER_TIMEOUT_US;
    c->ssthresh = UINT16_MAX;
    c->cwnd = (uint16_t)(3u * c->peer.mss);  // RFC 5681 §3.1, for segments of 1095 to 2190 bytes; a bit less than
                                             // allowed for smaller ones
    if (entry->tries)
        conn_rto(c);
    else
        conn_rtt(c, now(weir) - entry->due + RTO_INITIAL_US);
    return c;
}

// The variation is held above the smallest RTO, so that a peer's delayed acknowledgement does not look like a loss.
LOCAL void conn_rto(struct conn *c)
{
    c->rto = c->srtt8 ? (c->srtt8 >> 3) + max_u32(c->rttvar4, WEIR_CFG_TCP_RTO_MIN_MS * 1000u) : RTO_AFTER_SYN_US;
}

LOCAL void conn_rtt(struct conn *c, uint32_t sample_us)
{
    sample_us |= 1;   // 0 means that there is none
    if (!c->srtt8) {  // RFC 6298 §2.2
        c->srtt8 = sample_us << 3;
        c->rttvar4 = sample_us << 1;
    } else {
        const uint32_t error = sample_us - (c->srtt8 >> 3);  // §2.3: RTTVAR first, with the SRTT before this sample
        c->rttvar4 += ((int32_t)error < 0 ? -error : error) - (c->rttvar4 >> 2);
        c->srtt8 += error;
    }
    conn_rto(c);
}

LOCAL void conn_timer(const struct weir *weir, struct conn *c, uint32_t in_us)
{
    c->due = now(weir) + in_us;
    c->flags |= CONN_TIMER;
}

LOCAL void conn_end(struct conn *c, int error)
{
    c->socket.state = WEIR_TCP_CLOSED;
    c->flags &= CONN_FIN_RECEIVED | CONN_READ_SHUT | CONN_RESET;
    c->error = (int8_t)error;
    conn_event(c, WEIR_HANGUP | WEIR_READABLE | WEIR_WRITABLE | (error ? WEIR_ERROR : 0u));
}

LOCAL void conn_reset(struct conn *c, int error)
{
    c->flags |= CONN_RESET;
    c->send_length = 0;
    if (!c->window)
        c->max = c->una;  // RFC 5961 §3.2: the peer believes the number that it expects, which a probe is beyond
    conn_end(c, error);
}

LOCAL void conn_shut(struct conn *c)
{
    if (!conn_writable(c))
        return;
    c->socket.state = c->socket.state == WEIR_TCP_ESTABLISHED ? WEIR_TCP_FIN_WAIT_1 : WEIR_TCP_LAST_ACK;
    c->flags |= CONN_FIN_QUEUED;
}

// RFC 6298 §5.4 to 5.6, RFC 5681 §3.1, RFC 9293 §3.8.6.1: everything unacknowledged will be sent again, beginning with
// one segment; a closed window is probed with one byte. The connection is given up (§3.8.3, R2) when the peer neither
// took data nor told us to wait.
static void conn_timeout(struct weir *weir, struct conn *c)
{
    c->flags &= (uint16_t)~CONN_TIMER;
    if (!conn_owes(c)) {
        conn_end(c, 0);  // FIN-WAIT-2, and nobody has the handle
        return;
    }
    if (now(weir) - c->progress >= USER_TIMEOUT_US) {
        conn_end(c, WEIR_TIMED_OUT);
        return;
    }
    c->rto = min_u32(2 * c->rto, RTO_MAX_US);
    if (c->window && c->max != c->una) {
        c->ssthresh = (uint16_t)max_u32((c->max - c->una) / 2, 2u * c->peer.mss);
        c->cwnd = c->peer.mss;
    }
    c->nxt = c->una;
    c->recover = c->max;  // RFC 6582 §4: duplicates of what is sent again mean nothing
    c->flags = (uint16_t)((c->flags & ~(CONN_RECOVERY | CONN_TIMING)) | CONN_FORCE);
}

LOCAL uint32_t conn_turn(struct weir *weir, struct conn *c)
{
    if (c->flags & CONN_TIMER && seq_le(c->due, now(weir)))
        conn_timeout(weir, c);
    // over, also where the driver is full: no deadline stays behind
    if (c->flags & CONN_ACK_DELAYED && seq_le(c->ack_due, now(weir)))
        c->flags = (uint16_t)((c->flags & ~CONN_ACK_DELAYED) | CONN_ACK_NOW);
    if (!c->socket.state && !(c->flags & CONN_RESET))
        return WAIT_FOREVER;
    // A FIN-WAIT-2 that nobody holds ends by itself.
    if (c->socket.state == WEIR_TCP_FIN_WAIT_2 && !c->socket.open && !(c->flags & CONN_TIMER))
        conn_timer(weir, c, FIN_WAIT_2_US);
    uint32_t wait_us = conn_output(weir, c);
    if (c->flags & CONN_TIMER)
        wait_us = min_u32(wait_us, c->due - now(weir));
    if (c->flags & CONN_ACK_DELAYED)
        wait_us = min_u32(wait_us, c->ack_due - now(weir));
    return wait_us;
}
