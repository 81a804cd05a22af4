// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: its congestion controls stand beside reno
// Delivery-rate samples: what they say, when there is none, what an idle application does to them, and what they come
// to on a link.
#include "pair.h"
#include "tcp/probe.h"
#include "tcp/tcp_fixture.h"

#include "tcp/internal.h"

#define MSS 1460u

static void bring(struct tcp_fixture *t)
{
    probe_reset();
    probe.cwnd = 40 * MSS;
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
    tcp_fixture_conn(t)->rtt.srtt8_us = 8 * 200000;  // the handshake took no time: no tail probe shall come in between
    peer_drain(t);
}

static void acked(struct tcp_fixture *t, uint32_t upto) { peer_send(t, TCP_ACK, 0, upto); }

// --- the sample ------------------------------------------------------------------------------------------------------

// Four segments at once, acknowledged by two and two, 1 ms apart: the first two took a round trip, all four one
// millisecond longer.
static void a_sample_counts_from_what_was_delivered_when_the_segment_left(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 4 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 2 * MSS);
    assert_int_equal(probe_newest()->delivered, 2 * MSS);
    assert_in_range(probe_newest()->interval_us, 20000, 20008);
    peer_pass(&t, 1000);
    acked(&t, 4 * MSS);
    assert_int_equal(probe_newest()->delivered, 4 * MSS);
    assert_in_range(probe_newest()->interval_us, 21000, 21008);
    assert_int_equal(probe_newest()->tx_inflight, 4 * MSS);
    assert_int_equal(probe_newest()->total_delivered - probe_newest()->prior_delivered, 4 * MSS);
    tcp_fixture_close(&t);
}

// ! max(send interval, ack interval): acknowledgements that were held up and come all at once do not make the path
// faster.
static void acknowledgements_compressed_on_their_way_are_not_a_faster_path(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    for (uint32_t i = 0; i < 30; i++) {  // a segment each 2 ms; the acknowledgements are held up
        user_write(&t, i * MSS, MSS);
        peer_pass(&t, 2000);
    }
    acked(&t, MSS);  // the first comes after 60 ms
    user_write(&t, 30 * MSS, MSS);
    peer_pass(&t, 20000);
    acked(&t, 31 * MSS);  // the others all at once: thirty segments in 20 ms, but they were sent in 60
    assert_int_equal(probe_newest()->delivered, 30 * MSS);
    assert_in_range(probe_newest()->interval_us, 60000, 60008);
    tcp_fixture_close(&t);
}

// Data that left in a burst, and was acknowledged at the path's pace, is measured by that pace.
static void a_burst_sent_is_not_a_faster_path(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 20 * MSS);
    peer_pass(&t, 20000);
    for (uint32_t i = 1; i <= 20; i++) {
        acked(&t, i * MSS);
        assert_int_equal(probe_newest()->delivered, i * MSS);
        assert_in_range(probe_newest()->interval_us, 20000 + (i - 1) * 1000, 20008 + (i - 1) * 1000);
        peer_pass(&t, 1000);
    }
    tcp_fixture_close(&t);
}

// ! Shorter than the smallest round trip: what came was not what was just sent.
static void a_sample_shorter_than_the_smallest_round_trip_is_none(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 8 * MSS);
    peer_pass(&t, 20000);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 7 * MSS});  // the first is missing, and goes again
    assert_true(probe_newest()->interval_us >= 20000);
    const uint32_t samples = probe.count;
    tcp_fixture_conn(&t)->rtt.min_us = 20100;  // as if the handshake had taken that
    peer_pass(&t, 500);
    acked(&t, 7 * MSS);  // too soon to be of the repetition
    assert_int_equal(probe.count, samples + 1);
    assert_int_equal(probe_newest()->interval_us, 0);
    tcp_fixture_close(&t);
}

// Under a clock coarser than the round trip no sample says anything within a tick. How many round trips fit between two
// ticks does: of the rate, and of how long one of them takes.
static void a_coarse_clock_measures_by_the_round_trips_between_its_ticks(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    t.f.port.granularity_us = 10000;
    tcp_fixture_conn(&t)->rtt.min_us = 1;
    for (uint32_t round = 1; round <= 6; round++) {
        user_write(&t, (round - 1) * 2 * MSS, 2 * MSS);
        if (round == 6)
            peer_pass(&t, 10000);
        acked(&t, round * 2 * MSS);
        assert_true(probe_newest()->clock_coarse);
        assert_int_equal(probe_newest()->interval_us, round == 6 ? 10000 : 0);
    }
    assert_int_equal(probe_newest()->delivered, 10 * MSS);
    assert_int_equal(probe_newest()->rtt_us, 2000);
    assert_int_equal(probe_newest()->min_rtt_us, 2000);
    // A tick that saw too few goes on with the next.
    for (uint32_t round = 7; round <= 10; round++) {
        user_write(&t, (round - 1) * 2 * MSS, 2 * MSS);
        peer_pass(&t, 10000);
        acked(&t, round * 2 * MSS);
        assert_int_equal(probe_newest()->interval_us, round == 10 ? 40000 : 0);
        assert_int_equal(probe_newest()->min_rtt_us, 2000);
    }
    assert_int_equal(probe_newest()->rtt_us, 10000);
    tcp_fixture_close(&t);
}

static void what_is_sacked_is_delivered_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 6 * MSS);
    peer_pass(&t, 20000);
    const uint32_t before = tcp_fixture_conn(&t)->snd.una;
    peer_sack(&t, MSS, 1, (uint32_t[]){2 * MSS, 4 * MSS});
    assert_int_equal(probe_newest()->total_delivered, before + 3 * MSS);
    assert_int_equal(probe_newest()->delivered, 3 * MSS);
    peer_pass(&t, 1000);
    acked(&t, 5 * MSS);
    assert_int_equal(probe_newest()->total_delivered, before + 5 * MSS);
    tcp_fixture_close(&t);
}

static void a_segment_sent_again_counts_from_then(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 8 * MSS);
    peer_pass(&t, 20000);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 6 * MSS});  // the first is lost and goes again
    const uint32_t delivered_then = probe_newest()->total_delivered;
    peer_pass(&t, 20000);
    acked(&t, 6 * MSS);
    assert_int_equal(probe_newest()->prior_delivered, delivered_then);
    assert_int_equal(probe_newest()->delivered, MSS);
    assert_in_range(probe_newest()->interval_us, 20000, 20008);
    assert_int_equal(probe_newest()->tx_inflight, 0);  // not known
    assert_true(probe_newest()->total_lost >= MSS);
    tcp_fixture_close(&t);
}

// What a timeout takes for lost is lost once.
static void a_timeout_counts_what_is_lost_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 4 * MSS);
    for (uint32_t waits = 0; !fixture_count(&t.f, WEIR_COUNT_TCP_RTO); waits++) {
        assert_in_range(waits, 0, 1000);  // without memory there is no segment that could be late
        peer_pass(&t, 10000);
    }
    acked(&t, MSS);
    assert_int_equal(probe_newest()->total_lost, 4 * MSS);
    tcp_fixture_close(&t);
}

// ! Rounds are counted by what was delivered, not by time: three acknowledgements of one flight are one round, however
// far apart.
static void rounds_are_counted_by_delivered_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 6 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 2 * MSS);
    assert_true(probe_newest()->round_start);
    user_write(&t, 6 * MSS, 2 * MSS);
    peer_pass(&t, 100000);
    acked(&t, 4 * MSS);
    assert_false(probe_newest()->round_start);
    acked(&t, 6 * MSS);
    assert_false(probe_newest()->round_start);
    acked(&t, 8 * MSS);  // sent after the first acknowledgement
    assert_true(probe_newest()->round_start);
    tcp_fixture_close(&t);
}

// --- the application -------------------------------------------------------------------------------------------------

// ! Marked on every idle bubble, until what is sent in it is delivered.
static void what_follows_an_idle_bubble_measures_the_application(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 2 * MSS);  // a flow begins: nothing was sent before
    peer_pass(&t, 20000);
    acked(&t, 2 * MSS);
    assert_true(probe_newest()->app_limited);
    user_write(&t, 2 * MSS, 2 * MSS);  // everything was acknowledged: the network had waited
    peer_pass(&t, 20000);
    acked(&t, 4 * MSS);
    assert_true(probe_newest()->app_limited);
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(t.weir, t.socket, &info), WEIR_OK);
    assert_true(info.delivery_rate_app_limited);
    tcp_fixture_close(&t);
}

// cwnd holds the data back: the application has not paused, though it writes now and then.
static void a_full_window_is_no_idle_bubble(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    probe.cwnd = 4 * MSS;
    user_write(&t, 0, 2 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 2 * MSS);
    user_write(&t, 2 * MSS, 20 * MSS);
    for (uint32_t i = 2; i <= 10; i++) {
        peer_pass(&t, 20000);
        acked(&t, 2 * i * MSS);
        if (i > 3)
            assert_false(probe_newest()->app_limited);
        user_write(&t, (18 + 2 * i) * MSS, 2 * MSS);
    }
    tcp_fixture_close(&t);
}

static void an_algorithm_that_wants_no_rate_is_told_none(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "plain"), WEIR_OK);
    user_write(&t, 0, 4 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 4 * MSS);
    assert_int_equal(probe.count, 1);
    assert_int_equal(probe_newest()->delivered, 0);
    assert_int_equal(probe_newest()->interval_us, 0);
    assert_int_equal(probe_newest()->total_delivered, 0);
    assert_false(probe_newest()->round_start);
    tcp_fixture_close(&t);
}

// --- a switch on a live connection -----------------------------------------------------------------------------------

static void an_algorithm_that_takes_over_in_flight_measures_from_then_on(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "plain"), WEIR_OK);
    user_write(&t, 0, 8 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 2 * MSS);
    user_write(&t, 8 * MSS, 2 * MSS);
    peer_pass(&t, 300);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "probe"), WEIR_OK);
    peer_pass(&t, 30000);
    acked(&t, 10 * MSS);
    assert_int_equal(probe_newest()->delivered, 8 * MSS);
    assert_in_range(probe_newest()->interval_us, 30000, 30008);
    // Back again, nothing of the pacing stays.
    probe.pacing_rate = 100000;
    user_write(&t, 10 * MSS, 4 * MSS);
    peer_pass(&t, 300000);
    acked(&t, 12 * MSS);
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(t.weir, t.socket, &info), WEIR_OK);
    assert_int_equal(info.pacing_rate, 100000);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    assert_int_equal(weir_socket_tcp_info(t.weir, t.socket, &info), WEIR_OK);
    assert_int_equal(info.pacing_rate, 0);
    peer_pass(&t, 100000);
    acked(&t, 14 * MSS);
    peer_drain(&t);
    user_write(&t, 14 * MSS, 8 * MSS);
    assert_int_equal(peer_drain_count(&t), 8);
    tcp_fixture_close(&t);
}

// In the middle of a recovery that the last algorithm owned: the next one gets a threshold before recovery's end sets
// cwnd to it.
static void a_switch_in_recovery_leaves_a_threshold(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring(&t);
    user_write(&t, 0, 20 * MSS);
    peer_pass(&t, 20000);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 10 * MSS});
    struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_true(c->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(c->flow->window.ssthresh, WEIR_CC_UNLIMITED);
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    assert_true(c->flow->window.ssthresh <= 20 * MSS);
    peer_pass(&t, 20000);
    acked(&t, 20 * MSS);
    assert_false(c->attention & ATTEND_FAST_RECOVERY);
    assert_true(c->flow->window.cwnd <= 20 * MSS);
    tcp_fixture_close(&t);
}

// --- on a link -------------------------------------------------------------------------------------------------------

struct transfer {
    struct pair pair;
    weir_socket client, server;
};

static bool keep_busy(void *context)
{
    static uint8_t bytes[65536];
    struct transfer *x = context;
    while (weir_socket_write(x->pair.a.weir, x->client, bytes, sizeof bytes) > 0)
        ;
    while (weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes) > 0)
        ;
    return false;
}

// 1448 bytes of data in 1514 on the line.
static void the_rate_is_the_links(uint32_t line_rate)
{
    struct transfer x;
    memset(&x, 0, sizeof x);
    probe_reset();
    probe.cwnd = line_rate / 50 + line_rate / 100;  // half a bandwidth-delay product waits in the queue
    pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 10000, .rate = line_rate},
                                              .back = &(struct pair_link){.delay_us = 10000},
                                              .a = {.mode = FIXTURE_PLAIN},
                                              .b = {.mode = FIXTURE_PLAIN}});
    pair_connect(&x.pair, 7, &x.client, &x.server);
    assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_SEND_BUFFER, 4 << 20), WEIR_OK);
    pair_run_until(&x.pair, keep_busy, &x, 400000);
    const uint32_t first = probe.count;
    pair_run_until(&x.pair, keep_busy, &x, 600000);
    const double expected = (double)line_rate * 1448 / 1514;
    uint32_t near = 0, all = 0;
    for (uint32_t i = first; i < probe.count; i++) {
        const struct weir_cc_sample *s = &probe.sample[i % PROBE_SAMPLES];
        if (!s->interval_us || s->app_limited || probe.count - i > PROBE_SAMPLES)
            continue;
        const double rate = (double)s->delivered * 1e6 / s->interval_us;
        assert_true(rate < expected * 1.02);
        near += rate > expected * 0.98;
        all++;
    }
    print_message("%u Mbit/s: %u of %u samples within 2 %% of the link's rate\n", line_rate / 125000, near, all);
    assert_true(all > 100);
    assert_int_equal(near, all);
    pair_close(&x.pair);
}

static void samples_are_within_two_percent_of_the_links_rate(void **state)
{
    (void)state;
    the_rate_is_the_links(1250000);
    the_rate_is_the_links(12500000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_counts_from_what_was_delivered_when_the_segment_left),
        cmocka_unit_test(acknowledgements_compressed_on_their_way_are_not_a_faster_path),
        cmocka_unit_test(a_burst_sent_is_not_a_faster_path),
        cmocka_unit_test(a_sample_shorter_than_the_smallest_round_trip_is_none),
        cmocka_unit_test(a_coarse_clock_measures_by_the_round_trips_between_its_ticks),
        cmocka_unit_test(what_is_sacked_is_delivered_once),
        cmocka_unit_test(a_segment_sent_again_counts_from_then),
        cmocka_unit_test(a_timeout_counts_what_is_lost_once),
        cmocka_unit_test(rounds_are_counted_by_delivered_data),
        cmocka_unit_test(what_follows_an_idle_bubble_measures_the_application),
        cmocka_unit_test(a_full_window_is_no_idle_bubble),
        cmocka_unit_test(an_algorithm_that_wants_no_rate_is_told_none),
        cmocka_unit_test(an_algorithm_that_takes_over_in_flight_measures_from_then_on),
        cmocka_unit_test(a_switch_in_recovery_leaves_a_threshold),
        cmocka_unit_test(samples_are_within_two_percent_of_the_links_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
