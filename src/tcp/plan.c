// SPDX-License-Identifier: BSD-2-Clause
// The scheduler: what of a connection may leave now. In the steady state (attention.h) that can be new data only, and a
// run of full segments is one plan; otherwise it goes by urgency. With nothing planned nothing leaves but an ACK that
// is owed (output.c).
#include "tcp/plan.h"

#include "tcp/output.h"

// The most one segment may carry: a multiple of the MSS where the device cuts large ones.
static uint32_t segment_limit(const struct tcp_conn *c)
{
    if (!WEIR_CFG_TX_OFFLOAD || !(c->path.netif->capabilities & tcp_offload_tso(c)) || tcp_ecn_no_tso(c))
        return c->mss;
    const uint32_t headers = 60 + 60;
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): never 0, see tcp_mss_update
    return (65535u - headers) / c->mss * c->mss;
}

static uint32_t cwnd_room(const struct tcp_conn *c)
{
    const uint32_t pipe = tcp_recovery_pipe(c);
    return c->flow->window.cwnd > pipe ? c->flow->window.cwnd - pipe : 0;
}

// Fills the plan for [seq, end): which of it is SYN, data, FIN.
static void cover(const struct tcp_conn *c, struct tcp_plan *plan, uint32_t seq, uint32_t end)
{
    const bool syn = tcp_syn_unacked(c) && seq == c->iss;
    const bool fin = c->attention & ATTEND_FIN_QUEUED && end == tcp_data_end(c) + 1;
    plan->seq = seq;
    plan->end = end;
    plan->run = 1;
    plan->payload = end - seq - syn - fin;
    plan->flags = (uint8_t)((syn ? TCP_SYN : 0) | (fin ? TCP_FIN : 0) | (tcp_syn_sent(c) ? 0 : TCP_ACK));
    if (plan->payload && seq + syn + plan->payload == tcp_data_end(c))
        plan->flags |= TCP_PSH;  // RFC 9293 §3.9.1.2: the last of what was queued
}

// Lost data goes before new data (RFC 6675 §5, (C), NextSeg rules 1 and 3), as far as the window of the network allows;
// the first segment of a recovery goes whatever it says.
static bool plan_retransmission(struct tcp_conn *c, struct tcp_plan *plan)
{
    uint32_t start = 0, end = 0;
    if (!c->flow || !c->flow->flight->lost ||
        !flight_next_lost(c->flow->flight, c->flow->retransmit_from, &start, &end))
        return false;
    if (tcp_frto_new_data_first(c) && tcp_recovery_pipe(c))
        return false;
    uint32_t room = cwnd_room(c);
    if (c->attention & ATTEND_RETRANSMIT_NOW)
        room = max_u32(room, c->mss);
    if (c->attention & ATTEND_PERSIST && !c->snd.wnd)
        return false;  // the probe retransmits
    room = tcp_pacing_room(c, room);
    if (room < min_u32(c->mss, end - start)) {
        c->flags |= TCP_CWND_LIMITED;
        return false;
    }
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
    const uint32_t most = min_u32(segment_limit(c), max_u32(room / c->mss * c->mss, c->mss));
    const bool whole =
        end - start <= most || (c->attention & ATTEND_FIN_SENT && end == c->snd.nxt && end - start == most + 1);
    cover(c, plan, start, whole ? end : start + most);
    plan->how = PLAN_RETRANSMIT;
    return true;
}

// The segment has room for what is not acknowledged yet.
static void bundle(const struct tcp_conn *c, struct tcp_plan *plan)
{
    const uint32_t fin = plan->flags & TCP_FIN ? 1 : 0,
                   seq = tcp_deadline_bundle(c, plan->end - fin, tcp_segment_payload(c, plan));
    if (seq == plan->seq)
        return;
    cover(c, plan, seq, plan->end);
    plan->how |= PLAN_BUNDLE;
}

// What was queued and never sent, and what cwnd and pacing leave room for. In the steady state the sequence numbers
// tell both.
static HOT_INLINE uint32_t unsent_bytes(const struct tcp_conn *c, bool steady)
{
    if (!steady || !c->send)
        return tcp_unsent(c);
    return stream_length(c->send) - tcp_flow_lag(c->flow) - (c->snd.nxt - c->snd.una);
}
static HOT_INLINE uint32_t room_bytes(const struct tcp_conn *c, bool steady)
{
    if (!steady || !(c->flags & TCP_USE_SACK))
        return tcp_pacing_room(c, cwnd_room(c));
    const uint32_t pipe = c->snd.nxt - c->snd.una, cwnd = c->flow->window.cwnd;
    return cwnd > pipe ? tcp_pacing_room(c, cwnd - pipe) : 0;
}

// In the steady state: no SYN, no FIN, and full segments, up to `most` bytes, go one after the other.
static HOT_INLINE void cover_run(const struct tcp_conn *c, struct tcp_plan *plan, uint32_t length, uint32_t unsent,
                                 uint32_t most, uint32_t quantum)
{
    plan->seq = c->snd.nxt;
    plan->payload = length;
    plan->run = 1;
    if (WEIR_CFG_FAST_PATH && length == c->mss && most >= 2 * length)
        plan->run = max_u32(min_u32(most / length, quantum), 1);
    plan->end = plan->seq + plan->run * length;
    // RFC 9293 §3.9.1.2: the last of what was queued
    plan->flags = plan->run * length == unsent ? TCP_ACK | TCP_PSH : TCP_ACK;
}

// New data, as far as the peer's window and the network's allow.
static HOT_INLINE bool plan_new_data(struct tcp_conn *c, struct tcp_plan *plan, uint32_t quantum, bool steady)
{
    const uint32_t unsent = unsent_bytes(c, steady), window = tcp_window_room(c), wanted = min_u32(unsent, window);
    if (!wanted)
        return false;
    const uint32_t room = room_bytes(c, steady);
    if (room < min_u32(wanted, c->mss)) {
        c->flags |= TCP_CWND_LIMITED;
        return false;
    }
    uint32_t length = wanted;
    if (length > c->mss) {
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): never 0, see tcp_mss_update
        length = min_u32(length, min_u32(segment_limit(c), max_u32(room / c->mss, 1) * c->mss));
        length -= length % c->mss;  // the rest is a segment of its own, under Nagle's rule
    } else if (length < c->mss && !tcp_small_may_go(c, length, unsent)) {
        return false;
    }
    if (steady) {
        cover_run(c, plan, length, unsent, min_u32(wanted, room), quantum);
        return true;
    }
    const bool fin = c->attention & ATTEND_FIN_QUEUED && length == unsent && window > length;
    cover(c, plan, c->snd.nxt, c->snd.nxt + length + fin);
    if (tcp_deadline_on(c))
        bundle(c, plan);
    return true;
}

// A SYN alone. Once it was sent, the handshake is under way.
static bool plan_syn(const struct tcp_conn *c, struct tcp_plan *plan)
{
    if (c->snd.nxt != c->iss)
        return false;
    cover(c, plan, c->iss, c->iss + 1);
    return true;
}

// A FIN alone.
static bool plan_fin(const struct tcp_conn *c, struct tcp_plan *plan)
{
    if ((c->attention & (ATTEND_FIN_QUEUED | ATTEND_FIN_SENT)) != ATTEND_FIN_QUEUED || c->snd.nxt != tcp_data_end(c) ||
        tcp_syn_sent(c))
        return false;
    cover(c, plan, c->snd.nxt, c->snd.nxt + 1);
    return true;
}

// A closed window is probed with the next byte (RFC 9293 §3.8.6.1): the byte (or FIN) in flight again, or a new one.
static bool plan_probe(struct tcp_conn *c, struct tcp_plan *plan)
{
    if (!(c->attention & ATTEND_PROBE_NOW) || !(tcp_send_queued(c) || c->attention & ATTEND_FIN_SENT))
        return false;
    cover(c, plan, c->snd.una, c->snd.una + 1);
    plan->how = PLAN_PROBE | (c->snd.nxt != c->snd.una ? PLAN_RETRANSMIT : 0);
    return true;
}

// RFC 8985 §7.3: new data if there is any and the peer's window lets it, otherwise the last segment again.
static bool plan_tlp(struct tcp_conn *c, struct tcp_plan *plan)
{
    if (!tcp_tlp_due(c) || c->snd.una == c->snd.nxt || !tcp_pacing_room(c, 1))
        return false;
    const uint32_t unsent = tcp_unsent(c), length = min_u32(min_u32(unsent, tcp_window_room(c)), c->mss);
    plan->how = PLAN_TLP | (length ? 0 : PLAN_RETRANSMIT);
    if (length)
        cover(c, plan, c->snd.nxt,
              c->snd.nxt + length +
                  (c->attention & ATTEND_FIN_QUEUED && length == unsent && tcp_window_room(c) > length));
    else
        cover(c, plan, seq_max(c->snd.una, c->snd.nxt - c->mss - (c->attention & ATTEND_FIN_SENT ? 1 : 0)), c->snd.nxt);
    return true;
}

// What should have been acknowledged by now, while it may still come in time.
static bool plan_deadline_rtx(struct tcp_conn *c, struct tcp_plan *plan)
{
    uint32_t start = 0, end = 0;
    if (!tcp_deadline_on(c) || !tcp_deadline_due(c, &start, &end))
        return false;
    cover(c, plan, start, end);
    plan->how = PLAN_RETRANSMIT | PLAN_DEADLINE_RTX;
    return true;
}

// What was sent again, is alone in flight and could be lost once more goes twice, after all else (rtx_probe.c).
static bool plan_duplicate_rtx(const struct weir *weir, const struct tcp_conn *c, struct tcp_plan *plan)
{
    uint32_t end;
    if (!c->flow || c->state == WEIR_TCP_CLOSED || c->attention & ATTEND_PERSIST ||
        !tcp_rtx_probe_double(weir, c, &end))
        return false;
    cover(c, plan, c->snd.una, end);
    plan->how = PLAN_RETRANSMIT | PLAN_DUPLICATE_RTX;
    return true;
}

// Data in flight once more, in a segment that may be too long for the path.
static bool plan_mtu_probe(const struct tcp_conn *c, struct tcp_plan *plan)
{
    const uint32_t bytes = tcp_mtu_search_due(c);
    if (!bytes)
        return false;
    cover(c, plan, c->snd.una, c->snd.una + bytes);
    plan->how = PLAN_MTU_PROBE;
    return true;
}

// By urgency: probes, what is lost, new data, FIN.
static bool plan_by_urgency(struct tcp_conn *c, struct tcp_plan *plan, uint32_t quantum)
{
    if (c->state == WEIR_TCP_CLOSED)
        return false;
    if (plan_probe(c, plan) || plan_tlp(c, plan) || plan_deadline_rtx(c, plan) ||
        (tcp_frto_new_data_first(c) && plan_new_data(c, plan, quantum, false)) || plan_retransmission(c, plan))
        return true;
    if (tcp_syn_unacked(c))
        return plan_syn(c, plan);
    if (!tcp_may_send_data(c))
        return false;
    return plan_new_data(c, plan, quantum, false) || plan_fin(c, plan) || plan_mtu_probe(c, plan);
}

// What a connection without a flow may send (tcp_control_only).
static __attribute__((noinline)) bool plan_control(const struct tcp_conn *c, struct tcp_plan *plan)
{
    return tcp_syn_unacked(c) ? plan_syn(c, plan) : tcp_may_send_data(c) && plan_fin(c, plan);
}

bool tcp_plan_next(const struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan, uint32_t quantum)
{
    plan->how = 0;
    if (tcp_steady(c))
        return plan_new_data(c, plan, quantum, true);
    if (WEIR_CFG_FAST_PATH && !c->flow)
        return plan_control(c, plan);
    return plan_by_urgency(c, plan, quantum) || plan_duplicate_rtx(weir, c, plan);
}
