// SPDX-License-Identifier: BSD-2-Clause
// Header prediction (Jacobson 1990): in a transfer that goes well each segment but brings what was expected next, and the steps of
// RFC 9293 §3.10.7.4 (input.c) then come to very little. tcp_predict recognises such a segment and does that little.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/internal.h"

// In the steady state, with timestamps or without as the segment is.
static inline bool steady(const struct tcp_conn *c, uint32_t timestamps)
{
    return !c->attention && (c->flags & TCP_USE_TIMESTAMPS) == timestamps;
}

// The ACK is of data in flight none of which was lost or late, or it says nothing new beside data that comes in.
static inline bool ack_expected(const struct tcp_conn *c, uint32_t ack, uint32_t window, uint32_t length)
{
    const uint32_t acked = ack - c->snd.una;
    if (!acked)  // without data: a duplicate, or a window update; the steps tell which
        return length && window << tcp_snd_scale(c) == c->snd.wnd;
    return acked <= c->snd.nxt - c->snd.una && window && c->flow && c->flow->flight->count;
}

// The congestion control has nothing to learn of it: the first slow start, and cwnd is not what limits. HyStart++ looks at it here.
static inline bool cc_indifferent(struct tcp_conn *c, uint32_t rtt_us, uint32_t prior_inflight)
{
    const struct weir_cc_window *window = &c->flow->window;
    return window->ssthresh == WEIR_CC_UNLIMITED && !(c->flags & TCP_CWND_LIMITED) && !tcp_half_used(c, prior_inflight) &&
           tcp_cc(c)->only_grows && tcp_hystart_calm(c, rtt_us);
}

static __attribute__((noinline)) void tell_cc(struct weir *weir, struct tcp_conn *c, const struct flight_record *newest, bool known,
                                              uint32_t acked)
{
    const uint32_t inflight = c->snd.nxt - c->snd.una;
    const struct flight_delta delta = flight_plain_delta(newest, known, acked);
    tcp_cc_ack(weir, c, &delta, acked, inflight, inflight + acked);
}

// What an acknowledgement says of the path.
static HOT_INLINE void learn(struct weir *weir, struct tcp_conn *c, const struct flight_record *newest, bool known, uint32_t rtt_us,
                             uint32_t acked)
{
    if (!cc_indifferent(c, rtt_us, c->snd.nxt - c->snd.una + acked))
        tell_cc(weir, c, newest, known, acked);
    tcp_cwv_acked(weir, c);
}
static __attribute__((noinline)) void learn_apart(struct weir *weir, struct tcp_conn *c, const struct flight_record *newest,
                                                  uint32_t rtt_us, uint32_t acked)
{
    learn(weir, c, newest, true, rtt_us, acked);
}

#if WEIR_CFG_TCP_REFINEMENTS
// All is acknowledged, the last `acked` bytes of it now: neither was that half a window, nor is it news of what is used.
static inline bool use_settled(const struct weir *weir, const struct tcp_flow *flow, uint32_t una, uint32_t acked)
{
    return (void)acked, tcp_cwv_settled(&flow->cwv, weir->now_ms, una, flow->window.cwnd);
}
static inline void use_rests(struct tcp_flow *flow, uint32_t una) { tcp_cwv_rest(&flow->cwv, una); }
#else
static inline bool use_settled(const struct weir *weir, const struct tcp_flow *flow, uint32_t una, uint32_t acked)
{
    return (void)weir, (void)una, acked <= flow->window.cwnd / 2;
}
static inline void use_rests(struct tcp_flow *flow, uint32_t una) { (void)flow, (void)una; }
#endif
#if WEIR_CFG_TCP_REFINEMENTS
static inline bool round_fresh(const struct tcp_flow *flow) { return tcp_hystart_fresh(&flow->hystart); }
static inline void round_single(struct tcp_flow *flow, uint32_t nxt, uint32_t rtt_us) { tcp_hystart_single(&flow->hystart, nxt, rtt_us); }
#else
static inline bool round_fresh(const struct tcp_flow *flow) { return (void)flow, true; }
static inline void round_single(struct tcp_flow *flow, uint32_t nxt, uint32_t rtt_us) { (void)flow, (void)nxt, (void)rtt_us; }
#endif

// All that was in flight is acknowledged, as in an exchange of messages that goes on as it did: nobody has anything to learn of it, only
// the next round trip begins here. false: nothing was done.
static inline bool exchange_goes_on(const struct weir *weir, const struct tcp_conn *c, struct tcp_flow *flow, uint32_t acked,
                                    uint32_t rtt_us)
{
    const uint32_t una = c->snd.una;
    if (!LIKELY(flow->window.ssthresh == WEIR_CC_UNLIMITED) || c->flags & TCP_CWND_LIMITED || !tcp_cc(c)->only_grows ||
        !LIKELY(use_settled(weir, flow, una, acked)) || !round_fresh(flow))
        return false;
    round_single(flow, una, rtt_us);
    use_rests(flow, una);
    return true;
}

static HOT_INLINE void take_all(struct weir *weir, struct tcp_conn *c, struct tcp_flow *flow, uint32_t ack, uint32_t acked)
{
    const struct flight_record *const newest = flight_acked_all(flow->flight, ack);
    const uint32_t rtt_us = max_u32(weir->now - newest->sent, 1);
    rtt_sample(&c->rtt, rtt_us);
    tcp_rack_predicted(flow, weir->now - newest->sent);
    if (!exchange_goes_on(weir, c, flow, acked, rtt_us))
        learn_apart(weir, c, newest, rtt_us, acked);
}

static HOT_INLINE void take_some(struct weir *weir, struct tcp_conn *c, struct tcp_flow *flow, uint32_t ack, uint32_t acked)
{
    bool known;
    const struct flight_record *const newest = flight_acked_plain(flow->flight, ack, &known);
    const uint32_t rtt_us = known ? max_u32(weir->now - newest->sent, 1) : 0;
    tcp_rack_predicted(flow, weir->now - newest->sent);
    if (known)
        rtt_sample(&c->rtt, rtt_us);
    learn(weir, c, newest, known, rtt_us, acked);
}

// tcp_input_ack and tcp_recovery_ack, for new data acknowledged when none was lost.
static HOT_INLINE void take_ack(struct weir *weir, struct tcp_conn *c, uint32_t ack, uint32_t window)
{
    struct tcp_flow *flow = c->flow;
    const uint32_t acked = ack - c->snd.una;
    c->snd.wl1 = c->rcv.nxt;
    c->snd.wnd = window << tcp_snd_scale(c);
    if (c->snd.wnd > c->snd.max_wnd)
        c->snd.max_wnd = c->snd.wnd;
    tcp_held_drop(weir, c, flow, acked);
    c->snd.una = ack;
    flow->retransmit_from = ack;
    c->progress_ms = weir->now_ms;
    c->duplicate_acks = 0;
    if (WEIR_CFG_FAST_PATH && LIKELY(ack == c->snd.nxt))
        take_all(weir, c, flow, ack, acked);
    else
        take_some(weir, c, flow, ack, acked);
    tcp_timers_acked_steady(weir, c);
    if (c->flags & TCP_WRITE_BLOCKED) {
        c->flags &= ~(uint32_t)TCP_WRITE_BLOCKED;
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
    }
    if (stream_length(c->send) != tcp_flow_lag(flow))
        tcp_wants_output(weir, c);
}

// The segment is next in order.
static inline void heard(struct tcp_conn *c)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    c->keepalive_probes = 0;
    c->snd.wl1 = seq_max(c->snd.wl1, c->rcv.nxt);  // an ACK that overtook it may have brought a newer window
}

// What the usual segment comes to: the next data, whole, wanted, and in place already; of segments of merged_size (0: one).
static BYTES_INLINE void take_data(struct weir *weir, struct tcp_conn *c, uint32_t length, bool push, uint32_t merged_size)
{
    if (!(c->armed & 1u << TCP_TIMER_LONG))
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

bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment, bool copied)
{
    const uint32_t timestamps = segment->options.seen == TCP_SEEN_TIMESTAMPS ? TCP_USE_TIMESTAMPS : 0;
    if (segment->seq != c->rcv.nxt || (segment->flags & ~TCP_PSH) != TCP_ACK || (segment->options.seen & ~TCP_SEEN_TIMESTAMPS) ||
        segment->options.sack_count || tcp_ecn_unusual(c, packet) || !steady(c, timestamps) ||
        (timestamps && tcp_timestamp_old(c, segment->options.ts_value)))
        return false;
    if (!ack_expected(c, segment->ack, segment->window, segment->length) ||
        (segment->length && (!copied || segment->length > c->rcv.edge - c->rcv.nxt)))
        return false;
    heard(c);
    tcp_timestamps_update(weir, c, segment);
    if (segment->ack != c->snd.una)
        take_ack(weir, c, segment->ack, segment->window);
    if (segment->length)
        take_data(weir, c, segment->length, segment->flags & TCP_PSH, packet->frame->segment_size);
    c->last_received_ms = weir->now_ms;  // only now: whether an acknowledgement may wait depends on when the last one came
    return true;
}

#if WEIR_CFG_FAST_PATH
// --- by the lane (lane.h) --------------------------------------------------------------------------------------------------------

_Static_assert(TCP_LANE_HEAD == 24 && TCP_LANE_HEAD == IP_LANE_BYTES + 4, "same_head compares three words");
// Whether network header and ports are those of the last frame, which were found right.
static inline bool same_head(const struct tcp_lane *lane, const uint8_t *network)
{
    const uint8_t *const head = lane->in.head;
    return !((native64(network) ^ native64(head)) | (native64(network + 8) ^ native64(head + 8)) |
             (native64(network + 16) ^ native64(head + 16)));
}

// … or differ in what may differ only.
static __attribute__((noinline)) bool next_head(struct tcp_lane *lane, const uint8_t *network)
{
    if (native32(network + IP_LANE_BYTES) != native32(lane->in.head + IP_LANE_BYTES) ||
        !ip_lane_follows(lane->in.head, network, lane->in.network_sum))
        return false;
    memcpy(lane->in.head, network, sizeof lane->in.head);
    lane->in.payload_bytes = ip_lane_payload(network);
    return true;
}

static inline bool same_link(const struct tcp_lane *lane, const uint8_t *bytes, const uint8_t *network)
{
    return bytes == network || !((native64(bytes) ^ lane->in.link[0]) | (native64(network - 8) ^ lane->in.link[1]));
}

// What is not in the first piece of memory, of `done` bytes. Returns the sum of all.
COLD static uint16_t copy_rest(struct weir *weir, struct tcp_conn *c, const uint8_t *from, uint32_t length, uint32_t done, uint16_t sum)
{
    while (done < length) {
        const struct weir_span span = stream_stretch(c->receive, stream_length(c->receive) + done, length - done);
        sum = checksum_add_at(sum, checksum_copy_sum(weir->port, span.data, from + done, span.length), done);
        done += span.length;
    }
    return sum;
}

// Copies the payload behind the data in the receive queue, where nothing counts until the sum proved good, and sums it. false: no memory.
static inline bool copy_payload(struct weir *weir, struct tcp_conn *c, const uint8_t *from, uint32_t length, uint32_t *sum)
{
    uint8_t *place;
    if (length <= COPY_FEW && LIKELY(c->receive) && stream_few(c->receive, stream_length(c->receive), length, &place)) {
        stream_reach(c->receive, stream_length(c->receive) + length);
        *sum = checksum_copy_few(place, from, length);
        return true;
    }
    if (!tcp_receive_room(weir, c, length))
        return false;
    const uint32_t offset = stream_length(c->receive);
    const struct weir_span span = stream_stretch(c->receive, offset, length);
    *sum = checksum_copy_payload(weir->port, span.data, from, span.length);
    if (span.length != length)
        *sum = copy_rest(weir, c, from, length, span.length, checksum_fold(*sum));
    return true;
}

// The checksum, of the words that differ from segment to segment and what is known of the others.
static inline bool sum_good(const struct tcp_lane *lane, const uint8_t *network, const uint8_t *tcp, uint32_t payload_sum)
{
    const uint64_t sum = (uint64_t)native32(tcp + 4) + native32(tcp + 8) + native32(tcp + 12) + native32(tcp + 16) + native32(tcp + 24) +
                         native32(tcp + 28) + native16(network + 2) + lane->in.transport_sum + payload_sum;
    return checksum_words_good(sum);  // not 0: a port is not
}

// The segment's checksum is right too.
static inline void lane_take(struct weir *weir, struct tcp_conn *c, const uint8_t *tcp, uint32_t length)
{
    heard(c);
    if (c->rcv.acked == c->rcv.nxt)  // RFC 7323 §4.3: it reaches back to the last ACK sent
        tcp_timestamps_heard(c, get32(tcp + 24));
    if (get32(tcp + 8) != c->snd.una)
        take_ack(weir, c, get32(tcp + 8), get16(tcp + 14));
    if (length)
        take_data(weir, c, length, tcp[13] & TCP_PSH, 0);
    c->last_received_ms = weir->now_ms;
}

// What changes from segment to segment is as expected: next in order, its ACK of the usual kind.
static inline bool lane_expects(const struct tcp_conn *c, const uint8_t *tcp, uint32_t length)
{
    return get32(tcp + 4) == c->rcv.nxt && length <= c->rcv.edge - c->rcv.nxt && steady(c, TCP_USE_TIMESTAMPS) &&
           !tcp_timestamp_old(c, get32(tcp + 24)) && ack_expected(c, get32(tcp + 8), get16(tcp + 14), length);
}

bool tcp_lane_input(struct weir *weir, struct weir_netif *netif, const struct weir_frame *frame)
{
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t network_at = netif->link->untagged_bytes, least = network_at + IP_LANE_BYTES + TCP_LANE_HEADER;
    const uint8_t *const network = bytes + network_at, *const tcp = network + IP_LANE_BYTES;
    if (frame->count != 1 || frame->length < least || frame->checksum != WEIR_CHECKSUM_NONE)
        return false;
    struct tcp_lane *const lane = tcp_lane_at(weir, tcp[1], tcp[3]);
    uint32_t payload_sum = 0;
    if (lane->in.generation != weir->ip.generation || lane->in.netif != netif || !same_link(lane, bytes, network) ||
        (!same_head(lane, network) && !next_head(lane, network)))
        return false;
    const uint32_t length = lane->in.payload_bytes - TCP_LANE_HEADER;  // of a packet too short, more than any frame has
    if (length > frame->length - least || (get16(tcp + 12) & ~(uint32_t)TCP_PSH) != (TCP_LANE_HEADER << 10 | TCP_ACK) ||
        get32(tcp + 20) != TCP_TIMESTAMPS_ALIGNED)
        return false;
    struct tcp_conn *const c = lane->c;
    if (!lane_expects(c, tcp, length) || (length && !copy_payload(weir, c, tcp + TCP_LANE_HEADER, length, &payload_sum)) ||
        !sum_good(lane, network, tcp, payload_sum))
        return false;
    lane_take(weir, c, tcp, length);
    netif->stats.rx_frames++;
    netif->stats.rx_segments++;
    netif->stats.rx_bytes += frame->length;
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    return true;
}
#endif
