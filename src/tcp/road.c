// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/road.h"

uint8_t *tcp_road_header(struct tcp_road *road, struct packet_out *out, uint32_t bytes)
{
    if (!road) {
        packet_out_init(out);
        return packet_out_header(out, bytes);
    }
    uint8_t *const network = road->header + road->network_at;
    if (bytes != road->transport_bytes) {
        road->transport_bytes = (uint8_t)bytes;
        road->slice.length = road->tx.length = road->network_at + IP_LANE_BYTES + bytes;
        road->tx.header_length = (uint16_t)road->tx.length;
        ip_lane_length(network, road->network_sum, IP_LANE_BYTES + bytes);
    }
    return network + IP_LANE_BYTES;
}

// The frame in `out` has left, with `bytes` bytes of TCP header at its end.
static void road_keep(struct weir *weir, const struct path *path, const struct ip_out *ip, const struct packet_out *out, uint32_t bytes)
{
    const uint64_t ends = ip_pair_word(ip->source, ip->destination);
    struct tcp_road *const road = &weir->tcp.roads[ends % TCP_ROADS];
    const uint32_t length = out->tx.header_length, before = length - bytes, most = sizeof road->header - TCP_BYTES - TCP_OPTIONS_MAX;
    if (length < IP_LANE_BYTES + bytes || before > most || out->tx.checksum_start ||
        !ip_lane_fits(out->head + length - bytes - IP_LANE_BYTES))
        return;
    if (road->ends != ends && road->ways && road->made_ms == weir->now_ms)
        return;  // two that meet on one road shall not take it from each other all the time
    memcpy(road->header, out->head, length);
    road->ends = ends;
    road->netif = path->netif;
    road->next_hop = path->next_hop;
    road->ways = weir->tcp.ways;
    road->ttl = ip->ttl;
    road->tos = ip->tos;
    road->network_at = (uint8_t)(length - bytes - IP_LANE_BYTES);
    road->transport_bytes = (uint8_t)bytes;
    road->made_ms = weir->now_ms;
    road->network_sum = ip_lane_sum(road->header + road->network_at);
    road->slice = (struct weir_slice){road->header, length};
    road->tx = (struct weir_tx){.slices = &road->slice, .count = 1, .length = length, .header_length = (uint16_t)length};
}

enum weir_tx_verdict tcp_road_send(struct weir *weir, struct path *path, const struct ip_out *ip, struct tcp_road *road,
                                   struct packet_out *out, struct sock *waiter)
{
    if (road)
        return netif_hand_over(path->netif, &road->tx);
    const uint32_t bytes = packet_out_length(out);
    out->tx.header_length = 0;  // and stays so where nothing leaves
    const enum weir_tx_verdict verdict = ip_output(weir, path, ip, out, waiter);
    // Without a cache of neighbours each connection has its own way back.
    if (WEIR_CFG_ARP_CACHE && verdict == WEIR_TX_DONE && out->tx.header_length)
        road_keep(weir, path, ip, out, bytes);
    return verdict;
}

// The values are in registers: summing them in host order is cheaper than reading the bytes
// back.
void tcp_road_write_syn(uint8_t *bytes, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                        const struct tcp_segment *syn)
{
    const struct tcp_options *const options = &syn->options;
    const uint32_t ports = (uint32_t)local->port << 16 | remote->port,
                   rest = TCP_ROAD_SYN_BYTES << 26 | (uint32_t)syn->flags << 16 | syn->window;
    const uint32_t mss = (uint32_t)TCP_OPTION_MSS << 24 | 4u << 16 | options->mss;
    const uint32_t scale = (uint32_t)TCP_OPTION_NOP << 24 | TCP_OPTION_WINDOW_SCALE << 16 | 3u << 8 | options->window_scale;
    const uint64_t sum = (uint64_t)ports + syn->seq + syn->ack + rest + mss + TCP_SACK_PERMITTED_ALIGNED + options->ts_value +
                         options->ts_echo + scale + ip_lane_pseudo_host(local->addr, remote->addr, IP_TCP, TCP_ROAD_SYN_BYTES);
    put32(bytes, ports);
    put32(bytes + 4, syn->seq);
    put32(bytes + 8, syn->ack);
    put32(bytes + 12, rest);
    put32(bytes + 16, (uint32_t)(uint16_t)~checksum_fold_words(sum) << 16);
    put32(bytes + 20, mss);
    put32(bytes + 24, TCP_SACK_PERMITTED_ALIGNED);
    put32(bytes + 28, options->ts_value);
    put32(bytes + 32, options->ts_echo);
    put32(bytes + 36, scale);
}
