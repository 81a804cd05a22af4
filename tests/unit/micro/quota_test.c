// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// What a hostile client may take of the server (ports/micro/quota.h), beside an honest one. Its accomplice on the other
// side of the link answers each SYN and acknowledges nothing more. In the profile small there are eight sockets for
// all.
#include "ports/micro/server.h"

#include <stdlib.h>

#include "base/checksum.h"
#include "fixture.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define US weir_ip4(10, 0, 0, 1)
#define PEER weir_ip4(10, 0, 0, 2)
#define RING 256u
#define SECOND_US 1000000u

enum { HOSTILE, HONEST, CLIENTS };
static const uint32_t channels[CLIENTS] = {3, 4};
static const struct micro_quota quotas[CLIENTS] = {{.sockets = 4, .memory_bytes = 1 << 20, .calls = 1000},
                                                   {.sockets = 4}};

static struct fixture f;
static struct micro_server server;
static struct window *windows[CLIENTS];
static uint32_t replies[CLIENTS];
static int32_t last_reply[CLIENTS];
static bool obliging;  // the accomplice acknowledges everything, and ends its side, too

static void notify(void *context, uint32_t session) { (void)context, (void)session; }

static void reply(void *context, uint32_t session, struct micro_message *message)
{
    (void)context;
    replies[session]++;
    last_reply[session] = message->operation;
}

static int setup(void **state)
{
    static const struct micro_server_host host = {notify, reply};
    (void)state;
    obliging = false;
    memset(replies, 0, sizeof replies);
    fixture_open_with(&f, &(struct fixture_options){.link = &weir_link_ethernet, .address = US, .mode = FIXTURE_PLAIN});
    f.faults.others = true;
    fixture_know_peer(&f, PEER);
    micro_server_init(&server, f.weir, &host, NULL);
    for (uint32_t i = 0; i < CLIENTS; i++) {
        windows[i] = calloc(1, window_bytes(channels[i], RING));
        assert_true(micro_server_attach(&server, i, windows[i], channels[i], RING));
        micro_server_limit(&server, i, &quotas[i]);
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        micro_server_detach(&server, i);
        free(windows[i]);
    }
    fixture_close(&f);
    return 0;
}

static int ask(uint32_t session, int operation, int channel, int argument, uint16_t port)
{
    const struct weir_endpoint endpoint = {operation == MICRO_BIND ? weir_addr_any() : PEER, port};
    struct micro_message message = {.operation = operation, .channel = channel};
    if (operation == MICRO_BIND || operation == MICRO_CONNECT)
        message.endpoint = endpoint;
    else
        message.argument[0] = argument;
    return micro_server_message(&server, session, &message) ? message.operation : WEIR_IN_PROGRESS;
}

static void send_segment(uint16_t from, uint16_t to, uint32_t seq, uint32_t ack, uint8_t flags)
{
    uint8_t bytes[20];
    const struct tcp_segment segment = {
        .source = from, .destination = to, .seq = seq, .ack = ack, .flags = flags, .window = 4000, .header_length = 20};
    tcp_emit(bytes, &segment);
    checksum_put(bytes + 16, checksum_add(ip4_pseudo_sum(weir_addr_to_v4(PEER), weir_addr_to_v4(US), IP_TCP, 20),
                                          checksum_sum_portable(bytes, 20)));
    fixture_input_ip4(&f, PEER, US, IP_TCP, bytes, 20);
}

// What the server sent, as the accomplice hears it.
static void accomplice(void)
{
    for (uint32_t i = 0, length; i < fixture_sent_count(&f); i++) {
        const uint8_t *p = fixture_sent_packet(&f, i, &length);
        if (length < 40 || p[9] != IP_TCP)
            continue;
        const uint16_t us = get16(p + 20), peer = get16(p + 22);
        const uint32_t seq = get32(p + 24), data = length - 20 - (uint32_t)(p[32] >> 4) * 4;
        if ((p[33] & (TCP_SYN | TCP_ACK)) == TCP_SYN)
            send_segment(peer, us, 9000, seq + 1, TCP_SYN | TCP_ACK);
        else if (obliging && p[33] & TCP_FIN)
            send_segment(peer, us, 9001, seq + data + 1, TCP_FIN | TCP_ACK);
    }
    fixture_clear(&f);
}

static void turn(uint64_t us)
{
    (void)micro_server_turn(&server);
    fixture_poll(&f, us);
    accomplice();
    (void)micro_server_turn(&server);
    fixture_poll(&f, 0);
    (void)micro_server_turn(&server);
}

// Opens a connection to the accomplice, sends a byte, and closes it. What opening said.
static int leave_an_orphan(uint32_t session, uint16_t port)
{
    const int channel = ask(session, MICRO_OPEN, 0, WEIR_STREAM, 0);
    if (channel < 0)
        return channel;
    assert_int_equal(ask(session, MICRO_CONNECT, channel, 0, port), WEIR_IN_PROGRESS);
    turn(1000);
    *window_ring(windows[session], channels[session], RING, (uint32_t)channel, 0) = 'x';
    atomic_store(&windows[session]->channel[channel].sent, 1);
    micro_server_rung(&server, session);
    turn(1000);
    assert_int_equal(atomic_load(&windows[session]->channel[channel].accepted), 1);
    assert_int_equal(ask(session, MICRO_CLOSE, channel, 0, 0), WEIR_OK);
    turn(SECOND_US / 100);
    return channel;
}

// The honest client takes all that is its own, and gives it back.
static void honest_has_its_sockets(void)
{
    int opened[4];
    for (uint32_t i = 0; i < quotas[HONEST].sockets; i++) {
        opened[i] = ask(HONEST, MICRO_OPEN, 0, WEIR_STREAM, 0);
        assert_true(opened[i] >= 0);
        assert_int_equal(ask(HONEST, MICRO_CONNECT, opened[i], 0, 443), WEIR_IN_PROGRESS);
    }
    turn(1000);
    for (uint32_t i = 0; i < quotas[HONEST].sockets; i++) {
        assert_int_equal(atomic_load(&windows[HONEST]->channel[opened[i]].state), WINDOW_CONNECTED);
        assert_int_equal(ask(HONEST, MICRO_CLOSE, opened[i], 0, 0), WEIR_OK);
    }
    turn(1000);
}

static void orphans_are_their_clients_own(void **state)
{
    (void)state;
    for (uint16_t round = 0; round < 100; round++) {
        assert_true(leave_an_orphan(HOSTILE, (uint16_t)(1000 + round)) >= 0);  // the oldest of its orphans makes room
        assert_true(weir_socket_count(f.weir) <= quotas[HOSTILE].sockets + quotas[HONEST].sockets);
        if (round % 10 == 9)
            honest_has_its_sockets();
    }
}

static void orphans_end(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < 4; i++)
        assert_true(leave_an_orphan(HOSTILE, (uint16_t)(1000 + i)) >= 0);
    assert_int_equal(weir_socket_count(f.weir), 4);
    micro_server_detach(&server, HOSTILE);
    turn(0);
    assert_int_equal(weir_socket_count(f.weir), 4);  // its last words still go
    assert_false(micro_server_turn(&server));        // and there is nothing to do
    assert_true(micro_server_rest(&server));
    assert_in_range(micro_server_due(&server), f.now_us, f.now_us + WEIR_CFG_MICRO_ORPHAN_S * 1000000ull);
    while (micro_server_due(&server) != WEIR_NEVER)
        turn(micro_server_due(&server) - f.now_us);
    assert_int_equal(weir_socket_count(f.weir), 0);
    free(windows[HOSTILE]);
    windows[HOSTILE] = calloc(1, window_bytes(channels[HOSTILE], RING));
    assert_true(micro_server_attach(&server, HOSTILE, windows[HOSTILE], channels[HOSTILE], RING));
    // With a peer that is as one should be there is none.
    obliging = true;
    assert_true(leave_an_orphan(HOSTILE, 80) >= 0);
    turn(SECOND_US);
    assert_int_equal(micro_server_due(&server), WEIR_NEVER);
    for (uint32_t i = 0; i < MICRO_ORPHANS; i++)
        assert_int_equal(server.orphan[i].socket, 0);
}

// A client that comes and goes has no more orphans than all may have; the oldest are reset.
static void orphans_of_the_dead_are_bounded(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 2 * MICRO_ORPHANS; round++) {
        (void)leave_an_orphan(HOSTILE, (uint16_t)(1000 + round));
        micro_server_detach(&server, HOSTILE);
        memset(windows[HOSTILE], 0, window_bytes(channels[HOSTILE], RING));
        assert_true(micro_server_attach(&server, HOSTILE, windows[HOSTILE], channels[HOSTILE], RING));
        micro_server_limit(&server, HOSTILE, &quotas[HOSTILE]);
        assert_true(weir_socket_count(f.weir) <= quotas[HOSTILE].sockets);
    }
    honest_has_its_sockets();
}

// Those that wait to be accepted count: the accomplice connects as often as it can, and nobody accepts.
static void a_backlog_counts(void **state)
{
    (void)state;
    const int listener = ask(HOSTILE, MICRO_OPEN, 0, WEIR_STREAM, 0);
    assert_int_equal(ask(HOSTILE, MICRO_BIND, listener, 0, 80), WEIR_OK);
    assert_int_equal(ask(HOSTILE, MICRO_LISTEN, listener, 1000000, 0), WEIR_OK);
    for (uint16_t port = 2000; port < 2050; port++) {
        send_segment(port, 80, 7000, 0, TCP_SYN);
        fixture_poll(&f, 1000);
        for (uint32_t i = 0, length; i < fixture_sent_count(&f); i++) {
            const uint8_t *p = fixture_sent_packet(&f, i, &length);
            if (length >= 40 && p[9] == IP_TCP && get16(p + 22) == port && p[33] & TCP_SYN)
                send_segment(port, 80, 7001, get32(p + 24) + 1, TCP_ACK);
        }
        fixture_clear(&f);
        turn(1000);
    }
    assert_int_equal(ask(HOSTILE, MICRO_OPEN, 0, WEIR_STREAM, 0), WEIR_NO_MEMORY);
    honest_has_its_sockets();
    // Of four that wait three may be accepted: there is no room for one in the queue and one more.
    assert_int_equal(ask(HOSTILE, MICRO_ACCEPT, listener, 0, 0), WEIR_NO_MEMORY);
}

static void who_calls_too_often_waits(void **state)
{
    uint32_t answered = 0, calls = 0;
    (void)state;
    const uint64_t end_us = f.now_us + 2 * SECOND_US;
    while (f.now_us < end_us) {
        if (!(server.held & 1u << HOSTILE)) {
            calls++;
            answered += ask(HOSTILE, MICRO_LISTEN, 99, 0, 0) == WEIR_BAD_SOCKET;
        } else {
            assert_int_equal(ask(HOSTILE, MICRO_LISTEN, 99, 0, 0), WEIR_AGAIN);  // while one is held it has no other
            assert_true(micro_server_due(&server) <= f.now_us + SECOND_US / quotas[HOSTILE].calls);
            assert_int_equal(ask(HONEST, MICRO_LISTEN, 99, 0, 0), WEIR_BAD_SOCKET);  // others are answered at once
            turn(SECOND_US / quotas[HOSTILE].calls);
        }
    }
    assert_int_equal(answered, MICRO_CALLS_AT_ONCE);
    assert_in_range(answered + replies[HOSTILE], 2 * quotas[HOSTILE].calls,
                    2 * quotas[HOSTILE].calls + MICRO_CALLS_AT_ONCE);
    assert_in_range(calls, answered + replies[HOSTILE], answered + replies[HOSTILE] + 1);
    assert_int_equal(last_reply[HOSTILE], WEIR_BAD_SOCKET);
    assert_int_equal(replies[HONEST], 0);
}

// The queues of all of its sockets together are no larger than its memory.
static void memory_is_divided(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CLIENTS; i++) {
        const int channel = ask(i, MICRO_OPEN, 0, WEIR_STREAM, 0);
        uint64_t bytes = 0;
        for (uint32_t queue = 0; queue < 2; queue++) {
            struct micro_message message = {
                .operation = MICRO_GET,
                .channel = channel,
                .argument = {queue ? WEIR_OPTION_SEND_BUFFER : WEIR_OPTION_RECEIVE_BUFFER, 0}};
            assert_true(micro_server_message(&server, i, &message));
            bytes += (uint64_t)message.argument[1];
        }
        if (quotas[i].memory_bytes)
            assert_true(bytes * quotas[i].sockets <= quotas[i].memory_bytes);
        else if (WEIR_CFG_ALLOCATOR)
            assert_true(bytes * 4 > quotas[HOSTILE].memory_bytes);  // so the other was limited
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(orphans_are_their_clients_own, setup, teardown),
        cmocka_unit_test_setup_teardown(orphans_end, setup, teardown),
        cmocka_unit_test_setup_teardown(orphans_of_the_dead_are_bounded, setup, teardown),
        cmocka_unit_test_setup_teardown(a_backlog_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(who_calls_too_often_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_is_divided, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
