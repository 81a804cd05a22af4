// SPDX-License-Identifier: BSD-2-Clause
// What a liar forges over IPv6 alone: neighbours, routers and their options, packets too big, fragments, headers.
#include <string.h>

#include "family6.h"
#include "forge.h"

#define LINK_LOCAL UINT64_C(0xfe80000000000000)
#define ALL_NODES ((struct sim_address){UINT64_C(0xff02000000000000), 1})
#define HOP_LIMIT 255u
#define HOP_BY_HOP 0
#define ROUTING 43
#define FRAGMENT 44
#define NOTHING 59
#define OPTIONS 60
#define TOO_BIG 2
#define QUERY 130
#define ADVERTISE 134
#define NEIGHBOUR_SOLICIT 135
#define NEIGHBOUR_ADVERTISE 136
#define REDIRECT 137
#define PIECES 16u  // identifications of forged fragments: few, so that they meet

// --- messages of neighbours ------------------------------------------------------------------------------------------

// One of many, or of nobody's; of any machine that there is not.
static struct sim_address link_local(struct liar *liar) { return (struct sim_address){LINK_LOCAL, 1 + pick(liar, 64)}; }

// Sums it and sends it, to one, or to a group in place of the host that it was made for. Now and then it comes from
// afar, or ends too early.
static void tell_neighbour(struct liar *liar, struct frame *frame, const struct sim_address *group)
{
    uint8_t *ip = frame->data + FRAME_ETHERNET;
    ip[7] = one_in(liar, 16) ? 64 : HOP_LIMIT;
    if (group) {
        sim_address_write(*group, ip + 24);
        put16(frame->data, 0x3333);
        memcpy(frame->data + 2, ip + 36, 4);
    }
    if (one_in(liar, 16)) {
        const uint16_t length = (uint16_t)pick(liar, get16(ip + 4));
        put16(ip + 4, length);
        frame->length = FRAME_ETHERNET + IP6_BYTES + length;
    }
    if (get16(ip + 4) >= 4)
        liar_sums(frame);
    liar_tell(liar, frame);
}

// A link address of the liar's: option 1 of who speaks, 2 of whom is spoken of; sometimes of a length that is none.
static void put_link_address(struct liar *liar, uint8_t *at, uint8_t kind)
{
    at[0] = kind;
    at[1] = one_in(liar, 16) ? (uint8_t)pick(liar, 4) : 1;
    memcpy(at + 2, liar->host->mac, 6);
}

// Questions in everybody's name; and of who would like to have an address that somebody has (RFC 4862 §5.4).
static void solicit(struct liar *liar, const struct sim_host *claimed, const struct sim_host *to)
{
    const bool nameless = one_in(liar, 3);
    const struct sim_address source = nameless ? (struct sim_address){0, 0} : forge_address(claimed);
    const struct sim_address target = forge_address(to);
    const struct sim_address group = {ALL_NODES.high, UINT64_C(0x1ff000000) | (target.low & 0xffffff)};
    struct frame *frame = forge_packet(liar, to, source, ICMP6, nameless ? 24 : 32);
    uint8_t *icmp = forge_above(frame);
    icmp[0] = NEIGHBOUR_SOLICIT;
    sim_address_write(target, icmp + 8);
    if (!nameless)
        put_link_address(liar, icmp + 24, 1);
    tell_neighbour(liar, frame, nameless || one_in(liar, 2) ? &group : NULL);
}

// Answers, asked for or not, to one or to all.
static void claim(struct liar *liar, const struct sim_host *claimed, const struct sim_host *to)
{
    static const struct sim_address all = ALL_NODES;
    struct frame *frame = forge_packet(liar, to, forge_address(one_in(liar, 2) ? claimed : liar->host), ICMP6, 32);
    uint8_t *icmp = forge_above(frame);
    icmp[0] = NEIGHBOUR_ADVERTISE;
    icmp[4] = (uint8_t)(pick(liar, 8) << 5);  // router, solicited, override
    sim_address_write(forge_address(claimed), icmp + 8);
    put_link_address(liar, icmp + 24, 2);
    tell_neighbour(liar, frame, one_in(liar, 4) ? &all : NULL);
}

void forge6_neighbour(struct liar *liar)
{
    const struct sim_host *claimed = forge_anybody(liar), *to = forge_anybody(liar);
    if (one_in(liar, 2))
        solicit(liar, claimed, to);
    else
        claim(liar, claimed, to);
}

// --- messages of routers ---------------------------------------------------------------------------------------------

static uint32_t seconds(struct liar *liar)
{
    static const uint32_t edges[] = {0, 1, 7199, 7201, 0x7fffffff, 0xffffffff};
    return one_in(liar, 2) ? edges[pick(liar, 6)] : any(liar);
}

// The hosts' own prefix, or one of many.
static struct sim_address prefix(struct liar *liar, bool own)
{
    return (struct sim_address){forge_address(liar->host).high + (own ? 0 : 0x100 + pick(liar, 1024)), 0};
}

static uint32_t put_prefix(struct liar *liar, uint8_t *at)
{
    at[0] = 3, at[1] = 4;
    at[2] = one_in(liar, 4) ? (uint8_t)any(liar) : 64;
    at[3] = (uint8_t)(pick(liar, 4) << 6);  // on-link, autonomous
    put32(at + 4, seconds(liar));
    put32(at + 8, seconds(liar));
    sim_address_write(prefix(liar, one_in(liar, 3)), at + 16);
    return 32;
}

// RFC 4191. A longer prefix of the hosts' own would be believed, as by any host that nobody guards from false routers.
static uint32_t put_route(struct liar *liar, uint8_t *at)
{
    at[0] = 24, at[1] = 3;
    at[2] = (uint8_t)pick(liar, 65);
    at[3] = (uint8_t)(pick(liar, 4) << 3);
    put32(at + 4, seconds(liar));
    sim_address_write(prefix(liar, one_in(liar, 3)), at + 8);
    return 24;
}

static uint32_t put_mtu(struct liar *liar, uint8_t *at)
{
    static const uint32_t edges[] = {0, 68, 1279, 1280, 1500, 1501, 65535, 0xffffffff};
    at[0] = 5, at[1] = 1;
    put32(at + 4, edges[pick(liar, 8)]);
    return 8;
}

// Name servers, search domains, or anything.
static uint32_t put_other(struct liar *liar, uint8_t *at)
{
    static const uint8_t kinds[] = {25, 31, 38, 14, 0, 255};
    at[0] = kinds[pick(liar, sizeof kinds)];
    at[1] = one_in(liar, 8) ? (uint8_t)pick(liar, 8) : 3;
    for (uint32_t byte = 2; byte < 24; byte++)
        at[byte] = (uint8_t)any(liar);
    return 24;
}

#define ROUTER_BYTES 512u

static void advertise(struct liar *liar, const struct sim_host *to)
{
    static uint32_t (*const put[])(struct liar *, uint8_t *) = {put_prefix, put_route, put_mtu, put_other};
    static const uint8_t hops[] = {0, 1, 31, 64, 255};
    static const struct sim_address all = ALL_NODES;
    struct frame *frame = forge_packet(liar, to, link_local(liar), ICMP6, ROUTER_BYTES);
    uint8_t *icmp = forge_above(frame), *ip = frame->data + FRAME_ETHERNET;
    uint32_t length = 24;
    icmp[0] = ADVERTISE;
    icmp[4] = hops[pick(liar, sizeof hops)];
    icmp[5] = (uint8_t)any(liar);
    put16(icmp + 6, (uint16_t)seconds(liar));
    put32(icmp + 8, seconds(liar));   // reachable
    put32(icmp + 12, seconds(liar));  // retransmitted
    put_link_address(liar, icmp + 16, 1);
    for (uint32_t options = pick(liar, 12); options; options--)
        length += put[pick(liar, 4)](liar, icmp + length);
    put16(ip + 4, (uint16_t)length);
    frame->length = FRAME_ETHERNET + IP6_BYTES + length;
    tell_neighbour(liar, frame, one_in(liar, 2) ? &all : NULL);
}

// Everybody's packets to the liar; in the name of who may say so, were he a router, or of who may not.
static void redirect(struct liar *liar, const struct sim_host *to)
{
    const struct sim_host *other = forge_anybody(liar);
    const struct sim_address source = one_in(liar, 2) ? link_local(liar) : forge_address(forge_anybody(liar));
    struct frame *frame = forge_packet(liar, to, source, ICMP6, 48);
    uint8_t *icmp = forge_above(frame);
    icmp[0] = REDIRECT;
    sim_address_write(one_in(liar, 2) ? link_local(liar) : forge_address(other), icmp + 8);
    sim_address_write(forge_address(other), icmp + 24);
    put_link_address(liar, icmp + 40, 2);
    tell_neighbour(liar, frame, NULL);
}

// Of MLD (RFC 9777 §5.1): everybody is to tell of his groups, at once.
static void query(struct liar *liar, const struct sim_host *to)
{
    static const struct sim_address all = ALL_NODES;
    struct frame *frame = forge_packet(liar, to, link_local(liar), HOP_BY_HOP, 8 + 28);
    uint8_t *ip = frame->data + FRAME_ETHERNET, *options = ip + IP6_BYTES, *icmp = options + 8;
    options[0] = ICMP6, options[2] = 5, options[3] = 2, options[6] = 1;
    icmp[0] = QUERY;
    put16(icmp + 4, (uint16_t)pick(liar, 4));
    sim_address_write(all, ip + 24);
    put16(frame->data, 0x3333);
    memcpy(frame->data + 2, ip + 36, 4);
    ip[7] = 1;
    put16(icmp + 2, ip6_sum(ip, ICMP6, icmp, 28));
    liar_tell(liar, frame);
}

void forge6_router(struct liar *liar)
{
    const struct sim_host *to = forge_anybody(liar);
    switch (pick(liar, 4)) {
    case 0: redirect(liar, to); break;
    case 1: query(liar, to); break;
    default: advertise(liar, to); break;
    }
}

// --- errors ----------------------------------------------------------------------------------------------------------

void forge6_error(struct liar *liar, const struct sim_host *other, uint16_t theirs, uint16_t ours)
{
    static const uint32_t mtus[] = {0, 68, 1279, 1280, 1400, 0xffffffff};
    struct frame *frame = forge_packet(liar, liar->victim, forge_address(other), ICMP6, 8 + IP6_BYTES + 20);
    uint8_t *icmp = forge_above(frame), *quoted = icmp + 8, *tcp = quoted + IP6_BYTES;
    icmp[0] = (uint8_t)(1 + pick(liar, 4));
    icmp[1] = icmp[0] == TOO_BIG ? 0 : (uint8_t)pick(liar, 7);
    put32(icmp + 4, icmp[0] == TOO_BIG ? mtus[pick(liar, 6)] : any(liar));
    quoted[0] = 0x60;
    put16(quoted + 4, 1440);
    quoted[6] = TCP, quoted[7] = 64;
    sim_address_write(forge_address(liar->victim), quoted + 8);
    sim_address_write(forge_address(other), quoted + 24);
    forge_ports(tcp, ours, theirs);
    put32(tcp + 4, any(liar));
    tcp[12] = 0x50;
    liar_sums(frame);
    liar_tell(liar, frame);
}

// --- fragments and headers -------------------------------------------------------------------------------------------

// Of datagrams that never end, that overlap, that end beyond 64 KiB, that are whole already, or lie about their end.
void forge6_fragment(struct liar *liar)
{
    const struct sim_address source = one_in(liar, 2) ? forge_nobody(liar) : forge_address(forge_anybody(liar));
    struct frame *frame =
        forge_packet(liar, liar->victim, source, FRAGMENT, 8 + (one_in(liar, 4) ? pick(liar, 64) : 512));
    uint8_t *fragment = forge_above(frame);
    fragment[0] = (uint8_t)(one_in(liar, 4) ? any(liar) : one_in(liar, 2) ? TCP : UDP);
    put16(fragment + 2, (uint16_t)(one_in(liar, 8) ? any(liar) : pick(liar, 200) << 3 | pick(liar, 2)));
    put32(fragment + 4, pick(liar, PIECES));
    liar_tell(liar, frame);
}

#define HEADERS_MOST 12u

// Up to twelve headers, in any order, with options of any kind, before an acknowledgement in somebody's name.
void forge6_headers(struct liar *liar)
{
    static const uint8_t kinds[] = {HOP_BY_HOP, OPTIONS, OPTIONS, ROUTING, FRAGMENT, NOTHING};
    const uint32_t count = 1 + pick(liar, HEADERS_MOST);
    const struct sim_address source = one_in(liar, 2) ? forge_nobody(liar) : forge_address(forge_anybody(liar));
    struct frame *frame = forge_packet(liar, liar->victim, source, 0, 16 * count + 20);
    uint8_t *ip = frame->data + FRAME_ETHERNET, *next = ip + 6, *at = ip + IP6_BYTES;
    for (uint32_t header = 0; header < count; header++, at += 16) {
        *next = one_in(liar, 2) ? OPTIONS : kinds[pick(liar, sizeof kinds)];
        next = at;
        at[1] = one_in(liar, 8) ? (uint8_t)any(liar) : 1;
        at[2] = one_in(liar, 2) ? 1 : (uint8_t)any(liar);  // an option, or the type of the route
        at[3] = one_in(liar, 4) ? (uint8_t)any(liar) : 12;
    }
    *next = TCP;
    at[12] = 0x50, at[13] = ACK;
    put32(at + 4, any(liar));
    put16(at + 16, ip6_sum(ip, TCP, at, 20));
    liar_tell(liar, frame);
}
