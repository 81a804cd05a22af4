// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
// Builds without an allocator: the instance lives in one block of weir_size bytes, not one less, and serves for ever.
// The client is a TCP of a few lines: it sends one segment at a time, again until it is acknowledged, and its link
// loses frames both ways.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define SERVER weir_ip4(10, 0, 0, 1)
#define CLIENT weir_ip4(10, 0, 0, 2)
#define PORT 7
#define REQUEST 700u  // bytes a connection sends and wants back
#define SEGMENT 300u
#define PATIENCE_US 60000u
#define WINDOW 8192
#define MOST (WEIR_CFG_ALLOCATOR ? 1 : WEIR_CFG_SOCKETS)  // sockets a static build has

struct client {
    struct fixture *f;
    uint32_t lose;  // of 1000 frames, each way
    uint64_t random;
    uint16_t port;
    uint32_t una, nxt, expected;  // ours acknowledged and sent; the server's next
    uint32_t first;               // sequence number of the first byte of data
    uint32_t server_first;
    bool established, server_fin, reset;
    uint32_t echoed;
    uint32_t listener, socket;
};

static bool lost(struct client *c)
{
    c->random = c->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(c->random >> 33) % 1000 < c->lose;
}

static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 11 + 3); }

static void client_send(struct client *c, uint8_t flags, uint32_t sequence, uint32_t length)
{
    uint8_t bytes[TCP_BYTES + SEGMENT];
    const struct tcp_segment segment = {.source = c->port,
                                        .destination = PORT,
                                        .seq = sequence,
                                        .ack = flags & TCP_ACK ? c->expected : 0,
                                        .flags = flags,
                                        .window = WINDOW,
                                        .header_length = TCP_BYTES};
    tcp_emit(bytes, &segment);
    for (uint32_t i = 0; i < length; i++)
        bytes[TCP_BYTES + i] = pattern(sequence - c->first + i);
    const uint16_t sum =
        checksum_add(ip4_pseudo_sum(weir_addr_to_v4(CLIENT), weir_addr_to_v4(SERVER), IP_TCP, TCP_BYTES + length),
                     checksum_sum_portable(bytes, TCP_BYTES + length));
    checksum_put(bytes + 16, sum);
    if (!lost(c))
        fixture_input_ip4(c->f, CLIENT, SERVER, IP_TCP, bytes, TCP_BYTES + length);
}

static void client_segment(struct client *c, const struct tcp_segment *s, const uint8_t *data)
{
    if (s->destination != c->port)
        return;
    if (s->flags & TCP_RST) {
        c->reset = true;
        return;
    }
    if (s->flags & TCP_SYN) {
        c->expected = s->seq + 1;
        c->server_first = c->expected;
        c->established = true;
    }
    if (s->flags & TCP_ACK && seq_lt(c->una, s->ack) && seq_le(s->ack, c->nxt))
        c->una = s->ack;
    const uint32_t end = s->seq + s->length;
    // in order: what is out of order the server sends again
    if (seq_le(s->seq, c->expected) && seq_lt(c->expected, end)) {
        for (uint32_t at = c->expected; at != end; at++)
            assert_int_equal(data[at - s->seq], pattern(at - c->server_first));
        c->echoed += end - c->expected;
        c->expected = end;
    }
    if (s->flags & TCP_FIN && c->expected == end && !c->server_fin) {
        c->expected++;
        c->server_fin = true;
    }
    if (s->length || s->flags & (TCP_SYN | TCP_FIN))
        client_send(c, TCP_ACK, c->nxt, 0);
}

// The server's turn for `us`, then what it sent.
static void pass(struct client *c, uint32_t us)
{
    struct fixture *f = c->f;
    fixture_poll(f, us);
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t length;
        struct ip4 ip;
        struct tcp_segment segment;
        const uint8_t *packet = fixture_sent_packet(f, i, &length);
        if (lost(c) || ip4_parse(packet, length, false, &ip) != IP4_OK || ip.protocol != IP_TCP)
            continue;
        assert_true(tcp_parse(packet + IP4_BYTES, length - IP4_BYTES, &segment));
        client_segment(c, &segment, packet + IP4_BYTES + segment.header_length);
    }
    fixture_clear(f);
}

// The server: accepts, echoes in place, closes when the client did.
static void serve(struct client *c)
{
    struct weir *weir = c->f->weir;
    if (c->socket == 0) {
        const weir_socket taken = weir_socket_accept(weir, (weir_socket)c->listener);
        assert_true(taken > 0 || taken == WEIR_AGAIN);
        c->socket = taken > 0 ? (uint32_t)taken : 0;
    }
    struct weir_slice from;
    struct weir_span to;
    int got = WEIR_AGAIN;
    while (c->socket && (got = weir_socket_peek(weir, (weir_socket)c->socket, 0, &from, 1)) > 0) {
        const int room = weir_socket_reserve(weir, (weir_socket)c->socket, (uint32_t)got, &to, 1);
        if (room <= 0)
            break;
        memcpy(to.data, from.data, (uint32_t)room);
        assert_int_equal(weir_socket_commit(weir, (weir_socket)c->socket, (uint32_t)room), room);
        assert_int_equal(weir_socket_consume(weir, (weir_socket)c->socket, (uint32_t)room), room);
    }
    if (c->socket && (got == 0 || (got < 0 && got != WEIR_AGAIN))) {
        assert_int_equal(weir_socket_close(weir, (weir_socket)c->socket), WEIR_OK);
        c->socket = 0;
    }
}

static void client_turn(struct client *c)
{
    const uint32_t left = c->first + REQUEST - c->una;
    if (!c->established)
        client_send(c, TCP_SYN, c->nxt - 1, 0);
    else if (seq_lt(c->una, c->first + REQUEST)) {
        const uint32_t length = left < SEGMENT ? left : SEGMENT;
        c->nxt = seq_max(c->nxt, c->una + length);
        client_send(c, TCP_ACK | TCP_PSH, c->una, length);
    } else if (c->echoed == REQUEST && c->una != c->first + REQUEST + 1) {
        c->nxt = c->first + REQUEST + 1;
        client_send(c, TCP_FIN | TCP_ACK, c->first + REQUEST, 0);
    }
    const uint32_t una = c->una;
    for (uint32_t waited = 0; waited < PATIENCE_US && (una == c->una || c->echoed < c->una - c->first);
         waited += 1000) {
        pass(c, 1000);
        serve(c);
    }
    pass(c, 0);
}

// One connection from SYN to the last FIN.
static void converse(struct client *c, uint32_t number)
{
    c->port = (uint16_t)(20000 + number % 20000);
    c->first = c->nxt = c->una = number * 0x01234567u;
    c->established = c->server_fin = c->reset = false;
    c->echoed = 0;
    uint32_t turns = 0;
    while (!c->server_fin) {
        assert_false(c->reset);
        assert_in_range(turns++, 0, 3000);
        client_turn(c);
    }
    assert_int_equal(c->echoed, REQUEST);
}

static void open_server(struct client *c, struct fixture *f, uint32_t lose)
{
    memset(c, 0, sizeof *c);
    fixture_open(f, &weir_link_ethernet, SERVER, 24, 0);
    fixture_know_peer(f, CLIENT);
    c->f = f;
    c->lose = lose;
    c->random = lose + 1;
    c->listener = (uint32_t)weir_socket_open(f->weir, WEIR_STREAM, 0);
    assert_true((int32_t)c->listener > 0);
    assert_int_equal(
        weir_socket_bind(f->weir, (weir_socket)c->listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(f->weir, (weir_socket)c->listener, 1), WEIR_OK);
}

static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 0x3c, bytes);
}

static void exactly_weir_size_bytes_are_needed(void **state)
{
    (void)state;
    static const struct weir_port port = {.entropy = entropy};
    const struct weir_config other = {
        .sockets_max = WEIR_CFG_SOCKETS - 1, .tcp_send_buffer_bytes = 1111, .tcp_receive_buffer_bytes = 2221};
    const struct weir_config *const configs[] = {NULL, &other};
    for (uint32_t i = 0; i < 2; i++) {
        const size_t bytes = weir_size(configs[i]);
        uint8_t *block = malloc(bytes);
        memset(block, 0xa5, bytes);
        assert_null(weir_create(block, bytes - 1, &port, configs[i]));
        struct weir *weir = weir_create(block, bytes, &port, configs[i]);
        assert_non_null(weir);
        weir_destroy(weir);
        assert_non_null(weir_create(block, bytes, &port, configs[i]));  // and again, whatever the last one left
        free(block);
    }
}

static void a_thousand_connections_leave_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct client c;
    open_server(&c, &f, 0);
    for (uint32_t number = 0; number < 1000; number++)
        converse(&c, number);
    fixture_close(&f);
}

static void also_when_frames_are_lost(void **state)
{
    (void)state;
    struct fixture f;
    struct client c;
    open_server(&c, &f, 100);
    for (uint32_t number = 0; number < 100; number++)
        converse(&c, number);
    fixture_close(&f);
}

static void all_sockets_can_be_used_again(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, SERVER, 24, 0);
    for (uint32_t round = 0; round < 1000; round++) {
        weir_socket sockets[MOST + 1];
        uint32_t count = 0;
        while ((sockets[count] = weir_socket_open(f.weir, WEIR_STREAM, 0)) > 0) {
            assert_in_range(count, 0, MOST - 1);
            assert_int_equal(weir_socket_bind(f.weir, sockets[count],
                                              &(struct weir_endpoint){weir_addr_any(), (uint16_t)(1000 + count)}),
                             WEIR_OK);
            if (count + 1 <= WEIR_CFG_LISTENERS)
                assert_int_equal(weir_socket_listen(f.weir, sockets[count], 1), WEIR_OK);
            count++;
        }
        assert_int_equal(sockets[count], WEIR_NO_MEMORY);
        assert_in_range(count, 1, MOST);
        while (count)
            assert_int_equal(weir_socket_close(f.weir, sockets[--count]), WEIR_OK);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exactly_weir_size_bytes_are_needed), cmocka_unit_test(a_thousand_connections_leave_nothing),
        cmocka_unit_test(also_when_frames_are_lost),
        cmocka_unit_test(all_sockets_can_be_used_again),  // the last: not where there is an allocator
    };
    return faults_run_tests("static", tests, sizeof tests / sizeof tests[0] - WEIR_CFG_ALLOCATOR, NULL, NULL);
}
