// SPDX-License-Identifier: BSD-2-Clause
// Header prediction (Jacobson 1990): in a transfer that goes well each segment but brings what was expected next, and
// the steps of RFC 9293 §3.10.7.4 (input.c) then come to very little. So do those for a pure ACK, or a FIN alone, of a
// connection without data. Such a segment is recognised here, in a packet (tcp_predict) or in the frame itself
// (tcp_predict_frame), and that little is done.
//
// What the steps would do beside it, and why that comes to nothing:
//   tcp_syn_sent, step_syn, step_reset, the FIN of data    the flags are ACK, with or without PSH (or FIN, of a
//                                                          connection without data)
//   tcp_paws, is_keepalive, tcp_realtime_unsent            the timestamp is not old; the number is the one expected;
//                                                          ATTEND_REALTIME
//   step_sequence, is_crossed_probe                        next in order, and within the window; ATTEND_PERSIST
//   tcp_ecn_input, tcp_ecn_ack, tcp_ecn_react              ATTEND_ECN, and no mark is on the packet
//   tcp_rack_begin, tcp_sack_input, flight marks           ATTEND_SCOREBOARD; no SACK option
//   tcp_recovery_ack: recovery, undo, F-RTO, TLP, probe    ATTEND_FAST_RECOVERY, _RTO_RECOVERY, _TLP_DUE, _TLP_OUT,
//                                                          _RTX_PROBE
//   tcp_deadline_acked and its kin                         ATTEND_DEADLINE
//   sample_rtt: resets the back-off                        ATTEND_BACKOFF
//   window_update: a probe's answer                        ATTEND_PERSIST
//   acked_control                                          ATTEND_STATE, _FIN_SENT (data); done (control)
//   tcp_uto_heard, tcp_urgent_input                        no such option, no URG; ATTEND_URGENT_RECEIVED
//   tcp_receive_data: out of order, DSACK, FIN ahead       ATTEND_OUT_OF_ORDER, _DSACK, _FIN_AHEAD, _READ_SHUT,
//                                                          _LOW_WATER
#include "ip/flow.h"
#include "tcp/internal.h"

// Timestamps are in the segment where both ends agreed on them, and not old.
static inline bool timestamps_expected(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    const bool timestamps = c->flags & TCP_USE_TIMESTAMPS;
    return segment->options.seen == (timestamps ? TCP_SEEN_TIMESTAMPS : 0) &&
           !(timestamps && tcp_timestamp_old(c, segment->options.ts_value));
}

// The ACK is of data in flight none of which was lost or late, or it says nothing new beside data that comes in.
static inline bool ack_expected(const struct tcp_conn *c, uint32_t ack, uint32_t window, uint32_t length)
{
    const uint32_t acked = ack - c->snd.una;
    if (!acked)  // without data: a duplicate, or a window update; the steps tell which
        return length && window << tcp_snd_scale(c) == c->snd.wnd;
    return acked <= c->snd.nxt - c->snd.una && window && c->flow && c->flow->flight->count;
}

// In the steady state: next in order, its ACK of the usual kind.
static inline bool steady_expects(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return !c->attention && segment->seq == c->rcv.nxt && segment->length <= c->rcv.edge - c->rcv.nxt &&
           (segment->flags & ~TCP_PSH) == TCP_ACK && timestamps_expected(c, segment) &&
           ack_expected(c, segment->ack, segment->window, segment->length);
}

// A connection without data, where nothing is under way but what opening and closing come to, gets a pure ACK of all
// that it sent, or a FIN alone.
static inline bool idle_expects(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return WEIR_CFG_FAST_PATH && !segment->length && !(c->flow || c->send || c->extra) &&
           !(c->attention & ~(uint32_t)ATTEND_CONTROL_ONLY) && segment->seq == c->rcv.nxt &&
           segment->ack == c->snd.nxt && (segment->flags & ~(TCP_PSH | TCP_FIN)) == TCP_ACK && tcp_synchronised(c) &&
           tcp_ecn_silent(c) && timestamps_expected(c, segment);
}

// The congestion control has nothing to learn of it: the first slow start, and cwnd is not what limits. HyStart++ looks
// at it here.
static inline bool cc_indifferent(const struct weir *weir, struct tcp_conn *c, uint32_t rtt_us, uint32_t prior_inflight)
{
    const struct weir_cc_window *window = &c->flow->window;
    return window->ssthresh == WEIR_CC_UNLIMITED && !(c->flags & TCP_CWND_LIMITED) &&
           !tcp_half_used(c, prior_inflight) && tcp_cc(weir, c)->only_grows && tcp_hystart_calm(c, rtt_us);
}

// What an acknowledgement says of the path.
static HOT_INLINE void take_acked(struct weir *weir, struct tcp_conn *c, struct tcp_flow *flow, uint32_t ack,
                                  uint32_t acked)
{
    bool known;
    const struct flight_record *const newest = flight_acked_plain(flow->flight, ack, &known);
    const uint32_t rtt_us = known ? max_u32(weir->now - newest->sent, 1) : 0;
    tcp_rack_predicted(flow, weir->now - newest->sent);
    if (known)
        rtt_sample(&c->rtt, rtt_us);
    const uint32_t inflight = c->snd.nxt - ack;
    if (!cc_indifferent(weir, c, rtt_us, inflight + acked)) {
        const struct flight_delta delta = flight_plain_delta(newest, known, acked);
        tcp_cc_ack(weir, c, &delta, acked, inflight, inflight + acked);
    }
    tcp_cwv_acked(weir, c);
}

// tcp_input_ack and tcp_recovery_ack, for new data acknowledged when none was lost.
static HOT_INLINE void take_ack(struct weir *weir, struct tcp_conn *c, uint32_t ack, uint16_t window)
{
    struct tcp_flow *flow = c->flow;
    const uint32_t acked = ack - c->snd.una;
    if (window > c->max_snd_wnd)
        c->max_snd_wnd = window;
    c->snd.wl1 = c->rcv.nxt;
    c->snd.wnd = (uint32_t)window << tcp_snd_scale(c);
    tcp_held_drop(weir, c, flow, acked);
    c->snd.una = ack;
    flow->retransmit_from = ack;
    flow->duplicate_acks = 0;
    c->progress_ms = weir->now_ms;
    take_acked(weir, c, flow, ack, acked);
    tcp_timers_acked_steady(weir, c);
    tcp_room_opened(weir, c);
    if (stream_length(c->send) != tcp_flow_lag(flow))
        tcp_wants_output(weir, c);
}

// RFC 7323 §4.3: what reaches back to the last ACK sent moves TS.Recent.
static inline void heard(struct tcp_conn *c, const struct tcp_segment *segment)
{
    c->keepalive_probes = 0;
    if (c->flags & TCP_USE_TIMESTAMPS && c->rcv.acked == c->rcv.nxt)
        tcp_timestamps_heard(c, segment->options.ts_value);
}

// What the usual segment comes to: the next data, whole, wanted, and in place already; of segments of merged_size (0:
// one).
static BYTES_INLINE void take_data(struct weir *weir, struct tcp_conn *c, uint32_t length, bool push,
                                   uint32_t merged_size)
{
    tcp_timers_active(weir, c);
    tcp_receive_after_pause(weir, c, length);  // by the estimate from before it, as the steps have it
    if (merged_size || length != c->rcv_mss)
        tcp_receive_estimate_mss(c, merged_size, length, push);
    TCP_INFO_COUNT(c, received_wraps, c->rcv.nxt + length < length);
    c->rcv.nxt += length;
    stream_commit(c->receive, length);
    tcp_receive_owe_ack(weir, c, false);
    sock_event(&weir->socks, &c->sock, WEIR_READABLE);
}

// What a segment that the steady state expects comes to; its data is in place.
static HOT_INLINE void take(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                            uint32_t merged_size)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    heard(c, segment);
    if (segment->ack != c->snd.una)
        take_ack(weir, c, segment->ack, segment->window);
    else
        c->snd.wl1 = seq_max(c->snd.wl1, c->rcv.nxt);  // an ACK that overtook it may have brought a newer window
    if (segment->length)
        take_data(weir, c, segment->length, segment->flags & TCP_PSH, merged_size);
    // only now: whether an acknowledgement may wait depends on when the last one came
    c->last_received_ms = weir->now_ms;
}

// What one that a connection without data expects comes to.
static void take_control(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    if (tcp_input_ack(weir, c, segment) == TCP_GONE)
        return;
    heard(c, segment);
    c->last_received_ms = weir->now_ms;
    if (segment->flags & TCP_FIN)
        tcp_receive_fin(weir, c, segment->seq);
}

bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment,
                 bool copied)
{
    if (segment->options.sack_count || tcp_ecn_unusual(c, packet))
        return false;
    if (steady_expects(c, segment) && (copied || !segment->length)) {
        take(weir, c, segment, packet->frame->segment_size);
    } else if (idle_expects(c, segment)) {
        ip_path_heard(&c->path, packet);
        take_control(weir, c, segment);
    } else {
        return false;
    }
    return true;
}

#if WEIR_CFG_FAST_PATH
// --- in the frame ----------------------------------------------------------------------------------------------------

// Copies the payload behind the data in the receive queue, where nothing counts until the sum proved good, and sums it.
// false: no memory.
static inline bool copy_payload(struct weir *weir, struct tcp_conn *c, const struct weir_frame *frame,
                                const uint8_t *tcp, uint32_t length, uint32_t *sum)
{
    if (!tcp_receive_room(weir, c, length))
        return false;
    const struct weir_span span = stream_stretch(c->receive, stream_length(c->receive), length);
    if (LIKELY(span.length == length)) {
        *sum = checksum_copy_payload(weir->port, span.data, tcp + TCP_TIMESTAMPED_BYTES, length);
    } else {
        const uint32_t at = (uint32_t)(tcp - (const uint8_t *)frame->slices[0].data);
        const struct packet in = {.frame = frame, .head = tcp, .length = TCP_TIMESTAMPED_BYTES + length, .offset = at};
        *sum = tcp_receive_store(weir, c, &in, TCP_TIMESTAMPED_BYTES, length);
    }
    return true;
}

static inline bool sum_good(const struct flow *flow, const uint8_t *tcp, uint32_t length, uint32_t payload_sum)
{
    return checksum_words_good(checksum_words(tcp, TCP_TIMESTAMPED_BYTES) + flow->match.pseudo_sum +
                               checksum_word((uint16_t)(TCP_TIMESTAMPED_BYTES + length)) + payload_sum);
}

// What prediction looks at, of a header with timestamps alone.
static inline void read_segment(const uint8_t *tcp, uint32_t length, struct tcp_segment *segment)
{
    segment->seq = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    segment->length = length;
    segment->options.seen = TCP_SEEN_TIMESTAMPS;
    segment->options.sack_count = 0;
    segment->options.ts_value = get32(tcp + 24);
    segment->options.ts_echo = get32(tcp + 28);
}

bool tcp_predict_frame(struct weir *weir, const struct flow *flow, const struct weir_frame *frame)
{
    if (frame->count != 1 || frame->checksum != WEIR_CHECKSUM_NONE)
        return false;
    const uint8_t *const bytes = frame->slices[0].data, *const tcp = bytes + flow->match.transport_at;
    struct packet packet;
    ip_read(bytes + flow->match.network_at, &packet);
    const uint32_t length = packet.length - TCP_TIMESTAMPED_BYTES;
    if (packet.protocol != IP_TCP || packet.length < TCP_TIMESTAMPED_BYTES || (packet.tos & TCP_ECN_BITS) == TCP_CE ||
        tcp[12] != TCP_TIMESTAMPED_BYTES << 2 || get32(tcp + 20) != TCP_TIMESTAMPS_ALIGNED)
        return false;
    struct tcp_conn *const c = *tcp_conn_recent(weir, tcp[3], tcp[1]);
    if (!c || get32(tcp) != ((uint32_t)c->remote.port << 16 | c->local.port) ||
        !weir_addr_equal(c->remote.addr, flow->remote) || !weir_addr_equal(c->local.addr, flow->local))
        return false;
    struct tcp_segment segment;
    uint32_t payload_sum = 0;
    read_segment(tcp, length, &segment);
    if (LIKELY(steady_expects(c, &segment))) {
        if ((length && !copy_payload(weir, c, frame, tcp, length, &payload_sum)) ||
            !sum_good(flow, tcp, length, payload_sum))
            return false;
        take(weir, c, &segment, 0);
    } else if (WEIR_CFG_ARP_CACHE && idle_expects(c, &segment) && sum_good(flow, tcp, 0, 0)) {
        take_control(weir, c, &segment);  // (without a neighbour cache answers follow each good packet: ip_path_heard)
    } else {
        return false;
    }
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    return true;
}
#endif
