// SPDX-License-Identifier: BSD-2-Clause
// The work's policy: which order each event draws.
// profiles: small
#include "rt_fixture.h"

static void only_a_gracious_read_orders_an_ack(void **state)
{
    struct rt_play p;
    (void)state;
    for (enum weir_realtime_mode mode = WEIR_REALTIME_REGULAR; mode <= WEIR_REALTIME_SKIP_UPDATE; mode++) {
        const bool gracious = mode == WEIR_REALTIME_REGULAR_UPDATE || mode == WEIR_REALTIME_SKIP_UPDATE;
        play(&p, mode);
        play_data(&p, 0, 2000);
        assert_int_equal(play_read(&p), RT_FRAME);
        assert_int_equal(p.order.acks, gracious);
        play_acked(&p);
        p.line.would = p.line.edge;  // nothing gained, nothing told
        p.rt.policy->read(&p.rt, &p.line, true, &(struct rt_order){0});
        assert_false(p.order.move);
    }
}

static void what_is_not_there_is_skipped_at_once(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_SKIP);
    play_data(&p, 200, 900);
    assert_int_equal(play_read(&p), WEIR_SKIPPED);  // its deadline is now, whatever the clock
    assert_true(p.order.move);
    assert_int_equal(p.order.nxt, RT_BASE + RT_FRAME);
    assert_int_equal(p.order.acks, 1);
    assert_int_equal(p.rt.stats.skipped, 1);
    play(&p, WEIR_REALTIME_REGULAR);
    play_clock(&p, 10 * RT_PERIOD);
    assert_int_equal(play_read(&p), WEIR_AGAIN);
}

static void the_special_ack_leads_back_to_where_the_sender_is(void **state)
{
    struct rt_play p;
    (void)state;
    play(&p, WEIR_REALTIME_SKIP);
    play_data(&p, 0, 500);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(play_read(&p), WEIR_SKIPPED);
        p.line.nxt = p.line.una = p.order.nxt;
    }
    assert_int_equal(p.rt.frame, 3);
    struct rt_order order = {0};
    p.rt.policy->unsent(&p.rt, &p.line, RT_BASE + 499, &order);  // older than data that came
    assert_false(order.move);
    p.rt.policy->unsent(&p.rt, &p.line, RT_BASE + 1200, &order);
    assert_true(order.move);
    assert_int_equal(order.nxt, RT_BASE + 1200);
    assert_int_equal(order.acks, 1);
    assert_int_equal(p.rt.frame, 1);  // whose beginning was sent
    assert_int_equal(p.rt.frame_seq, RT_BASE + RT_FRAME);
    assert_int_equal(p.rt.stats.backtracked, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_a_gracious_read_orders_an_ack),
        cmocka_unit_test(what_is_not_there_is_skipped_at_once),
        cmocka_unit_test(the_special_ack_leads_back_to_where_the_sender_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
