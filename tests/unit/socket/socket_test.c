// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// The native API as a user meets it, over two instances.
#include "pair.h"

#include <string.h>

#define PORT 7000

static void open_pair(struct pair *p) { pair_open(p, &(struct pair_options){.link = {.delay_us = 500}}); }

static void wrong_handles_are_refused(void **state)
{
    struct pair p;
    struct weir_endpoint endpoint = {0};
    struct weir_span span;
    struct weir_slice slice;
    int32_t value;
    char byte = 0;
    (void)state;
    open_pair(&p);
    struct weir *w = p.a.weir;
    const weir_socket closed = weir_socket_open(w, WEIR_STREAM, 0);
    assert_true(closed > 0);
    assert_int_equal(weir_socket_close(w, closed), WEIR_OK);
    const weir_socket bad[] = {closed, 0, -1, 12345678};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(weir_socket_bind(w, bad[i], &endpoint), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_connect(w, bad[i], &endpoint), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_listen(w, bad[i], 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_accept(w, bad[i]), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_shutdown(w, bad[i], WEIR_SHUT_BOTH), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_close(w, bad[i]), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_abort(w, bad[i]), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_local(w, bad[i], &endpoint), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_peer(w, bad[i], &endpoint), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_reserve(w, bad[i], 1, &span, 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_commit(w, bad[i], 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_peek(w, bad[i], 0, &slice, 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_consume(w, bad[i], 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_write(w, bad[i], &byte, 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_read(w, bad[i], &byte, 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_ready(w, bad[i]), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_get(w, bad[i], WEIR_OPTION_TYPE, &value), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_set(w, bad[i], WEIR_OPTION_NO_DELAY, 1), WEIR_BAD_SOCKET);
        assert_int_equal(weir_socket_set_user(w, bad[i], w), WEIR_BAD_SOCKET);
        assert_null(weir_socket_user(w, bad[i]));
    }
    pair_close(&p);
}

static void kinds_have_their_operations(void **state)
{
    struct pair p;
    struct weir_span span;
    struct weir_message message = {0};
    struct weir_slice slice;
    (void)state;
    open_pair(&p);
    struct weir *w = p.a.weir;
    const struct weir_endpoint any = {weir_addr_any(), 0};
    const weir_socket datagram = weir_socket_open(w, WEIR_DATAGRAM, 0), stream = weir_socket_open(w, WEIR_STREAM, 0);
    assert_true(datagram > 0 && stream > 0);
    assert_int_equal(weir_socket_listen(w, datagram, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_accept(w, datagram), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_reserve(w, datagram, 1, &span, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_peek_message(w, stream, &message, &slice), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_discard(w, stream), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_accept(w, stream), WEIR_INVALID);
    assert_int_equal(weir_socket_reserve(w, stream, 0, &span, 1), WEIR_INVALID);
    assert_int_equal(weir_socket_reserve(w, stream, 1, &span, 0), WEIR_INVALID);
    assert_int_equal(weir_socket_shutdown(w, stream, (enum weir_shutdown)4), WEIR_INVALID);
    assert_int_equal(weir_socket_open(w, (enum weir_socket_type)9, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_bind(w, stream, &any), WEIR_OK);
    assert_int_equal(weir_socket_listen(w, stream, 3), WEIR_OK);
    assert_int_equal(weir_socket_listen(w, stream, 5), WEIR_OK);  // again: a new backlog
    assert_int_equal(weir_socket_write(w, stream, "x", 1), WEIR_LISTENING);
    assert_int_equal(weir_socket_bind(w, stream, &any), WEIR_LISTENING);
    assert_int_equal(weir_socket_connect(w, stream, &any), WEIR_LISTENING);
    assert_int_equal(weir_socket_shutdown(w, stream, WEIR_SHUT_BOTH), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_accept(w, stream), WEIR_AGAIN);
    pair_close(&p);  // with both still open
}

static void listening_keeps_handle_and_user(void **state)
{
    struct pair p;
    int mine;
    (void)state;
    open_pair(&p);
    const weir_socket socket = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_set_user(p.a.weir, socket, &mine), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.a.weir, socket, 1), WEIR_OK);
    assert_ptr_equal(weir_socket_user(p.a.weir, socket), &mine);
    struct weir_endpoint local;
    assert_int_equal(weir_socket_local(p.a.weir, socket, &local), WEIR_OK);
    assert_true(local.port != 0);  // an unbound listener gets a port
    assert_int_equal(weir_socket_close(p.a.weir, socket), WEIR_OK);
    pair_close(&p);
}

// An RST waits for weir_poll beside the sockets' output, and the poller must be told of it, too.
static void an_abort_is_something_to_transmit(void **state)
{
    struct pair p;
    weir_socket client, server;
    char text[4];
    (void)state;
    open_pair(&p);
    for (int turn = 0; turn < 2; turn++) {
        pair_connect(&p, (uint16_t)(PORT + turn), &client, &server);
        assert_int_equal(weir_socket_write(p.b.weir, server, "x", 1), 1);
        pair_run(&p, 1000000);
        assert_false(weir_output_pending(p.a.weir));
        // By itself, and by closing what has data that nobody read.
        assert_int_equal(turn == 0 ? weir_socket_abort(p.a.weir, client) : weir_socket_close(p.a.weir, client),
                         WEIR_OK);
        assert_true(weir_output_pending(p.a.weir));
        (void)weir_poll(p.a.weir, p.a.now_us);
        assert_false(weir_output_pending(p.a.weir));
        pair_run(&p, 100000);
        assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), WEIR_RESET);
        assert_int_equal(weir_socket_close(p.b.weir, server), WEIR_OK);
    }
    pair_close(&p);
}

static void a_connection_carries_bytes_both_ways(void **state)
{
    struct pair p;
    weir_socket client, server;
    char text[64] = {0};
    struct weir_endpoint local, peer;
    (void)state;
    open_pair(&p);
    pair_connect(&p, PORT, &client, &server);
    assert_int_equal(weir_socket_peer(p.a.weir, client, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, PAIR_B) && peer.port == PORT);
    assert_int_equal(weir_socket_local(p.a.weir, client, &local), WEIR_OK);
    assert_int_equal(weir_socket_peer(p.b.weir, server, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, PAIR_A) && peer.port == local.port);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), WEIR_AGAIN);
    assert_int_equal(weir_socket_write(p.a.weir, client, "over the weir", 13), 13);
    assert_true(weir_output_pending(p.a.weir));
    pair_run(&p, 100000);
    assert_true(weir_socket_ready(p.b.weir, server) & WEIR_READABLE);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, 4), 4);
    assert_int_equal(weir_socket_read(p.b.weir, server, text + 4, 60), 9);
    assert_string_equal(text, "over the weir");
    assert_int_equal(weir_socket_write(p.b.weir, server, "and back", 8), 8);
    pair_run(&p, 100000);
    assert_int_equal(weir_socket_read(p.a.weir, client, text, sizeof text), 8);
    assert_int_equal(weir_socket_shutdown(p.a.weir, client, WEIR_SHUT_WRITE), WEIR_OK);
    assert_int_equal(weir_socket_write(p.a.weir, client, "x", 1), WEIR_SHUT_DOWN);
    pair_run(&p, 100000);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), 0);
    assert_true(weir_socket_ready(p.b.weir, server) & WEIR_READ_CLOSED);
    assert_int_equal(weir_socket_close(p.b.weir, server), WEIR_OK);
    pair_run(&p, 100000);
    assert_int_equal(weir_socket_read(p.a.weir, client, text, sizeof text), 0);
    assert_int_equal(weir_socket_close(p.a.weir, client), WEIR_OK);
    pair_close(&p);
}

struct flood {
    struct pair p;
    weir_socket client, server;
    uint32_t written, read, total;
};

static uint8_t byte_at(uint32_t at) { return (uint8_t)(at * 2654435761u >> 24); }

static bool pump(void *context)
{
    struct flood *flood = context;
    uint8_t block[3000];
    int moved;
    while (flood->written < flood->total) {
        const uint32_t want =
            flood->total - flood->written < sizeof block ? flood->total - flood->written : (uint32_t)sizeof block;
        for (uint32_t i = 0; i < want; i++)
            block[i] = byte_at(flood->written + i);
        moved = weir_socket_write(flood->p.a.weir, flood->client, block, want);
        if (moved <= 0) {
            assert_int_equal(moved, WEIR_AGAIN);
            break;
        }
        flood->written += (uint32_t)moved;
    }
    while ((moved = weir_socket_read(flood->p.b.weir, flood->server, block, sizeof block)) > 0)
        for (int i = 0; i < moved; i++)
            assert_int_equal(block[i], byte_at(flood->read++));
    return flood->read == flood->total;
}

static void many_bytes_arrive_unchanged(void **state)
{
    struct flood flood = {.total = 300000};
    (void)state;
    pair_open(
        &flood.p,
        &(struct pair_options){
            .link = {.delay_us = 2000, .rate = 12500000, .loss_ppm = 20000, .reorder_ppm = 5000, .duplicate_ppm = 5000},
            .seed = 42});
    pair_connect(&flood.p, PORT, &flood.client, &flood.server);
    assert_true(pair_run_until(&flood.p, pump, &flood, 60000000));
    assert_true(flood.p.stats[0].lost > 0);
    pair_close(&flood.p);
}

static void a_refused_connection_says_so(void **state)
{
    struct pair p;
    int32_t error = 0;
    const struct weir_endpoint nobody = {PAIR_B, 9};
    (void)state;
    open_pair(&p);
    const weir_socket client = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(p.a.weir, client, &nobody), WEIR_IN_PROGRESS);
    struct weir_endpoint peer;
    assert_int_equal(weir_socket_peer(p.a.weir, client, &peer), WEIR_NOT_CONNECTED);
    pair_run(&p, 100000);
    assert_true(weir_socket_ready(p.a.weir, client) & WEIR_ERROR);
    assert_int_equal(weir_socket_get(p.a.weir, client, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, WEIR_REFUSED);
    assert_int_equal(weir_socket_get(p.a.weir, client, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, WEIR_OK);  // told once
    weir_socket_close(p.a.weir, client);
    pair_close(&p);
}

static void news_comes_once_and_in_order(void **state)
{
    struct pair p;
    weir_socket client, server;
    uint32_t events;
    char text[8];
    (void)state;
    open_pair(&p);
    pair_connect(&p, PORT, &client, &server);
    while (weir_ready_next(p.b.weir, &events))
        continue;
    pair_run(&p, 100000);
    assert_int_equal(weir_ready_next(p.b.weir, &events), 0);
    assert_int_equal(weir_socket_write(p.a.weir, client, "1", 1), 1);
    pair_run(&p, 100000);
    assert_int_equal(weir_ready_next(p.b.weir, &events), server);
    assert_true(events & WEIR_READABLE);
    assert_int_equal(weir_ready_next(p.b.weir, &events), 0);
    assert_int_equal(weir_socket_write(p.a.weir, client, "2", 1), 1);  // news again, also when the first was not read
    pair_run(&p, 100000);
    assert_int_equal(weir_ready_next(p.b.weir, &events), server);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), 2);
    pair_close(&p);
}

struct counting {
    struct weir_watch watch;
    uint32_t calls, events;
    weir_socket socket;
};

static void counting_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct counting *counting = (struct counting *)(void *)watch;
    counting->calls++;
    counting->events |= events;
    counting->socket = socket;
}

static void watches_are_called(void **state)
{
    struct pair p;
    weir_socket client, server;
    struct counting counting = {.watch = {counting_event}};
    (void)state;
    open_pair(&p);
    pair_connect(&p, PORT, &client, &server);
    weir_dispatch(p.b.weir, 1000);
    assert_int_equal(weir_socket_set_user(p.b.weir, server, &counting), WEIR_OK);
    weir_socket_write(p.a.weir, client, "x", 1);
    pair_run(&p, 100000);
    assert_int_equal(weir_dispatch(p.b.weir, 1000), 1);
    assert_int_equal(weir_dispatch(p.b.weir, 1000), 0);
    assert_int_equal(counting.calls, 1);
    assert_int_equal(counting.socket, server);
    assert_true(counting.events & WEIR_READABLE);
    pair_close(&p);
}

static void in_place_access_moves_the_same_bytes(void **state)
{
    struct pair p;
    weir_socket client, server;
    struct weir_span spans[4];
    struct weir_slice slices[4];
    (void)state;
    open_pair(&p);
    pair_connect(&p, PORT, &client, &server);
    const int lent = weir_socket_reserve(p.a.weir, client, 1000, spans, 4);
    assert_in_range(lent, 1, 1000);
    memset(spans[0].data, 'r', spans[0].length);
    assert_int_equal(weir_socket_commit(p.a.weir, client, 10), 10);  // less than was lent
    pair_run(&p, 100000);
    assert_int_equal(weir_socket_peek(p.b.weir, server, 0, slices, 4), 10);
    assert_int_equal(slices[0].data[0], 'r');
    assert_int_equal(weir_socket_peek(p.b.weir, server, 7, slices, 4), 3);
    assert_int_equal(weir_socket_peek(p.b.weir, server, 10, slices, 4), WEIR_AGAIN);
    assert_int_equal(weir_socket_consume(p.b.weir, server, 11), WEIR_INVALID);
    assert_int_equal(weir_socket_consume(p.b.weir, server, 10), 10);
    pair_close(&p);
}

// The handle table is full: the connection waits in the listener's queue, it is not lost.
static void accept_without_a_handle_loses_nothing(void **state)
{
    struct pair p;
    const struct weir_config config = {.sockets_max = 2};
    const struct weir_endpoint local = {weir_addr_any(), PORT}, peer = {PAIR_B, PORT};
    (void)state;
    pair_open(&p, &(struct pair_options){.b = {.config = &config}});
    const weir_socket listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0),
                      other = weir_socket_open(p.b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_open(p.b.weir, WEIR_STREAM, 0), WEIR_NO_MEMORY);
    assert_int_equal(weir_socket_bind(p.b.weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.b.weir, listener, 4), WEIR_OK);
    const weir_socket client = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
    weir_socket_connect(p.a.weir, client, &peer);
    pair_run(&p, 100000);
    assert_int_equal(weir_socket_accept(p.b.weir, listener), WEIR_NO_MEMORY);
    weir_socket_close(p.b.weir, other);
    assert_true(weir_socket_accept(p.b.weir, listener) > 0);
    pair_close(&p);
}

static void datagrams_pass(void **state)
{
    struct pair p;
    const struct weir_endpoint local = {weir_addr_any(), 5000}, peer = {PAIR_B, 5000};
    struct weir_message message = {.peer = peer};
    const struct weir_slice slice = {(const uint8_t *)"ping", 4};
    struct weir_slice got;
    (void)state;
    open_pair(&p);
    const weir_socket a = weir_socket_open(p.a.weir, WEIR_DATAGRAM, 0),
                      b = weir_socket_open(p.b.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(p.b.weir, b, &local), WEIR_OK);
    assert_int_equal(weir_socket_peek_message(p.b.weir, b, &message, &got), WEIR_AGAIN);
    message = (struct weir_message){.peer = peer};
    assert_int_equal(weir_socket_send_message(p.a.weir, a, &message, &slice, 1), 4);
    pair_run(&p, 200000);
    assert_true(weir_socket_ready(p.b.weir, b) & WEIR_READABLE);
    assert_int_equal(weir_socket_peek_message(p.b.weir, b, &message, &got), 4);
    assert_int_equal(got.length, 4);
    assert_memory_equal(got.data, "ping", 4);
    assert_true(weir_addr_equal(message.peer.addr, PAIR_A));
    assert_int_equal(weir_socket_discard(p.b.weir, b), WEIR_OK);
    assert_int_equal(weir_socket_peek_message(p.b.weir, b, &message, &got), WEIR_AGAIN);
    pair_close(&p);
}

// Forty writers, and then as many timeouts: one poll serves but a part of them and wants to be called again at once.
static void a_poll_serves_so_many_and_says_now(void **state)
{
    enum { WRITERS = 40, MOST = 16 };  // src/instance.c: TURNS_PER_POLL, TIMERS_PER_POLL
    static const enum weir_counter sent[] = {WEIR_COUNT_TCP_SENT, WEIR_COUNT_TCP_TAIL_PROBE};
    struct pair p;
    weir_socket clients[WRITERS], server;
    (void)state;
    pair_open(
        // none that is full holds the others back
        &p, &(struct pair_options){.a = {.mode = FIXTURE_PLAIN}, .b = {.mode = FIXTURE_PLAIN}});
    for (uint16_t i = 0; i < WRITERS; i++)
        pair_connect(&p, (uint16_t)(PORT + i), &clients[i], &server);
    pair_run(&p, 3000000);
    for (uint32_t i = 0; i < WRITERS; i++)
        assert_int_equal(weir_socket_write(p.a.weir, clients[i], "x", 1), 1);
    uint64_t now_us = p.a.now_us;
    for (uint32_t what = 0; what < 2; what++) {
        uint32_t polls = 0, before = weir_counter_get(p.a.weir, sent[what]), first = before;
        for (uint64_t next_us = now_us; next_us <= now_us; polls++) {
            next_us = weir_poll(p.a.weir, now_us);
            assert_in_range(weir_counter_get(p.a.weir, sent[what]) - before, 0, MOST);
            before = weir_counter_get(p.a.weir, sent[what]);
            assert_true(next_us <= now_us || before - first == WRITERS);
        }
        assert_in_range(polls, WRITERS / MOST + 1, 3 * WRITERS);
        now_us += 250000;  // a tail probe of each
    }
    p.a.now_us = now_us;
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_handles_are_refused),
        cmocka_unit_test(kinds_have_their_operations),
        cmocka_unit_test(listening_keeps_handle_and_user),
        cmocka_unit_test(an_abort_is_something_to_transmit),
        cmocka_unit_test(a_connection_carries_bytes_both_ways),
        cmocka_unit_test(many_bytes_arrive_unchanged),
        cmocka_unit_test(a_refused_connection_says_so),
        cmocka_unit_test(news_comes_once_and_in_order),
        cmocka_unit_test(watches_are_called),
        cmocka_unit_test(in_place_access_moves_the_same_bytes),
        cmocka_unit_test(accept_without_a_handle_loses_nothing),
        cmocka_unit_test(datagrams_pass),
        cmocka_unit_test(a_poll_serves_so_many_and_says_now),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
