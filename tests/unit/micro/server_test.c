// SPDX-License-Identifier: BSD-2-Clause
// The server with clients and their windows in one process, in virtual time: instance a is the server's, b is a Weir on
// the other side of the link. What a client does in good faith, by client.h; and what it can do in bad faith to its
// window and with its messages, which must not disturb the server, nor another client. The windows are memory of
// exactly their size, so that a sanitizer sees a byte beyond.
#include "ports/micro/server.h"

#include <stdlib.h>

#include "pair.h"
#include "ports/micro/client.h"

#define SESSIONS 3u
#define CHANNELS 4u
#define RING 2048u
#define PORT 7

static struct pair pair;
static struct micro_server server;
static struct window *windows[SESSIONS];
static struct client clients[SESSIONS];
static bool notified[SESSIONS];
static weir_socket listener, echoes[8];  // on b
static uint32_t echoed, seed;
static bool mute;  // b only counts

static uint32_t random_word(void) { return seed = seed * 1664525u + 1013904223u, seed >> 8 ^ seed << 16; }

// b's side: whatever comes goes back.
static void echo(void)
{
    struct weir *b = pair.b.weir;
    const weir_socket came = weir_socket_accept(b, listener);
    for (uint32_t i = 0; i < 8; i++) {
        uint8_t data[1024];
        if (came > 0 && !echoes[i]) {
            echoes[i] = came;
            break;
        }
        if (!echoes[i])
            continue;
        struct weir_span span;
        const int room = weir_socket_reserve(b, echoes[i], sizeof data, &span, 1);
        const int got =
            room > 0 ? weir_socket_read(b, echoes[i], data, (uint32_t)room < sizeof data ? (uint32_t)room : sizeof data)
                     : room;
        if (got > 0) {
            if (!mute)
                assert_int_equal(weir_socket_write(b, echoes[i], data, (uint32_t)got), got);
            echoed += (uint32_t)got;
        } else if (got != WEIR_AGAIN) {
            (void)weir_socket_close(b, echoes[i]);
            echoes[i] = 0;
        }
    }
}

static void step(void)
{
    echo();
    (void)micro_server_turn(&server);
    pair_run(&pair, 100);
    (void)micro_server_turn(&server);
    if (micro_server_rest(&server))
        pair_run(&pair, 100);
}

static void steps(uint32_t count)
{
    while (count--)
        step();
}

static void server_notifies(void *context, uint32_t session)
{
    assert_ptr_equal(context, &server);
    notified[session] = true;
}

static struct micro_message *awaited[SESSIONS];  // its reply comes later
static void server_replies(void *context, uint32_t session, struct micro_message *message)
{
    assert_ptr_equal(context, &server);
    if (awaited[session])  // otherwise it is one of any_message's
        *awaited[session] = *message;
    awaited[session] = NULL;
}

static int client_calls(void *context, struct micro_message *message)
{
    const uint32_t session = (uint32_t)((struct client *)context - clients);
    if (!windows[session])
        return -1;
    if (micro_server_message(&server, session, message))
        return 0;
    awaited[session] = message;
    while (awaited[session])
        step();
    return 0;
}
static void client_notifies(void *context)
{
    micro_server_rung(&server, (uint32_t)((struct client *)context - clients));
}
static uint64_t client_now(void *context) { return (void)context, pair_now_us(&pair); }
static int client_waits(void *context, uint64_t deadline_us)
{
    const uint32_t session = (uint32_t)((struct client *)context - clients);
    for (uint32_t tries = 0; !notified[session]; tries++) {
        if (pair_now_us(&pair) >= deadline_us)
            return 1;
        assert_true(tries < 100000);  // a wake was lost
        step();
    }
    notified[session] = false;
    return 0;
}
static const struct client_host host = {client_calls, client_notifies, client_waits, client_now, NULL, NULL};

static void attach(uint32_t session)
{
    windows[session] = calloc(1, window_bytes(CHANNELS, RING));
    awaited[session] = NULL;
    assert_true(micro_server_attach(&server, session, windows[session], CHANNELS, RING));
    client_init(&clients[session], &host, &clients[session], windows[session]);
    clients[session].timeout_us = 60000000;
    notified[session] = false;
}

static void detach(uint32_t session)
{
    micro_server_detach(&server, session);
    free(windows[session]);
    windows[session] = NULL;
}

static int setup(void **state)
{
    (void)state;
    seed = 1;
    echoed = 0;
    mute = false;
    memset(echoes, 0, sizeof echoes);
    pair_open(&pair, &(struct pair_options){.link = {.delay_us = 50}, .seed = 3});
    pair.a.faults.others = true;
    listener = pair_listen(&pair, PORT, 8);
    static const struct micro_server_host surroundings = {server_notifies, server_replies};
    micro_server_init(&server, pair.a.weir, &surroundings, &server);
    for (uint32_t i = 0; i < SESSIONS; i++)
        attach(i);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++)
        if (windows[i])
            detach(i);
    pair_close(&pair);
    return 0;
}

static int connected(struct client *client)
{
    const struct weir_endpoint peer = {PAIR_B, PORT};
    const int socket = client_socket(client, WEIR_STREAM);
    assert_true(socket >= 0);
    assert_int_equal(client_connect(client, socket, &peer), WEIR_OK);
    return socket;
}

// So many bytes there and back, in pieces that straddle the ring's end.
static void talk(struct client *client, int socket, uint32_t bytes)
{
    uint8_t out[777], in[777];
    for (uint32_t at = 0; at < bytes; at += sizeof out) {
        for (uint32_t i = 0; i < sizeof out; i++)
            out[i] = (uint8_t)((at + i) * 31 + (at >> 8));
        assert_int_equal(client_send_all(client, socket, out, sizeof out), sizeof out);
        for (uint32_t got = 0; got < sizeof in;) {
            const int some = client_recv(client, socket, in + got, (uint32_t)sizeof in - got);
            assert_true(some > 0);
            got += (uint32_t)some;
        }
        assert_memory_equal(in, out, sizeof out);
    }
}

// --- in good faith ---------------------------------------------------------------------------------------------------
static void data_goes_both_ways(void **state)
{
    (void)state;
    const int socket = connected(&clients[0]);
    talk(&clients[0], socket, 100000);
    assert_int_equal(client_close(&clients[0], socket), WEIR_OK);
    assert_int_equal(client_shutdown(&clients[0], socket, WEIR_SHUT_BOTH), WEIR_BAD_SOCKET);
}

static void a_client_may_listen(void **state)
{
    (void)state;
    struct client *client = &clients[1];
    const struct weir_endpoint local = {weir_addr_any(), 80}, to = {PAIR_A, 80};
    struct weir_endpoint peer;
    const int listening = client_socket(client, WEIR_STREAM);
    assert_int_equal(client_bind(client, listening, &local), WEIR_OK);
    assert_int_equal(client_listen(client, listening, 2), WEIR_OK);
    client->timeout_us = 0;
    assert_int_equal(client_accept(client, listening, &peer), WEIR_AGAIN);
    client->timeout_us = 5000000;
    const weir_socket far = weir_socket_open(pair.b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(pair.b.weir, far, &to), WEIR_IN_PROGRESS);
    const int socket = client_accept(client, listening, &peer);
    assert_true(socket > 0 && socket != listening);
    assert_true(weir_addr_equal(peer.addr, PAIR_B));
    assert_int_equal(weir_socket_write(pair.b.weir, far, "over there", 10), 10);
    char data[16] = "";
    assert_int_equal(client_recv(client, socket, data, sizeof data), 10);
    assert_string_equal(data, "over there");
    // What is in the ring goes before the FIN.
    uint8_t block[1500];
    memset(block, 0x5a, sizeof block);
    assert_int_equal(client_send(client, socket, block, sizeof block), sizeof block);
    assert_int_equal(client_shutdown(client, socket, WEIR_SHUT_WRITE), WEIR_OK);
    assert_int_equal(client_send(client, socket, "x", 1), WEIR_SHUT_DOWN);
    steps(50);
    uint8_t got[2000];
    assert_int_equal(weir_socket_read(pair.b.weir, far, got, sizeof got), sizeof block);
    assert_int_equal(weir_socket_read(pair.b.weir, far, got, sizeof got), 0);
    assert_int_equal(weir_socket_close(pair.b.weir, far), WEIR_OK);
    assert_int_equal(client_recv(client, socket, data, sizeof data), 0);
    assert_int_equal(client_close(client, socket), WEIR_OK);
    assert_int_equal(client_close(client, socket), WEIR_BAD_SOCKET);
}

static void closing_keeps_what_was_sent(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    uint8_t block[RING];
    memset(block, 1, sizeof block);
    mute = true;
    const int socket = connected(client);
    assert_int_equal(client_send(client, socket, block, sizeof block), RING);
    assert_int_equal(client_close(client, socket), WEIR_OK);
    steps(100);
    assert_int_equal(echoed, RING);
    assert_int_equal(server.session[0].used, 0);
}

static void datagrams_keep_their_bounds(void **state)
{
    (void)state;
    struct client *one = &clients[0], *two = &clients[1];
    const struct weir_endpoint local = {weir_addr_any(), 5000}, to = {PAIR_A, 5000};
    struct weir_endpoint peer;
    uint8_t data[RING / 2], got[RING];
    const int receiver = client_socket(one, WEIR_DATAGRAM), sender = client_socket(two, WEIR_DATAGRAM);
    assert_int_equal(client_bind(one, receiver, &local), WEIR_OK);
    for (uint32_t i = 0; i < 200; i++) {
        const uint32_t length = i * 37 % (RING / 2 - (uint32_t)sizeof(struct window_record) - 3);
        memset(data, (int)i, length);
        assert_int_equal(client_sendto(two, sender, data, length, &to), length);
        assert_int_equal(client_recvfrom(one, receiver, got, sizeof got, &peer), length);
        assert_memory_equal(got, data, length);
        assert_true(weir_addr_equal(peer.addr, PAIR_A));
    }
    assert_int_equal(client_sendto(two, sender, data, RING / 2, &to), WEIR_TOO_BIG);
    // A long one is cut, and its length told.
    assert_int_equal(client_sendto(two, sender, data, 600, &to), 600);
    assert_int_equal(client_recvfrom(one, receiver, got, 10, NULL), 600);
    // More than the ring holds wait in the socket, and come when there is room.
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(client_sendto(two, sender, data, 400, &to), 400);
    steps(20);
    for (uint32_t i = 0; i < 12; i++)
        assert_int_equal(client_recvfrom(one, receiver, got, sizeof got, NULL), 400);
    one->timeout_us = 1000;
    assert_int_equal(client_recvfrom(one, receiver, got, sizeof got, NULL), WEIR_AGAIN);
}

// An error that passes is told once, and neither ring ends: by poll and the next receive, by the next send in place of
// a datagram, as an option; what the stack refused of a datagram likewise.
static void errors_of_datagrams_pass(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    const struct weir_endpoint nobody = {PAIR_B, 4444}, here = {PAIR_A, 5000},
                               everybody = {weir_ip4(255, 255, 255, 255), 9}, elsewhere = {PAIR_B, 4445};
    const int socket = client_socket(client, WEIR_DATAGRAM);
    struct client_pollfd one = {.socket = socket, .wants = WINDOW_FAILED};
    int32_t value;
    char data[8];
    assert_int_equal(client_bind(client, socket, &here), WEIR_OK);
    assert_int_equal(client_connect(client, socket, &nobody), WEIR_OK);
    assert_int_equal(client_sendto(client, socket, "1", 1, NULL), 1);
    assert_int_equal(client_poll(client, &one, 1), 1);
    assert_int_equal(one.ready, WINDOW_FAILED);
    assert_int_equal(client_recvfrom(client, socket, data, sizeof data, NULL), WEIR_REFUSED);
    client->timeout_us = 1000;
    assert_int_equal(client_poll(client, &one, 1), 0);
    assert_int_equal(client_recvfrom(client, socket, data, sizeof data, NULL), WEIR_AGAIN);
    assert_int_equal(client_sendto(client, socket, "2", 1, NULL), 1);
    steps(10);
    assert_int_equal(client_sendto(client, socket, "3", 1, NULL), WEIR_REFUSED);
    assert_int_equal(client_sendto(client, socket, "4", 1, NULL), 1);
    steps(10);
    assert_int_equal(client_getsockopt(client, socket, WEIR_OPTION_ERROR, &value), WEIR_OK);
    assert_int_equal(value, WEIR_REFUSED);
    assert_int_equal(client_getsockopt(client, socket, WEIR_OPTION_ERROR, &value), WEIR_OK);
    assert_int_equal(value, WEIR_OK);
    assert_int_equal(client_sendto(client, socket, "5", 1, &everybody), 1);
    steps(10);
    assert_int_equal(client_sendto(client, socket, "6", 1, &elsewhere), 1);  // it has nothing to do with that
    assert_int_equal(client_recvfrom(client, socket, data, sizeof data, NULL), WEIR_PERMISSION);
    // Somebody is there now, and neither way is any the worse.
    const weir_socket far = weir_socket_open(pair.b.weir, WEIR_DATAGRAM, 0);
    struct weir_message message;
    struct weir_slice slice;
    assert_int_equal(weir_socket_bind(pair.b.weir, far, &nobody), WEIR_OK);
    assert_int_equal(client_sendto(client, socket, "6", 1, NULL), 1);
    steps(10);
    assert_int_equal(weir_socket_peek_message(pair.b.weir, far, &message, &slice), 1);
    assert_int_equal(slice.data[0], '6');
    assert_int_equal(weir_socket_send_message(pair.b.weir, far, &message, &slice, 1), 1);
    assert_int_equal(client_recvfrom(client, socket, data, sizeof data, NULL), 1);
    assert_int_equal(data[0], '6');
    assert_int_equal(client_shutdown(client, socket, WEIR_SHUT_READ), WEIR_OK);
    assert_int_equal(client_recvfrom(client, socket, data, sizeof data, NULL), 0);
}

static void what_is_refused(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    const struct weir_endpoint nobody = {PAIR_B, 4444};
    int32_t value;
    assert_int_equal(client_socket(client, WEIR_RAW), WEIR_PERMISSION);
    assert_int_equal(client_socket(client, (enum weir_socket_type)99), WEIR_PERMISSION);
    int socket = client_socket(client, WEIR_STREAM);
    assert_int_equal(client_send(client, socket, "x", 1), WEIR_NOT_CONNECTED);
    assert_int_equal(client_connect(client, socket, &nobody), WEIR_REFUSED);
    assert_int_equal(client_close(client, socket), WEIR_OK);
    assert_int_equal(client_listen(client, socket, 1), WEIR_BAD_SOCKET);
    assert_int_equal(client_recv(client, -1, &value, 1), WEIR_BAD_SOCKET);
    assert_int_equal(client_recv(client, (int)CHANNELS, &value, 1), WEIR_BAD_SOCKET);
    socket = connected(client);
    assert_int_equal(client_setsockopt(client, socket, WEIR_OPTION_RECEIVE_BUFFER, 1 << 30), WEIR_PERMISSION);
    assert_int_equal(client_setsockopt(client, socket, (enum weir_option)12345, 0), WEIR_INVALID);
    assert_int_equal(client_setsockopt(client, socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    assert_int_equal(client_getsockopt(client, socket, WEIR_OPTION_NO_DELAY, &value), WEIR_OK);
    assert_int_equal(value, 1);
    assert_int_equal(client_accept(client, socket, NULL), WEIR_INVALID);
    // The same number is another's socket elsewhere, or nobody's.
    assert_int_equal(client_close(&clients[1], socket), WEIR_BAD_SOCKET);
    for (uint32_t i = 1; i < CHANNELS; i++)
        assert_true(client_socket(client, WEIR_DATAGRAM) >= 0);
    assert_int_equal(client_socket(client, WEIR_DATAGRAM), WEIR_NO_MEMORY);
    assert_false(micro_server_attach(&server, 0, windows[0], CHANNELS, RING));
    assert_false(micro_server_attach(&server, MICRO_SESSIONS, windows[0], CHANNELS, RING));
}

static void names_are_told(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    struct weir_endpoint local = {.port = 1}, peer = {.port = 1};
    int socket = client_socket(client, WEIR_STREAM);
    assert_int_equal(client_getpeername(client, socket, &peer), WEIR_NOT_CONNECTED);
    assert_int_equal(peer.port, 1);
    assert_int_equal(client_getsockname(client, socket + 1, &local), WEIR_BAD_SOCKET);
    assert_int_equal(local.port, 1);
    socket = connected(client);
    assert_int_equal(client_getsockname(client, socket, &local), WEIR_OK);
    assert_true(weir_addr_equal(local.addr, PAIR_A) && local.port >= 1024);
    assert_int_equal(client_getpeername(client, socket, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, PAIR_B) && peer.port == PORT);
}

static int say(uint32_t session, int32_t operation, int socket, int32_t argument)
{
    struct micro_message message = {.operation = operation, .channel = socket, .argument = {argument}};
    assert_true(micro_server_message(&server, session, &message));
    return message.operation;
}

static void calls_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint32_t channels, ring_bytes;
    } bad[] = {{0, RING}, {MICRO_CHANNELS + 1, RING}, {CHANNELS, 32}, {CHANNELS, RING + 1}};
    detach(2);
    assert_int_equal(say(2, MICRO_OPEN, 0, WEIR_STREAM), WEIR_CLOSED);
    micro_server_rung(&server, 2);  // of a session that is not there
    (void)micro_server_turn(&server);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(micro_server_attach(&server, 2, windows[0], bad[i].channels, bad[i].ring_bytes));
    attach(2);
    const int socket = client_socket(&clients[0], WEIR_STREAM);
    assert_int_equal(say(0, 99, socket, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(say(0, MICRO_SHUTDOWN, socket, WEIR_SHUT_READ - 1), WEIR_INVALID);
    assert_int_equal(say(0, MICRO_SHUTDOWN, socket, WEIR_SHUT_BOTH + 1), WEIR_INVALID);
    assert_int_equal(say(0, MICRO_SHUTDOWN, socket, WEIR_SHUT_BOTH), WEIR_NOT_CONNECTED);
    assert_int_equal(say(0, MICRO_GET, socket, -1), WEIR_INVALID);
    assert_int_equal(say(0, MICRO_GET, socket, WEIR_OPTION_COUNT), WEIR_INVALID);
    assert_int_equal(say(0, MICRO_SET, socket, -1), WEIR_INVALID);
    assert_int_equal(say(0, MICRO_SET, socket, WEIR_OPTION_SEND_BUFFER), WEIR_PERMISSION);
    assert_int_equal(say(0, MICRO_SET, socket, WEIR_OPTION_HEADER_INCLUDED), WEIR_PERMISSION);
    assert_int_equal(say(0, MICRO_CLOSE, -1, 0), WEIR_BAD_SOCKET);
}

static void one_direction_is_shut(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    uint8_t data[16];
    const int socket = connected(client);
    assert_int_equal(client_shutdown(client, socket, WEIR_SHUT_READ), WEIR_OK);
    assert_int_equal(client_recv(client, socket, data, sizeof data), 0);
    assert_int_equal(client_send(client, socket, "still", 5), 5);
    steps(20);
    assert_int_equal(echoed, 5);
    assert_int_equal(client_shutdown(client, socket, WEIR_SHUT_WRITE), WEIR_OK);
    assert_int_equal(client_send(client, socket, "no more", 7), WEIR_SHUT_DOWN);
}

// What the peer's reset interrupts is told, to who sends and to who reads.
// As src/tcp tells it: sends tell it until it has been taken; a receive, or SO_ERROR, takes it; after that the
// connection is at its end.
static void a_reset_is_told_once(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    static const uint8_t block[RING];
    uint8_t data[16];
    int32_t error;
    for (uint32_t by_option = 0; by_option < 2; by_option++) {
        const int socket = connected(client);
        struct client_pollfd one = {.socket = socket, .wants = WINDOW_READ | WINDOW_WRITE | WINDOW_FAILED};
        mute = true;
        steps(5);
        assert_int_equal(client_send(client, socket, block, sizeof block), sizeof block);
        assert_int_equal(weir_socket_abort(pair.b.weir, echoes[0]), WEIR_OK);
        echoes[0] = 0;
        steps(20);
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(client_send(client, socket, "x", 1), WEIR_RESET);
        assert_true(client_error_waits(client, socket));
        if (by_option) {
            assert_int_equal(client_getsockopt(client, socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
            assert_int_equal(error, WEIR_RESET);
        } else {
            assert_int_equal(client_recv(client, socket, data, sizeof data), WEIR_RESET);
        }
        assert_false(client_error_waits(client, socket));
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(client_recv(client, socket, data, sizeof data), 0);
            assert_int_equal(client_send(client, socket, "x", 1), WEIR_SHUT_DOWN);
            assert_int_equal(client_send_all(client, socket, "x", 1), WEIR_SHUT_DOWN);
            assert_int_equal(client_getsockopt(client, socket, WEIR_OPTION_ERROR, &error), WEIR_OK);
            assert_int_equal(error, WEIR_OK);
        }
        assert_int_equal(client_poll(client, &one, 1), 1);
        assert_int_equal(one.ready, one.wants);
        assert_int_equal(client_close(client, socket), WEIR_OK);
    }
    const struct weir_endpoint nobody = {PAIR_B, 4444};
    const int refused = client_socket(client, WEIR_STREAM);
    assert_int_equal(client_connect(client, refused, &nobody), WEIR_REFUSED);
    assert_int_equal(client_recv(client, refused, data, sizeof data), 0);
    assert_int_equal(client_send(client, refused, "x", 1), WEIR_SHUT_DOWN);
}

// --- the caller's memory ---------------------------------------------------------------------------------------------
static uint32_t copies;  // that go well from now on

static int copies_in(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (!copies)
        return -1;
    copies--;
    memcpy(to, from, bytes);
    return 0;
}
static int copies_out(void *context, void *to, const void *from, size_t bytes)
{
    return copies_in(context, to, from, bytes);
}

// Memory that the caller does not have: nothing is sent, nothing taken away, also where only the half beyond the ring's
// end is missing.
static void memory_that_is_not_there_is_a_fault(void **state)
{
    static const struct client_host careful = {client_calls, client_notifies, client_waits,
                                               client_now,   copies_in,       copies_out};
    (void)state;
    struct client *client = &clients[0];
    static uint8_t data[RING], got[RING];
    memset(data, 0x3c, sizeof data);
    client->host = &careful;
    const int socket = connected(client);
    assert_int_equal(client_send(client, socket, data, 100), WEIR_FAULT);
    copies = 1;
    assert_int_equal(client_send(client, socket, data, 100), 100);
    steps(20);
    assert_int_equal(client_recv(client, socket, got, sizeof got), WEIR_FAULT);
    copies = 1;
    assert_int_equal(client_recv(client, socket, got, sizeof got), 100);
    copies = 1;  // the second piece is missing
    assert_int_equal(client_send(client, socket, data, RING - 1), WEIR_FAULT);
    copies = 2;
    assert_int_equal(client_send(client, socket, data, RING - 1), RING - 1);
    steps(50);
    copies = 1;
    assert_int_equal(client_recv(client, socket, got, RING - 1), WEIR_FAULT);
    copies = 2;
    assert_int_equal(client_recv(client, socket, got, RING - 1), RING - 1);
    assert_memory_equal(got, data, RING - 1);
    const int datagrams = client_socket(client, WEIR_DATAGRAM);
    const struct weir_endpoint local = {weir_addr_any(), 5000}, to = {PAIR_A, 5000};
    assert_int_equal(client_bind(client, datagrams, &local), WEIR_OK);
    assert_int_equal(client_sendto(client, datagrams, data, 10, &to), WEIR_FAULT);
    copies = 1;
    assert_int_equal(client_sendto(client, datagrams, data, 10, &to), 10);
    steps(20);
    assert_int_equal(client_recvfrom(client, datagrams, got, sizeof got, NULL), WEIR_FAULT);
    copies = 1;
    assert_int_equal(client_recvfrom(client, datagrams, got, sizeof got, NULL), 10);
    client->host = &host;
}

// A number that is no socket is ready at once, as poll says of it, or is not looked at; its window's memory is not
// touched.
static void sockets_that_are_none_can_be_polled(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    const int socket = connected(client);
    struct client_pollfd fds[] = {{.socket = -1, .wants = WINDOW_READ}, {.socket = socket, .wants = WINDOW_READ}};
    assert_int_equal(client_poll(client, fds, 2), 1);
    assert_int_equal(fds[0].ready, WINDOW_READ);
    assert_int_equal(fds[1].ready, 0);
    for (uint32_t i = 0; i < 2; i++) {
        fds[0] = (struct client_pollfd){.socket = i ? -1 : 100000};  // wants nothing
        client->timeout_us = 10000;
        assert_int_equal(client_poll(client, fds, 2), 0);
        assert_int_equal(fds[0].ready, 0);
    }
    client->timeout_us = WEIR_NEVER - 1;  // from now on: for ever
    assert_int_equal(client_send(client, socket, "x", 1), 1);
    assert_int_equal(client_poll(client, fds + 1, 1), 1);
    assert_int_equal(fds[1].ready, WINDOW_READ);
    uint8_t byte;
    assert_int_equal(client_sendto(client, (int)CHANNELS, "x", 1, NULL), WEIR_BAD_SOCKET);
    assert_int_equal(client_recvfrom(client, -1, &byte, 1, NULL), WEIR_BAD_SOCKET);
    assert_int_equal(client_send(client, (int)CHANNELS, "x", 1), WEIR_BAD_SOCKET);
    assert_int_equal(client_accept(client, (int)CHANNELS, NULL), WEIR_BAD_SOCKET);
    assert_int_equal(client_send(client, socket, "x", 0), 0);
    assert_int_equal(client_recv(client, socket, &byte, 0), 0);
}

// Two entries of one socket, in either order: poll wakes for what any of them wants.
static void a_socket_may_be_polled_for_twice(void **state)
{
    (void)state;
    struct client *client = &clients[0];
    const int socket = connected(client);
    for (uint32_t reader = 0; reader < 2; reader++) {
        struct client_pollfd fds[] = {{.socket = socket, .wants = WINDOW_FAILED},
                                      {.socket = socket, .wants = WINDOW_FAILED}};
        fds[reader].wants = WINDOW_READ;
        client->timeout_us = 10000000;
        const uint64_t from_us = pair_now_us(&pair);
        assert_int_equal(client_send(client, socket, "x", 1), 1);
        assert_int_equal(client_poll(client, fds, 2), 1);
        assert_int_equal(fds[reader].ready, WINDOW_READ);
        assert_int_equal(fds[1 - reader].ready, 0);
        assert_true(pair_now_us(&pair) - from_us < 10000000);  // woken, not at the deadline
        uint8_t byte;
        assert_int_equal(client_recv(client, socket, &byte, 1), 1);
    }
}

static void a_client_that_dies_has_its_sockets_closed(void **state)
{
    (void)state;
    const int socket = connected(&clients[0]), other = connected(&clients[1]);
    assert_int_equal(client_send(&clients[0], socket, "last words", 10), 10);
    steps(20);
    uint32_t open = 0, left = 0;
    for (uint32_t i = 0; i < 8; i++)
        open += echoes[i] != 0;
    detach(0);
    steps(20);
    for (uint32_t i = 0; i < 8; i++)
        left += echoes[i] != 0;
    assert_int_equal(open, 2);
    assert_int_equal(left, 1);
    talk(&clients[1], other, 5000);
}

static void a_client_that_reads_nothing_holds_up_nobody(void **state)
{
    (void)state;
    uint8_t block[RING];
    memset(block, 7, sizeof block);
    const int slow = connected(&clients[0]), quick = connected(&clients[1]);
    clients[0].timeout_us = 0;
    for (uint32_t i = 0; i < 3000; i++) {
        (void)client_send(&clients[0], slow, block, sizeof block);
        step();
    }
    const uint64_t began = pair_now_us(&pair);
    talk(&clients[1], quick, 20000);
    assert_true(pair_now_us(&pair) - began < 1000000);
    // It finds all of it when it does read.
    uint32_t got = 0;
    clients[0].timeout_us = 10000;
    for (int some; (some = client_recv(&clients[0], slow, block, sizeof block)) > 0; got += (uint32_t)some)
        for (int i = 0; i < some; i++)
            assert_int_equal(block[i], 7);
    assert_true(got > RING);
}

static void nothing_to_do_is_rest(void **state)
{
    (void)state;
    const int socket = connected(&clients[0]);
    talk(&clients[0], socket, 3000);
    steps(10);
    assert_true(micro_server_rest(&server));
    assert_int_equal(atomic_load(&windows[0]->attention), 1);
    // What came without ringing, between the last turn and rest, is seen.
    atomic_store(&windows[0]->channel[socket].sent, atomic_load(&windows[0]->channel[socket].sent) + 5);
    assert_false(micro_server_rest(&server));
    (void)micro_server_turn(&server);
    assert_true(micro_server_rest(&server));
}

// --- in bad faith ----------------------------------------------------------------------------------------------------
static void scribble(struct window *window)
{
    const size_t bytes = window_bytes(CHANNELS, RING);
    switch (random_word() % 4) {
    case 0:  // a counter, near or far
        atomic_store(&window->channel[random_word() % CHANNELS].sent,
                     random_word() % 3 ? random_word() % (4 * RING) : random_word());
        break;
    case 1:
        atomic_store(&window->channel[random_word() % CHANNELS].taken,
                     random_word() % 3 ? random_word() % (4 * RING) : random_word());
        break;
    case 2:  // any word
        ((uint32_t *)(void *)window)[random_word() % (bytes / 4)] = random_word();
        break;
    default:  // all of it
        for (size_t i = 0; i < bytes; i++)
            ((uint8_t *)window)[i] = (uint8_t)random_word();
    }
}

static void any_message(uint32_t session)
{
    static const int32_t operations[] = {MICRO_OPEN,     MICRO_OPEN,  MICRO_CONNECT, MICRO_LISTEN, MICRO_ACCEPT,
                                         MICRO_SHUTDOWN, MICRO_CLOSE, MICRO_BIND,    MICRO_SET,    MICRO_GET};
    struct micro_message message;
    for (uint32_t i = 0; i < sizeof message / 4; i++)
        ((uint32_t *)(void *)&message)[i] = random_word();
    if (random_word() % 4) {  // half a sense
        message.operation = operations[random_word() % 10];
        message.channel = (int32_t)(random_word() % (CHANNELS + 1));
        message.argument[0] =
            (int32_t)(random_word() % 4) + (message.operation == MICRO_SET ? (int32_t)(random_word() % 40) : 0);
        message.argument[1] = (int32_t)(random_word() % 3);
        message.endpoint = (struct weir_endpoint){random_word() % 2 ? PAIR_B : PAIR_A, random_word() % 2 ? PORT : 80};
    }
    (void)micro_server_message(&server, session, &message);  // held or not
}

static void a_hostile_client_reaches_nothing(void **state)
{
    (void)state;
    const int honest = connected(&clients[1]);
    for (uint32_t round = 0; round < 300; round++) {
        for (uint32_t i = 0; i < 40; i++) {
            any_message(0);
            scribble(windows[0]);
            micro_server_rung(&server, 0);
            if (i % 8 == 0)
                step();
        }
        talk(&clients[1], honest, 777);
        // The server's own indices never leave the ring.
        for (uint32_t i = 0; i < CHANNELS; i++)
            if (server.session[0].used & 1u << i)
                assert_in_range(server.session[0].channel[i].type, WEIR_STREAM, WEIR_DATAGRAM);
    }
    detach(0);
    steps(10);
    talk(&clients[1], honest, 5000);
    attach(0);
    talk(&clients[0], connected(&clients[0]), 5000);
}

// A counter that lies offers at most a ring of bytes a turn.
static void a_counter_that_lies_is_clamped(void **state)
{
    (void)state;
    const int socket = connected(&clients[0]);
    struct micro_channel *channel = &server.session[0].channel[socket];
    static const uint8_t much[4 * RING];
    steps(5);
    mute = true;
    for (uint32_t i = 0; i < 100; i++) {
        (void)weir_socket_write(pair.b.weir, echoes[0], much, sizeof much);
        step();
        const uint32_t before = channel->accepted, received = channel->received;
        atomic_store(&windows[0]->channel[socket].sent, random_word());
        atomic_store(&windows[0]->channel[socket].taken, random_word());
        micro_server_rung(&server, 0);
        (void)micro_server_turn(&server);
        assert_true(channel->accepted - before <= RING);
        assert_true(channel->received - received <= RING);
        step();
    }
}

// A record that says it is longer than what is there.
static void a_record_that_lies_ends_the_socket(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {RING, RING - 11, 0xffffffff, 0xfffffff4, 0x7fffffff, 100};
    for (uint32_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        const int socket = client_socket(&clients[0], WEIR_DATAGRAM);
        const struct window_record record = {lengths[i], {PAIR_B, 9}};
        ring_put(window_ring(windows[0], CHANNELS, RING, (uint32_t)socket, 0), RING, 0, &record, sizeof record);
        atomic_store(&windows[0]->channel[socket].sent, i == 5 ? 60 : RING);
        micro_server_rung(&server, 0);
        step();
        assert_int_equal(client_sendto(&clients[0], socket, "x", 1, NULL), WEIR_INVALID);
        assert_int_equal(client_close(&clients[0], socket), WEIR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(data_goes_both_ways, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_may_listen, setup, teardown),
        cmocka_unit_test_setup_teardown(closing_keeps_what_was_sent, setup, teardown),
        cmocka_unit_test_setup_teardown(datagrams_keep_their_bounds, setup, teardown),
        cmocka_unit_test_setup_teardown(errors_of_datagrams_pass, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_that_make_no_sense_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(one_direction_is_shut, setup, teardown),
        cmocka_unit_test_setup_teardown(a_reset_is_told_once, setup, teardown),
        cmocka_unit_test_setup_teardown(memory_that_is_not_there_is_a_fault, setup, teardown),
        cmocka_unit_test_setup_teardown(sockets_that_are_none_can_be_polled, setup, teardown),
        cmocka_unit_test_setup_teardown(a_socket_may_be_polled_for_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_that_dies_has_its_sockets_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_client_that_reads_nothing_holds_up_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_to_do_is_rest, setup, teardown),
        cmocka_unit_test_setup_teardown(a_hostile_client_reaches_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_counter_that_lies_is_clamped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_record_that_lies_ends_the_socket, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
