// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// What only time breaks: clocks of 32 bits that pass their middle or wrap while nobody looks, and memory that is held
// for as long as a stranger likes. Each test is a defect that was found.
#include "tcp/tcp_fixture.h"

#include "instance.h"

#define DAY_US UINT64_C(86400000000)
#define SECOND_US UINT64_C(1000000)

static const struct tcp_fixture_options plain;
static const struct tcp_fixture_options with_timestamps = {.timestamps = true};

// The millisecond clock passes 2^31 after 24.8 days: a connection opened then must answer a guess like any other (RFC
// 5961 §3.2).
static void a_connection_opened_after_a_month_challenges(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint64_t days = 1; days < 60; days += 6) {
        tcp_fixture_open(&t, &plain);
        peer_pass(&t, days * DAY_US);
        tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
        peer_drain(&t);
        peer_send(&t, TCP_RST, 5, 0);
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        tcp_fixture_close(&t);
    }
}

// So must a connection on which nothing happened for a month.
static void a_connection_idle_for_a_month_challenges(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    for (uint64_t days = 5; days < 48; days += 7) {
        peer_send(&t, TCP_RST, 5, 0);
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        peer_pass(&t, days * DAY_US);
        peer_drain(&t);
    }
    tcp_fixture_close(&t);
}

// A peer's keepalives prove that it is there, not that its timestamp was renewed: after 25 days of nothing else its
// data still counts (RFC 7323 §5.5).
static void keepalives_do_not_keep_an_old_timestamp_alive(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    for (int hours = 0; hours < 26 * 24; hours += 2) {
        peer_pass(&t, DAY_US / 12);
        peer_send(&t, TCP_ACK, UINT32_MAX, 0);
    }
    peer_drain(&t);
    peer_data(&t, 0, 10);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

// What anybody could have sent neither renews the clock that says so, nor proves that the peer is there.
static void guesses_do_not_keep_an_old_timestamp_alive(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    for (int days = 0; days < 26; days++) {
        peer_pass(&t, DAY_US);
        peer_send(&t, TCP_ACK, 0x40000000, 0);
        peer_send(&t, TCP_RST, 0x40000000, 0);
        const uint32_t right = t.ts_value;
        t.ts_value -= 0x40000000;
        peer_data(&t, 0x50000000, 10);
        t.ts_value = right;
    }
    peer_drain(&t);
    peer_data(&t, 0, 10);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

// A guess that reaches into the window but acknowledges nonsense (RFC 5961 §5) must not move the timestamp by which the
// true segments are judged (RFC 7323 §5.3): it would end the connection without knowing a single number.
static void a_refused_ack_does_not_move_the_timestamp(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_data(&t, 0, 100);
    const uint32_t right = t.ts_value;
    t.ts_value += 0x40000000;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 50, .ack = 0x20000000, .length = 100});
    t.ts_value = right;
    peer_data(&t, 100, 100);
    assert_int_equal(user_read(&t, 0, 1000), 200);
    tcp_fixture_close(&t);
}

// Cookies are believed shortly after one was sent, not at every wrap of the microsecond clock (71 minutes), and not at
// first.
static void cookies_never_sent_are_not_believed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    for (int minutes = 0; minutes < 150; minutes++) {
        peer_send(&t, TCP_ACK, 0, 77);
        peer_pass(&t, 60 * SECOND_US);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_BAD), 0);
    tcp_fixture_close(&t);
}

// Sockstress: the owner has closed, the peer acknowledges every probe and never opens its window. No user is left who
// could end it.
static void a_closed_window_does_not_hold_an_orphan_for_ever(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .own_window = true});
    user_write(&t, 0, 1000);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    for (uint32_t s = 0; s < 2 * WEIR_CFG_TCP_USER_TIMEOUT_S && tcp_fixture_conn(&t); s += 10) {
        peer_pass(&t, 10 * SECOND_US);
        peer_drain(&t);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .own_window = true});
    }
    assert_null(tcp_fixture_conn(&t));
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_opened_after_a_month_challenges),
        cmocka_unit_test(a_connection_idle_for_a_month_challenges),
        cmocka_unit_test(keepalives_do_not_keep_an_old_timestamp_alive),
        cmocka_unit_test(guesses_do_not_keep_an_old_timestamp_alive),
        cmocka_unit_test(a_refused_ack_does_not_move_the_timestamp),
        cmocka_unit_test(cookies_never_sent_are_not_believed),
        cmocka_unit_test(a_closed_window_does_not_hold_an_orphan_for_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
