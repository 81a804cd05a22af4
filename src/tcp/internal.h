// SPDX-License-Identifier: BSD-2-Clause
// What the files of src/tcp share among themselves, by file. The state is in conn.h.
#ifndef TCP_INTERNAL_H
#define TCP_INTERNAL_H

#include "instance.h"
#include "tcp/conn.h"
#include "tcp/dsack.h"
#include "tcp/ecn.h"
#include "tcp/realtime.h"
#include "wire/ip4.h"

// Verdict of a step of tcp_input_segment (RFC 9293 §3.10.7): what its driver does next.
enum tcp_verdict {
    TCP_NEXT,       // go on with the next step
    TCP_DROP,       // done with this segment
    TCP_DROP_ACK,   // done, and acknowledge it: it was unacceptable, or a keepalive
    TCP_CHALLENGE,  // done, and send a challenge ACK, limited (RFC 5961)
    TCP_GONE,       // the connection no longer exists
};

#define TCP_SYN_TIMEOUT_MS 180000u                      // RFC 9293 §3.8.3, MUST-23: R2 of a SYN is at least three minutes
#define TCP_MSS_MIN 48u                                 // a smaller MSS option is taken as this (CVE-2019-11479)
#define TCP_SEND_FLOOR 65536u                           // send queue open to the user whatever cwnd is
#define TCP_SEND_SHORT 2048u                            // the same while the memory budget is short (MEMORY_IDLE): a segment
#define TCP_PEEK_SPANS (WEIR_CFG_ALLOCATOR ? 16u : 2u)  // spans one peek lends at the most; a ring is no more than two
#define TCP_CHALLENGE_REFILL_MS 1262u                   // a second, and a quarter of uncertainty (input.c)
#define TCP_QUICK_ACKS 15u  // segments acknowledged at once when a flow starts, so that the peer's slow start is not held up
// Segments acknowledged at once after one that came beyond a hole: the peer's window is small then, and a delayed ACK would stop it.
// (Goodput of Reno and Cubic over 20 ms at 10 and 15 % loss, beside Linux's: none +5 −4 +2 −5 %, 2 +5 −4 +2 −4 %, 8 +14 +2 +8 +1 %.)
#define TCP_QUICK_ACKS_HOLE 2u
// The same where the delay would last eight round trips: the peer would rather wait for a timer, and that for a tick (5 MB at 15 % loss
// over 40 µs, by how much a tick of 20 ms is slower than one of 10: Cubic 5.1 % with 2, 4.4 % with 4; and none is slower by it, Reno 1 %
// faster).
#define TCP_QUICK_ACKS_HOLE_NEAR 4u
// Under a clock coarser than the delay itself as many as at the start, as long as holes come: the acknowledgement would wait for a tick (5
// MB at 15 % loss over 40 µs with a tick of 100 ms: Cubic waited 3.9 s of its 40 for it).
static inline bool tcp_clock_coarse(const struct weir *weir)
{
    return WEIR_CFG_TCP_COARSE_CLOCK && weir->port->granularity_us > WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u;
}

// held.c: payload lent to a driver that answered HELD
// A few bytes are copied sooner than waited for.
static inline bool tcp_worth_holding(uint32_t payload_bytes) { return payload_bytes > SMALL_COPY_MAX; }
#if WEIR_CFG_TCP_HELD
static inline uint32_t tcp_flow_lag(const struct tcp_flow *flow) { return flow->lag; }
static inline uint32_t tcp_held_lag(const struct tcp_conn *c) { return c->flow ? tcp_flow_lag(c->flow) : 0; }
static inline bool tcp_flow_held(const struct tcp_flow *flow) { return flow->held_una != flow->held_end; }
static inline bool tcp_held(const struct tcp_conn *c) { return c->flow && tcp_flow_held(c->flow); }
void tcp_held_begin(struct tcp_conn *c, uint32_t seq, uint32_t end);
void tcp_held_drop_some(struct weir *weir, struct tcp_conn *c, uint32_t bytes);
// The oldest `bytes` are acknowledged: drops what nobody holds.
static inline void tcp_held_drop(struct weir *weir, struct tcp_conn *c, const struct tcp_flow *flow, uint32_t bytes)
{
    if (!tcp_flow_held(flow))
        stream_drop(&weir->memory, c->send, bytes);
    else
        tcp_held_drop_some(weir, c, bytes);
}
#else
static inline uint32_t tcp_flow_lag(const struct tcp_flow *flow) { return (void)flow, 0; }
static inline uint32_t tcp_held_lag(const struct tcp_conn *c)
{
    (void)c;
    return 0;
}
static inline bool tcp_held(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
static inline void tcp_held_begin(struct tcp_conn *c, uint32_t seq, uint32_t end) { (void)c, (void)seq, (void)end; }
static inline void tcp_held_drop(struct weir *weir, struct tcp_conn *c, const struct tcp_flow *flow, uint32_t bytes)
{
    (void)flow;
    stream_drop(&weir->memory, c->send, bytes);
}
#endif

// Microseconds of a pause: after 71 minutes as many as 32 bits hold, not few again.
static inline uint32_t tcp_pause_us(uint32_t ms) { return ms > UINT32_MAX / 1000 ? UINT32_MAX : ms * 1000; }

// conn.c
// A connection that was accepted begins where its handshake has ended: only one that opens has a SYN to be acknowledged, or these states.
static inline bool tcp_syn_unacked(const struct tcp_conn *c) { return WEIR_CFG_TCP_CONNECT && !(c->flags & TCP_SYN_ACKED); }
static inline bool tcp_syn_sent(const struct tcp_conn *c) { return WEIR_CFG_TCP_CONNECT && c->state == WEIR_TCP_SYN_SENT; }
static inline bool tcp_syn_received(const struct tcp_conn *c) { return WEIR_CFG_TCP_CONNECT && c->state == WEIR_TCP_SYN_RECEIVED; }
// Window scale shifts; a build that offers none has none.
static inline uint32_t tcp_snd_scale(const struct tcp_conn *c) { return WEIR_CFG_TCP_WINDOW_SCALE ? c->snd_scale : 0; }
static inline uint32_t tcp_rcv_scale(const struct tcp_conn *c) { return WEIR_CFG_TCP_WINDOW_SCALE ? c->rcv_scale : 0; }
// A place for the connection with these ports that was found last.
static inline struct tcp_conn **tcp_conn_recent(struct weir *weir, uint32_t local_port, uint32_t remote_port)
{
    return &weir->tcp.recent[(local_port ^ remote_port) % TCP_RECENT];  // the ports' last bytes will do
}
// Whether it has anything but its hot block. (One test, not four: most connections that open or close have nothing.)
static inline bool tcp_attached(const struct tcp_conn *c)
{
    return ((uintptr_t)c->flow | (uintptr_t)c->send | (uintptr_t)c->receive | (uintptr_t)c->extra) != 0;
}
#if WEIR_CFG_FAST_PATH
// A connection without data opens and closes without a flow, which is for data: of a SYN or FIN that is alone on its way, and left once,
// the sequence numbers tell all but when. The time stands where its deadline would, and the deadline is worked out only when somebody asks
// (as with TCP_WAIT_LAZY). Whoever wants to know more than that it was acknowledged has the flow made from it (tcp_conn_attach).
// Whether such a SYN or FIN is out. (Nothing else can be, without a flow.)
static inline bool tcp_control_out(const struct tcp_conn *c) { return !c->flow && c->snd.una != c->snd.nxt; }
// Its round trip when it is acknowledged now, with the resolution of a flight log.
static inline uint32_t tcp_control_rtt(const struct weir *weir, const struct tcp_conn *c)
{
    return max_u32(weir->now - flight_time(c->deadline[TCP_TIMER_SEND]), 1);
}
#else
static inline bool tcp_control_out(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_control_rtt(const struct weir *weir, const struct tcp_conn *c) { return (void)weir, (void)c, 1; }
#endif
static inline uint32_t tcp_send_queued(const struct tcp_conn *c) { return c->send ? stream_length(c->send) - tcp_held_lag(c) : 0; }
static inline uint32_t tcp_receive_queued(const struct tcp_conn *c) { return c->receive ? stream_length(c->receive) : 0; }
// Sequence number of the first byte in the send queue, and of the byte after its last (where FIN goes).
static inline uint32_t tcp_data_start(const struct tcp_conn *c) { return c->snd.una + tcp_syn_unacked(c); }
static inline uint32_t tcp_data_end(const struct tcp_conn *c) { return tcp_data_start(c) + tcp_send_queued(c); }
// Queued and never sent. FIN follows all data, so with it sent nothing is left.
static inline uint32_t tcp_unsent(const struct tcp_conn *c)
{
    return c->attention & ATTEND_FIN_SENT || !c->send ? 0 : tcp_data_end(c) - seq_max(c->snd.nxt, tcp_data_start(c));
}
static inline bool tcp_synchronised(const struct tcp_conn *c) { return c->state >= WEIR_TCP_ESTABLISHED && c->state < WEIR_TCP_TIME_WAIT; }
static inline bool tcp_fin_acked(const struct tcp_conn *c)
{
    return (c->attention & ATTEND_FIN_SENT) && c->snd.una == c->snd.nxt && !tcp_send_queued(c);
}
// A build with one algorithm needs not look which.
#define TCP_CC_COUNT \
    (WEIR_CFG_CC_RENO + WEIR_CFG_CC_CUBIC + WEIR_CFG_CC_BIC + WEIR_CFG_CC_HTCP + WEIR_CFG_CC_VEGAS + WEIR_CFG_CC_WESTWOOD + \
     WEIR_CFG_CC_YEAH + WEIR_CFG_CC_BBR + WEIR_CFG_CC_BBR3)
_Static_assert(TCP_CC_COUNT > 0, "without congestion control there is no TCP");
static inline const struct weir_cc *tcp_cc(const struct tcp_conn *c) { return weir_cc_list[TCP_CC_COUNT == 1 ? 0 : c->cc]; }
#if WEIR_CFG_FAST_PATH
// Whether what it may send can leave so. (With a user timeout the deadline is another one; a rate's sample needs each byte's stamp.)
static inline bool tcp_control_only(const struct tcp_conn *c)
{
    return !tcp_attached(c) && !(c->attention & ~(uint32_t)ATTEND_CONTROL_ONLY) && tcp_ecn_silent(c) && !tcp_syn_received(c) &&
           !c->user_timeout_s && !tcp_cc(c)->wants_rate;
}
#else
static inline bool tcp_control_only(const struct tcp_conn *c) { return (void)c, false; }
#endif
#if WEIR_CFG_REALTIME_SENDER
static inline bool tcp_deadline_on(const struct tcp_conn *c) { return c->extra && c->extra->deadline.us; }
#else
static inline bool tcp_deadline_on(const struct tcp_conn *c) { return (void)c, false; }
#endif
static inline bool tcp_disordered(const struct tcp_conn *c) { return c->extra && c->extra->out_of_order; }
#if WEIR_CFG_TCP_REFINEMENTS
static inline uint16_t tcp_uto_told_s(uint16_t own_s) { return own_s ? own_s : WEIR_CFG_TCP_USER_TIMEOUT_S; }
static inline uint32_t tcp_uto_tell(uint16_t own_s, struct tcp_options *options)
{
    options->seen |= TCP_SEEN_USER_TIMEOUT;
    options->user_timeout = tcp_uto_told_s(own_s);
    return 4;
}
static inline void tcp_uto_fill_syn_ack(const struct tcp_listener *listener, struct tcp_options *options)
{
    if (listener->uto)
        (void)tcp_uto_tell(listener->user_timeout_s, options);
}
static inline bool tcp_uto_owed(const struct tcp_conn *c) { return c->extra && c->extra->uto.owed; }
#else
static inline void tcp_uto_fill_syn_ack(const struct tcp_listener *listener, struct tcp_options *options) { (void)listener, (void)options; }
static inline bool tcp_uto_owed(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_uto_chosen(struct tcp_conn *c, uint16_t seconds) { c->user_timeout_s = seconds; }
#endif
struct tcp_extra *tcp_conn_extra(struct weir *weir, struct tcp_conn *c);  // made when there is none; NULL: no memory
void tcp_conn_release(struct weir *weir, struct tcp_conn *c);             // unhashed: frees it when its user is done, too
void tcp_conn_hash(struct weir *weir, struct tcp_conn *c);                // into the connections' table
void tcp_conn_unhash(struct weir *weir, struct tcp_conn *c);
bool tcp_conn_attach(struct weir *weir, struct tcp_conn *c);  // the flow; false: no memory
void tcp_conn_idle(struct weir *weir, struct tcp_conn *c);    // lets go of everything an idle connection needs not
void tcp_mss_update(struct tcp_conn *c);                      // c->mss from path, peer, options
bool tcp_path_renew(struct weir *weir, struct tcp_conn *c);
// A valid path, or false (the error is noted).
static inline bool tcp_path_refresh(struct weir *weir, struct tcp_conn *c)
{
    return (c->path.netif && c->path.generation == weir->ip.generation) || tcp_path_renew(weir, c);
}
void tcp_wants_output(struct weir *weir, struct tcp_conn *c);
void tcp_ack_now(struct weir *weir, struct tcp_conn *c);  // an ACK is owed, and leaves with the next poll
uint8_t tcp_cc_index(const struct weir_cc *cc);           // in weir_cc_list; of its end: not built in (option.c)
struct sock *tcp_sock_of(struct table_node *node);        // a node of weir->tcp.listeners

// ack.c
enum tcp_verdict tcp_input_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);

void tcp_timers_ack_owed(struct weir *weir, struct tcp_conn *c);  // timers.c: an ACK may be delayed

// receive.c
bool tcp_receive_precopy(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment,
                         uint16_t header_sum, bool *good);
void tcp_receive_data(struct weir *weir, struct tcp_conn *c, const struct packet *packet, struct tcp_segment *segment, bool copied);
void tcp_receive_estimate_mss(struct tcp_conn *c, uint32_t merged_size, uint32_t length, bool push);
// Data after a pause, nothing in the pause: a whole segment is what a timeout sends. It is acknowledged at once, as are those at the
// beginning: slow start follows it. What a full segment is must not have been learnt of this very one (tcp_receive_estimate_mss).
static inline void tcp_receive_after_pause(const struct weir *weir, struct tcp_conn *c, uint32_t length)
{
    if (length >= c->rcv_mss && weir->now_ms - c->last_received_ms >= WEIR_CFG_TCP_RTO_MIN_MS)
        c->quick_acks = TCP_QUICK_ACKS;
}
// More than a full segment's worth: of full segments every second, and what no delay of ours may hold back (RFC 8985 §7.2: a sender expects
// one only where a single segment is out, and probes for its tail otherwise).
static inline bool tcp_receive_ack_due(const struct tcp_conn *c) { return c->rcv.nxt - c->rcv.acked > c->rcv_mss; }
// RFC 5681 §4.2, RFC 9293 §3.8.6.3: an ACK for at least every second full segment, and within WEIR_CFG_TCP_DELAYED_ACK_MS.
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
uint32_t tcp_receive_budget(const struct memory *memory);                       // what is left of it, where it is limited
// What we may promise: the free part of the limit, in steps worth announcing (RFC 9293 §3.8.6.2.2), rounded to the scale, and
// never left of what was promised. It does not grow beyond what is left of the instance's memory budget.
static inline uint32_t tcp_receive_edge(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t old = c->rcv.edge - c->rcv.nxt, scale = tcp_rcv_scale(c);
    const uint32_t queued = tcp_receive_queued(c), limit = c->receive_limit;
    const uint32_t step = min_u32(limit / 2, c->rcv_mss);
    if (!WEIR_CFG_FAST_PATH || c->extra || queued + old + step <= limit) {  // otherwise it cannot grow
        uint32_t free = limit > queued ? limit - queued : 0;
        if (WEIR_CFG_ALLOCATOR && weir->memory.budget_bytes)
            free = min_u32(free, tcp_receive_budget(&weir->memory));
        free = min_u32(free >> scale, 65535) << scale;
        // Where a frame waits for it: less than a segment is no window to the sender, a segment is (§3.8.6.2.1).
        if (free >= old + step || (tcp_realtime_on(c) && old < c->rcv_mss && free >= c->rcv_mss))
            return c->rcv.nxt + free;
    }
    // Rounding down would move the edge left (RFC 7323 §2.4), but rounding up again and again must not promise more than the queue holds
    // (make_room).
    const uint32_t unit = (1u << scale) - 1, rounded = (old + unit) & ~unit;
    return c->rcv.nxt + (queued + rounded <= limit + unit ? rounded : old);
}
void tcp_receive_window_opened(struct weir *weir, struct tcp_conn *c);  // the reader freed space
// With more than half of the window open not much can be gained.
static inline bool tcp_receive_window_wide(const struct tcp_conn *c) { return 2 * (c->rcv.edge - c->rcv.nxt) > c->receive_limit; }
void tcp_out_of_order_free(struct weir *weir, struct tcp_conn *c);

// recovery.c
// What an acknowledgement said, beside what the log made of it.
struct tcp_ack_info {
    const struct tcp_segment *segment;
    uint32_t acked;           // bytes cumulatively acknowledged
    uint32_t prior_inflight;  // tcp_recovery_pipe before it
    bool duplicate;           // RFC 5681 §2
    bool reports_duplicate;   // RFC 2883
};
void tcp_recovery_ack(struct weir *weir, struct tcp_conn *c, struct flight_delta *delta, const struct tcp_ack_info *news);
void tcp_recovery_timeout(struct weir *weir, struct tcp_conn *c);
void tcp_recovery_again(struct tcp_conn *c);                       // all that is in flight goes again: it was refused
void tcp_recovery_reorder(struct weir *weir, struct tcp_conn *c);  // the timer that RACK asked for
void tcp_recovery_probe(struct weir *weir, struct tcp_conn *c);    // the first hole is filled anew
uint32_t tcp_recovery_pipe(const struct tcp_conn *c);
void tcp_scoreboard_changed(struct tcp_conn *c);  // the flight log was marked, or marks have left it

// congestion.c
// Tells the congestion control of `acked` bytes cumulatively acknowledged, and what the log made of it.
void tcp_cc_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked, uint32_t inflight,
                uint32_t prior_inflight);
void tcp_cc_event(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event);
// At an ACK that was taken already: with what was in flight before it.
void tcp_cc_event_at(struct weir *weir, struct tcp_conn *c, enum weir_cc_event event, uint32_t prior_inflight);

// pacing.c (pacing.h)
#if WEIR_CFG_TCP_PACING
static inline bool tcp_paced(const struct tcp_conn *c)
{
    return c->flow->window.pacing_rate | c->flow->pacing.rate || c->extra || WEIR_CFG_TCP_PACING == 2;
}
// Whether the schedule of pacing is kept.
static inline bool tcp_pacing_on(const struct tcp_conn *c) { return c->flow->pacing.rate != 0; }
static inline bool tcp_pacing_held(const struct tcp_conn *c) { return c->flow->pacing.held; }  // the schedule held the last output back
// Of the room that cwnd leaves, what the schedule allows now.
static inline uint32_t tcp_pacing_room(const struct tcp_conn *c, uint32_t room) { return min_u32(room, c->flow->pacing.allowed); }
static inline void tcp_pacing_sent(struct tcp_conn *c, uint32_t bytes)
{
    if (c->flow->pacing.allowed != UINT32_MAX)
        c->flow->pacing.allowed -= min_u32(bytes, c->flow->pacing.allowed);
}
#else
static inline bool tcp_paced(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_pacing_on(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_pacing_held(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_pacing_room(const struct tcp_conn *c, uint32_t room) { return (void)c, room; }
static inline void tcp_pacing_sent(struct tcp_conn *c, uint32_t bytes) { (void)c, (void)bytes; }
#endif

// timers.c
void tcp_timers_sent(struct weir *weir, struct tcp_conn *c);                   // data, SYN or FIN left
void tcp_timers_resent(struct weir *weir, struct tcp_conn *c);                 // the first segment was sent again
void tcp_timers_acked(struct weir *weir, struct tcp_conn *c, uint32_t acked);  // una moved by so much
void tcp_timers_sacked(struct weir *weir, struct tcp_conn *c);                 // una did not move, but something was delivered
void tcp_timers_ack_within(struct weir *weir, struct tcp_conn *c, uint32_t us);
void tcp_timers_ack_sent(struct tcp_conn *c);
void tcp_timers_zero_window(struct weir *weir, struct tcp_conn *c);  // data waits, nothing is in flight, the window forbids
void tcp_timers_retry(struct weir *weir, struct tcp_conn *c);        // something could not be sent for want of a way or of memory
void tcp_timers_window_opened(struct weir *weir, struct tcp_conn *c);
void tcp_timers_active(struct weir *weir, struct tcp_conn *c);  // something happened: the long timer watches for its end
void tcp_timers_state(struct weir *weir, struct tcp_conn *c);   // the state changed: FIN-WAIT-2, keepalive
void tcp_timers_off(struct weir *weir, struct tcp_conn *c);
// The same in the steady state (predict.c), which leaves the deadline to be worked out later; whatever else looks at it has to settle
// that before.
#if WEIR_CFG_FAST_PATH
void tcp_timers_acked_steady(struct weir *weir, struct tcp_conn *c);
void tcp_timers_sent_steady(struct weir *weir, struct tcp_conn *c);
void tcp_timers_sent_control(struct weir *weir, struct tcp_conn *c);  // SYN or FIN left, without a flow (tcp_control_out)
void tcp_timers_flow_attached(struct tcp_conn *c);                    // to what left without one
void tcp_timers_resolve_lazy(struct weir *weir, struct tcp_conn *c);
static inline void tcp_timers_resolve_deadline(struct weir *weir, struct tcp_conn *c)
{
    if (c->flow ? c->flow->wait == TCP_WAIT_LAZY : c->snd.una != c->snd.nxt)
        tcp_timers_resolve_lazy(weir, c);
}
#else
static inline void tcp_timers_sent_control(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_timers_flow_attached(struct tcp_conn *c) { (void)c; }
static inline void tcp_timers_acked_steady(struct weir *weir, struct tcp_conn *c) { tcp_timers_acked(weir, c, 0); }
static inline void tcp_timers_sent_steady(struct weir *weir, struct tcp_conn *c) { tcp_timers_sent(weir, c); }
static inline void tcp_timers_resolve_deadline(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif
void tcp_timers_realtime(struct weir *weir, struct tcp_conn *c, uint32_t due_us);  // the policy wants to be called
void tcp_timers_paced(struct weir *weir, struct tcp_conn *c);                      // data waits for the schedule

// hystart.c, tlp.c, rtx_probe.c, frto.c, cwv.c: what output and prediction ask for each segment
#if WEIR_CFG_TCP_REFINEMENTS
static inline void tcp_cwv_acked(struct weir *weir, struct tcp_conn *c)
{
    if (!seq_lt(c->snd.una, c->flow->cwv.round_end) && (c->flags & TCP_CWND_LIMITED || c->attention & ATTEND_RECOVERY ||
                                                        !tcp_cwv_glance(&c->flow->cwv, weir->now_ms, c->snd.una, c->snd.nxt)))
        tcp_cwv_round(weir, c);
}
static inline void tcp_cwv_resent(struct tcp_conn *c, uint32_t bytes) { c->flow->cwv.resent += bytes; }
// In slow start half a window in flight, now or as the round trip began, already says that the window, not the application, is the limit
// (RFC 7661 §4.1): a burst of just cwnd is acknowledged piece by piece.
static inline bool tcp_half_used(const struct tcp_conn *c, uint32_t prior_inflight)
{
    return max_u32(prior_inflight, tcp_cwv_burst(&c->flow->cwv)) > c->flow->window.cwnd / 2;
}
#else
static inline bool tcp_half_used(const struct tcp_conn *c, uint32_t prior_inflight) { return prior_inflight > c->flow->window.cwnd / 2; }
static inline void tcp_cwv_acked(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_cwv_resent(struct tcp_conn *c, uint32_t bytes) { (void)c, (void)bytes; }
#endif
#if WEIR_CFG_TCP_REFINEMENTS
static inline bool tcp_hystart_calm(struct tcp_conn *c, uint32_t rtt_us)
{
    return tcp_hystart_glance(&c->flow->hystart, c->snd.una, c->snd.nxt, rtt_us);
}
#else
static inline bool tcp_hystart_calm(struct tcp_conn *c, uint32_t rtt_us) { return (void)c, (void)rtt_us, true; }
#endif
// An acknowledgement that prediction takes is of the newest delivered, too, sent `age_us` ago (RFC 8985 §6.2, step 1): a timeout goes by
// it.
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline void tcp_rack_predicted(struct tcp_flow *flow, uint32_t age_us) { flow->rack.rtt_us = age_us; }
#else
static inline void tcp_rack_predicted(struct tcp_flow *flow, uint32_t age_us) { (void)flow, (void)age_us; }
#endif
// Holes are being filled, or something lies beyond one.
static inline bool tcp_filling(const struct tcp_conn *c) { return c->attention & ATTEND_RECOVERY || c->flow->flight->sacked; }
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline bool tcp_tlp_due(const struct tcp_conn *c) { return c->attention & ATTEND_TLP_DUE; }
// Of tcp_tlp_least, what neither round trip nor clock adds to.
static inline uint32_t tcp_tlp_floor(const struct tcp_conn *c)
{
    return c->snd.nxt - c->snd.una <= c->mss ? TLP_SLACK_US + TLP_MAX_ACK_DELAY_US : TLP_SLACK_US;
}
static inline bool tcp_tlp_waiting(const struct tcp_conn *c) { return c->attention & ATTEND_TLP_OUT; }
static inline bool tcp_tlp_ticked(const struct tcp_conn *c) { return c->flow->tlp.ticked; }
#else
static inline bool tcp_tlp_due(const struct tcp_conn *c) { return (void)c, false; }
static inline uint32_t tcp_tlp_floor(const struct tcp_conn *c) { return (void)c, INT32_MAX; }
static inline bool tcp_tlp_waiting(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_tlp_ticked(const struct tcp_conn *c) { return (void)c, false; }
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY
static inline bool tcp_frto_new_data_first(const struct tcp_conn *c) { return c->flow && c->flow->frto.step == 2; }
static inline void tcp_frto_off(struct tcp_conn *c) { c->flow->frto.step = 0; }
#else
static inline bool tcp_frto_new_data_first(const struct tcp_conn *c) { return (void)c, false; }
static inline void tcp_frto_off(struct tcp_conn *c) { (void)c; }
#endif

// predict.c: the usual segment, without the list of steps. false: nothing was done, take the steps
#if WEIR_CFG_TCP_PREDICT
bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment, bool copied);
#else
static inline bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment,
                               bool copied)
{
    (void)weir, (void)c, (void)packet, (void)segment, (void)copied;
    return false;
}
#endif
// transfer.c
int tcp_receive_nothing(struct tcp_conn *c);  // what a reader without data finds: an error once, the end of the stream, or nothing yet

// input.c
bool tcp_challenge_allowed(struct weir *weir, struct tcp_conn *c);

// close.c
void tcp_conn_abort(struct weir *weir, struct tcp_conn *c);  // RST where one is due; the user has it no more
// What the connection remembers of itself contradicts itself, which no peer may bring about: it ends (RST, WEIR_ABORTED) and is counted,
// and no memory is read by its numbers. It may be freed.
void tcp_conn_insane(struct weir *weir, struct tcp_conn *c);
void tcp_enter_time_wait(struct weir *weir, struct tcp_conn *c);
void tcp_listener_close(struct weir *weir, struct tcp_listener *listener);  // listen.c
// reply.c
bool tcp_reply_on(struct weir *weir, const struct path *path, const struct packet *reply_to, const struct weir_endpoint *local,
                  const struct weir_endpoint *remote, struct ip_params params, const struct tcp_segment *segment);
bool tcp_reply_from(struct weir *weir, const struct tcp_conn *c, uint8_t flags);
bool tcp_reply_ack(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment, uint8_t tos);
// reply.c: RFC 9293 §3.10.7.4, SYN-RECEIVED: RST for an unacceptable ACK, out of the connection's own addresses
void tcp_reply_reset_for(struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment);

// connect.c: SYN-SENT
#if WEIR_CFG_TCP_CONNECT
enum tcp_verdict tcp_input_syn_sent(struct weir *weir, struct tcp_conn *c, const struct packet *packet, struct tcp_segment *segment);
#else
static inline enum tcp_verdict tcp_input_syn_sent(struct weir *weir, struct tcp_conn *c, const struct packet *packet,
                                                  struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)packet, (void)segment;
    return TCP_DROP;
}
#endif

// timestamps.c (RFC 7323)
#if WEIR_CFG_TCP_TIMESTAMPS
enum tcp_verdict tcp_paws(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_timestamps_update(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
uint32_t tcp_timestamps_rtt(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment);  // µs; 0: none
static inline void tcp_timestamps_fill(const struct weir *weir, const struct tcp_conn *c, struct tcp_options *options)
{
    options->ts_value = weir->now_ms + c->ts_offset;
    options->ts_echo = c->ts_recent;
}
static inline void tcp_timestamps_heard(struct tcp_conn *c, uint32_t ts_recent) { c->ts_recent = ts_recent; }
// When what is echoed was sent, as weir->now_ms was then.
static inline uint32_t tcp_timestamps_echo_ms(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return segment->options.ts_echo - c->ts_offset;
}
static inline bool tcp_timestamp_old(const struct tcp_conn *c, uint32_t ts_value) { return seq_lt(ts_value, c->ts_recent); }
static inline bool tcp_timestamp_newer(const struct tcp_conn *c, uint32_t ts_value) { return seq_lt(c->ts_recent, ts_value); }
static inline void tcp_timestamps_open(struct tcp_conn *c, uint32_t ts_recent, uint32_t ts_offset)
{
    c->ts_recent = ts_recent;
    c->ts_offset = ts_offset;
}
#else
static inline enum tcp_verdict tcp_paws(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
    return TCP_NEXT;
}
static inline void tcp_timestamps_update(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline uint32_t tcp_timestamps_rtt(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
    return 0;
}
static inline void tcp_timestamps_fill(const struct weir *weir, const struct tcp_conn *c, struct tcp_options *options)
{
    (void)weir, (void)c, (void)options;
}
static inline void tcp_timestamps_heard(struct tcp_conn *c, uint32_t ts_recent) { (void)c, (void)ts_recent; }
static inline uint32_t tcp_timestamps_echo_ms(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return (void)c, (void)segment, 0;
}
static inline bool tcp_timestamp_old(const struct tcp_conn *c, uint32_t ts_value) { return (void)c, (void)ts_value, false; }
static inline bool tcp_timestamp_newer(const struct tcp_conn *c, uint32_t ts_value) { return (void)c, (void)ts_value, false; }
static inline void tcp_timestamps_open(struct tcp_conn *c, uint32_t ts_recent, uint32_t ts_offset)
{
    (void)c, (void)ts_recent, (void)ts_offset;
}
#endif

// urgent.c (RFC 6093)
#if WEIR_CFG_TCP_URGENT
void tcp_urgent_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment);
void tcp_urgent_queued(struct weir *weir, struct tcp_conn *c);  // the last byte queued is urgent
uint16_t tcp_urgent_pointer(struct tcp_conn *c, uint32_t seq, uint8_t *flags);
uint32_t tcp_urgent_limit(struct weir *weir, struct tcp_conn *c, uint32_t skip, uint32_t length);  // how far a peek may reach
bool tcp_urgent_pending(const struct tcp_conn *c);                                                 // for the reader
bool tcp_urgent_to_send(const struct tcp_conn *c);                                                 // Nagle must not hold it
#else
static inline void tcp_urgent_input(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    (void)weir, (void)c, (void)segment;
}
static inline void tcp_urgent_queued(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline uint16_t tcp_urgent_pointer(struct tcp_conn *c, uint32_t seq, uint8_t *flags)
{
    (void)c, (void)seq, (void)flags;
    return 0;
}
static inline uint32_t tcp_urgent_limit(struct weir *weir, struct tcp_conn *c, uint32_t skip, uint32_t length)
{
    (void)weir, (void)c, (void)skip;
    return length;
}
static inline bool tcp_urgent_pending(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
static inline bool tcp_urgent_to_send(const struct tcp_conn *c)
{
    (void)c;
    return false;
}
#endif

// keepalive.c (RFC 9293 §3.8.4, RFC 5482)
#if WEIR_CFG_TCP_KEEPALIVE
// Milliseconds until the long timer has something to do for keepalive; 0: now (a probe was asked for, or the connection
// was dropped: *gone).
uint32_t tcp_keepalive_due(struct weir *weir, struct tcp_conn *c, bool *gone);
void tcp_keepalive_defaults(struct tcp_conn *c);
void tcp_keepalive_inherit(struct tcp_conn *c, const struct tcp_listener *listener);
void tcp_keepalive_bequeath(const struct tcp_conn *c, struct tcp_listener *listener);
#else
static inline void tcp_keepalive_inherit(struct tcp_conn *c, const struct tcp_listener *listener) { (void)c, (void)listener; }
static inline void tcp_keepalive_bequeath(const struct tcp_conn *c, struct tcp_listener *listener) { (void)c, (void)listener; }
static inline uint32_t tcp_keepalive_due(struct weir *weir, struct tcp_conn *c, bool *gone)
{
    (void)weir, (void)c, (void)gone;
    return UINT32_MAX;
}
static inline void tcp_keepalive_defaults(struct tcp_conn *c) { (void)c; }
#endif

// info.c
#if WEIR_CFG_TCP_INFO
#define TCP_INFO_COUNT(c, field, amount) ((c)->info.field += (amount))
static inline void tcp_info_open(struct tcp_conn *c, uint32_t irs) { c->info.irs = irs; }
void tcp_info_reordered(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta);    // segments came late
void tcp_info_duplicate(struct weir *weir, struct tcp_conn *c, const struct tcp_sack_block *block);  // the peer had that already
static inline bool tcp_info_keeps_extra(const struct tcp_conn *c) { return c->extra->reorder_seen || c->extra->duplicates; }
#else
#define TCP_INFO_COUNT(c, field, amount) ((void)(c))
static inline void tcp_info_open(struct tcp_conn *c, uint32_t irs) { (void)c, (void)irs; }
static inline void tcp_info_reordered(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    (void)weir, (void)c, (void)delta;
}
static inline void tcp_info_duplicate(struct weir *weir, struct tcp_conn *c, const struct tcp_sack_block *block)
{
    (void)weir, (void)c, (void)block;
}
static inline bool tcp_info_keeps_extra(const struct tcp_conn *c) { return (void)c, false; }
#endif

#endif
