// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Keepalive (RFC 9293 §3.8.4) and the user timeout (RFC 5482).
// profiles: small
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define SECOND UINT64_C(1000000)

static const struct tcp_fixture_options plain;

static void set(struct tcp_fixture *t, enum weir_option option, int32_t value)
{
    assert_int_equal(weir_socket_set(t->weir, t->socket, option, value), WEIR_OK);
}

static void it_is_off_and_two_hours_by_default(void **state)
{
    struct tcp_fixture t;
    int32_t value = -1;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_KEEPALIVE, &value), WEIR_OK);
    assert_int_equal(value, 0);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_KEEPALIVE_IDLE_S, &value), WEIR_OK);
    assert_in_range(value, 7200, INT32_MAX);
    peer_pass(&t, 48 * 3600 * SECOND);
    peer_expect_nothing(&t);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    tcp_fixture_close(&t);
}

static void a_probe_is_an_old_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    set(&t, WEIR_OPTION_KEEPALIVE, 1);
    peer_pass(&t, 7195 * SECOND);
    peer_expect_nothing(&t);
    peer_pass(&t, 10 * SECOND);
    peer_expect(&t, TCP_ACK, UINT32_MAX, 0, 0);
    peer_send(&t, TCP_ACK, 0, 0);  // the answer: another two hours
    peer_pass(&t, 7180 * SECOND);
    peer_expect_nothing(&t);
    peer_pass(&t, 20 * SECOND);
    peer_expect(&t, TCP_ACK, UINT32_MAX, 0, 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_KEEPALIVE), 2);
    tcp_fixture_close(&t);
}

// No single unanswered probe ends a connection (MUST-26): all must stay unanswered.
static void only_all_probes_unanswered_end_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    set(&t, WEIR_OPTION_KEEPALIVE, 1);
    set(&t, WEIR_OPTION_KEEPALIVE_IDLE_S, 10);
    set(&t, WEIR_OPTION_KEEPALIVE_INTERVAL_S, 5);
    set(&t, WEIR_OPTION_KEEPALIVE_COUNT, 3);
    peer_pass(&t, 21 * SECOND);
    assert_in_range(peer_drain_count(&t), 2, 3);
    peer_data(&t, 0, 1);  // anything heard will do
    peer_drain(&t);
    peer_pass(&t, 9 * SECOND);
    peer_drain(&t);
    peer_pass(&t, 14 * SECOND);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(peer_drain_count(&t), 3);
    peer_pass(&t, 6 * SECOND);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_RST, TCP_RST);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

static void a_dead_peer_resets(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    set(&t, WEIR_OPTION_KEEPALIVE, 1);
    set(&t, WEIR_OPTION_KEEPALIVE_IDLE_S, 10);
    peer_pass(&t, 11 * SECOND);
    peer_expect(&t, TCP_ACK, UINT32_MAX, 0, 0);
    peer_send(&t, TCP_RST, 0, 0);  // it has restarted
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_RESET);
    tcp_fixture_close(&t);
}

// With data in flight or waiting the retransmission timer watches: no probe (RFC 9293 §3.8.4).
static void no_probe_while_data_is_in_flight(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    set(&t, WEIR_OPTION_KEEPALIVE, 1);
    set(&t, WEIR_OPTION_KEEPALIVE_IDLE_S, 1);
    user_write(&t, 0, 10);
    peer_pass(&t, 100 * SECOND);
    while (peer_has_more(&t)) {
        peer_take(&t);
        assert_int_equal(t.got.length, 10);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_KEEPALIVE), 0);
    peer_send(&t, TCP_ACK, 0, 10);
    peer_pass(&t, 3 * SECOND);
    peer_expect(&t, TCP_ACK, 9, 0, 0);  // and after it is acknowledged they come
    tcp_fixture_close(&t);
}

static void the_peers_probe_is_answered(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send(&t, TCP_ACK, UINT32_MAX, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    peer_data(&t, UINT32_MAX, 1);  // with a byte of garbage, as old ones send
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(user_read(&t, 0, 10), 0);
    tcp_fixture_close(&t);
}

static void the_user_timeout_bounds_retransmission(void **state)
{
    struct tcp_fixture t;
    (void)state;
    const uint32_t seconds[] = {10, 300, 2000};
    for (size_t i = 0; i < 3; i++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        set(&t, WEIR_OPTION_USER_TIMEOUT_MS, (int32_t)seconds[i] * 1000);
        user_write(&t, 0, 10);
        peer_pass(&t, (seconds[i] - 1) * SECOND);
        assert_state(&t, WEIR_TCP_ESTABLISHED);
        peer_pass(&t, 2 * SECOND);
        assert_state(&t, WEIR_TCP_CLOSED);  // in time, not at the next retransmission
        assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
        tcp_fixture_close(&t);
    }
}

static void the_option_is_heard_and_harmless(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const struct tcp_options options = {.seen = TCP_SEEN_USER_TIMEOUT, .user_timeout = 1};
    // MAY be ignored (RFC 5482 §3.1)
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .length = 5, .options = &options});
    assert_int_equal(user_read(&t, 0, 10), 5);
    user_write(&t, 0, 10);
    peer_pass(&t, 60 * SECOND);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_off_and_two_hours_by_default),     cmocka_unit_test(a_probe_is_an_old_ack),
        cmocka_unit_test(only_all_probes_unanswered_end_it),      cmocka_unit_test(a_dead_peer_resets),
        cmocka_unit_test(no_probe_while_data_is_in_flight),       cmocka_unit_test(the_peers_probe_is_answered),
        cmocka_unit_test(the_user_timeout_bounds_retransmission), cmocka_unit_test(the_option_is_heard_and_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
