// SPDX-License-Identifier: BSD-2-Clause
// Lanes (lane.h): what is remembered of frames that went the long way, and sending by it. The receiving side is in predict.c.
#include "ip/lane.h"

#include "link/handler.h"
#include "tcp/internal.h"

#define LANE_RENEW_MS 1000u  // a frame goes the long way so often, to have the neighbour looked after

// The lane for a connection, whoever had it before.
static struct tcp_lane *lane_take(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (lane->c != c) {
        lane->c = c;
        lane->in.generation = lane->out.generation = 0;
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

#if WEIR_CFG_RAW
static inline bool raw_listening(const struct weir *weir) { return weir->udp.raws.count != 0; }
#else
static inline bool raw_listening(const struct weir *weir) { return (void)weir, false; }
#endif

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
    const uint32_t network_at = (uint32_t)(packet->network - packet->frame->slices[0].data);
    const uint32_t expected_at = packet->netif->link->untagged_bytes;
    const uint32_t known = network_at + IP_LANE_BYTES + 4;
    uint8_t mask[TCP_LANE_WORDS * 8] = {0};
    if (taps_any(weir) || raw_listening(weir) || packet->flags & PACKET_REASSEMBLED || packet->frame->count != 1 ||
        packet->network_length != IP_LANE_BYTES || packet->length < TCP_LANE_HEADER || known > sizeof mask || network_at != expected_at ||
        !ip_lane_mask(packet->network, mask + network_at))
        return;
    struct tcp_lane *lane = lane_take(weir, c);
    memset(mask, 0xff, network_at);
    memset(mask + known - 4, 0xff, 4);
    memcpy(lane->in.mask, mask, sizeof mask);
    memcpy(lane->in.head, packet->frame->slices[0].data, sizeof mask);
    for (uint32_t i = 0; i < TCP_LANE_WORDS; i++)
        lane->in.head[i] &= lane->in.mask[i];
    lane->in.netif = packet->netif;
    lane->in.network_at = (uint8_t)network_at;
    lane->in.generation = weir->ip.generation;
    lane->in.network_sum = ip_lane_fixed_sum(packet->network);
    lane->in.transport_sum = lane_in_sum(packet);
}

// Whether the header is one that the next could be made of: timestamps its only option, its checksum complete.
static bool lane_fits(const struct packet_out *out, const uint8_t *network)
{
    const uint8_t *tcp = network + IP_LANE_BYTES;
    uint8_t mask[IP_LANE_BYTES];
    return ip_lane_mask(network, mask) && tcp[12] == TCP_LANE_HEADER << 2 && !get16(tcp + 18) &&
           get32(tcp + 20) == TCP_TIMESTAMPS_ALIGNED && !out->tx.checksum_start;
}

void tcp_lane_keep(struct weir *weir, struct tcp_conn *c, const struct packet_out *out)
{
    const uint32_t length = out->tx.header_length;
    const uint8_t *network = out->head + length - TCP_LANE_HEADER - IP_LANE_BYTES;
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (taps_any(weir) || length < IP_LANE_BYTES + TCP_LANE_HEADER || length > sizeof lane->out.header || !lane_fits(out, network))
        return;
    if (lane->c && lane->c != c && lane->out.made_ms == weir->now_ms)
        return;  // two that meet in one lane shall not take it from each other all the time
    lane = lane_take(weir, c);
    memcpy(lane->out.header, out->head, length);
    lane->out.network_at = (uint8_t)(length - TCP_LANE_HEADER - IP_LANE_BYTES);
    lane->out.network_sum = ip_lane_sum(network);
    lane->out.payload_bytes = UINT32_MAX;
    lane->out.transport_sum = checksum_word(ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, 0));
    lane->out.transport_sum +=
        (uint32_t)c->local.port + c->remote.port + (TCP_TIMESTAMPS_ALIGNED >> 16) + (TCP_TIMESTAMPS_ALIGNED & 0xffff);
    lane->out.generation = weir->ip.generation;
    lane->out.neighbours = weir->arp.generation;
    lane->out.made_ms = weir->now_ms;
}

static inline bool lane_open(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    return lane->c == c && (c->flags & (TCP_USE_TIMESTAMPS | TCP_URGENT_SEND | TCP_ECN_BUSY)) == TCP_USE_TIMESTAMPS && tcp_extra_quiet(c) &&
           lane->out.generation == weir->ip.generation && lane->out.neighbours == weir->arp.generation &&
           weir->now_ms - lane->out.made_ms < LANE_RENEW_MS &&
           (c->path.netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}

// A frame as it is handed over.
struct lane_frame {
    struct weir_tx tx;
    struct weir_slice slices[WEIR_CFG_TX_SLICES];
};

// Writes what all segments of the order have alike. Returns its sum.
static inline uint64_t lane_begin(const struct weir *weir, const struct tcp_conn *c, struct tcp_lane *lane,
                                  const struct tcp_lane_order *order, uint32_t window)
{
    const uint32_t place = TCP_LANE_HEADER << 10 | order->flags, payload = order->length;
    const uint32_t ts_value = weir->now_ms + c->ts_offset;
    uint8_t *const tcp = lane->out.header + lane->out.network_at + IP_LANE_BYTES;
    uint8_t *const tos = tcp + 1 - IP_LANE_BYTES;
    if (*tos != order->tos) {  // (the sum is not taken from the header: its checksum is that of the old byte)
        lane->out.network_sum = checksum_fold(lane->out.network_sum + order->tos + (uint16_t) ~*tos);
        *tos = order->tos;
        lane->out.payload_bytes = UINT32_MAX;
    }
    if (payload != lane->out.payload_bytes) {
        lane->out.payload_bytes = payload;
        ip_lane_length(tcp - IP_LANE_BYTES, lane->out.network_sum, IP_LANE_BYTES + TCP_LANE_HEADER + payload);
    }
    put32(tcp + 8, c->rcv.nxt);
    put16(tcp + 14, window);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    return (uint64_t)lane->out.transport_sum + TCP_LANE_HEADER + payload + place + window + c->rcv.nxt + ts_value + c->ts_recent;
}

#define LANE_PIECES 0x10000u  // beyond every sum

// The same when the first piece, lent already, is not all. LANE_PIECES: they lie in too many.
COLD static uint32_t lane_payload_rest(const struct weir *weir, const struct stream *send, struct lane_frame *frame, uint32_t offset,
                                       uint32_t length, uint16_t sum)
{
    for (uint32_t done = frame->slices[1].length; done < length;) {
        if (frame->tx.count == WEIR_CFG_TX_SLICES)
            return LANE_PIECES;
        const struct weir_span span = stream_stretch(send, offset + done, length - done);
        sum = checksum_add_at(sum, checksum_sum(weir->port, span.data, span.length), done);
        frame->slices[frame->tx.count++] = (struct weir_slice){span.data, span.length};
        done += span.length;
    }
    return sum;
}

// Lends `length` bytes of the send queue from `offset` on, and sums them.
static inline uint32_t lane_payload(const struct weir *weir, const struct stream *send, struct lane_frame *frame, uint32_t offset,
                                    uint32_t length)
{
    const struct weir_span span = stream_stretch(send, offset, length);
    const uint16_t sum = checksum_sum(weir->port, span.data, span.length);
    frame->slices[1] = (struct weir_slice){span.data, span.length};
    frame->tx.count = 2;
    return span.length == length ? sum : lane_payload_rest(weir, send, frame, offset, length, sum);
}

// The interface took it, or not.
static inline enum weir_tx_verdict lane_hand_over(struct weir_netif *netif, struct tcp_conn *c, const struct weir_tx *tx, uint32_t seq)
{
    const enum weir_tx_verdict verdict = netif->driver->tx(netif, tx);
    if (verdict == WEIR_TX_FULL) {
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        netif->stats.tx_full++;
    } else if (verdict == WEIR_TX_HELD) {
        tcp_held_begin(c, seq, tx->hold_end);
    }
    return verdict;
}

static inline void lane_count(struct weir *weir, struct tcp_conn *c, uint32_t sent, uint32_t bytes)
{
    struct weir_netif_stats *stats = &c->path.netif->stats;
    stats->tx_frames += sent;
    stats->tx_segments += sent;
    stats->tx_bytes += sent * bytes;
    count_add(weir, WEIR_COUNT_TCP_SENT, sent);
    TCP_INFO_COUNT(c, segs_out, sent);
}

bool tcp_lane_send(struct weir *weir, struct tcp_conn *c, struct tcp_lane_order *order, enum weir_tx_verdict *verdict)
{
    struct tcp_lane *const lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (!lane_open(weir, c, lane))
        return false;
    struct lane_frame frame;
    struct weir_netif *const netif = c->path.netif;
    uint8_t *const tcp = lane->out.header + lane->out.network_at + IP_LANE_BYTES;
    const uint32_t header = lane->out.network_at + IP_LANE_BYTES + TCP_LANE_HEADER;
    const uint32_t edge = tcp_receive_edge(weir, c), window = min_u32((edge - c->rcv.nxt) >> c->rcv_scale, 65535), length = order->length;
    const uint64_t sum = lane_begin(weir, c, lane, order, window);
    const uint32_t push_end = order->push_end, total = order->count;
    uint32_t seq = order->seq, payload_sum = 0, left = total;
    enum weir_tx_verdict answer = WEIR_TX_DONE;
    frame.slices[0] = (struct weir_slice){lane->out.header, header};
    frame.tx = (struct weir_tx){.slices = frame.slices,
                                .length = header + length,
                                .count = 1,
                                .header_length = (uint16_t)header,
                                .holdable = order->holdable,
                                .hold_owner = c};
    do {
        const uint32_t end = seq + length, push = end == push_end ? TCP_PSH & ~order->flags : 0;
        if (length)
            payload_sum = lane_payload(weir, c->send, &frame, seq - c->snd.una + tcp_held_lag(c), length);  // tx may complete
        if (payload_sum == LANE_PIECES)
            break;
        put32(tcp + 4, seq);
        tcp[13] = (uint8_t)(order->flags | push);
        put16(tcp + 16, (uint16_t)~checksum_fold_words(sum + seq + push + checksum_host((uint16_t)payload_sum)));
        frame.tx.hold_end = end;
        answer = lane_hand_over(netif, c, &frame.tx, seq);
        if (answer == WEIR_TX_FULL)
            break;
        seq = end;
    } while (--left && !(netif->flags & WEIR_NETIF_TX_BLOCKED));
    if (left && netif->flags & WEIR_NETIF_TX_BLOCKED)
        answer = WEIR_TX_FULL;
    lane_count(weir, c, total - left, frame.tx.length);
    if (left != total)
        c->rcv.edge = edge;
    order->seq = seq;
    order->count = left;
    *verdict = answer;
    return left != total || answer == WEIR_TX_FULL;
}
