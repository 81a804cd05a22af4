// SPDX-License-Identifier: BSD-2-Clause
// Received data: into the queue, in order or beyond a hole; what ACK it earns; what window we promise.
#include "tcp/attach.h"
#include "tcp/sack.h"

// --- memory for what arrives -----------------------------------------------------------------------------------------

static bool takes_data(const struct tcp_conn *c)
{
    return c->state == WEIR_TCP_ESTABLISHED || c->state == WEIR_TCP_FIN_WAIT_1 || c->state == WEIR_TCP_FIN_WAIT_2;
}

// The queue may hold a scale unit more than the limit, because a promised window is rounded up to it
// (tcp_receive_edge), and what was promised before the limit was lowered. false: no memory.
static bool have_queue(struct weir *weir, struct tcp_conn *c)
{
    if (!c->receive)
        c->receive =
            stream_open(&weir->memory, max_u32(c->receive_limit, c->rcv.edge - c->rcv.nxt) + (1u << tcp_rcv_scale(c)));
    return c->receive;
}

bool tcp_receive_make_room(struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    if (!have_queue(weir, c))
        return false;
    const uint32_t end = stream_length(c->receive) + length;
    return stream_ensure(&weir->memory, c->receive, end) >= end;
}

// Memory for `length` bytes from rcv.nxt + ahead on, beyond a hole. It goes by what arrived there, not by how far ahead
// a peer says it is.
static bool make_room_ahead(struct weir *weir, struct tcp_conn *c, uint32_t ahead, uint32_t length)
{
    if (!WEIR_CFG_ALLOCATOR)
        return tcp_receive_make_room(weir, c, ahead + length);
    const uint32_t held = tcp_disordered(c) ? intervals_total(c->extra->out_of_order) : 0;
    return have_queue(weir, c) &&
           stream_ensure_ahead(&weir->memory, c->receive, stream_length(c->receive) + ahead, length, held);
}

// No memory for the next bytes: it may be lying beyond the hole that they fill, out of reach of the reader until they
// come. That is given up, or they would be refused for ever: an allocator may end before the budget does, whose marks
// keep what is needed here (pressure.c).
static bool make_way(struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    if (!WEIR_CFG_ALLOCATOR || !tcp_disordered(c))
        return false;
    tcp_renege(weir, c);
    return tcp_receive_make_room(weir, c, length);
}

// Copies (and, with a sum, sums) payload bytes [at, at + length) of the packet to rcv.nxt + ahead. The memory exists.
static uint16_t store(struct weir *weir, struct tcp_conn *c, const struct packet *packet, uint32_t at, uint32_t ahead,
                      uint32_t length, bool summed)
{
    uint32_t offset = stream_length(c->receive) + ahead;
    uint16_t sum = 0;
    uint32_t done = 0;
    while (done < length) {
        const struct weir_span span = stream_stretch_ahead(c->receive, offset + done, length - done);
        if (summed)
            sum = checksum_add_at(sum, packet_copy_sum(weir->port, packet, at + done, span.data, span.length), done);
        else
            packet_copy(packet, at + done, span.data, span.length);
        done += span.length;
    }
    return sum;
}

uint16_t tcp_receive_store(struct weir *weir, struct tcp_conn *c, const struct packet *packet, uint32_t at,
                           uint32_t length)
{
    return store(weir, c, packet, at, 0, length, true);
}

// One pass over in-order data: copied into free queue memory and summed as it goes. Nothing counts until the sum proved
// good, and no byte that is already there is touched; later steps find the data in place. false: not such a segment,
// the caller sums first.
bool tcp_receive_precopy(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                         const struct tcp_segment *segment, uint16_t header_sum, bool *good)
{
    if (segment->seq != c->rcv.nxt || tcp_disordered(c) || segment->length > c->rcv.edge - c->rcv.nxt ||
        !takes_data(c) || segment->flags & TCP_SYN || !tcp_receive_make_room(weir, c, segment->length))
        return false;
    const uint16_t sum = tcp_receive_store(weir, c, packet, segment->header_length, segment->length);
    *good = checksum_add(header_sum, sum) == 0xffff;
    return true;
}

// --- beyond a hole ---------------------------------------------------------------------------------------------------

void tcp_out_of_order_free(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_disordered(c))
        return;
    detach_intervals(&weir->memory, c->extra->out_of_order);
    c->extra->out_of_order = NULL;
    tcp_attend(c, ATTEND_OUT_OF_ORDER, false);
    c->extra->pending_sacks = 0;
    if (c->receive)
        stream_ahead_end(&weir->memory, c->receive);
}

#define INTERVALS_FIRST 8u
// Bounds the memmove of one insertion to 512 KB. A sender is not to have more than 65,535 segments in flight either
// (flight.h): with every second one lost half as many.
#define INTERVALS_MAX 65535u

// Room for one more interval: at least limit / (2 MSS) of them in full, so that a window full of every other segment
// fits.
static bool intervals_grow(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_conn_extra(weir, c))
        return false;
    const struct intervals *old = c->extra->out_of_order;
    const uint32_t most = min_u32(max_u32(c->receive_limit / (2u * c->rcv_mss), INTERVALS_FIRST), INTERVALS_MAX);
    const uint32_t capacity = old ? min_u32(old->capacity * 2u, most) : INTERVALS_FIRST;
    if (old && (capacity <= old->capacity || intervals_bytes(capacity) > STREAM_AHEAD_FACTOR * intervals_total(old)))
        return false;  // single bytes do not pay for their places either
    struct intervals *list = attach_intervals(&weir->memory, c->extra, capacity);
    if (!list)
        return false;
    if (old) {
        *list = *old;
        list->capacity = (uint16_t)capacity;
        memcpy(list->item, old->item, old->count * sizeof old->item[0]);
        detach_intervals(&weir->memory, c->extra->out_of_order);
    }
    c->extra->out_of_order = list;
    tcp_attend(c, ATTEND_OUT_OF_ORDER, true);
    return true;
}

// Stores [start, end) where nothing is present yet: the first copy of a byte wins.
static void store_holes(struct weir *weir, struct tcp_conn *c, const struct packet *packet, uint32_t payload_at,
                        uint32_t start, uint32_t end)
{
    const uint32_t first = start;
    uint32_t hole;
    uint32_t length;
    while (seq_lt(start, end) && (length = tcp_disordered(c) ? intervals_hole(c->extra->out_of_order, start, end, &hole)
                                                             : (hole = start, end - start)) != 0) {
        store(weir, c, packet, payload_at + (hole - first), hole - c->rcv.nxt, length, false);
        start = hole + length;
    }
}

static void receive_ahead(struct weir *weir, struct tcp_conn *c, const struct packet *packet, uint32_t payload_at,
                          uint32_t start, uint32_t end)
{
    c->flags |= TCP_ACK_NOW;
    const uint8_t quick = tcp_clock_coarse(weir)                                  ? TCP_QUICK_ACKS
                          : c->rtt.srtt8_us < WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u ? TCP_QUICK_ACKS_HOLE_NEAR
                                                                                  : TCP_QUICK_ACKS_HOLE;
    if (c->quick_acks < quick)
        c->quick_acks = quick;
    TCP_INFO_COUNT(c, out_of_order, 1);
    if (tcp_disordered(c) && intervals_covers(c->extra->out_of_order, start, end)) {
        count(weir, WEIR_COUNT_TCP_DUPLICATE);
        tcp_dsack_owe(weir, c, start, end);
        return;
    }
    if (!make_room_ahead(weir, c, start - c->rcv.nxt, end - start) ||
        (!tcp_disordered(c) && !intervals_grow(weir, c))) {
        count(weir, WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED);
        if (!tcp_disordered(c) && c->receive)
            stream_ahead_end(&weir->memory, c->receive);  // there was memory for the data, and none for its list
        return;
    }
    if (c->extra->out_of_order->count == c->extra->out_of_order->capacity)
        intervals_grow(weir, c);
    struct intervals *list = c->extra->out_of_order;
    const bool goes_on = c->flags & TCP_USE_SACK && list->count && list->item[list->recent].end == start;
    if (!goes_on)
        tcp_sack_make_room(weir, c, 1);
    store_holes(weir, c, packet, payload_at, start, end);  // where nothing is: harmless even if the list then refuses
    const bool added = intervals_add(list, start, end);
    count(weir, added ? WEIR_COUNT_TCP_OUT_OF_ORDER : WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED);
    if (added)
        tcp_sack_pending_add(c, goes_on);
}

// --- in order --------------------------------------------------------------------------------------------------------

// The estimate of the peer's full segment. A smaller one without PSH had more behind it, so it was full too.
void tcp_receive_estimate_mss(struct tcp_conn *c, uint32_t merged_size, uint32_t length, bool push)
{
    length = merged_size ? min_u32(merged_size, length) : length;
    if (length > c->rcv_mss || (!push && length >= 64))
        c->rcv_mss = (uint16_t)min_u32(length, UINT16_MAX);
}

// A hole was filled. What is left beyond another one has to pay for its memory: what a sender has in flight always
// does; single bytes, each far from the next, do not keep the chunks for which the rest has paid.
static void settle_beyond(struct weir *weir, struct tcp_conn *c)
{
    const struct intervals *const list = c->extra->out_of_order;
    if (!list->count)
        tcp_out_of_order_free(weir, c);
    else if (stream_ahead_dear(c->receive, intervals_total(list)))
        tcp_renege(weir, c);
}

static void receive_in_order(struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    const bool filled = tcp_disordered(c);
    uint32_t nxt = c->rcv.nxt + length;
    if (filled) {
        nxt = intervals_advance(c->extra->out_of_order, nxt);
        length = nxt - c->rcv.nxt;
        if (WEIR_CFG_ALLOCATOR)
            stream_ensure(&weir->memory, c->receive, stream_length(c->receive) + length);  // it exists, perhaps ahead
    }
    TCP_INFO_COUNT(c, received_wraps, nxt < c->rcv.nxt);
    c->rcv.nxt = nxt;
    stream_commit(c->receive, length);
    if (filled)
        settle_beyond(weir, c);
    tcp_receive_owe_ack(weir, c, filled);
    if (c->attention & ATTEND_READ_SHUT) {
        stream_drop(&weir->memory, c->receive, stream_length(c->receive));
        return;
    }
    if (tcp_low_water_met(weir, c))
        sock_event(&weir->socks, &c->sock, WEIR_READABLE);
}

// RFC 2883 §4.2.2: a segment that fills a hole and goes on into what is there already: the first part of that is
// reported.
static void report_overlap(struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    if (!tcp_disordered(c) || !seq_lt(c->extra->out_of_order->item[0].start, end))
        return;
    const struct interval *first = &c->extra->out_of_order->item[0];
    tcp_dsack_owe(weir, c, first->start, seq_min(first->end, end));
}

void tcp_receive_data(struct weir *weir, struct tcp_conn *c, const struct packet *packet, struct tcp_segment *segment,
                      bool copied)
{
    if (!takes_data(c))
        return;
    uint32_t start = segment->seq;
    uint32_t end = start + segment->length;
    uint32_t at = segment->header_length;
    tcp_timers_active(weir, c);
    if (seq_lt(start, c->rcv.nxt)) {
        tcp_dsack_owe(weir, c, start, seq_min(end, c->rcv.nxt));
        at += c->rcv.nxt - start;
        start = c->rcv.nxt;
        tcp_ack_now(weir, c);
    }
    if (seq_lt(c->rcv.edge, end)) {  // beyond the promise: cut, and its FIN with it
        end = c->rcv.edge;
        segment->flags &= (uint8_t)~TCP_FIN;
        tcp_ack_now(weir, c);
    }
    if (!seq_lt(start, end))
        return;
    tcp_receive_estimate_mss(c, packet->frame->segment_size, segment->length, segment->flags & TCP_PSH);
    if (start != c->rcv.nxt) {
        receive_ahead(weir, c, packet, at, start, end);
        tcp_wants_output(weir, c);
        return;
    }
    if (!copied) {
        if (!tcp_receive_make_room(weir, c, end - start) && !make_way(weir, c, end - start)) {
            count(weir, WEIR_COUNT_TCP_NO_MEMORY);
            segment->flags &= (uint8_t)~TCP_FIN;
            return;
        }
        store_holes(weir, c, packet, at, start, end);
    }
    report_overlap(weir, c, end);
    receive_in_order(weir, c, end - start);
    if (c->attention & ATTEND_FIN_AHEAD && c->extra->fin == c->rcv.nxt)
        tcp_receive_fin(weir, c, c->extra->fin);
}

// Eighth: FIN (RFC 9293 §3.10.7.4). Beyond a hole it is remembered, and answered like all that comes out of order (RFC
// 5681 §4.2).
void tcp_receive_fin(struct weir *weir, struct tcp_conn *c, uint32_t fin_seq)
{
    if (c->attention & ATTEND_FIN_RECEIVED || !(takes_data(c) || tcp_syn_received(c)))
        return;
    if (fin_seq != c->rcv.nxt) {
        if (seq_in(fin_seq, c->rcv.nxt + 1, c->rcv.edge + 1) && tcp_conn_extra(weir, c)) {
            c->attention |= ATTEND_FIN_AHEAD;
            c->extra->fin = fin_seq;
            tcp_ack_now(weir, c);
        }
        return;
    }
    tcp_out_of_order_free(weir, c);  // nothing can follow a FIN: who sent it lied
    c->rcv.nxt++;
    if (seq_lt(c->rcv.edge, c->rcv.nxt))
        c->rcv.edge = c->rcv.nxt;
    c->attention = (c->attention & ~(uint32_t)ATTEND_FIN_AHEAD) | ATTEND_FIN_RECEIVED;
    // A reader that learns of the end mostly ends too, and soon: our own FIN can take the acknowledgement along, as
    // data would (RFC 9293 §3.8.6.3). Where it has left there is nothing to wait for; nor is there any slow start to
    // hurry for.
    c->quick_acks = 0;
    tcp_receive_owe_ack(weir, c, c->state != WEIR_TCP_ESTABLISHED);
    sock_event(&weir->socks, &c->sock,
               (uint8_t)(WEIR_READABLE | WEIR_READ_CLOSED | (c->attention & ATTEND_FIN_QUEUED ? WEIR_HANGUP : 0)));
    if (c->state == WEIR_TCP_ESTABLISHED)
        tcp_set_state(weir, c, WEIR_TCP_CLOSE_WAIT);
    else if (c->state == WEIR_TCP_FIN_WAIT_1)
        tcp_set_state(weir, c, WEIR_TCP_CLOSING);
    else if (c->state == WEIR_TCP_FIN_WAIT_2)
        tcp_enter_time_wait(weir, c);
}

// --- the window ------------------------------------------------------------------------------------------------------

// What the instance may still take. Some of it goes into chunks not full and the like.
#if WEIR_CFG_ALLOCATOR
uint32_t tcp_receive_budget(const struct memory *memory)
{
    const uint64_t most = memory->mark_bytes[MEMORY_IDLE];
    const uint64_t left = memory->used_bytes < most ? most - memory->used_bytes : 0;
    return left > INT32_MAX ? INT32_MAX : (uint32_t)(left - left / 4);
}
#else
uint32_t tcp_receive_budget(const struct memory *memory) { return (void)memory, UINT32_MAX; }
#endif

// A reader that frees as much as the peer still has left to send into is worth a segment of its own.
void tcp_receive_window_opened(struct weir *weir, struct tcp_conn *c)
{
    const uint32_t left = c->rcv.edge - c->rcv.nxt;
    if (tcp_receive_window_wide(c) || !takes_data(c))
        return;
    const uint32_t gained = tcp_receive_edge(weir, c) - c->rcv.edge;
    if (gained && gained <= INT32_MAX && gained >= left) {
        tcp_ack_now(weir, c);
    }
}
