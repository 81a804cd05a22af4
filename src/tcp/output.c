// SPDX-License-Identifier: BSD-2-Clause
// The segment that carries what plan.c decided: options, header, checksum, network layer, or a header template.
// tcp_output asks for one plan after the other until there is none, or the quantum is used up, or the link says no;
// only a segment that the link took changes the connection.
#include "tcp/output.h"

#include "tcp/label.h"
#include "tcp/sack.h"
#include "tcp/template.h"

void tcp_output_syn_options(const struct weir *weir, struct tcp_conn *c, bool answer, struct tcp_options *options)
{
    options->seen = TCP_SEEN_MSS;
    options->mss = c->local.mss;
    if (WEIR_CFG_TCP_WINDOW_SCALE && (!answer || c->flags & TCP_USE_SCALING)) {
        options->seen |= TCP_SEEN_WINDOW_SCALE;
        options->window_scale = c->rcv_scale;
    }
    if (WEIR_CFG_TCP_SACK && (!answer || c->flags & TCP_USE_SACK))
        options->seen |= TCP_SEEN_SACK_PERMITTED;
    if (WEIR_CFG_TCP_TIMESTAMPS && (!answer || c->flags & TCP_USE_TIMESTAMPS) && !tcp_realtime_bare(c)) {
        options->seen |= TCP_SEEN_TIMESTAMPS;
        tcp_timestamps_fill(weir, c, options);
    }
}

// Bytes that SACK may take of a header; with data to carry, of the smallest segments half at the most.
static uint32_t sack_room(const struct tcp_conn *c, const struct tcp_plan *plan, uint32_t taken)
{
    const uint32_t room = TCP_OPTIONS_MAX - (c->flags & TCP_USE_TIMESTAMPS ? 12u : 0u);
    return (plan->payload ? min_u32(room, c->mss / 2) : room) - taken;
}

static void fill_options(const struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan,
                         struct tcp_options *options)
{
    options->seen = 0;
    options->sack_count = 0;
    if (WEIR_CFG_TCP_CONNECT && plan->flags & TCP_SYN) {
        tcp_output_syn_options(weir, c, plan->flags & TCP_ACK, options);
        tcp_uto_fill(c, true, options);
        return;
    }
    if (c->flags & TCP_USE_TIMESTAMPS) {
        options->seen = TCP_SEEN_TIMESTAMPS;
        tcp_timestamps_fill(weir, c, options);
    }
    const uint32_t taken =
        tcp_ecn_option(c, plan->payload, tcp_plan_stale(plan), options) + tcp_uto_fill(c, false, options);
    if (tcp_sack_pending(c))
        tcp_sack_fill(c, options, sack_room(c, plan, taken));
}

// What one segment carries beside its options: c->mss has the timestamps subtracted, the others come and go (RFC 6691
// §2).
uint32_t tcp_segment_payload(const struct tcp_conn *c, const struct tcp_plan *plan)
{
    if (!(tcp_sack_pending(c) || c->attention & ATTEND_ECN || tcp_uto_owed(c)) || plan->flags & TCP_SYN)
        return c->mss;
    struct tcp_options options = {0};
    const uint32_t taken =
        tcp_ecn_option(c, plan->payload, tcp_plan_stale(plan), &options) + tcp_uto_fill(c, false, &options);
    if (tcp_sack_pending(c))
        tcp_sack_fill(c, &options, sack_room(c, plan, taken));
    return c->mss - taken - (options.sack_count ? 4u + 8u * options.sack_count : 0u);
}

// Lends the payload's slices of the send queue. Returns how many bytes fit in the slices there are.
static uint32_t lend_payload(const struct tcp_conn *c, const struct tcp_plan *plan, struct packet_out *out)
{
    const uint32_t offset = plan->seq + (plan->flags & TCP_SYN ? 1 : 0) - tcp_data_start(c) + tcp_held_lag(c);
    struct weir_span spans[WEIR_CFG_TX_SLICES - 1];
    const uint32_t count = stream_spans(c->send, offset, plan->payload, spans, WEIR_CFG_TX_SLICES - 1);
    for (uint32_t i = 0; i < count; i++)
        packet_out_payload(out, spans[i].data, spans[i].length);
    return out->payload_length;
}

// Its payload lies in more pieces than there are slices, or options take of its room: it carries less.
static void shorten(struct tcp_plan *plan, uint32_t payload)
{
    plan->payload = payload;
    plan->flags &= (uint8_t) ~(TCP_FIN | TCP_PSH);
    plan->end = plan->seq + (plan->flags & TCP_SYN ? 1 : 0) + payload;
}

static void put_checksum(struct weir *weir, struct tcp_conn *c, struct packet_out *out, uint32_t header_length)
{
    const uint32_t length = header_length + out->payload_length;
    uint16_t sum = ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, length);
    if (WEIR_CFG_TX_OFFLOAD && c->path.netif->capabilities & tcp_offload_checksum(c)) {
        checksum_put(out->head + 16, (uint16_t)~sum);
        out->tx.checksum_start = 1;  // not 0: asked for; the layers below say where
        out->tx.checksum_offset = 16;
        return;
    }
    sum = checksum_add(sum, checksum_sum(weir->port, out->head, header_length));
    if (out->tx.count == 2)  // as nearly always
        sum = checksum_add(sum, checksum_sum(weir->port, out->slices[1].data, out->slices[1].length));
    else if (out->payload_length)
        sum =
            checksum_add(sum, checksum_slices(weir->port, out->slices + 1, out->tx.count - 1u, 0, out->payload_length));
    checksum_put(out->head + 16, sum);
}

static uint16_t window_field(const struct tcp_conn *c, uint32_t edge, bool syn)
{
    const uint32_t window = edge - c->rcv.nxt;
    return (uint16_t)min_u32(syn ? window : window >> tcp_rcv_scale(c), 65535);
}

// The whole way: options, header, checksum, network layer. The payload is in `out`.
static enum weir_tx_verdict send_whole(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan,
                                       struct tcp_segment *segment, struct packet_out *out)
{
    uint8_t option_bytes[TCP_OPTIONS_MAX];
    fill_options(weir, c, plan, &segment->options);
    const uint32_t option_length =
        segment->options.seen || segment->options.sack_count ? tcp_options_emit(option_bytes, &segment->options) : 0;
    segment->source = c->local.port;
    segment->destination = c->remote.port;
    segment->length = plan->payload;
    const uint8_t tos = tcp_ecn_stamp(weir, c, segment, tcp_plan_stale(plan));
    segment->header_length = (uint8_t)(TCP_BYTES + option_length);
    segment->urgent = c->attention & ATTEND_URGENT_SEND ? tcp_urgent_pointer(c, plan->seq, &segment->flags) : 0;
    uint8_t *bytes = packet_out_header(out, segment->header_length);
    tcp_emit(bytes, segment);
    if (option_length)
        memcpy(bytes + TCP_BYTES, option_bytes, option_length);
    if (WEIR_CFG_TX_OFFLOAD && plan->payload > c->mss &&
        !(plan->how & PLAN_MTU_PROBE)) {  // of one to be cut that is not
        out->tx.segment_size = (uint16_t)tcp_segment_payload(c, plan);
        out->tx.gso = tcp_offload_gso(c);
    }
    put_checksum(weir, c, out, segment->header_length);
    struct ip_out ip = {.source = c->local.addr,
                        .destination = c->remote.addr,
                        .protocol = IP_TCP,
                        .ttl = c->ttl,
                        .tos = tos,
                        .dont_fragment = true};
    tcp_params_put(&ip, tcp_params(c, tos));
    return ip_output(weir, &c->path, &ip, out, &c->sock);
}

static enum weir_tx_verdict send_long(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan)
{
    struct packet_out out;
    if ((c->path.netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED))
        return WEIR_TX_FULL;  // before anything is summed for it
    packet_out_init(&out);
    if (plan->payload && c->send) {
        const uint32_t size = tcp_segment_payload(c, plan);
        if (plan->payload > size && plan->payload <= c->mss)
            shorten(plan, size);
        const uint32_t lent = lend_payload(c, plan, &out);
        if (lent < plan->payload)
            shorten(plan, lent);
    }
    uint32_t edge = tcp_receive_edge(weir, c);
    if (plan->flags & TCP_SYN)
        edge = c->rcv.nxt + min_u32(edge - c->rcv.nxt, 65535);  // RFC 7323 §2.2: never scaled in a SYN
    struct tcp_segment segment;
    segment.seq = plan->seq;
    segment.ack = plan->flags & TCP_ACK ? c->rcv.nxt : 0;
    segment.flags = plan->flags;
    segment.window = window_field(c, edge, plan->flags & TCP_SYN);
    out.tx.holdable = WEIR_CFG_TCP_HELD && tcp_worth_holding(plan->payload) && tcp_plan_new(plan);
    out.tx.hold_owner = c;
    out.tx.hold_end = plan->seq + plan->payload;
    const enum weir_tx_verdict verdict = send_whole(weir, c, plan, &segment, &out);
    if (verdict == WEIR_TX_HELD)
        tcp_held_begin(c, plan->seq, out.tx.hold_end);
    if (verdict == WEIR_TX_DONE || verdict == WEIR_TX_HELD) {
        c->rcv.edge = edge;
        count(weir, WEIR_COUNT_TCP_SENT);
        TCP_INFO_COUNT(c, segs_out, plan->payload > c->mss ? (plan->payload + c->mss - 1) / c->mss : 1);
        tcp_ecn_left(c, &segment, tcp_plan_stale(plan));
        tcp_uto_left(c, &segment);
    }
    return verdict;
}

// Sends what is planned, by the header template where there is one. Afterwards the plan says what of it left: plan->run
// is 0 if nothing did.
static inline enum weir_tx_verdict send_segment(struct weir *weir, struct tcp_conn *c, struct tcp_plan *plan)
{
    enum weir_tx_verdict verdict = WEIR_TX_UNRESOLVED;
    if (WEIR_CFG_FAST_PATH && !(plan->how & PLAN_MTU_PROBE))
        verdict = plan->payload ? tcp_template_data(weir, c, plan) : tcp_template_control(weir, c, plan);
    if (verdict != WEIR_TX_UNRESOLVED)
        return verdict;
    if (plan->run > 1) {  // the first goes alone, and leaves a template for the others
        plan->end = plan->seq + plan->payload;
        plan->flags &= (uint8_t)~TCP_PSH;
    }
    verdict = send_long(weir, c, plan);
    plan->run = verdict < WEIR_TX_FULL;
    return verdict;
}

// Of what left the log knows already.
static void repeated_left(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan)
{
    const uint32_t bytes = seq_min(plan->end, c->snd.nxt) - plan->seq;
    tcp_undo_resent(weir, c, bytes);
    TCP_INFO_COUNT(c, bytes_retrans, bytes);
    (void)bytes;
    if (plan->how & PLAN_DEADLINE_RTX) {
        tcp_prr_sent(c, bytes);
        TCP_INFO_COUNT(c, retransmits, 1);
        count(weir, WEIR_COUNT_TCP_RETRANSMITTED);
    }
}

// New data left in the steady state: there is nothing to be told with it, and nobody else to hear of it.
static inline void new_data_left(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan)
{
    c->flags &= ~(uint32_t)TCP_SEND_SMALL;
    tcp_ack_left(c);
    tcp_pacing_sent(c, plan->end - plan->seq);
    flight_sent(c->flow->flight, plan->end, weir->now);
    TCP_INFO_COUNT(c, sent_wraps, plan->end < c->snd.nxt);
    c->snd.nxt = plan->end;
    tcp_timers_sent_steady(weir, c);
}

// A SYN or FIN left without a flow.
static inline void control_left(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan)
{
    TCP_INFO_COUNT(c, sent_wraps, plan->end < c->snd.nxt);
    c->snd.nxt = plan->end;
    c->attention |= plan->flags & TCP_FIN ? ATTEND_FIN_SENT : 0;
    tcp_timers_sent_control(weir, c);
}

// An acknowledgement left, and what it reports.
static inline void ack_left(struct tcp_conn *c)
{
    tcp_ack_left(c);
    tcp_sack_reported(c);
}

// Data, or a FIN behind some, left outside the steady state.
static __attribute__((noinline)) void attended_left(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan)
{
    if (plan->how & PLAN_MTU_PROBE) {
        tcp_mtu_search_left(c, plan);
        return;
    }
    tcp_pacing_sent(c, plan->end - plan->seq);
    if (tcp_deadline_on(c))
        tcp_deadline_left(weir, c, plan->seq, plan->end, plan->how & PLAN_DEADLINE_RTX);
    if (plan->how & (PLAN_DEADLINE_RTX | PLAN_BUNDLE))
        repeated_left(weir, c, plan);
    if (plan->how & PLAN_DEADLINE_RTX)
        return;  // its timer is armed already
    if (plan->how & PLAN_RETRANSMIT) {
        struct flight_delta ignored = {0};
        if (plan->how & PLAN_PROBE)
            flight_lose_first(&weir->memory, &c->flow->flight, 1, &ignored);
        flight_resent(&weir->memory, &c->flow->flight, plan->seq, plan->end, weir->now);
        tcp_scoreboard_changed(c);
        c->flow->retransmit_from = plan->end;
        tcp_undo_resent(weir, c, plan->end - plan->seq);
        tcp_cwv_resent(c, plan->end - plan->seq);
        TCP_INFO_COUNT(c, bytes_retrans, plan->payload);
        if (!(plan->how & PLAN_PROBE)) {
            TCP_INFO_COUNT(c, retransmits, (plan->payload + c->mss - 1) / c->mss);
            count(weir, WEIR_COUNT_TCP_RETRANSMITTED);
        }
    } else {
        flight_sent(c->flow->flight, plan->end, weir->now);
        TCP_INFO_COUNT(c, sent_wraps, plan->end < c->snd.nxt);
        c->snd.nxt = plan->end;
        if (plan->flags & TCP_FIN)
            c->attention |= ATTEND_FIN_SENT;
    }
    if (plan->how & PLAN_PROBE) {
        c->attention &= ~(uint32_t)ATTEND_PROBE_NOW;
        count(weir, WEIR_COUNT_TCP_PROBE);
        return;  // the probe timer is armed already
    }
    tcp_prr_sent(c, plan->end - plan->seq);
    if (plan->how & PLAN_TLP)
        tcp_tlp_sent(weir, c, plan->how & PLAN_RETRANSMIT);
    if (plan->how & PLAN_DUPLICATE_RTX)
        tcp_rtx_probe_doubled(weir, c, plan->end);
    if (c->attention & ATTEND_RETRANSMIT_NOW && plan->how & PLAN_RETRANSMIT)
        tcp_timers_resent(weir, c);
    c->attention &= ~(uint32_t)ATTEND_RETRANSMIT_NOW;
    c->flags &= ~(uint32_t)TCP_SEND_SMALL;
    tcp_timers_sent(weir, c);
}

// The link took the segment: what it carried is no longer owed.
static inline void segment_left(struct weir *weir, struct tcp_conn *c, const struct tcp_plan *plan)
{
    if (tcp_steady(c)) {
        new_data_left(weir, c, plan);
        return;
    }
    if (plan->flags & TCP_ACK)
        ack_left(c);
    if (c->flow)
        attended_left(weir, c, plan);
    else
        control_left(weir, c, plan);
}

// An ACK alone, or a keepalive probe: an ACK one below (RFC 9293 §3.8.4).
static enum weir_tx_verdict send_ack(struct weir *weir, struct tcp_conn *c)
{
    const bool keepalive = c->attention & ATTEND_KEEPALIVE_NOW;
    const uint32_t seq = keepalive ? c->snd.una - 1 : tcp_ack_seq(c);
    struct tcp_plan plan = {.seq = seq, .end = seq, .run = 1, .flags = TCP_ACK};
    enum weir_tx_verdict verdict = WEIR_CFG_FAST_PATH ? tcp_template_control(weir, c, &plan) : WEIR_TX_UNRESOLVED;
    if (verdict == WEIR_TX_UNRESOLVED)
        verdict = send_long(weir, c, &plan);
    if (verdict < WEIR_TX_FULL) {
        c->attention &= ~(uint32_t)ATTEND_KEEPALIVE_NOW;
        ack_left(c);
        tcp_realtime_acked(weir, c);
    }
    return verdict;
}

static inline bool ack_alone_due(const struct tcp_conn *c)
{
    return c->flags & TCP_ACK_NOW || c->attention & ATTEND_KEEPALIVE_NOW;
}

// Without any of these a turn has nothing to do, whether it can send or not.
static bool something_waits(const struct tcp_conn *c)
{
    return tcp_send_queued(c) || c->snd.una != c->snd.nxt || c->attention & ATTEND_FIN_QUEUED || tcp_syn_unacked(c) ||
           ack_alone_due(c);
}

#if WEIR_CFG_TCP_SACK
void tcp_output_ack_before(struct weir *weir, struct tcp_conn *c)
{
    const struct tcp_plan plan = {.seq = tcp_ack_seq(c), .end = tcp_ack_seq(c), .flags = TCP_ACK};
    const uint32_t edge = tcp_receive_edge(weir, c);
    struct tcp_segment segment = {
        .seq = plan.seq, .ack = c->rcv.nxt, .flags = TCP_ACK, .window = window_field(c, edge, false)};
    fill_options(weir, c, &plan, &segment.options);
    const uint8_t tos = tcp_ecn_stamp(weir, c, &segment, false);
    if (!tcp_reply_ack(weir, c, &segment, tos))
        return;  // what it would have told is told later
    c->rcv.edge = edge;
    TCP_INFO_COUNT(c, segs_out, 1);
    tcp_ecn_left(c, &segment, false);
    tcp_uto_left(c, &segment);
    ack_left(c);
}
#endif

// Nothing may go although data waits: the window's fault, or a cork's? Then the probe timer must run: no cork holds
// longer (Linux).
static void watch_window(struct weir *weir, struct tcp_conn *c)
{
    if (c->snd.una != c->snd.nxt || !tcp_synchronised(c))
        return;
    const uint32_t unsent = tcp_unsent(c);
    const bool corked = c->flags & TCP_CORK && unsent < c->mss;
    if (unsent && (corked || tcp_window_room(c) < min_u32(unsent, c->mss)))
        tcp_timers_zero_window(weir, c);
}

// RFC 5681 §4.1: after more than one RTO without sending, the window of before proves nothing.
static void restart_after_idle(struct weir *weir, struct tcp_conn *c)
{
    const uint32_t idle_ms = weir->now_ms - c->progress_ms;
    if (!idle_ms || tcp_pause_us(idle_ms) <= rtt_timeout(&c->rtt, 0) || !tcp_send_queued(c))
        return;
    tcp_cc_event(weir, c, WEIR_CC_IDLE_RESTART);
    c->progress_ms = weir->now_ms;
}

// The last of what was queued has left for the first time, and nothing is to be sent again, or a SYN or FIN left
// without a flow: another look would find nothing.
static inline bool left_nothing(const struct tcp_conn *c, const struct tcp_plan *plan)
{
    if (!c->flow || tcp_steady(c))
        return !c->flow || plan->flags & TCP_PSH;
    return plan->flags & TCP_PSH && !tcp_plan_stale(plan) && !(c->attention & ATTEND_FIN_QUEUED) &&
           !c->flow->flight->lost && !tcp_deadline_on(c);
}

enum sent {
    SENT_ALL,      // that may go now, or a quantum of it
    SENT_BLOCKED,  // the interface has no room, or no way yet
    SENT_INSANE,   // the connection contradicts itself
};

// Everything that may go now, a quantum at the most.
static enum sent send_all(struct weir *weir, struct tcp_conn *c, uint32_t *quantum, bool *more,
                          enum weir_tx_verdict *verdict)
{
    struct tcp_plan plan;
    while (tcp_plan_next(weir, c, &plan, *quantum)) {
        if (!*quantum) {
            *more = true;
            return SENT_ALL;
        }
        if (!tcp_plan_sane(c, &plan))
            return SENT_INSANE;
        if (!(plan.how & PLAN_RETRANSMIT) && c->flow && !flight_room(&weir->memory, &c->flow->flight, weir->now)) {
            tcp_timers_retry(weir, c);
            break;  // the log is full: wait as if cwnd-limited, or for memory
        }
        *verdict = send_segment(weir, c, &plan);
        *quantum -= plan.run;
        if (plan.run)
            segment_left(weir, c, &plan);
        if (*verdict == WEIR_TX_FULL || *verdict == WEIR_TX_UNRESOLVED)
            return SENT_BLOCKED;
        if (left_nothing(c, &plan))
            break;
    }
    return SENT_ALL;
}

enum weir_tx_verdict tcp_output(struct weir *weir, struct tcp_conn *c, uint32_t *quantum, bool *more)
{
    enum weir_tx_verdict verdict = WEIR_TX_DONE;
    *more = false;
    c->flags &= ~(uint32_t)TCP_CWND_LIMITED;
    if (c->state == WEIR_TCP_CLOSED)
        return WEIR_TX_DONE;
    if (c->state == WEIR_TCP_TIME_WAIT)  // its last words are the acknowledgement of the peer's FIN
        return c->flags & TCP_ACK_NOW && tcp_path_refresh(weir, c) ? send_ack(weir, c) : WEIR_TX_DONE;
    const bool has_more_than_acks = c->send || c->attention & ATTEND_FIN_QUEUED || tcp_syn_unacked(c);
    const bool routed = tcp_path_refresh(weir, c);
    if (c->state == WEIR_TCP_CLOSED)
        return WEIR_TX_DONE;
    if (!routed || (has_more_than_acks && !c->flow && !tcp_control_only(weir, c) && !tcp_conn_attach(weir, c))) {
        if (something_waits(c))
            tcp_timers_retry(weir, c);  // no way, or no memory, now
        return WEIR_TX_DONE;
    }
    if (!has_more_than_acks)
        return ack_alone_due(c) ? send_ack(weir, c) : WEIR_TX_DONE;
    if (c->send && c->snd.una == c->snd.nxt)
        restart_after_idle(weir, c);
    if (tcp_ecn_ack_first(c) && (verdict = send_ack(weir, c)) >= WEIR_TX_FULL)
        return verdict;
    const bool paced = c->flow && tcp_paced(c);
    if (paced)
        tcp_pacing_open(weir, c);
    const enum sent sent = send_all(weir, c, quantum, more, &verdict);
    if (sent == SENT_INSANE) {
        tcp_conn_insane(weir, c);
        return WEIR_TX_DONE;
    }
    if (paced)
        tcp_pacing_close(weir, c);
    if (sent == SENT_BLOCKED)
        return verdict;
    if (*more)
        return WEIR_TX_DONE;
    watch_window(weir, c);
    if (ack_alone_due(c) && c->state >= WEIR_TCP_SYN_RECEIVED)
        return send_ack(weir, c);
    return WEIR_TX_DONE;
}
