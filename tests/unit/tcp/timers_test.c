// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// The timers of a connection: retransmission and its back-off, probes of a closed window, delayed ACKs, and the ends
// that time brings.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define SECOND UINT64_C(1000000)
#define RTO_MS WEIR_CFG_TCP_RTO_MIN_MS  // the handshake took no time: the timeout is the smallest there is

static const struct tcp_fixture_options plain;

static void quick_acks_over(struct tcp_fixture *t) { tcp_fixture_conn(t)->quick_acks = 0; }

// Waits at most `limit_us` for the next segment; returns how long it took.
static uint64_t wait_for_segment(struct tcp_fixture *t, uint64_t limit_us)
{
    const uint64_t start = t->f.now_us;
    while (!peer_has_more(t) && t->f.now_us < start + limit_us) {
        const uint64_t next = fixture_poll(&t->f, 0);
        if (peer_has_more(t))
            break;
        peer_pass(t, next < start + limit_us ? next - t->f.now_us : start + limit_us - t->f.now_us);
    }
    assert_true(peer_has_more(t));
    peer_take(t);
    return t->f.now_us - start;
}

// --- retransmission --------------------------------------------------------------------------------------------------

static void the_timeout_doubles(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    uint64_t expected_ms = RTO_MS;
    const uint64_t start = t.f.now_us;
    uint32_t count = 0;
    while (t.f.now_us - start < 700 * SECOND) {
        const uint64_t waited = wait_for_segment(&t, 200 * SECOND);
        assert_in_range(waited, expected_ms * 1000, expected_ms * 1000 + 5000);
        assert_int_equal(t.got_seq, 0);
        assert_int_equal(t.got.length, 100);
        expected_ms = expected_ms * 2 < WEIR_CFG_TCP_RTO_MAX_MS ? expected_ms * 2 : WEIR_CFG_TCP_RTO_MAX_MS;
        count++;
    }
    assert_in_range(count, 10, 20);
    assert_state(&t, WEIR_TCP_ESTABLISHED);  // R2 is beyond 100 s
    peer_pass(&t, 400 * SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

// A socket may ask for a sooner timeout, from now on also in the middle of one; never one finer than the clock.
static void the_floor_is_the_sockets(void **state)
{
    struct tcp_fixture t;
    int32_t floor_us = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, &floor_us), WEIR_OK);
    assert_int_equal(floor_us, RTO_MS * 1000);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, 30000), WEIR_OK);
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    assert_in_range(wait_for_segment(&t, SECOND), 30000, 35000);
    assert_in_range(wait_for_segment(&t, SECOND), 60000, 65000);
    t.f.port.granularity_us = 50000;
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, 30000), WEIR_OK);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, &floor_us), WEIR_OK);
    assert_int_equal(floor_us, 50000);
    tcp_fixture_close(&t);
}

// What is under way already keeps the timeout that it began with.
static void a_new_floor_is_for_what_comes(void **state)
{
    static const struct tcp_fixture_options modern = {.open = TCP_ACTIVE, .timestamps = true};
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &modern);
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    peer_send(&t, TCP_ACK, 0, 100);
    peer_pass(&t, 20000);
    user_write(&t, 100, 100);
    peer_expect(&t, TCP_ACK, 100, 0, 100);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, 30000), WEIR_OK);
    assert_in_range(wait_for_segment(&t, SECOND), RTO_MS * 1000, RTO_MS * 1000 + 5000);
    tcp_fixture_close(&t);
}

// Karn: an ACK of data sent twice times nothing, and the longer timeout stays until one that does.
static void back_off_stays_until_a_sample(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_pass(&t, RTO_MS * 1000 + 3000);
    peer_pass(&t, RTO_MS * 2000 + 3000);
    assert_int_equal(peer_drain_count(&t), 2);
    const uint32_t srtt = tcp_fixture_conn(&t)->rtt.srtt8_us;
    peer_send(&t, TCP_ACK, 0, 100);
    assert_int_equal(tcp_fixture_conn(&t)->rtt.srtt8_us, srtt);
    user_write(&t, 100, 100);
    peer_drain(&t);
    assert_in_range(wait_for_segment(&t, 10 * SECOND), RTO_MS * 4000, RTO_MS * 4000 + 5000);
    peer_send(&t, TCP_ACK, 0, 200);
    user_write(&t, 200, 100);
    peer_drain(&t);
    peer_pass(&t, 1000);
    peer_send(&t, TCP_ACK, 0, 300);  // this one was sent once
    user_write(&t, 300, 100);
    peer_drain(&t);
    assert_in_range(wait_for_segment(&t, 10 * SECOND), RTO_MS * 1000, RTO_MS * 1000 + 5000);
    tcp_fixture_close(&t);
}

static void timestamps_time_a_retransmission(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.timestamps = true});
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_pass(&t, RTO_MS * 1000 + 5000);
    assert_int_equal(peer_drain_count(&t), 1);
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 1);
    peer_pass(&t, 50000);
    peer_send(&t, TCP_ACK, 0, 100);  // echoes the second
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 0);
    assert_in_range(rtt_smoothed(&tcp_fixture_conn(&t)->rtt), 5000, 8000);  // an eighth of 50 ms
    tcp_fixture_close(&t);
}

// --- opening ---------------------------------------------------------------------------------------------------------

static void a_syn_is_repeated_for_three_minutes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
    uint64_t expected_s = 1, total = 0;
    for (int i = 0; i < 7; i++) {
        const uint64_t waited = wait_for_segment(&t, 200 * SECOND);
        assert_in_range(waited, expected_s * SECOND, expected_s * SECOND + 5000);
        assert_int_equal(t.got.flags, TCP_SYN);
        assert_int_equal(t.got_seq, UINT32_MAX);
        expected_s = min_u32((uint32_t)expected_s * 2, WEIR_CFG_TCP_RTO_MAX_MS / 1000);
        total += waited;
        assert_state(&t, WEIR_TCP_SYN_SENT);
    }
    peer_pass(&t, 180 * SECOND - total % (180 * SECOND));
    peer_pass(&t, 150 * SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

// RFC 6298 §5.7.
static void a_lost_syn_makes_the_first_timeout_three_seconds(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
            peer_pass(&t, 1200000);
            peer_drain(&t);
            peer_send_raw(&t,
                          &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                                 .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
            t.theirs++;
        } else {
            tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &plain);
            peer_pass(&t, 1200000);
            assert_int_equal(peer_drain_count(&t), 1);
            peer_send(&t, TCP_ACK, 0, 0);
            t.socket = weir_socket_accept(t.weir, t.listener);
        }
        assert_state(&t, WEIR_TCP_ESTABLISHED);
        peer_drain(&t);
        user_write(&t, 0, 100);
        peer_drain(&t);
        assert_in_range(wait_for_segment(&t, 10 * SECOND), 3 * SECOND, 3 * SECOND + 5000);
        tcp_fixture_close(&t);
    }
}

// --- delayed ACK -----------------------------------------------------------------------------------------------------

// RFC 7323 §4.1: with timestamps the repeated SYN is timed, by the one that comes back; but not by one of long before
// it.
static void a_lost_syn_is_timed_by_its_timestamp(void **state)
{
    static const struct tcp_fixture_options timestamps = {.open = TCP_ACTIVE, .timestamps = true};
    (void)state;
    for (uint32_t first = 0; WEIR_CFG_TCP_TIMESTAMPS && first < 2; first++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &timestamps);
        const uint32_t earlier = t.ts_echo;
        peer_pass(&t, 1050000);
        peer_take(&t);
        const struct tcp_options options = {.seen = TCP_SEEN_MSS | TCP_SEEN_TIMESTAMPS,
                                            .mss = 1460,
                                            .ts_value = 1,
                                            .ts_echo = first ? earlier : t.got.options.ts_value};
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &options});
        assert_state(&t, WEIR_TCP_ESTABLISHED);
        const uint32_t srtt = rtt_smoothed(&tcp_fixture_conn(&t)->rtt);
        if (first)
            assert_int_equal(srtt, 0);
        else
            assert_in_range(srtt, 45000, 52000);
        peer_drain(&t);
        tcp_fixture_close(&t);
    }
}

static void an_ack_waits_less_than_half_a_second(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    quick_acks_over(&t);
    peer_data(&t, 0, 10);
    peer_expect_nothing(&t);
    assert_in_range(wait_for_segment(&t, SECOND), 1000, 499999);
    assert_int_equal(t.got_ack, 10);
    assert_int_equal(t.got.length, 0);
    peer_expect_nothing(&t);
    peer_data(&t, 10, 10);
    user_write(&t, 0, 5);  // data takes the ACK along
    peer_expect(&t, TCP_ACK, 0, 20, 5);
    peer_send(&t, TCP_ACK, 20, 5);
    peer_pass(&t, SECOND);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void every_second_full_segment_is_acknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 1460);
    peer_drain(&t);
    quick_acks_over(&t);
    for (uint32_t i = 1; i < 11; i += 2) {
        peer_data(&t, i * 1460, 1460);
        peer_expect_nothing(&t);
        peer_data(&t, (i + 1) * 1460, 1460);
        peer_expect(&t, TCP_ACK, 0, (i + 2) * 1460, 0);
    }
    tcp_fixture_close(&t);
}

// A FIN alone is answered by ours, if that follows soon: three segments end a connection, not four. Quick ACKs are for
// slow start.
static void the_ack_of_a_fin_goes_with_ours(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_expect_nothing(&t);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_READ_CLOSED);  // its reader hears of it at once
    peer_pass(&t, WEIR_CFG_TCP_DELAYED_ACK_MS * 1000 / 2);
    peer_expect_nothing(&t);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_FIN | TCP_ACK, 0, 1, 0);
    peer_pass(&t, WEIR_CFG_TCP_DELAYED_ACK_MS * 1000);
    peer_expect_nothing(&t);
    peer_send(&t, TCP_ACK, 1, 1);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);

    // No longer than any other, and the FIN that comes again has its answer at once.
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    assert_in_range(wait_for_segment(&t, SECOND), WEIR_CFG_TCP_DELAYED_ACK_MS * 1000 - 1000,
                    WEIR_CFG_TCP_DELAYED_ACK_MS * 1000 + 2000);
    assert_int_equal(t.got_ack, 1);
    peer_pass(&t, SECOND);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_expect(&t, TCP_ACK, 0, 1, 0);
    tcp_fixture_close(&t);
}

// What data has earned, a FIN does not hold back; nor is there anything to wait for where ours has left, or none is
// wanted.
static void the_ack_of_a_fin_that_leaves_at_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .length = 100});
    peer_expect(&t, TCP_ACK, 0, 101, 0);  // a quick ACK
    tcp_fixture_close(&t);

    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 1460);
    peer_drain(&t);
    quick_acks_over(&t);
    peer_data(&t, 1460, 1460);
    peer_expect_nothing(&t);
    peer_send(&t, TCP_FIN | TCP_ACK, 2920, 0);  // more than a full segment waits
    peer_expect(&t, TCP_ACK, 0, 2921, 0);
    tcp_fixture_close(&t);

    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_QUICK_ACK, 1), WEIR_OK);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_expect(&t, TCP_ACK, 0, 1, 0);
    tcp_fixture_close(&t);

    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_1, &plain);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, UINT32_MAX);
    peer_expect(&t, TCP_ACK, 0, 1, 0);
    assert_state(&t, WEIR_TCP_CLOSING);
    tcp_fixture_close(&t);
}

// How many segments are acknowledged at once behind a hole, when what fills it has been, on a path of that round trip.
static uint32_t quick_behind_a_hole(uint32_t rtt_us)
{
    struct tcp_fixture t;
    uint32_t at = 200, quick = 0;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    quick_acks_over(&t);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * rtt_us;
    peer_data(&t, 100, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    peer_data(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 200, 0);
    for (; quick < 100; quick++, at += 100) {
        peer_data(&t, at, 100);
        if (wait_for_segment(&t, SECOND) >= 1000)
            break;
        assert_int_equal(t.got_ack, at + 100);
    }
    tcp_fixture_close(&t);
    return quick;
}

// A peer that lost something sends little at a time: for a while after a hole no ACK is delayed, and then they are
// again.
static void no_ack_is_delayed_after_a_loss(void **state)
{
    const uint32_t far_us = WEIR_CFG_TCP_DELAYED_ACK_MS * 1000u / 8;
    (void)state;
    // two at once behind a hole: the segment that fills it, and one more
    assert_int_equal(quick_behind_a_hole(far_us), 1);
    assert_int_equal(quick_behind_a_hole(far_us - 1), 3);  // four, where the delay would be more than eight round trips
}

// Segments that arrive together are acknowledged together (RFC 1122 §4.2.3.2 forbids no fewer; RFC 9293 MUST-58).
static void a_batch_gets_one_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    for (uint32_t i = 0; i < 10; i++)
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = i * 100, .length = 100, .quiet = true});
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_ACK, 0, 1000, 0);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// --- a closed window -------------------------------------------------------------------------------------------------

static void close_window(struct tcp_fixture *t)
{
    t->window = 0;
    peer_data(t, 0, 1);
    peer_drain(t);
    t->theirs++;
    assert_int_equal(tcp_fixture_conn(t)->snd.wnd, 0);
}

static void a_closed_window_is_probed_for_ever(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    close_window(&t);
    user_write(&t, 0, 1000);
    peer_expect_nothing(&t);
    uint64_t expected_ms = RTO_MS;
    const uint64_t start = t.f.now_us;
    while (t.f.now_us - start < 3 * 24 * 3600 * SECOND) {
        assert_in_range(wait_for_segment(&t, 200 * SECOND), expected_ms * 1000, expected_ms * 1000 + 5000);
        assert_int_equal(t.got_seq, 0);
        assert_int_equal(t.got.length, 1);
        peer_send(&t, TCP_ACK, 0, 0);  // alive, and closed
        expected_ms = expected_ms * 2 < WEIR_CFG_TCP_RTO_MAX_MS ? expected_ms * 2 : WEIR_CFG_TCP_RTO_MAX_MS;
        peer_expect_nothing(&t);
        peer_drain(&t);
    }
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    t.window = 65535;
    peer_send(&t, TCP_ACK, 0, 0);  // open: at once
    peer_take(&t);
    assert_int_equal(t.got_seq, 0);
    peer_send(&t, TCP_ACK, 0, t.got.length);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 1000);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

static void a_peer_that_never_answers_probes_is_given_up(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    close_window(&t);
    user_write(&t, 0, 1000);
    peer_pass(&t, (WEIR_CFG_TCP_USER_TIMEOUT_S - 130) * SECOND);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    peer_pass(&t, 300 * SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

// The user may bound how long a peer pins memory with a closed window (Sockstress, RFC 6429).
static void a_user_timeout_ends_a_closed_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_USER_TIMEOUT_MS, 30000), WEIR_OK);
    close_window(&t);
    user_write(&t, 0, 1000);
    for (int i = 0; i < 70 && tcp_fixture_state(&t) == WEIR_TCP_ESTABLISHED; i++) {
        peer_pass(&t, SECOND);
        peer_drain(&t);
        peer_send(&t, TCP_ACK, 0, 0);
        peer_drain(&t);
        if (i < 28)
            assert_state(&t, WEIR_TCP_ESTABLISHED);
    }
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_TIMED_OUT);
    tcp_fixture_close(&t);
}

// Neither counts the time before there was anything to send.
static void a_quiet_hour_is_not_held_against_the_peer(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int timeout = 0; timeout < 2; timeout++)
        for (int closed = 0; closed < 2; closed++) {
            tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
            if (timeout)
                assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_USER_TIMEOUT_MS, 30000), WEIR_OK);
            if (closed)
                close_window(&t);
            peer_pass(&t, 3600 * SECOND);
            peer_drain(&t);
            user_write(&t, 0, 1000);
            peer_pass(&t, 20 * SECOND);
            assert_state(&t, WEIR_TCP_ESTABLISHED);
            assert_true(peer_has_more(&t));
            tcp_fixture_close(&t);
        }
}

static void a_fin_behind_a_closed_window_is_repeated(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    close_window(&t);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_FIN | TCP_ACK, 0, 0, 0);  // takes no room; refused or lost
    for (int i = 0; i < 5; i++) {
        wait_for_segment(&t, 100 * SECOND);
        assert_int_equal(t.got.flags & TCP_FIN, TCP_FIN);
        assert_int_equal(t.got_seq, 0);
        peer_send(&t, TCP_ACK, 0, 0);
        peer_drain(&t);
    }
    peer_send(&t, TCP_ACK, 0, 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

static void a_window_that_closes_on_data_in_flight(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 1000);
    peer_expect(&t, TCP_ACK, 0, 0, 1000);
    t.window = 0;
    peer_data(&t, 0, 1);  // shrunk: the peer took nothing
    peer_drain(&t);
    for (int i = 0; i < 5; i++) {
        wait_for_segment(&t, 100 * SECOND);
        assert_int_equal(t.got_seq, 0);
        assert_int_equal(t.got.length, 1);
        peer_send(&t, TCP_ACK, 1, 0);
        peer_drain(&t);
    }
    t.window = 65535;
    peer_send(&t, TCP_ACK, 1, 0);
    peer_expect(&t, TCP_ACK, 0, 1, 1000);
    peer_send(&t, TCP_ACK, 1, 1000);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

static void corked_data_is_probed_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_CORK, 1), WEIR_OK);
    close_window(&t);
    user_write(&t, 0, 3000);
    wait_for_segment(&t, 10 * SECOND);
    assert_int_equal(t.got.length, 1);
    tcp_fixture_close(&t);
}

// --- ends ------------------------------------------------------------------------------------------------------------

static void fin_wait_2_without_an_owner_ends(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_2, &plain);
    peer_pass(&t, 24 * 3600 * SECOND);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);  // shut down only: the user may wait as long as it likes
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    peer_pass(&t, (WEIR_CFG_TCP_FIN_WAIT_2_S - 2) * SECOND);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    peer_pass(&t, 5 * SECOND);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    peer_pass(&t, 2 * WEIR_CFG_TCP_MSL_MS * 1000 + SECOND);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void an_unacknowledged_fin_is_given_up(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LAST_ACK, &plain);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    peer_pass(&t, 1100 * SECOND);
    assert_true(peer_drain_count(&t) > 8);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void memory_is_let_go_when_idle(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_pass(&t, 5 * SECOND);
    const uint64_t before = weir_memory_used(t.weir);
    user_write(&t, 0, 10 * 1460);
    peer_data(&t, 0, 1000);
    peer_data(&t, 2000, 1000);
    peer_data(&t, 1000, 1000);
    peer_send(&t, TCP_ACK, 3000, 5 * 1460);
    peer_send(&t, TCP_ACK, 3000, 10 * 1460);
    assert_true(weir_memory_used(t.weir) > before || !WEIR_CFG_ALLOCATOR);
    assert_int_equal(user_read(&t, 0, 5000), 3000);
    peer_pass(&t, 5 * SECOND);
    const struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_null(c->flow);
    assert_null(c->send);
    assert_null(c->receive);
    assert_null(c->extra);
    peer_drain(&t);
    assert_int_equal(peer_pass(&t, 100 * SECOND), WEIR_NEVER);  // an idle connection has no timer
    user_write(&t, 14600, 100);
    peer_expect(&t, TCP_ACK, 14600, 3000, 100);
    peer_data(&t, 3000, 100);
    assert_int_equal(user_read(&t, 3000, 5000), 100);
    tcp_fixture_close(&t);
}

// The low 32 bits of the clock wrap six seconds after open: timers set before fire after.
static void timers_survive_the_wrap_of_the_clock(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const uint64_t wrap = UINT64_C(0x100000000);
    assert_true(t.f.now_us < wrap - SECOND);
    peer_pass(&t, wrap - 100000 - t.f.now_us);
    user_write(&t, 0, 100);
    peer_drain(&t);
    assert_in_range(wait_for_segment(&t, 10 * SECOND), RTO_MS * 1000, RTO_MS * 1000 + 5000);
    assert_true(t.f.now_us > wrap);
    peer_send(&t, TCP_ACK, 0, 100);
    // Round the clock once more, with a delayed ACK across the wrap.
    quick_acks_over(&t);
    peer_pass(&t, 2 * wrap - 10000 - t.f.now_us);
    peer_drain(&t);
    peer_data(&t, 0, 10);
    peer_expect_nothing(&t);
    assert_in_range(wait_for_segment(&t, SECOND), 1000, 499999);
    assert_int_equal(t.got_ack, 10);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_timeout_doubles),
        cmocka_unit_test(the_floor_is_the_sockets),
        cmocka_unit_test(a_new_floor_is_for_what_comes),
        cmocka_unit_test(back_off_stays_until_a_sample),
        cmocka_unit_test(timestamps_time_a_retransmission),
        cmocka_unit_test(a_syn_is_repeated_for_three_minutes),
        cmocka_unit_test(a_lost_syn_makes_the_first_timeout_three_seconds),
        cmocka_unit_test(a_lost_syn_is_timed_by_its_timestamp),
        cmocka_unit_test(an_ack_waits_less_than_half_a_second),
        cmocka_unit_test(every_second_full_segment_is_acknowledged),
        cmocka_unit_test(the_ack_of_a_fin_goes_with_ours),
        cmocka_unit_test(the_ack_of_a_fin_that_leaves_at_once),
        cmocka_unit_test(no_ack_is_delayed_after_a_loss),
        cmocka_unit_test(a_batch_gets_one_ack),
        cmocka_unit_test(a_closed_window_is_probed_for_ever),
        cmocka_unit_test(a_peer_that_never_answers_probes_is_given_up),
        cmocka_unit_test(a_user_timeout_ends_a_closed_window),
        cmocka_unit_test(a_quiet_hour_is_not_held_against_the_peer),
        cmocka_unit_test(a_fin_behind_a_closed_window_is_repeated),
        cmocka_unit_test(a_window_that_closes_on_data_in_flight),
        cmocka_unit_test(corked_data_is_probed_too),
        cmocka_unit_test(fin_wait_2_without_an_owner_ends),
        cmocka_unit_test(an_unacknowledged_fin_is_given_up),
        cmocka_unit_test(memory_is_let_go_when_idle),
        cmocka_unit_test(timers_survive_the_wrap_of_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
