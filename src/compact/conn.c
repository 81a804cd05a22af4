// SPDX-License-Identifier: BSD-2-Clause
// A connection: its beginning, its end, its timers. RFC 6298 is kept by `rto`, `backoff` and the one send timer; the send timer runs while
// anything is queued or in flight.
#include "compact/compact.h"
#include "wire/tcp.h"

#define USER_TIMEOUT_US (WEIR_CFG_TCP_USER_TIMEOUT_S * 1000000u)
#define FIN_WAIT_2_US (WEIR_CFG_TCP_FIN_WAIT_2_S * 1000000u)

LOCAL struct conn *conn_find(struct weir *weir, const struct peer *peer)
{
    for (struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        if (c->socket.state && memcmp(&c->peer, peer, PEER_NAME_BYTES) == 0)
            return c;
    return NULL;
}

LOCAL struct conn *conn_new(struct weir *weir, const struct entry *entry)
{
    struct listener *listener = listener_find(weir, entry->peer.our_port);
    struct conn *c = weir->conns;
    while (c->socket.state || c->socket.open)
        if (++c == weir->conns + CONNS)
            return NULL;
    if (!listener)
        return NULL;
    const weir_socket handle = c->socket.handle;
    memset(c, 0, offsetof(struct conn, send));
    c->socket.handle = handle;
    c->socket.state = WEIR_TCP_ESTABLISHED;
    c->flags = CONN_WAITS_ACCEPT;
    c->peer = entry->peer;
    c->una = c->nxt = c->max = entry->sequence;
    c->expected = entry->expected;
    c->edge = entry->expected + RECEIVE_BYTES;
    c->progress = now(weir);
    c->challenged = now(weir) - USER_TIMEOUT_US;
    c->ssthresh = UINT32_MAX;
    c->cwnd = 3u * c->peer.mss;  // RFC 5681 §3.1, for segments of 1095 to 2190 bytes; a bit less than allowed for smaller ones
    c->rto = RTO_AFTER_SYN_US;
    if (!entry->tries)
        rtt_sample(c, now(weir) - (entry->due - RTO_INITIAL_US));
    listener->socket.events |= WEIR_READABLE;
    return c;
}

LOCAL void rtt_sample(struct conn *c, uint32_t sample_us)
{
    sample_us |= 1;  // 0 means that there is none
    if (c->srtt8) {  // RFC 6298 §2.3: RTTVAR first, with the SRTT before this sample
        const uint32_t srtt = c->srtt8 >> 3, error = sample_us > srtt ? sample_us - srtt : srtt - sample_us;
        c->rttvar4 += error - (c->rttvar4 >> 2);
        c->srtt8 += sample_us - srtt;
    } else {
        c->srtt8 = sample_us << 3;
        c->rttvar4 = sample_us << 1;
    }
    // The variation is held above the smallest RTO, so that a peer's delayed acknowledgement does not look like a loss.
    c->rto = min_u32((c->srtt8 >> 3) + max_u32(c->rttvar4, WEIR_CFG_TCP_RTO_MIN_MS * 1000u), RTO_MAX_US);
}

LOCAL void conn_event(struct conn *c, uint32_t events) { c->socket.events |= (uint8_t)events; }

LOCAL void conn_end(struct conn *c, int error)
{
    c->socket.state = WEIR_TCP_CLOSED;
    c->flags &= CONN_FIN_RECEIVED | CONN_READ_SHUT;
    c->error = (int8_t)error;
    conn_event(c, WEIR_HANGUP | WEIR_READABLE | WEIR_WRITABLE | (error ? WEIR_ERROR : 0));
}

LOCAL void conn_reset(struct weir *weir, struct conn *c, int error)
{
    segment_reply(weir, &c->peer, c->max, c->expected, TCP_RST | TCP_ACK);
    conn_end(c, error);
}

LOCAL void conn_timer(const struct weir *weir, struct conn *c, uint32_t in_us)
{
    c->due = now(weir) + in_us;
    c->flags |= CONN_TIMER;
}

LOCAL void conn_retransmit_timer(const struct weir *weir, struct conn *c)
{
    conn_timer(weir, c, min_u32((uint64_t)c->rto << c->backoff > RTO_MAX_US ? RTO_MAX_US : c->rto << c->backoff, RTO_MAX_US));
}
