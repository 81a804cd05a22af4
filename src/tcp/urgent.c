// SPDX-License-Identifier: BSD-2-Clause
// Urgent data (RFC 9293 §3.8.5, RFC 6093): a mark in the stream. The pointer is the octet after the last urgent byte,
// as every stack has it. Without OOBINLINE that byte is taken out of the stream and read apart; the mark is where it
// was.
#include "tcp/internal.h"

void tcp_urgent_queued(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_conn_extra(weir, c))
        return;  // without memory the byte goes as any other: urgency is a hint
    c->extra->snd_up = tcp_data_end(c);
    c->attention |= ATTEND_URGENT_SEND;
}

// The pointer for a segment that begins at `seq`; a mark too far ahead is announced as far as the field reaches (RFC
// 6093 §3.1 does not need it exact before it is near).
uint16_t tcp_urgent_pointer(struct tcp_conn *c, uint32_t seq, uint8_t *flags)
{
    if (seq_le(c->extra->snd_up, c->snd.una)) {
        c->attention &= ~(uint32_t)ATTEND_URGENT_SEND;
        return 0;
    }
    if (!seq_lt(seq, c->extra->snd_up))
        return 0;
    *flags |= TCP_URG;
    return (uint16_t)min_u32(c->extra->snd_up - seq, 65535);
}

#define URGENT_REACH 65536u  // a mark lies no further beyond the window than the pointer's field reaches

void tcp_urgent_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    const uint32_t up = segment->seq + segment->urgent;
    // A pointer of zero, or one that is read already, says nothing new (CVE-2019-12255: no subtraction is done with
    // it).
    if (!segment->urgent || !seq_lt(c->rcv.nxt, up) ||
        (c->attention & ATTEND_URGENT_RECEIVED && seq_in(c->extra->rcv_up, up, c->rcv.edge + URGENT_REACH)) ||
        !tcp_synchronised(c) || c->attention & ATTEND_FIN_RECEIVED || !tcp_conn_extra(weir, c))
        return;
    c->extra->rcv_up = up;
    c->extra->urgent_passed = false;
    c->attention = (c->attention & ~(uint32_t)ATTEND_URGENT_TAKEN) | ATTEND_URGENT_RECEIVED;
    sock_event(&weir->socks, &c->sock, WEIR_URGENT);
}

// Bytes from the front of the queue to the urgent byte; beyond UINT32_MAX / 2: the front is past it.
static uint32_t mark_offset(const struct tcp_conn *c)
{
    return c->extra->rcv_up - 1 - (c->rcv.nxt - tcp_receive_queued(c) - (c->attention & ATTEND_FIN_RECEIVED ? 1 : 0));
}

bool tcp_urgent_pending(const struct tcp_conn *c)
{
    return (c->attention & (ATTEND_URGENT_RECEIVED | ATTEND_URGENT_TAKEN)) == ATTEND_URGENT_RECEIVED &&
           (!(c->flags & TCP_OOB_INLINE) || mark_offset(c) <= INT32_MAX);
}

bool tcp_urgent_to_send(const struct tcp_conn *c)
{
    return c->attention & ATTEND_URGENT_SEND && seq_lt(c->snd.una, c->extra->snd_up);
}

// At the mark the urgent byte leaves the stream and waits apart; the reader goes on behind it.
static void take_out(struct weir *weir, struct tcp_conn *c)
{
    struct weir_span span;
    stream_spans(c->receive, 0, 1, &span, 1);
    c->extra->urgent_byte = span.data[0];
    stream_drop(&weir->memory, c->receive, 1);
    c->extra->urgent_passed = true;
}

uint32_t tcp_urgent_limit(struct weir *weir, struct tcp_conn *c, uint32_t skip, uint32_t length)
{
    const uint32_t mark = mark_offset(c);
    if (mark > INT32_MAX && mark != UINT32_MAX &&
        // long past: an old mark must not look new
        (c->attention & ATTEND_URGENT_TAKEN || c->flags & TCP_OOB_INLINE)) {
        c->extra->urgent_passed = false;
        c->attention &= ~(uint32_t)(ATTEND_URGENT_RECEIVED | ATTEND_URGENT_TAKEN);
        return length;
    }
    if (c->extra->urgent_passed || mark > INT32_MAX || mark >= length)
        return length;
    if (mark > skip || c->flags & TCP_OOB_INLINE)
        return mark > skip ? mark : length;
    if (mark == 0 && skip == 0) {
        take_out(weir, c);
        return tcp_receive_queued(c);
    }
    return mark;
}

int tcp_read_urgent(struct weir *weir, struct tcp_conn *c, uint8_t *byte, bool peek)
{
    if (!(c->attention & ATTEND_URGENT_RECEIVED) || c->flags & TCP_OOB_INLINE || c->attention & ATTEND_URGENT_TAKEN)
        return WEIR_INVALID;
    if (!c->extra->urgent_passed) {
        const uint32_t mark = mark_offset(c);
        if (mark >= tcp_receive_queued(c))
            return WEIR_AGAIN;
        struct weir_span span;
        stream_spans(c->receive, mark, 1, &span, 1);
        c->extra->urgent_byte = span.data[0];
    }
    *byte = c->extra->urgent_byte;
    if (!peek)
        c->attention |= ATTEND_URGENT_TAKEN;
    (void)weir;
    return 1;
}

int tcp_at_mark(struct weir *weir, struct tcp_conn *c)
{
    (void)weir;
    if (!(c->attention & ATTEND_URGENT_RECEIVED))
        return 0;
    return c->extra->urgent_passed ? mark_offset(c) == UINT32_MAX : mark_offset(c) == 0;
}
