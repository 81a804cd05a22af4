// SPDX-License-Identifier: BSD-2-Clause
// The timers of a connection, and the only place that sets them.
//  SEND  runs while something is in flight: for the RTO (RFC 6298), or for what comes before it, reordering, a
//        tail-loss probe or a chance (RFC 8985); or while data waits for a window (probe, RFC 9293 §3.8.6.1).
//  ACK   runs while an acknowledgement is owed and delayed.
//  PACE  runs while data waits for the schedule of a paced connection (pacing.h).
//  FRAME (realtime.c) runs for a real-time stream: its frame's deadline, and what its policy asked for.
//  LONG  runs while the connection is not at rest: it lets go of memory after idling, and watches keepalive, user
//        timeout, FIN-WAIT-2.
// A deadline is a number in the connection; the wheel holds one node, due no later than the earliest of them. Moving a
// deadline later, what every ACK does, is a store.
#include "tcp/internal.h"

// A model of the path is worth its memory for longer: without it an algorithm would have to probe from the beginning
// after each pause.
#define IDLE_RELEASE_MODEL_MS 60000u
#define IDLE_RELEASE_MS 1000u  // memory is let go after so long without traffic, or after the RTO if that is longer

static void arm_at(struct weir *weir, struct tcp_conn *c, enum tcp_timer timer, uint32_t due_us)
{
    c->deadline[timer] = due_us;
    c->armed |= (uint8_t)(1u << timer);
    if (!wheel_armed(&c->timer) || seq_lt(due_us, c->timer.due_us))
        wheel_arm(&weir->wheel, &c->timer, due_us);
}

static void arm(struct weir *weir, struct tcp_conn *c, enum tcp_timer timer, uint32_t in_us)
{
    arm_at(weir, c, timer, weir->now + in_us);
}

static void disarm(struct tcp_conn *c, enum tcp_timer timer) { c->armed &= (uint8_t) ~(1u << timer); }

static uint32_t user_timeout_ms(const struct tcp_conn *c)
{
    return (c->user_timeout_s ? c->user_timeout_s : (uint32_t)WEIR_CFG_TCP_USER_TIMEOUT_S) * 1000u;
}

// A user timeout that was asked for is kept to the moment, not to the next retransmission.
static uint32_t rto_us(const struct weir *weir, const struct tcp_conn *c)
{
    uint32_t in_us = tcp_deadline_on(c) ? tcp_deadline_rto(c) : rtt_timeout(&c->rtt, c->backoff);
    if (c->user_timeout_s) {
        const uint32_t waiting_ms = weir->now_ms - c->progress_ms, most_ms = user_timeout_ms(c);
        const uint32_t left_ms = waiting_ms < most_ms ? most_ms - waiting_ms : 0;
        if (left_ms < in_us / 1000)
            in_us = (left_ms + 1) * 1000;
    }
    return in_us;
}

// From `since_us`: by the port's clock (clock_step), or from when a timer was due that fired only at the tick after.
static void arm_rto_since(struct weir *weir, struct tcp_conn *c, uint32_t since_us)
{
    if (c->flow)
        c->flow->wait = TCP_WAIT_RTO;
    arm(weir, c, TCP_TIMER_SEND, rto_us(weir, c) - min_u32(weir->now - since_us, weir->port->granularity_us));
}

static void arm_rto(struct weir *weir, struct tcp_conn *c) { arm_rto_since(weir, c, (uint32_t)weir->now_us); }

// Until the RTO that began before, or what comes sooner, counted on from `since_us`.
static void arm_sooner_since(struct weir *weir, struct tcp_conn *c, uint32_t since_us)
{
    const int32_t left_us = (int32_t)(c->flow->rto_due - since_us);
    const uint32_t rto = left_us > 0 ? (uint32_t)left_us : 0, reorder = tcp_rack_wait(c),
                   chance = tcp_deadline_on(c) ? tcp_deadline_wait(weir, c) : 0;
    const uint32_t tail = reorder || tcp_deadline_on(c) ? 0 : tcp_tlp_wait(weir, c, rto);
    uint32_t sooner = reorder | tail;
    c->flow->wait = reorder ? TCP_WAIT_REORDER : tail ? TCP_WAIT_TAIL : TCP_WAIT_RTO;
    if (chance && chance < rto && (!sooner || chance < sooner)) {
        c->flow->wait = TCP_WAIT_CHANCE;
        sooner = chance;
    }
    arm_at(weir, c, TCP_TIMER_SEND, since_us + (sooner ? min_u32(sooner, rto) : rto));
}

static void arm_sooner(struct weir *weir, struct tcp_conn *c) { arm_sooner_since(weir, c, weir->now); }

// Until the RTO from now, or what comes sooner.
static void arm_send(struct weir *weir, struct tcp_conn *c)
{
    if (!c->flow) {
        arm_rto(weir, c);
        return;
    }
    c->flow->rto_due = (uint32_t)weir->now_us + rto_us(weir, c);
    arm_sooner(weir, c);
}

void tcp_timers_sent(struct weir *weir, struct tcp_conn *c)
{
    tcp_timers_resolve_deadline(weir, c);
    if (!(c->armed & 1u << TCP_TIMER_SEND) || c->attention & ATTEND_PERSIST) {  // RFC 6298 §5.1
        c->attention &= ~(uint32_t)(ATTEND_PERSIST | ATTEND_PROBE_NOW);
        c->progress_ms = weir->now_ms;
        arm_send(weir, c);
    } else if (c->flow && c->flow->wait == TCP_WAIT_TAIL && !tcp_rtx_probe_on(weir, c)) {
        arm_sooner(weir, c);  // RFC 8985 §7.2: the tail is a later one now
    }
    tcp_tlp_hasten(weir, c);
    tcp_timers_active(weir, c);
}

// RFC 6582 §3.2, step 3, "impatient": without SACK a hole is filled a round trip, and where there are many a timeout is
// the faster way out. So of the partial ACKs only the first, which moves una from where recovery began, lets it run
// anew; nor does what is sent again because of those.
static bool impatient(const struct tcp_conn *c, uint32_t una)
{
    return c->attention & ATTEND_FAST_RECOVERY && !(c->flags & TCP_USE_SACK) && una != c->flow->recovery_una;
}

void tcp_timers_resent(struct weir *weir, struct tcp_conn *c)
{
    if (!impatient(c, c->snd.una))
        arm_send(weir, c);
}

// What is lost twice is found by RACK as long as anything is delivered: the RTO need not run meanwhile.
void tcp_timers_sacked(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->armed & 1u << TCP_TIMER_SEND) || c->attention & ATTEND_PERSIST || !c->flow)
        return;
    if (tcp_rack_on(c->flags & TCP_USE_SACK))
        arm_send(weir, c);
    else if (c->flow->wait == TCP_WAIT_TAIL)
        arm_sooner(weir, c);
}

void tcp_timers_acked(struct weir *weir, struct tcp_conn *c, uint32_t acked)
{
    c->attention &= ~(uint32_t)(ATTEND_PERSIST | ATTEND_PROBE_NOW);  // a probe without its timer would wait for ever
    if (c->snd.una == c->snd.nxt)
        disarm(c, TCP_TIMER_SEND);  // §5.2
    else if (!impatient(c, c->snd.una - acked))
        arm_send(weir, c);  // §5.3
}

void tcp_timers_ack_within(struct weir *weir, struct tcp_conn *c, uint32_t us) { arm(weir, c, TCP_TIMER_ACK, us); }
void tcp_timers_ack_owed(struct weir *weir, struct tcp_conn *c)
{
    tcp_timers_ack_within(weir, c, WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u);
}
void tcp_timers_ack_sent(struct tcp_conn *c) { disarm(c, TCP_TIMER_ACK); }

void tcp_timers_zero_window(struct weir *weir, struct tcp_conn *c)
{
    if (c->attention & ATTEND_PERSIST)
        return;
    c->attention |= ATTEND_PERSIST;
    tcp_backoff_set(c, 0);
    if (c->snd.una == c->snd.nxt)
        c->progress_ms = weir->now_ms;
    arm_rto(weir, c);
    tcp_timers_active(weir, c);
}

void tcp_timers_retry(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->armed & 1u << TCP_TIMER_SEND))
        tcp_timers_zero_window(weir, c);
}

void tcp_timers_window_opened(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->attention & ATTEND_PERSIST))
        return;
    c->attention &= ~(uint32_t)(ATTEND_PERSIST | ATTEND_PROBE_NOW);
    tcp_backoff_set(c, 0);
    if (c->snd.una == c->snd.nxt)
        disarm(c, TCP_TIMER_SEND);
    else
        arm_send(weir, c);
}

void tcp_timers_active(struct weir *weir, struct tcp_conn *c)
{
    if (!(c->armed & 1u << TCP_TIMER_LONG))
        arm(weir, c, TCP_TIMER_LONG, IDLE_RELEASE_MS * 1000u);
}

void tcp_timers_state(struct weir *weir, struct tcp_conn *c)
{
    if (c->state == WEIR_TCP_CLOSED)
        return;
    if (c->state == WEIR_TCP_FIN_WAIT_2)
        c->progress_ms = weir->now_ms;  // FIN-WAIT-2 counts from here
    else if (WEIR_CFG_FAST_PATH && !tcp_attached(c) && !(c->flags & TCP_KEEPALIVE_ON))
        return;  // nothing to let go of, nobody to look after: most handshakes
    arm(weir, c, TCP_TIMER_LONG, IDLE_RELEASE_MS * 1000u);
}

void tcp_timers_paced(struct weir *weir, struct tcp_conn *c)
{
    const uint32_t due = tcp_pacing_due(c);
    tcp_pacing_arm(c, true);
    if (!wheel_armed(&c->timer) || seq_lt(due, c->timer.due_us))
        wheel_arm(&weir->wheel, &c->timer, due);
}

void tcp_timers_realtime(struct weir *weir, struct tcp_conn *c, uint32_t due_us)
{
    if (!wheel_armed(&c->timer) || seq_lt(due_us, c->timer.due_us))
        wheel_arm(&weir->wheel, &c->timer, due_us);
}

void tcp_timers_off(struct weir *weir, struct tcp_conn *c)
{
    c->armed = 0;
    if (tcp_realtime_on(c))
        tcp_realtime_disarm(c);
    if (c->flow)
        tcp_pacing_arm(c, false);
    wheel_cancel(&weir->wheel, &c->timer);
}

// --- the steady state, and control-only segments ---------------------------------------------------------------------
#if WEIR_CFG_FAST_PATH

// RTO and tail probe run from now, as at each acknowledgement and each first segment in the steady state (predict.c).
// Nearly always the next one comes before either runs out: so long as the wheel's node comes no later than they could,
// since when they run is all that is noted.
static inline bool node_soon_enough(const struct weir *weir, const struct tcp_conn *c)
{
    const int32_t left_us = (int32_t)(c->timer.due_us - weir->now);
    // (No RTO is below its floor, no probe comes before the least it waits: mostly that spares working them out.)
    return wheel_armed(&c->timer) &&
           (left_us <= (int32_t)tcp_tlp_floor(c) || left_us <= (int32_t)tcp_tlp_least(weir, c)) &&
           (left_us <= (int32_t)c->rtt.floor_us || left_us <= (int32_t)rtt_timeout(&c->rtt, 0));
}

static inline void run_lazy(struct weir *weir, struct tcp_conn *c)
{
    if (c->user_timeout_s | tcp_rack_wait(c) | tcp_tlp_ticked(c) | tcp_clock_coarse(weir) ||
        !node_soon_enough(weir, c)) {
        arm_send(weir, c);
        tcp_tlp_hasten(weir, c);
        return;
    }
    c->armed |= 1u << TCP_TIMER_SEND;
    c->deadline[TCP_TIMER_SEND] = c->flow->rto_due = weir->now;
    c->flow->wait = TCP_WAIT_LAZY;
}

// A SYN's own timeout, of a FIN the tail probe too: as soon as either can be.
void tcp_timers_sent_control(struct weir *weir, struct tcp_conn *c)
{
    uint32_t least_us = rtt_timeout(&c->rtt, 0);
    if (tcp_synchronised(c))
        least_us = min_u32(least_us, tcp_tlp_least(weir, c));
    c->progress_ms = weir->now_ms;
    c->deadline[TCP_TIMER_SEND] = weir->now;
    c->armed |= 1u << TCP_TIMER_SEND;
    if (!wheel_armed(&c->timer) || seq_lt(weir->now + least_us, c->timer.due_us))
        wheel_arm(&weir->wheel, &c->timer, weir->now + least_us);
}

void tcp_timers_flow_attached(struct tcp_conn *c)
{
    c->flow->rto_due = c->deadline[TCP_TIMER_SEND];
    c->flow->wait = TCP_WAIT_LAZY;
}

void tcp_timers_resolve_lazy(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_conn_attach(weir, c))
        return;  // no memory: it stays without a flow (fire_send)
    c->flow->wait = TCP_WAIT_RTO;
    if (!(c->armed & 1u << TCP_TIMER_SEND))
        return;
    c->flow->rto_due += rto_us(weir, c);
    arm_sooner_since(weir, c, c->deadline[TCP_TIMER_SEND]);
}

void tcp_timers_acked_steady(struct weir *weir, struct tcp_conn *c)
{
    if (c->snd.una == c->snd.nxt)
        disarm(c, TCP_TIMER_SEND);
    else
        run_lazy(weir, c);
}

void tcp_timers_sent_steady(struct weir *weir, struct tcp_conn *c)
{
    if (LIKELY((c->armed & (1u << TCP_TIMER_SEND | 1u << TCP_TIMER_LONG)) == 1u << TCP_TIMER_LONG)) {
        c->progress_ms = weir->now_ms;
        run_lazy(weir, c);
        return;
    }
    if (c->armed & 1u << TCP_TIMER_SEND && (c->flow->wait != TCP_WAIT_LAZY || !node_soon_enough(weir, c))) {
        tcp_timers_sent(weir, c);
        return;
    }
    if (c->armed & 1u << TCP_TIMER_SEND) {
        c->deadline[TCP_TIMER_SEND] = weir->now;  // the tail is a later one now
    } else {
        c->progress_ms = weir->now_ms;
        run_lazy(weir, c);
    }
    tcp_timers_active(weir, c);
}

#endif
// --- firing ----------------------------------------------------------------------------------------------------------

// Data or SYN stays unacknowledged too long (RFC 9293 §3.8.3, R2). A peer that answers our probes with a closed window
// is alive: only a user timeout that our own user asked for ends that (§3.8.6.1, RFC 6429). When the user has closed
// there is nobody left to ask for one, and a peer could hold our memory for as long as it likes (Sockstress): then time
// runs out however it answers.
static bool out_of_time(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t waiting_ms = weir->now_ms - c->progress_ms;
    if (tcp_syn_sent(c) || tcp_syn_received(c))
        return waiting_ms >= (c->user_timeout_s ? user_timeout_ms(c) : TCP_SYN_TIMEOUT_MS);
    if ((c->attention & (ATTEND_PERSIST | ATTEND_CLOSED_BY_USER)) == ATTEND_PERSIST &&
        (!c->user_timeout_s || tcp_uto_adopted(c)))
        return min_u32(waiting_ms, weir->now_ms - c->last_received_ms) >= user_timeout_ms(c);
    return waiting_ms >= user_timeout_ms(c);
}

static void fire_send(struct weir *weir, struct tcp_conn *c)
{
    const uint32_t due_us = c->deadline[TCP_TIMER_SEND];
    disarm(c, TCP_TIMER_SEND);
    if (out_of_time(weir, c)) {
        tcp_conn_drop(weir, c, c->error ? c->error : WEIR_TIMED_OUT);
        return;
    }
    if (c->attention & ATTEND_PERSIST || (!c->snd.wnd && c->flow && c->snd.una != c->snd.nxt && tcp_synchronised(c))) {
        if (c->snd.wnd || !tcp_synchronised(c))
            c->flags |= TCP_SEND_SMALL;
        else
            c->attention |= ATTEND_PROBE_NOW;
        if (c->backoff < UINT8_MAX)
            tcp_backoff_set(c, (uint8_t)(c->backoff + 1));
        c->attention |= ATTEND_PERSIST;
        trace_timer(weir, c, "zero-window probe");
        arm_rto(weir, c);
        tcp_wants_output(weir, c);
        return;
    }
    if (tcp_control_out(c)) {  // and no memory for what sending it again takes: since when it waits stays as it is
        c->armed |= 1u << TCP_TIMER_SEND;
        wheel_arm(&weir->wheel, &c->timer, weir->now + RTO_INITIAL_US);
        return;
    }
    if (c->snd.una == c->snd.nxt || !c->flow)
        return;
    tcp_tlp_tick(weir, c);
    if (c->flow->wait == TCP_WAIT_TAIL) {
        trace_timer(weir, c, "tail-loss probe");
        tcp_tlp_fire(weir, c);
        arm_rto_since(weir, c, due_us);
        if (tcp_rtx_probe_on(weir, c)) {  // it is not the last
            c->flow->rto_due = c->deadline[TCP_TIMER_SEND];
            arm_sooner(weir, c);
        }
        return;
    }
    if (c->flow->wait == TCP_WAIT_CHANCE) {
        tcp_deadline_fire(weir, c);
        arm_sooner(weir, c);
        return;
    }
    if (c->flow->wait == TCP_WAIT_REORDER) {
        trace_timer(weir, c, "reordering");
        tcp_recovery_reorder(weir, c);
        arm_send(weir, c);
        return;
    }
    if (c->backoff == 2) {  // RFC 1122 §4.2.3.5, R1: ask the network layer for another way
        ip_path_doubt(weir, &c->path);
        c->path.netif = NULL;
    }
    trace_timer(weir, c, "retransmission");
    tcp_recovery_timeout(weir, c);
    arm_rto(weir, c);
}

// A whole segment, and nothing after it: it is rather the peer's window than its user that holds the next one back. An
// acknowledgement that waits would cost it a round trip or two each time.
static void fire_ack(struct weir *weir, struct tcp_conn *c)
{
    if (c->flags & TCP_ACK_DELAYED && c->rcv.nxt - c->rcv.acked == c->rcv_mss)
        c->quick_acks = TCP_QUICK_ACKS;
    disarm(c, TCP_TIMER_ACK);
    if (c->flags & TCP_ACK_DELAYED) {
        trace_timer(weir, c, "delayed acknowledgement");
        tcp_ack_now(weir, c);
    }
}

// Milliseconds until FIN-WAIT-2 of a connection without an owner ends; 0: now.
static uint32_t fin_wait_2_due(const struct weir *weir, const struct tcp_conn *c)
{
    if (c->state != WEIR_TCP_FIN_WAIT_2 || !(c->attention & ATTEND_CLOSED_BY_USER))
        return UINT32_MAX;
    const uint32_t elapsed = weir->now_ms - c->progress_ms;
    return elapsed >= WEIR_CFG_TCP_FIN_WAIT_2_S * 1000u ? 0 : WEIR_CFG_TCP_FIN_WAIT_2_S * 1000u - elapsed;
}

// Milliseconds until memory may be let go; does it when it is time. UINT32_MAX: there is nothing to let go.
static uint32_t idle_due(struct weir *weir, struct tcp_conn *c)
{
    if (!tcp_attached(c))
        return UINT32_MAX;
    const uint32_t least = tcp_cc(weir, c)->wants_rate ? IDLE_RELEASE_MODEL_MS : IDLE_RELEASE_MS;
    const uint32_t after = max_u32(least, rtt_timeout(&c->rtt, 0) / 1000);
    const uint32_t elapsed = min_u32(weir->now_ms - c->progress_ms, weir->now_ms - c->last_received_ms);
    if (elapsed < after)
        return after - elapsed;
    tcp_conn_idle(weir, c);
    return c->flow || c->send || c->receive ? after : UINT32_MAX;
}

#define LONG_HOP_MS 1800000u  // half an hour: within what 32-bit µs can tell apart

static void fire_long(struct weir *weir, struct tcp_conn *c)
{
    bool gone = false;
    disarm(c, TCP_TIMER_LONG);
    uint32_t due = fin_wait_2_due(weir, c);
    if (!due) {
        tcp_fin_wait_2_end(weir, c);
        return;
    }
    due = min_u32(due, tcp_keepalive_due(weir, c, &gone));
    if (gone)
        return;
    due = min_u32(due, idle_due(weir, c));
    if (due != UINT32_MAX)
        arm(weir, c, TCP_TIMER_LONG, min_u32(max_u32(due, 1), LONG_HOP_MS) * 1000u);
}

static void rearm_node(struct weir *weir, struct tcp_conn *c)
{
    bool any = tcp_pacing_armed(c);
    uint32_t due = any ? tcp_pacing_due(c) : 0;
    if (tcp_realtime_armed(c)) {
        due = any ? seq_min(due, tcp_realtime_due(c)) : tcp_realtime_due(c);
        any = true;
    }
    for (uint32_t timer = 0; timer < TCP_TIMER_COUNT; timer++)
        if (c->armed >> timer & 1 && (!any || seq_lt(c->deadline[timer], due))) {
            due = c->deadline[timer];
            any = true;
        }
    if (any && (!wheel_armed(&c->timer) || seq_lt(due, c->timer.due_us)))
        wheel_arm(&weir->wheel, &c->timer, due);
}

void tcp_timer(struct weir *weir, struct wheel_node *node)
{
    static void (*const fire[TCP_TIMER_COUNT])(struct weir *, struct tcp_conn *) = {fire_send, fire_ack, fire_long};
    struct tcp_conn *c = container_of(node, struct tcp_conn, timer);
    tcp_timers_resolve_deadline(weir, c);
    if (tcp_pacing_armed(c) && seq_le(tcp_pacing_due(c), weir->now)) {
        tcp_pacing_arm(c, false);
        tcp_wants_output(weir, c);
    }
    if (tcp_realtime_armed(c) && seq_le(tcp_realtime_due(c), weir->now)) {
        tcp_realtime_disarm(c);
        tcp_realtime_fire(weir, c);
    }
    // A firing may free the connection: at most one fires per call, and the node, armed for the others, brings us back.
    for (uint32_t timer = 0; timer < TCP_TIMER_COUNT; timer++)
        if (c->armed >> timer & 1 && seq_le(c->deadline[timer], weir->now)) {
            const uint8_t others = c->armed & (uint8_t) ~(1u << timer);
            if (others || tcp_pacing_armed(c) || tcp_realtime_armed(c))
                wheel_arm(&weir->wheel, &c->timer, weir->now);
            fire[timer](weir, c);
            return;
        }
    rearm_node(weir, c);
}
