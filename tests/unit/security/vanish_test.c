// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small small6
// Peers that vanish, in each state of a connection and after each frame of a conversation: the user is told or has
// gone, and in bounded time nothing is left. And instances that cannot be had, as one of their allocations fails.
#include "built.h"
#include "pair.h"
#include "tcp/tcp_fixture.h"

#define SECOND_US UINT64_C(1000000)
// Whatever waits ends by then: for an answer by the user timeout, in FIN-WAIT-2 and TIME-WAIT sooner.
#define GONE_US ((WEIR_CFG_TCP_USER_TIMEOUT_S + WEIR_CFG_TCP_RTO_MAX_MS / 1000 + 10) * SECOND_US)
#define PORT 7700
#define BYTES 6000u

static const struct tcp_fixture_options plain;

static void vanish_in(enum weir_tcp_state state, bool data)
{
    struct tcp_fixture t;
    tcp_fixture_bring(&t, state, &plain);
    if (data)
        user_write(&t, 0, 3000);
    if (t.listener)
        assert_int_equal(weir_socket_close(t.weir, t.listener), WEIR_OK);
    if (t.socket)
        assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = t.listener = 0;
    peer_pass(&t, GONE_US);
    if (weir_socket_count(t.weir))
        fail_msg("state %d, %s data: something is left", (int)state, data ? "with" : "without");
    tcp_fixture_close(&t);
}

static void a_peer_vanishes_in_each_state(void **state)
{
    static const enum weir_tcp_state states[] = {WEIR_TCP_SYN_SENT,   WEIR_TCP_SYN_RECEIVED, WEIR_TCP_ESTABLISHED,
                                                 WEIR_TCP_FIN_WAIT_1, WEIR_TCP_FIN_WAIT_2,   WEIR_TCP_CLOSE_WAIT,
                                                 WEIR_TCP_CLOSING,    WEIR_TCP_LAST_ACK,     WEIR_TCP_TIME_WAIT};
    (void)state;
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        vanish_in(states[i], false);
        if (states[i] == WEIR_TCP_ESTABLISHED || states[i] == WEIR_TCP_CLOSE_WAIT)
            vanish_in(states[i], true);
    }
}

// A user who stays is told: at once where something waits to be acknowledged, by keepalive where nothing does.
static void who_stays_is_told(void **state)
{
    (void)state;
    for (uint32_t data = 0; data < 2; data++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_KEEPALIVE, 1), WEIR_OK);
        assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_KEEPALIVE_IDLE_S, 60), WEIR_OK);
        if (data)
            user_write(&t, 0, 3000);
        peer_pass(&t, 60 * SECOND_US + 2 * GONE_US);
        assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
        assert_state(&t, WEIR_TCP_CLOSED);
        tcp_fixture_close(&t);
    }
}

// --- after each frame ------------------------------------------------------------------------------------------------

struct conversation {
    struct pair pair;
    weir_socket listener, client, server;
    uint32_t left;  // frames that still arrive
    uint32_t lost, wrote, read;
};

static bool arrives(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct conversation *c = context;
    (void)from_b, (void)frame, (void)length;
    c->lost += c->left == 0;
    c->left -= c->left > 0;
    return c->left || !c->lost;
}

static void close_one(struct weir *weir, weir_socket *socket)
{
    assert_int_equal(weir_socket_close(weir, *socket), WEIR_OK);
    *socket = 0;
}

// What both users do now: the client writes all, the server reads it, and each closes at the end or at an error.
static bool users(void *context)
{
    static const uint8_t zeros[BYTES];
    struct conversation *c = context;
    struct weir *a = c->pair.a.weir, *b = c->pair.b.weir;
    uint8_t bytes[1000];
    if (c->client && weir_socket_ready(a, c->client) & (WEIR_WRITABLE | WEIR_ERROR)) {
        const int wrote = weir_socket_write(a, c->client, zeros, BYTES - c->wrote);
        c->wrote += wrote > 0 ? (uint32_t)wrote : 0;
        if (c->wrote == BYTES || (wrote < 0 && wrote != WEIR_AGAIN))
            close_one(a, &c->client);
    }
    if (!c->server && c->listener) {
        const weir_socket accepted = weir_socket_accept(b, c->listener);
        c->server = accepted > 0 ? accepted : 0;
    }
    for (int got = 1; c->server && got != WEIR_AGAIN;) {
        got = weir_socket_read(b, c->server, bytes, sizeof bytes);
        c->read += got > 0 ? (uint32_t)got : 0;
        if (got == 0 || (got < 0 && got != WEIR_AGAIN))
            close_one(b, &c->server);
    }
    return false;
}

// Whether a frame was lost.
static bool vanish_after(uint32_t frames)
{
    struct conversation c = {.left = frames};
    const struct weir_endpoint local = {weir_addr_any(), PORT}, peer = {PAIR_B, PORT};
    pair_open(&c.pair, &(struct pair_options){.link = {.delay_us = 1000}, .seed = 1});
    c.listener = weir_socket_open(c.pair.b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(c.pair.b.weir, c.listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(c.pair.b.weir, c.listener, 1), WEIR_OK);
    c.pair.filter = arrives;
    c.pair.filter_context = &c;
    c.client = weir_socket_open(c.pair.a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(c.pair.a.weir, c.client, &peer), WEIR_IN_PROGRESS);
    pair_run_until(&c.pair, users, &c, SECOND_US);
    if (c.server)  // nothing is owed to it, and it does not ask: it has had enough
        close_one(c.pair.b.weir, &c.server);
    close_one(c.pair.b.weir, &c.listener);
    pair_run_until(&c.pair, users, &c, GONE_US);
    if (c.client || weir_socket_count(c.pair.a.weir) || weir_socket_count(c.pair.b.weir))
        fail_msg("after %u frames: something is left", frames);
    if (!c.lost)
        assert_int_equal(c.read, BYTES);
    pair_close(&c.pair);
    return c.lost;
}

static void a_peer_vanishes_after_each_frame(void **state)
{
    uint32_t frames = 0;
    (void)state;
    while (vanish_after(frames))
        assert_in_range(++frames, 1, 60);
    assert_in_range(frames, 10, 60);
}

// --- no instance -----------------------------------------------------------------------------------------------------

// weir_create gives everything back (the fixture looks), whichever of its allocations fails.
static void each_allocation_of_an_instance_may_fail(void **state)
{
    uint32_t nth = 1;
    struct fixture f;
    (void)state;
    while (!fixture_open_with(&f, &(struct fixture_options){.fail_at = nth}))
        assert_in_range(++nth, 2, 20);
    assert_in_range(nth, 2, 20);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_vanishes_in_each_state),
        cmocka_unit_test(who_stays_is_told),
        cmocka_unit_test(a_peer_vanishes_after_each_frame),
        test_with(WEIR_CFG_ALLOCATOR, each_allocation_of_an_instance_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
