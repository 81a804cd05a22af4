// SPDX-License-Identifier: BSD-2-Clause
// Socket options of streams: ranges, defaults, and that they do what they say.
// profiles: small
#include "built.h"
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"
#include "wire/ip4.h"

static const struct tcp_fixture_options plain;

static void values_outside_the_range_are_refused(void **state)
{
    static const struct {
        enum weir_option option;
        int32_t bad[3];
    } rows[] = {
        {WEIR_OPTION_TTL, {0, 256, -2}},
        {WEIR_OPTION_TOS, {-1, 256, 1000}},
        {WEIR_OPTION_MAX_SEGMENT, {63, 65496, -1}},
        {WEIR_OPTION_KEEPALIVE_IDLE_S, {0, 32768, -1}},
        {WEIR_OPTION_KEEPALIVE_INTERVAL_S, {0, 32768, -1}},
        {WEIR_OPTION_KEEPALIVE_COUNT, {0, 128, -1}},
        {WEIR_OPTION_LINGER_S, {-2, 32768, INT32_MIN}},
        {WEIR_OPTION_USER_TIMEOUT_MS, {-1, 32767001, INT32_MIN}},
        {WEIR_OPTION_RTO_MIN_US, {999, 3000001, -1}},
        {WEIR_OPTION_SEND_BUFFER, {0, -1, INT32_MIN}},
        {WEIR_OPTION_RECEIVE_BUFFER, {0, -1, INT32_MIN}},
        {WEIR_OPTION_BIND_NETIF, {-1, 256, INT32_MAX}},
    };
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (size_t j = 0; j < 3; j++) {
            int32_t before = 0, after = 1;
            assert_int_equal(weir_socket_get(t.weir, t.socket, rows[i].option, &before), WEIR_OK);
            assert_int_equal(weir_socket_set(t.weir, t.socket, rows[i].option, rows[i].bad[j]), WEIR_INVALID);
            assert_int_equal(weir_socket_get(t.weir, t.socket, rows[i].option, &after), WEIR_OK);
            assert_int_equal(before, after);
        }
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_DEFER_ACCEPT_S, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MULTICAST_TTL, 1), WEIR_NOT_SUPPORTED);
    tcp_fixture_close(&t);
}

// In a static build a queue is as large as it was built, whatever limit is asked for, of the connection or of its
// listener: the window promises what the queue takes.
static void a_window_promises_no_more_than_there_is(void **state)
{
    (void)state;
    for (int before = 0; before < 2; before++) {
        struct tcp_fixture t;
        int32_t limit;
        tcp_fixture_bring(&t, before ? WEIR_TCP_LISTEN : WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.send_buffer = 8192, .receive_buffer = 8192});
        const weir_socket set = before ? t.listener : t.socket;
        assert_int_equal(weir_socket_set(t.weir, set, WEIR_OPTION_RECEIVE_BUFFER, 40000), WEIR_OK);
        assert_int_equal(weir_socket_get(t.weir, set, WEIR_OPTION_RECEIVE_BUFFER, &limit), WEIR_OK);
        assert_int_equal(limit, 8192);
        if (before) {
            peer_send(&t, TCP_SYN, 0, 0);
            peer_take(&t);
            assert_int_equal(t.got.window, limit);
        } else {
            for (int32_t at = 0; at < limit; at += 1000)
                peer_data(&t, (uint32_t)at, limit - at < 1000 ? (uint32_t)(limit - at) : 1000);
            peer_drain(&t);
            assert_int_equal(conn_snapshot(&t).receive_queue, limit);
            assert_int_equal(t.got.window, 0);
            assert_int_equal(user_read(&t, 0, (uint32_t)limit), limit);
            peer_take(&t);
            assert_int_equal(t.got.window, limit);
        }
        tcp_fixture_close(&t);
    }
}

static void ttl_and_tos_are_in_each_packet(void **state)
{
    struct tcp_fixture t;
    struct ip4 ip;
    uint32_t length;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_TTL, 17), WEIR_OK);
    // may change during the connection (SHLD-22)
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_TOS, 0xb8), WEIR_OK);
    user_write(&t, 0, 10);
    const uint8_t *packet = fixture_sent_packet(&t.f, 0, &length);
    assert_int_equal(ip4_parse(packet, length, false, &ip), IP4_OK);
    assert_int_equal(ip.ttl, 17);
    assert_int_equal(ip.tos & 0xfc, 0xb8);
    peer_data(&t, 0, 10);
    packet = fixture_sent_packet(&t.f, 1, &length);
    assert_int_equal(ip4_parse(packet, length, false, &ip), IP4_OK);
    assert_int_equal(ip.ttl, 17);
    tcp_fixture_close(&t);
}

static void a_largest_segment_may_be_set(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    tcp_fixture_open(&t, &plain);
    t.socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_MAX_SEGMENT, 500), WEIR_OK);
    assert_int_equal(weir_socket_bind(t.weir, t.socket, &t.local), WEIR_OK);
    assert_int_equal(weir_socket_connect(t.weir, t.socket, &t.remote), WEIR_IN_PROGRESS);
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_int_equal(t.got.options.mss, 500);
    t.ours = t.got.seq + 1;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                             .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
    t.theirs++;
    peer_drain(&t);
    user_write(&t, 0, 500);
    peer_expect(&t, TCP_ACK, 0, 0, 500);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_MAX_SEGMENT, &value), WEIR_OK);
    assert_int_equal(value, 500);
    tcp_fixture_close(&t);
}

static void quick_ack_answers_every_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    tcp_fixture_conn(&t)->quick_acks = 0;
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_QUICK_ACK, 1), WEIR_OK);
    for (uint32_t i = 0; i < 30; i++) {
        peer_data(&t, i * 10, 10);
        peer_expect(&t, TCP_ACK, 0, (i + 1) * 10, 0);
    }
    tcp_fixture_close(&t);
}

static void queues_can_be_asked_for(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.window = 1460});
    user_write(&t, 0, 3000);
    peer_data(&t, 0, 77);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_READABLE_BYTES, &value), WEIR_OK);
    assert_int_equal(value, 77);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_UNACKED_BYTES, &value), WEIR_OK);
    assert_int_equal(value, 3000);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_UNSENT_BYTES, &value), WEIR_OK);
    assert_int_equal(value, 1540);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_MTU, &value), WEIR_OK);
    assert_int_equal(value, 1500);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_LISTENING, &value), WEIR_OK);
    assert_int_equal(value, 0);
    tcp_fixture_close(&t);
}

static void congestion_control_can_be_changed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 60000);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 2920);
    const uint32_t cwnd = tcp_fixture_conn(&t)->flow->window.cwnd;
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    assert_string_equal(weir_socket_congestion(t.weir, t.socket), "reno");
    assert_int_equal(tcp_fixture_conn(&t)->flow->window.cwnd, cwnd);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "nonesuch"), WEIR_INVALID);
    tcp_fixture_close(&t);
}

// A build with one congestion control: it is bound by name, and nothing can be chosen.
static void the_only_congestion_control_stays(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_string_equal(weir_socket_congestion(t.weir, t.socket), "cubic");
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_INVALID);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "cubic"), WEIR_OK);
    assert_string_equal(weir_socket_congestion(t.weir, t.socket), "cubic");
    tcp_fixture_close(&t);
}

// µs until data is sent or the connection ends, of one with half of its data acknowledged. Meanwhile the option is set,
// or the peer tells a user timeout of a second.
static uint32_t timeout_with(enum weir_option option, int32_t value, bool told)
{
    struct tcp_fixture t;
    const struct tcp_options options = {.seen = TCP_SEEN_USER_TIMEOUT, .user_timeout = 1};
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const uint32_t length = 2u * tcp_fixture_conn(&t)->mss;
    tcp_fixture_conn(&t)->quick_acks = 0;
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, 3000000), WEIR_OK);
    if (told)
        (void)weir_socket_set(t.weir, t.socket, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_ON);
    user_write(&t, 0, length);
    peer_pass(&t, 20000);
    peer_drain(&t);
    peer_data(&t, 0, 10);  // an acknowledgement is owed, whose timer comes before any timeout
    peer_send(&t, TCP_ACK, 10, length / 2);
    if (told)
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 10, .ack = length / 2, .options = &options});
    else if (option)
        (void)weir_socket_set(t.weir, t.socket, option, value);
    uint32_t us = 0;
    for (t.got.length = 0; !t.got.length && tcp_fixture_state(&t) == WEIR_TCP_ESTABLISHED; us += 1000) {
        peer_pass(&t, 1000);
        if (peer_has_more(&t))
            peer_take(&t);
    }
    tcp_fixture_close(&t);
    return us;
}

static void a_timer_that_runs_keeps_its_timeout(void **state)
{
    const uint32_t us = timeout_with(0, 0, false);
    (void)state;
    assert_in_range(us, 3000000, 3100000);
    assert_int_equal(timeout_with(WEIR_OPTION_RTO_MIN_US, 1000, false), us);
    assert_int_equal(timeout_with(WEIR_OPTION_USER_TIMEOUT_MS, 1000, false), us);
    assert_int_equal(timeout_with(WEIR_OPTION_SEND_DEADLINE_US, 1000, false), us);
    assert_int_equal(timeout_with(0, 0, true), timeout_with(WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_ON, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_outside_the_range_are_refused),
        test_with(!WEIR_CFG_ALLOCATOR, a_window_promises_no_more_than_there_is),
        cmocka_unit_test(ttl_and_tos_are_in_each_packet),
        cmocka_unit_test(a_largest_segment_may_be_set),
        cmocka_unit_test(quick_ack_answers_every_segment),
        cmocka_unit_test(queues_can_be_asked_for),
        cmocka_unit_test(a_timer_that_runs_keeps_its_timeout),
        test_with(WEIR_CFG_CC_RENO, congestion_control_can_be_changed),
        test_with(!WEIR_CFG_CC_RENO, the_only_congestion_control_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
