// SPDX-License-Identifier: BSD-2-Clause
// A whole instance with IPv6, and everybody on its link lies: routers, neighbours, multicast queriers, hosts near and
// far. The instance makes addresses out of advertisements (SLAAC) and has a listener, connections, UDP and raw sockets;
// the input is a script of packets, time and socket calls. Packets are right by themselves (lengths, checksums, hop
// limits, TCP's numbers, the nonces of our probes, quotes of what we sent) and are then spoilt where the script says so
// (craft6.h), so that the fuzzer spends its time behind the first checks.
//
// What is checked, besides the sanitizers and the fixture's contract of drivers and allocator:
// - What is sent is well formed: header, checksum, hop limit and source as they must be, Neighbour Discovery never in
//   fragments, no error longer than the least MTU, none about an error.
// - After each operation: memory within the budget, every table within its bound, lifetimes, MTU and timers within what
//   the RFCs allow, no connection dropped because it contradicted itself.
// - In the end, an honest host on the link that asks for our address is answered, and so is its SYN.
#include "craft6.h"

#include "base/stream.h"
#include "ip/group.h"
#include "ip/ip6.h"
#include "link/neighbour.h"
#include "tcp/attach.h"
#include "tcp/internal.h"
#include "weir/socket.h"
#include "weir/stats.h"

#define OPERATIONS 300u
#define SOCKETS 12u
#define TALKS 6u
#define KEPT 4u
#define KEPT_BYTES 1300u
#define PORT_SERVER 7u
#define PORT_PEER 5000u
#define BUDGET 3000000u
#define MINUTE 60000000u

// A conversation, by what we last said.
struct talk {
    uint8_t ours[16], peer[16];
    uint16_t port, peer_port;
    uint32_t next, ack, ts_value;
    bool timestamps;
};

struct quoted {
    uint8_t bytes[KEPT_BYTES];
    uint32_t length;
};

struct world {
    struct fixture f;
    struct bytes in;
    struct talk talks[TALKS];
    struct quoted kept[KEPT];  // packets we sent
    uint32_t kept_count, clock;
    weir_socket sockets[SOCKETS];
    uint8_t nonce[6];   // of our last probe
    uint8_t asked[16];  // whom we solicited last
    uint8_t made[16];   // an address that we made out of a prefix, or the one of the link
    bool mute;          // honest neighbours do not answer
};

// --- what we send ----------------------------------------------------------------------------------------------------

static void learn_segment(struct world *w, const struct ip6 *ip, const uint8_t *bytes, uint32_t length)
{
    struct tcp_segment s;
    if (!tcp_parse(bytes, length, &s))
        return;
    CHECK(!(s.options.seen & TCP_SEEN_BAD));
    struct talk *talk = w->talks;
    while (talk < w->talks + TALKS &&
           (talk->port != s.source || talk->peer_port != s.destination || memcmp(talk->peer, ip->destination, 16) != 0))
        talk++;
    if (talk == w->talks + TALKS) {
        talk = &w->talks[TALKS - 1];
        memmove(w->talks + 1, w->talks, sizeof w->talks - sizeof *w->talks);
        talk = w->talks;
        *talk = (struct talk){.port = s.source, .peer_port = s.destination};
        memcpy(talk->peer, ip->destination, 16);
    }
    memcpy(talk->ours, ip->source, 16);
    talk->next = s.seq + s.length + !!(s.flags & TCP_SYN) + !!(s.flags & TCP_FIN);
    if (s.flags & TCP_ACK)
        talk->ack = s.ack;
    talk->timestamps = s.options.seen & TCP_SEEN_TIMESTAMPS;
    talk->ts_value = s.options.ts_value;
}

// Honest neighbours answer: all of the link but strangers' numbers.
static void answer_solicitation(struct world *w, const uint8_t *target)
{
    struct draft d = {.hop_limit = 255, .protocol = IP6_ICMP, .first = IP6_ICMP};
    memcpy(w->asked, target, 16);
    if (w->mute || (memcmp(target, places6[0], 16) != 0 && memcmp(target, places6[1], 16) != 0 &&
                    memcmp(target, places6[2], 16) != 0))
        return;
    memcpy(d.mac, FIXTURE_PEER_MAC, 6);
    memcpy(d.source, target, 16);
    memcpy(d.destination, target[0] == 0xfe ? w->made : places6[4], 16);
    d.length = nd_na_emit(d.payload, target, ND_SOLICITED | ND_OVERRIDE, FIXTURE_PEER_MAC);
    sum_draft(&d);
    send_draft(&w->f, &d, NULL, 0, d.payload, d.length);
}

static void check_discovery(struct world *w, const struct ip6 *ip, const uint8_t *bytes, uint32_t length)
{
    const struct icmp6_arrival arrival = {
        .source = ip->source, .destination = ip->destination, .hop_limit = ip->hop_limit};
    struct nd nd;
    CHECK(nd_parse(bytes, length, &arrival, &nd) == ND_OK);
    CHECK(nd.type != ICMP6_ROUTER_ADVERTISEMENT && nd.type != ICMP6_REDIRECT && !nd.router);
    if (nd.type != ICMP6_NEIGHBOUR_SOLICITATION)
        return;
    if (nd.nonce && nd.nonce_bytes == 6)
        memcpy(w->nonce, nd.nonce, 6);
    if (!ip6_is_unspecified(ip->source))
        answer_solicitation(w, nd.target);
}

static void check_message(struct world *w, const struct ip6 *ip, const uint8_t *bytes, uint32_t length)
{
    CHECK(length >= 4 && icmp6_sum(bytes, length, ip->source, ip->destination) == 0xffff);
    if (bytes[0] >= ICMP6_ROUTER_SOLICITATION && bytes[0] <= ICMP6_REDIRECT)
        check_discovery(w, ip, bytes, length);
    if (!icmp6_is_error(bytes[0]) || !bytes[0])  // the raw socket sends zeros
        return;
    CHECK(length >= ICMP6_BYTES + IP6_BYTES && length + IP6_BYTES <= IP6_MTU_MIN);
    CHECK(bytes[0] != ICMP6_TOO_BIG && !ip6_is_multicast(ip->destination));
    const uint8_t *about = bytes + ICMP6_BYTES;
    if (about[IP6_NEXT_HEADER_AT] == IP6_ICMP && length > ICMP6_BYTES + IP6_BYTES)
        CHECK(!icmp6_is_error(about[IP6_BYTES]) && about[IP6_BYTES] != ICMP6_REDIRECT);
}

static void keep_packet(struct world *w, const uint8_t *bytes, uint32_t length)
{
    struct quoted *kept = &w->kept[w->kept_count++ % KEPT];
    kept->length = min_u32(length, KEPT_BYTES);
    memcpy(kept->bytes, bytes, kept->length);
}

static void check_packet(struct world *w, const uint8_t *bytes, uint32_t length)
{
    struct ip6 ip;
    struct ip6_chain chain;
    CHECK(ip6_parse(bytes, length, &ip) == IP6_OK && ip.payload_length + IP6_BYTES == length);
    CHECK(!ip6_is_multicast(ip.source) && !ip6_is_loopback(ip.source) && ip.hop_limit);
    ip6_chain_walk(bytes + IP6_BYTES, ip.payload_length, ip.next_header, &chain);
    CHECK(chain.verdict == IP6_CHAIN_OK || chain.verdict == IP6_CHAIN_FRAGMENT);
    keep_packet(w, bytes, length);
    if (chain.verdict == IP6_CHAIN_FRAGMENT) {
        CHECK(chain.protocol != IP6_ICMP || chain.fragment.offset || length <= IP6_BYTES + 16 ||
              bytes[IP6_BYTES + chain.bytes] < ICMP6_ROUTER_SOLICITATION ||
              bytes[IP6_BYTES + chain.bytes] > ICMP6_REDIRECT);
        return;
    }
    const uint8_t *payload = bytes + IP6_BYTES + chain.bytes;
    const uint32_t rest = ip.payload_length - chain.bytes;
    if (chain.protocol == IP6_ICMP)
        check_message(w, &ip, payload, rest);
    else if (chain.protocol == IP6_TCP)
        learn_segment(w, &ip, payload, rest);
}

static void listen_to_us(struct world *w)
{
    uint32_t events;
    for (uint32_t i = 0; i < fixture_sent_count(&w->f); i++) {
        uint32_t length;
        const uint8_t *frame = fixture_sent(&w->f, i, &length);
        if (get16(frame + 12) == 0x86dd)
            check_packet(w, frame + 14, length - 14);
    }
    fixture_clear(&w->f);
    for (uint32_t n = 0; n < 64 && weir_ready_next(w->f.weir, &events) > 0; n++) {}
}

static void pass_time(struct world *w, uint64_t us)
{
    fixture_poll(&w->f, us);
    listen_to_us(w);
}

// --- what must hold --------------------------------------------------------------------------------------------------

static void check_addresses(struct world *w)
{
    const struct weir_netif *netif = &w->f.netif;
    uint32_t count = 0, automatic = 0;
    for (const struct weir_netif_address *a = weir_netif_address_next(netif, NULL); a;
         a = weir_netif_address_next(netif, a)) {
        CHECK(++count <= 1 + WEIR_CFG_ADDRESSES && a->prefix_length <= 128);
        CHECK(a->preferred_until_us <= a->valid_until_us);
        automatic += a->origin == WEIR_ADDRESS_AUTO;
        if (a->origin == WEIR_ADDRESS_LINK_LOCAL || a->origin == WEIR_ADDRESS_AUTO)
            weir_addr_to_v6(a->addr, w->made);
        uint8_t bytes[16];
        weir_addr_to_v6(a->addr, bytes);
        CHECK(!ip6_is_multicast(bytes) && !ip6_is_loopback(bytes) && !ip6_is_unspecified(bytes));
    }
    CHECK(automatic <= WEIR_CFG_ADDRESSES);
    CHECK(!netif->ip6.mtu || (netif->ip6.mtu >= IP6_MTU_MIN && netif->ip6.mtu <= netif->mtu));
    CHECK(netif->ip6.base_ms <= 3600000u && netif->ip6.reachable_ms <= 5400000u);
}

static void check_neighbours(const struct world *w)
{
    const struct arp *arp = &w->f.weir->arp;
    uint32_t strangers = 0;
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++) {
        const struct neighbour *n = &arp->table[i];
        if (!n->netif)
            continue;
        strangers += n->strange;
        CHECK(n->state > NEIGHBOUR_FREE && n->state <= NEIGHBOUR_STATIC);
        CHECK(n->state == NEIGHBOUR_INCOMPLETE || !(n->mac[0] & 1));
        CHECK(!weir_addr_is_any(n->address));
    }
    CHECK(strangers == arp->strangers && strangers <= WEIR_CFG_NEIGHBOUR_STRANGERS);
    CHECK(arp->queue_bytes <= WEIR_CFG_NEIGHBOUR_QUEUE_BYTES);
}

static void check_routes(const struct world *w)
{
    const struct ip *ip = &w->f.weir->ip;
    CHECK(ip->route_count <= WEIR_CFG_ROUTES && ip->group_count <= GROUPS_MAX);
    for (uint32_t i = 0; i < ip->route_count; i++) {
        CHECK(ip->routes[i].netif && ip->routes[i].prefix_length <= 128);
        CHECK(!i || ip->routes[i - 1].prefix_length >= ip->routes[i].prefix_length);
    }
    CHECK(ip->fragments.bytes <= WEIR_CFG_REASSEMBLY_BYTES && ip->fragments.count <= 64);
}

static void check_all(struct world *w)
{
    CHECK(fixture_count(&w->f, WEIR_COUNT_TCP_INSANE) == 0);
    CHECK(w->f.allocated_bytes <= BUDGET);
    CHECK(w->f.weir->nd.reply_count <= ND_REPLIES);
    check_addresses(w);
    check_neighbours(w);
    check_routes(w);
}

// --- the packets -----------------------------------------------------------------------------------------------------

static void place(const struct world *w, uint8_t choice, uint8_t out[16])
{
    if (choice >= 0xe0)
        memcpy(out, w->made, 16);
    else if (choice >= 0xc0)
        memcpy(out, w->asked, 16);
    else
        memcpy(out, places6[choice & 15], 16);
}

static void draft_solicitation(struct world *w, struct draft *d, uint8_t how)
{
    uint8_t target[16];
    place(w, take8(&w->in), target);
    if (how & 1)
        memcpy(d->source, places6[11], 16);  // a probe
    if (how & 2)
        ip6_solicited_node(target, d->destination);
    d->length = nd_ns_emit(d->payload, target, how & 1 ? NULL : FIXTURE_PEER_MAC, how & 4 ? w->nonce : NULL);
}

static void draft_advertisement(struct world *w, struct draft *d, uint8_t how)
{
    uint8_t target[16];
    place(w, how & 8 ? take8(&w->in) : 0xc0, target);
    memcpy(d->source, target, 16);
    d->length = nd_na_emit(d->payload, target, (uint32_t)how << 5 & 0xe0, how & 4 ? NULL : d->mac);
}

static void draft_router(struct world *w, struct draft *d, uint8_t how)
{
    static const uint16_t lifetimes[8] = {1800, 1800, 0, 1, 9000, 65535, 30, 600};
    static const uint32_t timers[8] = {0, 0, 0, 1, 30000, 3600000, 3600001, UINT32_MAX};
    const uint8_t flags = take8(&w->in), times = take8(&w->in);
    uint8_t head[16] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, how & 1 ? flags : 64, flags};
    put16(head + 6, lifetimes[times & 7]);
    put32(head + 8, timers[times >> 3 & 7]);
    put32(head + 12, timers[(times >> 5 & 6) | (flags & 1)]);
    memcpy(d->source, places6[how & 8 ? 3 : 2], 16);
    if (how & 2)
        memcpy(d->destination, places6[7], 16);
    append(d, head, sizeof head);
}

static void draft_redirect(struct world *w, struct draft *d, uint8_t how)
{
    uint8_t head[40] = {ICMP6_REDIRECT};
    const struct quoted *kept = &w->kept[how % KEPT];
    place(w, take8(&w->in), head + 8);
    place(w, take8(&w->in), head + 24);
    if ((how & 8) && kept->length >= IP6_BYTES)
        memcpy(head + 24, kept->bytes + 24, 16);
    memcpy(d->source, places6[2], 16);
    append(d, head, sizeof head);
}

static void draft_listener(struct world *w, struct draft *d, uint8_t how)
{
    static const uint8_t types[4] = {ICMP6_MLD_QUERY, ICMP6_MLD_QUERY, ICMP6_MLD_REPORT_V1, ICMP6_MLD_DONE};
    uint8_t alert[MLD_ALERT_BYTES], head[28] = {types[how & 3]};
    put16(head + 4, take16(&w->in));
    if (!(how & 4))
        place(w, take8(&w->in), head + 8);
    put16(head + 24, take16(&w->in));
    put16(head + 26, how & 8 ? 1 : 0);
    append(d, head, types[how & 3] == ICMP6_MLD_QUERY && take8(&w->in) & 1 ? 28 : 24);
    if (how & 8)
        append(d, places6[0], 16);
    memcpy(d->source, places6[1], 16);
    memcpy(d->destination, how & 4 ? places6[7] : head + 8, 16);
    d->hop_limit = MLD_HOP_LIMIT;
    mld_alert_emit(alert);
    chain_add(d, IP6_HOP_BY_HOP, alert, sizeof alert);
}

// An error about what we sent, some of it altered; or an echo.
static void draft_error(struct world *w, struct draft *d, uint8_t how)
{
    static const uint8_t types[8] = {ICMP6_TOO_BIG,       ICMP6_TOO_BIG,   ICMP6_UNREACHABLE, ICMP6_UNREACHABLE,
                                     ICMP6_TIME_EXCEEDED, ICMP6_PARAMETER, ICMP6_ECHO,        ICMP6_ECHO_REPLY};
    static const uint32_t words[8] = {1280, 1279, 0, 1300, 1400, 68, 1500, UINT32_MAX};
    const uint8_t choice = take8(&w->in);
    const struct quoted *kept = &w->kept[choice % KEPT];
    uint8_t head[8] = {types[how & 7], choice >> 5};
    put32(head + 4, words[choice >> 2 & 7]);
    append(d, head, sizeof head);
    if (types[how & 7] >= ICMP6_ECHO) {
        append_input(d, &w->in, how & 8 ? 1200 : 8);
        return;
    }
    append(d, kept->bytes, how & 8 ? take16(&w->in) % (kept->length + 1) : kept->length);
    if (kept->length >= IP6_BYTES) {
        memcpy(d->destination, kept->bytes + 8, 16);
        memcpy(d->source, places6[choice & 0x80 ? 2 : 0], 16);
    }
    if ((how & 8) && d->length > 8)
        d->payload[8 + take16(&w->in) % (d->length - 8)] ^= take8(&w->in);
}

static uint32_t near_number(struct world *w, const struct talk *talk, uint8_t choice)
{
    static const uint32_t steps[7] = {0, 1, UINT32_MAX, 1400, 0x80000000, 0x7fffffff, 0x40000000};
    const uint32_t base = choice & 8 ? talk->next : talk->ack;
    return base + ((choice & 7) == 7 ? (uint32_t)(int16_t)take16(&w->in) : steps[choice & 7]);
}

static void draft_segment(struct world *w, struct draft *d, uint8_t how)
{
    static const uint8_t flags[8] = {TCP_ACK, TCP_ACK,           TCP_ACK | TCP_PSH, TCP_ACK | TCP_FIN,
                                     TCP_SYN, TCP_SYN | TCP_ACK, TCP_RST,           TCP_RST | TCP_ACK};
    const uint8_t which = take8(&w->in), numbers = how & 8 ? take8(&w->in) : 0x80;
    const struct talk *talk = &w->talks[which % TALKS];
    const bool fresh = (which & 0x80) || !talk->port;
    uint8_t bytes[TCP_BYTES + TCP_OPTIONS_MAX] = {0};
    struct tcp_segment s = {.flags = fresh && !(how & 7) ? TCP_SYN : flags[how & 7], .window = 65000};
    s.source = fresh ? (uint16_t)(PORT_PEER + (which & 7)) : talk->peer_port;
    s.destination = fresh ? PORT_SERVER : talk->port;
    s.seq = fresh ? 1000u + which : near_number(w, talk, numbers & 15);
    s.ack = near_number(w, talk, numbers >> 4);
    if (!fresh) {
        memcpy(d->source, talk->peer, 16);
        memcpy(d->destination, talk->ours, 16);
    }
    if (s.flags & TCP_SYN) {
        s.options = (struct tcp_options){.seen = TCP_SEEN_MSS | (which & 8 ? 0 : TCP_SEEN_TIMESTAMPS),
                                         .mss = which & 16 ? 1220 : 1440,
                                         .ts_value = w->clock};
    } else if (!fresh && talk->timestamps) {
        s.options.seen = TCP_SEEN_TIMESTAMPS;
        s.options.ts_value = ++w->clock;
        s.options.ts_echo = talk->ts_value;
    }
    const uint32_t options = s.options.seen ? tcp_options_emit(bytes + TCP_BYTES, &s.options) : 0;
    s.header_length = (uint8_t)(TCP_BYTES + options);
    tcp_emit(bytes, &s);
    append(d, bytes, s.header_length);
    d->protocol = d->first = IP6_TCP;
    if ((how & 7) == 1 || (how & 7) == 2)
        append_zeros(d, take8(&w->in) & 63);
}

static void draft_datagram(struct world *w, struct draft *d, uint8_t how)
{
    static const uint16_t lengths[8] = {0, 1, 8, 100, 1000, 1232, 1452, 2500};
    const uint32_t length = lengths[how & 7];
    uint8_t head[UDP_BYTES];
    udp_emit(head, &(struct udp_header){.source = (uint16_t)(PORT_PEER + (how >> 3)),
                                        .destination = how & 8 ? 4000 : 9,
                                        .length = (uint16_t)(UDP_BYTES + length)});
    append(d, head, UDP_BYTES);
    for (uint32_t n = 0; n < length; n += 50)
        append_zeros(d, min_u32(50, length - n));
    d->protocol = d->first = IP6_UDP;
    if (take8(&w->in) & 1)
        memcpy(d->destination, places6[10], 16);
}

// The changes that make a packet wrong; most have none.
static void spoil(struct world *w, struct draft *d)
{
    const uint8_t what = take8(&w->in), how = what >> 4;
    switch (what & 15) {
    case 0: place(w, take8(&w->in), d->source); break;
    case 1: place(w, take8(&w->in), d->destination); break;
    case 2: d->hop_limit = pick8(&w->in, (const uint8_t[]){0, 1, 64, 254, 255}, 5); break;
    case 3: d->bad_sum = true; break;
    case 4: d->length_lies = true; break;
    case 5: d->length = d->length > how ? d->length - how : 0; break;
    case 6:
        if (d->length)
            d->payload[take8(&w->in) % d->length] ^= (uint8_t)(1u << (how & 7));
        break;
    case 7: d->mac[5] ^= how; break;
    case 8: d->traffic_class = how; break;
    case 9: append_input(d, &w->in, how * 8u); break;
    case 10: d->protocol = pick8(&w->in, (const uint8_t[]){0, 6, 17, 43, 44, 58, 59, 60, 4, 41, 255}, 11); break;
    case 11: d->source[15] = take8(&w->in); break;  // one of many
    default: chain_draft(d, &w->in); break;
    }
    if (!d->chain_length)
        d->first = d->protocol;
}

// In pieces: of what size, in which order, which of them twice, missing, or beside where it should be.
static void send_pieces(struct world *w, const struct draft *d)
{
    const uint8_t how = take8(&w->in), odd = take8(&w->in), id = take8(&w->in);
    const uint32_t size = 8u << (how & 7), count = min_u32((d->length + size - 1) / size, 48);
    uint8_t chain[CHAIN_MAX + 8] = {0};
    struct draft piece = *d;
    piece.chain_length = 0;
    piece.first = IP6_FRAGMENT;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = size * (how & 8 ? count - 1 - i : i), length = min_u32(size, d->length - at);
        uint8_t *header = chain;
        const bool is_odd = i == (odd & 15), last = at + length == d->length;
        const uint32_t shifted = is_odd && (odd & 0x10) ? at + 8 : is_odd && (odd & 0x20) ? 65528 : at;
        header[0] = d->protocol;
        put16(header + 2, (shifted & 0xfff8) | (last ^ (is_odd && (odd & 0x40)) ? 0 : 1));
        put32(header + 4, id);
        if (is_odd && (odd & 0x80) && (how & 0x10))
            continue;
        send_draft(&w->f, &piece, chain, 8, d->payload + at, length);
        if (is_odd && (odd & 0x80))
            send_draft(&w->f, &piece, chain, 8, d->payload + at, length);
    }
}

static void packet_operation(struct world *w, uint8_t operation)
{
    static void (*const drafts[8])(struct world *, struct draft *,
                                   uint8_t) = {draft_solicitation, draft_advertisement, draft_router,  draft_redirect,
                                               draft_listener,     draft_error,         draft_segment, draft_datagram};
    const uint8_t how = take8(&w->in), kind = operation & 7;
    struct draft d = {.hop_limit = kind < 4 ? 255 : 64, .protocol = IP6_ICMP, .first = IP6_ICMP};
    memcpy(d.source, places6[how & 0x10 ? 1 : 0], 16);
    memcpy(d.destination, how & 0x20 ? w->made : places6[4], 16);
    memcpy(d.mac, FIXTURE_PEER_MAC, 6);
    drafts[kind](w, &d, how & 15);
    for (uint32_t n = how >> 6; n && kind < 4; n--)
        nd_option_draft(&d, &w->in, w->nonce);
    for (uint32_t n = operation >> 3 & 3; n > 1; n--)
        spoil(w, &d);
    sum_draft(&d);
    if (operation & 0x20)
        send_pieces(w, &d);
    else
        send_draft(&w->f, &d, d.chain, d.chain_length, d.payload, d.length);
}

// --- the applications ------------------------------------------------------------------------------------------------

static struct weir_addr far_address(struct world *w, uint8_t choice)
{
    uint8_t bytes[16];
    place(w, choice, bytes);
    return weir_addr_with_zone(weir_addr_v6(bytes), w->f.netif.index);
}

static void open_socket(struct world *w, uint8_t choice, weir_socket *at)
{
    static const uint16_t ports[4] = {0, PORT_SERVER, 9, 4000};
    struct weir *weir = w->f.weir;
    const weir_socket socket = weir_socket_open(weir, (enum weir_socket_type)(choice & 3), IP6_ICMP);
    if (socket <= 0)
        return;
    if (*at > 0)
        (void)weir_socket_abort(weir, *at);
    *at = socket;
    if (choice & 4)
        (void)weir_socket_bind(weir, socket, &(struct weir_endpoint){weir_addr_any(), ports[choice >> 6]});
    if (choice & 8)
        (void)weir_socket_connect(weir, socket, &(struct weir_endpoint){far_address(w, choice >> 4 & 3), 80});
    if (choice & 16)
        (void)weir_socket_listen(weir, socket, 4);
}

static void transfer(struct world *w, weir_socket socket, uint8_t choice)
{
    static const uint8_t data[4000];
    static uint8_t buffer[4000];
    struct weir *weir = w->f.weir;
    struct weir_message message = {.ttl = 0};
    struct weir_slice slice = {data, choice & 8 ? 3000 : 1u + choice};
    switch (choice & 7) {
    case 0:
    case 1: (void)weir_socket_write(weir, socket, data, choice * 15u); break;
    case 2:
    case 3: (void)weir_socket_read(weir, socket, buffer, choice * 15u); break;
    case 4:
    case 5:
        message.peer = (struct weir_endpoint){far_address(w, take8(&w->in)), PORT_PEER};
        (void)weir_socket_send_message(weir, socket, &message, &slice, 1);
        break;
    default:
        if (weir_socket_peek_message(weir, socket, &message, &slice) >= 0)
            CHECK(weir_socket_discard(weir, socket) >= 0);
    }
}

static void change_interface(struct world *w, uint8_t choice)
{
    struct weir_netif *netif = &w->f.netif;
    switch (choice & 7) {
    case 0: weir_link_change(netif, choice & 8); break;
    case 1: (void)weir_netif_set_up(netif, choice & 8); break;
    case 2: (void)weir_netif_address_add(netif, far_address(w, choice >> 3), 64, WEIR_ADDRESS_PROBE); break;
    case 3: (void)weir_netif_address_remove(netif, far_address(w, choice & 0x80 ? 0xff : 14)); break;
    case 4:
        w->f.block_tx = choice & 8;
        if (!w->f.block_tx)
            weir_tx_ready(netif);
        break;
    case 5: w->mute = choice & 8; break;
    case 6: (void)weir_route_add(w->f.weir, weir_addr_any(), 0, far_address(w, 2), netif, choice >> 3); break;
    default: w->f.fail_at = choice >> 3; break;
    }
}

static void application(struct world *w, uint8_t operation)
{
    struct weir *weir = w->f.weir;
    const uint8_t choice = take8(&w->in);
    weir_socket *at = &w->sockets[1 + (operation >> 3) % (SOCKETS - 1)];  // the first, the listener, stays
    int32_t value;
    switch (operation & 7) {
    case 0: open_socket(w, choice, at); break;
    case 1:
        if (*at > 0)
            (void)weir_socket_abort(weir, *at);
        *at = weir_socket_accept(weir, w->sockets[0]);
        break;
    case 2: transfer(w, *at, choice); break;
    case 3: (void)(choice & 1 ? weir_socket_close(weir, *at) : weir_socket_shutdown(weir, *at, WEIR_SHUT_WRITE)); break;
    case 4:
        (void)weir_socket_membership(weir, *at, far_address(w, choice & 0x80 ? 15 : 10), w->f.netif.index, choice & 1);
        break;
    case 5: change_interface(w, choice); break;
    case 6: (void)weir_socket_set(weir, *at, (enum weir_option)(choice % WEIR_OPTION_COUNT), take16(&w->in)); break;
    default: (void)weir_socket_get(weir, *at, (enum weir_option)(choice % WEIR_OPTION_COUNT), &value); break;
    }
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void operate(struct world *w)
{
    static const uint32_t steps_us[8] = {0, 1000, 100000, 1000000, 5000000, 31000000, MINUTE, 10 * MINUTE};
    const uint8_t operation = take8(&w->in);
    if (operation < 0xc0)
        packet_operation(w, operation);
    else if (operation >= 0xf0)
        pass_time(w, steps_us[operation & 7]);
    else
        application(w, operation);
    if (!(operation & 0x40))
        pass_time(w, 0);
    check_all(w);
}

// Whether something of the kind was sent to `to`: a message of the type, or (0) a SYN-ACK.
static bool told(const struct world *w, const uint8_t to[16], uint8_t type)
{
    for (uint32_t i = 0; i < fixture_sent_count(&w->f); i++) {
        uint32_t length;
        const uint8_t *frame = fixture_sent(&w->f, i, &length), *packet = frame + 14;
        if (length <= 14 + IP6_BYTES + 13 || get16(frame + 12) != 0x86dd || memcmp(packet + 24, to, 16) != 0)
            continue;
        if (type ? packet[6] == IP6_ICMP && packet[IP6_BYTES] == type
                 : packet[6] == IP6_TCP && packet[IP6_BYTES + 13] == (TCP_SYN | TCP_ACK))
            return true;
    }
    return false;
}

// A host that nobody knew asks for our address, and is answered; so is its SYN, once its question has been.
static void serve_the_honest(struct world *w)
{
    struct draft d = {.hop_limit = 255, .protocol = IP6_ICMP, .first = IP6_ICMP};
    static const uint8_t honest[16] = {0xfe, 0x80, [14] = 0x77, 0x77};
    memcpy(d.source, honest, 16);
    memcpy(d.mac, FIXTURE_PEER_MAC, 6);
    ip6_solicited_node(places6[4], d.destination);
    d.length = nd_ns_emit(d.payload, places6[4], FIXTURE_PEER_MAC, NULL);
    sum_draft(&d);
    send_draft(&w->f, &d, NULL, 0, d.payload, d.length);
    fixture_poll(&w->f, 0);
    CHECK(told(w, honest, ICMP6_NEIGHBOUR_ADVERTISEMENT));
    struct tcp_segment s = {.source = 999, .destination = PORT_SERVER, .seq = 1, .flags = TCP_SYN, .window = 1000};
    s.header_length = TCP_BYTES;
    memset(d.payload, 0, TCP_BYTES);
    tcp_emit(d.payload, &s);
    d.length = TCP_BYTES;
    memcpy(d.destination, places6[4], 16);
    d.protocol = d.first = IP6_TCP;
    sum_draft(&d);
    send_draft(&w->f, &d, NULL, 0, d.payload, d.length);
    fixture_poll(&w->f, 0);
    CHECK(told(w, honest, 0));
}

static void make_peace(struct world *w)
{
    weir_socket socket;
    w->f.fail_at = 0;
    w->mute = w->f.block_tx = false;
    (void)weir_netif_set_up(&w->f.netif, true);
    weir_link_change(&w->f.netif, true);
    weir_tx_ready(&w->f.netif);
    for (uint32_t i = 1; i < SOCKETS; i++)
        if (w->sockets[i] > 0)
            (void)weir_socket_abort(w->f.weir, w->sockets[i]);
    while ((socket = weir_socket_accept(w->f.weir, w->sockets[0])) > 0)
        CHECK(weir_socket_abort(w->f.weir, socket) == WEIR_OK);
    pass_time(w, MINUTE);
    check_all(w);
    fixture_clear(&w->f);
    if (!w->f.netif.ip6.off)
        serve_the_honest(w);
}

static void open_world(struct world *w)
{
    static const struct weir_config config = {.tcp_send_buffer_bytes = 8192,
                                              .tcp_receive_buffer_bytes = 8192,
                                              .sockets_max = 64,
                                              .memory_budget_bytes = BUDGET};
    const uint8_t choice = take8(&w->in);
    const struct fixture_options options = {.mode = (enum fixture_mode)(FIXTURE_PLAIN + (choice & 0x1f) % 5),
                                            .config = &config};
    static const uint8_t secret[16] = {1, 2, 3, 4};
    static const unsigned more = WEIR_IP6_TEMPORARY | WEIR_IP6_OPTIMISTIC | WEIR_IP6_PROMPT;
    CHECK(fixture_open_with(&w->f, &options));
    CHECK(weir_netif_set_address(&w->f.netif, weir_addr_v6(places6[4]), 64, WEIR_ADDRESS_AT_ONCE) == WEIR_OK);
    CHECK(weir_netif_ip6(&w->f.netif, WEIR_IP6_LINK_LOCAL | WEIR_IP6_AUTO | (choice & 0x40 ? more : 0), secret) ==
          WEIR_OK);
    open_socket(w, 4 | 16 | 1 << 6, &w->sockets[0]);  // a listener
    open_socket(w, 1 | 4 | 2 << 6, &w->sockets[1]);   // datagrams
    open_socket(w, 2, &w->sockets[2]);                // raw
    (void)weir_socket_membership(w->f.weir, w->sockets[1], far_address(w, 10), w->f.netif.index, 1);
    if (choice < 0x80)
        pass_time(w, 3000000);
    if (choice & 0x20)  // its link address is no matter of discovery
        fixture_know_peer(&w->f, weir_addr_v6(places6[0]));
    open_socket(w, 8, &w->sockets[3]);  // a connection to the peer
    pass_time(w, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    memset(&world, 0, sizeof world);
    world.in = (struct bytes){data, (uint32_t)size};
    open_world(&world);
    for (uint32_t n = 0; n < OPERATIONS && world.in.left; n++)
        operate(&world);
    make_peace(&world);
    fixture_close(&world.f);
    return 0;
}
