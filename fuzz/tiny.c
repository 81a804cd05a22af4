// SPDX-License-Identifier: BSD-2-Clause
// The compact stack (profile tiny) under a script of frames, time and socket calls: fuzz/instance.c in small. Frames come whole, or cut at
// any byte, or as segments whose numbers count from those of the conversation; what the server sends is read for that. Checked: the
// sanitizers, and that what is read was sent in order: byte i of the peer's stream is always the same.
#include "fixture.h"

#include "fuzz.h"
#include "weir/socket.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define PORT 7u
#define PEERS 6u
#define SOCKETS 8u
#define OPERATIONS 600u

static const struct weir_addr ours = {0x0a000001}, peer = {0x0a000002};

// A conversation from one of the peer's ports.
struct talk {
    uint32_t next, ack, first;  // the server's next number; what it expects; where the peer's data began
};

struct world {
    struct fixture f;
    struct bytes in;
    struct talk talks[PEERS];
    weir_socket listener, sockets[SOCKETS];
    uint32_t taken[SOCKETS];  // bytes read
};

static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 7 + (at >> 8)); }

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
        if (port >= PEERS || segment.flags & TCP_RST)
            continue;
        struct talk *talk = &w->talks[port];
        talk->next = segment.seq + length - 34 - segment.header_length + !!(segment.flags & TCP_SYN) + !!(segment.flags & TCP_FIN);
        talk->ack = segment.ack;
        if (segment.flags & TCP_SYN)
            talk->first = segment.ack;
    }
    fixture_clear(&w->f);
}

static void send_ip4(struct world *w, uint8_t protocol, const uint8_t *payload, uint32_t length, uint32_t cut)
{
    uint8_t frame[34 + 1500];
    memcpy(frame, FIXTURE_MAC, 6);
    memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
    put16(frame + 12, 0x0800);
    const struct ip4 header = {
        .source = peer.v4, .destination = ours.v4, .total_length = (uint16_t)(IP4_BYTES + length), .ttl = 64, .protocol = protocol};
    ip4_emit(frame + 14, &header);
    memcpy(frame + 34, payload, length);
    fixture_input(&w->f, frame, 34 + length - (cut < length ? cut : 0));
}

static void segment(struct world *w)
{
    uint8_t bytes[TCP_BYTES + TCP_OPTIONS_MAX + 1024];
    const uint8_t which = take8(&w->in), flags = take8(&w->in), options = take8(&w->in) % 11;
    struct talk *talk = &w->talks[which % PEERS];
    struct tcp_segment s = {.source = (uint16_t)(5000 + which % PEERS),
                            .destination = PORT,
                            .flags = flags,
                            .header_length = (uint8_t)(TCP_BYTES + 4 * options)};
    s.seq = talk->ack + (uint32_t)(int32_t)(int16_t)take16(&w->in);
    s.ack = talk->next + (uint32_t)(int32_t)(int16_t)take16(&w->in);
    s.window = take16(&w->in);
    tcp_emit(bytes, &s);
    memset(bytes + TCP_BYTES, 0, 4u * options);
    uint32_t length = 4u * options;
    const uint8_t *option_bytes = take(&w->in, &length);
    memcpy(bytes + TCP_BYTES, option_bytes, length);
    length = take8(&w->in) * 4u;
    for (uint32_t i = 0; i < length; i++)
        bytes[s.header_length + i] = pattern(s.seq - talk->first + i);
    length += s.header_length;
    uint32_t sum = (peer.v4 >> 16) + (peer.v4 & 0xffff) + (ours.v4 >> 16) + (ours.v4 & 0xffff) + IP_TCP + length;
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

static void read_some(struct world *w, uint32_t index, uint32_t bytes)
{
    uint8_t data[1024];
    const int n = weir_socket_read(w->f.weir, w->sockets[index], data, bytes);
    CHECK(n <= (int)bytes);
    for (int i = 0; i < n; i++)
        CHECK(data[i] == pattern(w->taken[index] + (uint32_t)i));
    w->taken[index] += n > 0 ? (uint32_t)n : 0;
}

static void accept_one(struct world *w)
{
    const weir_socket socket = weir_socket_accept(w->f.weir, w->listener);
    for (uint32_t i = 0; i < SOCKETS && socket > 0; i++)
        if (!w->sockets[i]) {
            w->sockets[i] = socket;
            w->taken[i] = 0;
            return;
        }
    if (socket > 0)
        CHECK(weir_socket_abort(w->f.weir, socket) == WEIR_OK);
}

static void listen_again(struct world *w)
{
    (void)weir_socket_close(w->f.weir, w->listener);
    w->listener = weir_socket_open(w->f.weir, WEIR_STREAM, 0);
    if (w->listener > 0 && weir_socket_bind(w->f.weir, w->listener, &(struct weir_endpoint){weir_addr_any(), PORT}) == WEIR_OK)
        (void)weir_socket_listen(w->f.weir, w->listener, 2);
}

static void call(struct world *w)
{
    static const uint8_t text[2000];
    struct weir *weir = w->f.weir;
    const uint8_t what = take8(&w->in), amount = take8(&w->in);
    const uint32_t index = what % SOCKETS;
    uint32_t events;
    switch (what >> 4) {
    case 0:
    case 1: accept_one(w); break;
    case 2:
    case 3:
    case 4: read_some(w, index, 1 + amount * 4u); break;
    case 5:
    case 6: CHECK(weir_socket_write(weir, w->sockets[index], text, amount * 7u) <= amount * 7); break;
    case 7: (void)weir_socket_shutdown(weir, w->sockets[index], (enum weir_shutdown)(amount & 3)); break;
    case 8:
        (void)weir_socket_close(weir, w->sockets[index]);
        w->sockets[index] = 0;
        break;
    case 9:
        (void)weir_socket_abort(weir, w->sockets[index]);
        w->sockets[index] = 0;
        break;
    case 10: listen_again(w); break;
    case 11:
        w->f.block_tx = amount & 1;
        if (!w->f.block_tx)
            weir_tx_ready(&w->f.netif);
        break;
    case 12: weir_link_change(&w->f.netif, amount & 1); break;
    case 13: (void)weir_socket_commit(weir, w->sockets[index], amount * 300u); break;
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
    const struct fixture_options options = {
        .address = ours, .prefix_length = 24, .mode = (enum fixture_mode)(FIXTURE_PLAIN + take8(&w.in) % 4)};
    CHECK(fixture_open_with(&w.f, &options));
    for (uint32_t i = 0; i < PEERS; i++)
        w.talks[i].ack = 0xffffff00u * i;
    listen_again(&w);
    for (uint32_t n = 0; n < OPERATIONS && w.in.left; n++) {
        const uint8_t operation = take8(&w.in);
        if (operation < 0x80)
            segment(&w);
        else if (operation < 0x90)
            raw(&w);
        else if (operation < 0xb0)
            fixture_poll(&w.f, steps[operation & 7]);
        else
            call(&w);
        if (!(operation & 8))
            fixture_poll(&w.f, 0);
        look(&w);
    }
    w.f.block_tx = false;
    fixture_close(&w.f);
    return 0;
}
