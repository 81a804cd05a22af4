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
    return (uint32_t)ip_pseudo_sum(packet->source, packet->destination, IP_TCP, 0) + native16(tcp) + native16(tcp + 2) + native16(tcp + 20) +
           native16(tcp + 22) + (uint16_t)~checksum_word(IP_LANE_BYTES);
}

void tcp_lane_learn(struct weir *weir, struct tcp_conn *c, const struct packet *packet)
{
    const uint32_t network_at = (uint32_t)(packet->network - packet->frame->slices[0].data);
    const uint32_t expected_at = packet->netif->link->untagged_bytes;
    const uint32_t known = network_at + IP_LANE_BYTES + 4;
    uint8_t mask[TCP_LANE_WORDS * 8] = {0};
    if (taps_any(weir) || raw_listening(weir) || packet->flags & PACKET_REASSEMBLED || packet->frame->count != 1 || packet->network_length != IP_LANE_BYTES || known > sizeof mask ||
        network_at != expected_at || !ip_lane_mask(packet->network, mask + network_at))
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
    return ip_lane_mask(network, mask) && tcp[12] == TCP_LANE_HEADER << 2 && get32(tcp + 20) == TCP_TIMESTAMPS_ALIGNED &&
           !out->tx.checksum_start;
}

void tcp_lane_keep(struct weir *weir, struct tcp_conn *c, const struct packet_out *out)
{
    const uint32_t length = out->tx.header_length;
    const uint8_t *network = out->head + length - TCP_LANE_HEADER - IP_LANE_BYTES;
    struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (length < IP_LANE_BYTES + TCP_LANE_HEADER || length > sizeof lane->out.header || !lane_fits(out, network))
        return;
    if (lane->c && lane->c != c && lane->out.made_ms == weir->now_ms)
        return;  // two that meet in one lane shall not take it from each other all the time
    lane = lane_take(weir, c);
    memcpy(lane->out.header, out->head, length);
    lane->out.network_at = (uint8_t)(length - TCP_LANE_HEADER - IP_LANE_BYTES);
    lane->out.network_sum = ip_lane_sum(network);
    lane->out.transport_sum = checksum_word(ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, 0));
    lane->out.transport_sum +=
        (uint32_t)c->local.port + c->remote.port + (TCP_TIMESTAMPS_ALIGNED >> 16) + (TCP_TIMESTAMPS_ALIGNED & 0xffff);
    lane->out.generation = weir->ip.generation;
    lane->out.neighbours = weir->arp.generation;
    lane->out.made_ms = weir->now_ms;
}

static inline bool lane_open(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    const uint32_t flags = c->flags & (TCP_USE_TIMESTAMPS | TCP_URGENT_SEND);
    return lane->c == c && flags == TCP_USE_TIMESTAMPS && !c->extra && lane->out.generation == weir->ip.generation &&
           lane->out.neighbours == weir->arp.generation && weir->now_ms - lane->out.made_ms < LANE_RENEW_MS &&
           (c->path.netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}

static inline uint32_t lane_begin(struct weir *weir, struct tcp_conn *c, const struct tcp_lane *lane, struct packet_out *out, uint64_t *sum)
{
    packet_out_init(out);
    memcpy(out->room, lane->out.header, sizeof lane->out.header);
    out->tx.header_length = (uint16_t)(lane->out.network_at + IP_LANE_BYTES + TCP_LANE_HEADER);
    out->tx.hold_owner = c;
    out->slices[0] = (struct weir_slice){out->room, out->tx.header_length};
    const uint32_t edge = tcp_receive_edge(weir, c);
    const uint32_t ts_value = weir->now_ms + c->ts_offset, window = min_u32((edge - c->rcv.nxt) >> c->rcv_scale, 65535);
    uint8_t *tcp = out->room + lane->out.network_at + IP_LANE_BYTES;
    put32(tcp + 8, c->rcv.nxt);
    put16(tcp + 14, window);
    put16(tcp + 18, 0);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    *sum = (uint64_t)lane->out.transport_sum + TCP_LANE_HEADER + c->rcv.nxt + window + ts_value + c->ts_recent;
    return edge;
}

#define LANE_PIECES 0x10000u  // beyond every sum

// Lends `length` bytes of the send queue from `seq` on, and sums them. LANE_PIECES: they lie in too many.
static inline uint32_t lane_payload(const struct weir *weir, const struct tcp_conn *c, struct packet_out *out, uint32_t seq,
                                    uint32_t length)
{
    const uint32_t offset = seq - c->snd.una + tcp_held_lag(c);
    struct weir_span span = stream_stretch(c->send, offset, length);
    uint32_t sum = checksum_sum(weir->port, span.data, span.length), done = span.length, count = 1;
    out->slices[1] = (struct weir_slice){span.data, span.length};
    for (; done < length; done += span.length) {
        if (++count == WEIR_CFG_TX_SLICES)
            return LANE_PIECES;
        span = stream_stretch(c->send, offset + done, length - done);
        sum = checksum_add_at((uint16_t)sum, checksum_sum(weir->port, span.data, span.length), done);
        out->slices[count] = (struct weir_slice){span.data, span.length};
    }
    out->tx.count = (uint16_t)(1 + count);
    return sum;
}

// The interface took it, or not.
static inline enum weir_tx_verdict lane_hand_over(struct weir_netif *netif, struct tcp_conn *c, const struct weir_tx *tx, uint32_t seq)
{
    const enum weir_tx_verdict verdict = netif->driver->tx(netif, tx);
    if (verdict == WEIR_TX_FULL) {
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        netif->stats.tx_full++;
    } else {
        if (verdict == WEIR_TX_HELD)
            tcp_held_begin(c, seq, tx->hold_end);
        netif->stats.tx_bytes += tx->length;
        taps_show(netif, true, tx->slices, tx->count);
    }
    return verdict;
}

bool tcp_lane_send(struct weir *weir, struct tcp_conn *c, struct tcp_lane_order *order, enum weir_tx_verdict *verdict)
{
    struct weir_netif *netif = c->path.netif;
    const struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    struct packet_out out;
    uint64_t sum;
    uint32_t payload_sum = 0, left = order->count;
    if (!lane_open(weir, c, lane))
        return false;
    const uint32_t edge = lane_begin(weir, c, lane, &out, &sum), length = order->length;
    uint8_t *tcp = out.room + lane->out.network_at + IP_LANE_BYTES;
    ip_lane_length(tcp - IP_LANE_BYTES, lane->out.network_sum, IP_LANE_BYTES + TCP_LANE_HEADER + length);
    out.tx.length = out.tx.header_length + length;
    out.tx.holdable = order->holdable;
    do {
        const uint32_t seq = order->seq, place = TCP_LANE_HEADER << 10 | order->flags | (seq + length == order->push_end ? TCP_PSH : 0);
        if (length)
            payload_sum = lane_payload(weir, c, &out, seq, length);
        if (payload_sum == LANE_PIECES)
            break;
        put32(tcp + 4, seq);
        put16(tcp + 12, place);
        put16(tcp + 16, (uint16_t)~checksum_fold_words(sum + length + seq + place + checksum_word((uint16_t)payload_sum)));
        out.tx.hold_end = seq + length;
        *verdict = lane_hand_over(netif, c, &out.tx, seq);
        if (*verdict == WEIR_TX_FULL)
            break;
        order->seq = seq + length;
    } while (--left);
    const uint32_t sent = order->count - left;
    netif->stats.tx_frames += sent;
    netif->stats.tx_segments += sent;
    count_add(weir, WEIR_COUNT_TCP_SENT, sent);
    TCP_INFO_COUNT(c, segs_out, sent);
    if (sent)
        c->rcv.edge = edge;
    order->count = left;
    return sent || *verdict == WEIR_TX_FULL;
}
