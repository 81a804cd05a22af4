// SPDX-License-Identifier: BSD-2-Clause
// What stands around frames: SLIP's bytes, and the virtio-net header that Linux puts before a frame. The first byte
// says which.
//
// SLIP: a line brings any bytes in any pieces, and takes as few as it likes. What is handed up is what another decoder
// makes of the same bytes; what was sent, decoded, is what was to be sent.
// vnet: a header that lies, before a frame that is right or not, is delivered to a whole instance. Pieces of a merged
// frame are in the driver's memory, which is of exactly its length.
#include "fixture.h"

#include "drivers/slip.h"
#include "drivers/vnet.h"
#include "fuzz.h"
#include "weir/socket.h"
#include "wire/ip4.h"
#include "wire/tcp.h"
#include "wire/udp.h"

#include <linux/virtio_net.h>

enum { END = 0xc0, ESC = 0xdb, ESC_END = 0xdc, ESC_ESC = 0xdd };

// --- SLIP ------------------------------------------------------------------------------------------------------------

static struct {
    const uint8_t *in;
    uint32_t in_length, in_at, gives, takes;
    uint8_t out[65536];
    uint32_t out_length;
    uint32_t seen;  // up to where the other decoder has come
    uint32_t frames;
} line;

static struct slip *slip;
static struct weir_netif slip_netif;

static uint32_t line_read(void *context, uint8_t *to, uint32_t room)
{
    uint32_t n = line.in_length - line.in_at;
    CHECK(context == &line);
    n = n < room ? n : room;
    n = n < line.gives ? n : line.gives;
    memcpy(to, line.in + line.in_at, n);
    line.in_at += n;
    return n;
}

static uint32_t line_write(void *context, const uint8_t *from, uint32_t bytes)
{
    const uint32_t n = bytes < line.takes ? bytes : line.takes;
    CHECK(context == &line && bytes && line.out_length + n <= sizeof line.out);
    memcpy(line.out + line.out_length, from, n);
    line.out_length += n;
    return n;
}
static const struct slip_pipe slip_pipe = {line_read, line_write, &line};

// The next packet in `bytes` from *at on, at most SLIP_MTU bytes, by RFC 1055's rules and the driver's for what is
// none. -1: there is no more.
static int32_t decode(const uint8_t *bytes, uint32_t length, uint32_t *at, uint8_t out[SLIP_MTU])
{
    while (*at < length) {
        uint32_t end = *at, count = 0;
        bool good = true;
        while (end < length && bytes[end] != END)
            end++;
        if (end == length)
            return -1;
        for (uint32_t i = *at; i < end; i++) {
            uint8_t byte = bytes[i];
            if (byte == ESC) {
                byte = ++i < end ? bytes[i] : 0;
                good &= byte == ESC_END || byte == ESC_ESC;
                byte = byte == ESC_END ? END : ESC;
            }
            if (count < SLIP_MTU)
                out[count] = byte;
            good &= ++count <= SLIP_MTU;
        }
        *at = end + 1;
        if (good && count)
            return (int32_t)count;
    }
    return -1;
}

static void slip_input(struct weir_netif *of, const struct weir_frame *frame)
{
    uint8_t expected[SLIP_MTU];
    const int32_t length = decode(line.in, line.in_length, &line.seen, expected);
    CHECK(of == &slip_netif && frame->count == 1 && length == (int32_t)frame->length);
    CHECK(memcmp(expected, frame->slices[0].data, frame->length) == 0);
    line.frames++;
}
static void slip_ready(struct weir_netif *of) { CHECK(of == &slip_netif); }
static void slip_complete(struct weir_netif *of, void *owner, uint32_t end) { CHECK(!of && !owner && !end); }
static void slip_carrier(struct weir_netif *of, bool up) { CHECK(!of && up); }
static const struct weir_upper slip_upper = {slip_input, slip_ready, slip_complete, slip_carrier};

static void slip_send(struct bytes *in, uint8_t *sent, uint32_t *sent_bytes)
{
    uint32_t length = 1u + take8(in) * 4u;
    const uint8_t *bytes = take(in, &length);
    if (!length || *sent_bytes + length + 2 > 16384)
        return;
    const struct weir_slice slices[2] = {{bytes, length - length / 3}, {bytes + length - length / 3, length / 3}};
    const struct weir_tx tx = {.slices = slices, .length = length, .count = length / 3 ? 2 : 1, .header_length = 1};
    if (slip_netif.driver->tx(&slip_netif, &tx) != WEIR_TX_DONE || length > SLIP_MTU)
        return;
    sent[(*sent_bytes)++] = (uint8_t)(length >> 8);
    sent[(*sent_bytes)++] = (uint8_t)length;
    memcpy(sent + *sent_bytes, bytes, length);
    *sent_bytes += length;
}

// What the line took is what was sent.
static void slip_compare(const uint8_t *sent, uint32_t sent_bytes)
{
    uint8_t packet[SLIP_MTU];
    uint32_t at = 0, wire_at = 0;
    while (at < sent_bytes) {
        const int32_t length = decode(line.out, line.out_length, &wire_at, packet);
        CHECK(length == (sent[at] << 8 | sent[at + 1]) && memcmp(packet, sent + at + 2, (size_t)length) == 0);
        at += 2 + (uint32_t)length;
    }
    CHECK(decode(line.out, line.out_length, &wire_at, packet) == -1);
}

static void fuzz_slip(struct bytes *in)
{
    static uint8_t sent[16384];
    uint32_t sent_bytes = 0, incoming = take16(in);
    const uint8_t *bytes = take(in, &incoming);
    memset(&line, 0, sizeof line);
    line.in = bytes;
    line.in_length = incoming;
    line.gives = line.takes = 1000;
    slip = malloc(sizeof *slip);
    CHECK(slip != NULL);
    slip_open(slip, &slip_pipe);
    slip_attach(slip, &slip_netif, "sl0");
    slip_netif.upper = &slip_upper;
    for (uint32_t n = 0; n < 300 && in->left; n++) {
        const uint8_t operation = take8(in);
        switch (operation & 3) {
        case 0: (void)slip_netif.driver->poll(&slip_netif, 1 + (operation >> 2)); break;
        case 1: slip_send(in, sent, &sent_bytes); break;
        case 2: line.gives = operation >> 2; break;
        default: line.takes = operation >> 2; break;
        }
    }
    line.gives = line.takes = 1000;
    for (uint32_t n = 0; n < 1000; n++)
        (void)slip_netif.driver->poll(&slip_netif, 16);
    uint8_t rest[SLIP_MTU];
    CHECK(line.in_at == line.in_length && decode(line.in, line.in_length, &line.seen, rest) == -1);
    slip_compare(sent, sent_bytes);
    free(slip);
}

// --- vnet ------------------------------------------------------------------------------------------------------------

static uint16_t word(struct bytes *in)
{
    static const uint16_t words[16] = {0, 1, 14, 18, 20, 33, 34, 35, 38, 54, 536, 1460, 65500, 65535, 16, 6};
    const uint8_t choice = take8(in);
    return choice & 0x80 ? take16(in) : words[choice & 15];
}

// A TCP segment or UDP datagram to us, then as much as the input says, of its bytes.
static uint32_t frame_begin(struct bytes *in, uint8_t *frame, uint32_t link, uint32_t rest)
{
    const uint8_t how = take8(in);
    const uint32_t transport = how & 1 ? TCP_BYTES : UDP_BYTES, total = IP4_BYTES + transport + rest;
    memset(frame, 0, link + IP4_BYTES + transport);
    if (link) {
        memcpy(frame, FIXTURE_MAC, 6);
        memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
        put16(frame + 12, 0x0800);
    }
    ip4_emit(frame + link, &(struct ip4){.source = 0x0a000002,
                                         .destination = 0x0a000001,
                                         .total_length = (uint16_t)total,
                                         .ttl = 64,
                                         .protocol = how & 1 ? IP_TCP : IP_UDP});
    uint8_t *to = frame + link + IP4_BYTES;
    if (how & 1)
        tcp_emit(to, &(struct tcp_segment){.source = 5000,
                                           .destination = 7,
                                           .seq = 1,
                                           .flags = how & 2 ? TCP_SYN : TCP_ACK | TCP_PSH,
                                           .window = 1000,
                                           .header_length = TCP_BYTES});
    else
        udp_emit(to, &(struct udp_header){.source = 5000, .destination = 9, .length = (uint16_t)(UDP_BYTES + rest)});
    return link + IP4_BYTES + transport;
}

static void vnet_frame(struct fixture *f, struct bytes *in)
{
    static uint8_t frame[66000];
    const uint8_t how = take8(in);
    const uint32_t link = f->netif.link->header_bytes ? 14 : 0;
    uint32_t rest = word(in), at = 0;
    rest = rest < 65400 ? rest : 65400;
    if (how & 3)
        at = frame_begin(in, frame, link, rest);
    for (uint32_t i = 0; i < rest; i++)
        frame[at + i] = (uint8_t)i;
    for (uint8_t n = how >> 4; n; n--) {
        const uint16_t where = word(in);
        frame[where % (at + rest + 1)] = take8(in);
    }
    const struct virtio_net_hdr header = {.flags = take8(in),
                                          .gso_type = take8(in),
                                          .hdr_len = word(in),
                                          .gso_size = word(in),
                                          .csum_start = word(in),
                                          .csum_offset = word(in)};
    const uint32_t length = how & 4 ? at + rest : at + rest - (at + rest ? take8(in) % (at + rest) : 0);
    uint8_t *bytes = exact_copy(frame, length);
    weir_clock(f->weir, f->now_us);
    if (length >= 1)
        CHECK(vnet_deliver(&f->netif, &header, bytes, length) >= 0);
    memset(bytes, 0xdb, length);
    free(bytes);
}

static void fuzz_vnet(struct bytes *in)
{
    struct fixture f;
    const uint8_t choice = take8(in);
    const struct fixture_options options = {.link = choice & 1 ? &weir_link_rawip : &weir_link_ethernet,
                                            .address = weir_ip4(10, 0, 0, 1),
                                            .prefix_length = 24};
    CHECK(fixture_open_with(&f, &options));
    const weir_socket listener = weir_socket_open(f.weir, WEIR_STREAM, 0),
                      socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    CHECK(weir_socket_bind(f.weir, listener, &(struct weir_endpoint){weir_addr_any(), 7}) == WEIR_OK);
    CHECK(weir_socket_listen(f.weir, listener, 4) == WEIR_OK);
    CHECK(weir_socket_bind(f.weir, socket, &(struct weir_endpoint){weir_addr_any(), 9}) == WEIR_OK);
    for (uint32_t n = 0; n < 40 && in->left; n++) {
        struct weir_message message;
        struct weir_slice slice;
        vnet_frame(&f, in);
        while (weir_socket_peek_message(f.weir, socket, &message, &slice) >= 0)
            CHECK(message.length <= 65507 && weir_socket_discard(f.weir, socket) >= 0);
        fixture_poll(&f, 1000);
        fixture_clear(&f);
    }
    fixture_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = {data, (uint32_t)size};
    if (take8(&in) & 1)
        fuzz_vnet(&in);
    else
        fuzz_slip(&in);
    return 0;
}
