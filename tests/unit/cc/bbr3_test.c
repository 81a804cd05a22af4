// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// BBR version 3: the draft's constants and its example test cases, by samples made by hand; then whole flows over paths
// (bottleneck.h), beside the first model where they differ.
#include "bbr_samples.h"

// --- by hand ---------------------------------------------------------------------------------------------------------

static int setup(void **state)
{
    (void)state;
    bbr_begin(&weir_cc_bbr3);
    return 0;
}
// Through STARTUP and DRAIN to cruising at `rate`, what is in flight being its product.
static void fill(uint32_t rate)
{
    for (uint32_t i = 0; i < 6; i++)
        round_trip(rate);
    inflight_now = product(rate) - 2 * MSS;
    round_trip(rate);
    round_trip(rate);
}
// The gain in hundredths.
static uint32_t gain(uint32_t rate)
{
    return (uint32_t)((uint64_t)window.pacing_rate * 100 / (rate - rate / 100) + 1) / 5 * 5;
}
// Until the gain is such: rounds passed. CRUISE and REFILL have the same.
static uint32_t until(uint32_t rate, uint32_t wanted)
{
    uint32_t rounds = 0;
    for (; gain(rate) != wanted; rounds++) {
        assert_true(rounds < 200);
        round_trip(rate);
    }
    return rounds;
}
// A round in which so much is lost at once.
static void lossy_round(uint32_t rate, uint32_t lost)
{
    const uint32_t bytes = (uint32_t)((uint64_t)rate * RTT / SECOND / 10), prior = total;
    for (uint32_t i = 0; i < 10; i++) {
        now_us += RTT / 10;
        lost_now = i == 5 ? lost : 0;
        ack(bytes, prior, rate, RTT, i == 0);
    }
    lost_now = 0;
}

static void startup_has_its_gain_and_ends_after_three_rounds_without_growth(void **state)
{
    (void)state;
    near(window.pacing_rate, (uint32_t)(10 * MSS * 2.77 / 0.02), 5);
    uint32_t rate = 8 * MBIT;
    for (uint32_t i = 0; i < 5; i++, rate *= 2) {
        round_trip(rate);
        near(window.pacing_rate, (uint32_t)(rate * 2.77 * 0.99), 5);
    }
    rate /= 2;
    inflight_now = 3 * product(rate);
    round_trip(rate + rate / 5);  // less than a quarter more: does not count as growth
    round_trip(rate);
    near(window.pacing_rate, (uint32_t)(rate * 1.2 * 2.77 * 0.99), 5);
    round_trip(rate);
    near(window.pacing_rate, (uint32_t)(rate * 1.2 * 0.5 * 0.99), 5);
}

static void drain_ends_by_what_is_in_flight(void **state)
{
    (void)state;
    inflight_now = 3 * product(80 * MBIT);
    for (uint32_t i = 0; gain(80 * MBIT) != 50; i++) {
        assert_true(i < 6);
        round_trip(80 * MBIT);
    }
    inflight_now = product(80 * MBIT);
    ack(MSS, total - product(80 * MBIT), 80 * MBIT, RTT, false);
    assert_int_equal(gain(80 * MBIT), 100);  // DOWN is over as well: the queue is gone
}

static void drain_ends_after_three_rounds(void **state)
{
    (void)state;
    inflight_now = 3 * product(80 * MBIT);
    for (uint32_t i = 0; gain(80 * MBIT) != 50; i++) {
        assert_true(i < 6);
        round_trip(80 * MBIT);
    }
    round_trip(80 * MBIT);
    round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 50);
    round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 90);
}

// Six losses, 2 % and a round of recovery: all three.
static void startup_ends_by_loss_even_when_the_application_limits(void **state)
{
    (void)state;
    for (uint32_t losses = 5; losses <= 6; losses++) {
        setup(NULL);
        round_trip(20 * MBIT);
        app_limited = true;
        inflight_now = product(40 * MBIT);
        event(WEIR_CC_ENTER_RECOVERY);
        for (uint32_t round = 0; round < 2; round++) {
            const uint32_t prior = total;
            for (uint32_t i = 0; i < 10; i++) {
                now_us += RTT / 10;
                lost_now = round == 0 && i < losses ? MSS : 0;
                ack(5 * MSS, i ? prior - MSS : prior, 20 * MBIT, RTT, i == 0);
            }
        }
        assert_true((window.pacing_rate < 20 * MBIT) == (losses == 6));
    }
}

static void startup_never_ends_when_the_application_limits_and_nothing_is_lost(void **state)
{
    (void)state;
    app_limited = true;
    for (uint32_t i = 0; i < 50; i++)
        round_trip(20 * MBIT);
    assert_true(window.pacing_rate > 50 * MBIT);
}

static void probing_waits_as_long_as_reno_would_need_or_two_to_three_seconds(void **state)
{
    (void)state;
    fill(80 * MBIT);  // 138 segments
    until(80 * MBIT, 125);
    until(80 * MBIT, 100);
    assert_in_range(until(80 * MBIT, 125), 62, 65);
    setup(NULL);
    fill(20 * MBIT);  // 34
    until(20 * MBIT, 125);
    until(20 * MBIT, 100);
    assert_in_range(until(20 * MBIT, 125), 32, 37);
    setup(NULL);
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    until(80 * MBIT, 100);
    const uint32_t from_us = now_us;
    while (gain(80 * MBIT) != 125) {
        round_trip(80 * MBIT);
        now_us += 4 * RTT;
    }
    assert_in_range(now_us - from_us, 1900000, 3200000);
}

static void probing_ends_when_the_rate_grows_no_more(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    round_trip(80 * MBIT);
    round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 125);
    until(80 * MBIT, 100);
    until(80 * MBIT, 125);
    app_limited = true;  // nor ends it ever while the application limits
    for (uint32_t i = 0; i < 30; i++)
        round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 125);
}

static void down_lasts_until_the_queue_is_gone(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    inflight_now = product(100 * MBIT);
    until(80 * MBIT, 90);
    for (uint32_t i = 0; i < 5; i++)
        round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 90);
    inflight_now = product(80 * MBIT);
    round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 100);
}

// 2 % of what was in flight: not less; then that is the bound, of which CRUISE leaves 15 % to others. Also when what
// comes had been lost.
static void loss_while_probing_bounds_what_is_in_flight(void **state)
{
    for (int again = 0; again <= 1; again++) {
        setup(state);
        fill(80 * MBIT);
        until(80 * MBIT, 125);
        inflight_now = product(96 * MBIT);
        event(WEIR_CC_ENTER_RECOVERY);
        sent_again = again;
        lossy_round(80 * MBIT, inflight_now / 50);
        assert_int_equal(gain(80 * MBIT), 125);
        const uint32_t bound = inflight_now;
        lossy_round(80 * MBIT, inflight_now / 50 + 1);
        sent_again = false;
        event(WEIR_CC_EXIT_RECOVERY);
        round_trip(80 * MBIT);
        assert_int_equal(gain(80 * MBIT), 90);
        near(window.cwnd, bound, 1);
        inflight_now = product(60 * MBIT);
        round_trip(80 * MBIT);
        near(window.cwnd, bound - (uint32_t)((uint64_t)bound * 15 / 100), 1);
    }
}

static void the_bound_is_no_less_than_seven_tenths_of_the_product(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    inflight_now = product(20 * MBIT);
    event(WEIR_CC_ENTER_RECOVERY);
    lossy_round(80 * MBIT, product(80 * MBIT) / 10);
    inflight_now = product(80 * MBIT);
    near(window.cwnd, product(56 * MBIT) / 100 * 85, 10);  // already in CRUISE
}

// After a probe that was too high the next goes only as far as the bound, and if that harmed nobody the one after it
// follows at once.
static void the_next_probe_is_a_careful_one(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    inflight_now = product(90 * MBIT);
    event(WEIR_CC_ENTER_RECOVERY);
    lossy_round(80 * MBIT, product(80 * MBIT) / 10);
    event(WEIR_CC_EXIT_RECOVERY);
    assert_int_equal(gain(80 * MBIT), 90);
    inflight_now = product(70 * MBIT);
    until(80 * MBIT, 125);
    inflight_now = product(90 * MBIT);
    ack(MSS, total - product(80 * MBIT), 80 * MBIT, RTT, false);
    assert_int_equal(gain(80 * MBIT), 90);
    assert_in_range(until(80 * MBIT, 125), 1, 3);
    round_trip(80 * MBIT);  // and this one stays there, raising the bound
    assert_int_equal(gain(80 * MBIT), 125);
    const uint32_t before = window.cwnd;
    inflight_now = window.cwnd;
    for (uint32_t i = 0; i < 3; i++) {
        round_trip(80 * MBIT);
        inflight_now = window.cwnd;
    }
    assert_true(window.cwnd >= before + 4 * MSS);
}

static void loss_while_cruising_costs_a_third_a_round_at_the_most_until_the_next_probe(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    until(80 * MBIT, 100);
    const uint32_t before = window.pacing_rate;
    lossy_round(40 * MBIT, MSS);
    round_trip(40 * MBIT);
    near(window.pacing_rate, before / 10 * 7, 15);
    for (uint32_t i = 0; i < 3; i++)
        lossy_round(60 * MBIT, MSS);
    near(window.pacing_rate, 60 * MBIT / 100 * 99, 15);  // what arrives is the least
    round_trip(60 * MBIT);
    near(window.pacing_rate, 60 * MBIT / 100 * 99, 15);
    until(80 * MBIT, 125);
    assert_true(window.pacing_rate > before);
}

static void what_was_lost_for_nothing_is_given_back(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    const uint32_t before = window.cwnd;
    inflight_now = product(60 * MBIT);
    event(WEIR_CC_ENTER_RECOVERY);
    lossy_round(80 * MBIT, product(80 * MBIT) / 10);
    assert_int_equal(gain(80 * MBIT), 90);
    assert_true(window.cwnd < before);
    event(WEIR_CC_UNDO);
    assert_true(window.cwnd >= before);
    round_trip(80 * MBIT);
    round_trip(80 * MBIT);
    assert_int_equal(gain(80 * MBIT), 125);  // REFILL, and UP again
    assert_true(window.cwnd >= before - 2 * MSS);
}

static void the_bandwidth_is_that_of_two_cycles(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    for (uint32_t i = 0; i < 20; i++)
        round_trip(60 * MBIT);
    near(window.ssthresh, product(80 * MBIT), 10);
    for (uint32_t i = 0; i < 64 + 64 + 30; i++)
        round_trip(60 * MBIT);
    near(window.ssthresh, product(60 * MBIT), 10);
}

static void samples_shorter_than_a_round_trip_are_dropped(void **state)
{
    (void)state;
    fill(80 * MBIT);
    const uint32_t before = window.ssthresh;
    ack(MSS, total - MSS, 800 * MBIT, RTT - 1, false);
    assert_int_equal(window.ssthresh, before);
    ack(MSS, total - MSS, 160 * MBIT, RTT, false);
    near(window.ssthresh, 2 * before, 10);
}

static void every_five_seconds_half_a_product_is_in_flight(void **state)
{
    (void)state;
    fill(80 * MBIT);
    rtt_us = RTT + 5000;  // a standing queue
    uint32_t rounds = 0;
    while (window.cwnd > product(80 * MBIT) * 6 / 10 && ++rounds < 1000)
        round_trip(80 * MBIT);
    assert_in_range(rounds, 240, 252);
    // by the round trip known for ten seconds, not by the one with the queue
    near(window.cwnd, product(40 * MBIT), 10);
    inflight_now = product(40 * MBIT);
    for (rounds = 0; window.cwnd <= product(40 * MBIT) && rounds < 100; rounds++)
        round_trip(40 * MBIT);
    assert_in_range(rounds, 10, 12);  // 200 ms and a round
    round_trip(40 * MBIT);            // what was sent before says nothing
    near(window.ssthresh, product(80 * MBIT), 10);
    assert_true(window.cwnd > product(150 * MBIT));
}

static void a_timeout_leaves_one_segment_and_then_the_window_comes_back(void **state)
{
    (void)state;
    fill(80 * MBIT);
    const uint32_t before = window.cwnd;
    event(WEIR_CC_RTO);
    assert_int_equal(window.cwnd, MSS);
    inflight_now = 0;
    ack(MSS, total, 80 * MBIT, RTT, true);
    assert_in_range(window.cwnd, 2 * MSS, 5 * MSS);
    ack(product(80 * MBIT), total, 80 * MBIT, RTT, false);
    assert_true(window.cwnd + 2 * MSS >= before);
}

// A path whose application never fills it is looked at as well, and STARTUP is not over with that.
static void probe_rtt_interrupts_startup(void **state)
{
    (void)state;
    app_limited = true;
    rtt_us = RTT + 5000;
    round_trip(20 * MBIT);
    rtt_us = RTT;
    round_trip(20 * MBIT);
    rtt_us = RTT + 5000;
    inflight_now = product(20 * MBIT);
    uint32_t rounds = 0;
    for (; window.cwnd > product(20 * MBIT) * 6 / 10 && rounds < 1000; rounds++)
        round_trip(20 * MBIT);
    assert_in_range(rounds, 240, 252);
    inflight_now = product(10 * MBIT);
    for (rounds = 0; window.cwnd <= product(20 * MBIT) && rounds < 100; rounds++)
        round_trip(20 * MBIT);
    assert_in_range(rounds, 10, 12);
    round_trip(20 * MBIT);
    near(window.pacing_rate, (uint32_t)(20 * MBIT * 2.77 * 0.99), 5);
}

static void a_timeout_for_nothing_is_forgotten(void **state)
{
    (void)state;
    fill(80 * MBIT);
    const uint32_t before = window.cwnd;
    event(WEIR_CC_RTO);
    assert_int_equal(window.cwnd, MSS);
    event(WEIR_CC_UNDO);
    assert_true(window.cwnd >= before);
    round_trip(80 * MBIT);
    near(window.ssthresh, product(80 * MBIT), 10);
    assert_true(gain(80 * MBIT) >= 90);
}

// See bbr_test.c.
static void a_peer_that_takes_back_opens_no_window(void **state)
{
    (void)state;
    round_trip(100 * MBIT / 8);
    inflight_now = 200000;
    now_us += SECOND;
    event(WEIR_CC_RTO);
    total -= 100000;
    ack(MSS, total, MBIT, RTT, true);
    assert_true(window.cwnd <= 4 * MSS);
}

static void after_idling_there_is_neither_startup_nor_probe_rtt(void **state)
{
    (void)state;
    fill(80 * MBIT);
    now_us += 30 * SECOND;
    event(WEIR_CC_IDLE_RESTART);
    assert_int_equal(gain(80 * MBIT), 100);
    ack(MSS, total - MSS, 80 * MBIT, RTT, false);
    assert_int_equal(gain(80 * MBIT), 100);
    assert_true(window.cwnd > product(80 * MBIT));
}

static void what_the_path_taught_outlives_the_state(void **state)
{
    (void)state;
    fill(80 * MBIT);
    const uint32_t remembered = window.ssthresh;
    memset(cc_state, 0, sizeof cc_state);
    window = (struct weir_cc_window){0};
    event(WEIR_CC_INIT);
    window.ssthresh = remembered;
    event(WEIR_CC_IDLE_RESTART);
    near(window.pacing_rate, 79 * MBIT, 15);
    near(window.cwnd, product(80 * MBIT), 10);
}

static void a_mark_of_congestion_ends_a_probe(void **state)
{
    (void)state;
    fill(80 * MBIT);
    until(80 * MBIT, 125);
    inflight_now = product(96 * MBIT);
    event(WEIR_CC_ECN);
    ack(MSS, total - product(80 * MBIT), 80 * MBIT, RTT, false);
    assert_int_equal(gain(80 * MBIT), 90);
    assert_true(window.cwnd <= product(96 * MBIT));
}

static void a_clock_too_coarse_for_the_round_trip_holds_startup_back_by_nothing(void **state)
{
    (void)state;
    clock_coarse = true;
    event(WEIR_CC_INIT);
    assert_int_equal(window.pacing_rate, WEIR_CC_UNLIMITED);
    for (uint32_t round = 0, cwnd = window.cwnd; round < 5; round++, cwnd *= 2) {
        ack(cwnd, total, 0, 0, true);
        assert_int_equal(window.cwnd, 2 * cwnd);
        assert_int_equal(window.pacing_rate, WEIR_CC_UNLIMITED);
    }
}

// --- over paths ------------------------------------------------------------------------------------------------------

static struct bottleneck_options wide(double queue_products)
{
    return (struct bottleneck_options){
        .rate = 100 * MBIT, .delay_us = 10000, .queue_bytes = (uint32_t)(queue_products * 250000), .seed = 7};
}
static struct bottleneck_outcome alone(const struct weir_cc *cc, const struct bottleneck_options *options)
{
    return bottleneck_measure(options, &cc, 1, 0, 5 * SECOND, 20 * SECOND);
}

static void it_fills_the_path_whatever_the_queue(void **state)
{
    (void)state;
    static const double queues[] = {0.1, 0.25, 1, 4};
    for (uint32_t i = 0; i < 4; i++) {
        const struct bottleneck_options options = wide(queues[i]);
        const struct bottleneck_outcome o = alone(&weir_cc_bbr3, &options);
        print_message("[          ] queue of %.2f products: %.1f Mbit/s, %.2f ms, %.3f %% lost\n", queues[i], o.total,
                      o.rtt_ms, 100 * o.queue_loss);
        assert_true(o.total > 86 && o.rtt_ms < 25 && o.rtos == 0);
    }
}

static void it_loses_less_than_the_first_model_where_the_queue_is_shallow(void **state)
{
    (void)state;
    const struct bottleneck_options options = wide(0.1);
    assert_true(alone(&weir_cc_bbr3, &options).queue_loss * 2 < alone(&weir_cc_bbr, &options).queue_loss);
}

static void others_get_more_than_beside_the_first_model(void **state)
{
    (void)state;
    static const struct weir_cc *const others[] = {&weir_cc_cubic, &weir_cc_reno};
    for (uint32_t i = 0; i < 2; i++) {
        const struct bottleneck_options options = wide(1);
        const struct weir_cc *const third[2] = {&weir_cc_bbr3, others[i]}, *const first[2] = {&weir_cc_bbr, others[i]};
        const struct bottleneck_outcome now = bottleneck_measure(&options, third, 2, 300000, 10 * SECOND, 60 * SECOND);
        const struct bottleneck_outcome before =
            bottleneck_measure(&options, first, 2, 300000, 10 * SECOND, 60 * SECOND);
        print_message("[          ] %s beside bbr3 %.1f, beside bbr %.1f Mbit/s\n", others[i]->name, now.mbits[1],
                      before.mbits[1]);
        assert_true(now.mbits[1] > before.mbits[1] * 1.2 && now.mbits[0] > 5);
    }
}

static void flows_share_among_themselves(void **state)
{
    (void)state;
    static const struct weir_cc *const flows[10] = {&weir_cc_bbr3, &weir_cc_bbr3, &weir_cc_bbr3, &weir_cc_bbr3,
                                                    &weir_cc_bbr3, &weir_cc_bbr3, &weir_cc_bbr3, &weir_cc_bbr3,
                                                    &weir_cc_bbr3, &weir_cc_bbr3};
    const struct bottleneck_options options = wide(1);
    assert_true(bottleneck_measure(&options, flows, 2, 5 * SECOND, 15 * SECOND, 60 * SECOND).jain > 0.9);
    assert_true(bottleneck_measure(&options, flows, 10, 30000, 15 * SECOND, 60 * SECOND).jain > 0.85);
}

// What a flow gets for 10 s, from `wait_us` after the path's rate has changed.
static double after_change(uint32_t before, uint32_t after, uint64_t wait_us)
{
    struct bottleneck path;
    bottleneck_open(&path, &(struct bottleneck_options){
                               .rate = before, .delay_us = 10000, .queue_bytes = product(before), .seed = 7});
    const struct bottleneck_flow *flow = bottleneck_flow(&path, &weir_cc_bbr3, 0);
    bottleneck_run(&path, 10 * SECOND);
    path.options.rate = after;
    path.options.queue_bytes = product(after);
    bottleneck_run(&path, wait_us);
    const uint64_t from = flow->delivered;
    bottleneck_run(&path, 10 * SECOND);
    const double mbits = bottleneck_mbits(flow->delivered - from, 10 * SECOND);
    bottleneck_close(&path);
    print_message("[          ] %u to %u Mbit/s: %.2f\n", before / MBIT, after / MBIT, mbits);
    return mbits;
}

static void ten_times_the_bandwidth_is_found_and_a_tenth_too(void **state)
{
    (void)state;
    assert_true(after_change(10 * MBIT, 100 * MBIT, 10 * SECOND) > 86);
    assert_true(after_change(100 * MBIT, 10 * MBIT, 5 * SECOND) > 8.6);
}

static void a_product_below_a_segment_is_filled(void **state)
{
    (void)state;
    const struct bottleneck_options options = {.rate = MBIT / 2, .delay_us = 1000, .queue_bytes = 30000, .seed = 7};
    const struct bottleneck_outcome o = alone(&weir_cc_bbr3, &options);
    print_message("[          ] %.3f Mbit/s\n", o.total);
    assert_true(o.total > 0.43 && o.queue_loss == 0 && o.rtos == 0);
}

static void a_policer_is_met_without_timeouts(void **state)
{
    (void)state;
    const struct bottleneck_options options = {
        .rate = 10 * MBIT, .delay_us = 10000, .queue_bytes = 25000, .policer = true, .seed = 7};
    const struct bottleneck_outcome o = alone(&weir_cc_bbr3, &options);
    print_message("[          ] %.2f Mbit/s, %.2f %% lost\n", o.total, 100 * o.queue_loss);
    assert_true(o.total > 8 && o.queue_loss < 0.05 && o.rtos == 0);
}

// The threshold of 2 %: for a path that loses more whatever is sent there is the first model.
static void random_loss_beyond_two_percent_makes_it_yield(void **state)
{
    (void)state;
    struct bottleneck_options options = wide(1);
    options.loss_ppm = 100000;
    assert_true(alone(&weir_cc_bbr3, &options).total < 0.5 * alone(&weir_cc_bbr, &options).total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(startup_has_its_gain_and_ends_after_three_rounds_without_growth, setup),
        cmocka_unit_test_setup(drain_ends_by_what_is_in_flight, setup),
        cmocka_unit_test_setup(drain_ends_after_three_rounds, setup),
        cmocka_unit_test_setup(startup_ends_by_loss_even_when_the_application_limits, setup),
        cmocka_unit_test_setup(startup_never_ends_when_the_application_limits_and_nothing_is_lost, setup),
        cmocka_unit_test_setup(probing_waits_as_long_as_reno_would_need_or_two_to_three_seconds, setup),
        cmocka_unit_test_setup(probing_ends_when_the_rate_grows_no_more, setup),
        cmocka_unit_test_setup(down_lasts_until_the_queue_is_gone, setup),
        cmocka_unit_test_setup(loss_while_probing_bounds_what_is_in_flight, setup),
        cmocka_unit_test_setup(the_bound_is_no_less_than_seven_tenths_of_the_product, setup),
        cmocka_unit_test_setup(the_next_probe_is_a_careful_one, setup),
        cmocka_unit_test_setup(loss_while_cruising_costs_a_third_a_round_at_the_most_until_the_next_probe, setup),
        cmocka_unit_test_setup(what_was_lost_for_nothing_is_given_back, setup),
        cmocka_unit_test_setup(the_bandwidth_is_that_of_two_cycles, setup),
        cmocka_unit_test_setup(samples_shorter_than_a_round_trip_are_dropped, setup),
        cmocka_unit_test_setup(every_five_seconds_half_a_product_is_in_flight, setup),
        cmocka_unit_test_setup(a_timeout_leaves_one_segment_and_then_the_window_comes_back, setup),
        cmocka_unit_test_setup(probe_rtt_interrupts_startup, setup),
        cmocka_unit_test_setup(a_timeout_for_nothing_is_forgotten, setup),
        cmocka_unit_test_setup(a_peer_that_takes_back_opens_no_window, setup),
        cmocka_unit_test_setup(after_idling_there_is_neither_startup_nor_probe_rtt, setup),
        cmocka_unit_test_setup(what_the_path_taught_outlives_the_state, setup),
        cmocka_unit_test_setup(a_mark_of_congestion_ends_a_probe, setup),
        cmocka_unit_test_setup(a_clock_too_coarse_for_the_round_trip_holds_startup_back_by_nothing, setup),
        cmocka_unit_test(it_fills_the_path_whatever_the_queue),
        cmocka_unit_test(it_loses_less_than_the_first_model_where_the_queue_is_shallow),
        cmocka_unit_test(others_get_more_than_beside_the_first_model),
        cmocka_unit_test(flows_share_among_themselves),
        cmocka_unit_test(ten_times_the_bandwidth_is_found_and_a_tenth_too),
        cmocka_unit_test(a_product_below_a_segment_is_filled),
        cmocka_unit_test(a_policer_is_met_without_timeouts),
        cmocka_unit_test(random_loss_beyond_two_percent_makes_it_yield),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
