// SPDX-License-Identifier: BSD-2-Clause
// Roads: the way between two hosts, for segments that carry no data. A connection that only opens or closes sends too few frames for a lane
// of its own (lane.h), but what stands before its TCP header is what stood before that of the last connection between the two: a road
// keeps that frame, and the next segment is written over it.
//
// It is true as long as nothing changes that it was made from: the addresses and what else the network header says are its key, generations
// of paths and of link addresses tell of the rest, and it is made anew each second, so that the neighbour is looked after.
#ifndef TCP_ROAD_H
#define TCP_ROAD_H

#include "instance.h"
#include "ip/lane.h"
#include "link/handler.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#if WEIR_CFG_FAST_PATH
// A segment leaves in three steps: its road is looked for, its header written, and off it goes. Where there is no road (NULL) it is made in
// `out` and goes the long way, which leaves a road for the next. The path is valid.
static inline struct tcp_road *tcp_road_find(struct weir *weir, const struct path *path, const struct ip_out *ip)
{
    const uint64_t ends = ip_pair_word(ip->source, ip->destination);
    struct tcp_road *const road = &weir->tcp.roads[ends % TCP_ROADS];
    const bool open = road->ends == ends && road->ways == weir->tcp.ways && road->netif == path->netif &&
                      weir_addr_equal(road->next_hop, path->next_hop) && road->ttl == ip->ttl && road->tos == ip->tos &&
                      weir->now_ms - road->made_ms < TCP_LANE_RENEW_MS && netif_open(path->netif);
    return open ? road : NULL;
}

// Where a header of `bytes` bytes is to be written.
uint8_t *tcp_road_header(struct tcp_road *road, struct packet_out *out, uint32_t bytes);
enum weir_tx_verdict tcp_road_send(struct weir *weir, struct path *path, const struct ip_out *ip, struct tcp_road *road,
                                   struct packet_out *out, struct sock *waiter);

#define TCP_ROAD_SYN_BYTES (TCP_BYTES + TCP_SYN_USUAL_BYTES)
// A SYN, or SYN-ACK, with the options of most.
void tcp_road_write_syn(uint8_t *bytes, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                        const struct tcp_segment *syn);
#endif

#endif
