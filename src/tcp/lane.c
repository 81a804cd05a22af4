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
    if (lane->c == c)
        lane->c = NULL;
}

void tcp_lane_learn(struct weir *weir, struct tcp_conn *c, const struct packet *packet)
{
    const uint32_t network_at = (uint32_t)(packet->network - packet->frame->slices[0].data);
    const uint32_t known = network_at + IP_LANE_BYTES + 4;
    uint8_t mask[TCP_LANE_WORDS * 8] = {0};
    if (packet->flags & PACKET_REASSEMBLED || packet->frame->count != 1 || packet->network_length != IP_LANE_BYTES || known > sizeof mask ||
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
    lane->in.pseudo_sum = ip_pseudo_sum(packet->source, packet->destination, IP_TCP, 0);
}

void tcp_lane_keep(struct weir *weir, struct tcp_conn *c, const struct packet_out *out)
{
    const uint32_t length = out->tx.header_length;
    const struct tcp_lane *had = tcp_lane_at(weir, c->local.port, c->remote.port);
    struct tcp_lane *lane;
    uint8_t mask[IP_LANE_BYTES];
    const uint8_t *network = out->head + length - TCP_LANE_HEADER - IP_LANE_BYTES;
    if (length < IP_LANE_BYTES + TCP_LANE_HEADER || length > sizeof lane->out.header || out->tx.checksum_start || out->tx.segment_size ||
        !ip_lane_mask(network, mask) || (had->c != c && had->c && had->out.made_ms == weir->now_ms))
        return;
    lane = lane_take(weir, c);
    memcpy(lane->out.header, out->head, length);
    lane->out.network_at = (uint8_t)(length - TCP_LANE_HEADER - IP_LANE_BYTES);
    lane->out.network_sum = ip_lane_sum(network);
    lane->out.transport_sum = checksum_word(ip_pseudo_sum(c->local.addr, c->remote.addr, IP_TCP, 0));
    lane->out.transport_sum += (uint32_t)c->local.port + c->remote.port + (TCP_TIMESTAMPS_ALIGNED >> 16) + (TCP_TIMESTAMPS_ALIGNED & 0xffff);
    lane->out.generation = weir->ip.generation;
    lane->out.neighbours = weir->arp.generation;
    lane->out.made_ms = weir->now_ms;
}

static inline bool lane_open(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane)
{
    return lane->c == c && lane->out.generation == weir->ip.generation && lane->out.neighbours == weir->arp.generation &&
           weir->now_ms - lane->out.made_ms < LANE_RENEW_MS && (c->path.netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}

// The remembered header with what is this segment's own. Sums are in host order until the last moment: the values are at hand.
static inline void lane_header(const struct weir *weir, const struct tcp_conn *c, const struct tcp_lane *lane, const struct tcp_segment *segment,
                               uint8_t *header, uint16_t payload_sum)
{
    const uint32_t length = TCP_LANE_HEADER + segment->length;
    const uint32_t ts_value = weir->now_ms + c->ts_offset, place = TCP_LANE_HEADER << 10 | segment->flags;
    memcpy(header, lane->out.header, sizeof lane->out.header);
    ip_lane_length(header + lane->out.network_at, lane->out.network_sum, IP_LANE_BYTES + length);
    uint8_t *tcp = header + lane->out.network_at + IP_LANE_BYTES;
    put32(tcp + 4, segment->seq);
    put32(tcp + 8, segment->ack);
    put16(tcp + 12, place);
    put16(tcp + 14, segment->window);
    put16(tcp + 18, 0);
    put32(tcp + 24, ts_value);
    put32(tcp + 28, c->ts_recent);
    const uint64_t sum = (uint64_t)lane->out.transport_sum + length + segment->seq + segment->ack + place + segment->window + ts_value + c->ts_recent;
    checksum_put(tcp + 16, checksum_add(checksum_word(checksum_fold_words(sum)), payload_sum));
}

bool tcp_lane_send(struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment, struct packet_out *out, enum weir_tx_verdict *verdict)
{
    const struct tcp_lane *lane = tcp_lane_at(weir, c->local.port, c->remote.port);
    if (!lane_open(weir, c, lane))
        return false;
    uint16_t sum = 0;
    if (out->tx.count == 2)
        sum = checksum_sum(weir->port, out->slices[1].data, out->slices[1].length);
    else if (segment->length)
        sum = checksum_slices(weir->port, out->slices + 1, out->tx.count - 1u, 0, segment->length);
    lane_header(weir, c, lane, segment, out->room, sum);
    out->head = out->room;
    out->tx.header_length = (uint16_t)(lane->out.network_at + IP_LANE_BYTES + TCP_LANE_HEADER);
    *verdict = netif_send(c->path.netif, out);
    return true;
}
