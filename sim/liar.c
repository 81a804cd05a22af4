// SPDX-License-Identifier: BSD-2-Clause
#include "liar.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "segment.h"

#define FORGE_NS SIM_MS(2)    // between two forged frames
#define CRUMBS 40u            // bytes of a segment that is sent in crumbs
#define FLOW_PORT 5000u       // where flows' servers listen (flow.c)
#define FLOW_CLIENT 20000u    // where their clients are
#define STRANGER 0x0a00ff00u  // 10.0.255.0 and following: within the prefix, and nobody's

const char *const liar_names[] = {"ack",  "sack", "window",    "options", "crumbs",
                                  "slow", "arp",  "strangers", "blind",   NULL};

struct liar {
    struct sim_node node;  // first
    struct sim_host *host, *victim;
    uint64_t dice, told;
    uint32_t lies;
    uint32_t acked;  // what the host acknowledged last, of whatever conversation
    struct event forge;
};

static uint32_t address_of(const struct sim_host *host) { return weir_addr_to_v4(host->address); }
static struct liar *liar_of(struct sim_node *node) { return (struct liar *)node; }
static uint32_t pick(struct liar *liar, uint32_t count) { return random_below(&liar->dice, count); }
static bool one_in(struct liar *liar, uint32_t count) { return random_one_in(&liar->dice, count); }
static uint32_t any(struct liar *liar) { return (uint32_t)random_draw(&liar->dice); }

enum { INWARD, OUTWARD };  // the indices of its ports
static struct port *port_at(struct liar *liar, uint32_t index)
{
    struct port *port = liar->node.ports;
    while (port && port->index != index)
        port = port->next;
    return port;
}

// --- segments of the host --------------------------------------------------------------------------------------------

// The sums of a frame that was changed; its IP header has no options. Nobody's observer looks at it.
static void finish(struct frame *frame)
{
    uint8_t *ip = frame->data + frame->head, *above = ip + 20;
    const uint32_t length = get16(ip + 2) - 20u;
    frame->segment.flow = 0;
    frame_ip_sum(ip);
    if (ip[9] == TCP) {
        put16(above + 16, 0);
        put16(above + 16, frame_checksum(frame_sum(ip + 12, 8) + TCP + length + frame_sum(above, length)));
    } else {
        put16(above + 2, 0);
        put16(above + 2, frame_checksum(frame_sum(above, length)));
    }
}

static void let_go(struct liar *liar, struct frame *frame)
{
    liar->told++;
    finish(frame);
    port_send(port_at(liar, OUTWARD), frame);
}

static struct frame *again(struct liar *liar, const struct frame *frame)
{
    return frame_copy(&liar->node.sim->frames, frame);
}

// Where the options of this kind begin; NULL: it has none.
static uint8_t *option(uint8_t *tcp, uint8_t kind, uint8_t least)
{
    uint8_t *at = tcp + 20, *end = tcp + (tcp[12] >> 4) * 4;
    while (at < end && *at) {
        const uint32_t bytes = *at == 1 ? 1 : at + 1 < end ? at[1] : 0;
        if (!bytes || at + bytes > end)
            return NULL;
        if (*at == kind && bytes >= least)
            return at;
        at += bytes;
    }
    return NULL;
}

// Beside, at, and half the number space away from what is right; or anywhere.
static uint32_t off(struct liar *liar, uint32_t near)
{
    static const uint32_t edges[] = {0, 1, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff};
    return one_in(liar, 3) ? edges[pick(liar, 6)] : one_in(liar, 3) ? any(liar) : pick(liar, near);
}

static void lie_ack(struct liar *liar, struct frame *frame, uint8_t *tcp)
{
    const uint32_t ack = get32(tcp + 8), before = liar->acked;
    liar->acked = ack;
    switch (pick(liar, 8)) {
    case 0: put32(tcp + 8, ack + pick(liar, 65536)); break;  // what it did not get, or was not sent
    case 1: put32(tcp + 8, ack - pick(liar, 65536)); break;
    case 2:
    case 3: put32(tcp + 8, ack + off(liar, 100)); break;
    case 4:  // in pieces
        for (uint32_t part = 1; part < 16 && ack - before > 16 && ack - before < 1u << 20; part++) {
            struct frame *piece = again(liar, frame);
            put32(piece->data + piece->head + 28, before + (ack - before) / 16 * part);
            let_go(liar, piece);
        }
        break;
    case 5:
        for (uint32_t times = pick(liar, 10); times; times--)
            let_go(liar, again(liar, frame));
        break;
    default: break;
    }
}

// The segment, an acknowledgement alone, gets up to three blocks; of its options the timestamps stay, without which
// nobody would hear it.
static struct frame *lie_sack(struct liar *liar, struct frame *frame)
{
    uint8_t *stamps = option(frame->data + frame->head + 20, 8, 10);
    const uint32_t first = stamps ? 12 : 0, blocks = 1 + pick(liar, 3), options = first + 4 + 8 * blocks;
    struct frame *lie = frame_new(&liar->node.sim->frames, frame->head + 40u + options);
    uint8_t *ip = lie->data + frame->head, *tcp = ip + 20, *at = tcp + 20;
    lie->head = frame->head;
    memcpy(lie->data, frame->data, frame->head + 40u);
    memset(at, 1, options);
    if (stamps)
        memcpy(at + 2, stamps, 10);
    frame_free(&liar->node.sim->frames, frame);
    put16(ip + 2, (uint16_t)(40 + options));
    tcp[12] = (uint8_t)((20 + options) / 4 << 4);
    at += first;
    at[2] = 5;
    at[3] = (uint8_t)(2 + 8 * blocks);
    for (uint32_t block = 0; block < blocks; block++) {
        const uint32_t left = get32(tcp + 8) + off(liar, 100000);
        put32(at + 4 + 8 * block, left);
        put32(at + 8 + 8 * block, one_in(liar, 2) ? left + off(liar, 3000) : get32(tcp + 8) + off(liar, 100000));
    }
    return lie;
}

static void lie_options(struct liar *liar, uint8_t *tcp)
{
    uint8_t *stamps = option(tcp, 8, 10);
    if (stamps && one_in(liar, 2))
        put32(stamps + 2 + 4 * pick(liar, 2), one_in(liar, 2) ? any(liar) : get32(stamps + 2) + pick(liar, 1000));
    if (one_in(liar, 2))
        tcp[13] ^= (uint8_t)(1u << (6 + pick(liar, 2)));  // ECE, CWR; URG would take a byte out of its own stream
    if (one_in(liar, 2))
        put16(tcp + 18, (uint16_t)any(liar));
}

// Each second byte of it, the last first; the segment itself follows.
static void crumble(struct liar *liar, const struct frame *frame)
{
    const uint8_t *ip = frame->data + frame->head, *tcp = ip + 20;
    const uint32_t header = (tcp[12] >> 4) * 4u, length = get16(ip + 2) - 20u - header;
    for (uint32_t at = length < CRUMBS ? length : CRUMBS; at > 1; at -= 2) {
        struct frame *crumb = again(liar, frame);
        uint8_t *to = crumb->data + crumb->head;
        put16(to + 2, (uint16_t)(20 + header + 1));
        put32(to + 24, get32(tcp + 4) + at - 1);
        to[20 + header] = tcp[header + at - 1];
        to[33] &= (uint8_t)~FIN;
        crumb->length = crumb->head + 20u + header + 1;
        let_go(liar, crumb);
    }
}

// NULL: it is held back for good.
static struct frame *lie(struct liar *liar, struct frame *frame)
{
    uint8_t *ip = frame->data + frame->head, *tcp = ip + 20;
    if (frame->length < frame->head + 40u || get16(frame->data + 12) != ETHERTYPE_IP4 || ip[0] != 0x45 ||
        ip[9] != TCP || tcp[13] & (SYN | RST) || !(tcp[13] & ACK) || one_in(liar, 4))
        return frame;
    const bool empty = get16(ip + 2) == 20u + (tcp[12] >> 4) * 4u;
    if (liar->lies & LIAR_SLOW && empty && !one_in(liar, 8)) {
        frame_free(&liar->node.sim->frames, frame);
        return NULL;
    }
    if (liar->lies & LIAR_CRUMBS && !empty)
        crumble(liar, frame);
    if (liar->lies & LIAR_WINDOW)
        put16(tcp + 14, one_in(liar, 2) ? 0 : (uint16_t)any(liar));
    if (liar->lies & LIAR_OPTIONS)
        lie_options(liar, tcp);
    if (liar->lies & LIAR_ACK)
        lie_ack(liar, frame, tcp);
    if (liar->lies & LIAR_SACK && empty)
        frame = lie_sack(liar, frame);
    liar->told++;
    finish(frame);
    return frame;
}

static void liar_receive(struct port *port, struct frame *frame)
{
    struct liar *liar = liar_of(port->node);
    struct port *out = port_at(liar, OUTWARD);
    if (port->index == OUTWARD) {
        port_send(port_at(liar, INWARD), frame);
    } else if (!out) {
        frame_free(&port->node->sim->frames, frame);
    } else {
        frame = liar->lies ? lie(liar, frame) : frame;
        if (frame)
            port_send(out, frame);
    }
}

// --- forged ----------------------------------------------------------------------------------------------------------

static struct frame *frame_to(struct liar *liar, const struct sim_host *to, uint16_t type, uint32_t length)
{
    struct frame *frame = frame_new(&liar->node.sim->frames, FRAME_ETHERNET + length);
    memset(frame->data, 0, frame->length);
    frame->head = FRAME_ETHERNET;
    if (to)
        memcpy(frame->data, to->mac, 6);
    else
        memset(frame->data, 0xff, 6);
    memcpy(frame->data + 6, liar->host->mac, 6);
    put16(frame->data + 12, type);
    return frame;
}

// Everybody's address is claimed, the victim's as well; by a question, an answer, an announcement; to one or to all.
static void forge_arp(struct liar *liar)
{
    const struct sim *sim = liar->node.sim;
    const struct sim_host *claimed = sim->hosts[pick(liar, sim->host_count)],
                          *to = sim->hosts[pick(liar, sim->host_count)];
    struct frame *frame = frame_to(liar, one_in(liar, 4) ? NULL : to, ETHERTYPE_ARP, 28);
    uint8_t *arp = frame->data + FRAME_ETHERNET;
    put16(arp, 1), put16(arp + 2, ETHERTYPE_IP4), arp[4] = 6, arp[5] = 4;
    put16(arp + 6, (uint16_t)(1 + pick(liar, 2)));
    memcpy(arp + 8, liar->host->mac, 6);
    put32(arp + 14, address_of(claimed));
    put32(arp + 24, one_in(liar, 2) ? address_of(claimed) : address_of(to));
    liar->told++;
    port_send(port_at(liar, OUTWARD), frame);
}

static struct frame *packet_to(struct liar *liar, const struct sim_host *to, uint32_t source, uint8_t protocol,
                               uint32_t length)
{
    struct frame *frame = frame_to(liar, to, ETHERTYPE_IP4, 20 + length);
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(20 + length));
    ip[8] = 64;
    ip[9] = protocol;
    put32(ip + 12, source);
    put32(ip + 16, address_of(to));
    return frame;
}

static void put_ports(uint8_t *tcp, uint16_t source, uint16_t destination)
{
    put16(tcp, source), put16(tcp + 2, destination);
}

static void forge_stranger(struct liar *liar)
{
    const uint32_t source = STRANGER + pick(liar, 256);
    const bool ping = one_in(liar, 2);
    struct frame *frame = packet_to(liar, liar->victim, source, ping ? 1 : TCP, ping ? 8 : 20);
    uint8_t *above = frame->data + FRAME_ETHERNET + 20;
    if (ping) {
        above[0] = 8;
    } else {
        put_ports(above, (uint16_t)any(liar), (uint16_t)(FLOW_PORT + pick(liar, 8)));
        put32(above + 4, any(liar));
        above[12] = 0x50, above[13] = SYN;
        put16(above + 14, 65535);
    }
    let_go(liar, frame);
}

static void forge_error(struct liar *liar, const struct sim_host *other, uint16_t theirs, uint16_t ours)
{
    struct frame *frame = packet_to(liar, liar->victim, address_of(other), 1, 36);
    uint8_t *above = frame->data + FRAME_ETHERNET + 20;
    above[0] = 3, above[1] = (uint8_t)pick(liar, 6);
    put16(above + 6, (uint16_t)pick(liar, 1500));
    above[8] = 0x45, above[17] = TCP;
    put16(above + 10, 1500);
    put32(above + 20, address_of(liar->victim));
    put32(above + 24, address_of(other));
    put_ports(above + 28, ours, theirs);
    put32(above + 32, any(liar));
    let_go(liar, frame);
}

// In the name of another host, about a connection that there may be. The ports are known, numbers are guessed: of
// resets and SYNs also such as lie in the window. (Before the connection is there a SYN would make its client wait for
// a second, RFC 9293 §3.10.7.4; against that its ports are random, RFC 6056.)
static void forge_blind(struct liar *liar)
{
    static const uint8_t flags[] = {RST, RST | ACK, SYN, SYN | ACK, ACK, FIN | ACK};
    const struct sim *sim = liar->node.sim;
    const struct sim_host *other = sim->hosts[pick(liar, sim->host_count)];
    const uint16_t theirs = (uint16_t)(FLOW_CLIENT + pick(liar, 8)), ours = (uint16_t)(FLOW_PORT + pick(liar, 8));
    uint32_t seq = any(liar);
    uint8_t flag = flags[pick(liar, 6)];
    if (one_in(liar, 4)) {
        forge_error(liar, other, theirs, ours);
        return;
    }
    const bool known = sim->check &&
                       check_next(sim->check, sim_address_v4(address_of(other)), theirs,
                                  sim_address_v4(address_of(liar->victim)), ours, &seq) &&
                       flag & (RST | SYN);
    if (flag == SYN && !known)
        flag = ACK;
    struct frame *frame = packet_to(liar, liar->victim, address_of(other), TCP, 20 + (known ? 0 : pick(liar, 20)));
    uint8_t *above = frame->data + FRAME_ETHERNET + 20;
    put_ports(above, theirs, ours);
    put32(above + 4, known ? seq + 1 + pick(liar, 60000) : any(liar));
    put32(above + 8, any(liar));
    above[12] = 0x50, above[13] = flag;
    put16(above + 14, (uint16_t)any(liar));
    let_go(liar, frame);
}

static void forge(void *context)
{
    struct liar *liar = context;
    if (liar->lies & LIAR_ARP && one_in(liar, 4))
        forge_arp(liar);
    if (liar->lies & LIAR_STRANGERS)
        forge_stranger(liar);
    if (liar->lies & LIAR_BLIND)
        forge_blind(liar);
    event_set(&liar->node.sim->events, &liar->forge, liar->node.sim->now_ns + FORGE_NS);
}

// --- making one ------------------------------------------------------------------------------------------------------

struct sim_node *sim_liar_add(struct sim *sim, const char *name, struct sim_host *host, struct sim_host *victim)
{
    struct liar *liar = calloc(1, sizeof *liar);
    if (!liar)
        abort();
    liar->node.receive = liar_receive;
    liar->host = host;
    liar->victim = victim;
    liar->forge = (struct event){.happen = forge, .context = liar};
    node_add(sim, &liar->node, name);
    liar->dice = random_state(sim->options.seed, UINT64_C(7000) + liar->node.index);
    return &liar->node;
}

void sim_liar_lie(struct sim_node *node, uint32_t lies)
{
    struct liar *liar = liar_of(node);
    struct events *events = &node->sim->events;
    liar->lies = lies;
    if (lies & (LIAR_ARP | LIAR_STRANGERS | LIAR_BLIND))
        event_set(events, &liar->forge, node->sim->now_ns + FORGE_NS);
    else
        event_cancel(events, &liar->forge);
}

uint64_t sim_liar_lies(const struct sim_node *node) { return ((const struct liar *)node)->told; }
