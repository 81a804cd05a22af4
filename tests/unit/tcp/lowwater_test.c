// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// WEIR_OPTION_RECEIVE_LOW_WATER on streams.
#include "tcp/tcp_fixture.h"

static void bring(struct tcp_fixture *t, int32_t bytes, const struct tcp_fixture_options *options)
{
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, options);
    assert_int_equal(weir_socket_set(t->weir, t->socket, WEIR_OPTION_RECEIVE_LOW_WATER, bytes), WEIR_OK);
    uint32_t events;
    while (weir_ready_next(t->weir, &events))
        ;
}

static bool readable(struct tcp_fixture *t) { return weir_socket_ready(t->weir, t->socket) & WEIR_READABLE; }

// The event, if there is one.
static uint32_t news(struct tcp_fixture *t)
{
    uint32_t events = 0;
    return weir_ready_next(t->weir, &events) == t->socket ? events : 0;
}

static void a_reader_hears_of_enough_only(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    bring(&t, 1000, &(struct tcp_fixture_options){.timestamps = true});
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_RECEIVE_LOW_WATER, &value), WEIR_OK);
    assert_int_equal(value, 1000);
    peer_data(&t, 0, 999);
    assert_false(readable(&t));
    assert_int_equal(news(&t), 0);
    peer_data(&t, 999, 1);
    assert_true(readable(&t));
    assert_int_equal(news(&t), WEIR_READABLE);
    assert_int_equal(user_read(&t, 0, 1), 1);
    assert_false(readable(&t));
    peer_data(&t, 1000, 500);
    assert_int_equal(news(&t), WEIR_READABLE);
    tcp_fixture_close(&t);
}

// What is there can be read all the same: the mark is about being told.
static void less_may_be_read(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 1000, NULL);
    peer_data(&t, 0, 10);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

static void the_end_needs_no_bytes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 1000, NULL);
    peer_data(&t, 0, 10);
    peer_send(&t, TCP_FIN | TCP_ACK, 10, 0);
    assert_true(readable(&t));
    assert_int_equal(news(&t), WEIR_READABLE | WEIR_READ_CLOSED);
    tcp_fixture_close(&t);
    bring(&t, 1000, NULL);
    peer_data(&t, 0, 10);
    peer_send(&t, TCP_RST, 10, 0);
    assert_true(readable(&t));
    assert_true(news(&t) & WEIR_READABLE);
    tcp_fixture_close(&t);
}

// A mark beyond what the window lets come: it would wait for ever.
static void a_full_window_is_enough(void **state)
{
    struct tcp_fixture t;
    uint32_t sent = 0;
    (void)state;
    bring(&t, 1 << 20, &(struct tcp_fixture_options){.receive_buffer = 8000});
    while (sent + 1000 <= 8000 && !readable(&t)) {
        peer_data(&t, sent, 1000);
        sent += 1000;
    }
    assert_in_range(sent, 7000, 8000);
    assert_true(readable(&t));
    assert_int_equal(news(&t), WEIR_READABLE);
    tcp_fixture_close(&t);
}

static void a_lower_mark_tells_of_what_is_there(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 1000, NULL);
    peer_data(&t, 0, 100);
    assert_int_equal(news(&t), 0);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RECEIVE_LOW_WATER, 100), WEIR_OK);
    assert_int_equal(news(&t), WEIR_READABLE);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RECEIVE_LOW_WATER, 1), WEIR_OK);
    assert_int_equal(user_read(&t, 0, 100), 100);
    assert_false(readable(&t));
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RECEIVE_LOW_WATER, 0), WEIR_INVALID);
    tcp_fixture_close(&t);
}

static void the_mark_outlives_idling(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 1000, NULL);
    peer_pass(&t, UINT64_C(100000000));
    peer_data(&t, 0, 10);
    assert_false(readable(&t));
    tcp_fixture_close(&t);
}

static void an_urgent_byte_is_news_at_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 1000, NULL);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_URG, .urgent = 5, .length = 5});
    assert_true(readable(&t));
    assert_int_equal(news(&t), WEIR_READABLE | WEIR_URGENT);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reader_hears_of_enough_only),
        cmocka_unit_test(less_may_be_read),
        cmocka_unit_test(the_end_needs_no_bytes),
        cmocka_unit_test(a_full_window_is_enough),
        cmocka_unit_test(a_lower_mark_tells_of_what_is_there),
        cmocka_unit_test(the_mark_outlives_idling),
        cmocka_unit_test(an_urgent_byte_is_news_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
