// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Connections that their owner has closed, and whose peer never ends them: they do not keep newcomers out. With an
// allocator there is room for all of them; else one of them gives its place.
#include "pair.h"

#include "wire/ip4.h"
#include "wire/ip6.h"
#include "wire/tcp.h"

#define SECOND UINT64_C(1000000)
#define PORT 80
#define IP_BYTES (WEIR_CFG_IP4 ? IP4_BYTES : IP6_BYTES)
#define PROTOCOL (WEIR_CFG_IP4 ? 9 : 6)
#define PLACES (WEIR_CFG_ALLOCATOR ? 40u : (WEIR_CFG_TCP_CONNECTIONS ? WEIR_CFG_TCP_CONNECTIONS : WEIR_CFG_SOCKETS))
#define OWNED (PLACES - 1)  // a listener has a handle, too

// Peers that vanish: what ends here is told to nobody.
static bool no_resets(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    (void)context;
    if (from_b || length < 14 + IP_BYTES + TCP_BYTES || frame[14 + PROTOCOL] != IP_TCP)
        return true;
    return !(frame[14 + IP_BYTES + 13] & TCP_RST);
}

static void open_both(struct pair *pair)
{
    pair_open(pair, &(struct pair_options){.link = {.delay_us = 1000}, .seed = 3});
    pair->filter = no_resets;
}

static uint32_t ended(const struct pair *pair) { return fixture_count(&pair->b, WEIR_COUNT_TCP_EVICTED); }

static void nobody_is_kept_out_by_who_never_sends_a_fin(void **state)
{
    struct pair pair;
    weir_socket client, server;
    (void)state;
    open_both(&pair);
    for (uint32_t i = 0; i < 4 * PLACES; i++) {
        pair_connect(&pair, PORT, &client, &server);
        assert_int_equal(weir_socket_close(pair.b.weir, server), WEIR_OK);
        pair_run(&pair, SECOND / 10);
        assert_int_equal(weir_socket_abort(pair.a.weir, client), WEIR_OK);
    }
    assert_int_equal(fixture_count(&pair.b, WEIR_COUNT_TCP_ACCEPTED), 4 * PLACES);
    assert_true(WEIR_CFG_ALLOCATOR ? ended(&pair) == 0 : ended(&pair) >= 3 * PLACES);
    pair_close(&pair);
}

// What it had sent is not lost: its peer's FIN is acknowledged as before.
static void who_ends_later_is_answered(void **state)
{
    struct pair pair;
    weir_socket patient, client, server;
    (void)state;
    open_both(&pair);
    pair_connect(&pair, PORT, &patient, &server);
    assert_int_equal(weir_socket_close(pair.b.weir, server), WEIR_OK);
    pair_run(&pair, SECOND / 10);
    for (uint32_t i = 1; i < PLACES + 1; i++) {
        pair_connect(&pair, PORT, &client, &server);
        assert_int_equal(weir_socket_close(pair.b.weir, server), WEIR_OK);
        pair_run(&pair, SECOND / 10);
        assert_int_equal(weir_socket_abort(pair.a.weir, client), WEIR_OK);
    }
    assert_true(WEIR_CFG_ALLOCATOR || ended(&pair) != 0);
    assert_int_equal(weir_socket_shutdown(pair.a.weir, patient, WEIR_SHUT_WRITE), WEIR_OK);
    pair_run(&pair, SECOND);
    const int ready = weir_socket_ready(pair.a.weir, patient);
    assert_true(ready >= 0 && ready & WEIR_HANGUP && !(ready & WEIR_ERROR));  // LAST-ACK is over
    assert_int_equal(weir_socket_close(pair.a.weir, patient), WEIR_OK);
    pair_close(&pair);
}

struct newcomer {
    struct pair *pair;
    weir_socket listener, socket;
};

static bool has_come(void *context)
{
    struct newcomer *const n = context;
    n->socket = weir_socket_accept(n->pair->b.weir, n->listener);
    return n->socket > 0;
}

// All places are of connections whose last data nobody acknowledges: after ten seconds one is given up.
static void who_acknowledges_nothing_gives_way_after_ten_seconds(void **state)
{
    struct pair pair;
    weir_socket client;
    (void)state;
    open_both(&pair);
    struct newcomer n = {&pair, pair_listen(&pair, PORT, 4), 0};
    for (uint32_t i = 0; i < PLACES; i++) {
        client = pair_ask(&pair, PORT);
        assert_true(pair_run_until(&pair, has_come, &n, SECOND));
        assert_int_equal(weir_socket_abort(pair.a.weir, client), WEIR_OK);
        assert_int_equal(weir_socket_write(pair.b.weir, n.socket, "the last", 8), 8);
        assert_int_equal(weir_socket_close(pair.b.weir, n.socket), WEIR_OK);
    }
    client = pair_ask(&pair, PORT);
    assert_int_equal(pair_run_until(&pair, has_come, &n, SECOND), WEIR_CFG_ALLOCATOR);
    if (!WEIR_CFG_ALLOCATOR) {
        assert_int_equal(ended(&pair), 0);
        weir_socket_abort(pair.a.weir, client);
        pair_run(&pair, 10 * SECOND);
        client = pair_ask(&pair, PORT);
        assert_true(pair_run_until(&pair, has_come, &n, SECOND));
        assert_int_equal(ended(&pair), 1);
    }
    assert_int_equal(weir_socket_close(pair.b.weir, n.socket), WEIR_OK);
    pair_run(&pair, SECOND);
    assert_int_equal(weir_socket_close(pair.a.weir, client), WEIR_OK);
    assert_int_equal(weir_socket_close(pair.b.weir, n.listener), WEIR_OK);
    pair_close(&pair);
}

// Whoever has an owner stays, however long nothing moves; so does who waits for one.
static void who_has_an_owner_stays(void **state)
{
    struct pair pair;
    weir_socket client[OWNED], server[OWNED], late[2];
    (void)state;
    open_both(&pair);
    struct newcomer n = {&pair, pair_listen(&pair, PORT, 4), 0};
    for (uint32_t i = 0; i < OWNED; i++) {
        client[i] = pair_ask(&pair, PORT);
        assert_true(pair_run_until(&pair, has_come, &n, SECOND));
        server[i] = n.socket;
    }
    assert_int_equal(weir_socket_close(pair.a.weir, client[0]), WEIR_OK);
    late[0] = pair_ask(&pair, PORT);
    pair_run(&pair, 20 * SECOND);
    late[1] = pair_ask(&pair, PORT);
    pair_run(&pair, 10 * SECOND);
    assert_int_equal(ended(&pair), 0);
    for (uint32_t i = 1; i < OWNED; i++) {
        char byte;
        assert_int_equal(weir_socket_write(pair.b.weir, server[i], "x", 1), 1);
        pair_run(&pair, SECOND / 10);
        assert_int_equal(weir_socket_read(pair.a.weir, client[i], &byte, 1), 1);
    }
    pair.filter = NULL;
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(weir_socket_abort(pair.a.weir, late[i]), WEIR_OK);
    for (uint32_t i = 0; i < OWNED; i++) {
        assert_int_equal(weir_socket_close(pair.b.weir, server[i]), WEIR_OK);
        if (i)
            assert_int_equal(weir_socket_close(pair.a.weir, client[i]), WEIR_OK);
    }
    assert_int_equal(weir_socket_close(pair.b.weir, n.listener), WEIR_OK);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nobody_is_kept_out_by_who_never_sends_a_fin),
        cmocka_unit_test(who_ends_later_is_answered),
        cmocka_unit_test(who_acknowledges_nothing_gives_way_after_ten_seconds),
        cmocka_unit_test(who_has_an_owner_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
