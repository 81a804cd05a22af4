// SPDX-License-Identifier: BSD-2-Clause
// A whole instance under a script of frames, time and socket calls. The input is a list of operations; most frames are
// repaired before they go in (addresses, lengths, checksums, and TCP's numbers relative to what Weir last sent), so
// that the fuzzer spends its time behind the first checks. Which driver mode and which link is the first byte's choice.
// What is checked: the sanitizers, the fixture's contract of drivers and allocator, that polling comes to rest, that
// all memory goes back, and that no call returns nonsense.
#include "fixture.h"

#include "fuzz.h"
#include "weir/cc.h"
#include "weir/socket.h"
#include "weir/stats.h"
#include "wire/arp.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"
#include "wire/udp.h"

#define FLOWS 8u
#define SOCKETS 12u
#define OPERATIONS 400u
#define PORT_ECHO 7u
#define PORT_PEER 5000u

static const struct weir_addr ours = WEIR_ADDR_V4(0x0a000001), peer = WEIR_ADDR_V4(0x0a000002);

// What Weir last said in a conversation between local `port` and the peer's `peer_port`.
struct talk {
    uint16_t port, peer_port;
    uint32_t next, ack;  // Weir's next sequence number, and what it expects
    uint32_t ts_value;   // its newest timestamp
    bool timestamps;
};

struct world {
    struct fixture f;
    struct bytes in;
    struct talk flows[FLOWS];
    weir_socket sockets[SOCKETS];
    uint32_t clock;  // of the peer's timestamps
    uint8_t tos;     // of the peer's packets
    bool ethernet;
};

// --- what Weir sends is read, so that answers can fit ----------------------------------------------------------------

static struct talk *flow_of(struct world *w, uint16_t port, uint16_t peer_port)
{
    for (uint32_t i = 0; i < FLOWS; i++)
        if (w->flows[i].port == port && w->flows[i].peer_port == peer_port)
            return &w->flows[i];
    return NULL;
}

static void learn(struct world *w, const uint8_t *packet, uint32_t length)
{
    struct ip4 ip;
    struct tcp_segment segment;
    if (ip4_parse(packet, length, false, &ip) != IP4_OK || ip.protocol != IP_TCP || ip.fragment_offset)
        return;
    if (!tcp_parse(packet + ip.header_length, ip.total_length - ip.header_length, &segment))
        return;
    struct talk *flow = flow_of(w, segment.source, segment.destination);
    if (!flow) {
        memmove(w->flows + 1, w->flows, sizeof w->flows - sizeof *w->flows);
        flow = w->flows;
        *flow = (struct talk){.port = segment.source, .peer_port = segment.destination};
    }
    flow->next = segment.seq + ip.total_length - ip.header_length - segment.header_length +
                 !!(segment.flags & TCP_SYN) + !!(segment.flags & TCP_FIN);
    flow->ack = segment.ack;
    if (segment.options.seen & TCP_SEEN_TIMESTAMPS) {
        flow->timestamps = true;
        flow->ts_value = segment.options.ts_value;
    }
}

static void listen_to_weir(struct world *w)
{
    for (uint32_t i = 0; i < fixture_sent_count(&w->f); i++) {
        uint32_t length;
        const uint8_t *frame = fixture_sent(&w->f, i, &length);
        const uint32_t link = w->ethernet ? 14 : 0;
        if (length > link && (!w->ethernet || get16(frame + 12) == 0x0800))
            learn(w, frame + link, length - link);
    }
    fixture_clear(&w->f);
}

// --- frames ----------------------------------------------------------------------------------------------------------

static void put_checksum(uint8_t protocol, struct weir_addr source, uint8_t *transport, uint32_t length, uint32_t at)
{
    put16(transport + at, 0);
    uint32_t total = 0;
    if (protocol != IP_ICMP)
        total = (weir_addr_to_v4(source) >> 16) + (weir_addr_to_v4(source) & 0xffff) + (weir_addr_to_v4(ours) >> 16) +
                (weir_addr_to_v4(ours) & 0xffff) + protocol + length;
    for (uint32_t i = 0; i < length; i++)
        total += i & 1 ? transport[i] : (uint32_t)transport[i] << 8;
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    put16(transport + at, ~total & 0xffff);
}

// Sends the transport packet; `how` makes some of it odd again: bit 1 another source, bit 2 more fragments, bit 3
// broadcast.
static void send_ip4(struct world *w, uint8_t how, uint8_t protocol, const uint8_t *transport, uint32_t length)
{
    uint8_t packet[IP4_BYTES + 1600];
    struct ip4 header = {.source = how & 2 ? weir_addr_to_v4(peer) + (how >> 4) : weir_addr_to_v4(peer),
                         .destination = how & 8 ? 0xffffffff : weir_addr_to_v4(ours),
                         .total_length = (uint16_t)(IP4_BYTES + length),
                         .id = how,
                         .tos = w->tos,
                         .ttl = 64,
                         .protocol = protocol,
                         .flags = how & 4 ? IP4_MORE_FRAGMENTS : 0};
    ip4_emit(packet, &header);
    memcpy(packet + IP4_BYTES, transport, length);
    if (!w->ethernet) {
        fixture_input(&w->f, packet, IP4_BYTES + length);
        return;
    }
    uint8_t frame[14 + sizeof packet];
    memcpy(frame, FIXTURE_MAC, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0800);
    memcpy(frame + 14, packet, IP4_BYTES + length);
    fixture_input(&w->f, frame, 14 + IP4_BYTES + length);
}

static void frame_raw(struct world *w)
{
    uint32_t length = take16(&w->in) & 0x7ff;
    const uint8_t *bytes = take(&w->in, &length);
    fixture_input(&w->f, bytes, length);
}

// An IPv4 packet whose header is the input's, but for what would stop it at once.
static void frame_ip4(struct world *w)
{
    uint8_t packet[14 + 1500];
    uint32_t length = take16(&w->in) & 0x3ff;
    const uint8_t *bytes = take(&w->in, &length);
    if (length < IP4_BYTES)
        return;
    uint8_t *ip = packet + 14;
    memcpy(ip, bytes, length);
    uint32_t header = (ip[0] & 15u) * 4;
    header = header < IP4_BYTES || header > length ? IP4_BYTES : header;
    ip[0] = (uint8_t)(0x40 | header / 4);
    put16(ip + 2, length);
    put32(ip + 12, weir_addr_to_v4(peer));
    put32(ip + 16, weir_addr_to_v4(ours));
    put16(ip + 10, 0);
    uint32_t total = 0;
    for (uint32_t i = 0; i < header; i += 2)
        total += get16(ip + i);
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    put16(ip + 10, ~total & 0xffff);
    memcpy(packet, FIXTURE_MAC, 6);
    memcpy(packet + 6, FIXTURE_PEER_MAC, 6);
    put16(packet + 12, 0x0800);
    fixture_input(&w->f, w->ethernet ? packet : ip, length + (w->ethernet ? 14 : 0));
}

// Options that fit the conversation: timestamps where they were agreed (late by up to 3 ms, or from the future), and
// `blocks` SACK blocks relative to what Weir has sent. Returns their length.
static uint32_t fitting_options(struct world *w, const struct talk *flow, uint8_t choice, uint8_t *bytes)
{
    struct tcp_options options = {.sack_count = choice & 3};
    if (flow->timestamps) {
        options.seen = TCP_SEEN_TIMESTAMPS;
        options.ts_value = ++w->clock - (choice & 4 ? choice >> 3 & 3 : 0) + (choice & 0x20 ? 0x40000000 : 0);
        options.ts_echo = flow->ts_value - (choice & 0x40 ? 5 : 0);
    }
    for (uint32_t i = 0; i < options.sack_count; i++) {
        options.sack[i].left = flow->next - take16(&w->in);
        options.sack[i].right = options.sack[i].left + take16(&w->in) % 3000;
    }
    return options.seen || options.sack_count ? tcp_options_emit(bytes, &options) : 0;
}

// Option lengths from 0x80 on are no lengths, but the choice of fitting ones.
static void frame_tcp(struct world *w)
{
    uint8_t bytes[TCP_BYTES + TCP_OPTIONS_MAX + 1024] = {0};
    uint8_t how = take8(&w->in), which = take8(&w->in), flags = take8(&w->in), choice = take8(&w->in),
            options = choice % (TCP_OPTIONS_MAX / 4 + 1);
    const struct talk *flow = &w->flows[which % FLOWS];
    bool known = (which & 0x80) && flow->port, fitting = known && (choice & 0x80);
    if (fitting)
        options = (uint8_t)(fitting_options(w, flow, choice, bytes + TCP_BYTES) / 4);
    struct tcp_segment segment = {.source = known ? flow->peer_port : (uint16_t)(PORT_PEER + (which & 7)),
                                  .destination = known ? flow->port : PORT_ECHO,
                                  .seq = (known ? flow->ack : 1000) + (uint32_t)(int32_t)(int16_t)take16(&w->in),
                                  .ack = (known ? flow->next : 0) + (uint32_t)(int32_t)(int16_t)take16(&w->in),
                                  .window = take16(&w->in),
                                  .urgent = flags & TCP_URG ? take16(&w->in) : 0,
                                  .flags = flags,
                                  .header_length = (uint8_t)(TCP_BYTES + 4 * options)};
    tcp_emit(bytes, &segment);
    uint32_t option_length = fitting ? 0 : 4u * options;
    const uint8_t *option_bytes = take(&w->in, &option_length);
    memcpy(bytes + TCP_BYTES, option_bytes, option_length);
    uint32_t payload_length = take8(&w->in) * 4u;
    const uint8_t *payload = take(&w->in, &payload_length);
    memcpy(bytes + segment.header_length, payload, payload_length);
    uint32_t length = segment.header_length + payload_length;
    put_checksum(IP_TCP, weir_addr_v4(how & 2 ? weir_addr_to_v4(peer) + (how >> 4) : weir_addr_to_v4(peer)), bytes,
                 length, 16);
    w->tos = how >> 2 & 3;  // as a router may have marked it
    send_ip4(w, how & 0xf2, IP_TCP, bytes, length);
    w->tos = 0;
}

static void frame_udp(struct world *w)
{
    uint8_t bytes[UDP_BYTES + 1024];
    uint8_t how = take8(&w->in), ports = take8(&w->in);
    uint32_t length = take16(&w->in) & 0x3ff;
    const uint8_t *payload = take(&w->in, &length);
    udp_emit(bytes, &(struct udp_header){.source = (uint16_t)(PORT_PEER + (ports & 3)),
                                         .destination = (uint16_t)(ports >> 4 ? 9 : 4000),
                                         .length = (uint16_t)(UDP_BYTES + length)});
    memcpy(bytes + UDP_BYTES, payload, length);
    if (how & 1)
        put_checksum(IP_UDP, weir_addr_v4(how & 2 ? weir_addr_to_v4(peer) + (how >> 4) : weir_addr_to_v4(peer)), bytes,
                     UDP_BYTES + length, 6);
    send_ip4(w, how, IP_UDP, bytes, UDP_BYTES + length);
}

// ICMP, also errors that quote a segment of a conversation of Weir's.
static void frame_icmp(struct world *w)
{
    uint8_t bytes[ICMP4_BYTES + 600] = {0};
    uint8_t how = take8(&w->in);
    uint32_t length = ICMP4_BYTES + (take8(&w->in) & 0x7fu);
    uint32_t given = length;
    const uint8_t *data = take(&w->in, &given);
    memcpy(bytes, data, given);
    const struct talk *flow = &w->flows[how % FLOWS];
    if ((how & 0x80) && flow->port && length >= ICMP4_BYTES + IP4_BYTES + 8) {
        struct ip4 quoted = {.source = weir_addr_to_v4(ours),
                             .destination = weir_addr_to_v4(peer),
                             .total_length = 1500,
                             .ttl = 60,
                             .protocol = IP_TCP,
                             .flags = IP4_DONT_FRAGMENT};
        ip4_emit(bytes + ICMP4_BYTES, &quoted);
        put16(bytes + ICMP4_BYTES + IP4_BYTES, flow->port);
        put16(bytes + ICMP4_BYTES + IP4_BYTES + 2, flow->peer_port);
        put32(bytes + ICMP4_BYTES + IP4_BYTES + 4, flow->next - (how & 0x40 ? 1 : 0));
    }
    put_checksum(IP_ICMP, peer, bytes, length, 2);
    send_ip4(w, how & 0x0a, IP_ICMP, bytes, length);
}

static void frame_igmp(struct world *w)
{
    uint8_t bytes[16] = {0};
    uint32_t length = sizeof bytes;
    const uint8_t *data = take(&w->in, &length);
    memcpy(bytes, data, length);
    length = length < 8 ? 8 : length;
    put_checksum(IP_ICMP, peer, bytes, length, 2);
    uint8_t frame[14 + IP4_BYTES + sizeof bytes] = {0x01, 0x00, 0x5e, 0, 0, 1};
    const struct ip4 header = {.source = weir_addr_to_v4(peer),
                               .destination = 0xe0000001u,
                               .total_length = (uint16_t)(IP4_BYTES + length),
                               .ttl = 1,
                               .protocol = IP_IGMP};
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0800);
    ip4_emit(frame + 14, &header);
    memcpy(frame + 14 + IP4_BYTES, bytes, length);
    fixture_input(&w->f, w->ethernet ? frame : frame + 14, IP4_BYTES + length + (w->ethernet ? 14 : 0));
}

static void frame_arp(struct world *w)
{
    uint8_t how = take8(&w->in), last = take8(&w->in);
    struct arp_packet arp = {.operation = how & 1 ? ARP_REPLY : ARP_REQUEST,
                             .sender = how & 2 ? weir_addr_to_v4(ours) : weir_addr_to_v4(peer) + (how & 4 ? last : 0),
                             .target = how & 8 ? weir_addr_to_v4(peer) : weir_addr_to_v4(ours)};
    memcpy(arp.sender_mac, how & 16 ? FIXTURE_MAC : FIXTURE_PEER_MAC, 6);
    arp.sender_mac[5] ^= (uint8_t)(how >> 6);
    uint8_t frame[60] = {0};
    memset(frame, 0xff, 6);
    memcpy(frame + 6, arp.sender_mac, 6);
    put16(frame + 12, 0x0806);
    arp_emit(frame + 14, &arp);
    fixture_input(&w->f, frame, how & 32 ? 14 + last % 29 : sizeof frame);
}

// --- time and sockets ------------------------------------------------------------------------------------------------

static void pass_time(struct world *w)
{
    static const uint32_t steps[] = {0, 1000, 50000, 250000, 1500000, 10000000, 70000000, 1000};
    uint8_t choice = take8(&w->in);
    fixture_poll(&w->f, (uint64_t)steps[choice & 7] * (1 + (choice >> 3) % 4));
    listen_to_weir(w);
    uint32_t events;
    for (int n = 0; n < 64 && weir_ready_next(w->f.weir, &events) > 0; n++)
        ;
}

static void keep(struct world *w, weir_socket socket)
{
    if (socket <= 0)
        return;
    for (uint32_t i = 0; i < SOCKETS; i++)
        if (w->sockets[i] <= 0) {
            w->sockets[i] = socket;
            return;
        }
    CHECK(weir_socket_abort(w->f.weir, socket) == WEIR_OK);
}

static void open_one(struct world *w, uint8_t choice)
{
    struct weir *weir = w->f.weir;
    const struct weir_endpoint local = {weir_addr_any(), choice & 4 ? 9 : PORT_ECHO},
                               remote = {peer, (uint16_t)(PORT_PEER + (choice >> 6))};
    weir_socket socket = weir_socket_open(weir, (enum weir_socket_type)(choice & 3), IP_ICMP);
    if (socket <= 0)
        return;
    if (choice & 8)
        (void)weir_socket_bind(weir, socket, &local);
    if (choice & 16)
        (void)weir_socket_listen(weir, socket, 2);
    if (choice & 32)
        (void)weir_socket_connect(weir, socket, &remote);
    keep(w, socket);
}

static void move_data(struct world *w, weir_socket socket, uint8_t choice)
{
    struct weir *weir = w->f.weir;
    static const uint8_t pattern[3000];
    uint8_t back[3000];
    struct weir_slice slices[4];
    struct weir_span spans[2];
    int n;
    switch (choice & 7) {
    case 0:
        n = weir_socket_write(weir, socket, pattern, choice * 11u);
        CHECK(n <= choice * 11);
        break;
    case 1:
        n = weir_socket_read(weir, socket, back, choice * 11u);
        CHECK(n <= choice * 11);
        break;
    case 2:
        n = weir_socket_write_urgent(weir, socket, pattern, choice);
        CHECK(n <= choice);
        break;
    case 3: (void)weir_socket_read_urgent(weir, socket, back, choice & 8); break;
    case 4:
        n = weir_socket_peek(weir, socket, choice & 8 ? 100 : 0, slices, 4);
        if (n > 0 && !(choice & 8))
            CHECK(weir_socket_consume(weir, socket, (uint32_t)n - (choice & 16 ? 1 : 0)) >= 0);
        break;
    case 5:
        n = weir_socket_reserve(weir, socket, choice * 16u, spans, 2);
        CHECK(n != 0 && n <= choice * 16);
        if (n > 0) {
            memset(spans[0].data, 7, spans[0].length);
            CHECK(weir_socket_commit(weir, socket, spans[0].length) >= 0);
        }
        break;
    case 6: {
        const struct weir_slice slice = {pattern, 1u + choice * 10u};
        const struct weir_message message = {.peer = {peer, PORT_PEER}};
        (void)weir_socket_send_message(weir, socket, &message, &slice, 1);
        break;
    }
    default: {
        struct weir_message message;
        if (weir_socket_peek_message(weir, socket, &message, slices) >= 0)
            CHECK(weir_socket_discard(weir, socket) >= 0);
    }
    }
}

// All that can be asked about the instance and a socket.
static void inspect(struct world *w, weir_socket socket)
{
    struct weir *weir = w->f.weir;
    struct weir_tcp_info info;
    struct weir_socket_info about;
    struct weir_endpoint end;
    (void)weir_socket_tcp_info(weir, socket, &info);
    (void)weir_socket_local(weir, socket, &end);
    (void)weir_socket_peer(weir, socket, &end);
    uint64_t cursor = 0, seen = 0;
    while ((cursor = weir_socket_next(weir, cursor, &about)) != 0)
        CHECK(++seen < 100000);
}

// What is rarer than a call on a socket.
static void use_instance(struct world *w, weir_socket socket, uint8_t choice)
{
    struct weir *weir = w->f.weir;
    const struct weir_endpoint self = {choice & 0x80 ? weir_ip4(127, 0, 0, 1) : ours, choice & 8 ? 9 : PORT_ECHO};
    switch (choice & 7) {
    case 0:
    case 1: inspect(w, socket); break;
    case 2: (void)weir_socket_connect(weir, socket, &self); break;  // to ourselves
    case 3:
        (void)weir_socket_membership(weir, socket, weir_addr_v4(0xe0000001u + (choice >> 4)), 0, !(choice & 8));
        break;
    case 4: (void)weir_netif_set_up(&w->f.netif, choice & 8); break;
    case 5:
        (void)weir_netif_set_address(&w->f.netif, choice & 8 ? ours : weir_addr_any(), 24,
                                     choice & 0x10 ? WEIR_ADDRESS_PROBE : WEIR_ADDRESS_AT_ONCE);
        break;
    case 6: {
        uint32_t algorithms = 0;
        while (weir_cc_list[algorithms])
            algorithms++;
        (void)weir_socket_set_congestion(weir, socket, weir_cc_list[(choice >> 3) % algorithms]->name);
        break;
    }
    // a driver gives back what it holds before it goes
    default:
        while (w->f.held)
            fixture_poll(&w->f, 1000);
        weir_netif_remove(&w->f.netif);
        fixture_poll(&w->f, choice & 8 ? 2000000 : 0);
        CHECK(weir_netif_add(weir, &w->f.netif) == WEIR_OK);
        (void)weir_netif_set_address(&w->f.netif, ours, 24, WEIR_ADDRESS_AT_ONCE);
        fixture_know_peer(&w->f, peer);
    }
}

static void use_socket(struct world *w)
{
    struct weir *weir = w->f.weir;
    uint8_t what = take8(&w->in), choice = take8(&w->in);
    uint32_t index = (what >> 4) % SOCKETS;
    weir_socket socket = w->sockets[index];
    switch (what & 15) {
    case 0: open_one(w, choice); break;
    case 1: keep(w, weir_socket_accept(weir, socket)); break;
    case 2:
        (void)weir_socket_close(weir, socket);
        w->sockets[index] = choice & 1 ? 0 : socket;
        break;  // sometimes used after it
    case 3:
        (void)weir_socket_abort(weir, socket);
        w->sockets[index] = 0;
        break;
    case 4: (void)weir_socket_shutdown(weir, socket, (enum weir_shutdown)(choice & 3)); break;
    case 5: (void)weir_socket_set(weir, socket, (enum weir_option)(choice & 31), take16(&w->in)); break;
    case 6: {
        int32_t value;
        (void)weir_socket_get(weir, socket, (enum weir_option)(choice & 31), &value);
        break;
    }
    case 7: (void)weir_socket_ready(weir, socket); break;
    case 8: w->f.fail_at = choice & 15; break;
    case 9: weir_link_change(&w->f.netif, choice & 1); break;
    case 10:
        w->f.block_tx = choice & 1;
        if (!w->f.block_tx)
            weir_tx_ready(&w->f.netif);
        break;
    case 12: use_instance(w, socket, choice); break;
    default: move_data(w, socket, choice); break;
    }
}

static void run(struct world *w)
{
    static void (*const frames[])(struct world *) = {frame_raw, frame_ip4,  frame_tcp,  frame_tcp, frame_tcp,
                                                     frame_udp, frame_icmp, frame_igmp, frame_arp};
    for (uint32_t n = 0; n < OPERATIONS && w->in.left; n++) {
        uint8_t operation = take8(&w->in);
        if (operation < 0x90) {
            frames[operation >> 4](w);
            if (operation & 8) {
                fixture_poll(&w->f, 0);
                listen_to_weir(w);
            }
        } else if (operation < 0xb0)
            pass_time(w);
        else
            use_socket(w);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct weir_config config = {.tcp_send_buffer_bytes = 8192,
                                              .tcp_receive_buffer_bytes = 8192,
                                              .sockets_max = 64,
                                              .tcp_ecn = WEIR_ECN_ACCURATE};
    struct world w = {.in = {data, (uint32_t)size}};
    uint8_t choice = take8(&w.in);
    w.ethernet = !(choice & 0x80);
    const struct fixture_options options = {.link = w.ethernet ? &weir_link_ethernet : &weir_link_rawip,
                                            .address = ours,
                                            .prefix_length = 24,
                                            .mode = (enum fixture_mode)(FIXTURE_PLAIN + choice % 5),
                                            .capabilities =
                                                choice & 0x40 ? WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 : 0,
                                            .config = &config};
    CHECK(fixture_open_with(&w.f, &options));
    fixture_know_peer(&w.f, peer);
    open_one(&w, 0x00 | 8 | 16);  // a listener on the echo port, and a datagram socket
    open_one(&w, 0x01 | 4 | 8);
    run(&w);
    w.f.block_tx = false;
    w.f.fail_at = 0;
    weir_link_change(&w.f.netif, true);
    weir_tx_ready(&w.f.netif);
    fixture_close(&w.f);
    return 0;
}
