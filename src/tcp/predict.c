// SPDX-License-Identifier: BSD-2-Clause
// Header prediction (Jacobson 1990): in a transfer that goes well each segment but brings what was expected next, and the steps of
// RFC 9293 §3.10.7.4 (input.c) then come to very little. tcp_predict recognises such a segment and does that little.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/internal.h"

// A connection with any of these has something under way that the steps must see.
#define UNUSUAL \
    (TCP_CLOSED_BY_USER | TCP_READ_SHUT | TCP_FIN_QUEUED | TCP_FIN_RECEIVED | TCP_IN_RECOVERY | TCP_RTO_RECOVERY | TCP_PERSIST | \
     TCP_URGENT_SEND | TCP_URGENT_RECEIVED | TCP_RETRANSMIT_NOW | TCP_PROBE_NOW)

// Established and at peace: nothing beyond a hole, no duplicate to report, no urgent data, no recovery, no closed window, an open user.
static inline bool at_peace(const struct tcp_conn *c, uint32_t timestamps)
{
    return (c->flags & (UNUSUAL | TCP_USE_TIMESTAMPS)) == timestamps && c->state == WEIR_TCP_ESTABLISHED && !c->extra;
}

// The ACK is of data in flight none of which was lost or late, or it says nothing new beside data that comes in.
static inline bool ack_expected(const struct tcp_conn *c, uint32_t ack, uint32_t window, uint32_t length)
{
    const uint32_t acked = ack - c->snd.una;
    if (!acked)  // without data: a duplicate, or a window update; the steps tell which
        return length && window << c->snd_scale == c->snd.wnd;
    return acked <= c->snd.nxt - c->snd.una && window && !c->backoff && c->flow && flight_plain(c->flow->flight);
}

// tcp_input_ack and tcp_recovery_ack, for new data acknowledged when none was lost.
static inline void take_ack(struct weir *weir, struct tcp_conn *c, uint32_t ack, uint32_t window)
{
    struct tcp_flow *flow = c->flow;
    const uint32_t acked = ack - c->snd.una, prior_inflight = c->snd.nxt - c->snd.una;
    struct flight_delta delta = {.delivered = acked};
    c->snd.wnd = window << c->snd_scale;
    c->snd.max_wnd = max_u32(c->snd.max_wnd, c->snd.wnd);
    tcp_held_drop(weir, c, acked);
    delta.rtt_valid = flight_acked_plain(flow->flight, ack, &delta.rtt_sent_us);
    c->snd.una = ack;
    flow->retransmit_from = seq_max(flow->retransmit_from, ack);
    c->progress_ms = weir->now_ms;
    c->duplicate_acks = 0;
    if (delta.rtt_valid)
        rtt_sample(&c->rtt, max_u32(weir->now - delta.rtt_sent_us, 1), weir->port->granularity_us);
    tcp_cc_ack(weir, c, &delta, acked, prior_inflight - acked, prior_inflight);
    tcp_timers_acked(weir, c);
    if (c->flags & TCP_WRITE_BLOCKED) {
        c->flags &= ~(uint32_t)TCP_WRITE_BLOCKED;
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
    }
    if (tcp_send_queued(c))
        tcp_wants_output(weir, c);
}

// The segment is next in order.
static inline void heard(const struct weir *weir, struct tcp_conn *c)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    c->last_received_ms = weir->now_ms;
    c->keepalive_probes = 0;
    c->snd.wl1 = c->rcv.nxt;
}

bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment, bool copied)
{
    const uint32_t timestamps = segment->options.seen == TCP_SEEN_TIMESTAMPS ? TCP_USE_TIMESTAMPS : 0;
    if (segment->seq != c->rcv.nxt || (segment->flags & ~TCP_PSH) != TCP_ACK || (segment->options.seen & ~TCP_SEEN_TIMESTAMPS) ||
        segment->options.sack_count || !at_peace(c, timestamps) || (timestamps && tcp_timestamp_old(c, segment->options.ts_value)))
        return false;
    if (!ack_expected(c, segment->ack, segment->window, segment->length) ||
        (segment->length && (!copied || segment->length > c->rcv.edge - c->rcv.nxt)))
        return false;
    heard(weir, c);
    tcp_timestamps_update(weir, c, segment);
    if (segment->ack != c->snd.una)
        take_ack(weir, c, segment->ack, segment->window);
    if (segment->length)
        tcp_receive_expected(weir, c, segment->length, segment->flags & TCP_PSH, packet->frame->segment_size);
    return true;
}

// --- by the lane (lane.h) --------------------------------------------------------------------------------------------------------

#if WEIR_CFG_RAW
static inline bool raw_listening(const struct weir *weir) { return weir->udp.raws.count != 0; }
#else
static inline bool raw_listening(const struct weir *weir) { return (void)weir, false; }
#endif

// Whether the frame begins as the one that was remembered, and nobody else wants to see it.
static inline bool same_head(const struct weir *weir, const struct tcp_lane *lane, const struct weir_netif *netif, const uint8_t *bytes)
{
    uint64_t differs = 0;
    for (uint32_t i = 0; i < TCP_LANE_WORDS; i++) {
        uint64_t word;
        memcpy(&word, bytes + 8 * i, 8);
        differs |= (word & lane->in.mask[i]) ^ lane->in.head[i];
    }
    return !differs && lane->in.netif == netif && lane->in.generation == weir->ip.generation && !taps_any(weir) && !raw_listening(weir);
}

// Copies the payload behind the data in the receive queue, where nothing counts until the sum proved good, and sums it. false: no memory.
static inline bool copy_payload(struct weir *weir, struct tcp_conn *c, const uint8_t *from, uint32_t length, uint16_t *sum)
{
    if (!tcp_receive_room(weir, c, length))
        return false;
    const uint32_t offset = stream_length(c->receive);
    struct weir_span span = stream_stretch(c->receive, offset, length);
    *sum = checksum_copy_sum(weir->port, span.data, from, span.length);
    for (uint32_t done = span.length; done < length; done += span.length) {
        span = stream_stretch(c->receive, offset + done, length - done);
        *sum = checksum_add_at(*sum, checksum_copy_sum(weir->port, span.data, from + done, span.length), done);
    }
    return true;
}

// Takes the segment; its headers but the sum were checked. false: the long way finds out why.
static bool lane_take_segment(struct weir *weir, struct tcp_conn *c, const uint8_t *tcp, uint32_t length, uint64_t header_sum)
{
    uint16_t sum = 0;
    if (length && (length > c->rcv.edge - c->rcv.nxt || !copy_payload(weir, c, tcp + TCP_LANE_HEADER, length, &sum)))
        return false;
    if (checksum_fold_words(header_sum + sum) != 0xffff)
        return false;
    heard(weir, c);
    if (c->rcv.acked == c->rcv.nxt)  // RFC 7323 §4.3: it reaches back to the last ACK sent
        tcp_timestamps_heard(c, get32(tcp + 24));
    if (get32(tcp + 8) != c->snd.una)
        take_ack(weir, c, get32(tcp + 8), get16(tcp + 14));
    if (length)
        tcp_receive_expected(weir, c, length, tcp[13] & TCP_PSH, 0);
    return true;
}

bool tcp_lane_input(struct weir *weir, struct weir_netif *netif, const struct weir_frame *frame)
{
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t network_at = netif->link == &weir_link_ethernet ? ETHERNET_BYTES : 0;
    const uint8_t *const network = bytes + network_at, *const tcp = network + IP_LANE_BYTES;
    uint32_t length;
    if (frame->count != 1 || frame->length < network_at + IP_LANE_BYTES + TCP_LANE_HEADER || frame->checksum != WEIR_CHECKSUM_NONE)
        return false;
    if ((tcp[13] & ~TCP_PSH) != TCP_ACK || tcp[12] != TCP_LANE_HEADER << 2 || get32(tcp + 20) != TCP_TIMESTAMPS_ALIGNED)
        return false;
    const struct tcp_lane *const lane = tcp_lane_at(weir, get16(tcp), get16(tcp + 2));
    if (!same_head(weir, lane, netif, bytes) ||
        !ip_lane_good(network, lane->in.network_sum, frame->length - network_at, TCP_LANE_HEADER, &length))
        return false;
    struct tcp_conn *const c = lane->c;
    if (get32(tcp + 4) != c->rcv.nxt || !at_peace(c, TCP_USE_TIMESTAMPS) || tcp_timestamp_old(c, get32(tcp + 24)) ||
        !ack_expected(c, get32(tcp + 8), get16(tcp + 14), length))
        return false;
    const uint64_t header_sum =
        checksum_words(tcp, TCP_LANE_HEADER) + lane->in.pseudo_sum + checksum_word((uint16_t)(TCP_LANE_HEADER + length));
    if (!lane_take_segment(weir, c, tcp, length, header_sum))
        return false;
    netif->stats.rx_frames++;
    netif->stats.rx_segments++;
    netif->stats.rx_bytes += frame->length;
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    return true;
}
