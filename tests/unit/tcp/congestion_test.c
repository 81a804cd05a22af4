// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: its congestion controls stand beside reno
// What congestion control is told: one sample for each acknowledgement that brings news, and the events, each as
// weir/cc.h promises it.
#include "tcp/probe.h"
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define MSS 1460u
#define RTT_US 20000u

static void bring(struct tcp_fixture *t, uint32_t segments)
{
    probe_reset();
    probe.cwnd = segments * MSS;
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    // One without rate samples, in which app_limited speaks of the sample (rate_test.c).
    assert_int_equal(weir_socket_set_congestion(t->weir, t->socket, "plain"), WEIR_OK);
    tcp_fixture_conn(t)->rtt.srtt8_us = 8 * 200000;  // the handshake took no time: no tail probe shall come in between
    peer_drain(t);
}

// --- events ----------------------------------------------------------------------------------------------------------

static void it_begins_once_with_the_first_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    assert_int_equal(probe.events[WEIR_CC_INIT], 0);  // a connection that only opened has no use for it
    for (uint32_t i = 0; i < 3; i++)
        user_write(&t, i * 100, 100);
    assert_int_equal(probe.events[WEIR_CC_INIT], 1);
    assert_int_equal(probe.event_sample.mss, MSS);
    assert_int_equal(probe.event_sample.inflight, 0);
    tcp_fixture_close(&t);
}

static void recovery_is_told_with_what_was_in_flight_before_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    user_write(&t, 0, 10 * MSS);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 4 * MSS});
    assert_int_equal(probe.events[WEIR_CC_ENTER_RECOVERY], 1);
    assert_int_equal(probe.event, WEIR_CC_ENTER_RECOVERY);
    assert_int_equal(probe.event_sample.inflight, 10 * MSS);  // FlightSize, RFC 5681 equation 4: SACKed or not
    assert_true(probe_newest()->in_recovery);
    assert_int_equal(probe_newest()->lost, MSS);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_int_equal(probe.events[WEIR_CC_EXIT_RECOVERY], 1);
    assert_int_equal(probe.events[WEIR_CC_ENTER_RECOVERY], 1);
    user_write(&t, 10 * MSS, MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 11 * MSS);
    assert_false(probe_newest()->in_recovery);
    tcp_fixture_close(&t);
}

// "The first for this data; repeats are not told."
static void of_timeouts_of_the_same_data_the_first_is_told(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    user_write(&t, 0, 3 * MSS);
    peer_pass(&t, 30000000);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_RTO) >= 3);
    assert_int_equal(probe.events[WEIR_CC_RTO], 1);
    assert_int_equal(probe.event_sample.prior_inflight, 3 * MSS);
    tcp_fixture_close(&t);
}

// --- samples ---------------------------------------------------------------------------------------------------------

static void a_sample_counts_what_the_acknowledgement_brought(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    user_write(&t, 0, 4 * MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    const struct weir_cc_sample *s = probe_newest();
    assert_int_equal(probe.count, 1);
    assert_int_equal(s->now_us, t.weir->now);
    assert_int_equal(s->acked, 2 * MSS);
    assert_int_equal(s->acked_again, 0);
    assert_int_equal(s->acked_segments, 2);
    assert_int_equal(s->sacked, 0);
    assert_int_equal(s->lost, 0);
    assert_int_equal(s->prior_inflight, 4 * MSS);
    assert_int_equal(s->inflight, 2 * MSS);
    assert_int_equal(s->mss, MSS);
    assert_in_range(s->rtt_us, RTT_US, RTT_US + 8);  // the flight log rounds to 8 µs
    assert_int_equal(s->srtt_us, rtt_smoothed(&tcp_fixture_conn(&t)->rtt));
    assert_false(s->in_recovery);
    tcp_fixture_close(&t);
}

// An acknowledgement within a segment stands for one; beyond full segments for one more.
static void segments_are_rounded_up(void **state)
{
    static const uint32_t rows[][2] = {{1, 1}, {MSS, 1}, {MSS + 1, 2}, {3 * MSS - 1, 3}, {3 * MSS, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct tcp_fixture t;
        bring(&t, 10);
        user_write(&t, 0, 4 * MSS);
        peer_pass(&t, RTT_US);
        peer_send(&t, TCP_ACK, 0, rows[i][0]);
        assert_int_equal(probe_newest()->acked, rows[i][0]);
        assert_int_equal(probe_newest()->acked_segments, rows[i][1]);
        tcp_fixture_close(&t);
    }
}

// What was SACKed left the network then, and is no reason to grow when it is acknowledged.
static void what_was_sacked_before_is_told_apart(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    user_write(&t, 0, 4 * MSS);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 1, (uint32_t[]){2 * MSS, 4 * MSS});
    assert_int_equal(probe_newest()->acked, 0);
    assert_int_equal(probe_newest()->acked_segments, 0);
    assert_int_equal(probe_newest()->sacked, 2 * MSS);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    assert_int_equal(probe_newest()->acked, 4 * MSS);
    assert_int_equal(probe_newest()->acked_again, 2 * MSS);
    assert_int_equal(probe_newest()->sacked, 0);
    assert_int_equal(probe_newest()->inflight, 0);
    tcp_fixture_close(&t);
}

// Karn: of a segment that went twice nobody knows which was answered.
static void what_was_sent_again_gives_no_round_trip(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    user_write(&t, 0, MSS);
    peer_pass(&t, 2000000);
    assert_true(fixture_count(&t.f, WEIR_COUNT_TCP_RETRANSMITTED) >= 1);
    peer_send(&t, TCP_ACK, 0, MSS);
    assert_int_equal(probe_newest()->acked, MSS);
    assert_int_equal(probe_newest()->rtt_us, 0);
    tcp_fixture_close(&t);
}

// Only a window that was used may grow (RFC 7661): it stopped data, or slow start has used half of it.
static void the_window_limits_where_it_stopped_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 4);
    user_write(&t, 0, 6 * MSS);  // two segments wait
    assert_int_equal(peer_drain_count(&t), 4);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, MSS);
    assert_true(probe_newest()->cwnd_limited && !probe_newest()->app_limited);
    tcp_fixture_close(&t);
}

static void the_application_limits_where_it_writes_little(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    for (uint32_t i = 0; i < 3; i++) {
        user_write(&t, i * MSS, MSS);
        peer_pass(&t, RTT_US);
        peer_send(&t, TCP_ACK, 0, (i + 1) * MSS);
        assert_true(probe_newest()->app_limited && !probe_newest()->cwnd_limited);
    }
    user_write(&t, 3 * MSS, 6 * MSS);  // more than half of the window, in slow start
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 9 * MSS);
    assert_true(probe_newest()->cwnd_limited);
    tcp_fixture_close(&t);
}

// What says that it only grows need not hear, in the first slow start, of an acknowledgement by which it may not;
// afterwards of each.
static void what_only_grows_hears_where_it_may(void **state)
{
    static const struct weir_cc grower = {
        .name = "grower", .only_grows = true, .owns_slow_start = true, .ack = probe_ack, .event = probe_event};
    struct tcp_fixture t;
    (void)state;
    bring(&t, 10);
    assert_int_equal(weir_cc_register(t.weir, &grower), WEIR_OK);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "grower"), WEIR_OK);
    user_write(&t, 0, MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, MSS);  // the application limits
    assert_int_equal(probe.count, 0);
    user_write(&t, MSS, 12 * MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);  // the window does
    assert_int_equal(probe.count, 1);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 13 * MSS);
    tcp_fixture_conn(&t)->flow->window.ssthresh = 5 * MSS;
    const uint32_t before = probe.count;
    user_write(&t, 13 * MSS, MSS);
    peer_pass(&t, RTT_US);
    peer_send(&t, TCP_ACK, 0, 14 * MSS);
    assert_int_equal(probe.count, before + 1);
    assert_true(probe_newest()->app_limited);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_begins_once_with_the_first_data),
        cmocka_unit_test(recovery_is_told_with_what_was_in_flight_before_it),
        cmocka_unit_test(of_timeouts_of_the_same_data_the_first_is_told),
        cmocka_unit_test(a_sample_counts_what_the_acknowledgement_brought),
        cmocka_unit_test(segments_are_rounded_up),
        cmocka_unit_test(what_was_sacked_before_is_told_apart),
        cmocka_unit_test(what_was_sent_again_gives_no_round_trip),
        cmocka_unit_test(the_window_limits_where_it_stopped_data),
        cmocka_unit_test(the_application_limits_where_it_writes_little),
        cmocka_unit_test(what_only_grows_hears_where_it_may),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
