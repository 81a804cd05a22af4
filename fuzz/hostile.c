// SPDX-License-Identifier: BSD-2-Clause
// Two whole instances, a client's and a server's, with several connections that carry data both ways, and between
// them a middlebox that knows the numbers and is driven by the input: it drops, doubles, reorders, delays and keeps
// what passes, lets milliseconds or minutes go by, and alters or forges segments and ICMP errors with boundary
// values in every field (middlebox.h). A conversation that the client did not open is the middlebox's to open: a
// hostile client.
//
// What is checked:
// - Every payload byte that a host sends is one that its application queued at that number, and a FIN comes where
//   the application ended its stream: nothing of the process's memory can be on the wire. No lie makes that void.
// - What an application reads goes on from number to number, and each byte is the one that belongs there. An
//   attacker on the path owns the bytes of a stream; this one forges only bytes that belong to the number they
//   claim, so no lie makes this void, either. (An urgent byte that is taken out of the stream may be missing, as
//   often as urgent segments came.)
// - Once the network is honest, all that was written arrives, on connections about which the middlebox told no lie,
//   whose sockets neither application has closed and none of which ended with an error.
// - After each poll: the flight log covers [SND.UNA, SND.NXT), no more of it is SACKED and LOST than there is;
//   windows are not beyond the buffers; no connection was dropped because it contradicted itself.
// - The sanitizers, the fixture's contract of drivers and allocator, that polling comes to rest, that all memory
//   goes back.
#include "fixture.h"

#include "fuzz.h"
#include "middlebox.h"
#include "tcp/attach.h"
#include "tcp/internal.h"
#include "weir/cc.h"
#include "weir/socket.h"
#include "weir/stats.h"
#include "wire/icmp4.h"

#define TALKS 3u
#define OPERATIONS 400u
#define QUEUE 40u  // packets on their way in one direction
#define KEPT 4u
#define PORT_SERVER 7u
#define PORT_CLIENT 5000u
#define CLIENT 0
#define SERVER 1

static const uint32_t addresses[2] = {0x0a000001, 0x0a000002};

// One end of a connection, as its application sees it.
struct side {
    weir_socket socket;
    uint32_t iss, written;  // the byte after iss is the first of what is written
    uint32_t next;          // number of the byte that is read next
    uint32_t skips;         // urgent segments delivered, each of which may have taken a byte out of the stream
    bool bound;             // iss is known: the application has, or had, the connection
    bool begun;             // `next` is known
    bool finished;          // the application will write no more
    bool failed;            // it had an error, which its application may have been told since
    bool slow;              // its application asked for a rate by which nothing need arrive soon
};

struct talk {
    struct known known[2];
    struct side side[2];
    bool opened;  // by the client
    bool lied;    // the middlebox has forged or altered
};

struct packet_held {
    uint32_t length;
    int to;
    uint8_t bytes[PACKET_MAX];
};
struct queue {
    uint32_t first, count;
    struct packet_held packets[QUEUE];
};

struct world {
    struct fixture ends[2];
    weir_socket listener;
    struct bytes in;
    struct talk talks[TALKS];
    struct queue queues[2];  // by where they go to
    struct packet_held kept[KEPT];
    uint32_t buffer_bytes;
    bool urgent_apart;  // urgent bytes do not stay in the stream
};

// --- what the hosts send ---------------------------------------------------------------------------------------------

static uint32_t stream_of(const struct world *w, const struct talk *talk, int from)
{
    return 2 * (uint32_t)(talk - w->talks) + (uint32_t)from;
}

static struct talk *talk_of(struct world *w, const struct tcp_segment *s, int from)
{
    const uint32_t index = (from == CLIENT ? s->source : s->destination) - PORT_CLIENT;
    return index < TALKS ? &w->talks[index] : NULL;
}

// false: not a TCP segment.
static bool parse(const uint8_t *packet, uint32_t length, struct tcp_segment *s, const uint8_t **payload)
{
    struct ip4 ip;
    if (ip4_parse(packet, length, false, &ip) != IP4_OK || ip.protocol != IP_TCP || ip.fragment_offset ||
        ip.flags & IP4_MORE_FRAGMENTS || !tcp_parse(packet + ip.header_length, ip.total_length - ip.header_length, s))
        return false;
    *payload = packet + ip.header_length + s->header_length;
    return true;
}

static void check_sent(const struct world *w, const struct talk *talk, int from, const struct tcp_segment *s,
                       const uint8_t *payload)
{
    const struct side *side = &talk->side[from];
    for (uint32_t i = 0; i < s->options.sack_count; i++)
        CHECK(seq_lt(s->options.sack[i].left, s->options.sack[i].right));
    CHECK(!(s->options.seen & TCP_SEEN_BAD));
    if (s->flags & (TCP_RST | TCP_SYN)) {
        CHECK(s->length == 0);
        return;
    }
    if (!s->length && !(s->flags & TCP_FIN))
        return;
    CHECK(side->bound);
    const uint32_t offset = s->seq - side->iss - 1;
    CHECK(offset <= side->written && s->length <= side->written - offset);
    CHECK(!(s->flags & TCP_FIN) || (side->finished && offset + s->length == side->written));
    CHECK(memcmp(payload, pattern_at(stream_of(w, talk, from), s->seq), s->length) == 0);
}

static void enqueue(struct queue *queue, const uint8_t *bytes, uint32_t length)
{
    CHECK(length <= PACKET_MAX);
    if (queue->count == QUEUE) {  // full: the oldest is lost
        queue->first = (queue->first + 1) % QUEUE;
        queue->count--;
    }
    struct packet_held *packet = &queue->packets[(queue->first + queue->count++) % QUEUE];
    packet->length = length;
    memcpy(packet->bytes, bytes, length);
}

static void collect(struct world *w, int from)
{
    struct fixture *f = &w->ends[from];
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t length;
        struct tcp_segment s;
        const uint8_t *payload, *packet = fixture_sent(f, i, &length);
        struct talk *talk = parse(packet, length, &s, &payload) ? talk_of(w, &s, from) : NULL;
        if (talk) {
            check_sent(w, talk, from, &s, payload);
            learn_sent(&talk->known[from], &s);
        }
        enqueue(&w->queues[!from], packet, length);
    }
    fixture_clear(f);
}

static void deliver(struct world *w, int to, const uint8_t *packet, uint32_t length)
{
    struct tcp_segment s;
    const uint8_t *payload;
    struct talk *talk = parse(packet, length, &s, &payload) ? talk_of(w, &s, !to) : NULL;
    if (talk) {
        learn_delivered(&talk->known[to], &s);
        talk->side[to].skips += s.flags & TCP_URG ? 1 : 0;
    }
    fixture_input(&w->ends[to], packet, length);
}

#if WEIR_CFG_TCP_URGENT
#define write_urgent weir_socket_write_urgent
#define read_urgent weir_socket_read_urgent
#else
#define write_urgent weir_socket_write
static int read_urgent(struct weir *weir, weir_socket socket, uint8_t *byte, int peek)
{
    return (void)weir, (void)socket, (void)byte, (void)peek, 0;
}
#endif

// --- the applications ------------------------------------------------------------------------------------------------

static const struct tcp_conn *conn_of(const struct world *w, const struct talk *talk, int who)
{
    const weir_socket socket = talk->side[who].socket;
    const struct sock *sock = socket > 0 ? handle_sock(w->ends[who].weir, socket) : NULL;
    return sock && sock->kind == SOCK_TCP ? (const struct tcp_conn *)(const void *)sock : NULL;
}

static void look_inside(struct world *w, int who)
{
    CHECK(fixture_count(&w->ends[who], WEIR_COUNT_TCP_INSANE) == 0);
    for (struct talk *talk = w->talks; talk < w->talks + TALKS; talk++) {
        const struct tcp_conn *c = conn_of(w, talk, who);
        struct side *side = &talk->side[who];
        side->failed |= c && c->error;
        if (!c || c->state < WEIR_TCP_ESTABLISHED)
            continue;
        if (!side->begun) {
            side->begun = true;
            side->next =
                c->rcv.nxt - !!(c->attention & ATTEND_FIN_RECEIVED) - (c->receive ? stream_length(c->receive) : 0);
        }
        if (c->state == WEIR_TCP_TIME_WAIT)
            continue;
        CHECK(c->snd.nxt - c->snd.una <= side->written + 2);
        CHECK(c->rcv.edge - c->rcv.nxt + 1 <= w->buffer_bytes + 2);
        CHECK(!c->flow || flight_sound(c->flow->flight, c->snd.una, c->snd.nxt));
    }
}

static void adopt(struct world *w, weir_socket socket)
{
    struct weir_endpoint peer;
    if (weir_socket_peer(w->ends[SERVER].weir, socket, &peer) != WEIR_OK || peer.port - PORT_CLIENT >= TALKS) {
        // of a connection that has ended, or of nobody's port
        CHECK(weir_socket_abort(w->ends[SERVER].weir, socket) == WEIR_OK);
        return;
    }
    struct talk *talk = &w->talks[peer.port - PORT_CLIENT];
    if (talk->side[SERVER].socket >
        0)  // of a connection before, which has ended: the same four numbers cannot be in use twice
        CHECK(weir_socket_abort(w->ends[SERVER].weir, talk->side[SERVER].socket) == WEIR_OK);
    talk->side[SERVER] = (struct side){.socket = socket, .bound = true, .skips = talk->side[SERVER].skips};
    talk->side[SERVER].iss = conn_of(w, talk, SERVER)->iss;
}

static void settle(struct world *w, int who, uint64_t us)
{
    uint32_t events;
    fixture_poll(&w->ends[who], us);
    for (uint32_t i = 0; i < 32 && weir_ready_next(w->ends[who].weir, &events) > 0; i++) {}
    for (weir_socket socket; who == SERVER && (socket = weir_socket_accept(w->ends[who].weir, w->listener)) > 0;)
        adopt(w, socket);
    look_inside(w, who);
    collect(w, who);
}

static void open_talk(struct world *w, struct talk *talk)
{
    struct side *side = &talk->side[CLIENT];
    struct weir *weir = w->ends[CLIENT].weir;
    const uint16_t port = (uint16_t)(PORT_CLIENT + (talk - w->talks));
    if (talk->opened)
        return;
    side->socket = weir_socket_open(weir, WEIR_STREAM, 0);
    if (side->socket <= 0)
        return;
    (void)weir_socket_set(weir, side->socket, WEIR_OPTION_OOB_INLINE, !w->urgent_apart);
    CHECK(weir_socket_bind(weir, side->socket, &(struct weir_endpoint){weir_addr_v4(addresses[CLIENT]), port}) ==
          WEIR_OK);
    const int error =
        weir_socket_connect(weir, side->socket, &(struct weir_endpoint){weir_addr_v4(addresses[SERVER]), PORT_SERVER});
    CHECK(error == WEIR_IN_PROGRESS);
    talk->opened = side->bound = true;
    side->iss = conn_of(w, talk, CLIENT)->iss;
}

static void app_write(struct world *w, struct talk *talk, int who, uint32_t bytes, uint8_t how)
{
    struct side *side = &talk->side[who];
    struct weir *weir = w->ends[who].weir;
    struct weir_span spans[4];
    int moved;
    if (side->socket <= 0 || side->written + bytes > STREAM_MAX)
        return;
    const uint8_t *data = pattern_at(stream_of(w, talk, who), side->iss + 1 + side->written);
    if (how == 0) {  // in place
        const int room = weir_socket_reserve(weir, side->socket, bytes, spans, 4);
        uint32_t at = 0;
        for (uint32_t i = 0; room > 0 && at < (uint32_t)room; at += spans[i++].length)
            memcpy(spans[i].data, data + at, spans[i].length);
        moved = room > 0 ? weir_socket_commit(weir, side->socket, at) : room;
    } else if (how == 1) {
        moved = write_urgent(weir, side->socket, data, bytes);
    } else {
        moved = weir_socket_write(weir, side->socket, data, bytes);
    }
    CHECK(moved <= (int)bytes);
    side->written += moved > 0 ? (uint32_t)moved : 0;
}

static void check_read(const struct world *w, const struct talk *talk, int who, struct side *side, const uint8_t *data,
                       uint32_t bytes)
{
    const uint32_t stream = stream_of(w, talk, !who);
    if (memcmp(data, pattern_at(stream, side->next), bytes) == 0) {
        side->next += bytes;
        return;
    }
    for (uint32_t i = 0; i < bytes; i++, side->next++)
        for (; data[i] != *pattern_at(stream, side->next); side->next++, side->skips--)
            CHECK(w->urgent_apart && side->skips);
}

static void app_read(struct world *w, struct talk *talk, int who, uint32_t bytes, bool in_place)
{
    static uint8_t buffer[16384];
    struct side *side = &talk->side[who];
    struct weir_slice slices[3];
    if (side->socket <= 0)
        return;
    look_inside(w, who);
    if (!in_place) {
        const int got = weir_socket_read(w->ends[who].weir, side->socket, buffer, min_u32(bytes, sizeof buffer));
        CHECK(got <= (int)bytes && (got <= 0 || side->begun));
        if (got > 0)
            check_read(w, talk, who, side, buffer, (uint32_t)got);
        return;
    }
    const int got = weir_socket_peek(w->ends[who].weir, side->socket, 0, slices, 3);
    uint32_t at = 0;
    CHECK(got <= 0 || side->begun);
    for (uint32_t i = 0; got > 0 && at < (uint32_t)got; at += slices[i++].length)
        check_read(w, talk, who, side, slices[i].data, slices[i].length);
    if (got > 0)
        CHECK(weir_socket_consume(w->ends[who].weir, side->socket, at) >= 0);
}

static void set_option(struct world *w, struct side *side, int who)
{
    static const enum weir_option options[16] = {WEIR_OPTION_KEEPALIVE,
                                                 WEIR_OPTION_KEEPALIVE_IDLE_S,
                                                 WEIR_OPTION_KEEPALIVE_INTERVAL_S,
                                                 WEIR_OPTION_LINGER_S,
                                                 WEIR_OPTION_SEND_BUFFER,
                                                 WEIR_OPTION_NO_DELAY,
                                                 WEIR_OPTION_CORK,
                                                 WEIR_OPTION_QUICK_ACK,
                                                 WEIR_OPTION_TTL,
                                                 WEIR_OPTION_TOS,
                                                 WEIR_OPTION_USER_TIMEOUT_MS,
                                                 WEIR_OPTION_RECEIVE_LOW_WATER,
                                                 WEIR_OPTION_MAX_PACING_RATE,
                                                 WEIR_OPTION_RTO_MIN_US,
                                                 WEIR_OPTION_SEND_DEADLINE_US,
                                                 WEIR_OPTION_USER_TIMEOUT_OPTION};
    static const int32_t values[16] = {0,    1,    2,     3,      5,       64,      255,       1000,
                                       3000, 4096, 20000, 100000, 3000000, 0x10000, INT32_MAX, -1};
    const uint8_t choice = take8(&w->in);
    side->slow |= options[choice & 15] == WEIR_OPTION_MAX_PACING_RATE && values[choice >> 4] < 100000;
    (void)weir_socket_set(w->ends[who].weir, side->socket, options[choice & 15], values[choice >> 4]);
}

static void set_congestion(struct world *w, struct side *side, int who)
{
    uint32_t count = 0;
    while (weir_cc_list[count])
        count++;
    (void)weir_socket_set_congestion(w->ends[who].weir, side->socket, weir_cc_list[take8(&w->in) % count]->name);
}

static void app_other(struct world *w, struct talk *talk, int who, uint8_t what)
{
    struct side *side = &talk->side[who];
    struct weir *weir = w->ends[who].weir;
    uint8_t byte;
    if (what < 6)
        open_talk(w, talk);
    if (side->socket <= 0)
        return;
    switch (what) {
    case 6: (void)read_urgent(weir, side->socket, &byte, 0); break;
    case 7: set_congestion(w, side, who); break;
    case 8:
    case 9: set_option(w, side, who); break;
    case 10: (void)weir_socket_acknowledge(weir, side->socket); break;
    case 11:
    case 12: side->finished |= weir_socket_shutdown(weir, side->socket, WEIR_SHUT_WRITE) == WEIR_OK; break;
    case 13: (void)weir_socket_shutdown(weir, side->socket, WEIR_SHUT_READ); break;
    case 14:
    case 15:
        side->finished = true;
        (void)(what == 14 ? weir_socket_close(weir, side->socket) : weir_socket_abort(weir, side->socket));
        side->socket = 0;
        break;
    default: break;
    }
}

static void application(struct world *w, uint8_t arg)
{
    static const uint16_t sizes[16] = {1,    2,    10,   100,  536,   1000,  1448, 1460,
                                       2896, 4000, 5792, 8192, 12000, 16384, 3,    700};
    const uint8_t who = take8(&w->in);
    struct talk *talk = &w->talks[(who >> 1 & 3) % TALKS];
    const uint8_t how = who >> 4;
    look_inside(w, who & 1);
    if ((who & 8) && how < 12)
        app_read(w, talk, who & 1, sizes[arg], how & 1);
    else if (how < 12)
        app_write(w, talk, who & 1, sizes[arg], how);
    else
        app_other(w, talk, who & 1, arg);
}

// --- the middlebox ---------------------------------------------------------------------------------------------------

static void deliver_first(struct world *w, int to)
{
    struct queue *queue = &w->queues[to];
    const struct packet_held *packet = &queue->packets[queue->first];
    queue->first = (queue->first + 1) % QUEUE;
    queue->count--;
    deliver(w, to, packet->bytes, packet->length);
}

// All that is on its way arrives, and what is answered, so many times.
static void exchange(struct world *w, uint32_t rounds)
{
    for (bool any = true; rounds && any; rounds--) {
        any = false;
        for (int to = 0; to < 2; to++) {
            for (uint32_t n = w->queues[to].count; n; n--, any = true)
                deliver_first(w, to);
            settle(w, to, 0);
        }
    }
}

static void pass_time(struct world *w, uint64_t us)
{
    settle(w, CLIENT, us);
    settle(w, SERVER, us);
}

static void queue_operation(struct world *w, uint8_t arg)
{
    const int to = arg & 1;
    struct queue *queue = &w->queues[to];
    if (!queue->count)
        return;
    struct packet_held *packet = &queue->packets[queue->first];
    switch (arg >> 1) {
    case 0:  // lost
    case 1:
        queue->first = (queue->first + 1) % QUEUE;
        queue->count--;
        break;
    case 2:  // twice
        deliver(w, to, packet->bytes, packet->length);
        break;
    case 3:  // overtaken by all others
        enqueue(queue, packet->bytes, packet->length);
        if (queue->count < QUEUE || queue->first != packet - queue->packets) {
            queue->first = (queue->first + 1) % QUEUE;
            queue->count--;
        }
        break;
    case 4: queue->count = 0; break;
    case 5:
        packet->to = to;
        w->kept[packet->length % KEPT] = *packet;
        break;
    default: deliver_first(w, to); break;
    }
}

// What was kept comes (again), perhaps long after.
static void replay(struct world *w, uint8_t arg)
{
    const struct packet_held *packet = &w->kept[arg % KEPT];
    if (!packet->length)
        return;
    deliver(w, packet->to, packet->bytes, packet->length);
    if (arg & 8)
        settle(w, packet->to, 0);
}

static void send_craft(struct world *w, struct talk *talk, int to, struct craft *craft)
{
    uint8_t packet[PACKET_MAX];
    const bool client = to == SERVER;
    craft->s.source = client ? (uint16_t)(PORT_CLIENT + (talk - w->talks)) : PORT_SERVER;
    craft->s.destination = client ? PORT_SERVER : (uint16_t)(PORT_CLIENT + (talk - w->talks));
    talk->lied = true;
    const uint32_t length = craft_emit(craft, stream_of(w, talk, !to), addresses[!to], addresses[to], packet);
    if (client && !talk->opened)
        learn_sent(&talk->known[CLIENT], &craft->s);
    for (uint32_t n = craft->twice ? 2 : 1; n; n--)
        deliver(w, to, packet, length);
}

static void alter_first(struct world *w, uint8_t arg)
{
    const int to = arg & 1;
    struct queue *queue = &w->queues[to];
    if (!queue->count)
        return;
    const struct packet_held *packet = &queue->packets[queue->first];
    struct craft craft = {.raw_bytes = 0};
    const uint8_t *payload;
    struct talk *talk = parse(packet->bytes, packet->length, &craft.s, &payload) ? talk_of(w, &craft.s, !to) : NULL;
    if (!talk) {
        deliver_first(w, to);
        return;
    }
    queue->first = (queue->first + 1) % QUEUE;
    queue->count--;
    for (uint32_t n = 1 + (arg >> 1 & 3); n; n--)
        alter(&w->in, &craft, &talk->known[to], &talk->known[!to]);
    send_craft(w, talk, to, &craft);
    if (arg & 8)
        settle(w, to, 0);
}

// A segment that fits what the other end expects.
static struct craft fitting(const struct talk *talk, int to)
{
    const struct known *k = &talk->known[to], *p = &talk->known[!to];
    struct craft craft = {.s = {.seq = k->seen ? k->expected : p->nxt,
                                .ack = k->nxt,
                                .flags = TCP_ACK,
                                .window = p->seen ? p->window : 0xffff}};
    if (k->timestamps && p->timestamps) {
        craft.s.options.seen = TCP_SEEN_TIMESTAMPS;
        craft.s.options.ts_value = seq_max(k->ts_recent, p->ts_value) + 1;
        craft.s.options.ts_echo = k->ts_value;
    }
    return craft;
}

static void forge(struct world *w, uint8_t arg, bool now)
{
    const uint8_t choice = take8(&w->in);
    const int to = arg & 1;
    struct talk *talk = &w->talks[choice % TALKS];
    struct craft craft = fitting(talk, to);
    if (choice & 0x80)
        craft.s.length = 1 + (choice >> 3 & 15) * 97u;
    for (uint32_t n = arg >> 1; n; n--)
        alter(&w->in, &craft, &talk->known[to], &talk->known[!to]);
    send_craft(w, talk, to, &craft);
    if (now)
        settle(w, to, 0);
}

// A conversation that the middlebox opens with the server, as a client would.
static void open_forged(struct world *w, uint8_t arg)
{
    const uint8_t choice = take8(&w->in);
    struct talk *talk = &w->talks[choice % TALKS];
    if (talk->opened)
        return;
    struct craft syn = {.s = {.seq = (uint32_t)arg << 28 | 0x07fffff0,
                              .flags = TCP_SYN | (choice & 0x40 ? TCP_ECE | TCP_CWR : 0),
                              .window = 0xffff}};
    struct tcp_options *options = &syn.s.options;
    options->seen = (choice & 4 ? TCP_SEEN_MSS : 0) | (choice & 8 ? 0 : TCP_SEEN_SACK_PERMITTED) |
                    (choice & 16 ? 0 : TCP_SEEN_TIMESTAMPS) | (choice & 32 ? 0 : TCP_SEEN_WINDOW_SCALE);
    options->mss = 1460;
    options->window_scale = choice >> 4;
    options->ts_value = 1000;
    send_craft(w, talk, SERVER, &syn);
    settle(w, SERVER, 0);
    struct craft ack = fitting(talk, SERVER);
    if (choice & 0x80)
        return;
    send_craft(w, talk, SERVER, &ack);
    settle(w, SERVER, 0);
}

// An error about a segment of a conversation, told to who sent it.
static void forge_error(struct world *w, uint8_t arg)
{
    uint8_t packet[IP4_BYTES + ICMP4_BYTES + IP4_BYTES + TCP_BYTES] = {0}, *icmp = packet + IP4_BYTES,
                                                         *quoted = icmp + ICMP4_BYTES;
    static const uint16_t mtus[8] = {0, 1, 68, 296, 552, 576, 1300, 65535};
    const uint8_t choice = take8(&w->in);
    const int to = arg & 1;
    struct talk *talk = &w->talks[(arg >> 1) % TALKS];
    struct craft craft = {.s = {.flags = TCP_ACK, .header_length = TCP_BYTES}};
    const uint16_t client = (uint16_t)(PORT_CLIENT + (talk - w->talks));
    craft.s.source = to == CLIENT ? client : PORT_SERVER;
    craft.s.destination = to == CLIENT ? PORT_SERVER : client;
    craft.s.seq = boundary(&w->in, &talk->known[to], &talk->known[!to]);
    talk->lied = true;
    ip4_emit(packet, &(struct ip4){.source = addresses[!to],
                                   .destination = addresses[to],
                                   .total_length = sizeof packet,
                                   .ttl = 64,
                                   .protocol = IP_ICMP});
    icmp4_emit(icmp, &(struct icmp4){.type = choice & 0x40 ? ICMP4_TIME_EXCEEDED : ICMP4_UNREACHABLE,
                                     .code = choice & 0x80 ? ICMP4_FRAGMENTATION_NEEDED : choice >> 3 & 7,
                                     .rest = mtus[choice & 7]});
    ip4_emit(quoted, &(struct ip4){.source = addresses[to],
                                   .destination = addresses[!to],
                                   .total_length = 1500,
                                   .ttl = 60,
                                   .protocol = IP_TCP,
                                   .flags = IP4_DONT_FRAGMENT});
    tcp_emit(quoted + IP4_BYTES, &craft.s);
    checksum_put(icmp + 2, checksum_sum_portable(icmp, sizeof packet - IP4_BYTES));
    deliver(w, to, packet, sizeof packet);
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void operate(struct world *w)
{
    static const uint32_t steps_us[16] = {1000,   5000,    20000,   45000,   100000,   200000,   250000,    400000,
                                          700000, 1000000, 2000000, 5000000, 15000000, 60000000, 130000000, 400000000};
    const uint8_t operation = take8(&w->in), arg = operation >> 4;
    switch (operation & 15) {
    case 0:
    case 1: exchange(w, 1 + (arg & 3)); break;
    case 2: pass_time(w, steps_us[arg]); break;
    case 3:
    case 4:
    case 5: application(w, arg); break;
    case 6: queue_operation(w, arg); break;
    case 7: replay(w, arg); break;
    case 8:
    case 9: alter_first(w, arg); break;
    case 10:
    case 11:
    case 12:
    case 13: forge(w, arg, operation & 1); break;
    case 14: open_forged(w, arg); break;
    default: forge_error(w, arg); break;
    }
}

// Whether all of what `who` was written by its peer should arrive, and has not.
static bool owed(struct world *w, struct talk *talk, int who)
{
    const struct side *side = &talk->side[who], *peer = &talk->side[!who];
    const struct tcp_conn *c = conn_of(w, talk, who), *p = conn_of(w, talk, !who);
    if (talk->lied || w->urgent_apart || !c || !p || side->failed || peer->failed || peer->slow || !side->begun ||
        !peer->begun || c->attention & ATTEND_READ_SHUT)
        return false;
    return side->next != peer->iss + 1 + peer->written;
}

static bool any_owed(struct world *w)
{
    bool any = false;
    for (struct talk *talk = w->talks; talk < w->talks + TALKS; talk++)
        any |= owed(w, talk, CLIENT) || owed(w, talk, SERVER);
    return any;
}

// An honest network, and applications that read, until all has arrived; minutes, since a timer may have backed off
// that far.
static void make_peace(struct world *w)
{
    for (uint32_t n = 0; n < 120 && any_owed(w); n++) {
        for (struct talk *talk = w->talks; talk < w->talks + TALKS; talk++)
            for (int who = 0; who < 2; who++)
                app_read(w, talk, who, 16384, false);
        pass_time(w, n < 40 ? 100000 : n < 80 ? 1000000 : 10000000);
        exchange(w, 12);
    }
    CHECK(!any_owed(w));
}

static void open_world(struct world *w)
{
    static const enum fixture_mode modes[8] = {FIXTURE_PLAIN, FIXTURE_PLAIN, FIXTURE_PLAIN,          FIXTURE_HOLD,
                                               FIXTURE_PLAIN, FIXTURE_PLAIN, FIXTURE_FULL_AT_RANDOM, FIXTURE_SLICED};
    const uint8_t choice = take8(&w->in), cc = take8(&w->in);
    uint32_t ccs = 0;
    while (weir_cc_list[ccs])
        ccs++;
    w->buffer_bytes = WEIR_CFG_ALLOCATOR ? (choice & 0x40 ? 100000 : 8192) : 65536;
    const struct weir_config config = {.tcp_send_buffer_bytes = WEIR_CFG_ALLOCATOR ? w->buffer_bytes : 0,
                                       .tcp_receive_buffer_bytes = WEIR_CFG_ALLOCATOR ? w->buffer_bytes : 0,
                                       .sockets_max = WEIR_CFG_ALLOCATOR ? 64 : 0,
                                       .congestion_control = weir_cc_list[(cc & 15) % ccs]->name,
                                       .tcp_ecn = cc >> 4 & 7 ? WEIR_ECN_DEFAULT
                                                  : cc & 0x80 ? WEIR_ECN_ACCURATE
                                                              : WEIR_ECN_ON};
    for (int i = 0; i < 2; i++) {
        const struct fixture_options options = {.link = &weir_link_rawip,
                                                .address = weir_addr_v4(addresses[i]),
                                                .prefix_length = 24,
                                                .mode = modes[(i ? choice >> 3 : choice) & 7],
                                                .config = &config};
        CHECK(fixture_open_with(&w->ends[i], &options));
    }
    w->urgent_apart = choice & 0x80;
    struct weir *weir = w->ends[SERVER].weir;
    w->listener = weir_socket_open(weir, WEIR_STREAM, 0);
    CHECK(weir_socket_bind(weir, w->listener, &(struct weir_endpoint){weir_addr_any(), PORT_SERVER}) == WEIR_OK);
    (void)weir_socket_set(weir, w->listener, WEIR_OPTION_OOB_INLINE, !w->urgent_apart);
    CHECK(weir_socket_listen(weir, w->listener, 4) == WEIR_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct world world;
    struct world *w = &world;
    if (!pattern[0] && !pattern[1])
        pattern_make();
    memset(w->talks, 0, sizeof w->talks);
    for (uint32_t i = 0; i < KEPT; i++)
        w->kept[i].length = 0;
    w->queues[0].count = w->queues[1].count = w->queues[0].first = w->queues[1].first = 0;
    w->in = (struct bytes){data, (uint32_t)size};
    open_world(w);
    for (uint32_t n = 0; n < OPERATIONS && w->in.left; n++)
        operate(w);
    make_peace(w);
    fixture_close(&w->ends[CLIENT]);
    fixture_close(&w->ends[SERVER]);
    return 0;
}
