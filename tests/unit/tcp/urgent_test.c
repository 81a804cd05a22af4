// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Urgent data, sent and received, inline and not (RFC 9293 §3.8.5, RFC 6093), and urgent pointers that lie.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

static const struct tcp_fixture_options plain;

static void in_urgent(struct tcp_fixture *t, uint32_t seq, uint32_t length, uint16_t pointer)
{
    peer_send_raw(t,
                  &(struct peer_segment){.flags = TCP_ACK | TCP_URG, .seq = seq, .length = length, .urgent = pointer});
}

static void an_urgent_byte_is_read_apart(void **state)
{
    struct tcp_fixture t;
    uint8_t byte = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_INVALID);
    in_urgent(&t, 0, 10, 5);  // byte 4
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);
    uint32_t events = 0, told = 0;
    while (weir_ready_next(t.weir, &events))
        told |= events;
    assert_true(told & WEIR_URGENT);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 1), 1);
    assert_int_equal(byte, peer_pattern(4));
    assert_int_equal(weir_socket_at_mark(t.weir, t.socket), 0);
    assert_int_equal(user_read(&t, 0, 100), 4);  // a read stops at the mark
    assert_int_equal(weir_socket_at_mark(t.weir, t.socket), 1);
    assert_int_equal(user_read(&t, 5, 100), 5);  // and goes on behind it
    assert_int_equal(weir_socket_at_mark(t.weir, t.socket), 0);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), 1);
    assert_int_equal(byte, peer_pattern(4));
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_INVALID);
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);
    peer_data(&t, 10, 10);
    assert_int_equal(user_read(&t, 10, 100), 10);
    tcp_fixture_close(&t);
}

static void an_urgent_byte_stays_in_line(void **state)
{
    struct tcp_fixture t;
    uint8_t byte;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_OOB_INLINE, 1), WEIR_OK);
    in_urgent(&t, 0, 10, 5);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_INVALID);
    assert_int_equal(user_read(&t, 0, 100), 4);
    assert_int_equal(weir_socket_at_mark(t.weir, t.socket), 1);
    assert_int_equal(user_read(&t, 4, 100), 6);
    assert_int_equal(weir_socket_at_mark(t.weir, t.socket), 0);
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);
    tcp_fixture_close(&t);
}

static void the_pointer_may_come_before_its_byte(void **state)
{
    struct tcp_fixture t;
    uint8_t byte = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    in_urgent(&t, 0, 0, 200);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);  // told at once
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_AGAIN);
    peer_data(&t, 0, 100);
    assert_int_equal(user_read(&t, 0, 300), 100);
    peer_data(&t, 100, 150);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), 1);
    assert_int_equal(byte, peer_pattern(199));
    assert_int_equal(user_read(&t, 100, 300), 99);
    assert_int_equal(user_read(&t, 200, 300), 50);
    tcp_fixture_close(&t);
}

// A newer mark replaces one not read; an older one is none.
static void the_newest_mark_counts(void **state)
{
    struct tcp_fixture t;
    uint8_t byte = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    in_urgent(&t, 0, 10, 5);
    in_urgent(&t, 10, 10, 7);  // byte 16
    in_urgent(&t, 0, 10, 5);   // a retransmission of the first
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), 1);
    assert_int_equal(byte, peer_pattern(16));
    assert_int_equal(user_read(&t, 0, 100), 16);
    assert_int_equal(user_read(&t, 17, 100), 3);
    tcp_fixture_close(&t);
}

// A mark whose byte nobody read is 2 GB old and more: by signed differences it would be newer than what comes now.
static void a_mark_of_long_ago_hides_no_new_one(void **state)
{
    struct tcp_fixture t;
    uint8_t byte = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    in_urgent(&t, 0, 10, 5);
    tcp_fixture_conn(&t)->extra->rcv_up -= 0x80000100u;
    in_urgent(&t, 10, 10, 7);  // byte 16
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), 1);
    assert_int_equal(byte, peer_pattern(16));
    tcp_fixture_close(&t);
}

// CVE-2019-12255, -12260, -12261, -12263, CVE-2020-17437: pointers of zero, beyond the segment, before the connection,
// racing.
static void lying_pointers_do_no_harm(void **state)
{
    struct tcp_fixture t;
    uint8_t byte;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    in_urgent(&t, 0, 10, 0);
    assert_int_equal(user_read(&t, 0, 100), 10);
    in_urgent(&t, 10, 1, 0xffff);
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_AGAIN);
    assert_int_equal(user_read(&t, 10, 100), 1);
    in_urgent(&t, 11, 0, 0xffff);
    in_urgent(&t, 0xfffffff0u, 5, 0xffff);
    in_urgent(&t, 11, 20, 1);
    in_urgent(&t, 50, 20, 3);
    in_urgent(&t, 31, 30, 5);
    uint32_t at = 11;
    for (int i = 0; i < 10; i++)
        at += user_read(&t, at, 100);
    assert_int_equal(at, 70);
    in_urgent(&t, 70, 0, 0);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_URG | TCP_FIN, .seq = 70, .urgent = 0xffff});
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    in_urgent(&t, 71, 0, 9);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &byte, 1), 0);
    tcp_fixture_close(&t);
    // Before the connection stands.
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_URG | TCP_ACK, .urgent = 0xffff, .length = 10});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_URG | TCP_SYN, .ack = 0, .urgent = 0xffff, .length = 10});
    assert_int_equal(weir_socket_read_urgent(t.weir, t.socket, &byte, 0), WEIR_INVALID);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_URG | TCP_ACK, .urgent = 0xffff, .length = 10});
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

static void write_urgent(struct tcp_fixture *t, uint32_t from, uint32_t length)
{
    uint8_t bytes[100];
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = peer_pattern(from + i);
    assert_int_equal(weir_socket_write_urgent(t->weir, t->socket, bytes, length), length);
    fixture_poll(&t->f, 0);
}

static void urgent_data_is_marked(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 10);
    peer_expect(&t, TCP_ACK, 0, 0, 10);
    write_urgent(&t, 10, 3);  // Nagle does not hold it
    peer_expect(&t, TCP_ACK | TCP_URG, 10, 0, 3);
    assert_int_equal(t.got.urgent, 3);                                // the octet after the last urgent one
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT);  // what we send is no news for our reader
    peer_pass(&t, 400000);
    peer_take(&t);
    assert_int_equal(t.got_seq, 0);
    assert_int_equal(t.got.flags & TCP_URG, TCP_URG);  // the mark is told with every segment before it
    assert_int_equal(t.got.urgent, 13);
    peer_send(&t, TCP_ACK, 0, 13);
    peer_drain(&t);
    user_write(&t, 13, 10);
    peer_expect(&t, TCP_ACK, 13, 0, 10);
    assert_int_equal(t.got.urgent, 0);
    tcp_fixture_close(&t);
}

static void a_mark_far_ahead_is_told_as_far_as_the_field_reaches(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.send_buffer = 200000, .scale = true, .window = 3000});
    uint8_t bytes[65536] = {0};
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, 65500), 65500);
    assert_true(weir_socket_write_urgent(t.weir, t.socket, bytes, 36) > 0);
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_URG, TCP_URG);
    assert_true(t.got.urgent >= 65500);
    tcp_fixture_close(&t);
}

// Unread urgent data of the peer must not switch our own Nagle off.
static void received_urgency_is_not_ours(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    in_urgent(&t, 0, 10, 5);
    peer_drain(&t);
    user_write(&t, 0, 10);
    peer_expect(&t, TCP_ACK, 0, 10, 10);
    user_write(&t, 10, 10);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_urgent_byte_is_read_apart),
        cmocka_unit_test(an_urgent_byte_stays_in_line),
        cmocka_unit_test(the_pointer_may_come_before_its_byte),
        cmocka_unit_test(the_newest_mark_counts),
        cmocka_unit_test(a_mark_of_long_ago_hides_no_new_one),
        cmocka_unit_test(lying_pointers_do_no_harm),
        cmocka_unit_test(urgent_data_is_marked),
        cmocka_unit_test(a_mark_far_ahead_is_told_as_far_as_the_field_reaches),
        cmocka_unit_test(received_urgency_is_not_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
