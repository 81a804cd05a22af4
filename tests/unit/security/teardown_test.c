// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Ends in the middle of everything: instances destroyed, interfaces taken away, listeners and sockets closed while
// others hold on to them. The sanitizer sees what is used after its end, the fixture what is not given back.
#include <stdlib.h>

#include "built.h"
#include "tcp/tcp_fixture.h"
#include "wire/ip4.h"

#include "instance.h"

#define SECOND_US 1000000u
#define TCP_PREFIX (WEIR_CFG_IP4 ? 24 : 120)
#if WEIR_CFG_IP4
#define LOOPBACK weir_ip4(127, 0, 0, 1)
#else
#define LOOPBACK weir_addr_v6((const uint8_t[16]){[15] = 1})
#endif
#define SOCKETS (WEIR_CFG_ALLOCATOR ? 8 : 7)  // four streams, and datagrams

static const struct tcp_fixture_options plain;

static weir_socket opening(struct weir *weir, struct weir_addr peer)
{
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_connect(weir, socket, &(struct weir_endpoint){peer, 9}), WEIR_IN_PROGRESS);
    return socket;
}

static void send_datagram(struct weir *weir, weir_socket socket, struct weir_addr peer)
{
    const struct weir_message message = {.peer = {peer, 9}};
    const struct weir_slice slice = {(const uint8_t *)"abc", 3};
    assert_int_equal(weir_socket_send_message(weir, socket, &message, &slice, 1), 3);
}

// --- the instance ----------------------------------------------------------------------------------------------------

// Connections and datagrams that wait for neighbours who never answer; some closed before, some not.
static void an_instance_ends_while_all_wait_for_neighbours(void **state)
{
    (void)state;
    for (int closed = 0; closed < 2; closed++)
        for (uint64_t us = 0; us < 6 * SECOND_US; us += SECOND_US / 2) {
            struct fixture f;
            fixture_open(&f, &weir_link_ethernet, fixture_address(1), 0, 0);
            weir_socket sockets[SOCKETS];
            for (uint32_t i = 0; i < 4; i++)
                sockets[i] = opening(f.weir, fixture_address((uint8_t)(50 + i / 2)));
            for (uint32_t i = 4; i < SOCKETS; i++) {
                sockets[i] = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
                send_datagram(f.weir, sockets[i], fixture_address((uint8_t)(50 + i / 2)));
            }
            fixture_poll(&f, us);
            for (uint32_t i = 0; closed && i < SOCKETS; i++)
                assert_int_equal(weir_socket_close(f.weir, sockets[i]), WEIR_OK);
            fixture_close(&f);
        }
}

static void *take_memory(void *context, size_t bytes)
{
    *(int *)context += 1;
    return malloc(bytes);
}
static void give_memory(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    *(int *)context -= memory != NULL;
    free(memory);
}
static void no_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 7, bytes);
}

// Nobody ever polled: what the sockets began has gone nowhere, and is given back all the same.
static void an_instance_ends_that_was_never_polled(void **state)
{
    (void)state;
    int taken = 0;
    const struct weir_port port = {
        .context = &taken, .alloc = take_memory, .free = give_memory, .entropy = no_entropy, .granularity_us = 1};
    struct weir *weir = weir_create(NULL, 0, &port, NULL);
    assert_non_null(weir);
    (void)opening(weir, LOOPBACK);
    const weir_socket listener = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_listen(weir, listener, 4), WEIR_OK);
    send_datagram(weir, weir_socket_open(weir, WEIR_DATAGRAM, 0), LOOPBACK);
    weir_destroy(weir);
    assert_int_equal(taken, 0);
}

// A listener with records and connections of every kind, unsent data, a full driver; then the end.
static void an_instance_ends_with_everything_in_flight(void **state)
{
    (void)state;
    static const enum weir_tcp_state states[] = {WEIR_TCP_SYN_SENT,   WEIR_TCP_SYN_RECEIVED, WEIR_TCP_ESTABLISHED,
                                                 WEIR_TCP_FIN_WAIT_1, WEIR_TCP_FIN_WAIT_2,   WEIR_TCP_CLOSE_WAIT,
                                                 WEIR_TCP_CLOSING,    WEIR_TCP_LAST_ACK,     WEIR_TCP_TIME_WAIT};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        for (int full = 0; full < 2; full++) {
            struct tcp_fixture t;
            tcp_fixture_bring(&t, states[i], &plain);
            t.f.block_tx = full;
            t.remote.port += 100;
            for (uint32_t n = 0; n < 40; n++, t.remote.port++)  // half-open ones, or resets
                peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .quiet = true});
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 10, .length = 10, .quiet = true});
            if (states[i] == WEIR_TCP_ESTABLISHED)
                (void)weir_socket_write(t.weir, t.socket, &t, 100);
            if (full) {
                fixture_poll(&t.f, 0);
                (void)opening(t.weir, fixture_address(77));
                fixture_poll(&t.f, 0);
            }
            tcp_fixture_close(&t);
        }
}

// --- an interface ----------------------------------------------------------------------------------------------------

static void remove_and_add(struct fixture *f)
{
    weir_netif_remove(&f->netif);
    fixture_poll(f, 3 * SECOND_US);
    assert_int_equal(weir_netif_add(f->weir, &f->netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&f->netif, TCP_US, TCP_PREFIX, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_know_peer(f, TCP_PEER);
    fixture_poll(f, 5 * SECOND_US);
}

// Data is written while there is no interface; when it is back the connection goes on.
static void a_connection_survives_its_interface(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    weir_netif_remove(&t.f.netif);
    assert_int_equal(weir_socket_write(t.weir, t.socket, "0123456789", 10), 10);
    fixture_poll(&t.f, SECOND_US);
    assert_int_equal(fixture_sent_count(&t.f), t.seen);
    assert_int_equal(weir_netif_add(t.weir, &t.f.netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&t.f.netif, TCP_US, TCP_PREFIX, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_know_peer(&t.f, TCP_PEER);
    fixture_clear(&t.f);
    t.seen = 0;
    fixture_poll(&t.f, 60 * SECOND_US);
    bool carried = false;
    for (uint32_t i = 0, length; i < fixture_sent_count(&t.f); i++) {
        const uint8_t *packet = fixture_sent_packet(&t.f, i, &length);
        carried |= length == TCP_HEADERS + 10 && memcmp(packet + TCP_HEADERS, "0123456789", 10) == 0;
    }
    assert_true(carried);
    tcp_fixture_close(&t);
}

// Replies, fragments, neighbours' waiters, TIME-WAIT: all of them refer to the interface that goes.
static void an_interface_goes_from_under_everything(void **state)
{
    (void)state;
    static const enum weir_tcp_state states[] = {WEIR_TCP_SYN_RECEIVED, WEIR_TCP_ESTABLISHED, WEIR_TCP_FIN_WAIT_1,
                                                 WEIR_TCP_TIME_WAIT};
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++)
        for (int closes = 0; closes < 2; closes++) {
            struct tcp_fixture t;
            tcp_fixture_bring(&t, states[i], &plain);
            (void)opening(t.weir, fixture_address(77));
            send_datagram(t.weir, weir_socket_open(t.weir, WEIR_DATAGRAM, 0), fixture_address(78));
            fixture_poll(&t.f, 0);
            t.remote.port += 100;
            for (uint32_t n = 0; n < 10; n++, t.remote.port++)
                peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .quiet = true});
            if (closes && t.socket)
                assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
            if (closes)
                t.socket = 0;
            remove_and_add(&t.f);
            tcp_fixture_close(&t);
        }
}

// --- listeners -------------------------------------------------------------------------------------------------------

// Complete ones wait for accept, half-open ones for their ACK; then the listener is closed. Each complete one is told.
static void a_listener_closes_while_connections_wait(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    const uint32_t theirs = t.theirs;
    for (uint32_t n = 0; n < 3; n++, t.remote.port++) {
        t.theirs = theirs;
        peer_send(&t, TCP_SYN, 0, 0);
        peer_take(&t);
        t.ours = t.got.seq + 1;
        t.theirs++;
        peer_send(&t, TCP_ACK, 0, 0);
        peer_data(&t, 0, 10);
        t.seen = fixture_sent_count(&t.f);
    }
    peer_send(&t, TCP_SYN, 0, 0);
    t.seen = fixture_sent_count(&t.f);
    assert_int_equal(weir_socket_close(t.weir, t.listener), WEIR_OK);
    t.listener = 0;
    fixture_poll(&t.f, 0);
    uint32_t resets = 0;
    for (uint32_t i = t.seen, length; i < fixture_sent_count(&t.f); i++) {
        const uint8_t *packet = fixture_sent_packet(&t.f, i, &length);
        resets += length >= TCP_HEADERS && (packet[TCP_HEADERS - 7] & TCP_RST) != 0;
    }
    t.seen = fixture_sent_count(&t.f);
    assert_int_equal(resets, 3);
    peer_pass(&t, 5 * SECOND_US);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A connection that was reset while it waited is accepted, read and closed like any other.
static void a_connection_ends_while_it_waits_for_accept(void **state)
{
    struct tcp_fixture t;
    uint8_t byte;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    peer_send(&t, TCP_SYN, 0, 0);
    peer_take(&t);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    peer_send(&t, TCP_RST, 0, 0);
    peer_pass(&t, 100 * SECOND_US);
    const weir_socket socket = weir_socket_accept(t.weir, t.listener);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_read(t.weir, socket, &byte, 1), WEIR_RESET);
    assert_int_equal(weir_socket_read(t.weir, socket, &byte, 1), 0);
    assert_int_equal(weir_socket_close(t.weir, socket), WEIR_OK);
    assert_int_equal(weir_socket_close(t.weir, socket), WEIR_BAD_SOCKET);
    tcp_fixture_close(&t);
}

// --- wrong use -------------------------------------------------------------------------------------------------------

// Numbers that wrap 32 bits when something is added to them.
static void no_number_is_too_large_to_be_refused(void **state)
{
    struct tcp_fixture t;
    struct weir_span span;
    struct weir_slice slice;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    static const uint32_t numbers[] = {UINT32_MAX,           UINT32_MAX - 1, UINT32_MAX - 99,
                                       UINT32_C(0x80000000), INT32_MAX,      1u << 24};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_in_range(weir_socket_reserve(t.weir, t.socket, 100, &span, 1), 1, 100);
        assert_int_equal(weir_socket_commit(t.weir, t.socket, numbers[i]), WEIR_INVALID);
        assert_int_equal(weir_socket_consume(t.weir, t.socket, numbers[i]), WEIR_INVALID);
        assert_int_equal(weir_socket_peek(t.weir, t.socket, numbers[i], &slice, 1), WEIR_AGAIN);
    }
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(weir_socket_commit(t.weir, t.socket, numbers[i]), WEIR_INVALID);
    peer_data(&t, 0, 50);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        assert_int_equal(weir_socket_consume(t.weir, t.socket, numbers[i]), WEIR_INVALID);
        assert_int_equal(weir_socket_peek(t.weir, t.socket, numbers[i], &slice, 1), WEIR_AGAIN);
    }
    assert_int_equal(user_read(&t, 0, 50), 50);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_instance_ends_while_all_wait_for_neighbours),
        test_with(WEIR_CFG_ALLOCATOR && WEIR_CFG_LOOPBACK, an_instance_ends_that_was_never_polled),
        cmocka_unit_test(an_instance_ends_with_everything_in_flight),
        cmocka_unit_test(a_connection_survives_its_interface),
        cmocka_unit_test(an_interface_goes_from_under_everything),
        cmocka_unit_test(a_listener_closes_while_connections_wait),
        cmocka_unit_test(a_connection_ends_while_it_waits_for_accept),
        cmocka_unit_test(no_number_is_too_large_to_be_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
