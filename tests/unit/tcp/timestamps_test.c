// SPDX-License-Identifier: BSD-2-Clause
// Timestamps and PAWS (RFC 7323).
// profiles: small
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define DAY_US (UINT64_C(86400) * 1000000)

static const struct tcp_fixture_options with_timestamps = {.timestamps = true};

static void timestamps_are_in_every_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_pass(&t, 50000);
    peer_data(&t, 0, 10);
    peer_take(&t);
    assert_true(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    assert_int_equal(t.got.options.ts_echo, t.ts_value);
    const uint32_t value = t.got.options.ts_value;
    peer_pass(&t, 1000000);
    user_write(&t, 0, 10);
    peer_take(&t);
    assert_int_equal(t.got.options.ts_value - value, 1000);
    assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_RST, TCP_RST);
    assert_true(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    tcp_fixture_close(&t);
}

static void without_agreement_there_are_none(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int open = TCP_PASSIVE; open <= TCP_ACTIVE; open++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.open = open});
        peer_send_raw(
            &t, &(struct peer_segment){.flags = TCP_ACK,
                                       .length = 10,
                                       .options = &(struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 1}});
        peer_take(&t);
        assert_int_equal(t.got.options.seen, 0);
        assert_int_equal(user_read(&t, 0, 100), 10);
        tcp_fixture_close(&t);
    }
}

static void in_old(struct tcp_fixture *t, uint8_t flags, uint32_t seq, uint32_t length, uint32_t older)
{
    const struct tcp_options options = {
        .seen = TCP_SEEN_TIMESTAMPS, .ts_value = t->ts_value - older, .ts_echo = t->ts_echo};
    peer_send_raw(t, &(struct peer_segment){.flags = flags, .seq = seq, .length = length, .options = &options});
}

static void an_old_timestamp_is_refused(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    const struct conn_snapshot before = conn_snapshot(&t);
    const uint32_t older[] = {1, 1000, 0x7fffffff};
    for (size_t i = 0; i < 3; i++) {
        in_old(&t, TCP_ACK, 0, 10, older[i]);
        peer_expect(&t, TCP_ACK, 0, 0, 0);  // acknowledged, not taken
        assert_unchanged(&t, &before);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_PAWS), 3);
    in_old(&t, TCP_ACK, 0, 10, 0);  // equal is as good as newer
    assert_int_equal(user_read(&t, 0, 100), 10);
    in_old(&t, TCP_RST, 10, 0, 5000);  // a reset is not refused for its age
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void a_segment_without_timestamps_is_dropped(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    const struct conn_snapshot before = conn_snapshot(&t);
    static const uint8_t nops[4] = {1, 1, 1, 1};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .length = 10, .raw_options = nops, .raw_length = 4});
    peer_expect_nothing(&t);
    assert_unchanged(&t, &before);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_RST, .raw_options = nops, .raw_length = 4});
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

// RFC 7323 §4.3: a segment beyond a hole, or newer than what our ACK covers, does not move the echo.
static void the_echo_is_of_the_oldest_unacknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    tcp_fixture_conn(&t)->quick_acks = 0;
    const uint32_t first = t.ts_value += 10;
    peer_data(&t, 0, 10);
    t.ts_value += 10;
    peer_data(&t, 10, 10);
    peer_pass(&t, 100000);
    peer_take(&t);
    assert_int_equal(t.got_ack, 20);
    assert_int_equal(t.got.options.ts_echo, first);
    const uint32_t second = t.ts_value += 10;
    peer_data(&t, 30, 10);  // a hole
    peer_take(&t);
    assert_int_equal(t.got.options.ts_echo, first);
    peer_data(&t, 20, 10);
    peer_take(&t);
    assert_int_equal(t.got.options.ts_echo, second);
    tcp_fixture_close(&t);
}

// §5.5: after 24 days idle the peer's clock may have gone half round.
static void after_24_days_the_old_timestamp_says_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_pass(&t, 23 * DAY_US);
    t.ts_value -= 23u * 86400000u;  // a peer whose clock does not fit
    peer_drain(&t);
    in_old(&t, TCP_ACK, 0, 10, 10);
    assert_int_equal(user_read(&t, 0, 100), 0);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_pass(&t, 25 * DAY_US);
    peer_drain(&t);
    t.ts_value = t.ts_value - 25u * 86400000u - 0x10000000;  // appears old
    peer_data(&t, 10, 10);                                   // the first to come is beyond a hole
    peer_data(&t, 0, 10);
    assert_int_equal(user_read(&t, 0, 100), 20);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_PAWS), 0);
    tcp_fixture_close(&t);
}

// The peer's clock wraps during the connection: the fixture's starts close below 2^31, so that signs turn.
static void timestamps_wrap(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    for (uint32_t i = 0; i < 40; i++) {
        t.ts_value += 0x10000000;
        peer_data(&t, i * 10, 10);
        peer_pass(&t, 100000);  // our ACK leaves
    }
    assert_int_equal(user_read(&t, 0, 1000), 400);
    tcp_fixture_close(&t);
}

static void nobody_can_read_our_uptime(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    const uint32_t first = t.got.options.ts_value;
    assert_true(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
    t.remote.addr = weir_ip4(10, 0, 0, 3);  // another peer: another offset
    fixture_know_peer(&t.f, t.remote.addr);
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    assert_true(t.got.options.ts_value - first > 100000 && first - t.got.options.ts_value > 100000);
    tcp_fixture_close(&t);
}

// RFC 6191: a SYN with a newer timestamp is new, whatever its number.
static void a_newer_timestamp_reopens_time_wait(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_TIME_WAIT, &with_timestamps);
    peer_pass(&t, 1000000);
    struct tcp_options options = {
        .seen = TCP_SEEN_MSS | TCP_SEEN_TIMESTAMPS, .mss = 1460, .ts_value = t.ts_value - 100000};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .seq = 5000, .options = &options});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_ACK);
    options.ts_value = t.ts_value;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .seq = UINT32_MAX - 5000, .options = &options});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timestamps_are_in_every_segment),
        cmocka_unit_test(without_agreement_there_are_none),
        cmocka_unit_test(an_old_timestamp_is_refused),
        cmocka_unit_test(a_segment_without_timestamps_is_dropped),
        cmocka_unit_test(the_echo_is_of_the_oldest_unacknowledged),
        cmocka_unit_test(after_24_days_the_old_timestamp_says_nothing),
        cmocka_unit_test(timestamps_wrap),
        cmocka_unit_test(nobody_can_read_our_uptime),
        cmocka_unit_test(a_newer_timestamp_reopens_time_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
