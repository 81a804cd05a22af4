// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Loss and recovery: fast retransmit, NewReno, limited transmit, timeouts, and that only real duplicates count.
// profiles: small
#include "cc/common.h"
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u

static const struct tcp_fixture_options plain;

// Ten segments in flight.
static void send_ten(struct tcp_fixture *t)
{
    user_write(t, 0, 10 * MSS);
    assert_int_equal(peer_drain_count(t), 10);
}

static void duplicates(struct tcp_fixture *t, uint32_t ack, int count)
{
    for (int i = 0; i < count; i++)
        peer_send(t, TCP_ACK, 0, ack);
}

static void the_initial_window_is_ten_segments(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 20 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);  // RFC 6928
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    assert_int_equal(peer_drain_count(&t), 4);  // slow start: two more for each two
    tcp_fixture_close(&t);
    assert_int_equal(weir_cc_initial_window(1460), 14600);
    assert_int_equal(weir_cc_initial_window(8960), 17920);
    assert_int_equal(weir_cc_initial_window(536), 5360);
}

static void three_duplicates_retransmit(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    duplicates(&t, 0, 2);
    peer_expect_nothing(&t);
    duplicates(&t, 0, 1);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    const uint32_t ssthresh = tcp_fixture_conn(&t)->flow->window.ssthresh;
    assert_in_range(ssthresh, 2 * MSS, 9 * MSS);
    duplicates(&t, 0, 6);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_false(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 1);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 0);
    tcp_fixture_close(&t);
}

// Three duplicates retransmit also when the last recovery is longer ago than sequence numbers can tell.
static void three_duplicates_retransmit_after_gigabytes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    tcp_fixture_conn(&t)->flow->recover -= 0x80000001u;
    duplicates(&t, 0, 3);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    tcp_fixture_close(&t);
}

static void limited_transmit_sends_new_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 20 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
    duplicates(&t, 0, 1);  // RFC 3042
    peer_expect(&t, TCP_ACK, 10 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    duplicates(&t, 0, 1);
    peer_expect(&t, TCP_ACK, 11 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    duplicates(&t, 0, 1);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    tcp_fixture_close(&t);
}

static void a_partial_ack_sends_the_next_hole(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    duplicates(&t, 0, 3);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    duplicates(&t, 0, 4);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);  // segments 1 and 4 were lost
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    // that, and 6: of the seven duplicates two are acknowledged now
    assert_int_equal(tcp_recovery_pipe(tcp_fixture_conn(&t)), 2 * MSS);
    peer_send(&t, TCP_ACK, 0, 5 * MSS);  // and 6
    peer_expect(&t, TCP_ACK, 5 * MSS, 0, MSS);
    assert_int_equal(tcp_recovery_pipe(tcp_fixture_conn(&t)), MSS);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_false(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 1);  // one reduction for all
    tcp_fixture_close(&t);
}

// RFC 6582 §3.2, step 3: the first partial ACK lets the retransmission timer run anew, those after it do not. With SACK
// each does (RFC 6298 §5.3).
static void only_the_first_partial_ack_resets_the_timer(void **state)
{
    for (int sack = 0; sack < 2; sack++) {
        const uint32_t above[] = {8 * MSS, 10 * MSS};
        struct tcp_fixture t;
        (void)state;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = sack});
        send_ten(&t);
        peer_pass(&t, 1000);
        for (int i = 0; i < 3; i++)
            peer_sack(&t, 0, sack, above);
        assert_true(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
        for (uint32_t i = 1; i <= 2; i++) {
            peer_pass(&t, 100000);
            peer_sack(&t, i * 2 * MSS, sack, above);
            assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 0);
        }
        peer_pass(&t, 90000);  // 190 ms since the first
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 0);
        peer_pass(&t, 15000);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), !sack);
        peer_drain(&t);
        tcp_fixture_close(&t);
    }
}

// RFC 5681 §2: ACKs with data, or with another window, or when nothing is in flight, are no duplicates.
static void only_real_duplicates_count(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, MSS);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, MSS);
    t.ours += MSS;
    duplicates(&t, 0, 10);
    send_ten(&t);
    duplicates(&t, 0, 2);
    for (uint32_t i = 0; i < 10; i++)
        peer_data(&t, i * 10, 10);
    for (uint32_t i = 0; i < 10; i++)
        peer_data(&t, 1000 + i * 10, 10);  // beyond a hole
    for (uint32_t i = 0; i < 10; i++)
        peer_send_raw(&t,
                      &(struct peer_segment){
                          .flags = TCP_ACK, .seq = 1100, .own_window = true, .window = (uint16_t)(30000 + i * 1000)});
    while (peer_has_more(&t)) {
        peer_take(&t);
        assert_int_equal(t.got.length, 0);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
    tcp_fixture_close(&t);
}

// A FIN is no duplicate ACK either.
static void a_fin_is_no_duplicate(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    duplicates(&t, 0, 2);
    peer_send(&t, TCP_ACK | TCP_FIN, 0, 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
    peer_send(&t, TCP_ACK, 1, 0);
    peer_expect(&t, TCP_ACK, 0, 1, MSS);
    tcp_fixture_close(&t);
}

// RFC 6582 §3.2, step 2: what a timeout sent again for nothing comes back as duplicates of all that was outstanding.
// They must not start a fast retransmit of what was sent since.
static void duplicates_of_what_was_sent_for_nothing_are_no_loss(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    peer_pass(&t, 250000);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 1);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);  // only late
    peer_drain(&t);
    user_write(&t, 10 * MSS, 10 * MSS);
    duplicates(&t, 10 * MSS, 9);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
    peer_send(&t, TCP_ACK, 0, 11 * MSS);
    peer_drain(&t);
    duplicates(&t, 11 * MSS, 3);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 1);
    tcp_fixture_close(&t);
}

static void a_timeout_starts_anew_with_one_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    peer_pass(&t, 250000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(&t);
    assert_int_equal(tcp_fixture_conn(&t)->flow->window.cwnd, MSS);
    assert_int_equal(tcp_fixture_conn(&t)->flow->window.ssthresh <= 8 * MSS, 1);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    peer_expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    // Duplicates of what was sent before the timeout must not start a fast retransmit (RFC 6582 §3.2).
    duplicates(&t, MSS, 5);
    for (uint32_t segment = 3; peer_has_more(&t); segment++)
        peer_expect(&t, TCP_ACK, segment * MSS, 0, MSS);  // as slow start allows, each once
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

// RFC 5681 §3.1: what went again by timeout before holds ssthresh constant; the first timeout of the next segment does
// not.
static void ssthresh_falls_once_for_the_same_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    send_ten(&t);
    peer_pass(&t, 250000);
    struct weir_cc_window *window = &tcp_fixture_conn(&t)->flow->window;
    window->ssthresh = 3 * MSS;  // not what FlightSize, which stays the same, would make of it again
    peer_pass(&t, 10000000);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_RTO) > 3);
    assert_int_equal(window->ssthresh, 3 * MSS);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_pass(&t, 30000000);
    assert_true(window->ssthresh > 4 * MSS);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// The window of a path long unused proves nothing (RFC 5681 §4.1).
// All that was queued, `end` bytes since the beginning, is sent and acknowledged by two segments at a time.
static void acknowledge_all(struct tcp_fixture *t, uint32_t end)
{
    uint32_t acked = tcp_fixture_conn(t)->snd.una - t->ours;
    for (uint32_t tries = 0; acked < end; tries++) {
        assert_true(tries < 1000);
        peer_drain(t);
        peer_send(t, TCP_ACK, 0, min_u32(tcp_fixture_conn(t)->snd.nxt - t->ours, acked + 2 * MSS));
        acked = tcp_fixture_conn(t)->snd.una - t->ours;
    }
}

static void after_idling_the_window_begins_anew(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.send_buffer = 1 << 20, .scale = true, .peer_scale = 5});
    uint32_t at = 0;
    for (int round = 0; round < 4; round++) {
        user_write(&t, at, 20 * MSS);
        at += 20 * MSS;
        acknowledge_all(&t, at);
    }
    assert_true(tcp_fixture_conn(&t)->flow->window.cwnd > 20 * MSS);
    const uint64_t idle_us[] = {400000, 3000000};  // with the flow's memory still there, and let go
    for (int i = 0; i < 2; i++) {
        peer_pass(&t, idle_us[i]);
        peer_drain(&t);
        user_write(&t, at, 40 * MSS);
        assert_in_range(peer_drain_count(&t), 1, 10);
        at += 40 * MSS;
        acknowledge_all(&t, at);
    }
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_initial_window_is_ten_segments),
        cmocka_unit_test(three_duplicates_retransmit),
        cmocka_unit_test(three_duplicates_retransmit_after_gigabytes),
        cmocka_unit_test(limited_transmit_sends_new_data),
        cmocka_unit_test(a_partial_ack_sends_the_next_hole),
        cmocka_unit_test(only_the_first_partial_ack_resets_the_timer),
        cmocka_unit_test(only_real_duplicates_count),
        cmocka_unit_test(a_fin_is_no_duplicate),
        cmocka_unit_test(duplicates_of_what_was_sent_for_nothing_are_no_loss),
        cmocka_unit_test(a_timeout_starts_anew_with_one_segment),
        cmocka_unit_test(ssthresh_falls_once_for_the_same_data),
        cmocka_unit_test(after_idling_the_window_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
