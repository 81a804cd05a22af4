// SPDX-License-Identifier: BSD-2-Clause
// The compact stack (profile tiny) under a script of frames, time and socket calls: fuzz/instance.c in small. Frames
// come whole, or cut at any byte, or as segments whose numbers count from those of the conversation, or lie at, beside
// and half the number space away from what means something to the server (boundary, middlebox.h); what the server
// sends is read for that.
//
// Checked: the sanitizers; that each payload byte the server sends is one its application queued at that number; that
// what is read goes on from number to number, each byte the one that belongs there; and after each operation that what
// a connection remembers is within its queues.
#include "compact/compact.h"
#define INSTANCE_H  // the other stack's struct weir, of which the fixture needs only the name
#include "fixture.h"

#include "fuzz.h"
#include "middlebox.h"
#include "weir/socket.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define PORT 7u
#define PEERS 6u
#define SOCKETS 8u
#define OPERATIONS 600u

static const struct weir_addr ours = WEIR_ADDR_V4(0x0a000001), peer = WEIR_ADDR_V4(0x0a000002);

// A conversation from one of the peer's ports.
struct talk {
    struct known server, client;
    uint32_t base, written;  // where the server's data begins, and how much its application queued
    bool accepted;
};

struct user {
    weir_socket socket;
    uint32_t talk, next;  // number of the byte that is read next
};

struct world {
    struct fixture f;
    struct bytes in;
    struct talk talks[PEERS];
    weir_socket listener;
    struct user users[SOCKETS];
};

static uint32_t stream_in(uint32_t talk) { return 2 * talk; }
static uint32_t stream_out(uint32_t talk) { return 2 * talk + 1; }

static void check_sent(const struct world *w, uint32_t index, const struct tcp_segment *s, const uint8_t *payload)
{
    const struct talk *talk = &w->talks[index];
    if (!s->length)
        return;
    CHECK(talk->accepted && !(s->flags & (TCP_SYN | TCP_RST)));
    const uint32_t offset = s->seq - talk->base;
    CHECK(offset <= talk->written && s->length <= talk->written - offset);
    CHECK(memcmp(payload, pattern_at(stream_out(index), s->seq), s->length) == 0);
}

static void look(struct world *w)
{
    for (uint32_t i = 0, length; i < fixture_sent_count(&w->f); i++) {
        const uint8_t *frame = fixture_sent(&w->f, i, &length);
        CHECK(length >= 42 && length <= 1514);
        if (get16(frame + 12) != 0x0800 || frame[14 + 9] != IP_TCP)
            continue;
        const uint32_t port = get16(frame + 36) - 5000u;
        struct tcp_segment segment;
        CHECK(tcp_parse(frame + 34, length - 34, &segment));
        if (port >= PEERS || get32(frame + 30) != weir_addr_to_v4(peer))
            continue;
        check_sent(w, port, &segment, frame + 34 + segment.header_length);
        learn_sent(&w->talks[port].server, &segment);
    }
    fixture_clear(&w->f);
}

static void look_inside(const struct world *w)
{
    for (const struct conn *c = w->f.weir->conns; c < w->f.weir->conns + CONNS; c++) {
        // it ends by two FINs, or with an error
        CHECK(c->socket.state || !c->socket.open || c->error || c->flags & CONN_FIN_RECEIVED);
        if (!c->socket.state)
            continue;
        CHECK(c->send_length <= SEND_BYTES && c->send_at < SEND_BYTES);
        CHECK(c->receive_length <= RECEIVE_BYTES && c->receive_at < RECEIVE_BYTES);
        CHECK(c->max - c->una <= c->send_length + 1u && c->nxt - c->una <= c->max - c->una);
        CHECK(c->edge - c->expected <= RECEIVE_BYTES - c->receive_length);
        CHECK(c->beyond_start == c->beyond_end ||
              (c->beyond_start - c->expected <= RECEIVE_BYTES && c->beyond_end - c->expected <= RECEIVE_BYTES));
    }
}

static void send_ip4(struct world *w, uint8_t protocol, const uint8_t *payload, uint32_t length, uint32_t cut)
{
    uint8_t frame[34 + 1500];
    memcpy(frame, FIXTURE_MAC, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0800);
    const struct ip4 header = {.source = weir_addr_to_v4(peer),
                               .destination = weir_addr_to_v4(ours),
                               .total_length = (uint16_t)(IP4_BYTES + length),
                               .ttl = 64,
                               .protocol = protocol};
    ip4_emit(frame + 14, &header);
    memcpy(frame + 34, payload, length);
    fixture_input(&w->f, frame, 34 + length - (cut < length ? cut : 0));
}

enum { SEQ_AT_BOUNDARY = 1, ACK_AT_BOUNDARY = 2 };

// `numbers`: by signed distances from what fits, or which of them is at a boundary while the other fits. Those are
// mostly plain acknowledgements, since a segment with other flags seldom comes as far as its numbers.
static void segment(struct world *w, uint32_t numbers)
{
    uint8_t bytes[TCP_BYTES + TCP_OPTIONS_MAX + 1024];
    const uint8_t which = take8(&w->in), flags = take8(&w->in), options = take8(&w->in) % 11;
    struct talk *talk = &w->talks[which % PEERS];
    struct tcp_segment s = {.source = (uint16_t)(5000 + which % PEERS),
                            .destination = PORT,
                            .flags = numbers && !(which & 0x40) ? TCP_ACK : flags,
                            .header_length = (uint8_t)(TCP_BYTES + 4 * options)};
    if (numbers) {
        s.seq = numbers & SEQ_AT_BOUNDARY ? boundary(&w->in, &talk->server, &talk->client) : talk->server.expected;
        s.ack = numbers & ACK_AT_BOUNDARY ? boundary(&w->in, &talk->server, &talk->client) : talk->server.nxt;
    } else {
        s.seq = talk->server.expected + (uint32_t)(int32_t)(int16_t)take16(&w->in);
        s.ack = talk->server.nxt + (uint32_t)(int32_t)(int16_t)take16(&w->in);
    }
    s.window = take16(&w->in);
    tcp_emit(bytes, &s);
    memset(bytes + TCP_BYTES, 0, 4u * options);
    uint32_t length = 4u * options;
    const uint8_t *option_bytes = take(&w->in, &length);
    memcpy(bytes + TCP_BYTES, option_bytes, length);
    length = take8(&w->in) * 4u;
    memcpy(bytes + s.header_length, pattern_at(stream_in(which % PEERS), s.seq + !!(s.flags & TCP_SYN)), length);
    s.length = length;
    learn_sent(&talk->client, &s);
    learn_delivered(&talk->server, &s);
    length += s.header_length;
    uint32_t sum = (weir_addr_to_v4(peer) >> 16) + (weir_addr_to_v4(peer) & 0xffff) + (weir_addr_to_v4(ours) >> 16) +
                   (weir_addr_to_v4(ours) & 0xffff) + IP_TCP + length;
    for (uint32_t i = 0; i < length; i++)
        sum += i & 1 ? bytes[i] : (uint32_t)bytes[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    put16(bytes + 16, ~sum & 0xffff);
    send_ip4(w, IP_TCP, bytes, length, which & 0x80 ? which >> 3 & 15 : 0);
}

static void raw(struct world *w)
{
    uint8_t frame[2048];
    uint32_t length = take16(&w->in) & 0x7ff;
    const uint8_t *bytes = take(&w->in, &length);
    memcpy(frame, bytes, length);
    if (length >= 14 && bytes[0] & 1)  // to us, at least
        memcpy(frame, FIXTURE_MAC, 6);
    fixture_input(&w->f, frame, length);
}

static void read_some(struct world *w, struct user *user, uint32_t bytes)
{
    uint8_t data[1024];
    const int n = weir_socket_read(w->f.weir, user->socket, data, bytes);
    CHECK(n <= (int)bytes);
    CHECK(n <= 0 || memcmp(data, pattern_at(stream_in(user->talk), user->next), (uint32_t)n) == 0);
    user->next += n > 0 ? (uint32_t)n : 0;
}

static const struct conn *conn_of(const struct world *w, weir_socket socket)
{
    for (const struct conn *c = w->f.weir->conns; c < w->f.weir->conns + CONNS; c++)
        if (c->socket.open && c->socket.handle == socket)
            return c;
    return NULL;
}

static void accept_one(struct world *w)
{
    const weir_socket socket = weir_socket_accept(w->f.weir, w->listener);
    const struct conn *c = socket > 0 ? conn_of(w, socket) : NULL;
    struct user *user = w->users;
    if (!c)
        return;
    while (user < w->users + SOCKETS && user->socket)
        user++;
    const uint32_t talk = get16(c->peer.ports) - 5000u;
    if (user == w->users + SOCKETS || talk >= PEERS || native32(c->peer.address) != network32(weir_addr_to_v4(peer))) {
        CHECK(weir_socket_abort(w->f.weir, socket) == WEIR_OK);
        return;
    }
    *user = (struct user){
        .socket = socket, .talk = talk, .next = c->expected - c->receive_length - !!(c->flags & CONN_FIN_RECEIVED)};
    w->talks[talk].accepted = true;
    w->talks[talk].base = c->una;
    w->talks[talk].written = 0;
}

// `in_place`: reserved, filled, and then committed, or more than that.
static void write_some(struct world *w, struct user *user, uint32_t bytes, bool in_place)
{
    struct talk *talk = &w->talks[user->talk];
    const uint8_t *data = pattern_at(stream_out(user->talk), talk->base + talk->written);
    struct weir_span spans[2];
    int moved;
    if (!user->socket || talk->written + bytes > STREAM_MAX)
        return;
    if (in_place) {
        const int lent = weir_socket_reserve(w->f.weir, user->socket, SEND_BYTES, spans, 2);
        for (uint32_t i = 0, at = 0; lent > 0 && at < (uint32_t)lent; at += spans[i++].length)
            memcpy(spans[i].data, data + at, spans[i].length);
        moved = weir_socket_commit(w->f.weir, user->socket, bytes);
        CHECK(moved <= 0 || moved <= lent);
    } else {
        moved = weir_socket_write(w->f.weir, user->socket, data, bytes);
    }
    CHECK(moved <= (int)bytes);
    talk->written += moved > 0 ? (uint32_t)moved : 0;
}

static void listen_again(struct world *w)
{
    (void)weir_socket_close(w->f.weir, w->listener);
    w->listener = weir_socket_open(w->f.weir, WEIR_STREAM, 0);
    if (w->listener > 0 &&
        weir_socket_bind(w->f.weir, w->listener, &(struct weir_endpoint){weir_addr_any(), PORT}) == WEIR_OK)
        (void)weir_socket_listen(w->f.weir, w->listener, 2);
}

static void call(struct world *w)
{
    struct weir *weir = w->f.weir;
    const uint8_t what = take8(&w->in), amount = take8(&w->in);
    struct user *user = &w->users[what % SOCKETS];
    uint32_t events;
    switch (what >> 4) {
    case 0:
    case 1: accept_one(w); break;
    case 2:
    case 3:
    case 4: read_some(w, user, 1 + amount * 4u); break;
    case 5:
    case 6: write_some(w, user, amount * 7u, false); break;
    case 7: (void)weir_socket_shutdown(weir, user->socket, (enum weir_shutdown)(amount & 3)); break;
    case 8:
        (void)weir_socket_close(weir, user->socket);
        user->socket = 0;
        break;
    case 9:
        (void)weir_socket_abort(weir, user->socket);
        user->socket = 0;
        break;
    case 10: listen_again(w); break;
    case 11:
        w->f.block_tx = amount & 1;
        if (!w->f.block_tx)
            weir_tx_ready(&w->f.netif);
        break;
    case 12: weir_link_change(&w->f.netif, amount & 1); break;
    case 13: write_some(w, user, amount * 300u, true); break;
    case 14: weir_netif_set_up(&w->f.netif, amount & 1); break;
    default:
        for (int n = 0; n < 32 && weir_ready_next(weir, &events) > 0; n++) {}
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t steps[] = {0, 1000, 250000, 1000000, 3000000, 20000000, 130000000, 2000};
    struct world w = {.in = {data, (uint32_t)size}};
    if (!pattern[0] && !pattern[1])
        pattern_make();
    const struct fixture_options options = {
        .address = ours, .prefix_length = 24, .mode = (enum fixture_mode)(FIXTURE_PLAIN + take8(&w.in) % 4)};
    CHECK(fixture_open_with(&w.f, &options));
    for (uint32_t i = 0; i < PEERS; i++)
        w.talks[i].server.expected = 0xffffff00u * i;
    listen_again(&w);
    for (uint32_t n = 0; n < OPERATIONS && w.in.left; n++) {
        const uint8_t operation = take8(&w.in);
        if (operation < 0x80)
            segment(&w, operation >= 0x50 ? operation >> 4 & 3 : 0);
        else if (operation < 0x90)
            raw(&w);
        else if (operation < 0xb0)
            fixture_poll(&w.f, steps[operation & 7]);
        else
            call(&w);
        if (!(operation & 8))
            fixture_poll(&w.f, 0);
        look(&w);
        look_inside(&w);
    }
    w.f.block_tx = false;
    fixture_close(&w.f);
    return 0;
}
