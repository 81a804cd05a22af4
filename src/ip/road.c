// SPDX-License-Identifier: BSD-2-Clause
#include "ip/road.h"

// The frame in `out` has left, with `bytes` bytes of transport header at its end.
static void road_keep(struct weir *weir, const struct path *path, const struct ip_out *ip, const struct packet_out *out, uint32_t bytes)
{
    const uint64_t ends = ip_pair_word(ip->source, ip->destination);
    struct ip_road *const road = &weir->ip.roads[ends % IP_ROADS];
    const uint32_t length = out->tx.header_length, before = length - bytes, most = sizeof road->header - IP_ROAD_TRANSPORT;
    if (length < IP_LANE_BYTES + bytes || before > most || out->tx.checksum_start ||
        !ip_lane_fits(out->head + length - bytes - IP_LANE_BYTES))
        return;
    if (road->ends != ends && road->ways && road->made_ms == weir->now_ms)
        return;  // two that meet on one road shall not take it from each other all the time
    memcpy(road->header, out->head, length);
    road->ends = ends;
    road->netif = path->netif;
    road->next_hop = path->next_hop;
    road->ways = weir->ip.ways;
    road->ttl = ip->ttl;
    road->tos = ip->tos;
    road->network_at = (uint8_t)(length - bytes - IP_LANE_BYTES);
    road->transport_bytes = (uint8_t)bytes;
    road->made_ms = weir->now_ms;
    road->network_sum = ip_lane_sum(road->header + road->network_at);
    road->slice = (struct weir_slice){road->header, length};
    road->tx = (struct weir_tx){.slices = &road->slice, .count = 1, .length = length, .header_length = (uint16_t)length};
}

enum weir_tx_verdict ip_road_make(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                  struct sock *waiter)
{
    const uint32_t bytes = packet_out_length(out);
    out->tx.header_length = 0;  // and stays so where nothing leaves
    const enum weir_tx_verdict verdict = ip_output(weir, path, ip, out, waiter);
    // Without a cache of neighbours each connection has its own way back.
    if (WEIR_CFG_ARP_CACHE && verdict == WEIR_TX_DONE && out->tx.header_length)
        road_keep(weir, path, ip, out, bytes);
    return verdict;
}
