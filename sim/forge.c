// SPDX-License-Identifier: BSD-2-Clause
// What a liar forges over both families, and over IPv4 alone.
#include "forge.h"

#include <string.h>

#include "family6.h"

#define FLOW_PORT 5000u       // where flows' servers listen (flow.c)
#define FLOW_CLIENT 20000u    // where their clients are
#define STRANGER 0x0a00ff00u  // 10.0.255.0 and following: within the prefix, and nobody's
#define STRANGER6 0xff0000u   // the same of fd00::/64: fd00::ff:0
#define STRANGERS 256u
#define PIECES 16u  // identifications of forged fragments: few, so that they meet

struct sim_address forge_address(const struct sim_host *host) { return sim_address_of(host->address); }

struct sim_host *forge_anybody(struct liar *liar)
{
    const struct sim *sim = liar->node.sim;
    return sim->hosts[pick(liar, sim->host_count)];
}

static bool speaks_ip6(const struct liar *liar) { return liar->node.sim->options.family == 6; }

struct sim_address forge_nobody(struct liar *liar)
{
    const uint32_t number = pick(liar, STRANGERS);
    return speaks_ip6(liar) ? (struct sim_address){forge_address(liar->host).high, STRANGER6 + number}
                            : sim_address_v4(STRANGER + number);
}

struct frame *forge_frame(struct liar *liar, const struct sim_host *to, uint16_t type, uint32_t length)
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

static struct frame *packet4(struct liar *liar, const struct sim_host *to, struct sim_address source, uint8_t protocol,
                             uint32_t length)
{
    struct frame *frame = forge_frame(liar, to, ETHERTYPE_IP4, IP4_BYTES + length);
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(IP4_BYTES + length));
    ip[8] = 64;
    ip[9] = protocol;
    put32(ip + 12, (uint32_t)source.low);
    put32(ip + 16, (uint32_t)forge_address(to).low);
    return frame;
}

static struct frame *packet6(struct liar *liar, const struct sim_host *to, struct sim_address source, uint8_t protocol,
                             uint32_t length)
{
    struct frame *frame = forge_frame(liar, to, ETHERTYPE_IP6, IP6_BYTES + length);
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    ip[0] = 0x60;
    put16(ip + 4, (uint16_t)length);
    ip[6] = protocol;
    ip[7] = 64;
    sim_address_write(source, ip + 8);
    sim_address_write(forge_address(to), ip + 24);
    return frame;
}

struct frame *forge_packet(struct liar *liar, const struct sim_host *to, struct sim_address source, uint8_t protocol,
                           uint32_t length)
{
    return sim_address_is_v4(source) ? packet4(liar, to, source, protocol, length)
                                     : packet6(liar, to, source, protocol, length);
}

uint8_t *forge_above(struct frame *frame)
{
    uint8_t *ip = frame->data + frame->head;
    return ip + (ip[0] >> 4 == 6 ? IP6_BYTES : IP4_BYTES);
}

void forge_ports(uint8_t *tcp, uint16_t source, uint16_t destination)
{
    put16(tcp, source), put16(tcp + 2, destination);
}

static void tell_summed(struct liar *liar, struct frame *frame)
{
    liar_sums(frame);
    liar_tell(liar, frame);
}

// --- strangers -------------------------------------------------------------------------------------------------------

static void forge_stranger(struct liar *liar)
{
    const struct sim_address source = forge_nobody(liar);
    const bool ping = one_in(liar, 2), six = speaks_ip6(liar);
    struct frame *frame = forge_packet(liar, liar->victim, source, ping ? (six ? ICMP6 : ICMP4) : TCP, ping ? 8 : 20);
    uint8_t *above = forge_above(frame);
    if (ping) {
        above[0] = six ? 128 : 8;
    } else {
        forge_ports(above, (uint16_t)any(liar), (uint16_t)(FLOW_PORT + pick(liar, 8)));
        put32(above + 4, any(liar));
        above[12] = 0x50, above[13] = SYN;
        put16(above + 14, 65535);
    }
    tell_summed(liar, frame);
}

// --- in the name of others -------------------------------------------------------------------------------------------

static void forge_error(struct liar *liar, const struct sim_host *other, uint16_t theirs, uint16_t ours)
{
    struct frame *frame = packet4(liar, liar->victim, forge_address(other), ICMP4, 36);
    uint8_t *above = forge_above(frame);
    above[0] = 3, above[1] = (uint8_t)pick(liar, 6);
    put16(above + 6, (uint16_t)pick(liar, 1500));
    above[8] = 0x45, above[17] = TCP;
    put16(above + 10, 1500);
    put32(above + 20, (uint32_t)forge_address(liar->victim).low);
    put32(above + 24, (uint32_t)forge_address(other).low);
    forge_ports(above + 28, ours, theirs);
    put32(above + 32, any(liar));
    tell_summed(liar, frame);
}

// In the name of another host, about a connection that there may be. The ports are known, numbers are guessed: of
// resets and SYNs also such as lie in the window. (Before the connection is there a SYN would make its client wait for
// a second, RFC 9293 §3.10.7.4; against that its ports are random, RFC 6056.)
static void forge_blind(struct liar *liar)
{
    static const uint8_t flags[] = {RST, RST | ACK, SYN, SYN | ACK, ACK, FIN | ACK};
    const struct sim *sim = liar->node.sim;
    const struct sim_host *other = forge_anybody(liar);
    const uint16_t theirs = (uint16_t)(FLOW_CLIENT + pick(liar, 8)), ours = (uint16_t)(FLOW_PORT + pick(liar, 8));
    uint32_t seq = any(liar);
    uint8_t flag = flags[pick(liar, 6)];
    if (one_in(liar, 4)) {
        if (speaks_ip6(liar))
            forge6_error(liar, other, theirs, ours);
        else
            forge_error(liar, other, theirs, ours);
        return;
    }
    const bool known = sim->check &&
                       check_next(sim->check, forge_address(other), theirs, forge_address(liar->victim), ours, &seq) &&
                       flag & (RST | SYN);
    if (flag == SYN && !known)
        flag = ACK;
    struct frame *frame =
        forge_packet(liar, liar->victim, forge_address(other), TCP, 20 + (known ? 0 : pick(liar, 20)));
    uint8_t *above = forge_above(frame);
    forge_ports(above, theirs, ours);
    put32(above + 4, known ? seq + 1 + pick(liar, 60000) : any(liar));
    put32(above + 8, any(liar));
    above[12] = 0x50, above[13] = flag;
    put16(above + 14, (uint16_t)any(liar));
    tell_summed(liar, frame);
}

// --- IPv4's own ------------------------------------------------------------------------------------------------------

// Everybody's address is claimed, the victim's as well; by a question, an answer, an announcement; to one or to all.
static void forge_arp(struct liar *liar)
{
    const struct sim_host *claimed = forge_anybody(liar), *to = forge_anybody(liar);
    struct frame *frame = forge_frame(liar, one_in(liar, 4) ? NULL : to, ETHERTYPE_ARP, 28);
    uint8_t *arp = frame->data + FRAME_ETHERNET;
    put16(arp, 1), put16(arp + 2, ETHERTYPE_IP4), arp[4] = 6, arp[5] = 4;
    put16(arp + 6, (uint16_t)(1 + pick(liar, 2)));
    memcpy(arp + 8, liar->host->mac, 6);
    put32(arp + 14, (uint32_t)forge_address(claimed).low);
    put32(arp + 24, (uint32_t)forge_address(one_in(liar, 2) ? claimed : to).low);
    liar_tell(liar, frame);
}

// Redirects (RFC 1122 §3.2.2.2) of everybody's packets, in everybody's name, to the liar.
static void forge_redirect(struct liar *liar)
{
    const struct sim_host *other = forge_anybody(liar);
    struct frame *frame = packet4(liar, liar->victim, forge_address(forge_anybody(liar)), ICMP4, 36);
    uint8_t *above = forge_above(frame);
    above[0] = 5, above[1] = (uint8_t)pick(liar, 5);
    put32(above + 4, (uint32_t)forge_address(liar->host).low);
    above[8] = 0x45, above[17] = TCP;
    put16(above + 10, 1500);
    put32(above + 20, (uint32_t)forge_address(liar->victim).low);
    put32(above + 24, (uint32_t)forge_address(other).low);
    forge_ports(above + 28, FLOW_PORT, FLOW_CLIENT);
    tell_summed(liar, frame);
}

// Of datagrams that never end, that overlap, that end beyond 64 KiB, or that lie about where they end.
static void forge_fragment(struct liar *liar)
{
    const struct sim_address source = one_in(liar, 2) ? forge_nobody(liar) : forge_address(forge_anybody(liar));
    struct frame *frame =
        packet4(liar, liar->victim, source, one_in(liar, 2) ? UDP : TCP, one_in(liar, 4) ? pick(liar, 64) : 512);
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    put16(ip + 4, (uint16_t)pick(liar, PIECES));
    put16(ip + 6, (uint16_t)(one_in(liar, 8) ? any(liar) : pick(liar, 2) << 13 | pick(liar, 200)));
    frame_ip_sum(ip);
    liar_tell(liar, frame);
}

// An acknowledgement with options (RFC 791 §3.1): routes, records, stamps, and lengths that are none.
static void forge_options(struct liar *liar)
{
    static const uint8_t kinds[] = {7, 68, 130, 131, 137, 148, 0, 1};
    const uint32_t words = 1 + pick(liar, 10);
    struct frame *frame = packet4(liar, liar->victim, forge_address(forge_anybody(liar)), TCP, 4 * words + 20);
    uint8_t *ip = frame->data + FRAME_ETHERNET, *tcp = ip + IP4_BYTES + 4 * words;
    ip[0] = (uint8_t)(0x45 + words);
    for (uint32_t at = 0; at + 2 < 4 * words; at += 3) {
        ip[IP4_BYTES + at] = kinds[pick(liar, sizeof kinds)];
        ip[IP4_BYTES + at + 1] = (uint8_t)pick(liar, one_in(liar, 2) ? 8 : 256);
        ip[IP4_BYTES + at + 2] = (uint8_t)any(liar);
    }
    forge_ports(tcp, FLOW_CLIENT, FLOW_PORT);
    put32(tcp + 4, any(liar));
    tcp[12] = 0x50, tcp[13] = ACK;
    put16(tcp + 16, frame_checksum(frame_sum(ip + 12, 8) + TCP + 20 + frame_sum(tcp, 20)));
    frame_ip_sum(ip);
    liar_tell(liar, frame);
}

// --- all of them -----------------------------------------------------------------------------------------------------

// Of the bits from LIAR_ARP on: over IPv4, over IPv6. What goes to everybody is forged seldom: the rest of a slow link
// is not to be measured.
static const struct {
    void (*forge[2])(struct liar *liar);
    uint8_t one_in;
} lies[] = {
    {{forge_arp, forge6_neighbour}, 4},   {{forge_stranger, forge_stranger}, 1},  {{forge_blind, forge_blind}, 1},
    {{forge_redirect, forge6_router}, 3}, {{forge_fragment, forge6_fragment}, 1}, {{forge_options, forge6_headers}, 1},
};

void forge_some(struct liar *liar)
{
    for (uint32_t at = 0; at < sizeof lies / sizeof lies[0]; at++)
        if (liar->lies & LIAR_ARP << at && one_in(liar, lies[at].one_in))
            lies[at].forge[speaks_ip6(liar)](liar);
}
