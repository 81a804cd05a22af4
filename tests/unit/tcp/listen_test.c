// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Listeners through the whole stack: backlog, floods and cookies, defer accept, connections that end before they are
// accepted.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define SECOND UINT64_C(1000000)

static const struct tcp_fixture_options plain;

// A SYN from `port`; takes our answer when there is one.
static bool in_syn_from(struct tcp_fixture *t, uint16_t port)
{
    t->remote.port = port;
    t->theirs = 1000;
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_SYN,
                                            .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
    if (!peer_has_more(t))
        return false;
    peer_take(t);
    assert_int_equal(t->got.flags, TCP_SYN | TCP_ACK);
    t->ours = t->got.seq + 1;
    t->theirs++;
    return true;
}

static void accept_and_close(struct tcp_fixture *t)
{
    const weir_socket socket = weir_socket_accept(t->weir, t->listener);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_abort(t->weir, socket), WEIR_OK);
    fixture_poll(&t->f, 0);
    fixture_clear(&t->f);  // its reset may be for another port
    t->seen = 0;
}

static void the_backlog_counts_complete_connections(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_int_equal(weir_socket_listen(t.weir, t.listener, 2), WEIR_OK);
    for (uint16_t port = 1; port <= 2; port++) {
        assert_true(in_syn_from(&t, port));
        peer_send(&t, TCP_ACK, 0, 0);
    }
    assert_false(in_syn_from(&t, 3));  // full: silence, and the peer tries again
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYN_DROPPED), 1);
    accept_and_close(&t);
    assert_true(in_syn_from(&t, 3));
    peer_send(&t, TCP_ACK, 0, 0);
    accept_and_close(&t);
    accept_and_close(&t);
    assert_int_equal(weir_socket_accept(t.weir, t.listener), WEIR_AGAIN);
    tcp_fixture_close(&t);
}

// The ACK that finds the queue full is as if lost: the SYN-ACK comes again, and then it may enter.
static void an_ack_that_finds_the_queue_full_comes_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_int_equal(weir_socket_listen(t.weir, t.listener, 1), WEIR_OK);
    assert_true(in_syn_from(&t, 1));
    const uint32_t ours = t.ours;
    assert_true(in_syn_from(&t, 2));
    peer_send(&t, TCP_ACK, 0, 0);
    t.remote.port = 1;
    t.ours = ours;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYN_DROPPED), 1);
    assert_state(&t, WEIR_TCP_SYN_RECEIVED);
    accept_and_close(&t);
    t.remote.port = 1;
    peer_pass(&t, 1100000);
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    peer_send(&t, TCP_ACK, 0, 0);
    accept_and_close(&t);
    tcp_fixture_close(&t);
}

static void a_flood_leaves_memory_bounded_and_flows_running(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_TCP_SYN_COOKIES)
        skip();  // halfopen_test.c: without_cookies_the_silent_make_room
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.irs = 999});
    const uint32_t ours = t.ours, theirs = t.theirs;
    const uint64_t before = weir_memory_used(t.weir);
    for (uint32_t i = 0; i < 10000; i++) {
        t.remote.addr = weir_ip4(10, 0, 0, (uint8_t)(2 + i % 250));
        t.remote.port = (uint16_t)(1000 + i / 250);
        t.theirs = i;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN,
                                                 .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
        if (i % 50 == 0) {
            fixture_clear(&t.f);
            t.seen = 0;
        }
    }
    fixture_clear(&t.f);
    t.seen = 0;
    assert_true(weir_memory_used(t.weir) - before < 200000);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_SENT) > 5000);
    // A true client comes in by its cookie …
    t.remote.addr = TCP_PEER;
    t.remote.port = 55555;
    t.theirs = 5000;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN,
                                             .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
    peer_take(&t);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED), 1);
    peer_data(&t, 0, 100);
    peer_drain(&t);
    accept_and_close(&t);
    // The flow that was there goes on.
    t.remote.port = TCP_PEER_PORT;
    t.ours = ours;
    t.theirs = theirs;
    peer_data(&t, 0, 1000);
    peer_expect(&t, TCP_ACK, 0, 1000, 0);
    assert_int_equal(user_read(&t, 0, 5000), 1000);
    peer_pass(&t, 200 * SECOND);  // the half-open ones end
    fixture_clear(&t.f);
    t.seen = 0;
    tcp_fixture_close(&t);
}

// The table was full when the SYN came, and had room for its copy: there is an entry with a number of its own, and the
// client answers the cookie.
static void a_cookie_comes_back_while_its_half_open_entry_lives(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_TCP_SYN_COOKIES)
        skip();
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_int_equal(weir_socket_listen(t.weir, t.listener, 1), WEIR_OK);
    uint16_t port = 1000;
    do {
        assert_true(in_syn_from(&t, ++port));
    } while (!fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_SENT));
    const uint32_t cookie = t.ours;
    t.remote.port = 1001;  // another goes, and makes room
    peer_send(&t, TCP_RST, 0, 0);
    assert_true(in_syn_from(&t, port));
    assert_int_not_equal(t.ours, cookie);
    assert_state(&t, WEIR_TCP_SYN_RECEIVED);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_SENT), 1);
    t.ours = cookie;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED), 1);
    peer_drain(&t);
    peer_data(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    peer_pass(&t, 200 * SECOND);  // nothing is left of the entry: no SYN-ACK goes to that port any more
    for (uint32_t i = 0, length; i < fixture_sent_count(&t.f); i++) {
        const uint8_t *packet = fixture_sent_packet(&t.f, i, &length);
        assert_false(get16(packet + 22) == port && packet[33] & TCP_SYN);
    }
    fixture_clear(&t.f);
    t.seen = 0;
    t.remote.port = port;
    accept_and_close(&t);
    tcp_fixture_close(&t);
}

static void the_last_ack_may_bring_data_and_fin(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .length = 100});
    peer_expect(&t, TCP_ACK, 0, 101, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_int_equal(user_read(&t, 0, 1000), 100);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    tcp_fixture_close(&t);
}

static void defer_accept_waits_for_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.listener, WEIR_OPTION_DEFER_ACCEPT_S, 5), WEIR_OK);
    assert_true(in_syn_from(&t, 7));
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(weir_socket_accept(t.weir, t.listener), WEIR_AGAIN);
    peer_data(&t, 0, 10);
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_true(t.socket > 0);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

static void a_connection_reset_in_the_queue_is_accepted_as_such(void **state)
{
    struct tcp_fixture t;
    uint8_t byte;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_true(in_syn_from(&t, 7));
    peer_send(&t, TCP_ACK, 0, 0);
    peer_data(&t, 0, 1);
    peer_send(&t, TCP_RST, 1, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_true(t.socket > 0);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), 1);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), WEIR_RESET);
    tcp_fixture_close(&t);
}

static void a_reset_in_syn_received_goes_back_to_listening(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &plain);
    peer_send(&t, TCP_RST, 0, 0);
    assert_int_equal(weir_socket_accept(t.weir, t.listener), WEIR_AGAIN);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_true(in_syn_from(&t, 8));  // nothing happened to the listener
    tcp_fixture_close(&t);
}

static void closing_a_listener_resets_what_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    assert_true(in_syn_from(&t, 7));
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(weir_socket_close(t.weir, t.listener), WEIR_OK);
    t.listener = 0;
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_RST, TCP_RST);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void options_are_inherited(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    const enum weir_option options[] = {
        WEIR_OPTION_KEEPALIVE,   WEIR_OPTION_NO_DELAY,        WEIR_OPTION_OOB_INLINE, WEIR_OPTION_TTL,
        WEIR_OPTION_TOS,         WEIR_OPTION_USER_TIMEOUT_MS, WEIR_OPTION_LINGER_S,   WEIR_OPTION_KEEPALIVE_IDLE_S,
        WEIR_OPTION_SEND_BUFFER, WEIR_OPTION_RTO_MIN_US};
    const int32_t values[] = {1, 1, 1, 33, 0x28, 7000, 3, 77, 12345, 30000};
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(weir_socket_set(t.weir, t.listener, options[i], values[i]), WEIR_OK);
    assert_true(in_syn_from(&t, 7));
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(weir_socket_get(t.weir, t.socket, options[i], &value), WEIR_OK);
        assert_int_equal(value, values[i]);
    }
    tcp_fixture_close(&t);
}

// Two listeners: that of the very address is asked first. More than one connection to one port (MUST-42, MUST-43).
static void one_port_serves_many(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    const weir_socket second = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(t.weir, second, &(struct weir_endpoint){TCP_US, TCP_OUR_PORT}), WEIR_IN_USE);
    assert_int_equal(weir_socket_bind(t.weir, second, &(struct weir_endpoint){TCP_US, TCP_OUR_PORT + 1}), WEIR_OK);
    assert_int_equal(weir_socket_listen(t.weir, second, 1), WEIR_OK);
    for (uint16_t port = 1; port <= 4; port++) {
        assert_true(in_syn_from(&t, port));
        peer_send(&t, TCP_ACK, 0, 0);
        peer_data(&t, 0, port);
        peer_drain(&t);
    }
    for (uint16_t port = 1; port <= 4; port++) {
        uint8_t bytes[8];
        struct weir_endpoint peer;
        const weir_socket socket = weir_socket_accept(t.weir, t.listener);
        assert_int_equal(weir_socket_peer(t.weir, socket, &peer), WEIR_OK);
        assert_int_equal(peer.port, port);
        assert_int_equal(weir_socket_read(t.weir, socket, bytes, 8), port);
        assert_int_equal(weir_socket_abort(t.weir, socket), WEIR_OK);
    }
    assert_int_equal(weir_socket_close(t.weir, second), WEIR_OK);
    tcp_fixture_close(&t);
}

// Whichever allocation of a handshake fails: the peer's next attempt, or our next SYN-ACK, brings the connection about.
static void a_handshake_survives_failing_allocations(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t n = 1; n < 12; n++) {
        tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
        t.f.fail_at = n;
        int tries = 0;
        for (weir_socket socket = WEIR_AGAIN; socket < 0; socket = t.socket = weir_socket_accept(t.weir, t.listener)) {
            assert_in_range(++tries, 1, 6);
            t.theirs = 1000;
            peer_send_raw(&t,
                          &(struct peer_segment){.flags = TCP_SYN,
                                                 .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
            if (!peer_has_more(&t))
                continue;
            peer_take(&t);
            t.ours = t.got.seq + 1;
            t.theirs++;
            peer_send(&t, TCP_ACK, 0, 0);
        }
        peer_data(&t, 0, 100);
        if (conn_snapshot(&t).rcv_nxt == t.theirs)
            peer_data(&t, 0, 100);
        assert_int_equal(user_read(&t, 0, 1000), 100);
        tcp_fixture_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_backlog_counts_complete_connections),
        cmocka_unit_test(an_ack_that_finds_the_queue_full_comes_again),
        cmocka_unit_test(a_flood_leaves_memory_bounded_and_flows_running),
        cmocka_unit_test(a_cookie_comes_back_while_its_half_open_entry_lives),
        cmocka_unit_test(the_last_ack_may_bring_data_and_fin),
        cmocka_unit_test(defer_accept_waits_for_data),
        cmocka_unit_test(a_connection_reset_in_the_queue_is_accepted_as_such),
        cmocka_unit_test(a_reset_in_syn_received_goes_back_to_listening),
        cmocka_unit_test(closing_a_listener_resets_what_waits),
        cmocka_unit_test(options_are_inherited),
        cmocka_unit_test(one_port_serves_many),
        cmocka_unit_test(a_handshake_survives_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
