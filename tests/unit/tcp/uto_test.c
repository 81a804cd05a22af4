// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// The user timeout option (RFC 5482).
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define SECOND UINT64_C(1000000)
#define MINUTES 0x8000

static void ask(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_ON), WEIR_OK);
}

static void ask_with_300(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_USER_TIMEOUT_MS, 300000), WEIR_OK);
    ask(weir, socket);
}

static void set(struct tcp_fixture *t, enum weir_option option, int32_t value)
{
    assert_int_equal(weir_socket_set(t->weir, t->socket, option, value), WEIR_OK);
}

static int32_t timeout_ms(struct tcp_fixture *t)
{
    int32_t value = -1;
    assert_int_equal(weir_socket_get(t->weir, t->socket, WEIR_OPTION_USER_TIMEOUT_MS, &value), WEIR_OK);
    return value;
}

// An acceptable segment with the option.
static void tell(struct tcp_fixture *t, uint16_t field)
{
    const struct tcp_options options = {.seen = TCP_SEEN_USER_TIMEOUT, .user_timeout = field};
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK, .options = &options});
}

static void assert_told(const struct tcp_fixture *t, uint16_t field)
{
    assert_true(t->got.options.seen & TCP_SEEN_USER_TIMEOUT);
    assert_int_equal(t->got.options.user_timeout, field);
}

static void it_is_neither_told_nor_heard_by_default(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, NULL);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 300000);
    user_write(&t, 0, 10);
    peer_take(&t);
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 0);
    tell(&t, 400);
    assert_int_equal(timeout_ms(&t), 0);
    tcp_fixture_close(&t);
}

// §3: in the SYN, and in the first segment without one, in case the SYN's was not kept; then no more.
static void it_goes_with_the_syn_and_the_first_segment_after_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .before = ask_with_300});
    assert_told(&t, 300);
    assert_true(t.got.options.seen & TCP_SEEN_MSS && t.got.options.seen & TCP_SEEN_TIMESTAMPS &&
                t.got.options.seen & TCP_SEEN_WINDOW_SCALE);
    peer_pass(&t, 1100000);
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN);
    assert_told(&t, 300);
    const struct tcp_options options = {.seen = TCP_SEEN_MSS, .mss = TCP_PEER_MSS};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &options});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_ACK);
    assert_told(&t, 300);
    t.theirs++;
    user_write(&t, 0, 10);
    peer_take(&t);
    assert_int_equal(t.got.length, 10);
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    tcp_fixture_close(&t);
}

static void a_listener_tells_it_in_the_syn_ack_and_after(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED,
                      &(struct tcp_fixture_options){.before = ask_with_300, .timestamps = true});
    assert_told(&t, 300);
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    int32_t mode = -1;
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_USER_TIMEOUT_OPTION, &mode), WEIR_OK);
    assert_int_equal(mode, WEIR_UTO_ON);
    assert_int_equal(weir_socket_get(t.weir, t.listener, WEIR_OPTION_USER_TIMEOUT_OPTION, &mode), WEIR_OK);
    assert_int_equal(mode, WEIR_UTO_ON);
    user_write(&t, 0, 3000);
    peer_take(&t);
    assert_told(&t, 300);
    assert_int_equal(t.got.length, TCP_PEER_MSS - 12 - 4);  // RFC 6691: options take room from the data
    peer_take(&t);
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    assert_int_equal(t.got.length, TCP_PEER_MSS - 12);
    tcp_fixture_close(&t);
}

static void without_a_choice_the_default_is_told(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .before = ask});
    assert_told(&t, WEIR_CFG_TCP_USER_TIMEOUT_S);
    tcp_fixture_close(&t);
}

// §3.1: whenever the application changes its mind the next segment says so.
static void a_new_choice_is_told(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask, .timestamps = true});
    user_write(&t, 0, 10);
    peer_take(&t);
    assert_told(&t, WEIR_CFG_TCP_USER_TIMEOUT_S);
    peer_send(&t, TCP_ACK, 0, 10);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 1234000);
    user_write(&t, 10, 10);
    peer_take(&t);
    assert_told(&t, 1234);
    peer_send(&t, TCP_ACK, 0, 20);
    user_write(&t, 20, 10);
    peer_take(&t);
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    peer_send(&t, TCP_ACK, 0, 30);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 5000);
    set(&t, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_OFF);
    user_write(&t, 30, 10);
    peer_take(&t);
    assert_false(t.got.options.seen & TCP_SEEN_USER_TIMEOUT);
    assert_int_equal(timeout_ms(&t), 5000);
    tcp_fixture_close(&t);
}

// §3.1: min(U_LIMIT, max(ADV_UTO, REMOTE_UTO, L_LIMIT)).
static void the_peers_is_followed_within_limits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    const int32_t own = WEIR_CFG_TCP_USER_TIMEOUT_S * 1000;
    const struct {
        uint16_t field;
        int32_t ms;
    } cases[] = {
        {1, own},  // it cannot make us less patient than we told it that we are
        {WEIR_CFG_TCP_USER_TIMEOUT_S + 1, own + 1000},
        {WEIR_CFG_TCP_UTO_MOST_S, WEIR_CFG_TCP_UTO_MOST_S * 1000},
        {WEIR_CFG_TCP_UTO_MOST_S + 1, WEIR_CFG_TCP_UTO_MOST_S * 1000},
        {0x7fff, WEIR_CFG_TCP_UTO_MOST_S * 1000},
        {MINUTES | 20, 1200000},
        {MINUTES | 0x7fff, WEIR_CFG_TCP_UTO_MOST_S * 1000},
        {MINUTES, WEIR_CFG_TCP_UTO_MOST_S * 1000},  // 0 says nothing: as it was
        {0, WEIR_CFG_TCP_UTO_MOST_S * 1000},
    };
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        tell(&t, cases[i].field);
        assert_int_equal(timeout_ms(&t), cases[i].ms);
    }
    tcp_fixture_close(&t);
}

// What the application chose stands, unless it allows otherwise; and counts again when it allows no more.
static void a_choice_of_our_own_stands(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask});
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 10000);
    tell(&t, 50);
    assert_int_equal(timeout_ms(&t), 10000);
    set(&t, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_FOLLOW);
    assert_int_equal(timeout_ms(&t), WEIR_CFG_TCP_UTO_LEAST_S * 1000);
    tell(&t, 200);
    assert_int_equal(timeout_ms(&t), 200000);
    set(&t, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_ON);
    assert_int_equal(timeout_ms(&t), 10000);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 0);
    assert_int_equal(timeout_ms(&t), WEIR_CFG_TCP_USER_TIMEOUT_S * 1000);
    set(&t, WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_OFF);
    assert_int_equal(timeout_ms(&t), 0);
    tcp_fixture_close(&t);
}

static void what_was_followed_ends_the_connection_in_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask});
    tell(&t, 950);
    user_write(&t, 0, 10);
    peer_pass(&t, 949 * SECOND);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    peer_pass(&t, 2 * SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

// RFC 9293 MUST-37 holds for it: only our own application may give up a peer that answers probes.
static void it_does_not_end_a_closed_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask});
    tell(&t, 1000);
    user_write(&t, 0, 10);
    t.window = 0;
    peer_send(&t, TCP_ACK, 0, 10);
    user_write(&t, 10, 10);
    for (uint32_t s = 0; s < 1200; s += 50) {
        peer_pass(&t, 50 * SECOND);
        peer_drain(&t);
        peer_send(&t, TCP_ACK, 0, 10);
    }
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    set(&t, WEIR_OPTION_USER_TIMEOUT_MS, 1000000);
    peer_pass(&t, 2 * SECOND);
    for (uint32_t s = 0; s < 1100; s += 50) {
        peer_pass(&t, 50 * SECOND);
        peer_drain(&t);
        peer_send(&t, TCP_ACK, 0, 10);
    }
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

// §6: what a stranger sends, outside the window, changes nothing.
static void it_is_not_heard_outside_the_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    const struct tcp_options options = {.seen = TCP_SEEN_USER_TIMEOUT, .user_timeout = 2000};
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 1 << 20, .options = &options});
    // of what was never sent
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 1000, .options = &options});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .options = &options});
    assert_int_equal(timeout_ms(&t), 0);
    tcp_fixture_close(&t);
}

static void it_is_heard_in_the_handshake(void **state)
{
    struct tcp_fixture t;
    (void)state;
    const struct tcp_options options = {.seen = TCP_SEEN_USER_TIMEOUT, .user_timeout = 2000};
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .before = ask});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &options});
    assert_int_equal(timeout_ms(&t), 2000000);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &(struct tcp_fixture_options){.before = ask});
    tell(&t, 2000);  // the ACK that ends it: "the first segment without SYN"
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_int_equal(timeout_ms(&t), 2000000);
    tcp_fixture_close(&t);
}

static void it_outlives_idling(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.before = ask, .timestamps = true});
    tell(&t, 2000);
    peer_pass(&t, 100 * SECOND);
    assert_int_equal(timeout_ms(&t), 2000000);
    user_write(&t, 0, 10);
    peer_take(&t);
    assert_told(&t, WEIR_CFG_TCP_USER_TIMEOUT_S);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_neither_told_nor_heard_by_default),
        cmocka_unit_test(it_goes_with_the_syn_and_the_first_segment_after_it),
        cmocka_unit_test(a_listener_tells_it_in_the_syn_ack_and_after),
        cmocka_unit_test(without_a_choice_the_default_is_told),
        cmocka_unit_test(a_new_choice_is_told),
        cmocka_unit_test(the_peers_is_followed_within_limits),
        cmocka_unit_test(a_choice_of_our_own_stands),
        cmocka_unit_test(what_was_followed_ends_the_connection_in_time),
        cmocka_unit_test(it_does_not_end_a_closed_window),
        cmocka_unit_test(it_is_not_heard_outside_the_window),
        cmocka_unit_test(it_is_heard_in_the_handshake),
        cmocka_unit_test(it_outlives_idling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
