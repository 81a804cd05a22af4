// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// The receive queue: out of order under attack, memory that fails, readers that shut or are slow.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

static const struct tcp_fixture_options plain;

// SegmentSmack (CVE-2018-5390): one-byte segments with one-byte gaps. The list is bounded, and what a segment costs
// does not grow: at most a binary search and one move of the bounded list; here counted by the memory and intervals it
// takes.
static void segment_smack_is_bounded(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    const uint64_t before = weir_memory_used(t.weir);
    for (uint32_t i = 0; i < 4000; i++) {
        peer_data(&t, 1 + 2 * i, 1);
        if (i % 100 == 99)
            peer_drain(&t);
    }
    const struct intervals *list = tcp_fixture_conn(&t)->extra->out_of_order;
    const uint32_t most = 65536 / (2 * TCP_MSS_UNTOLD) + 1;  // limit / 2 MSS
    assert_in_range(list->count, 8, most);
    assert_in_range(list->capacity, 8, most);
    assert_true(weir_memory_used(t.weir) - before < 100000);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED) > 3900 - most);
    for (uint32_t i = 0; i < 4000; i++) {
        peer_data(&t, 1 + 2 * i, 1);  // and the same again
        if (i % 100 == 99)
            peer_drain(&t);
    }
    assert_int_equal(tcp_fixture_conn(&t)->extra->out_of_order->count, list->count);
    peer_data(&t, 0, 9000);  // the stream is whole in spite of it
    assert_int_equal(user_read(&t, 0, 10000), 9000);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// A window with every other full segment missing fits in the list (15 % loss at full speed).
static void every_other_segment_of(uint32_t receive_buffer)
{
    struct tcp_fixture t;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.sack = true, .scale = true, .receive_buffer = receive_buffer});
    for (uint32_t i = 0; i < 22; i++) {  // teach the window and the segment size
        peer_data(&t, i * 1460, 1460);
        user_read(&t, i * 1460, 1460);
        peer_drain(&t);
    }
    const uint32_t from = 22 * 1460, count = (tcp_fixture_conn(&t)->rcv.edge - t.theirs - from) / 1460;
    assert_in_range(count, receive_buffer / 1460 / 2, receive_buffer / 1460);
    for (uint32_t i = 1; i < count; i += 2) {
        peer_data(&t, from + i * 1460, 1460);
        peer_drain(&t);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED), 0);
    for (uint32_t i = 0; i < count; i += 2) {
        peer_data(&t, from + i * 1460, 1460);
        peer_drain(&t);
    }
    peer_drain(&t);
    assert_int_equal(conn_snapshot(&t).rcv_nxt - t.theirs, from + count * 1460);
    for (uint32_t at = from, got; at < from + count * 1460; at += got)
        assert_true((got = user_read(&t, at, 100000)) > 0);
    tcp_fixture_close(&t);
}

static void every_other_segment_fits(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // memory and the list of intervals are fixed there
    every_other_segment_of(500000);
    every_other_segment_of(16 << 20);  // with 5,700 holes
}

// One byte at the far edge of a window of megabytes costs a small chunk, not what lies before it; whatever else is sent
// there, no more than four times its bytes.
// A peer that sent data and then ends before it: the end holds, and nothing of the data stays.
static void what_lies_beyond_a_fin_goes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    peer_data(&t, 1, 1000);
    assert_non_null(tcp_fixture_conn(&t)->extra->out_of_order);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    assert_null(tcp_fixture_conn(&t)->extra ? tcp_fixture_conn(&t)->extra->out_of_order : NULL);
    assert_int_equal(user_read(&t, 0, 100), 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

static void memory_goes_by_what_arrived(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // the queue is a ring of fixed size there
    tcp_fixture_bring(
        &t, WEIR_TCP_ESTABLISHED,
        &(struct tcp_fixture_options){
            .sack = true, .scale = true, .peer_scale = 7, .receive_buffer = 6291456, .fixture.mode = FIXTURE_PLAIN});
    const uint32_t bookkeeping = 2048;  // the queue itself, the lists of pieces and of intervals
    const uint64_t open = weir_memory_used(t.weir);
    const uint32_t edge = tcp_fixture_conn(&t)->rcv.edge - t.theirs;
    assert_true(edge > 60000);
    peer_data(&t, edge - 1, 1);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_OUT_OF_ORDER), 1);
    assert_true(weir_memory_used(t.weir) - open <= 4 + 2048 + bookkeeping);
    uint32_t bytes = 1;
    for (uint32_t at = 1000; at + 3000 < edge; at += 3000) {
        const uint32_t length = at % 7 ? 1 : 1000;
        bytes += length;
        peer_data(&t, at, length);
        assert_true(weir_memory_used(t.weir) - open <= 4 * bytes + 2048 + bookkeeping);
    }
    peer_drain(&t);
    for (uint32_t at = 0; at < edge; at += 1460)
        peer_data(&t, at, edge - at < 1460 ? edge - at : 1460);
    for (uint32_t at = 0, got; at < edge; at += got)
        assert_true((got = user_read(&t, at, 100000)) > 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Without memory a segment is dropped as if lost: not acknowledged, nothing SACKed is forgotten.
static void without_memory_a_segment_is_dropped(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // memory and the list of intervals are fixed there
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    t.f.fail_at = 1;
    t.f.fail_onwards = true;
    peer_data(&t, 0, 1000);
    peer_data(&t, 2000, 1000);
    assert_int_equal(conn_snapshot(&t).rcv_nxt, t.theirs);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_NO_MEMORY) > 0);
    while (peer_has_more(&t)) {
        peer_take(&t);
        assert_int_equal(t.got_ack, 0);
        assert_int_equal(t.got.options.sack_count, 0);
    }
    t.f.fail_at = 0;
    t.f.fail_onwards = false;
    peer_data(&t, 2000, 1000);
    peer_data(&t, 0, 2000);
    assert_int_equal(user_read(&t, 0, 5000), 3000);
    tcp_fixture_close(&t);
}

// The n-th allocation fails, for each n: where the list cannot be had, the memory for the data goes back as well.
static void without_a_list_no_memory_is_kept(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // memory and the list of intervals are fixed there
    for (uint32_t n = 1, taken = false; !taken; n++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
        const struct tcp_conn *const c = tcp_fixture_conn(&t);
        t.f.fail_at = n;
        peer_data(&t, 30000, 1000);
        t.f.fail_at = 0;
        taken = tcp_disordered(c);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_OUT_OF_ORDER_DROPPED), !taken);
        assert_true(taken || !c->receive || stream_ahead_bytes(c->receive) == 0);
        assert_true(n > 1 || !taken);
        tcp_fixture_close(&t);
    }
}

// What lies beyond a hole holds all that the allocator had: it is given up for what fills the hole, and comes again.
static void data_beyond_a_hole_makes_way_for_what_fills_it(void **state)
{
    enum { SEGMENT = 1460, SEGMENTS = 40 };
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // memory and the list of intervals are fixed there
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    for (uint32_t i = 1; i < SEGMENTS; i++)
        peer_data(&t, i * SEGMENT, SEGMENT);
    t.f.limit_bytes = t.f.allocated_bytes;
    for (uint32_t i = 0; i < SEGMENTS; i++) {
        peer_data(&t, i * SEGMENT, SEGMENT);
        assert_int_equal(conn_snapshot(&t).rcv_nxt, t.theirs + (i + 1) * SEGMENT);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RENEGED), 1);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_NO_MEMORY), 0);
    for (uint32_t at = 0, got; at < SEGMENTS * SEGMENT; at += got)
        assert_true((got = user_read(&t, at, SEGMENTS * SEGMENT)) > 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

static void a_fin_without_room_for_its_data_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // memory and the list of intervals are fixed there
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    t.f.fail_at = 1;
    t.f.fail_onwards = true;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .length = 1000});
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    t.f.fail_at = 0;
    t.f.fail_onwards = false;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .length = 1000});
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    assert_int_equal(user_read(&t, 0, 5000), 1000);
    tcp_fixture_close(&t);
}

static void after_shutdown_for_reading_data_is_acknowledged_and_dropped(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 100);
    peer_drain(&t);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_READ), WEIR_OK);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &(uint8_t){0}, 1), 0);
    for (uint32_t i = 1; i < 1000; i++) {
        peer_data(&t, i * 100, 100);
        peer_drain(&t);
    }
    assert_int_equal(conn_snapshot(&t).receive_queue, 0);
    assert_int_equal(t.got.window, 65535);
    user_write(&t, 0, 10);  // the other way goes on
    peer_expect(&t, TCP_ACK, 0, 100000, 10);
    tcp_fixture_close(&t);
}

// The user must learn of data at once, PSH or not (RFC 9293 §3.9.1.2 lets the receiver ignore it).
static void data_is_readable_without_push(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .length = 1});
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_READABLE);
    uint32_t events = 0;
    bool told = false;
    for (weir_socket ready; (ready = weir_ready_next(t.weir, &events)) != 0;)
        told |= ready == t.socket && events & WEIR_READABLE;
    assert_true(told);
    tcp_fixture_close(&t);
}

// What was promised is taken, though the limit was lowered while the queue held nothing.
static void a_lowered_limit_keeps_the_promise(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RECEIVE_BUFFER, 2000), WEIR_OK);
    for (uint32_t i = 0; i < 30; i++)
        peer_data(&t, i * 1460, 1460);
    assert_int_equal(conn_snapshot(&t).rcv_nxt - t.theirs, 30 * 1460);
    peer_drain(&t);
    for (uint32_t at = 0, got; at < 30 * 1460; at += got)
        assert_true((got = user_read(&t, at, 100000)) > 0);
    tcp_fixture_close(&t);
}

static void peeking_takes_nothing(void **state)
{
    struct tcp_fixture t;
    struct weir_slice slices[4];
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 1000);
    assert_int_equal(weir_socket_peek(t.weir, t.socket, 0, slices, 4), 1000);
    assert_int_equal(weir_socket_peek(t.weir, t.socket, 600, slices, 4), 400);
    assert_int_equal(slices[0].data[0], peer_pattern(600));
    assert_int_equal(weir_socket_peek(t.weir, t.socket, 1000, slices, 4), WEIR_AGAIN);
    assert_int_equal(weir_socket_consume(t.weir, t.socket, 1001), WEIR_INVALID);
    assert_int_equal(user_read(&t, 0, 5000), 1000);
    tcp_fixture_close(&t);
}

// After a pause a full segment is acknowledged at once, since it is rather a timeout that ends the pause, and slow
// start follows. A smaller one, though the segment size is taken from it afterwards, was none: it is answered as ever.
static void a_smaller_segment_after_a_pause_is_not_a_full_one(void **state)
{
    (void)state;
    for (uint32_t full = 0; full < 2; full++) {
        const uint32_t length = full ? 1460 : 1000;
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        peer_data(&t, 0, 1460);
        tcp_fixture_conn(&t)->quick_acks = 0;
        peer_pass(&t, 300000);
        peer_drain(&t);
        for (uint32_t i = 0; i < 8; i++) {
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 1460 + i * length, .length = length});
            assert_int_equal(peer_drain_count(&t), full || i % 2);
        }
        tcp_fixture_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_smaller_segment_after_a_pause_is_not_a_full_one),
        cmocka_unit_test(segment_smack_is_bounded),
        cmocka_unit_test(every_other_segment_fits),
        cmocka_unit_test(memory_goes_by_what_arrived),
        cmocka_unit_test(without_memory_a_segment_is_dropped),
        cmocka_unit_test(without_a_list_no_memory_is_kept),
        cmocka_unit_test(data_beyond_a_hole_makes_way_for_what_fills_it),
        cmocka_unit_test(what_lies_beyond_a_fin_goes),
        cmocka_unit_test(a_fin_without_room_for_its_data_waits),
        cmocka_unit_test(after_shutdown_for_reading_data_is_acknowledged_and_dropped),
        cmocka_unit_test(data_is_readable_without_push),
        cmocka_unit_test(a_lowered_limit_keeps_the_promise),
        cmocka_unit_test(peeking_takes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
