// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// A connection's block: how it is found, what hangs on it while it is needed, what is remembered, and what its end
// leaves.
#include <string.h>

#include "built.h"
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

static const struct tcp_fixture_options plain;

static struct tcp_conn *make(struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                             uint16_t remote_port)
{
    struct tcp_conn *c = tcp_conn_new(weir);
    assert_non_null(c);
    c->local = (struct tcp_end){.addr = local, .port = local_port};
    c->remote = (struct tcp_end){.addr = remote, .port = remote_port};
    tcp_conn_hash(weir, c);
    return c;
}

static void end(struct weir *weir, struct tcp_conn *c)
{
    tcp_conn_unhash(weir, c);
    tcp_destroy(weir, c);
}

static struct tcp_conn *find(struct weir *weir, const struct tcp_conn *c)
{
    return tcp_conn_find(weir, c->local.addr, c->local.port, c->remote.addr, c->remote.port);
}

// --- found -----------------------------------------------------------------------------------------------------------

static void it_is_found_by_its_4_tuple_and_by_no_other(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_open(&t, &plain);
    struct tcp_conn *c = make(t.weir, TCP_US, 80, TCP_PEER, 40000);
    const struct weir_addr other = weir_ip4(10, 0, 0, 3);
    for (int again = 0; again < 2; again++) {  // it is the one found last; then another was looked for
        assert_ptr_equal(find(t.weir, c), c);
        assert_null(tcp_conn_find(t.weir, other, 80, TCP_PEER, 40000));
        assert_null(tcp_conn_find(t.weir, TCP_US, 80, other, 40000));
        assert_null(tcp_conn_find(t.weir, TCP_US, 81, TCP_PEER, 40000));
        assert_null(tcp_conn_find(t.weir, TCP_US, 80, TCP_PEER, 40001));
        assert_null(tcp_conn_find(t.weir, TCP_PEER, 80, TCP_US, 40000));
        assert_null(tcp_conn_find(t.weir, TCP_US, 40000, TCP_PEER, 80));
    }
    tcp_conn_unhash(t.weir, c);
    assert_null(find(t.weir, c));
    tcp_conn_unhash(t.weir, c);  // once more does no harm
    tcp_conn_hash(t.weir, c);
    assert_ptr_equal(find(t.weir, c), c);
    end(t.weir, c);
    tcp_fixture_close(&t);
}

// Those found last are remembered by their ports: here all in one place.
static void connections_that_share_a_remembered_place_are_told_apart(void **state)
{
    struct tcp_fixture t;
    struct tcp_conn *c[4];
    (void)state;
    tcp_fixture_open(&t, &plain);
    for (uint32_t i = 0; i < 4; i++)
        c[i] = make(t.weir, TCP_US, 80, weir_ip4(10, 0, 0, (uint8_t)(2 + i % 2)), (uint16_t)(40000 + i / 2 * 4096));
    for (uint32_t round = 0; round < 16; round++)
        assert_ptr_equal(find(t.weir, c[round * 5 % 4]), c[round * 5 % 4]);
    assert_ptr_equal(find(t.weir, c[2]), c[2]);
    const struct tcp_conn gone = *c[2];
    end(t.weir, c[2]);  // the one that is remembered
    assert_null(find(t.weir, &gone));
    for (uint32_t i = 0; i < 4; i++)
        if (i != 2) {
            assert_ptr_equal(find(t.weir, c[i]), c[i]);
            end(t.weir, c[i]);
        }
    tcp_fixture_close(&t);
}

// --- memory ----------------------------------------------------------------------------------------------------------

static void what_an_idle_connection_needs_not_it_lets_go(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    struct tcp_conn *c = tcp_fixture_conn(&t);
    user_write(&t, 0, 100);
    peer_data(&t, 0, 50);
    peer_data(&t, 150, 50);  // beyond a hole
    tcp_conn_idle(t.weir, c);
    assert_true(c->flow && c->send && c->receive && c->extra);  // unacknowledged, unread, and out of order
    peer_send(&t, TCP_ACK, 50, 100);
    tcp_conn_idle(t.weir, c);
    assert_true(!c->flow && !c->send && c->receive && c->extra);
    peer_data(&t, 50, 100);
    assert_int_equal(user_read(&t, 0, 150), 150);
    tcp_conn_idle(t.weir, c);
    assert_non_null(c->receive);  // 50 bytes are not read yet
    assert_int_equal(user_read(&t, 150, 100), 50);
    peer_pass(&t, 1000000);
    tcp_conn_idle(t.weir, c);
    assert_true(!c->flow && !c->send && !c->receive);
    user_write(&t, 100, 100);  // it is there again as soon as it is needed
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 200, 200);
    peer_data(&t, 200, 10);
    assert_int_equal(user_read(&t, 200, 100), 10);
    tcp_fixture_close(&t);
}

// Spans that the user was lent are written into later.
static void a_reserved_send_queue_stays(void **state)
{
    struct tcp_fixture t;
    struct weir_span span;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    const int lent = weir_socket_reserve(t.weir, t.socket, 100, &span, 1);
    assert_true(lent > 0);
    tcp_conn_idle(t.weir, c);
    for (int i = 0; i < lent; i++)
        span.data[i] = peer_pattern((uint32_t)i);
    assert_int_equal(weir_socket_commit(t.weir, t.socket, (uint32_t)lent), lent);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_ACK, 0, 0, (uint32_t)lent);
    tcp_fixture_close(&t);
}

// RFC 5681 §4.1: a window that was not used for long begins anew, but not larger than it was, and ssthresh stays.
static void what_the_path_taught_outlives_the_flow(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_true(tcp_conn_attach(t.weir, c));
    const uint32_t mss = c->mss, initial = c->flow->window.cwnd;
    assert_true(initial > 3 * mss);
    c->flow->window.cwnd = 3 * mss;
    c->flow->window.ssthresh = 7 * mss;
    tcp_conn_idle(t.weir, c);
    assert_null(c->flow);
    assert_true(tcp_conn_attach(t.weir, c));
    assert_int_equal(c->flow->window.cwnd, 3 * mss);
    assert_int_equal(c->flow->window.ssthresh, 7 * mss);
    c->flow->window.cwnd = 500 * mss;
    tcp_conn_idle(t.weir, c);
    assert_true(tcp_conn_attach(t.weir, c));
    assert_int_equal(c->flow->window.cwnd, initial);
    assert_int_equal(c->flow->window.ssthresh, 7 * mss);
    tcp_fixture_close(&t);
}

// Whichever allocation fails: the connection is as it was, and the flow comes when there is memory.
static void without_memory_no_flow_is_attached(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    for (uint32_t allocation = 1; (t.f.fail_at = allocation, !tcp_conn_attach(t.weir, c)); allocation++) {
        assert_null(c->flow);
        assert_in_range(allocation, 1, 10);
    }
    t.f.fail_at = 0;
    assert_non_null(c->flow);
    assert_true(tcp_conn_attach(t.weir, c));  // is attached already
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    tcp_fixture_close(&t);
}

// --- its end ---------------------------------------------------------------------------------------------------------

static void one_that_is_dropped_tells_why_and_leaves_what_was_not_read(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 100);
    peer_data(&t, 0, 80);
    peer_drain(&t);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    const uint32_t timed_out = fixture_count(&t.f, WEIR_COUNT_TCP_TIMED_OUT);
    tcp_conn_drop(t.weir, c, WEIR_TIMED_OUT);
    assert_null(tcp_fixture_conn(&t));
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_TIMED_OUT), timed_out + (WEIR_CFG_COUNTERS ? 1 : 0));
    const int ready = weir_socket_ready(t.weir, t.socket);
    assert_int_equal(ready & (WEIR_ERROR | WEIR_HANGUP | WEIR_READABLE), WEIR_ERROR | WEIR_HANGUP | WEIR_READABLE);
    peer_pass(&t, 600000000);  // no timer of it is left, nor anything to send
    peer_expect_nothing(&t);
    assert_int_equal(user_read(&t, 0, 100), 80);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    assert_int_equal(user_error(&t), WEIR_OK);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    tcp_fixture_close(&t);
}

// With its bucket and its handle's slot, 16 bytes, this is what an idle connection has (`make bench T=pair`).
static void its_block_is_small(void **state)
{
    (void)state;
    if (sizeof(void *) == 8)
        assert_in_range(sizeof(struct tcp_conn), 1, (WEIR_CFG_IP6 ? 328 : 296) + (WEIR_CFG_TCP_BLACK_HOLE ? 24 : 0));
}

// --- segment size ----------------------------------------------------------------------------------------------------

static void the_segment_size_is_the_least_of_all_limits(void **state)
{
    static const struct {
        uint16_t peer, mtu, user;
        bool timestamps;
        uint16_t mss;
    } rows[] = {
        {1460, 1500, 0, false, 1460}, {1460, 1500, 0, true, 1448},     {536, 1500, 0, false, 536},
        {1460, 576, 0, false, 536},   {1460, 1500, 1000, false, 1000}, {1460, 1500, 1000, true, 988},
        {8960, 9000, 0, false, 8960}, {1460, 68, 0, false, 28},        {64, 1500, 0, true, 52},
    };
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_true(tcp_conn_attach(t.weir, c));
    const struct tcp_conn before = *c;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        c->remote.mss = rows[i].peer;
        c->path.mtu = rows[i].mtu;
        c->user_mss = rows[i].user;
        c->flags = (before.flags & ~(uint32_t)TCP_USE_TIMESTAMPS) | (rows[i].timestamps ? TCP_USE_TIMESTAMPS : 0);
        c->flow->window.cwnd = 100;  // of smaller segments: one of the new size must fit, or nothing ever left again
        tcp_mss_update(c);
        assert_int_equal(c->mss, rows[i].mss);
        assert_int_equal(c->flow->window.cwnd, rows[i].mss > 100 ? rows[i].mss : 100);
    }
    c->flags = before.flags;
    c->path = before.path;
    tcp_fixture_close(&t);
}

// RFC 7323 §2.2, §2.3: the least shift by which the limit is told in 16 bits, 14 at the most.
static void the_window_scale_is_the_least_that_tells_the_limit(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 32; bit++)
        for (int beside = -1; beside <= 1; beside++) {
            const uint32_t limit = (uint32_t)((UINT64_C(1) << bit) + (uint64_t)(int64_t)beside);
            const uint32_t scale = tcp_scale_for(limit);
            assert_in_range(scale, 0, 14);
            assert_true(limit >> scale <= 65535 || scale == 14);
            assert_true(scale == 0 || limit >> (scale - 1) > 65535);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_4_tuple_and_by_no_other),
        cmocka_unit_test(connections_that_share_a_remembered_place_are_told_apart),
        cmocka_unit_test(its_block_is_small),
        cmocka_unit_test(what_an_idle_connection_needs_not_it_lets_go),
        cmocka_unit_test(a_reserved_send_queue_stays),
        cmocka_unit_test(what_the_path_taught_outlives_the_flow),
        test_with(WEIR_CFG_ALLOCATOR, without_memory_no_flow_is_attached),
        cmocka_unit_test(one_that_is_dropped_tells_why_and_leaves_what_was_not_read),
        cmocka_unit_test(the_segment_size_is_the_least_of_all_limits),
        cmocka_unit_test(the_window_scale_is_the_least_that_tells_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
