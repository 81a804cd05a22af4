// SPDX-License-Identifier: BSD-2-Clause
#include "ip/flow.h"

#include "ip/internal.h"

_Static_assert((WEIR_CFG_FLOWS & (WEIR_CFG_FLOWS - 1)) == 0, "a flow's place is the low bits of an address");

// The place for a flow, emptied when it was another's. NULL: it was taken just now.
static struct flow *flow_take(struct weir *weir, struct weir_addr local, struct weir_addr remote)
{
    struct flow *const flow = flow_place(weir, addr_low(remote));
    if (weir_addr_equal(flow->remote, remote) && weir_addr_equal(flow->local, local))
        return flow;
    if (!weir_addr_is_any(flow->remote) && flow->taken_ms == weir->now_ms)
        return NULL;
    flow->local = local;
    flow->remote = remote;
    flow->taken_ms = weir->now_ms;
    flow->match.generation = 0;
    flow->template.generation = 0;
    flow->path.generation = 0;
    return flow;
}

static bool watched(const struct weir *weir) { return taps_any(weir) || raw_listening(weir); }

// --- in --------------------------------------------------------------------------------------------------------------

void flow_learn_match(struct weir *weir, const struct packet *packet)
{
    const struct weir_slice *const first = &packet->frame->slices[0];
    const uint32_t at = flow_network_offset(packet->netif);
    const struct ip_family *const family = ip_family_of(packet->source);
    uint8_t mask[FLOW_HEAD_BYTES] = {0};
    if (packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST | PACKET_LINK_BROADCAST) ||
        packet->network != first->data + at || packet->network_length != family->header_bytes ||
        at + family->header_bytes > 8u * family->head_words || first->length < 8u * family->head_words || watched(weir))
        return;
    struct flow *const flow = flow_take(weir, packet->destination, packet->source);
    if (!flow)
        return;
    memset(mask, 0xff, at);
    family->head_mask(mask + at);
    for (uint32_t i = 0; i < family->head_words; i++) {
        flow->match.mask[i] = flow_word(mask, i);
        flow->match.head[i] = flow_word(first->data, i) & flow->match.mask[i];
    }
    flow->match.netif = packet->netif;
    flow->match.generation = weir->ip.generation;
    flow->match.network_at = (uint8_t)at;
    flow->match.transport_at = (uint8_t)(at + family->header_bytes);
    flow->match.source_at = packet->link_source ? (uint8_t)(packet->link_source - first->data) : 0;
    flow->match.pseudo_sum = ip_pseudo_sum(packet->source, packet->destination, IP_TCP, 0);
}

void flow_input(struct weir_netif *netif, const struct weir_frame *frame, const struct flow *flow)
{
    const uint8_t *const bytes = frame->slices[0].data, *const network = bytes + flow->match.network_at;
    struct packet packet = {
        .netif = netif,
        .frame = frame,
        .head = bytes + flow->match.transport_at,
        .offset = flow->match.transport_at,
        .network = network,
        .link_source = flow->match.source_at ? bytes + flow->match.source_at : NULL,
        .source = flow->remote,
        .destination = flow->local,
        .network_length = (uint32_t)flow->match.transport_at - flow->match.network_at,
        .flags = frame->checksum == WEIR_CHECKSUM_VERIFIED ? PACKET_CHECKSUM_OK : 0,
    };
    ip_read(network, &packet);
    ip_deliver(netif->weir, &packet);
}

// --- out -------------------------------------------------------------------------------------------------------------

void flow_learn_template(struct weir *weir, const struct path *path, const struct ip_out *ip,
                         const struct packet_out *out, uint32_t transport_bytes)
{
    const struct ip_family *const family = ip_family_of(ip->destination);
    const uint32_t link_bytes = out->tx.header_length - transport_bytes - family->header_bytes;
    if (link_bytes > FLOW_LINK_BYTES || out->tx.checksum_start || watched(weir))
        return;
    struct flow *const flow = flow_take(weir, ip->source, ip->destination);
    if (!flow)
        return;
    struct flow_template *const t = &flow->template;
    memcpy(t->header, out->head, link_bytes + family->header_bytes);
    t->fixed_sum = family->fixed_sum(t->header + link_bytes);
    t->network_at = (uint8_t)link_bytes;
    t->network_bytes = family->header_bytes;
    t->netif = path->netif;
    t->generation = weir->ip.flow_generation;
    t->made_ms = weir->now_ms;
    t->pseudo_sum = checksum_word(ip_pseudo_sum(flow->local, flow->remote, IP_TCP, 0));
    t->tx = (struct weir_tx){.slices = t->slices};
    t->slices[0].data = t->header;
}

// --- path ------------------------------------------------------------------------------------------------------------

// What a path was asked for: the same way may have been found from a source that was given and for one to be chosen, by
// any interface and by one that was asked for.
static inline uint8_t query_bit(struct weir_addr wanted, uint8_t netif_bound)
{
    return (uint8_t)(1u << ((weir_addr_is_any(wanted) ? 0 : 1) + (netif_bound ? 2 : 0)));
}

bool flow_path(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
               uint8_t netif_bound)
{
    const struct flow *const flow = flow_place(weir, addr_low(destination));
    if (flow->path.generation != weir->ip.generation || !weir_addr_equal(flow->remote, destination) ||
        !(flow->path_queries & query_bit(*source, netif_bound)) ||
        (netif_bound && netif_bound != flow->path.netif->index) ||
        (!weir_addr_is_any(*source) && !weir_addr_equal(*source, flow->local)))
        return false;
    *path = flow->path;
    *source = flow->local;
    return true;
}

void flow_learn_path(struct weir *weir, const struct path *path, struct weir_addr wanted, struct weir_addr source,
                     struct weir_addr destination, uint8_t netif_bound)
{
    struct flow *const flow =
        weir_addr_is_any(source) || weir_addr_is_multicast(destination) ? NULL : flow_take(weir, source, destination);
    if (!flow)
        return;
    const bool same = flow->path.generation == path->generation && flow->path.netif == path->netif &&
                      weir_addr_equal(flow->path.next_hop, path->next_hop);
    flow->path = *path;
    flow->path_queries = (uint8_t)((same ? flow->path_queries : 0) | query_bit(wanted, netif_bound));
}
