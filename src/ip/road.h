// SPDX-License-Identifier: BSD-2-Clause
// Roads: the way between two hosts, for segments that carry no data. A connection that only opens or closes sends too few frames for a lane
// of its own (tcp/lane.h), but what stands before its TCP header is what stood before that of the last connection between the two: a road
// keeps that frame, and the next segment is written over it.
//
// It is true as long as nothing changes that it was made from: the addresses and what else the network header says are its key, generations
// of paths and of link addresses tell of the rest, and it is made anew each second, so that the neighbour is looked after.
#ifndef IP_ROAD_H
#define IP_ROAD_H

#include "instance.h"
#include "ip/lane.h"
#include "link/handler.h"

#define IP_ROAD_TRANSPORT 60u  // bytes of transport header, at the most

#if WEIR_CFG_FAST_PATH
// A segment leaves in three steps: its road is looked for, its header written over the last, and off it goes (netif_hand_over). Where there
// is no road (NULL) it goes the long way, which leaves a road for the next (ip_road_make). The path is valid, the segment TCP's.
static inline bool ip_road_open(const struct weir *weir, const struct ip_road *road)
{
    return road->ways == weir->ip.ways && weir->now_ms - road->made_ms < IP_LANE_RENEW_MS && netif_open(road->netif);
}
static inline struct ip_road *ip_road_find(struct weir *weir, const struct path *path, struct weir_addr source,
                                           struct weir_addr destination, uint8_t ttl, uint8_t tos)
{
    const uint64_t ends = ip_pair_word(source, destination);
    struct ip_road *const road = &weir->ip.roads[ends % IP_ROADS];
    const bool same = road->ends == ends && road->netif == path->netif && weir_addr_equal(road->next_hop, path->next_hop) &&
                      road->ttl == ttl && road->tos == tos;
    return same && ip_road_open(weir, road) ? road : NULL;
}

// Where a header of `bytes` bytes is to be written.
static inline uint8_t *ip_road_header(struct ip_road *road, uint32_t bytes)
{
    uint8_t *const network = road->header + road->network_at;
    if (bytes != road->transport_bytes) {
        road->transport_bytes = (uint8_t)bytes;
        road->slice.length = road->tx.length = road->network_at + IP_LANE_BYTES + bytes;
        road->tx.header_length = (uint16_t)road->tx.length;
        ip_lane_length(network, road->network_sum, IP_LANE_BYTES + bytes);
    }
    return network + IP_LANE_BYTES;
}

// ip_output of a segment without payload; it may not be fragmented.
enum weir_tx_verdict ip_road_make(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                  struct sock *waiter);
#endif

#endif
