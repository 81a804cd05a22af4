// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// What leaves, and when: segments of the right size, Nagle, both sides of silly-window avoidance, windows, FIN.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define LEAST_MTU (WEIR_CFG_IP4 ? 576u : 1280u)

static const struct tcp_fixture_options plain;

static void set(struct tcp_fixture *t, enum weir_option option, int32_t value)
{
    assert_int_equal(weir_socket_set(t->weir, t->socket, option, value), WEIR_OK);
}

// --- size ------------------------------------------------------------------------------------------------------------

static void data_is_cut_to_the_segment_size(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 4 * 1460);
    for (uint32_t i = 0; i < 4; i++) {
        peer_expect(&t, TCP_ACK, i * 1460, 0, 1460);
        assert_int_equal(t.got.flags & TCP_PSH, i == 3 ? TCP_PSH : 0);  // the last of what was queued
        assert_int_equal(t.got.options.seen, 0);
    }
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static uint32_t first_segment(const struct tcp_fixture_options *options)
{
    struct tcp_fixture t;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, options);
    user_write(&t, 0, 20000);
    peer_take(&t);
    const uint32_t length = t.got.length;
    tcp_fixture_close(&t);
    return length;
}

static void the_peers_segment_size_is_kept(void **state)
{
    (void)state;
    for (int open = TCP_PASSIVE; open <= TCP_ACTIVE; open++) {
        assert_int_equal(first_segment(&(struct tcp_fixture_options){.open = open, .no_mss = true}), TCP_MSS_UNTOLD);
        assert_int_equal(first_segment(&(struct tcp_fixture_options){.open = open, .mss = 1000}), 1000);
        // our own link's
        assert_int_equal(first_segment(&(struct tcp_fixture_options){.open = open, .mss = 65535}), 1460);
        assert_int_equal(first_segment(&(struct tcp_fixture_options){.open = open, .mss = 1000, .timestamps = true}),
                         988);  // options count
    }
}

static void a_tiny_segment_size_has_a_floor(void **state)
{
    (void)state;
    const uint16_t tiny[] = {1, 8, 47, 48};  // CVE-2019-11479; 0 cannot be asked of the fixture
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(first_segment(&(struct tcp_fixture_options){.mss = tiny[i]}), 48);
}

static void the_mtu_decides_what_we_announce(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int open = TCP_PASSIVE; open <= TCP_ACTIVE; open++) {
        tcp_fixture_bring(&t, open == TCP_PASSIVE ? WEIR_TCP_SYN_RECEIVED : WEIR_TCP_SYN_SENT,
                          &(struct tcp_fixture_options){.open = open, .fixture = {.mtu = LEAST_MTU}});
        assert_int_equal(t.got.options.seen & TCP_SEEN_MSS, TCP_SEEN_MSS);
        assert_int_equal(t.got.options.mss, LEAST_MTU - TCP_HEADERS);
        tcp_fixture_close(&t);
    }
    assert_int_equal(first_segment(&(struct tcp_fixture_options){.mss = 1460, .fixture = {.mtu = LEAST_MTU}}),
                     LEAST_MTU - TCP_HEADERS);
}

// Ten minutes after a router asked for small segments long ones are tried: a window of one or two small ones lets none
// of them go, and nothing is out whose acknowledgement would open it.
static void a_window_holds_a_segment_when_segments_grow(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    const uint32_t mss = 576 - TCP_HEADERS;
    c->path.mtu = 576;
    tcp_mss_update(c);
    user_write(&t, 0, mss);
    peer_drain(&t);
    c->flow->window.cwnd = 2 * mss;
    user_write(&t, mss, 5000);
    peer_drain(&t);
    c->path.mtu = 1500;
    tcp_mss_update(c);
    assert_in_range(c->flow->window.cwnd, c->mss, 2 * c->mss);
    peer_send(&t, TCP_ACK, 0, 2 * mss);
    peer_expect(&t, TCP_ACK, 2 * mss, 0, 1500 - TCP_HEADERS);
    tcp_fixture_close(&t);
}

// SACK blocks must not push a full segment beyond the MTU (the fixture's driver checks that), nor be lost for it.
static void sack_blocks_do_not_swell_full_segments(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.sack = true, .timestamps = timestamps});
        assert_int_equal(weir_socket_write(t.weir, t.socket, &(uint8_t[4000]){0}, 4000), 4000);
        peer_data(&t, 100, 100);
        peer_data(&t, 300, 100);
        bool told = false;
        uint32_t bytes = 0;
        while (peer_has_more(&t)) {
            peer_take(&t);
            assert_in_range(t.got.length + t.got.header_length, 20, 1480);
            told |= t.got.options.sack_count != 0;
            bytes += t.got.length;
        }
        assert_true(told);
        assert_true(bytes >= 2 * 1400);
        tcp_fixture_close(&t);
    }
}

// --- Nagle -----------------------------------------------------------------------------------------------------------

static void nagle_waits_for_the_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 10);  // nothing is in flight: goes at once
    peer_expect(&t, TCP_ACK, 0, 0, 10);
    user_write(&t, 10, 10);
    user_write(&t, 20, 10);
    peer_expect_nothing(&t);
    peer_send(&t, TCP_ACK, 0, 10);
    peer_expect(&t, TCP_ACK, 10, 0, 20);
    user_write(&t, 30, 1460);  // a full one goes
    peer_expect(&t, TCP_ACK, 30, 0, 1460);
    user_write(&t, 1490, 5);
    peer_expect_nothing(&t);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_FIN | TCP_ACK, 1490, 0, 5);  // the end is not waited with
    tcp_fixture_close(&t);
}

static void nagle_lets_the_end_of_a_large_write_go(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 1465);
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 5);
    user_write(&t, 1465, 5);
    peer_expect_nothing(&t);  // a small one is in flight
    peer_send(&t, TCP_ACK, 0, 1465);
    peer_expect(&t, TCP_ACK, 1465, 0, 5);
    tcp_fixture_close(&t);
}

static void nagle_can_be_switched_off(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 10);
    user_write(&t, 10, 10);
    peer_expect(&t, TCP_ACK, 0, 0, 10);
    peer_expect_nothing(&t);
    set(&t, WEIR_OPTION_NO_DELAY, 1);  // also lets go what waits
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_ACK, 10, 0, 10);
    user_write(&t, 20, 10);
    peer_expect(&t, TCP_ACK, 20, 0, 10);
    tcp_fixture_close(&t);
}

static void a_cork_lets_only_full_segments_go(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    set(&t, WEIR_OPTION_CORK, 1);
    user_write(&t, 0, 1000);
    peer_expect_nothing(&t);
    user_write(&t, 1000, 1000);
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_expect_nothing(&t);
    set(&t, WEIR_OPTION_CORK, 0);
    fixture_poll(&t.f, 0);
    peer_send(&t, TCP_ACK, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 540);
    tcp_fixture_close(&t);
}

// --- windows ---------------------------------------------------------------------------------------------------------

static void the_peers_window_is_kept(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.window = 4000});
    user_write(&t, 0, 10000);
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 1460);
    peer_expect_nothing(&t);  // 1080 are open, less than a segment and less than half the largest window
    peer_send(&t, TCP_ACK, 0, 1460);
    peer_expect(&t, TCP_ACK, 2920, 0, 1460);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// RFC 9293 §3.8.6.2.1: half of the largest window ever seen is enough; otherwise the override timer decides.
static void a_small_window_is_used_in_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.window = 1000});
    user_write(&t, 0, 3000);
    peer_expect(&t, TCP_ACK, 0, 0, 1000);
    t.window = 499;
    peer_send(&t, TCP_ACK, 0, 1000);
    peer_expect_nothing(&t);
    peer_pass(&t, 100000);
    peer_expect_nothing(&t);
    peer_pass(&t, 900000);
    peer_expect(&t, TCP_ACK, 1000, 0, 499);
    t.window = 500;
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 1499);
    peer_expect(&t, TCP_ACK, 1499, 0, 500);
    tcp_fixture_close(&t);
}

static void a_shrinking_window_is_survived(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 5 * 1460);
    assert_int_equal(peer_drain_count(&t), 5);
    t.window = 2000;  // the right edge moves left of what is in flight
    peer_send(&t, TCP_ACK, 0, 1460);
    user_write(&t, 5 * 1460, 1460);
    peer_expect_nothing(&t);  // no new data
    peer_pass(&t, 400000);
    peer_take(&t);  // the old is sent again, from una on
    assert_int_equal(t.got_seq, 1460);
    t.window = 65535;
    peer_send(&t, TCP_ACK, 0, 5 * 1460);
    peer_drain(&t);
    peer_pass(&t, 10000000);
    peer_send(&t, TCP_ACK, 0, 6 * 1460);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

static void windows_are_unsigned_and_scaled(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.scale = true, .peer_scale = 14, .receive_buffer = 4000000});
    peer_data(&t, 0, 10);  // not from a SYN, whose window is never scaled
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 65535u << 14);
    peer_take(&t);
    assert_int_equal(tcp_fixture_conn(&t)->rcv_scale, 6);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED,
                      &(struct tcp_fixture_options){.scale = true, .peer_scale = 15, .receive_buffer = 4000000});
    assert_int_equal(t.got.options.window_scale, 6);
    assert_int_equal(t.got.window, 65535);
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(tcp_fixture_conn(&t)->snd_scale, 14);  // RFC 7323 §2.3
    tcp_fixture_close(&t);
}

// --- our own window --------------------------------------------------------------------------------------------------

// RFC 9293 §3.8.6.2.2: the edge moves in steps of min(half the buffer, a segment), and never left.
static void the_window_opens_in_steps(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.receive_buffer = 5840});
    for (uint32_t i = 0; i < 4; i++)
        peer_data(&t, i * 1460, 1460);
    peer_drain(&t);
    assert_int_equal(t.got.window, 0);
    assert_int_equal(user_read(&t, 0, 100), 100);
    assert_int_equal(user_read(&t, 100, 1359), 1359);
    peer_expect_nothing(&t);
    assert_int_equal(user_read(&t, 1459, 1), 1);
    peer_expect(&t, TCP_ACK, 0, 5840, 0);  // at once, not when a probe asks
    assert_int_equal(t.got.window, 1460);
    assert_int_equal(user_read(&t, 1460, 5000), 4380);
    peer_expect(&t, TCP_ACK, 0, 5840, 0);
    assert_int_equal(t.got.window, 5840);
    peer_pass(&t, 1000000);
    peer_expect_nothing(&t);  // told again it would be a duplicate ACK to a peer with data in flight (RFC 5681 §2)
    tcp_fixture_close(&t);
}

static void the_promised_edge_never_moves_left(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int scale = 0; scale < 2; scale++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.receive_buffer = 300000, .scale = scale, .peer_scale = 3});
        uint32_t edge = 0, at = 0, random = 1;
        for (int i = 0; i < 400; i++) {
            random = random * 1103515245 + 12345;
            const uint32_t length = 1 + (random >> 16) % 1460;
            if (at + length <= tcp_fixture_conn(&t)->rcv.edge - t.theirs) {
                peer_data(&t, at, length);
                at += length;
            } else if (random & 0x4000) {
                const uint32_t queued = conn_snapshot(&t).receive_queue;
                user_read(&t, at - queued, length * 3);
            }
            if (i == 200)
                set(&t, WEIR_OPTION_RECEIVE_BUFFER, 50000);
            while (peer_has_more(&t)) {
                peer_take(&t);
                const uint32_t told = t.got_ack + ((uint32_t)t.got.window << tcp_fixture_conn(&t)->rcv_scale);
                assert_true(seq_le(edge, told + (1u << tcp_fixture_conn(&t)->rcv_scale) - 1));
                edge = told;
            }
            assert_int_equal(conn_snapshot(&t).rcv_nxt, t.theirs + at);  // all that was promised was taken
        }
        tcp_fixture_close(&t);
    }
}

// Rounded up to the scale unit for every one-byte segment, the promise would run ahead of the memory behind it.
static void a_window_smaller_than_its_unit_closes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.receive_buffer = 1u << 20, .scale = true});
    const uint32_t unit = 1u << tcp_fixture_conn(&t)->rcv_scale;
    assert_true(unit >= 16);
    uint32_t at = 0;
    while (at < (1u << 20) - 2 * unit) {
        const uint32_t room = tcp_fixture_conn(&t)->rcv.edge - t.theirs - at;
        const uint32_t left = (1u << 20) - 2 * unit - at, length = left < 1460 ? left : 1460;
        assert_true(length <= room);
        peer_data(&t, at, length);
        at += length;
        peer_drain(&t);
    }
    for (uint32_t i = 0; i < 8 * unit; i++) {  // whatever is announced is taken
        const uint32_t told = ((uint32_t)t.got.window) * unit - (at - t.got_ack);
        if (told == 0 || told > INT32_MAX)
            break;
        peer_data(&t, at, 1);
        peer_pass(&t, 100000);
        const uint32_t taken = conn_snapshot(&t).rcv_nxt - t.theirs;
        assert_in_range(taken, at, at + 1);
        if (taken == at)
            break;
        at = taken;
        peer_drain(&t);
    }
    assert_in_range(at, (1u << 20) - 2 * unit, (1u << 20) + unit);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_NO_MEMORY), 0);
    tcp_fixture_close(&t);
}

static void a_budget_stops_windows_from_growing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    const struct weir_config config = {.memory_budget_bytes = 300000};
    if (!WEIR_CFG_ALLOCATOR)
        skip();  // nothing is taken later
    tcp_fixture_bring(
        &t, WEIR_TCP_ESTABLISHED,
        &(struct tcp_fixture_options){.receive_buffer = 4000000, .scale = true, .fixture = {.config = &config}});
    uint32_t at = 0;
    for (int i = 0; i < 2000 && tcp_fixture_conn(&t)->rcv.edge - t.theirs - at >= 1460; i++) {
        peer_data(&t, at, 1460);
        const uint32_t nxt = conn_snapshot(&t).rcv_nxt - t.theirs;
        if (nxt == at)
            break;
        at = nxt;
    }
    assert_in_range(fixture_count(&t.f, WEIR_COUNT_TCP_NO_MEMORY), 0, 1);
    assert_in_range(at, 150000, 300000);  // a reader that never reads pins no more than the budget
    assert_true(weir_memory_used(t.weir) <= config.memory_budget_bytes);
    peer_drain(&t);
    for (uint32_t from = 0, got; from < at; from += got)
        assert_true((got = user_read(&t, from, 400000)) > 0);
    peer_take(&t);
    assert_true(t.got.window > 0);
    tcp_fixture_close(&t);
}

// --- FIN -------------------------------------------------------------------------------------------------------------

static void fin_follows_the_last_byte(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_write(t.weir, t.socket, (uint8_t[]){peer_pattern(0), peer_pattern(1)}, 2), 2);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_FIN | TCP_ACK, 0, 0, 2);
    peer_pass(&t, 400000);
    peer_expect(&t, TCP_FIN | TCP_ACK, 0, 0, 2);  // also when sent again
    peer_send(&t, TCP_ACK, 0, 2);
    assert_state(&t, WEIR_TCP_FIN_WAIT_1);
    peer_pass(&t, 2000000);
    peer_take(&t);
    assert_int_equal(t.got.flags & TCP_FIN, TCP_FIN);
    assert_int_equal(t.got_seq, 2);
    peer_send(&t, TCP_ACK, 0, 3);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

// --- the driver ------------------------------------------------------------------------------------------------------

static void a_full_interface_changes_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    t.f.block_tx = true;
    user_write(&t, 0, 3 * 1460);
    peer_data(&t, 0, 10);
    peer_expect_nothing(&t);
    assert_int_equal(tcp_fixture_conn(&t)->snd.nxt, t.ours);
    fixture_unblock(&t.f, 0);
    for (uint32_t i = 0; i < 3; i++)
        peer_expect(&t, TCP_ACK, i * 1460, 10, 1460);
    peer_expect_nothing(&t);  // the ACK went with the data
    tcp_fixture_close(&t);
}

static void our_sequence_numbers_wrap(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    const uint32_t iss = t.ours - 1;
    assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
    // RFC 6528: the number grows by one in 4 µs. Wait until it is about to wrap.
    peer_pass(&t, (uint64_t)(0u - 3000u - iss) * 4);
    peer_drain(&t);
    tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
    assert_in_range(t.ours, 0u - 3001u, 0u - 2900u);
    user_write(&t, 0, 10 * 1460);
    for (uint32_t i = 0; i < 10; i++)
        peer_expect(&t, TCP_ACK, i * 1460, 0, 1460);
    assert_true(tcp_fixture_conn(&t)->snd.nxt < t.ours);
    peer_send(&t, TCP_ACK, 0, 2 * 1460);
    peer_send(&t, TCP_ACK, 0, 2 * 1460);
    peer_send(&t, TCP_ACK, 0, 2 * 1460);
    peer_send(&t, TCP_ACK, 0, 2 * 1460);
    peer_expect(&t, TCP_ACK, 2 * 1460, 0, 1460);  // fast retransmit across the wrap
    peer_send(&t, TCP_ACK, 0, 10 * 1460);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_is_cut_to_the_segment_size),
        cmocka_unit_test(the_peers_segment_size_is_kept),
        cmocka_unit_test(a_tiny_segment_size_has_a_floor),
        cmocka_unit_test(the_mtu_decides_what_we_announce),
        cmocka_unit_test(a_window_holds_a_segment_when_segments_grow),
        cmocka_unit_test(sack_blocks_do_not_swell_full_segments),
        cmocka_unit_test(nagle_waits_for_the_ack),
        cmocka_unit_test(nagle_lets_the_end_of_a_large_write_go),
        cmocka_unit_test(nagle_can_be_switched_off),
        cmocka_unit_test(a_cork_lets_only_full_segments_go),
        cmocka_unit_test(the_peers_window_is_kept),
        cmocka_unit_test(a_small_window_is_used_in_time),
        cmocka_unit_test(a_shrinking_window_is_survived),
        cmocka_unit_test(windows_are_unsigned_and_scaled),
        cmocka_unit_test(the_window_opens_in_steps),
        cmocka_unit_test(the_promised_edge_never_moves_left),
        cmocka_unit_test(a_window_smaller_than_its_unit_closes),
        cmocka_unit_test(a_budget_stops_windows_from_growing),
        cmocka_unit_test(fin_follows_the_last_byte),
        cmocka_unit_test(a_full_interface_changes_nothing),
        cmocka_unit_test(our_sequence_numbers_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
