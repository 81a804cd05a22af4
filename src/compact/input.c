// SPDX-License-Identifier: BSD-2-Clause
// A segment that came, RFC 9293 §3.10.7 in its order, with RFC 5961.
#include "compact/compact.h"
#include "wire/tcp.h"

#define CHALLENGE_US 500000u  // RFC 5961 §7: an unacceptable segment without data is answered as often as this
#define DUPLICATES 3u         // RFC 5681 §3.2

LOCAL void tcp_input(struct weir *weir, struct segment *segment, const uint8_t *tcp)
{
    const uint32_t header = segment->length < TCP_BYTES ? 0 : (uint32_t)(tcp[12] >> 4) * 4;
    if (header < TCP_BYTES || header > segment->length)
        return;
    segment->offset += header;
    segment->length -= header;
    memcpy(segment->peer.ports, tcp, 4);  // both ports
    memcpy(segment->peer.mac, segment->frame->slices[0].data + 6, 6);
    segment->options = tcp + TCP_BYTES;
    segment->sequence = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    struct conn *c = conn_find(weir, peer_key_of(&segment->peer));
    if (c) {
        conn_input(weir, c, segment);
        return;
    }
    struct entry *entry = entry_find(weir, &segment->peer);
    if (!(entry ? entry_input(weir, entry, segment) : listener_input(weir, segment)))
        segment_refuse(weir, segment);
}

static void challenge(const struct weir *weir, struct conn *c)
{
    if (now(weir) - c->challenged < CHALLENGE_US)
        return;
    c->challenged = now(weir);
    c->flags |= CONN_ACK_NOW;
}

// RFC 9293 §3.6.1: both ends are done; what remains is an entry, which acknowledges the FIN, and the user's unread
// data.
static void enter_time_wait(struct weir *weir, struct conn *c)
{
    entry_time_wait(weir, c);
    conn_end(c, 0);
}

// --- acknowledgements ------------------------------------------------------------------------------------------------

// RFC 5681 §3.1 and 3.2, RFC 6582 §3.2.
static COLD void congestion_acked(struct conn *c, uint32_t acked)
{
    const uint32_t mss = c->peer.mss;
    uint32_t grown = c->cwnd + (c->cwnd < c->ssthresh ? min_u32(acked, mss) : max_u32(mss * mss / c->cwnd, 1));
    c->duplicate_acks = 0;
    if (c->flags & CONN_RECOVERY) {
        if (seq_lt(c->una, c->recover)) {  // a partial one: the next hole begins here
            c->flags |= CONN_AGAIN;
            grown = max_u32(c->cwnd, acked) - acked + mss;
        } else {
            c->flags &= (uint16_t)~CONN_RECOVERY;
            grown = c->ssthresh;
        }
    }
    c->cwnd = (uint16_t)min_u32(grown, UINT16_MAX);
}

static COLD void duplicate_acked(struct conn *c)
{
    if (c->flags & CONN_RECOVERY) {
        c->cwnd = (uint16_t)min_u32(c->cwnd + (uint32_t)c->peer.mss, UINT16_MAX);  // a segment left the network
        return;
    }
    if (++c->duplicate_acks != DUPLICATES || c->recover - c->una <= c->max - c->una)
        return;  // an older `recover` is none of what is in flight
    c->ssthresh = (uint16_t)max_u32((c->max - c->una) / 2, 2u * c->peer.mss);
    c->cwnd = (uint16_t)(c->ssthresh + DUPLICATES * c->peer.mss);
    c->recover = c->max;
    c->flags = (uint16_t)((c->flags & ~CONN_TIMING) | CONN_RECOVERY | CONN_AGAIN);
}

static COLD void fin_acked(struct weir *weir, struct conn *c)
{
    c->flags &= (uint16_t) ~(CONN_FIN_QUEUED | CONN_TIMER);
    if (c->socket.state == WEIR_TCP_FIN_WAIT_1)
        c->socket.state = WEIR_TCP_FIN_WAIT_2;
    else if (c->socket.state == WEIR_TCP_CLOSING)
        enter_time_wait(weir, c);
    else
        conn_end(c, 0);  // LAST-ACK
}

// `acked` bytes of sequence space, more than none.
LOCAL void conn_acked(struct weir *weir, struct conn *c, uint32_t acked)
{
    const uint32_t bytes = min_u32(acked, c->send_length);
    c->send_length = (uint16_t)(c->send_length - bytes);
    c->send_at = (uint16_t)((c->send_at + bytes) % SEND_BYTES);
    c->una += acked;
    c->nxt = seq_max(c->nxt, c->una);
    c->progress = now(weir);
    if (c->flags & CONN_TIMING && seq_le(c->rtt_sequence, c->una)) {
        c->flags &= (uint16_t)~CONN_TIMING;
        conn_rtt(c, now(weir) - c->rtt_started);
    } else {
        conn_rto(c);
    }
    congestion_acked(c, acked);
    c->flags &= (uint16_t)~CONN_TIMER;  // RFC 6298 §5.2
    if (conn_owes(c))
        conn_timer(weir, c, c->rto);  // §5.3
    if (c->flags & CONN_WRITE_BLOCKED) {
        c->flags &= (uint16_t)~CONN_WRITE_BLOCKED;
        conn_event(c, WEIR_WRITABLE);
    }
}

// false: the segment is not to be believed.
static bool ack_input(struct weir *weir, struct conn *c, const struct segment *segment)
{
    const uint32_t acked = segment->ack - c->una;
    if (acked > c->max - c->una) {
        if (-acked <= c->window_max)
            return true;     // an old one
        challenge(weir, c);  // RFC 5961 §5
        return false;
    }
    const uint32_t before = c->window;
    if (seq_le(c->update_sequence, segment->sequence)) {
        c->update_sequence = segment->sequence;
        c->window = segment->window;
        c->window_max = (uint16_t)max_u32(c->window_max, c->window);
    }
    // RFC 9293 §3.8.6.1: it may keep us waiting as long as it answers; not when nobody owns the connection any more
    // (Sockstress).
    if (!c->window && (c->socket.open || c->flags & CONN_WAITS_ACCEPT))
        c->progress = now(weir);
    const bool fin = acked > c->send_length;
    if (acked)
        conn_acked(weir, c, acked);
    else if (c->max != c->una && !segment_space(segment) && before == c->window)
        duplicate_acked(c);
    if (fin)
        fin_acked(weir, c);
    if (!before && c->window && c->socket.state) {
        c->nxt = c->una;  // what probed the window was most likely dropped
        conn_rto(c);
    }
    return c->socket.state != WEIR_TCP_CLOSED;
}

// --- data ------------------------------------------------------------------------------------------------------------

// Keeps what lies beyond a hole, as one piece: data that does not touch it must come again.
static COLD void keep_beyond(struct conn *c, uint32_t start, uint32_t end)
{
    if (c->beyond_start == c->beyond_end) {
        c->beyond_start = start;
        c->beyond_end = end;
    } else if (seq_le(start, c->beyond_end) && seq_le(c->beyond_start, end)) {
        c->beyond_start = seq_min(c->beyond_start, start);
        c->beyond_end = seq_max(c->beyond_end, end);
    }
}

// In order: the data moves RCV.NXT, also over what waited beyond it.
LOCAL void conn_received(const struct weir *weir, struct conn *c, uint32_t length)
{
    uint32_t end = c->expected + length;
    uint32_t ack = CONN_ACK_DELAYED;
    if (c->beyond_start != c->beyond_end && seq_le(c->beyond_start, end)) {
        end = seq_max(end, c->beyond_end);
        c->beyond_start = c->beyond_end;
        ack = CONN_ACK_NOW;  // RFC 5681 §4.2: a hole was filled
    }
    c->receive_length = (uint16_t)(c->receive_length + (end - c->expected));
    c->expected = end;
    if (c->flags & CONN_ACK_DELAYED)
        ack = CONN_ACK_NOW;  // the second segment
    c->flags |= (uint16_t)ack;
    if (ack == CONN_ACK_DELAYED)
        c->ack_due = now(weir) + WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u;
    conn_event(c, WEIR_READABLE);
    if (c->flags & CONN_READ_SHUT)
        conn_consume(c, c->receive_length);
}

static void data_store(struct conn *c, const struct segment *segment, uint32_t ahead)
{
    const uint32_t at = (c->receive_at + c->receive_length + ahead) % RECEIVE_BYTES,
                   first = min_u32(segment->length, RECEIVE_BYTES - at);
    frame_copy(segment->frame, segment->offset, c->receive + at, first);
    if (first != segment->length)
        frame_copy(segment->frame, segment->offset + first, c->receive, segment->length - first);
}

static COLD void fin_input(struct weir *weir, struct conn *c)
{
    c->expected++;
    c->edge = seq_max(c->edge, c->expected);
    c->flags |= CONN_FIN_RECEIVED | CONN_ACK_NOW;
    conn_event(c, WEIR_READABLE | WEIR_READ_CLOSED);
    if (c->socket.state == WEIR_TCP_ESTABLISHED)
        c->socket.state = WEIR_TCP_CLOSE_WAIT;
    else if (c->socket.state == WEIR_TCP_FIN_WAIT_1)
        c->socket.state = WEIR_TCP_CLOSING;
    else
        enter_time_wait(weir, c);  // FIN-WAIT-2
}

// `ahead`: how far beyond RCV.NXT it begins, within the window.
static void data_input(struct weir *weir, struct conn *c, struct segment *segment, uint32_t ahead)
{
    const uint32_t room = c->edge - c->expected - ahead;
    if (!(segment->length | (segment->flags & TCP_FIN)) || c->flags & CONN_FIN_RECEIVED)
        return;
    if (segment->length > room) {
        segment->length = room;
        segment->flags &= (uint8_t)~TCP_FIN;
        c->flags |= CONN_ACK_NOW;
    }
    if (segment->length) {
        if (!c->socket.open && !(c->flags & CONN_WAITS_ACCEPT)) {
            conn_reset(c, 0);  // RFC 1122 §4.2.2.13: nobody will read it
            return;
        }
        data_store(c, segment, ahead);
    }
    if (ahead) {
        c->flags |= CONN_ACK_NOW;  // RFC 5681 §4.2; its FIN must come again
        keep_beyond(c, c->expected + ahead, c->expected + ahead + segment->length);
        return;
    }
    const uint32_t end = c->expected + segment->length;
    if (segment->length)
        conn_received(weir, c, segment->length);
    if (segment->flags & TCP_FIN && c->expected == end)
        fin_input(weir, c);
}

// --- the steps -------------------------------------------------------------------------------------------------------

LOCAL void conn_input(struct weir *weir, struct conn *c, struct segment *segment)
{
    const uint32_t window = c->edge - c->expected;
    uint32_t ahead = segment->sequence - c->expected;
    if (segment->flags & TCP_RST) {  // RFC 5961 §3
        if (!ahead)
            conn_end(c, WEIR_RESET);
        else if (ahead < window)
            challenge(weir, c);
        return;
    }
    const uint32_t old = -ahead;
    // its beginning was received
    if ((int32_t)ahead < 0 && segment_space(segment) > old && !(segment->flags & TCP_SYN)) {
        segment->offset += old;
        segment->length -= old;
        ahead = 0;
    }
    if (segment->flags & TCP_SYN || (ahead && ahead >= window)) {  // RFC 5961 §4; RFC 9293 §3.10.7.4, first
        if (segment_space(segment) && !(segment->flags & TCP_SYN))
            c->flags |= CONN_ACK_NOW;
        else
            challenge(weir, c);
        return;
    }
    if (segment->flags & TCP_ACK && ack_input(weir, c, segment))
        data_input(weir, c, segment, ahead);
}
