// SPDX-License-Identifier: BSD-2-Clause
// Header prediction (Jacobson 1990): in a transfer that goes well each segment but brings what was expected next, and the steps of
// RFC 9293 §3.10.7.4 (input.c) then come to very little. tcp_predict recognises such a segment and does that little.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/internal.h"

// A connection with any of these has something under way that the steps must see.
#define UNUSUAL \
    (TCP_CLOSED_BY_USER | TCP_READ_SHUT | TCP_FIN_QUEUED | TCP_FIN_RECEIVED | TCP_IN_RECOVERY | TCP_RTO_RECOVERY | TCP_PERSIST | TCP_URGENT_SEND | \
     TCP_URGENT_RECEIVED | TCP_RETRANSMIT_NOW | TCP_PROBE_NOW)

// An established connection at peace, and the segment next in order that does no more than bring data (in its place already), or acknowledge,
// or both. Each line is a step that has nothing to do.
static inline bool is_expected(const struct tcp_conn *c, const struct tcp_segment *segment, bool copied)
{
    const uint8_t options = c->flags & TCP_USE_TIMESTAMPS ? TCP_SEEN_TIMESTAMPS : 0;
    if (segment->seq != c->rcv.nxt || c->state != WEIR_TCP_ESTABLISHED || (segment->flags & ~TCP_PSH) != TCP_ACK)
        return false;  // sequence number, RST, SYN, state, URG, FIN
    if (c->flags & UNUSUAL || c->extra || segment->options.seen != options || segment->options.sack_count)
        return false;  // data beyond a hole, duplicates to report, urgent data, recovery, a closed window, a closed user
    if (options && tcp_timestamp_old(c, segment))
        return false;  // PAWS
    if (segment->length && (!copied || segment->length > c->rcv.edge - c->rcv.nxt))
        return false;
    const uint32_t acked = segment->ack - c->snd.una;
    if (!acked)  // a duplicate, or a window update: the steps tell which
        return segment->length && (uint32_t)segment->window << c->snd_scale == c->snd.wnd;
    return acked <= c->snd.nxt - c->snd.una && c->flow && !c->flow->flight->sacked && !c->flow->flight->lost;
}

// tcp_input_ack and tcp_recovery_ack, for new data acknowledged when none was lost.
static inline void take_ack(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment)
{
    struct flight_delta delta = {0};
    const uint32_t acked = segment->ack - c->snd.una, prior_inflight = c->snd.nxt - c->snd.una;
    c->snd.wnd = (uint32_t)segment->window << c->snd_scale;
    c->snd.max_wnd = max_u32(c->snd.max_wnd, c->snd.wnd);
    tcp_held_drop(weir, c, acked);
    flight_acked(c->flow->flight, segment->ack, &delta);
    c->snd.una = segment->ack;
    c->flow->retransmit_from = seq_max(c->flow->retransmit_from, segment->ack);
    c->progress_ms = weir->now_ms;
    c->duplicate_acks = 0;
    const uint32_t rtt_us = delta.rtt_valid ? max_u32(weir->now - delta.rtt_sent_us, 1) : tcp_timestamps_rtt(weir, c, segment);
    if (rtt_us) {
        rtt_sample(&c->rtt, rtt_us, weir->port->granularity_us);
        c->backoff = 0;
    }
    tcp_cc_ack(weir, c, &delta, acked, prior_inflight);
    tcp_timers_acked(weir, c);
    if (c->flags & TCP_WRITE_BLOCKED) {
        c->flags &= ~(uint32_t)TCP_WRITE_BLOCKED;
        sock_event(&weir->socks, &c->sock, WEIR_WRITABLE);
    }
    if (tcp_send_queued(c))
        tcp_wants_output(weir, c);
}

static inline void take_segment(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment, uint32_t merged_size)
{
    TCP_INFO_COUNT(c, segs_in, 1);
    c->last_received_ms = weir->now_ms;
    c->keepalive_probes = 0;
    c->snd.wl1 = segment->seq;
    tcp_timestamps_update(weir, c, segment);
    if (segment->ack != c->snd.una)
        take_ack(weir, c, segment);
    if (segment->length)
        tcp_receive_expected(weir, c, segment, merged_size);
}

bool tcp_predict(struct weir *weir, struct tcp_conn *c, const struct packet *packet, const struct tcp_segment *segment, bool copied)
{
    if (!is_expected(c, segment, copied))
        return false;
    take_segment(weir, c, segment, packet->frame->segment_size);
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
    return !differs && lane->c && lane->in.netif == netif && lane->in.generation == weir->ip.generation && !taps_any(weir) && !raw_listening(weir);
}

static inline void parse(const uint8_t *tcp, struct tcp_segment *segment)
{
    segment->seq = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    segment->header_length = TCP_LANE_HEADER;
    segment->options.seen = TCP_SEEN_TIMESTAMPS;
    segment->options.sack_count = 0;
    segment->options.ts_value = get32(tcp + 24);
    segment->options.ts_echo = get32(tcp + 28);
}

// Copies the payload behind the data in the receive queue, where nothing counts until the sum proved good, and sums it. false: no memory.
static inline bool copy_payload(struct weir *weir, struct tcp_conn *c, const uint8_t *from, uint32_t length, uint16_t *sum)
{
    if (!tcp_receive_room(weir, c, length))
        return false;
    const uint32_t offset = stream_length(c->receive);
    uint32_t done = 0;
    do {
        struct weir_span span;
        stream_spans(c->receive, offset + done, length - done, &span, 1);
        *sum = checksum_add_at(*sum, checksum_copy_sum(weir->port, span.data, from + done, span.length), done);
        done += span.length;
    } while (done < length);
    return true;
}

bool tcp_lane_input(struct weir *weir, struct weir_netif *netif, const struct weir_frame *frame)
{
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t network_at = netif->link == &weir_link_ethernet ? ETHERNET_BYTES : 0;
    const uint8_t *const network = bytes + network_at, *const tcp = network + IP_LANE_BYTES;
    struct tcp_segment segment;
    if (frame->count != 1 || frame->length < network_at + IP_LANE_BYTES + TCP_LANE_HEADER || frame->checksum != WEIR_CHECKSUM_NONE)
        return false;
    const struct tcp_lane *const lane = tcp_lane_at(weir, get16(tcp), get16(tcp + 2));
    if (!same_head(weir, lane, netif, bytes) || lane->in.network_at != network_at || tcp[12] != TCP_LANE_HEADER << 2 ||
        get32(tcp + 20) != TCP_TIMESTAMPS_ALIGNED || !ip_lane_good(network, frame->length - network_at, TCP_LANE_HEADER, &segment.length))
        return false;
    struct tcp_conn *const c = lane->c;
    parse(tcp, &segment);
    uint16_t payload_sum = 0;
    if (!is_expected(c, &segment, true) || (segment.length && !copy_payload(weir, c, tcp + TCP_LANE_HEADER, segment.length, &payload_sum)))
        return false;
    const uint32_t length_word = checksum_word((uint16_t)(TCP_LANE_HEADER + segment.length));
    if (checksum_fold_words(checksum_words(tcp, TCP_LANE_HEADER) + lane->in.pseudo_sum + length_word + payload_sum) != 0xffff)
        return false;  // the long way counts it
    netif->stats.rx_frames++;
    netif->stats.rx_segments++;
    netif->stats.rx_bytes += frame->length;
    count(weir, WEIR_COUNT_TCP_RECEIVED);
    take_segment(weir, c, &segment, 0);
    return true;
}
