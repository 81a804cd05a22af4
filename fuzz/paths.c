// SPDX-License-Identifier: BSD-2-Clause
// Prediction and fast paths change what things cost, and nothing else. The same script of frames, time and socket calls
// is played to two builds of the stack: the whole one, and one without WEIR_CFG_TCP_PREDICT and WEIR_CFG_FAST_PATH,
// which takes the steps of RFC 9293 for each segment. What they send, when, and what they answer must be the same byte
// for byte. Peers are by themselves well behaved (handshakes, data, acknowledgements and closes that fit what Weir last
// said, from several hosts); the input decides what happens next, and what is spoilt on the way. Clocks are fine here:
// within one tick of a coarse one rack.c moves time a little to keep the order, which what goes without a log need not.
//
// This file is compiled for either build: play_steps comes from the one of the steps alone, with all of its names
// hidden but that (tools/fuzz.mk).
#include "fixture.h"

#include "base/checksum.h"
#include "fuzz.h"
#include "spoil.h"
#include "trail.h"
#include "weir/handler.h"
#include "weir/socket.h"
#include "weir/stats.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define TALKS 12u
#define SOCKETS 10u
#define OPERATIONS 300u
#define PORT_SERVER 7u
#define PORT_PEER 5000u

void play_fast(const uint8_t *data, uint32_t size, struct trail *trail);
void play_steps(const uint8_t *data, uint32_t size, struct trail *trail);
#if WEIR_CFG_TCP_PREDICT
#define play play_fast
#else
#define play play_steps
#endif

// --- the world -------------------------------------------------------------------------------------------------------

static const struct weir_addr ours = WEIR_ADDR_V4(0x0a000001);
// The second differs from the first by a multiple of eight, the third is behind the same link address.
static const uint32_t hosts[4] = {0x0a000002, 0x0a00000a, 0x0a000003, 0x0a000004};

// A conversation, as its peer sees it.
struct talk {
    uint32_t host;
    uint16_t port, peer_port;
    uint32_t mine;       // the next number of its own
    uint32_t next, ack;  // Weir's, as last said, and what it expects
    uint32_t ts_value;   // its newest timestamp
    bool timestamps;
};

// What is out of the ordinary about a world.
enum kind {
    KIND_CC = 1,     // up to 5: another congestion control
    KIND_SMALL = 6,  // queues of little more than a segment
    KIND_LARGE,      // queues of many segments
    KIND_VLAN,
    KIND_HOLD,     // the driver keeps what it is lent for a while
    KIND_PLACES,   // the driver has room for a few frames
    KIND_LEARNED,  // neighbours are found by ARP
    KIND_PRESSED,  // the listener's half-open connections are used up: SYN cookies
    KIND_WRAP,     // the peers' timestamps wrap within seconds
    KIND_MARKED,   // accurate ECN is asked for and agreed to
};

struct world {
    struct fixture f;
    enum kind kind;
    uint32_t link_bytes;
    struct bytes in;
    struct trail *trail;
    struct talk talks[TALKS];
    uint32_t talk_count;
    weir_socket sockets[SOCKETS], raw;
    struct weir_tap tap;
    bool ethernet, tapped;
    uint32_t shown[2];  // frames, by the tap: in and out
    uint32_t clock;     // what all peers' timestamps are ahead of the time, ms
    uint32_t written;   // bytes, to all sockets
};

static void note_numbers(struct world *w, uint32_t kind, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t numbers[4] = {a, b, c, d};
    trail_note(w->trail, w->f.now_us, kind, numbers, sizeof numbers);
}
#define CALL(number, result) note_numbers(w, WHAT_CALL, number, result, 0, 0)

static struct talk *talk_of(struct world *w, uint32_t host, uint16_t port, uint16_t peer_port)
{
    for (uint32_t i = 0; i < TALKS; i++)
        if (w->talks[i].host == host && w->talks[i].port == port && w->talks[i].peer_port == peer_port)
            return &w->talks[i];
    struct talk *talk = &w->talks[w->talk_count++ % TALKS];
    *talk = (struct talk){.host = host, .port = port, .peer_port = peer_port};
    return talk;
}

static void learn(struct world *w, const uint8_t *packet, uint32_t length)
{
    struct ip4 ip;
    struct tcp_segment segment;
    if (ip4_parse(packet, length, false, &ip) != IP4_OK || ip.protocol != IP_TCP || ip.fragment_offset ||
        !tcp_parse(packet + ip.header_length, ip.total_length - ip.header_length, &segment) || segment.flags & TCP_RST)
        return;
    struct talk *talk = talk_of(w, ip.destination, segment.source, segment.destination);
    talk->next = segment.seq + segment.length + !!(segment.flags & TCP_SYN) + !!(segment.flags & TCP_FIN);
    if (segment.flags & TCP_ACK)
        talk->ack = segment.ack;
    if (segment.options.seen & TCP_SEEN_TIMESTAMPS)
        talk->ts_value = segment.options.ts_value;
    if (segment.flags & TCP_SYN)
        talk->timestamps = segment.options.seen & TCP_SEEN_TIMESTAMPS;
}

// A checksum that is left to the device, as it does for whole segments: which are, is nobody's business but the
// device's.
static void complete(const struct fixture_frame *frame)
{
    if (!frame->checksum_start || frame->segment_size)
        return;
    uint32_t total = 0;
    for (uint32_t i = frame->checksum_start; i < frame->length; i++)
        total += (i - frame->checksum_start) & 1 ? frame->data[i] : (uint32_t)frame->data[i] << 8;
    while (total >> 16)
        total = (total & 0xffff) + (total >> 16);
    put16(frame->data + frame->checksum_start + frame->checksum_offset, ~total & 0xffff);
}

// Which of several connections has its turn first at one moment is nobody's business either: frames of one moment are
// put in an order.
static bool is_before(const struct world *w, const struct fixture_frame *a, const struct fixture_frame *b)
{
    const uint32_t at = w->link_bytes + 12, bytes = 12;  // addresses and ports
    if (a->sent_us != b->sent_us || a->length < at + bytes || b->length < at + bytes)
        return a->sent_us < b->sent_us;
    return memcmp(a->data + at, b->data + at, bytes) < 0;
}

static void put_in_order(struct world *w)
{
    struct fixture_frame *frames = w->f.frames;
    for (uint32_t i = 1; i < w->f.frame_count; i++)
        for (uint32_t at = i; at && is_before(w, &frames[at], &frames[at - 1]); at--) {
            const struct fixture_frame other = frames[at];
            frames[at] = frames[at - 1];
            frames[at - 1] = other;
        }
}

static bool is_arp(const struct world *w, const struct fixture_frame *frame)
{
    return w->kind == KIND_LEARNED && get16(frame->data + w->link_bytes - 2) == ETHERTYPE_ARP;
}

// The hosts answer when they are asked for, and at once. Such frames are not compared: a neighbour is looked after less
// often where frames go without it.
static bool answer_arp(struct world *w, const struct fixture_frame *frame)
{
    struct arp_packet arp;
    uint8_t bytes[ETHERNET_BYTES + ARP_BYTES];
    if (!is_arp(w, frame) || !arp_parse(frame->data + w->link_bytes, frame->length - w->link_bytes, &arp) ||
        arp.operation != ARP_REQUEST)
        return false;
    for (uint32_t i = 0; i < 4; i++)
        if (arp.target == hosts[i]) {
            struct arp_packet reply = {.operation = ARP_REPLY, .sender = hosts[i], .target = arp.sender};
            memcpy(reply.sender_mac, FIXTURE_PEER_MAC, 6);
            memcpy(reply.target_mac, FIXTURE_MAC, 6);
            arp_emit(bytes + ETHERNET_BYTES, &reply);
            ethernet_emit(
                bytes + ETHERNET_BYTES,
                &(struct ethernet){.destination = FIXTURE_MAC, .source = FIXTURE_PEER_MAC, .type = ETHERTYPE_ARP});
            fixture_input(&w->f, bytes, sizeof bytes);
            return true;
        }
    return false;
}

// Time passes from deadline to deadline, so that the answers come when they would.
static void pass_time_answering(struct world *w, uint64_t us)
{
    const uint64_t target = w->f.now_us + us;
    uint64_t next = fixture_poll(&w->f, 0);
    for (uint32_t looked = 0;;) {
        bool answered = false;
        for (; looked < w->f.frame_count; looked++)
            answered |= answer_arp(w, &w->f.frames[looked]);
        if (!answered && next >= target)
            break;
        next = fixture_poll(&w->f, answered ? 0 : next - w->f.now_us);
    }
    fixture_poll(&w->f, target - w->f.now_us);
}

static void listen_to_weir(struct world *w)
{
    const uint32_t link = w->link_bytes;
    put_in_order(w);
    for (uint32_t i = 0; i < fixture_sent_count(&w->f); i++) {
        const struct fixture_frame *frame = fixture_sent_frame(&w->f, i);
        if (is_arp(w, frame))
            continue;
        complete(frame);
        trail_note(w->trail, frame->sent_us, WHAT_FRAME, frame->data, frame->length);
        if (frame->length > link && (!w->ethernet || get16(frame->data + link - 2) == ETHERTYPE_IP4))
            learn(w, frame->data + link, frame->length - link);
    }
    fixture_clear(&w->f);
}

static void pass_time(struct world *w, uint64_t us)
{
    if (w->kind == KIND_LEARNED)
        pass_time_answering(w, us);
    else
        fixture_poll(&w->f, us);
    listen_to_weir(w);
    uint32_t events, of[SOCKETS + 16] = {0};  // by the handle's last bits: the order is free here, too
    weir_socket socket;
    while ((socket = weir_ready_next(w->f.weir, &events)) > 0)
        of[(uint32_t)socket % (SOCKETS + 16)] += events;
    for (uint32_t i = 0; i < SOCKETS + 16; i++)
        if (of[i])
            note_numbers(w, WHAT_EVENT, i, of[i], 0, 0);
}

// --- frames ----------------------------------------------------------------------------------------------------------

static void deliver(struct world *w, struct spoilt spoilt, const struct talk *talk, struct tcp_segment *segment,
                    uint32_t payload)
{
    uint8_t frame[1700] = {0}, *ip_bytes = frame + w->link_bytes, *bytes = ip_bytes + IP4_BYTES;
    spoil_segment(spoilt, segment);
    // No simultaneous open: without fast paths its window is that of the segment size from before the peer's was known.
    if (talk->port != PORT_SERVER && segment->flags & TCP_SYN)
        segment->flags |= TCP_ACK;
    segment->source = talk->peer_port;
    segment->destination = talk->port;
    const uint32_t options = segment->options.seen || segment->options.sack_count
                                 ? tcp_options_emit(bytes + TCP_BYTES, &segment->options)
                                 : 0;
    segment->header_length = (uint8_t)(TCP_BYTES + options);
    tcp_emit(bytes, segment);
    for (uint32_t i = 0; i < payload; i++)
        bytes[segment->header_length + i] = (uint8_t)(segment->seq + i);
    const uint32_t length = segment->header_length + payload;
    struct ip4 ip = {.source = talk->host,
                     .destination = weir_addr_to_v4(ours),
                     .total_length = (uint16_t)(IP4_BYTES + length),
                     .ttl = 64,
                     .protocol = IP_TCP,
                     .flags = IP4_DONT_FRAGMENT};
    spoil_header(spoilt, &ip, hosts);
    ip4_emit(ip_bytes, &ip);
    put16(bytes + 16, 0);
    checksum_put(bytes + 16, checksum_add(ip4_pseudo_sum(ip.source, ip.destination, IP_TCP, length),
                                          checksum_sum_portable(bytes, length)));
    if (w->ethernet)
        ethernet_emit(ip_bytes, &(struct ethernet){.destination = FIXTURE_MAC,
                                                   .source = FIXTURE_PEER_MAC,
                                                   .type = ETHERTYPE_IP4,
                                                   .vlan = w->f.netif.vlan,
                                                   .tagged = w->kind == KIND_VLAN});
    struct weir_frame meta = {.count = 1};
    struct weir_slice slices[2] = {{frame, 0}};
    meta.slices = slices;
    meta.length = slices[0].length =
        spoil_frame(spoilt, frame, w->link_bytes, w->link_bytes + IP4_BYTES + length, &meta);
    if (spoilt.what == 30 && meta.length > WEIR_FRAME_HEAD) {
        slices[1] = (struct weir_slice){frame + WEIR_FRAME_HEAD, meta.length - WEIR_FRAME_HEAD};
        slices[0].length = WEIR_FRAME_HEAD;
        meta.count = 2;
    }
    fixture_input_frame(&w->f, &meta);
    if (spoilt.what == 31)
        fixture_input_frame(&w->f, &meta);  // the network's copy
}

static void syn_options(struct tcp_options *options, uint8_t choice)
{
    static const uint8_t seen[4] = {
        TCP_SEEN_MSS | TCP_SEEN_SACK_PERMITTED | TCP_SEEN_TIMESTAMPS | TCP_SEEN_WINDOW_SCALE, TCP_SEEN_MSS,
        TCP_SEEN_MSS | TCP_SEEN_TIMESTAMPS, TCP_SEEN_MSS | TCP_SEEN_SACK_PERMITTED | TCP_SEEN_WINDOW_SCALE};
    options->seen = seen[choice & 2 ? choice >> 2 & 3 : 0];
    options->mss = choice & 0x80 ? 536 : 1460;
    options->window_scale = choice >> 4 & 7;
}

static uint32_t payload_of(uint8_t choice)
{
    static const uint16_t lengths[8] = {1, 2, 10, 100, 536, 1000, 1428, 1448};
    return lengths[choice & 7];
}

static uint32_t peers_clock(const struct world *w) { return w->clock + (uint32_t)(w->f.now_us / 1000); }

// The next of a talk's own, acknowledging all that it saw.
static void next_segment(struct world *w, struct talk *talk, uint8_t flags, uint32_t payload)
{
    struct tcp_segment segment = {.seq = talk->mine, .ack = talk->next, .window = 65000, .flags = TCP_ACK | flags};
    if (talk->timestamps) {
        segment.options.seen = TCP_SEEN_TIMESTAMPS;
        segment.options.ts_echo = talk->ts_value;
        segment.options.ts_value = peers_clock(w);
    }
    talk->mine += payload;
    deliver(w, (struct spoilt){0, 0}, talk, &segment, payload);
}

// A segment of one of the talks (or of a new one): `operation` says which kind.
static void frame(struct world *w, uint8_t operation)
{
    const uint8_t which = take8(&w->in), choice = take8(&w->in);
    struct spoilt spoilt = {0, 0};
    if (operation & 0x08) {
        spoilt.what = take8(&w->in) & 31;
        spoilt.how = take8(&w->in);
    }
    struct tcp_segment segment = {.window = choice & 0x40 ? (uint16_t)(choice * 16) : 65000};
    struct talk *talk;
    uint32_t payload = 0;
    if ((operation & 7) == 0) {  // a connection begins
        talk = talk_of(w, hosts[which & 3], PORT_SERVER, (uint16_t)(PORT_PEER + (which >> 2 & 7)));
        segment.seq = 1000u + 0x1000000u * (which >> 5);
        segment.flags = TCP_SYN | (choice & 0x21 ? 0 : TCP_ECE | TCP_CWR);
        syn_options(&segment.options, choice);
        talk->timestamps = segment.options.seen & TCP_SEEN_TIMESTAMPS;
    } else {
        talk = &w->talks[which % TALKS];
        if (!talk->host)
            return;
        segment.seq = choice & 0x80 ? talk->ack : talk->mine;  // what was lost comes again
        segment.ack = talk->next;
        segment.flags = TCP_ACK;
        if (talk->timestamps) {
            segment.options.seen = TCP_SEEN_TIMESTAMPS;
            segment.options.ts_echo = talk->ts_value;
        }
    }
    w->clock += choice & 3;
    segment.options.ts_value = peers_clock(w);
    switch (operation & 7) {
    case 2: segment.flags |= TCP_PSH;  // fall through
    case 3: payload = payload_of(choice >> 2); break;
    case 4: segment.flags |= TCP_FIN; break;
    case 5:
        segment.flags |= TCP_FIN;
        payload = payload_of(choice >> 2);
        break;
    case 6:  // the answer to a SYN of Weir's
        segment.flags = TCP_SYN | TCP_ACK;
        segment.seq = 0xfffffff0u;
        syn_options(&segment.options, choice & 0x0f);
        break;
    case 7:
        if (choice & 4) {
            segment.flags = TCP_RST | (choice & 8 ? TCP_ACK : 0);
            segment.options.seen = 0;
        } else {
            segment.ack -= choice >> 4;  // an ACK of only part
        }
        break;
    default: break;
    }
    talk->mine = segment.seq + payload + (segment.flags & (TCP_SYN | TCP_FIN) ? 1 : 0);
    deliver(w, spoilt, talk, &segment, payload);
}

// Strangers' SYNs, more than there is room for.
static void press(struct world *w)
{
    for (uint32_t i = 0; i < 40; i++) {
        const struct talk stranger = {.host = 0x0a000080 + i, .port = PORT_SERVER, .peer_port = PORT_PEER};
        struct tcp_segment segment = {
            .seq = i, .window = 1000, .flags = TCP_SYN, .options = {.seen = TCP_SEEN_MSS, .mss = 1460}};
        deliver(w, (struct spoilt){0, 0}, &stranger, &segment, 0);
    }
    pass_time(w, 0);
}

// --- sockets ---------------------------------------------------------------------------------------------------------

static void keep(struct world *w, weir_socket socket)
{
    CALL(1, socket);
    if (socket <= 0)
        return;
    for (uint32_t i = 0; i < SOCKETS; i++)
        if (w->sockets[i] <= 0) {
            w->sockets[i] = socket;
            return;
        }
    CALL(2, weir_socket_abort(w->f.weir, socket));
}

static void listen_at_server(struct world *w)
{
    struct weir *weir = w->f.weir;
    const struct weir_endpoint local = {weir_addr_any(), PORT_SERVER};
    weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    (void)weir_socket_bind(weir, socket, &local);
    (void)weir_socket_listen(weir, socket, 8);
    keep(w, socket);
}

static void connect_out(struct world *w, uint8_t choice)
{
    struct weir *weir = w->f.weir;
    const struct weir_endpoint remote = {weir_addr_v4(hosts[choice & 3]), (uint16_t)(80 + (choice >> 2 & 1))};
    weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    if (choice & 0x80)
        CALL(3, weir_socket_set(weir, socket, WEIR_OPTION_ECN, choice & 0x10 ? WEIR_ECN_ACCURATE : WEIR_ECN_ON));
    if (choice & 0x40)
        CALL(3, weir_socket_set(weir, socket, WEIR_OPTION_USER_TIMEOUT_MS, 3000));
    if (choice & 0x20)
        CALL(3, weir_socket_set(weir, socket, WEIR_OPTION_KEEPALIVE, 1));
    CALL(4, weir_socket_connect(weir, socket, &remote));
    keep(w, socket);
}

static void look(struct world *w, weir_socket socket)
{
    struct weir_tcp_info info = {0};
    const int error = weir_socket_tcp_info(w->f.weir, socket, &info);
    // A SYN or FIN alone needs no memory for a flow, which alone has rates (tcp/bare.h); and a way is looked up when
    // there is something to send.
    const bool flows = info.inflight > 1;
    const int64_t all[] = {
        error,
        info.state,
        info.recovery,
        info.backoff,
        info.probes,
        info.sack | info.timestamps << 1 | info.window_scaling << 2 | info.ecn << 3 | info.accecn << 4,
        info.snd_wscale | info.rcv_wscale << 8,
        info.rto_us,
        info.srtt_us,
        info.rttvar_us,
        info.min_rtt_us,  // 10
        info.snd_mss,
        info.rcv_mss,
        flows ? info.path_mtu : 0,
        info.cwnd,
        info.ssthresh,
        info.inflight,
        info.sacked,
        info.lost,
        info.retrans_out,
        info.snd_wnd,  // 20
        info.rcv_wnd,
        info.send_queue,
        info.receive_queue,
        info.unsent,
        info.total_retrans,
        info.rto_count,
        info.fast_recoveries,
        info.out_of_order,
        info.reorder_seen,
        info.reordering,  // 30
        info.duplicates,
        (int64_t)info.bytes_sent,
        (int64_t)info.bytes_retrans,
        (int64_t)info.bytes_acked,
        (int64_t)info.bytes_received,
        info.segs_out,
        info.segs_in,
        info.received_ce,
        info.delivered_ce,
        flows ? (int64_t)info.pacing_rate : 0,  // 40
        flows ? (int64_t)info.delivery_rate : 0,
        flows && info.delivery_rate_app_limited,
        (int64_t)info.bytes_delivered,
        info.delivered,
        info.last_sent_us,
        info.last_received_us,
    };
    trail_note(w->trail, w->f.now_us, WHAT_INFO, all, sizeof all);
}

static const enum weir_option options[] = {WEIR_OPTION_KEEPALIVE,
                                           WEIR_OPTION_KEEPALIVE_IDLE_S,
                                           WEIR_OPTION_LINGER_S,
                                           WEIR_OPTION_NO_DELAY,
                                           WEIR_OPTION_CORK,
                                           WEIR_OPTION_QUICK_ACK,
                                           WEIR_OPTION_USER_TIMEOUT_MS,
                                           WEIR_OPTION_DEFER_ACCEPT_S,
                                           WEIR_OPTION_TTL,
                                           WEIR_OPTION_TOS,
                                           WEIR_OPTION_ECN,
                                           WEIR_OPTION_RTO_MIN_US,
                                           WEIR_OPTION_USER_TIMEOUT_OPTION,
                                           WEIR_OPTION_RECEIVE_BUFFER,
                                           WEIR_OPTION_MAX_PACING_RATE,
                                           WEIR_OPTION_KEEPALIVE_INTERVAL_S,
                                           WEIR_OPTION_SEND_DEADLINE_US,
                                           WEIR_OPTION_RECEIVE_LOW_WATER,
                                           WEIR_OPTION_SEND_BUFFER,
                                           WEIR_OPTION_OOB_INLINE,
                                           WEIR_OPTION_KEEPALIVE_COUNT,
                                           WEIR_OPTION_MAX_SEGMENT,
                                           WEIR_OPTION_DONT_FRAGMENT};

static void set_option(struct world *w, weir_socket socket, uint8_t choice)
{
    static const int32_t values[] = {0, 1, 2, 5, 1000, 3000, 100000, -1};
    const enum weir_option option = options[(choice & 31) % (sizeof options / sizeof options[0])];
    CALL(5, weir_socket_set(w->f.weir, socket, option, values[choice >> 5]));
}

static void tap_frame(struct weir_tap *tap, const struct weir_netif *netif, bool outgoing,
                      const struct weir_slice *slices, uint16_t count, uint64_t now_us)
{
    struct world *w = tap->context;
    (void)netif, (void)slices, (void)count, (void)now_us;
    w->shown[outgoing]++;
}

static void know_hosts(struct world *w)
{
    for (uint32_t i = 0; i < 4 && w->kind != KIND_LEARNED; i++)
        fixture_know_peer(&w->f, weir_addr_v4(hosts[i]));
}

// What happens to the instance as a whole.
static void shake(struct world *w, uint8_t choice)
{
    struct weir *weir = w->f.weir;
    switch (choice & 7) {
    case 0: (void)weir_netif_set_up(&w->f.netif, choice & 8); break;
    case 1:
        CALL(6, weir_netif_set_address(&w->f.netif, weir_addr_v4(weir_addr_to_v4(ours) + (choice >> 5)),
                                       choice & 8 ? 24 : 28, WEIR_ADDRESS_AT_ONCE));
        break;
    case 2: weir_link_change(&w->f.netif, choice & 8); break;
    case 3:
        if (w->tapped)
            weir_tap_remove(weir, &w->tap);
        else
            weir_tap_add(weir, &w->tap);
        w->tapped = !w->tapped;
        break;
    case 4:
        if (w->raw > 0)
            CALL(7, weir_socket_close(weir, w->raw));
        w->raw = w->raw > 0 ? 0 : weir_socket_open(weir, WEIR_RAW, IP_TCP);
        break;
    case 5:
        w->f.block_tx = choice & 8;
        if (!w->f.block_tx)
            weir_tx_ready(&w->f.netif);
        break;
    case 6:
        CALL(8, weir_route_add(weir, weir_addr_v4(0x0a000000), (choice >> 3) % 33, weir_addr_v4(hosts[2]), &w->f.netif,
                               1));
        break;
    default:
        fixture_complete(&w->f);
        weir_netif_remove(&w->f.netif);
        pass_time(w, choice & 8 ? 2000000 : 0);
        CHECK(weir_netif_add(weir, &w->f.netif) == WEIR_OK);
        (void)weir_netif_set_address(&w->f.netif, ours, 24, WEIR_ADDRESS_AT_ONCE);
        know_hosts(w);
    }
}

// No two stretches written are alike.
static void write_some(struct world *w, weir_socket socket, uint32_t length)
{
    uint8_t bytes[4096];
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)((w->written + i) * 7 + (w->written + i) / 251);
    const int64_t written = weir_socket_write(w->f.weir, socket, bytes, length);
    CALL(10, written);
    w->written += written > 0 ? (uint32_t)written : 0;
}

static void read_some(struct world *w, weir_socket socket, uint32_t length)
{
    uint8_t bytes[4096];
    const int64_t got = weir_socket_read(w->f.weir, socket, bytes, length);
    uint32_t sum = 0;
    for (int64_t i = 0; i < got; i++)
        sum = sum * 31 + bytes[i];
    note_numbers(w, WHAT_CALL, 11, got, sum, 0);
}

// A run of up to 32 segments from a peer, each read at once by whoever it is for.
static void train(struct world *w, uint8_t choice)
{
    struct talk *talk = &w->talks[(choice & 0x3f) % TALKS];
    const uint8_t how = take8(&w->in);
    const uint32_t count = 1 + (how & 31), payload = payload_of(how >> 5);
    for (uint32_t i = 0; i < count && talk->host; i++) {
        next_segment(w, talk, choice & 0x80 ? TCP_PSH : 0, payload);
        pass_time(w, choice & 0x40 ? 1000 : 0);
        for (uint32_t at = 0; at < SOCKETS; at++)
            if (w->sockets[at] > 0)
                read_some(w, w->sockets[at], 4096);
    }
}

// Up to 16 writes, the peers acknowledge what comes after some time.
static void bulk(struct world *w, weir_socket socket)
{
    static const uint32_t round_trips_us[4] = {0, 1000, 20000, 150000};
    const uint8_t how = take8(&w->in);
    const uint32_t count = 1 + (how & 15), length = how & 0x40 ? 4096 : how & 0x80 ? 100 : 1448;
    for (uint32_t i = 0; i < count; i++) {
        write_some(w, socket, length);
        pass_time(w, round_trips_us[how >> 4 & 3]);
        for (uint32_t at = 0; at < TALKS; at++)
            if (w->talks[at].host)
                next_segment(w, &w->talks[at], 0, 0);
        pass_time(w, 0);
    }
}

static void use_socket(struct world *w, uint8_t operation)
{
    struct weir *weir = w->f.weir;
    const uint8_t choice = take8(&w->in);
    weir_socket *at = &w->sockets[choice % SOCKETS], socket = *at;
    const uint32_t length = choice >> 4 ? 1u << (choice >> 4) % 13 : 0;
    switch (operation & 15) {
    case 0: connect_out(w, choice); break;
    case 1: keep(w, weir_socket_accept(weir, w->sockets[0])); break;
    case 2: train(w, choice); break;
    case 3: write_some(w, socket, length); break;
    case 4: read_some(w, socket, length); break;
    case 6: bulk(w, socket); break;
    case 5:
        CALL(12, weir_socket_close(weir, socket));
        *at = choice & 0x80 ? socket : 0;  // sometimes used after it
        break;
    case 7:
        CALL(13, weir_socket_abort(weir, socket));
        *at = 0;
        break;
    case 8: CALL(14, weir_socket_shutdown(weir, socket, (enum weir_shutdown)(choice >> 6))); break;
    case 9: set_option(w, socket, take8(&w->in)); break;
    case 10: look(w, socket); break;
    case 11: shake(w, choice); break;
    case 12: CALL(15, weir_socket_ready(weir, socket)); break;
    case 13: CALL(16, weir_socket_write_urgent(weir, socket, &choice, 1)); break;
    case 14:
        if (w->sockets[0] <= 0)
            listen_at_server(w);
        break;
    default: read_some(w, socket, 4096);
    }
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void run(struct world *w)
{
    static const uint32_t steps_us[16] = {0,      0,      1000,   1000,    5000,    20000,    45000,    100000,
                                          250000, 400000, 700000, 1100000, 3000000, 10000000, 61000000, 130000000};
    for (uint32_t n = 0; n < OPERATIONS && w->in.left; n++) {
        const uint8_t operation = take8(&w->in);
        if (operation < 0x90)
            frame(w, operation & 15);
        else if (operation < 0xc0)
            pass_time(w, steps_us[operation & 15]);
        else
            use_socket(w, operation);
        if (operation < 0x60 || operation >= 0xe0)
            pass_time(w, 0);
    }
}

static void look_at_all(struct world *w)
{
    struct weir_socket_info about;
    uint64_t cursor = 0;
    while ((cursor = weir_socket_next(w->f.weir, cursor, &about)) != 0)
        note_numbers(w, WHAT_SOCKET, about.socket, about.tcp_state, about.local.port + (int64_t)65536 * about.peer.port,
                     about.send_queue | (int64_t)about.receive_queue << 32);
    for (uint32_t i = 0; i < SOCKETS; i++)
        look(w, w->sockets[i]);
    for (uint32_t i = 0; i < WEIR_COUNT_COUNT; i++)
        note_numbers(w, WHAT_COUNTER, i, weir_counter_get(w->f.weir, (enum weir_counter)i), 0, 0);
    if (w->kind == KIND_LEARNED)
        return;  // ARP's frames count, too
    const struct weir_netif_stats *stats = &w->f.netif.stats;
    note_numbers(w, WHAT_NETIF, (int64_t)stats->rx_bytes, (int64_t)stats->tx_bytes, stats->rx_frames, stats->tx_frames);
    note_numbers(w, WHAT_NETIF, stats->rx_segments, stats->tx_segments, stats->rx_runt, stats->rx_unknown);
    note_numbers(w, WHAT_NETIF, stats->rx_dropped, stats->tx_dropped, stats->tx_full,
                 w->shown[0] | (int64_t)w->shown[1] << 32);
}

void play(const uint8_t *data, uint32_t size, struct trail *trail)
{
    static const char *const cc[] = {"bbr", "bbr3", "reno", "vegas", "yeah"};
    struct weir_config config = {.tcp_send_buffer_bytes = 8192, .tcp_receive_buffer_bytes = 8192, .sockets_max = 64};
    struct world *w = calloc(1, sizeof *w);
    CHECK(w != NULL);
    w->in = (struct bytes){data, size};
    w->trail = trail;
    w->tap = (struct weir_tap){.frame = tap_frame, .context = w};
    const uint8_t choice = take8(&w->in);
    w->kind = choice >> 4;
    if (w->kind >= KIND_CC && w->kind < KIND_SMALL)
        config.congestion_control = cc[w->kind - KIND_CC];
    if (w->kind == KIND_SMALL || w->kind == KIND_LARGE)
        config.tcp_send_buffer_bytes = config.tcp_receive_buffer_bytes = w->kind == KIND_SMALL ? 2048 : 262144;
    if (w->kind == KIND_MARKED)
        config.tcp_ecn = WEIR_ECN_ACCURATE;
    w->ethernet = !(choice & 1) || w->kind == KIND_VLAN || w->kind == KIND_LEARNED;
    w->link_bytes = w->ethernet ? ETHERNET_BYTES + (w->kind == KIND_VLAN ? VLAN_BYTES : 0) : 0;
    const struct fixture_options fixture = {.link = w->ethernet ? &weir_link_ethernet : &weir_link_rawip,
                                            .address = ours,
                                            .prefix_length = 24,
                                            .vlan = w->kind == KIND_VLAN ? 7 : 0,
                                            .mode = w->kind == KIND_HOLD ? FIXTURE_HOLD
                                                    : choice & 2         ? FIXTURE_SCRIBBLE
                                                                         : FIXTURE_PLAIN,
                                            .capabilities = choice & 4 ? WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 : 0,
                                            .config = &config};
    CHECK(fixture_open_with(&w->f, &fixture));
    w->f.held_polls = 6;
    if (w->kind == KIND_PLACES)
        w->f.places = 3;
    know_hosts(w);
    w->clock = w->kind == KIND_WRAP ? 0u - 3000u - (uint32_t)(w->f.now_us / 1000) : 100;
    listen_at_server(w);
    if (w->kind == KIND_PRESSED)
        press(w);
    run(w);
    look_at_all(w);
    w->f.block_tx = false;
    weir_link_change(&w->f.netif, true);
    weir_tx_ready(&w->f.netif);
    if (choice & 8) {
        pass_time(w, 400000000);
        look_at_all(w);
    }
    if (w->tapped)
        weir_tap_remove(w->f.weir, &w->tap);
    fixture_close(&w->f);
    free(w);
}

#if WEIR_CFG_TCP_PREDICT
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail fast = {0}, steps = {0};
    play_fast(data, (uint32_t)size, &fast);
    play_steps(data, (uint32_t)size, &steps);
    trail_compare("with prediction", &fast, "by the steps", &steps);
    free(fast.bytes);
    free(steps.bytes);
    return 0;
}
#endif
