// SPDX-License-Identifier: BSD-2-Clause
#include "liar.h"

#include <stdlib.h>
#include <string.h>

#include "family6.h"
#include "forge.h"

#define FORGE_NS SIM_MS(2)  // between two forged frames
#define CRUMBS 40u          // bytes of a segment that is sent in crumbs

const char *const liar_names[] = {"ack",       "sack",  "window",  "options",   "crumbs",  "slow", "arp",
                                  "strangers", "blind", "routers", "fragments", "headers", NULL};

static struct liar *liar_of(struct sim_node *node) { return (struct liar *)node; }

enum { INWARD, OUTWARD };  // the indices of its ports
static struct port *port_at(struct liar *liar, uint32_t index)
{
    struct port *port = liar->node.ports;
    while (port && port->index != index)
        port = port->next;
    return port;
}

void liar_sums(struct frame *frame)
{
    uint8_t *ip = frame->data + frame->head, *above = forge_above(frame);
    const bool six = ip[0] >> 4 == 6;
    const uint8_t protocol = ip[six ? 6 : 9];
    const uint32_t length = six ? get16(ip + 4) : get16(ip + 2) - IP4_BYTES;
    uint8_t *sum = above + (protocol == TCP ? 16 : 2);
    frame->segment.flow = 0;
    put16(sum, 0);
    if (six) {
        put16(sum, ip6_sum(ip, protocol, above, length));
        return;
    }
    frame_ip_sum(ip);
    const uint32_t ends = protocol == TCP ? frame_sum(ip + 12, 8) + TCP + length : 0;  // those of ICMP are not summed
    put16(sum, frame_checksum(ends + frame_sum(above, length)));
}

void liar_tell(struct liar *liar, struct frame *frame)
{
    liar->told++;
    port_send(port_at(liar, OUTWARD), frame);
}

// --- segments of the host --------------------------------------------------------------------------------------------

static void let_go(struct liar *liar, struct frame *frame)
{
    liar_sums(frame);
    liar_tell(liar, frame);
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
            put32(forge_above(piece) + 8, before + (ack - before) / 16 * part);
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

// The segment of a frame has so many bytes from now on, its header among them.
static void resize(struct frame *frame, uint32_t length)
{
    uint8_t *ip = frame->data + frame->head;
    if (ip[0] >> 4 == 6)
        put16(ip + 4, (uint16_t)length);
    else
        put16(ip + 2, (uint16_t)(IP4_BYTES + length));
    frame->length = (uint32_t)(forge_above(frame) - frame->data) + length;
}

// The segment, an acknowledgement alone, gets up to three blocks; of its options the timestamps stay, without which
// nobody would hear it.
static struct frame *lie_sack(struct liar *liar, struct frame *frame)
{
    uint8_t *stamps = option(forge_above(frame), 8, 10);
    const uint32_t first = stamps ? 12 : 0, blocks = 1 + pick(liar, 3), options = first + 4 + 8 * blocks;
    const uint32_t before = (uint32_t)(forge_above(frame) - frame->data) + 20;
    struct frame *lie = frame_new(&liar->node.sim->frames, before + options);
    lie->head = frame->head;
    memcpy(lie->data, frame->data, before);
    resize(lie, 20 + options);
    uint8_t *tcp = forge_above(lie), *at = tcp + 20;
    memset(at, 1, options);
    if (stamps)
        memcpy(at + 2, stamps, 10);
    frame_free(&liar->node.sim->frames, frame);
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
static void crumble(struct liar *liar, const struct frame *frame, const struct segment *segment)
{
    const uint32_t most = segment->length < CRUMBS ? segment->length : CRUMBS;
    for (uint32_t at = most; at > 1; at -= 2) {
        struct frame *crumb = again(liar, frame);
        uint8_t *tcp = forge_above(crumb), *payload = tcp + (tcp[12] >> 4) * 4;
        put32(tcp + 4, segment->seq + at - 1);
        payload[0] = payload[at - 1];
        tcp[13] &= (uint8_t)~FIN;
        resize(crumb, (uint32_t)(payload - tcp) + 1);
        let_go(liar, crumb);
    }
}

// NULL: it is held back for good.
static struct frame *lie(struct liar *liar, struct frame *frame)
{
    struct segment segment;
    if (!segment_read(frame, &segment) || segment.flags & (SYN | RST) || !(segment.flags & ACK) || one_in(liar, 4))
        return frame;
    uint8_t *tcp = forge_above(frame);
    if (liar->lies & LIAR_SLOW && !segment.length && !one_in(liar, 8)) {
        frame_free(&liar->node.sim->frames, frame);
        return NULL;
    }
    if (liar->lies & LIAR_CRUMBS && segment.length)
        crumble(liar, frame, &segment);
    if (liar->lies & LIAR_WINDOW)
        put16(tcp + 14, one_in(liar, 2) ? 0 : (uint16_t)any(liar));
    if (liar->lies & LIAR_OPTIONS)
        lie_options(liar, tcp);
    if (liar->lies & LIAR_ACK)
        lie_ack(liar, frame, tcp);
    if (liar->lies & LIAR_SACK && !segment.length)
        frame = lie_sack(liar, frame);
    liar->told++;
    liar_sums(frame);
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

// --- making one ------------------------------------------------------------------------------------------------------

static void forge(void *context)
{
    struct liar *liar = context;
    forge_some(liar);
    event_set(&liar->node.sim->events, &liar->forge, liar->node.sim->now_ns + FORGE_NS);
}

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
    if (lies & LIAR_FORGED)
        event_set(events, &liar->forge, node->sim->now_ns + FORGE_NS);
    else
        event_cancel(events, &liar->forge);
}

uint64_t sim_liar_lies(const struct sim_node *node) { return ((const struct liar *)node)->told; }
