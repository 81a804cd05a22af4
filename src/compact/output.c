// SPDX-License-Identifier: BSD-2-Clause
// What a connection may send, and the segments that carry it. Only a segment that the driver took changes the
// connection.
#include "base/checksum.h"
#include "compact/compact.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

// RFC 9293 §3.8.6.2.2: the window opens by steps worth telling.
#define WINDOW_STEP \
    (WEIR_CFG_TCP_MSS_MAX < WEIR_CFG_TCP_RECEIVE_BYTES / 2 ? WEIR_CFG_TCP_MSS_MAX : WEIR_CFG_TCP_RECEIVE_BYTES / 2)

#define SPLIT (WEIR_CFG_TCP_SPLIT != 0)

LOCAL uint32_t segment_head(const struct weir *weir, uint8_t *head, const struct peer *peer, uint32_t sequence,
                            uint32_t ack, uint32_t control, uint32_t payload_length, uint32_t payload_sum)
{
    uint8_t *tcp = head + ETHERNET_BYTES + IP_BYTES;
    const uint32_t options = control & CONTROL(TCP_SYN, 0) ? SEGMENT_MSS_BYTES : 0,
                   length = TCP_BYTES + options + payload_length;
    const uint32_t ports = native32(peer->ports);
    ethernet_header(weir, head, peer->mac, ETHERTYPE_IP);
    uint64_t sum =
        ip_header(weir, head + ETHERNET_BYTES, peer, IP_TCP, length) + pseudo_word(IP_TCP, length) + payload_sum;
    sum = word_put(tcp, sum, ports << 16 | ports >> 16);
    sum = word_put(tcp + 4, sum, network32(sequence));
    sum = word_put(tcp + 8, sum, network32(ack));
    sum = word_put(tcp + 12, sum, network32((TCP_BYTES + options) << 26 | control));
    if (options)
        sum = word_put(tcp + 20, sum,
                       network32(TCP_OPTION_MSS << 24 | 4u << 16 |
                                 min_u32(WEIR_CFG_TCP_MSS_MAX, weir->netif->mtu - (IP_BYTES + TCP_BYTES))));
    put32(tcp + 16, 0);  // no urgent data
    checksum_put(tcp + 16, checksum_fold_words(sum));
    return SEGMENT_HEAD_BYTES + options;
}

LOCAL void segment_refuse(struct weir *weir, const struct segment *segment)
{
    const bool acked = segment->flags & TCP_ACK;
    uint8_t *head = segment->flags & TCP_RST ? NULL : outbox_frame(weir, segment->peer.mac, SEGMENT_HEAD_BYTES);
    if (head)
        segment_head(weir, head, &segment->peer, acked ? segment->ack : 0,
                     acked ? 0 : segment->sequence + segment_space(segment),
                     acked ? CONTROL(TCP_RST, 0) : CONTROL(TCP_RST | TCP_ACK, 0), 0, 0);
}

LOCAL uint32_t conn_edge(const struct conn *c)
{
    const uint32_t edge = c->expected + RECEIVE_BYTES - c->receive_length;
    return edge - c->edge < WINDOW_STEP ? c->edge : edge;
}

LOCAL void conn_consume(struct conn *c, uint32_t bytes)
{
    c->receive_length = (uint16_t)(c->receive_length - bytes);
    c->receive_at = (uint16_t)((c->receive_at + bytes) % RECEIVE_BYTES);
    if (!(c->flags & CONN_FIN_RECEIVED) && conn_edge(c) != c->edge)
        c->flags |= CONN_ACK_NOW;
}

// How much of what is queued from `at` bytes after una goes into the next segment: as much as both windows allow, but
// no small piece that could wait (Nagle, RFC 9293 §3.7.4; silly windows, §3.8.6.2.1).
static uint32_t payload_length(const struct conn *c, uint32_t at)
{
    const uint32_t left = at < c->send_length ? c->send_length - at : 0, mss = c->peer.mss;
    const uint32_t usable = c->flags & CONN_AGAIN ? mss : min_u32(c->window, c->cwnd);
    const uint32_t length = min_u32(min_u32(left, mss), usable > at ? usable - at : 0);
    if (c->flags & CONN_FORCE)
        return left ? max_u32(length, 1) : 0;
    if (SPLIT && !at && length == left && length > 1)
        return (length + 1) / 2;  // the second of two is acknowledged at once (RFC 9293 §3.8.6.3), not after a delay
    if (length == mss || c->flags & CONN_AGAIN || SPLIT)
        return length;
    if (length < left)
        return length >= c->window_max / 2 ? length : 0;
    return c->flags & CONN_FIN_QUEUED || c->nxt == c->una ? length : 0;
}

// A segment with sequence space left.
static void segment_left(const struct weir *weir, struct conn *c, uint32_t sequence, uint32_t end)
{
    if (!(c->flags & CONN_TIMING) && sequence == c->max) {  // Karn: what is sent for the first time gives a sample
        c->flags |= CONN_TIMING;
        c->rtt_sequence = end;
        c->rtt_started = now(weir);
    }
    c->nxt = seq_max(c->nxt, end);
    c->max = seq_max(c->max, end);
}

// false: there is no more to send now, or the driver is full.
static bool segment_next(struct weir *weir, struct conn *c)
{
    struct weir_slice slices[3];
    const uint32_t at = c->flags & CONN_AGAIN ? 0 : c->nxt - c->una, length = payload_length(c, at),
                   edge = conn_edge(c);
    const bool fin = c->flags & CONN_FIN_QUEUED && at + length == c->send_length;
    if (!length && !fin && !(c->flags & (CONN_ACK_NOW | CONN_RESET)))
        return false;
    const uint32_t sequence = length || fin ? c->una + at : c->max, end = sequence + length + fin;
    const uint32_t flags = TCP_ACK | (fin ? TCP_FIN : 0u) | (length && at + length == c->send_length ? TCP_PSH : 0u) |
                           (c->flags & CONN_RESET ? TCP_RST : 0u);
    const uint32_t from = (c->send_at + at) % SEND_BYTES, first = min_u32(length, SEND_BYTES - from);
    uint32_t count = length ? 2 : 1, sum = checksum_sum(weir->port, c->send + from, first);
    slices[1] = (struct weir_slice){c->send + from, first};
    if (first != length) {
        slices[2] = (struct weir_slice){c->send, length - first};
        sum = checksum_add_at((uint16_t)sum, checksum_sum(weir->port, c->send, length - first), first);
        count = 3;
    }
    segment_head(weir, weir->outbox + 2, &c->peer, sequence, c->expected, CONTROL(flags, edge - c->expected), length,
                 sum);
    slices[0] = (struct weir_slice){weir->outbox + 2, SEGMENT_HEAD_BYTES};
    if (!frame_send(weir, slices, count, SEGMENT_HEAD_BYTES + length))
        return false;
    c->edge = edge;
    c->flags &= (uint16_t) ~(CONN_ACK_NOW | CONN_ACK_DELAYED | CONN_AGAIN | CONN_FORCE | CONN_RESET);
    if (end != sequence)
        segment_left(weir, c, sequence, end);
    return c->nxt - c->una < c->send_length || c->flags & CONN_FIN_QUEUED;
}

LOCAL uint32_t conn_output(struct weir *weir, struct conn *c)
{
    uint32_t wait_us = WAIT_FOREVER;
    if (frame_may_send(weir) && local_ready(weir->netif, &c->peer)) {
        uint32_t quantum = WEIR_CFG_POLL_QUANTUM;
        while (wait_us && segment_next(weir, c))
            if (!--quantum)
                wait_us = 0;
    }
    if (conn_owes(c) && !(c->flags & CONN_TIMER))
        conn_timer(weir, c, c->rto);
    return wait_us;
}
