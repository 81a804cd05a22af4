// SPDX-License-Identifier: BSD-2-Clause
// IPv6 in a network (family6.h). Where hosts have addresses of their own, fd00::1 for the first one and so on, a router
// stands for all hosts that lie elsewhere, as it does by ARP. A router that advertises (sim_router_advertise) has a
// link address and fe80::1:N itself, says that no prefix is on-link, and gets all that leaves its links; it knows where
// hosts are and need not ask.
#include "family6.h"

#include <stdlib.h>
#include <string.h>

#define STATIC_HIGH UINT64_C(0xfd00000000000000)          // fd00::/64
#define PREFIX_HIGH(number) (STATIC_HIGH + 1 + (number))  // fd00:0:0:1::/64 for prefix 0
#define ROUTER_HIGH UINT64_C(0xfe80000000000000)
#define PREFIX_BITS 64
#define HOP_LIMIT 255u
#define TOO_BIG 2
#define TIME_EXCEEDED 3
#define SOLICIT 133
#define ADVERTISE 134
#define NEIGHBOUR_SOLICIT 135
#define NEIGHBOUR_ADVERTISE 136
#define QUOTED_MOST (1280u - IP6_BYTES - 8u)
#define NEIGHBOUR_BYTES 24u

uint16_t ip6_sum(const uint8_t *ip, uint8_t protocol, const uint8_t *at, uint32_t length)
{
    return frame_checksum(protocol + length + frame_sum(ip + 8, IP6_BYTES - 8) + frame_sum(at, length));
}

#if WEIR_CFG_IP6

// --- hosts -----------------------------------------------------------------------------------------------------------

int host6_begin(struct sim_host *host)
{
    uint8_t secret[16] = {0};
    int status = WEIR_OK;
    if (!host->options.autoconfigured)
        status = weir_netif_address_add(&host->netif, host->address, PREFIX_BITS, WEIR_ADDRESS_AT_ONCE);
    if (status != WEIR_OK || !(host->options.autoconfigured || host->options.listens))
        return status;
    put32(secret, host->number + 1);
    return weir_netif_ip6(&host->netif, WEIR_IP6_AUTO, secret);
}

static bool usable(const struct weir_netif_address *a)
{
    return (a->state == WEIR_ADDRESS_READY || a->state == WEIR_ADDRESS_ANNOUNCING) &&
           sim_address_of(a->addr).high >> 48 == STATIC_HIGH >> 48;
}

struct weir_addr host6_address(const struct sim_host *host)
{
    const struct weir_netif_address *best = NULL;
    if (!host->options.autoconfigured)
        return host->address;
    for (const struct weir_netif_address *a = NULL; (a = weir_netif_address_next(&host->netif, a)) != NULL;)
        if (usable(a) && (!best || (best->deprecated && !a->deprecated)))
            best = a;
    return best ? best->addr : weir_addr_any();
}

static bool has(const struct sim_host *host, struct sim_address address)
{
    for (const struct weir_netif_address *a = NULL; (a = weir_netif_address_next(&host->netif, a)) != NULL;)
        if (sim_address_equal(sim_address_of(a->addr), address))
            return true;
    return false;
}

bool host6_takes(const struct sim_host *host, struct sim_address address)
{
    for (const struct weir_netif_address *a = NULL; (a = weir_netif_address_next(&host->netif, a)) != NULL;)
        if (sim_address_equal(sim_address_of(a->addr), address))
            return usable(a);
    return !host->netif.link;  // of a host without a link nothing is known
}

struct sim_host *host6_at(struct sim *sim, struct sim_address address)
{
    if (address.high == STATIC_HIGH && address.low && address.low <= sim->host_count)
        return sim->hosts[address.low - 1];
    for (uint32_t number = 0; number < sim->host_count; number++)
        if (has(sim->hosts[number], address))
            return sim->hosts[number];
    return NULL;
}

// --- what a router says ----------------------------------------------------------------------------------------------

static struct sim_router *router_of(const struct port *port) { return (struct sim_router *)port->node; }
static struct sim_address address_of(const struct sim_router *router)
{
    return (struct sim_address){ROUTER_HIGH, UINT64_C(0x10000) << 16 | router->node.index};
}

static void link_address(const struct sim_router *router, uint8_t mac[6])
{
    mac[0] = 2;
    mac[1] = NODE_MAC;
    put32(mac + 2, router->node.index);
}

// An ICMPv6 packet of the router's with room for `length` bytes of message; the rest is the caller's, then `finish`.
static struct frame *message(struct port *port, const uint8_t mac[6], struct sim_address from, struct sim_address to,
                             uint32_t length)
{
    struct frame *frame = frame_new(&port->node->sim->frames, FRAME_ETHERNET + IP6_BYTES + length);
    memset(frame->data, 0, frame->length);
    frame->head = FRAME_ETHERNET;
    memcpy(frame->data, mac, 6);
    link_address(router_of(port), frame->data + 6);
    put16(frame->data + 12, ETHERTYPE_IP6);
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    ip[0] = 0x60;
    put16(ip + 4, (uint16_t)length);
    ip[6] = ICMP6;
    ip[7] = HOP_LIMIT;
    sim_address_write(from, ip + 8);
    sim_address_write(to, ip + 24);
    return frame;
}

static void finish(struct port *port, struct frame *frame)
{
    uint8_t *ip = frame->data + FRAME_ETHERNET, *icmp = ip + IP6_BYTES;
    put16(icmp + 2, ip6_sum(ip, ICMP6, icmp, get16(ip + 4)));
    port_send(port, frame);
}

// RFC 4861 §4.2: lifetime, link address, MTU, and the prefixes, none of them on-link.
static void advertise(struct port *port)
{
    static const uint8_t all[6] = {0x33, 0x33, 0, 0, 0, 1};
    const struct sim_router *router = router_of(port);
    const struct sim_advertisement *says = &router->says;
    const struct sim_address from = address_of(router), to = {UINT64_C(0xff02000000000000), 1};
    uint32_t at = 16 + 8;
    struct frame *frame = message(port, all, from, to, at + (says->mtu ? 8u : 0u) + 32u * says->prefix_count);
    uint8_t *icmp = frame->data + FRAME_ETHERNET + IP6_BYTES;
    icmp[0] = ADVERTISE;
    icmp[4] = 64;
    put16(icmp + 6, says->lifetime_s);
    icmp[16] = 1;
    icmp[17] = 1;
    link_address(router, icmp + 18);
    if (says->mtu) {
        icmp[at] = 5;
        icmp[at + 1] = 1;
        put32(icmp + at + 4, says->mtu);
        at += 8;
    }
    for (uint32_t i = 0; i < says->prefix_count; i++, at += 32) {
        const struct sim_prefix *prefix = &says->prefixes[i];
        icmp[at] = 3;
        icmp[at + 1] = 4;
        icmp[at + 2] = PREFIX_BITS;
        icmp[at + 3] = 0x40;  // A, not L
        put32(icmp + at + 4, prefix->valid_s);
        put32(icmp + at + 8, prefix->preferred_s);
        sim_address_write((struct sim_address){PREFIX_HIGH(prefix->number), 0}, icmp + at + 16);
    }
    finish(port, frame);
}

static void advertise_everywhere(void *context)
{
    struct sim_router *router = context;
    struct sim *sim = router->node.sim;
    if (!router->dead)
        for (struct port *port = router->node.ports; port; port = port->next)
            advertise(port);
    if (router->says.every_ns)
        sim_event_set(sim, &router->advertise, sim->now_ns + router->says.every_ns);
}

void sim_router_advertise(struct sim_node *node, const struct sim_advertisement *what)
{
    struct sim_router *router = (struct sim_router *)node;
    router->says = *what;
    router->advertise =
        (struct event){.happen = advertise_everywhere, .context = router, .place = router->advertise.place};
    sim_event_set(node->sim, &router->advertise, node->sim->now_ns);
}

void sim_router_kill(struct sim_node *node, bool dead) { ((struct sim_router *)node)->dead = dead; }

// --- neighbours ------------------------------------------------------------------------------------------------------

static void answer(struct port *port, const struct frame *asked, const uint8_t mac[6], bool router)
{
    const uint8_t *ip = asked->data + asked->head, *target = ip + IP6_BYTES + 8;
    struct frame *frame =
        message(port, asked->data + 6, sim_address_read(target), sim_address_read(ip + 8), NEIGHBOUR_BYTES + 8);
    uint8_t *icmp = frame->data + FRAME_ETHERNET + IP6_BYTES;
    memcpy(frame->data + 6, mac, 6);
    icmp[0] = NEIGHBOUR_ADVERTISE;
    icmp[4] = router ? 0xe0 : 0x60;  // solicited, override
    memcpy(icmp + 8, target, 16);
    icmp[24] = 2;
    icmp[25] = 1;
    memcpy(icmp + 26, mac, 6);
    finish(port, frame);
}

// For itself; or, where hosts have addresses of their own, for a host that cannot answer himself (router_arp).
static void solicited(struct port *port, const struct frame *frame)
{
    const struct sim_router *router = router_of(port);
    const uint8_t *ip = frame->data + frame->head, *target = ip + IP6_BYTES + 8;
    const struct sim_address address = sim_address_read(target), source = sim_address_read(ip + 8);
    uint8_t mac[6];
    if (!(source.high | source.low))
        return;
    if (sim_address_equal(address, address_of(router))) {
        link_address(router, mac);
        answer(port, frame, mac, true);
        return;
    }
    const struct sim_host *host = address.high == STATIC_HIGH ? host6_at(port->node->sim, address) : NULL;
    const struct port *out = host ? node_towards(port->node, host->number) : NULL;
    if (out && out != port && !sim_address_equal(source, address))
        answer(port, frame, host->mac, false);
}

// Whether it was one; a router passes none of them on.
static bool neighbour_message(struct port *port, const struct frame *frame)
{
    const uint8_t *ip = frame->data + frame->head, *icmp = ip + IP6_BYTES;
    const uint32_t length = get16(ip + 4);
    if (ip[6] != ICMP6 || ip[7] != HOP_LIMIT || length < 8 || icmp[0] < SOLICIT || icmp[0] > 137)
        return false;
    if (ip6_sum(ip, ICMP6, icmp, length))
        return true;
    if (icmp[0] == SOLICIT && router_of(port)->says.lifetime_s)
        advertise(port);
    else if (icmp[0] == NEIGHBOUR_SOLICIT && length >= NEIGHBOUR_BYTES)
        solicited(port, frame);
    return true;
}

// --- forwarding ------------------------------------------------------------------------------------------------------

// Tells the sender (RFC 4443 §3), in the name of the destination, as router_tell does.
static void tell(struct port *port, const struct frame *about, uint8_t type, uint32_t mtu)
{
    const uint8_t *packet = about->data + about->head;
    const struct sim_address source = sim_address_read(packet + 8);
    struct sim_host *host = host6_at(port->node->sim, source);
    struct port *out = host ? node_towards(port->node, host->number) : NULL;
    const uint32_t length = about->length - about->head, quoted = length < QUOTED_MOST ? length : QUOTED_MOST;
    if (!out || packet[6] == ICMP6)
        return;
    struct frame *frame = message(port, host->mac, sim_address_read(packet + 24), source, 8 + quoted);
    uint8_t *icmp = frame->data + FRAME_ETHERNET + IP6_BYTES;
    frame->data[FRAME_ETHERNET + 7] = 64;
    if (!router_of(port)->says.lifetime_s)
        memcpy(frame->data + 6, about->data, 6);
    icmp[0] = type;
    put32(icmp + 4, mtu);
    memcpy(icmp + 8, packet, quoted);
    finish(out, frame);
}

// Whether it may go on, to `out`. Where nobody advertises, frames carry the host's link address all the way.
static bool goes_on(struct port *port, struct port *out, struct frame *frame)
{
    const uint8_t *ip = frame->data + frame->head;
    const uint16_t mtu = out ? out->link->ways[out->end].way.mtu : 0;
    if (!out || (out == port && !router_of(port)->says.lifetime_s))
        return false;
    if (ip[7] <= 1)
        tell(port, frame, TIME_EXCEEDED, 0);
    else if (mtu && IP6_BYTES + get16(ip + 4) > mtu)
        tell(port, frame, TOO_BIG, mtu);
    else
        return true;
    return false;
}

void router6_receive(struct port *port, struct frame *frame)
{
    struct sim *sim = port->node->sim;
    struct sim_router *router = router_of(port);
    uint8_t *ip = frame->data + frame->head;
    const bool whole = frame->length >= frame->head + IP6_BYTES + 8 && ip[0] >> 4 == 6 &&
                       frame->length >= frame->head + IP6_BYTES + get16(ip + 4);
    if (router->dead || !whole || neighbour_message(port, frame) || frame->data[0] & 1) {
        frame_free(&sim->frames, frame);
        return;
    }
    const struct sim_host *host = host6_at(sim, sim_address_read(ip + 24));
    struct port *out = host ? node_towards(port->node, host->number) : NULL;
    if (!goes_on(port, out, frame)) {
        frame_free(&sim->frames, frame);
        return;
    }
    ip[7]--;
    if (router->says.lifetime_s) {
        memcpy(frame->data, host->mac, 6);
        link_address(router, frame->data + 6);
    }
    port_send(out, frame);
}

#else
void sim_router_advertise(struct sim_node *node, const struct sim_advertisement *what) { (void)node, (void)what; }
void sim_router_kill(struct sim_node *node, bool dead) { (void)node, (void)dead; }
#endif
