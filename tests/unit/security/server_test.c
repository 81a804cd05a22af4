// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
// Attacks on a server that both stacks must stand, the full one and the compact one, by way of the public interface
// alone.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "weir/socket.h"
#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"

#if WEIR_CFG_IP4
#define IP_BYTES IP4_BYTES
#else
#define IP_BYTES IP6_BYTES
#endif
#define FRAME (14 + IP_BYTES + 26)
#define PORT 7
#define SECOND_US 1000000u

struct attack {
    struct fixture f;
    struct weir_addr server, peer;
    weir_socket listener, socket;
    uint32_t seq, ack;  // of the peer
    uint32_t reset;     // the number of the last reset that it was sent
    uint16_t window;
};

#if WEIR_CFG_IP4
static uint16_t pseudo_sum(const struct attack *a, uint32_t length)
{
    return ip4_pseudo_sum(weir_addr_to_v4(a->peer), weir_addr_to_v4(a->server), IP_TCP, length);
}
#else
static uint16_t pseudo_sum(const struct attack *a, uint32_t length)
{
    uint8_t from[16], to[16];
    weir_addr_to_v6(a->peer, from);
    weir_addr_to_v6(a->server, to);
    return ip6_pseudo_sum(from, to, IP_TCP, length);
}
#endif

static void peer_segment(struct attack *a, uint8_t flags, const void *data, uint32_t length)
{
    uint8_t bytes[TCP_BYTES + 600];
    const struct tcp_segment segment = {.source = 40000,
                                        .destination = PORT,
                                        .seq = a->seq,
                                        .ack = flags & TCP_ACK ? a->ack : 0,
                                        .flags = flags,
                                        .window = a->window,
                                        .header_length = TCP_BYTES};
    tcp_emit(bytes, &segment);
    memcpy(bytes + TCP_BYTES, data, length);
    checksum_put(bytes + 16,
                 checksum_add(pseudo_sum(a, TCP_BYTES + length), checksum_sum_portable(bytes, TCP_BYTES + length)));
    fixture_input_ip(&a->f, a->peer, a->server, IP_TCP, bytes, TCP_BYTES + length);
    fixture_poll(&a->f, 0);
}

// Looks at all that was sent: acknowledges what is new. Returns the flags seen.
static uint8_t peer_look(struct attack *a)
{
    uint8_t flags = 0;
    for (uint32_t i = 0, length; i < fixture_sent_count(&a->f); i++) {
        const uint8_t *packet = fixture_sent_packet(&a->f, i, &length);
        if (length < IP_BYTES + TCP_BYTES || packet[WEIR_CFG_IP4 ? 9 : 6] != IP_TCP)
            continue;
        const uint8_t *segment = packet + IP_BYTES;
        flags |= segment[13];
        if (segment[13] & TCP_RST)
            a->reset = get32(segment + 4);
        if (segment[13] & TCP_SYN)
            a->ack = get32(segment + 4) + 1;
    }
    fixture_clear(&a->f);
    return flags;
}

// The compact stack makes its IPv6 address itself: the link's.
#if WEIR_CFG_COMPACT && !WEIR_CFG_IP4
static void open_fixture(struct attack *a)
{
    fixture_open(&a->f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_ip6(&a->f.netif, WEIR_IP6_AUTO | WEIR_IP6_PROMPT, NULL), WEIR_OK);
    fixture_poll(&a->f, 10 * SECOND_US);
    assert_int_equal(a->f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_clear(&a->f);
    a->server = a->f.netif.address.addr;
    a->peer = weir_addr_v6((const uint8_t[16]){0xfe, 0x80, [15] = 2});
}
#else
static void open_fixture(struct attack *a)
{
    a->server = fixture_address(1);
    a->peer = fixture_address(2);
    fixture_open(&a->f, &weir_link_ethernet, a->server, WEIR_CFG_IP4 ? 24 : 120, 0);
    fixture_know_peer(&a->f, a->peer);
}
#endif

static void open_server(struct attack *a)
{
    memset(a, 0, sizeof *a);
    open_fixture(a);
    a->window = 8000;
    a->seq = 0xfffffff0;
    a->listener = weir_socket_open(a->f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(a->f.weir, a->listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(a->f.weir, a->listener, 2), WEIR_OK);
}

static void open_connection(struct attack *a)
{
    open_server(a);
    peer_segment(a, TCP_SYN, "", 0);
    assert_true(peer_look(a) & TCP_SYN);
    a->seq++;
    peer_segment(a, TCP_ACK, "", 0);
    a->socket = weir_socket_accept(a->f.weir, a->listener);
    assert_true(a->socket > 0);
}

// --- frames ----------------------------------------------------------------------------------------------------------

// What stands at the beginning of a frame's payload: a segment (0) or an echo request (1) and a total length; or (2) a
// question for an address, of ARP or of a neighbour.
#if WEIR_CFG_IP4
static void head_put(const struct attack *a, uint8_t *frame, uint32_t kind, uint32_t length)
{
    const struct ip4 header = {.source = weir_addr_to_v4(a->peer),
                               .destination = weir_addr_to_v4(a->server),
                               .ttl = 64,
                               .protocol = kind ? IP_ICMP : IP_TCP,
                               .total_length = (uint16_t)(IP4_BYTES + length)};
    put16(frame + 12, kind == 2 ? 0x0806 : 0x0800);
    ip4_emit(frame + 14, &header);
    frame[14 + IP4_BYTES] = kind ? 8 : 0;
    if (kind == 2)
        memcpy(frame + 14, "\0\1\10\0\6\4\0\1", 8);
}
#else
static void head_put(const struct attack *a, uint8_t *frame, uint32_t kind, uint32_t length)
{
    uint8_t from[16], to[16];
    weir_addr_to_v6(a->peer, from);
    weir_addr_to_v6(a->server, to);
    const struct ip6 header = {.source = from,
                               .destination = to,
                               .hop_limit = 255,
                               .next_header = kind ? IP6_ICMP : IP_TCP,
                               .payload_length = (uint16_t)length};
    put16(frame + 12, 0x86dd);
    ip6_emit(frame + 14, &header);
    frame[14 + IP6_BYTES] = kind == 2 ? 135 : kind ? 128 : 0;
}
#endif

// A good segment, echo and question for an address cut short at every byte; the total length is right, or lies. The
// frame ends where its memory does.
static void every_cut_is_survived(void **state)
{
    struct attack a;
    (void)state;
    open_server(&a);
    for (uint32_t kind = 0; kind < 3; kind++)
        for (uint32_t length = 1; length <= FRAME; length++)
            for (uint32_t honest = 0; honest < 2; honest++) {
                uint8_t frame[FRAME] = {0};
                memcpy(frame, FIXTURE_MAC, 6);
                memcpy(frame + 6, FIXTURE_PEER_MAC, 6);
                head_put(&a, frame, kind, honest && length >= 14 + IP_BYTES ? length - 14 - IP_BYTES : 26);
                frame[14 + IP_BYTES + 12] = kind ? 0 : 0xf0;  // a data offset beyond all
                fixture_input(&a.f, frame, length);
                fixture_poll(&a.f, 0);
            }
    fixture_close(&a.f);
}

// --- ends ------------------------------------------------------------------------------------------------------------

// The interface goes while a connection is open (and data is under way); then everything is closed, or times out.
static void an_interface_goes_and_all_is_closed(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct attack a;
        open_connection(&a);
        assert_int_equal(weir_socket_write(a.f.weir, a.socket, "data", 4), 4);
        if (how & 1)
            peer_segment(&a, TCP_ACK, "unread", 6);
        weir_netif_remove(&a.f.netif);
        fixture_poll(&a.f, how & 2 ? 2000u * SECOND_US : SECOND_US);
        (void)weir_socket_close(a.f.weir, a.socket);
        assert_int_equal(weir_socket_close(a.f.weir, a.listener), WEIR_OK);
        fixture_poll(&a.f, SECOND_US);
        fixture_close(&a.f);
    }
}

// Four bytes wait behind a window that the peer has closed.
static void open_behind_a_closed_window(struct attack *a)
{
    open_connection(a);
    a->window = 0;
    peer_segment(a, TCP_ACK, "", 0);
    assert_int_equal(weir_socket_write(a->f.weir, a->socket, "data", 4), 4);
}

// Sockstress: the user has closed, the peer acknowledges every probe and never opens its window. Nobody is left to end
// it.
static void a_closed_window_does_not_hold_what_nobody_owns(void **state)
{
    struct attack a;
    (void)state;
    open_behind_a_closed_window(&a);
    assert_int_equal(weir_socket_close(a.f.weir, a.socket), WEIR_OK);
    for (uint32_t s = 0; s < 2 * WEIR_CFG_TCP_USER_TIMEOUT_S; s += 5) {
        fixture_poll(&a.f, 5 * SECOND_US);
        peer_segment(&a, TCP_ACK, "", 0);
    }
    peer_look(&a);
    a.window = 8000;
    peer_segment(&a, TCP_ACK, "", 0);  // nobody is there any more
    assert_int_equal(peer_look(&a), TCP_RST);
    fixture_close(&a.f);
}

// Who is put out while his window is closed hears of it: the probe of the window, which he refused, does not count.
static void a_reset_is_heard_behind_a_closed_window(void **state)
{
    struct attack a;
    (void)state;
    open_behind_a_closed_window(&a);
    fixture_poll(&a.f, 10 * SECOND_US);
    assert_int_equal(peer_look(&a) & ~TCP_PSH, TCP_ACK);  // probes
    assert_int_equal(weir_socket_abort(a.f.weir, a.socket), WEIR_OK);
    fixture_poll(&a.f, SECOND_US);
    assert_int_equal(peer_look(&a), TCP_RST | TCP_ACK);
    assert_int_equal(a.reset, a.ack);
    fixture_close(&a.f);
}

// RFC 5961: nothing but the exact next number ends a connection, and what is guessed leaves no trace in it.
static void guesses_end_nothing(void **state)
{
    struct attack a;
    (void)state;
    open_connection(&a);
    const uint32_t seq = a.seq, ack = a.ack;
    static const uint32_t offsets[] = {1,          2,          100,        500,        0x10000,
                                       0x40000000, 0x80000000, 0xc0000000, UINT32_MAX, UINT32_MAX - 500};
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        a.seq = seq + offsets[i];
        peer_segment(&a, TCP_RST, "", 0);
        peer_segment(&a, TCP_RST | TCP_ACK, "", 0);
        peer_segment(&a, TCP_SYN, "", 0);
        peer_segment(&a, TCP_SYN | TCP_ACK, "", 0);
        a.seq = seq;
        a.ack = ack + 0x10000 + offsets[i] / 2;
        peer_segment(&a, TCP_ACK, "evil", 4);
        peer_segment(&a, TCP_ACK | TCP_FIN, "evil", 4);
        a.ack = ack;
        fixture_poll(&a.f, 2 * SECOND_US);
        assert_int_equal(peer_look(&a) & TCP_RST, 0);
    }
    uint8_t byte;
    assert_int_equal(weir_socket_read(a.f.weir, a.socket, &byte, 1), WEIR_AGAIN);
    peer_segment(&a, TCP_ACK, "good", 4);
    char data[8];
    assert_int_equal(weir_socket_read(a.f.weir, a.socket, data, 8), 4);
    assert_memory_equal(data, "good", 4);
    a.seq += 4;
    peer_segment(&a, TCP_RST, "", 0);
    assert_int_equal(weir_socket_read(a.f.weir, a.socket, data, 8), WEIR_RESET);
    fixture_close(&a.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cut_is_survived),
        cmocka_unit_test(an_interface_goes_and_all_is_closed),
        cmocka_unit_test(a_closed_window_does_not_hold_what_nobody_owns),
        cmocka_unit_test(a_reset_is_heard_behind_a_closed_window),
        cmocka_unit_test(guesses_end_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
