// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Segments that belong to no connection, and the final segment of one that ends: what stands in them, and when none
// leaves.
#include <string.h>

#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define SEQ 100u   // relative: the segment's own numbers
#define NOBODY 81  // a port at which nobody listens

static void open_nobody(struct tcp_fixture *t)
{
    static const struct tcp_fixture_options plain;
    tcp_fixture_open(t, &plain);
    t->local.port = NOBODY;
    t->ours = 0x12345678;
}

static void a_stray(struct tcp_fixture *t, uint8_t flags, uint32_t length)
{
    const struct tcp_options none = {0};
    peer_send_raw(t, &(struct peer_segment){.flags = flags, .seq = SEQ, .ack = 7, .length = length, .options = &none});
}

// RFC 9293 §3.5.2, group 1: it takes its number from what the segment acknowledges; else it acknowledges all that the
// segment occupies.
static void a_reset_takes_its_numbers_from_what_it_answers(void **state)
{
    static const struct {
        uint8_t flags;
        uint32_t length, acknowledged;  // counted from the segment's own number
    } rows[] = {
        {TCP_ACK, 0, 0},
        {TCP_ACK | TCP_FIN, 10, 0},
        {TCP_SYN | TCP_ACK, 0, 0},
        {TCP_SYN, 0, 1},
        {TCP_SYN | TCP_FIN, 10, 12},
        {TCP_FIN, 0, 1},
        {0, 33, 33},
        {0, 0, 0},
    };
    struct tcp_fixture t;
    (void)state;
    open_nobody(&t);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        a_stray(&t, rows[i].flags, rows[i].length);
        peer_take(&t);
        assert_int_equal(t.got.length, 0);
        assert_int_equal(t.got.window, 0);
        if (rows[i].flags & TCP_ACK) {
            assert_int_equal(t.got.flags, TCP_RST);
            assert_int_equal(t.got_seq, 7);
            assert_int_equal(t.got.ack, 0);
        } else {
            assert_int_equal(t.got.flags, TCP_RST | TCP_ACK);
            assert_int_equal(t.got.seq, 0);
            assert_int_equal(t.got_ack, SEQ + rows[i].acknowledged);
        }
        peer_expect_nothing(&t);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RST_SENT), i + 1);
    }
    tcp_fixture_close(&t);
}

// Two hosts that knew nothing of each other would otherwise answer each other for ever.
static void a_reset_is_not_answered(void **state)
{
    struct tcp_fixture t;
    (void)state;
    open_nobody(&t);
    a_stray(&t, TCP_RST, 0);
    a_stray(&t, TCP_RST | TCP_ACK, 0);
    peer_expect_nothing(&t);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RST_SENT), 0);
    tcp_fixture_close(&t);
}

// A flood is answered in part, and after a while strangers have answers again.
static void resets_to_one_host_are_limited(void **state)
{
    struct tcp_fixture t;
    uint32_t answered = 0;
    (void)state;
    open_nobody(&t);
    for (int i = 0; i < 500; i++) {
        a_stray(&t, TCP_ACK, 0);
        answered += peer_drain_count(&t);
    }
    assert_in_range(answered, 1, 250);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RST_SENT), answered);
    peer_pass(&t, 5000000);
    a_stray(&t, TCP_ACK, 0);
    assert_int_equal(peer_drain_count(&t), 1);
    tcp_fixture_close(&t);
}

// A connection's final segment says where it stands, in a segment that the peer takes: its numbers, its window, its
// timestamps.
static void the_final_segment_stands_where_the_connection_stood(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(
        &t, WEIR_TCP_ESTABLISHED,
        &(struct tcp_fixture_options){.timestamps = WEIR_CFG_TCP_TIMESTAMPS, .scale = WEIR_CFG_TCP_WINDOW_SCALE});
    peer_data(&t, 0, 300);
    user_write(&t, 0, 200);
    peer_pass(&t, 400000);
    peer_drain(&t);
    const struct tcp_conn *c = tcp_fixture_conn(&t);
    const uint32_t window = (c->rcv.edge - c->rcv.nxt) >> tcp_rcv_scale(c),
                   count = fixture_count(&t.f, WEIR_COUNT_TCP_SENT);
    assert_true(tcp_reply_from(t.weir, c, TCP_RST | TCP_ACK));
    peer_pass(&t, 0);
    peer_expect(&t, TCP_RST | TCP_ACK, 200, 300, 0);
    assert_int_equal(t.got.window, window < 65535 ? window : 65535);
    assert_int_equal((t.got.options.seen & TCP_SEEN_TIMESTAMPS) != 0, WEIR_CFG_TCP_TIMESTAMPS);
    if (WEIR_CFG_TCP_TIMESTAMPS)
        assert_int_equal(t.got.options.ts_echo, t.ts_value - 400);  // the peer's newest that was taken
    peer_expect_nothing(&t);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SENT), count + 1);
    tcp_fixture_close(&t);
}

// The TTL and TOS that the connection's user set are those of what is sent in its name.
static void what_is_sent_in_a_connections_name_has_its_tos(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    struct tcp_conn *c = tcp_fixture_conn(&t);
    c->ttl = 33;
    const struct tcp_segment segment = {.flags = TCP_ACK, .seq = c->snd.nxt, .ack = c->rcv.nxt, .window = 1};
    assert_true(tcp_reply_ack(t.weir, c, &segment, 0xb8));
    peer_pass(&t, 0);
    uint32_t length;
    const uint32_t at = t.seen;
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(t.got_tos, 0xb8);
    assert_int_equal(fixture_sent_packet(&t.f, at, &length)[8], 33);  // time to live
    tcp_fixture_close(&t);
}

// The outbox is bounded: what finds no room is not sent, nor counted as sent; those that were there are whole.
static void a_full_outbox_takes_no_more(void **state)
{
    struct tcp_fixture t;
    uint32_t taken = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.fixture.mode = FIXTURE_PLAIN});
    const struct tcp_conn *c = tcp_fixture_conn(&t);
    const uint32_t before = fixture_count(&t.f, WEIR_COUNT_TCP_SENT);
    for (int i = 0; i < 10000; i++)
        taken += tcp_reply_from(t.weir, c, TCP_ACK);
    assert_in_range(taken, 1, 9999);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SENT), before + taken);
    while (peer_pass(&t, 0) <= t.f.now_us)
        ;
    for (uint32_t i = 0; i < taken; i++)
        peer_expect(&t, TCP_ACK, 0, 0, 0);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reset_takes_its_numbers_from_what_it_answers),
        cmocka_unit_test(a_reset_is_not_answered),
        cmocka_unit_test(resets_to_one_host_are_limited),
        cmocka_unit_test(the_final_segment_stands_where_the_connection_stood),
        cmocka_unit_test(what_is_sent_in_a_connections_name_has_its_tos),
        cmocka_unit_test(a_full_outbox_takes_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
