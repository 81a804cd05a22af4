// SPDX-License-Identifier: BSD-2-Clause
// The flow cache. A flow is what the last good packets between one of our addresses and one of a peer's had in common,
// each way:
//  in    how a frame from the peer begins (struct flow_match): one that begins alike, is whole and has a sound header
//        is for us and from the peer, and link and network layer need not be asked;
//  out   what stands before the transport header of a packet to it (struct flow_template): the next packet is written
//        over the last;
//  path  the way to it, as ip_path_find found it.
// The canonical way teaches it: ip4_input, ip_output and ip_path_find, when they succeed. Two connections between the
// same hosts share their flow: which connection a segment belongs to, TCP knows (tcp_conn_recent).
//
// What was found true stays true while nothing changes that it depends on, so each part carries a generation: of paths,
// and for the template of link addresses, too, which besides is made anew each second, so that the neighbour is looked
// after. Everything that may differ from packet to packet is checked, or written, each time. While a tap or a raw
// socket watches nothing is taught: each packet takes the canonical way. WEIR_CFG_FLOWS bounds the cache; a flow's
// place follows from the peer's address, and a newcomer takes it over, but not twice within a millisecond: two peers
// that meet in one place shall not take it from each other with each packet, nor strangers displace all.
#ifndef IP_FLOW_H
#define IP_FLOW_H

#include "instance.h"
#include "link/handler.h"

#define FLOW_RENEW_MS 1000u  // so often a packet is sent without its template

struct flow;
// A packet passed all checks of link and network layer. It is at its transport header.
void flow_learn_match(struct weir *weir, const struct packet *packet);
// A packet of `transport_bytes` bytes of transport header, which may not be fragmented, has left by the canonical way,
// and is in `out`.
void flow_learn_template(struct weir *weir, const struct path *path, const struct ip_out *ip,
                         const struct packet_out *out, uint32_t transport_bytes);

// ip_path_find: the way, where it is known, and the source (from `wanted`, which may be any).
bool flow_path(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
               uint8_t netif_bound);
void flow_learn_path(struct weir *weir, const struct path *path, struct weir_addr wanted, struct weir_addr source,
                     struct weir_addr destination, uint8_t netif_bound);
// Delivers the packet of a frame that flow_match found to belong to the flow.
void flow_input(struct weir_netif *netif, const struct weir_frame *frame, const struct flow *flow);

#if WEIR_CFG_FAST_PATH
// By the low byte of the peer's address. (The sum is what gcc makes less code of than of an index: it multiplies once.)
static inline struct flow *flow_place(struct weir *weir, uint32_t low) { return weir->ip.flows + low % WEIR_CFG_FLOWS; }
// Bytes of link header before the network header of a frame on this interface.
static inline uint32_t flow_network_offset(const struct weir_netif *netif)
{
    return netif->link->untagged_bytes + (WEIR_CFG_VLAN && netif->flags & WEIR_NETIF_VLAN ? VLAN_BYTES : 0);
}
static inline uint64_t flow_word(const uint8_t *bytes, uint32_t i) { return native64(bytes + 8 * i); }

// Compares the words [first, end) of a frame's head. Both are known where it is called, which leaves no loop.
static BYTES_INLINE bool flow_begins(const struct flow_match *match, const uint8_t *bytes, uint32_t first, uint32_t end)
{
    uint64_t differs = 0;
    for (uint32_t i = first; i < end; i++)
        differs |= (flow_word(bytes, i) & match->mask[i]) ^ match->head[i];
    return !differs;
}

// The flow that a frame just come belongs to: it begins as the flow's frames do, and a whole packet with a sound header
// is behind. NULL: none.
static BYTES_INLINE const struct flow *flow_match(const struct weir_netif *netif, const struct weir_frame *frame)
{
    const uint8_t *const bytes = frame->slices[0].data;
    const uint32_t at = flow_network_offset(netif);
    const uint32_t room = frame->slices[0].length;
    if (room < 40)
        return NULL;
    const bool version6 = ip_is_version6(bytes + at);
    if (version6 && room < 8u * FLOW_WORDS)
        return NULL;
    const struct flow *const flow = flow_place(netif->weir, ip_source_low(bytes + at));
    if (flow->match.generation != netif->weir->ip.generation || flow->match.netif != netif ||
        !flow_begins(&flow->match, bytes, 0, 5) || (version6 && !flow_begins(&flow->match, bytes, 5, FLOW_WORDS)) ||
        !ip_whole(bytes + at, frame->length - at))
        return NULL;
    return flow;
}

// The flow whose template is good for a packet by this path, which is valid, now: the interface takes frames. (Between
// these two addresses all valid paths through one interface have one next hop.) NULL: none.
static inline struct flow *flow_template(struct weir *weir, const struct path *path, struct weir_addr local,
                                         struct weir_addr remote)
{
    struct flow *const flow = flow_place(weir, addr_low(remote));
    const struct flow_template *const t = &flow->template;
    return t->generation == weir->ip.flow_generation && weir_addr_equal(flow->remote, remote) &&
                   weir_addr_equal(flow->local, local) && t->netif == path->netif &&
                   weir->now_ms - t->made_ms < FLOW_RENEW_MS && netif_open(path->netif)
               ? flow
               : NULL;
}

// Where a TCP header of `transport_bytes` bytes is to be written, with `payload_bytes` to follow: all before it stands,
// and in template.tx the lengths, of a frame that is whole with it. The payload is the caller's.
static inline uint8_t *flow_header(struct flow *flow, struct ip_params params, uint32_t transport_bytes,
                                   uint32_t payload_bytes)
{
    struct flow_template *const t = &flow->template;
    uint8_t *const network = t->header + t->network_at;
    const uint32_t header_bytes = IP_FAMILIES == 2 ? t->network_bytes : ip_family_of(weir_addr_any())->header_bytes;
    const uint32_t length = header_bytes + transport_bytes + payload_bytes;
    ip_fit(t->netif, network, t->fixed_sum, params, length);
    t->tx.length = t->network_at + length;
    t->slices[0].length = t->tx.header_length = (uint16_t)(t->tx.length - payload_bytes);
    t->tx.count = 1;
    t->tx.holdable = false;
    return network + header_bytes;
}
#else
const struct flow *flow_match(const struct weir_netif *netif, const struct weir_frame *frame);  // nobody calls it
#endif

#endif
