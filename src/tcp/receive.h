// SPDX-License-Identifier: BSD-2-Clause
// receive.c: data that comes, the acknowledgements that it is owed, and the window.
#ifndef TCP_RECEIVE_H
#define TCP_RECEIVE_H

#include "tcp/conn_state.h"
#include "tcp/realtime.h"
#include "tcp/timers.h"

// segments acknowledged at once when a flow starts, so that the peer's slow start is not held up
#define TCP_QUICK_ACKS 15u
// Segments acknowledged at once after one that came beyond a hole: the peer's window is small then, and a delayed ACK
// would stop it. (Goodput of Reno and Cubic over 20 ms at 10 and 15 % loss, beside Linux's: none +5 −4 +2 −5 %, 2 +5 −4
// +2 −4 %, 8 +14 +2 +8 +1 %.)
#define TCP_QUICK_ACKS_HOLE 2u
// The same where the delay would last eight round trips: the peer would rather wait for a timer, and that for a tick (5
// MB at 15 % loss over 40 µs, by how much a tick of 20 ms is slower than one of 10: Cubic 5.1 % with 2, 4.4 % with 4;
// and none is slower by it, Reno 1 % faster).
#define TCP_QUICK_ACKS_HOLE_NEAR 4u
// Under a clock coarser than the delay itself as many as at the start, as long as holes come: the acknowledgement would
// wait for a tick (5 MB at 15 % loss over 40 µs with a tick of 100 ms: Cubic waited 3.9 s of its 40 for it).
static inline bool tcp_clock_coarse(const struct weir *weir)
{
    return WEIR_CFG_TCP_COARSE_CLOCK && weir->port->granularity_us > WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u;
}

// Copies payload bytes [at, at + length) of the packet to where the next in order belong, and sums them. The memory
// exists.
uint16_t tcp_receive_store(struct weir *weir, struct tcp_conn *c, const struct packet *packet, uint32_t at,
                           uint32_t length);
bool tcp_receive_precopy(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                         const struct tcp_segment *segment, uint16_t header_sum, bool *good);
void tcp_receive_data(struct weir *weir, struct tcp_conn *c, const struct packet *packet, struct tcp_segment *segment,
                      bool copied);
void tcp_receive_estimate_mss(struct tcp_conn *c, uint32_t merged_size, uint32_t length, bool push);
// Data after a pause, nothing in the pause: a whole segment is what a timeout sends. It is acknowledged at once, as are
// those at the beginning: slow start follows it. What a full segment is must not have been learnt of this very one
// (tcp_receive_estimate_mss).
static inline void tcp_receive_after_pause(const struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    if (length >= c->rcv_mss && weir->now_ms - c->last_received_ms >= WEIR_CFG_TCP_RTO_MIN_MS)
        c->quick_acks = TCP_QUICK_ACKS;
}
// More than a full segment's worth: of full segments every second, and what no delay of ours may hold back (RFC 8985
// §7.2: a sender expects one only where a single segment is out, and probes for its tail otherwise).
static inline bool tcp_receive_ack_due(const struct tcp_conn *c) { return c->rcv.nxt - c->rcv.acked > c->rcv_mss; }
// RFC 5681 §4.2, RFC 9293 §3.8.6.3: an ACK for at least every second full segment, and within
// WEIR_CFG_TCP_DELAYED_ACK_MS.
static inline void tcp_receive_owe_ack(struct weir *weir, struct tcp_conn *c, bool at_once)
{
    if (c->quick_acks) {
        c->quick_acks--;
        at_once = true;
    }
    if (at_once || tcp_receive_ack_due(c)) {
        tcp_ack_now(weir, c);
    } else if (LIKELY(!(c->flags & (TCP_QUICK_ACK | TCP_ACK_DELAYED | TCP_ACK_NOW)))) {
        c->flags |= TCP_ACK_DELAYED;
        tcp_timers_ack_owed(weir, c);
    } else if (c->flags & TCP_QUICK_ACK) {
        tcp_ack_now(weir, c);
    }
}
bool tcp_receive_make_room(struct weir *weir, struct tcp_conn *c, uint32_t length);
// Makes memory for the next `length` bytes exist. false: there is none.
static inline bool tcp_receive_room(struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    if (!c->receive)
        return tcp_receive_make_room(weir, c, length);
    const uint32_t end = stream_length(c->receive) + length;
    return stream_ensure(&weir->memory, c->receive, end) == end;
}
void tcp_receive_fin(struct weir *weir, struct tcp_conn *c, uint32_t fin_seq);  // the peer's FIN has this number
uint32_t tcp_receive_budget(const struct memory *memory);  // what is left of it, where it is limited
// What we may promise: the free part of the limit, in steps worth announcing (RFC 9293 §3.8.6.2.2), rounded to the
// scale, and never left of what was promised. It does not grow beyond what is left of the instance's memory budget.
static inline uint32_t tcp_receive_edge(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t old = c->rcv.edge - c->rcv.nxt, scale = tcp_rcv_scale(c);
    const uint32_t queued = tcp_receive_queued(c), limit = c->receive_limit;
    const uint32_t step = min_u32(limit / 2, c->rcv_mss);
    if (!WEIR_CFG_FAST_PATH || c->extra || queued + old + step <= limit) {  // otherwise it cannot grow
        uint32_t free = limit > queued ? limit - queued : 0;
        if (WEIR_CFG_ALLOCATOR)
            free = min_u32(free, tcp_receive_budget(&weir->memory));
        free = min_u32(free >> scale, 65535) << scale;
        // Where a frame waits for it: less than a segment is no window to the sender, a segment is (§3.8.6.2.1).
        if (free >= old + step || (tcp_realtime_on(c) && old < c->rcv_mss && free >= c->rcv_mss))
            return c->rcv.nxt + free;
    }
    // Rounding down would move the edge left (RFC 7323 §2.4), but rounding up again and again must not promise more
    // than the queue holds (make_room).
    const uint32_t unit = (1u << scale) - 1, rounded = (old + unit) & ~unit;
    return c->rcv.nxt + (queued + rounded <= limit + unit ? rounded : old);
}
void tcp_receive_window_opened(struct weir *weir, struct tcp_conn *c);  // the reader freed space
// With more than half of the window open not much can be gained.
static inline bool tcp_receive_window_wide(const struct tcp_conn *c)
{
    return 2 * (c->rcv.edge - c->rcv.nxt) > c->receive_limit;
}
void tcp_out_of_order_free(struct weir *weir, struct tcp_conn *c);
// Gives up what lies beyond a hole, counted: what was SACKed may be dropped, and comes again (RFC 2018 §8).
static inline void tcp_renege(struct weir *weir, struct tcp_conn *c)
{
    count(weir, WEIR_COUNT_TCP_RENEGED);
    tcp_out_of_order_free(weir, c);
}

#endif
