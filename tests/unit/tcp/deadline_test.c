// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Sending with a deadline: what a segment carries again, when, and what the congestion control hears of it.
// profiles: small
#include "pair.h"
#include "tcp/loss_fixture.h"

#define FRAME 160u
#define DEADLINE_US 40000
// Half a round trip, an eighth, two milliseconds and a tick before the deadline.
#define CHANCE_US (DEADLINE_US - RTT_US / 2 - RTT_US / 8 - 2001)
#define PATIENCE_US (RTT_US + RTT_US / 4 + 2001)

static void bring(struct tcp_fixture *t, int32_t deadline_us)
{
    loss_bring(t, NULL);
    assert_int_equal(weir_socket_set(t->weir, t->socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    assert_int_equal(weir_socket_set(t->weir, t->socket, WEIR_OPTION_SEND_DEADLINE_US, deadline_us), WEIR_OK);
}

// Frame number `number`.
static void frame(struct tcp_fixture *t, uint32_t number) { user_write(t, number * FRAME, FRAME); }
// The next segment has frames [from, to), whole.
static void expect_frames(struct tcp_fixture *t, uint32_t from, uint32_t to)
{
    peer_expect(t, TCP_ACK, from * FRAME, 0, (to - from) * FRAME);
    for (uint32_t i = 0; i < t->got.length; i++)
        assert_int_equal(t->got_data[i], peer_pattern(from * FRAME + i));
}

// Nothing, for so long but for the last tick and what the timers' wheel may be late.
static void quiet_for(struct tcp_fixture *t, uint32_t us)
{
    peer_pass(t, us - 200);
    peer_expect_nothing(t);
    peer_pass(t, 200 + 2200);
}

// --- bundles ---------------------------------------------------------------------------------------------------------

static void a_segment_begins_with_what_is_not_acknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    frame(&t, 1);
    expect_frames(&t, 0, 2);
    peer_send(&t, TCP_ACK, 0, FRAME);
    frame(&t, 2);
    expect_frames(&t, 1, 3);
    peer_send(&t, TCP_ACK, 0, 3 * FRAME);
    frame(&t, 3);
    expect_frames(&t, 3, 4);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// Nine frames are 1440 bytes. Those were written at one time stay together.
static void no_more_than_a_segment_and_whole_frames(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    for (uint32_t i = 0; i < 12; i++) {
        frame(&t, i);
        expect_frames(&t, i > 8 ? i - 8 : 0, i + 1);
        peer_pass(&t, 1000);
    }
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void what_the_peer_holds_is_not_carried_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    for (uint32_t i = 0; i < 4; i++, peer_pass(&t, 1000))
        frame(&t, i);
    peer_pass(&t, RTT_US - 4000);
    peer_drain(&t);
    peer_sack(&t, FRAME, 1, (uint32_t[]){2 * FRAME, 3 * FRAME});
    frame(&t, 4);
    expect_frames(&t, 1, 5);  // a hole before what it holds is worth more than those bytes
    peer_send(&t, TCP_ACK, 0, 3 * FRAME);
    frame(&t, 5);
    expect_frames(&t, 3, 6);
    peer_sack(&t, 3 * FRAME, 1, (uint32_t[]){5 * FRAME, 6 * FRAME});
    peer_send(&t, TCP_ACK, 0, 5 * FRAME);
    peer_drain(&t);
    frame(&t, 6);
    expect_frames(&t, 6, 7);
    tcp_fixture_close(&t);
}

static void the_peers_window_is_the_limit_as_ever(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    t.window = 2 * FRAME + 40;
    peer_send(&t, TCP_ACK, 0, FRAME);
    frame(&t, 1);
    frame(&t, 2);
    expect_frames(&t, 1, 2);
    expect_frames(&t, 1, 3);
    frame(&t, 3);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void a_segment_with_sack_blocks_has_less_room(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    peer_data(&t, 1000, 10);
    peer_drain(&t);
    for (uint32_t i = 0; i < 9; i++, peer_pass(&t, 1000)) {
        frame(&t, i);
        expect_frames(&t, i > 8 ? i - 8 : 0, i + 1);
    }
    user_write(&t, 9 * FRAME, 20);
    peer_expect(&t, TCP_ACK, FRAME, 0, 8 * FRAME + 20);
    tcp_fixture_close(&t);
}

static void the_end_of_the_stream_is_bundled_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_CORK, 1), WEIR_OK);
    frame(&t, 1);
    peer_expect_nothing(&t);
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t.f, 0);
    peer_expect(&t, TCP_ACK | TCP_FIN, 0, 0, 2 * FRAME);
    peer_send(&t, TCP_ACK, 0, 2 * FRAME + 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

static void without_a_deadline_each_byte_goes_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 0);
    for (uint32_t i = 0; i < 5; i++) {
        frame(&t, i);
        expect_frames(&t, i, i + 1);
    }
    assert_null(tcp_fixture_conn(&t)->extra);  // nor does it cost memory
    peer_pass(&t, 2 * RTT_US);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// --- chances ---------------------------------------------------------------------------------------------------------

static void the_last_moment_is_used(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, DEADLINE_US);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    peer_pass(&t, 20000);
    frame(&t, 1);
    expect_frames(&t, 0, 2);
    quiet_for(&t, CHANCE_US - 20000);
    expect_frames(&t, 0, 2);
    // The second has its own, when the first is acknowledged.
    peer_send(&t, TCP_ACK, 0, FRAME);
    quiet_for(&t, 20000 - 2200);
    expect_frames(&t, 1, 2);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, RETRANSMITTED), 2);
    tcp_fixture_close(&t);
}

static void what_is_acknowledged_needs_no_chance(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, DEADLINE_US);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, FRAME);
    peer_pass(&t, 1000000);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// With time left: two segments leave, and after a round trip without news the first goes again, since its
// acknowledgement tells of all.
static void repeat_the_first_of_two(struct tcp_fixture *t)
{
    bring(t, 500000);
    user_write(t, 0, 2 * MSS);
    assert_int_equal(peer_drain_count(t), 2);
    quiet_for(t, PATIENCE_US);
    peer_expect(t, TCP_ACK, 0, 0, MSS);
}

// Each round trip without news is one.
static void a_round_trip_without_news_is_one_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    repeat_the_first_of_two(&t);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// As long as no round trip was measured since, it may be the path that has become slower: the next has twice the time.
static void what_is_given_up_gives_the_next_twice_the_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    repeat_the_first_of_two(&t);
    peer_send(&t, TCP_ACK, 0, MSS);  // of either of the two
    quiet_for(&t, PATIENCE_US - 2200);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    // What nothing was repeated of is a measure again.
    user_write(&t, 2 * MSS, MSS);
    peer_expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    user_write(&t, 3 * MSS, MSS);
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
    quiet_for(&t, PATIENCE_US);
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
    assert_int_equal(counted(&t, RTO), 0);
    tcp_fixture_close(&t);
}

// --- the timeout -----------------------------------------------------------------------------------------------------

static uint32_t segments_until(struct tcp_fixture *t, uint32_t us)
{
    const uint64_t end = t->f.now_us + us;
    uint32_t count = 0;
    while (t->f.now_us < end) {
        peer_pass(t, 1000);
        count += peer_drain_count(t);
    }
    return count;
}

static void the_timeout_does_not_double_before_the_deadline(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    assert_int_equal(tcp_deadline_rto(tcp_fixture_conn(&t)), 2 * RTT_US);
    frame(&t, 0);
    expect_frames(&t, 0, 1);
    assert_in_range(segments_until(&t, 500000), 12, 25);
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 0);
    // Then it does, as for everyone.
    assert_in_range(segments_until(&t, 1000000), 3, 6);
    assert_in_range(segments_until(&t, 8000000), 2, 4);
    tcp_fixture_close(&t);
}

static void the_least_timeout_is_thirty_milliseconds_or_what_the_socket_says(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * 1000;
    assert_int_equal(tcp_deadline_rto(tcp_fixture_conn(&t)), 30000);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 8 * 100000;
    assert_int_equal(tcp_deadline_rto(tcp_fixture_conn(&t)), 200000);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RTO_MIN_US, 10000), WEIR_OK);
    assert_int_equal(tcp_deadline_rto(tcp_fixture_conn(&t)), 110000);
    tcp_fixture_close(&t);
}

// --- congestion control ----------------------------------------------------------------------------------------------

static void peer_reports(struct tcp_fixture *t, uint32_t ack, uint32_t left, uint32_t right)
{
    peer_sack(t, ack * FRAME, 1, (uint32_t[]){left * FRAME, right * FRAME});
}

static void a_loss_that_a_bundle_mends_counts_once_a_round(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    for (uint32_t i = 0; i < 5; i++, peer_pass(&t, 1000))
        frame(&t, i);
    peer_send(&t, TCP_ACK, 0, 2 * FRAME);  // the first was lost
    assert_in_range(flow(&t)->window.cwnd, 2 * MSS, 7 * MSS);
    flow(&t)->window.cwnd = 10 * MSS;
    peer_send(&t, TCP_ACK, 0, 4 * FRAME);  // another, in the same round
    assert_in_range(flow(&t)->window.cwnd, 10 * MSS, 11 * MSS);
    for (uint32_t i = 5; i < 7; i++, peer_pass(&t, 1000))
        frame(&t, i);
    peer_send(&t, TCP_ACK, 0, 5 * FRAME);
    assert_in_range(flow(&t)->window.cwnd, 10 * MSS, 11 * MSS);
    peer_send(&t, TCP_ACK, 0, 7 * FRAME);
    assert_in_range(flow(&t)->window.cwnd, 2 * MSS, 7 * MSS);
    tcp_fixture_close(&t);
}

static void a_bundle_that_was_not_needed_is_no_loss(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 500000);
    const uint32_t before = flow(&t)->window.cwnd;
    for (uint32_t i = 0; i < 3; i++, peer_pass(&t, 1000))
        frame(&t, i);
    peer_reports(&t, 2, 0, 1);  // only the acknowledgement of the first was lost
    peer_reports(&t, 3, 0, 2);
    assert_true(flow(&t)->window.cwnd >= before);
    assert_int_equal(flow(&t)->rack.multiplier, 0);
    tcp_fixture_close(&t);
}

static void a_chance_that_was_needed_is_a_loss(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, DEADLINE_US);
    const uint32_t before = flow(&t)->window.cwnd, srtt = rtt_smoothed(&tcp_fixture_conn(&t)->rtt);
    frame(&t, 0);
    peer_pass(&t, CHANCE_US + 2200);
    assert_int_equal(peer_drain_count(&t), 2);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, FRAME);
    assert_true(flow(&t)->window.cwnd < before);
    assert_int_equal(rtt_smoothed(&tcp_fixture_conn(&t)->rtt), srtt);  // Karn
    tcp_fixture_close(&t);
}

// --- the option ------------------------------------------------------------------------------------------------------

static void set_before(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_SEND_DEADLINE_US, 60000), WEIR_OK);
}

static void the_option_is_kept_and_inherited(void **state)
{
    struct tcp_fixture t;
    int32_t value = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true, .before = set_before});
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_SEND_DEADLINE_US, &value), WEIR_OK);
    assert_int_equal(value, 60000);
    peer_pass(&t, 10000000);  // memory is let go of, but not of this
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_SEND_DEADLINE_US, &value), WEIR_OK);
    assert_int_equal(value, 60000);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_SEND_DEADLINE_US, -1), WEIR_INVALID);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_SEND_DEADLINE_US, 10000001), WEIR_INVALID);
    tcp_fixture_close(&t);
}

// --- a voice over a bad link -----------------------------------------------------------------------------------------

#define FRAMES 3000u
#define PERIOD_US 20000u

struct voice {
    struct pair pair;
    weir_socket client, server;
    uint32_t written, read;  // bytes
    uint64_t began_us;
    uint32_t within_40, within_60;
};

static bool voice_step(void *context)
{
    struct voice *v = context;
    static uint8_t bytes[FRAME];
    const uint64_t now = pair_now_us(&v->pair) - v->began_us;
    int put = 1;
    while (put > 0 && v->written < FRAMES * FRAME && v->written / FRAME * (uint64_t)PERIOD_US <= now) {
        put = weir_socket_write(v->pair.a.weir, v->client, bytes, FRAME - v->written % FRAME);
        v->written += put > 0 ? (uint32_t)put : 0;
    }
    for (int got; (got = weir_socket_read(v->pair.b.weir, v->server, bytes, FRAME - v->read % FRAME)) > 0;) {
        v->read += (uint32_t)got;
        if (v->read % FRAME)
            continue;
        const uint64_t late = now - (uint64_t)(v->read / FRAME - 1) * PERIOD_US;
        v->within_40 += late <= 40000;
        v->within_60 += late <= 60000;
    }
    return v->read == FRAMES * FRAME;
}

static struct voice *voice(int32_t deadline_us, uint64_t seed, struct voice *v)
{
    memset(v, 0, sizeof *v);
    pair_open(&v->pair, &(struct pair_options){.link = {.delay_us = 10000}, .seed = seed});
    pair_connect(&v->pair, 80, &v->client, &v->server);
    v->pair.link[0].loss_ppm = v->pair.link[1].loss_ppm = 100000;
    assert_int_equal(weir_socket_set(v->pair.a.weir, v->client, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    assert_int_equal(weir_socket_set(v->pair.a.weir, v->client, WEIR_OPTION_SEND_DEADLINE_US, deadline_us), WEIR_OK);
    v->began_us = pair_now_us(&v->pair);
    for (uint64_t i = 0; i < FRAMES * 40 && !voice_step(v); i++)
        pair_run(&v->pair, 1000);
    assert_int_equal(v->read, FRAMES * FRAME);
    return v;
}

// To a reader that reads in order, one frame in ten lost each way (10 ms).
static void a_voice_comes_through_in_time(void **state)
{
    static struct voice v;
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        voice(DEADLINE_US, seed, &v);
        if (v.within_40 < FRAMES * 995 / 1000 || v.within_60 < FRAMES * 999 / 1000)
            fail_msg("seed %u: %u in 40 ms, %u in 60", (unsigned)seed, v.within_40, v.within_60);
        assert_int_equal(weir_socket_close(v.pair.a.weir, v.client), WEIR_OK);
        assert_int_equal(weir_socket_close(v.pair.b.weir, v.server), WEIR_OK);
        pair_close(&v.pair);
        voice(0, seed, &v);
        assert_true(v.within_40 < FRAMES * 90 / 100);
        assert_int_equal(weir_socket_close(v.pair.a.weir, v.client), WEIR_OK);
        assert_int_equal(weir_socket_close(v.pair.b.weir, v.server), WEIR_OK);
        pair_close(&v.pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_segment_begins_with_what_is_not_acknowledged),
        cmocka_unit_test(no_more_than_a_segment_and_whole_frames),
        cmocka_unit_test(what_the_peer_holds_is_not_carried_again),
        cmocka_unit_test(the_peers_window_is_the_limit_as_ever),
        cmocka_unit_test(a_segment_with_sack_blocks_has_less_room),
        cmocka_unit_test(the_end_of_the_stream_is_bundled_too),
        cmocka_unit_test(without_a_deadline_each_byte_goes_once),
        cmocka_unit_test(the_last_moment_is_used),
        cmocka_unit_test(what_is_acknowledged_needs_no_chance),
        cmocka_unit_test(a_round_trip_without_news_is_one_too),
        cmocka_unit_test(what_is_given_up_gives_the_next_twice_the_time),
        cmocka_unit_test(the_timeout_does_not_double_before_the_deadline),
        cmocka_unit_test(the_least_timeout_is_thirty_milliseconds_or_what_the_socket_says),
        cmocka_unit_test(a_loss_that_a_bundle_mends_counts_once_a_round),
        cmocka_unit_test(a_bundle_that_was_not_needed_is_no_loss),
        cmocka_unit_test(a_chance_that_was_needed_is_a_loss),
        cmocka_unit_test(the_option_is_kept_and_inherited),
        cmocka_unit_test(a_voice_comes_through_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
