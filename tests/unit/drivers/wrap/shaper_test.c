// SPDX-License-Identifier: BSD-2-Clause
#include "drivers/link_ends.h"

#include "drivers/wrap/shaper.h"

static struct shaper shaper;

static struct weir_netif *open_with(const struct shaper_config *config)
{
    ends_open();
    struct weir_netif *outer = shaper_wrap(&shaper, &ends.netif, config);
    ends_attach(outer);
    return outer;
}

static void test_frames_leave_at_the_rate(void **state)
{
    (void)state;
    // 10 Mbit/s, 1,226 + 24 bytes: one frame a millisecond.
    struct weir_netif *outer =
        open_with(&(struct shaper_config){.out = {.rate_bps = 10000000, .queue_bytes = 100000, .overhead_bytes = 24}});
    uint64_t start_us = ends.now_us;
    for (uint32_t i = 0; i < 20; i++)
        assert_int_equal(ends_send(outer, i, 1226), WEIR_TX_DONE);
    assert_int_equal(ends.sent_count, 0);
    assert_true(outer->driver->timer(outer, ends.now_us) == start_us + 1000);
    ends_run(outer, start_us + 100000);
    assert_int_equal(ends.sent_count, 20);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(ends_number(&ends.sent[i]), i);
        assert_int_equal(ends.sent[i].at_us, start_us + 1000 * (i + 1));
    }
    ends_send(outer, 20, 1226);  // an idle link does not save up its time
    ends_run(outer, ends.now_us + 2000);
    assert_int_equal(ends.sent[20].at_us, start_us + 101000);
    shaper_close(&shaper);
}

static void test_no_time_is_lost_in_rounding(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.in = {.rate_bps = 9700000, .queue_bytes = 1000000}});
    uint64_t start_us = ends.now_us;
    for (uint32_t i = 0; i < 700; i++)
        ends_arrive(i, 97);  // 80 µs each
    ends_run(outer, start_us + 1000000);
    assert_int_equal(ends.received_count, 700);
    assert_in_range(ends.received[699].at_us, start_us + 56000, start_us + 56001);
    shaper_close(&shaper);
}

static void test_queue_drops_its_tail(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.out = {.rate_bps = 1000000, .queue_bytes = 5000}});
    for (uint32_t i = 0; i < 20; i++)
        ends_send(outer, i, 1000);
    ends_run(outer, ends.now_us + 1000000);
    assert_int_equal(ends.sent_count, 5);
    assert_int_equal(ends_number(&ends.sent[4]), 4);
    assert_int_equal(shaper.out.counters.dropped, 15);
    assert_int_equal(shaper.out.counters.queue_peak_bytes, 5000);
    shaper_close(&shaper);
}

static void test_other_way_is_untouched(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.in = {.rate_bps = 1000000}});
    ends.hold = true;
    assert_int_equal(ends_send(outer, 1, 1000), WEIR_TX_HELD);
    assert_int_equal(outer->capabilities & WEIR_NETIF_TSO4, 0);
    assert_true(outer->capabilities & WEIR_NETIF_TX_CHECKSUM);
    shaper_close(&shaper);
}

static void test_full_driver_keeps_frames(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.out = {.rate_bps = 8000000}});
    ends_send(outer, 1, 1000);
    ends_send(outer, 2, 1000);
    ends.full = true;
    ends_run(outer, ends.now_us + 10000);
    assert_int_equal(ends_send(outer, 3, 1000), WEIR_TX_FULL);
    ends.full = false;
    weir_netif_ready(&ends.netif);
    ends_run(outer, ends.now_us + 10000);
    assert_int_equal(ends.sent_count, 2);
    assert_true(ends.flush_count > 0);
    shaper_close(&shaper);
}

static void test_rate_may_change_while_it_runs(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.out = {.rate_bps = 8000000}});
    uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 1000);
    shaper_set(&shaper, &(struct shaper_way){.rate_bps = 80000000}, &(struct shaper_way){0});
    ends_send(outer, 2, 1000);
    shaper_set(&shaper, &(struct shaper_way){0}, &(struct shaper_way){0});
    ends_send(outer, 3, 1000);  // unshaped, yet not before those that wait
    ends_run(outer, start_us + 10000);
    assert_int_equal(ends.sent_count, 3);
    assert_int_equal(ends_number(&ends.sent[0]), 1);
    assert_int_equal(ends.sent[0].at_us, start_us + 1000);
    assert_int_equal(ends_number(&ends.sent[1]), 2);
    assert_int_equal(ends.sent[1].at_us, start_us + 1100);
    assert_int_equal(ends_number(&ends.sent[2]), 3);
    shaper_close(&shaper);
}

static void test_queue_leaves_at_the_rate_without_an_instance(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct shaper_config){.out = {.rate_bps = 8000000}});
    const uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 1000);
    ends_send(outer, 2, 1000);
    outer->weir = NULL;  // removed, and the instance destroyed
    assert_true(shaper_drain(&shaper, start_us) == start_us + 1000);
    assert_true(shaper_drain(&shaper, ends.now_us = start_us + 1000) == start_us + 2000);
    assert_int_equal(ends.sent_count, 1);
    assert_true(shaper_drain(&shaper, ends.now_us = start_us + 2000) == WEIR_NEVER);
    assert_int_equal(ends_number(&ends.sent[1]), 2);
    shaper_close(&shaper);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_leave_at_the_rate),
        cmocka_unit_test(test_no_time_is_lost_in_rounding),
        cmocka_unit_test(test_queue_drops_its_tail),
        cmocka_unit_test(test_other_way_is_untouched),
        cmocka_unit_test(test_full_driver_keeps_frames),
        cmocka_unit_test(test_rate_may_change_while_it_runs),
        cmocka_unit_test(test_queue_leaves_at_the_rate_without_an_instance),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
