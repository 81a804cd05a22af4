// SPDX-License-Identifier: BSD-2-Clause
// Lanes (lane.h): what is remembered of frames that went the long way, and sending by it. The receiving side is in predict.c.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/output.h"

void tcp_lanes_init(struct weir *weir)
{
    for (uint32_t i = 0; i < TCP_LANES; i++)
        weir->tcp.lane_at[i] = &weir->tcp.lanes[i];
}

// The lane for a connection, whoever had it before.
static struct tcp_lane *lane_take(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (lane->c != c) {
        lane->c = c;
        lane->in.generation = 0;
        lane->out.ways = 0;
    }
    return lane;
}

void tcp_lane_forget(struct weir *weir, const struct tcp_conn *c)
{
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (lane->c != c)
        return;
    lane->c = NULL;
    lane->in.generation = 0;
}

// What the checksum covers and each packet has alike: pseudo header, ports, the kind of the option. For the pseudo header's length the
// network header's will be added, hence the latter's own bytes are taken off: a word's complement is what subtracts it.
static uint32_t lane_in_sum(const struct packet *packet)
{
    const uint8_t *tcp = packet->network + IP_LANE_BYTES;
    return (uint32_t)ip_pseudo_sum(packet->source, packet->destination, IP_TCP, 0) + native16(tcp) + native16(tcp + 2) +
           native16(tcp + 20) + native16(tcp + 22) + (uint16_t)~checksum_word(IP_LANE_BYTES);
}

void tcp_lane_learn(struct weir *weir, struct tcp_conn *c, const struct packet *packet)
{
    const uint8_t *const frame = packet->frame->slices[0].data;
    const uint32_t network_at = (uint32_t)(packet->network - frame);
    if (taps_any(weir) || tcp_raw_listening(weir) || packet->flags & PACKET_REASSEMBLED || packet->frame->count != 1 ||
        packet->network_length != IP_LANE_BYTES || packet->length < TCP_LANE_HEADER || network_at != packet->netif->link->untagged_bytes ||
        (network_at && network_at != TCP_LANE_LINK) || !ip_lane_fits(packet->network))
        return;
    struct tcp_lane *lane = lane_take(weir, c);
    if (network_at) {
        lane->in.link[0] = native64(frame);
        lane->in.link[1] = native64(packet->network - 8);
    }
    memcpy(lane->in.head, packet->network, sizeof lane->in.head);
    lane->in.payload_bytes = ip_lane_payload(packet->network);
    lane->in.network_sum = ip_lane_fixed_sum(packet->network);
    lane->in.netif = packet->netif;
    lane->in.generation = weir->ip.generation;
    lane->in.transport_sum = lane_in_sum(packet);
}

// Whether the header is one that the next could be made of: timestamps its only option, its checksum complete.
static bool lane_fits(const struct packet_out *out, const uint8_t *network)
{
    const uint8_t *tcp = network + IP_LANE_BYTES;
    return ip_lane_fits(network) && tcp[12] == TCP_LANE_HEADER << 2 && !get16(tcp + 18) && get32(tcp + 20) == TCP_TIMESTAMPS_ALIGNED &&
           !out->tx.checksum_start;
}

void tcp_lane_keep(struct weir *weir, struct tcp_conn *c, const struct packet_out *out)
{
    const uint32_t length = out->tx.header_length;
    const uint8_t *network = out->head + length - TCP_LANE_HEADER - IP_LANE_BYTES;
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (!(c->flags & TCP_HASHED))
        return;  // its last words
    if (taps_any(weir) || length < IP_LANE_BYTES + TCP_LANE_HEADER || length > sizeof lane->out.header - COPY_FEW ||
        !lane_fits(out, network))
        return;
    if (lane->c && lane->c != c && lane->out.made_ms == weir->now_ms)
        return;  // two that meet in one lane shall not take it from each other all the time
    lane = lane_take(weir, c);
    memcpy(lane->out.header, out->head, length);
    lane->out.slices[0] = (struct weir_slice){lane->out.header, length};
    lane->out.tx = (struct weir_tx){.slices = lane->out.slices, .header_length = (uint16_t)length, .hold_owner = c};
    lane->out.tcp = lane->out.header + length - TCP_LANE_HEADER;
    lane->out.network_sum = ip_lane_sum(network);
    lane->out.payload_bytes = UINT32_MAX;
    lane->out.transport_sum = checksum_word(ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, 0));
    lane->out.transport_sum += (uint32_t)c->local.port + c->remote.port + TCP_LANE_HEADER + (TCP_LANE_HEADER << 10) +
                               (TCP_TIMESTAMPS_ALIGNED >> 16) + (TCP_TIMESTAMPS_ALIGNED & 0xffff);
    lane->out.ways = weir->ip.ways;
    lane->out.made_ms = weir->now_ms;
}

// The lane is the connection's, what it holds is true still, and the interface takes frames.
static inline bool lane_ready(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    return lane->c == c && lane->out.ways == weir->ip.ways && weir->now_ms - lane->out.made_ms < IP_LANE_RENEW_MS &&
           netif_open(c->path.netif);
}

// Whether it is ready, and all that a segment has to say fits into its header.
static inline bool lane_open(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    return c->flags & TCP_USE_TIMESTAMPS && !(c->attention & ATTEND_HEADER) && lane_ready(weir, c, lane);
}

// The frame's first slice, and the network header, as they are for another length, or type of service. (Its sum is not taken from it: it
// holds that of the old byte.)
COLD static void lane_network(struct tcp_lane *lane, uint32_t length, uint8_t tos)
{
    uint8_t *const network = lane->out.tcp - IP_LANE_BYTES;
    if (network[1] != tos) {
        lane->out.network_sum = checksum_fold(lane->out.network_sum + tos + (uint16_t)~network[1]);
        network[1] = tos;
    }
    lane->out.payload_bytes = length;
    lane->out.tx.length = lane->out.tx.header_length + length;
    lane->out.slices[0].length = lane->out.tx.header_length;
    if (length <= COPY_FEW) {
        lane->out.slices[0].length = lane->out.tx.length;
        lane->out.tx.count = 1;
        lane->out.tx.holdable = false;
    }
    ip_lane_length(network, lane->out.network_sum, IP_LANE_BYTES + TCP_LANE_HEADER + length);
}

// Writes what all segments of `length` bytes that may leave now have alike, up to the window's edge, and returns its sum.
static SPEED_INLINE uint64_t lane_begin(const struct weir *weir, struct tcp_conn *c, struct tcp_lane *lane, uint32_t length, uint8_t tos,
                                        uint32_t edge)
{
    const uint32_t window = min_u32((edge - c->rcv.nxt) >> c->rcv_scale, 65535), ts_value = weir->now_ms + c->ts_offset;
    uint8_t *const tcp = lane->out.tcp;
    if (length != lane->out.payload_bytes || tcp[1 - (int)IP_LANE_BYTES] != tos)
        lane_network(lane, length, tos);
    const uint64_t sum = (uint64_t)lane->out.transport_sum + length + window + c->rcv.nxt + ts_value + c->ts_recent;
    put32(tcp + 8, c->rcv.nxt);
    put16(tcp + 14, window);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    return sum;
}

// Writes what a segment has of its own. Its flags include ACK.
static SPEED_INLINE void lane_finish(struct tcp_lane *lane, uint64_t sum, uint32_t seq, uint32_t flags, uint32_t payload_sum)
{
    uint8_t *const tcp = lane->out.tcp;
    put32(tcp + 4, seq);
    tcp[13] = (uint8_t)flags;
    put16(tcp + 16, (uint16_t)~checksum_fold_words(sum + seq + flags + checksum_host(payload_sum)));
}

// The frame goes to the driver.
static SPEED_INLINE enum weir_tx_verdict lane_transmit(struct tcp_conn *c, const struct weir_tx *tx, uint32_t seq, uint32_t end)
{
    const enum weir_tx_verdict verdict = netif_offer(c->path.netif, tx);
    if (verdict == WEIR_TX_HELD)
        tcp_held_begin(c, seq, end);
    return verdict;
}

#define LANE_PIECES UINT32_MAX  // beyond every sum

// The payload's other pieces, when the first, lent already, is not all. Returns its sum, or LANE_PIECES: they are too many.
COLD static uint32_t lane_rest(const struct weir *weir, const struct stream *send, struct tcp_lane *lane, uint32_t offset, uint32_t length,
                               uint16_t sum)
{
    for (uint32_t done = lane->out.slices[1].length; done < length;) {
        if (lane->out.tx.count == TCP_LANE_SLICES) {
            lane->out.payload_bytes = UINT32_MAX;  // what is in tx now was not sent
            return LANE_PIECES;
        }
        const struct weir_span span = stream_stretch(send, offset + done, length - done);
        sum = checksum_add_at(sum, checksum_sum(weir->port, span.data, span.length), done);
        lane->out.slices[lane->out.tx.count++] = (struct weir_slice){span.data, span.length};
        done += span.length;
    }
    return sum;
}

// A few bytes of the send queue, from `seq` on, go behind the header (lane_network). false: they lie in two pieces.
static inline bool lane_few(const struct tcp_conn *c, struct tcp_lane *lane, uint32_t seq, uint32_t length, uint32_t *sum)
{
    uint8_t *place;
    if (!stream_near(c->send, seq - c->snd.una + tcp_held_lag(c), length, &place))
        return false;
    *sum = checksum_copy_few(lane->out.tcp + TCP_LANE_HEADER, place, length);
    return true;
}

// Lends `length` bytes of the send queue, more than a few, from `seq` on, and returns their sum.
static SPEED_INLINE uint32_t lane_lend(const struct weir *weir, const struct tcp_conn *c, struct tcp_lane *lane, uint32_t seq,
                                       uint32_t length)
{
    const uint32_t offset = seq - c->snd.una + tcp_held_lag(c);  // anew for each: a driver's `tx` may complete what it held
    const struct weir_span span = stream_stretch(c->send, offset, length);
    lane->out.slices[1] = (struct weir_slice){span.data, span.length};
    lane->out.tx.count = 2;
    lane->out.tx.hold_end = seq + length;
    const uint32_t sum = checksum_sum(weir->port, span.data, span.length);
    return span.length == length ? sum : lane_rest(weir, c->send, lane, offset, length, checksum_fold(sum));
}

// So many segments left, of `bytes` bytes each.
static SPEED_INLINE void lane_left(struct weir *weir, struct tcp_conn *c, uint32_t edge, uint32_t sent, uint32_t bytes)
{
    struct weir_netif_stats *stats = &c->path.netif->stats;
    c->rcv.edge = edge;
    stats->tx_frames += sent;
    stats->tx_segments += sent;
    stats->tx_bytes += sent * bytes;
    count_add(weir, WEIR_COUNT_TCP_SENT, sent);
    TCP_INFO_COUNT(c, segs_out, sent);
}

// A segment without payload.
static enum weir_tx_verdict lane_bare(struct weir *weir, struct tcp_conn *c, struct tcp_lane *lane, uint32_t seq, uint8_t flags,
                                      uint8_t tos)
{
    const uint32_t edge = tcp_receive_edge(weir, c);
    struct weir_tx *const tx = &lane->out.tx;
    const uint64_t sum = lane_begin(weir, c, lane, 0, tos, edge);
    lane_finish(lane, sum, seq, flags, 0);
    const enum weir_tx_verdict verdict = lane_transmit(c, tx, seq, seq);
    if (verdict != WEIR_TX_FULL)
        lane_left(weir, c, edge, 1, tx->length);
    return verdict;
}

// One with. WEIR_TX_UNRESOLVED: its payload lies in too many pieces.
static HOT_INLINE enum weir_tx_verdict lane_one(struct weir *weir, struct tcp_conn *c, struct tcp_lane *lane, uint32_t seq, uint32_t length,
                                                uint8_t flags, uint8_t tos, bool holdable)
{
    const uint32_t edge = tcp_receive_edge(weir, c);
    uint32_t payload_sum;
    if (length <= COPY_FEW) {
        if (!lane_few(c, lane, seq, length, &payload_sum))
            return WEIR_TX_UNRESOLVED;
    } else {
        payload_sum = lane_lend(weir, c, lane, seq, length);
        lane->out.tx.holdable = holdable;
        if (payload_sum == LANE_PIECES)
            return WEIR_TX_UNRESOLVED;
    }
    lane_finish(lane, lane_begin(weir, c, lane, length, tos, edge), seq, flags, payload_sum);
    const enum weir_tx_verdict verdict = lane_transmit(c, &lane->out.tx, seq, seq + length);
    if (verdict != WEIR_TX_FULL)
        lane_left(weir, c, edge, 1, lane->out.tx.length);
    return verdict;
}

bool tcp_lane_send(struct weir *weir, struct tcp_conn *c, const struct tcp_lane_segment *segment, enum weir_tx_verdict *verdict)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (!lane_open(weir, c, lane))
        return false;
    const enum weir_tx_verdict sent =
        segment->length ? lane_one(weir, c, lane, segment->seq, segment->length, segment->flags, segment->tos, segment->holdable)
                        : lane_bare(weir, c, lane, segment->seq, segment->flags, segment->tos);
    if (sent != WEIR_TX_UNRESOLVED)
        *verdict = sent;
    return sent != WEIR_TX_UNRESOLVED;
}

enum weir_tx_verdict tcp_lane_ack(struct weir *weir, struct tcp_conn *c, uint32_t seq)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (!lane_open(weir, c, lane))
        return WEIR_TX_UNRESOLVED;
    const enum weir_tx_verdict verdict = lane_bare(weir, c, lane, seq, TCP_ACK, tcp_ecn_tos_bare(c));
    if (verdict != WEIR_TX_FULL)
        tcp_ack_left(c);
    return verdict;
}

// --- a run -----------------------------------------------------------------------------------------------------------------------

uint32_t tcp_lane_run(struct weir *weir, struct tcp_conn *c, const struct tcp_lane_segment *segment, uint32_t most, uint32_t push_end,
                      enum weir_tx_verdict *verdict)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    const uint32_t length = segment->length;
    *verdict = WEIR_TX_UNRESOLVED;
    if (!lane_open(weir, c, lane))
        return 0;
    const uint32_t edge = tcp_receive_edge(weir, c);
    const uint64_t sum = lane_begin(weir, c, lane, length, segment->tos, edge);
    uint32_t seq = segment->seq, sent = 0;
    lane->out.tx.holdable = segment->holdable;
    do {
        const uint32_t payload_sum = lane_lend(weir, c, lane, seq, length), end = seq + length;
        *verdict = WEIR_TX_UNRESOLVED;
        if (payload_sum == LANE_PIECES)
            break;
        lane_finish(lane, sum, seq, end == push_end ? TCP_ACK | TCP_PSH : TCP_ACK, payload_sum);
        *verdict = lane_transmit(c, &lane->out.tx, seq, end);
        if (*verdict == WEIR_TX_FULL)
            break;
        seq = end;
    } while (++sent < most && !(c->path.netif->flags & WEIR_NETIF_TX_BLOCKED));
    if (sent)
        lane_left(weir, c, edge, sent, lane->out.tx.length);
    return sent;
}
