// SPDX-License-Identifier: BSD-2-Clause
// Nodes, and the two kinds that are not hosts. The network knows where everybody is: each node has the port that leads
// to each host, found breadth first, so nothing has to be learnt or configured.
#include "family6.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ICMP 1
#define ICMP_BYTES 36u  // header, and of the packet it tells of 28 bytes (RFC 792)

void node_add(struct sim *sim, struct sim_node *node, const char *name)
{
    node->sim = sim;
    node->index = sim->node_count++;
    snprintf(node->name, sizeof node->name, "%s", name);
    *sim->last_node = node;
    sim->last_node = &node->next;
    sim->routed = false;
}

const char *sim_node_name(const struct sim_node *node) { return node->name; }

// --- ways to hosts ---------------------------------------------------------------------------------------------------

static struct sim_node *across(const struct port *port) { return port->link->ends[!port->end].node; }
static struct port *across_port(const struct port *port) { return &port->link->ends[!port->end]; }

// From the host outwards: who is first reached through a port points back through it. Hosts do not forward.
static void point_to(struct sim *sim, struct sim_host *host, struct sim_node **line)
{
    uint32_t first = 0, last = 0;
    line[last++] = &host->node;
    while (first < last) {
        const struct sim_node *node = line[first++];
        if (node_host((struct sim_node *)node) && node != &host->node)
            continue;
        for (struct port *port = node->ports; port; port = port->next) {
            struct sim_node *next = across(port);
            if (next == &host->node || next->towards[host->number])
                continue;
            next->towards[host->number] = across_port(port);
            line[last++] = next;
        }
    }
    (void)sim;
}

static void route(struct sim *sim)
{
    struct sim_node **line = calloc(sim->node_count, sizeof(struct sim_node *));
    if (!line)
        abort();
    for (struct sim_node *node = sim->nodes; node; node = node->next) {
        free(node->towards);
        node->towards = calloc(sim->host_count, sizeof(struct port *));
        if (!node->towards)
            abort();
    }
    for (uint32_t number = 0; number < sim->host_count; number++)
        point_to(sim, sim->hosts[number], line);
    free(line);
    sim->routed = true;
}

struct port *node_towards(struct sim_node *node, uint32_t host)
{
    if (!node->sim->routed)
        route(node->sim);
    return host < node->sim->host_count ? node->towards[host] : NULL;
}

// --- switch ----------------------------------------------------------------------------------------------------------

static void flood(struct port *from, struct frame *frame)
{
    struct frames *frames = &from->node->sim->frames;
    for (struct port *port = from->node->ports; port; port = port->next)
        if (port != from)
            port_send(port, frame_copy(frames, frame));
    frame_free(frames, frame);
}

static struct port *port_to_node(struct sim_node *node, uint32_t index)
{
    struct port *port = node->ports;
    while (port && across(port)->index != index)
        port = port->next;
    return port;
}

static void switch_receive(struct port *port, struct frame *frame)
{
    struct sim *sim = port->node->sim;
    if (frame->data[0] & 1) {
        flood(port, frame);
        return;
    }
    // A router's frames go on towards the host whose packet it is.
    const uint32_t number = get32(frame->data + 2);
    struct port *out = frame->data[1] == NODE_MAC ? port_to_node(port->node, number) : node_towards(port->node, number);
    if (!out || out == port)
        frame_free(&sim->frames, frame);
    else
        port_send(out, frame);
}

struct sim_node *sim_switch_add(struct sim *sim, const char *name)
{
    struct sim_node *node = calloc(1, sizeof *node);
    if (!node)
        abort();
    node->receive = switch_receive;
    node_add(sim, node, name);
    return node;
}

// --- router ----------------------------------------------------------------------------------------------------------

// Frames between routers and hosts carry the host's link address, whichever way they go: a router has none of its own,
// so it answers ARP with the address of the host that is asked for, and hears everything.
static void router_arp(struct port *port, struct frame *frame)
{
    struct sim *sim = port->node->sim;
    uint8_t *arp = frame->data + FRAME_ETHERNET;
    const uint32_t target = frame->length >= FRAME_ETHERNET + 28 ? get32(arp + 24) : 0;
    const struct sim_host *host = target ? host_at(sim, sim_address_v4(target)) : NULL;
    const struct port *out = host ? node_towards(port->node, host->number) : NULL;
    // Not for who can answer himself, nor for whoever asks about his own address.
    if (!out || out == port || get16(arp + 6) != 1 || get32(arp + 14) == target || !get32(arp + 14)) {
        frame_free(&sim->frames, frame);
        return;
    }
    put16(arp + 6, 2);
    memcpy(arp + 18, arp + 8, 10);  // the sender becomes the target
    memcpy(arp + 8, host->mac, 6);
    put32(arp + 14, target);
    memcpy(frame->data, arp + 18, 6);
    memcpy(frame->data + 6, host->mac, 6);
    port_send(port, frame);
}

// Tells the sender (RFC 792; of a packet too big with the next hop's MTU, RFC 1191), in the name of the destination: a
// router of this network has no address.
static void router_tell(struct port *port, const struct frame *about, uint8_t type, uint8_t code, uint16_t mtu)
{
    struct sim *sim = port->node->sim;
    const uint8_t *packet = about->data + about->head;
    struct sim_host *host = host_at(sim, sim_address_v4(get32(packet + 12)));
    struct port *out = host ? node_towards(port->node, host->number) : NULL;
    if (!out || packet[9] == ICMP)
        return;
    struct frame *frame = frame_new(&sim->frames, about->head + 20u + ICMP_BYTES);
    memset(frame->data, 0, frame->length);
    frame->head = about->head;
    if (frame->head) {
        memcpy(frame->data, host->mac, 6);
        memcpy(frame->data + 6, about->data, 6);
        put16(frame->data + 12, ETHERTYPE_IP4);
    }
    uint8_t *ip = frame->data + frame->head;
    ip[0] = 0x45;
    put16(ip + 2, 20 + ICMP_BYTES);
    ip[8] = 64;
    ip[9] = ICMP;
    memcpy(ip + 12, packet + 16, 4);
    memcpy(ip + 16, packet + 12, 4);
    frame_ip_sum(ip);
    ip[20] = type;
    ip[21] = code;
    put16(ip + 26, mtu);
    memcpy(ip + 28, packet, 28);
    put16(ip + 22, frame_checksum(frame_sum(ip + 20, ICMP_BYTES)));
    port_send(out, frame);
}

static void router_forward(struct port *port, struct frame *frame)
{
    struct sim *sim = port->node->sim;
    uint8_t *ip = frame_ip(frame);
    if (!ip || frame->length < frame->head + 28u || ip[0] < 0x45 || frame_checksum(frame_sum(ip, (ip[0] & 15u) * 4))) {
        frame_free(&sim->frames, frame);
        return;
    }
    struct sim_host *host = host_at(sim, sim_address_v4(get32(ip + 16)));
    struct port *out = host ? node_towards(port->node, host->number) : NULL;
    const uint16_t mtu = out ? out->link->ways[out->end].way.mtu : 0;
    if (!out || out == port) {
        frame_free(&sim->frames, frame);
        return;
    }
    const bool expired = ip[8] <= 1, too_big = mtu && get16(ip + 2) > mtu;
    if (expired || too_big) {
        if (expired)
            router_tell(port, frame, 11, 0, 0);
        else
            router_tell(port, frame, 3, 4, mtu);
        frame_free(&sim->frames, frame);
        return;
    }
    ip[8]--;
    frame_ip_sum(ip);
    port_send(out, frame);
}

static void router_receive(struct port *port, struct frame *frame)
{
    if (frame->head && get16(frame->data + 12) == ETHERTYPE_ARP)
        router_arp(port, frame);
    else if (frame->head && get16(frame->data + 12) == ETHERTYPE_IP6)
        router6_receive(port, frame);
    else if (frame->head && frame->data[0] & 1)
        frame_free(&port->node->sim->frames, frame);  // no broadcast passes
    else
        router_forward(port, frame);
}

struct sim_node *sim_router_add(struct sim *sim, const char *name)
{
    struct sim_router *router = calloc(1, sizeof *router);
    if (!router)
        abort();
    router->node.receive = router_receive;
    node_add(sim, &router->node, name);
    return &router->node;
}
