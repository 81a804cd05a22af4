// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Ends: close, shutdown, abort, linger, and what becomes of data and memory.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "link/neighbour.h"
#include "tcp/internal.h"

#define SECOND UINT64_C(1000000)

static const struct tcp_fixture_options plain;

static void close_socket(struct tcp_fixture *t)
{
    assert_int_equal(weir_socket_close(t->weir, t->socket), WEIR_OK);
    t->socket = 0;
    fixture_poll(&t->f, 0);
}

// A normal close delivers what was written (RFC 9293 §3.6), also against loss.
static void close_delivers_what_was_written(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 3000);
    close_socket(&t);
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 1460);
    peer_expect(&t, TCP_ACK, 2920, 0, 80);
    peer_expect(&t, TCP_FIN | TCP_ACK, 3000, 0, 0);
    peer_pass(&t, 300000);  // all lost
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_send(&t, TCP_ACK, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 1460);
    peer_expect(&t, TCP_FIN | TCP_ACK, 2920, 0, 80);
    peer_send(&t, TCP_ACK, 0, 3001);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 3001);
    peer_expect(&t, TCP_ACK, 3001, 1, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    peer_pass(&t, 61 * SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void half_close_goes_on_receiving(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_2, &plain);
    for (uint32_t i = 0; i < 100; i++) {
        peer_data(&t, i * 1000, 1000);
        assert_int_equal(user_read(&t, i * 1000, 5000), 1000);
        peer_drain(&t);
    }
    assert_int_equal(weir_socket_write(t.weir, t.socket, "x", 1), WEIR_SHUT_DOWN);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);  // again: nothing
    fixture_poll(&t.f, 0);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void close_wait_goes_on_sending(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_CLOSE_WAIT, &plain);
    user_write(&t, 0, 1000);
    peer_expect(&t, TCP_ACK, 0, 0, 1000);
    peer_send(&t, TCP_ACK, 0, 1000);
    close_socket(&t);
    peer_expect(&t, TCP_FIN | TCP_ACK, 1000, 0, 0);
    assert_state(&t, WEIR_TCP_LAST_ACK);
    peer_send(&t, TCP_ACK, 0, 1001);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

// RFC 9293 §3.6.1 (MUST-20 of RFC 2525 §2.17): data that nobody will read tells the peer by a reset, unread or still to
// come.
static void unread_data_resets(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 10);
    peer_drain(&t);
    close_socket(&t);
    peer_expect(&t, TCP_RST | TCP_ACK, 0, 10, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
    const enum weir_tcp_state late[] = {WEIR_TCP_FIN_WAIT_1, WEIR_TCP_FIN_WAIT_2};
    for (size_t i = 0; i < 2; i++) {
        tcp_fixture_bring(&t, late[i], &plain);
        close_socket(&t);
        peer_drain(&t);
        peer_data(&t, 0, 10);
        peer_take(&t);
        assert_int_equal(t.got.flags & TCP_RST, TCP_RST);
        assert_int_equal(t.got_seq, 0);
        assert_state(&t, WEIR_TCP_CLOSED);
        tcp_fixture_close(&t);
    }
}

// A peer that answers resets with acknowledgements gets exact resets; it cannot start a storm.
static void a_peer_that_missed_our_reset_learns_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_RST | TCP_ACK, 0, 0, 0);
    for (int i = 0; i < 500; i++)
        peer_send(&t, TCP_ACK, 100, 0);
    peer_expect(&t, TCP_RST, 0, 0, 0);
    assert_in_range(peer_drain_count(&t), 5, 100);  // the limit per destination
    tcp_fixture_close(&t);
}

static void abort_resets_in_each_state(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (enum weir_tcp_state s = WEIR_TCP_ESTABLISHED; s <= WEIR_TCP_LAST_ACK; s++) {
        tcp_fixture_bring(&t, s, &plain);
        assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
        t.socket = 0;
        fixture_poll(&t.f, 0);
        peer_expect(&t, TCP_RST | TCP_ACK, 0, 0, 0);
        assert_state(&t, WEIR_TCP_CLOSED);
        tcp_fixture_close(&t);
    }
}

// The probe of a closed window is beyond it: a reset behind the probe would not be believed (RFC 5961 §3.2).
static void a_reset_is_heard_behind_a_closed_window(void **state)
{
    (void)state;
    for (int probed = 0; probed < 2; probed++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        t.window = 0;
        peer_send(&t, TCP_ACK, 0, 0);
        user_write(&t, 0, 1000);
        peer_expect_nothing(&t);
        if (probed) {
            peer_pass(&t, 10 * SECOND);
            peer_expect(&t, TCP_ACK, 0, 0, 1);
        }
        peer_drain(&t);
        assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
        t.socket = 0;
        fixture_poll(&t.f, 0);
        peer_expect(&t, TCP_RST | TCP_ACK, 0, 0, 0);
        peer_expect_nothing(&t);
        tcp_fixture_close(&t);
    }
}

static void abort_throws_queued_data_away(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 60000);
    peer_drain(&t);
    assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_RST, TCP_RST);
    peer_pass(&t, 100 * SECOND);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void a_linger_time_of_zero_resets(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_LINGER_S, 0), WEIR_OK);
    close_socket(&t);
    peer_expect(&t, TCP_RST | TCP_ACK, 0, 0, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void simultaneous_close(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    close_socket(&t);
    peer_expect(&t, TCP_FIN | TCP_ACK, 0, 0, 0);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_expect(&t, TCP_ACK, 1, 1, 0);
    assert_state(&t, WEIR_TCP_CLOSING);
    peer_send(&t, TCP_ACK, 1, 1);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    tcp_fixture_close(&t);
}

// Calls in states where they make no sense fail with a name (RFC 9293 §3.10.1 to .6).
static void calls_on_an_ended_connection_fail(void **state)
{
    struct tcp_fixture t;
    uint8_t byte;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send(&t, TCP_RST, 0, 0);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), WEIR_RESET);  // told once
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), 0);
    assert_int_equal(weir_socket_write(t.weir, t.socket, &byte, 1), WEIR_SHUT_DOWN);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_connect(t.weir, t.socket, &t.remote), WEIR_CONNECTED);
    tcp_fixture_close(&t);
    tcp_fixture_open(&t, &plain);
    t.socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_write(t.weir, t.socket, &byte, 1), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_BOTH), WEIR_NOT_CONNECTED);
    tcp_fixture_close(&t);
}

// Nobody is asked for for ever, only to be told that his FIN has come; nor while the socket is still held.
static void last_acknowledgement(bool closed)
{
    struct tcp_fixture t;
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_2, &(struct tcp_fixture_options){.fixture = {.link = &weir_link_ethernet}});
    if (closed)
        close_socket(&t);
    neighbour_flush(t.weir, &t.f.netif, true);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    assert_true(fixture_sent_count(&t.f) > t.seen);  // asks
    peer_pass(&t, 10 * SECOND);
    const uint32_t asked = fixture_sent_count(&t.f);
    peer_pass(&t, 30 * SECOND);
    assert_int_equal(fixture_sent_count(&t.f), asked);
    tcp_fixture_close(&t);
}

static void the_last_acknowledgement_gives_a_neighbour_up(void **state)
{
    (void)state;
    last_acknowledgement(true);
    last_acknowledgement(false);
}

// Every state may be left by destroying the instance: nothing leaks (the fixture counts).
static void destroying_the_instance_frees_everything(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int owned = 0; owned < 2; owned++)
        for (enum weir_tcp_state s = WEIR_TCP_LISTEN; s < WEIR_TCP_STATE_COUNT; s++) {
            tcp_fixture_bring(&t, s, &(struct tcp_fixture_options){.sack = true});
            if (s == WEIR_TCP_ESTABLISHED) {
                user_write(&t, 0, 50000);
                peer_data(&t, 100, 1000);
            }
            if (!owned && t.socket)
                close_socket(&t);
            t.socket = t.listener = 0;
            tcp_fixture_close(&t);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(close_delivers_what_was_written),
        cmocka_unit_test(half_close_goes_on_receiving),
        cmocka_unit_test(close_wait_goes_on_sending),
        cmocka_unit_test(unread_data_resets),
        cmocka_unit_test(a_peer_that_missed_our_reset_learns_again),
        cmocka_unit_test(abort_resets_in_each_state),
        cmocka_unit_test(a_reset_is_heard_behind_a_closed_window),
        cmocka_unit_test(abort_throws_queued_data_away),
        cmocka_unit_test(a_linger_time_of_zero_resets),
        cmocka_unit_test(simultaneous_close),
        cmocka_unit_test(calls_on_an_ended_connection_fail),
        cmocka_unit_test(the_last_acknowledgement_gives_a_neighbour_up),
        cmocka_unit_test(destroying_the_instance_frees_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
