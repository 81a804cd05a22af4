// SPDX-License-Identifier: BSD-2-Clause
#include "drivers/link_ends.h"

#include "drivers/wrap/impair.h"

#define FRAMES 4000u

static struct impair impair;

static struct weir_netif *open_with(const struct impair_config *config)
{
    ends_open();
    struct weir_netif *outer = impair_wrap(&impair, &ends.netif, config);
    ends_attach(outer);
    return outer;
}

static void test_perfect_link_passes_all(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){0});
    ends.hold = true;
    assert_int_equal(ends_send(outer, 1, 1000), WEIR_TX_HELD);  // the frame itself went through, not a copy
    ends_arrive(2, 60);
    assert_int_equal(ends.sent_count, 1);
    assert_int_equal(ends.received_count, 1);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    weir_netif_complete(&ends.netif, &ends, 99);
    assert_non_null(ends.completed_owner);
    weir_netif_carrier(&ends.netif, false);
    assert_int_equal(ends.carrier_count, 1);
    assert_true(outer->driver->timer(outer, ends.now_us) == WEIR_NEVER);
    impair_close(&impair);
    assert_null(ends.netif.upper);
}

static void test_offloads_are_taken_away(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){0});
    assert_int_equal(outer->capabilities & (WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_USO4), 0);
    assert_true(outer->capabilities & WEIR_NETIF_BROADCAST);
    impair_close(&impair);
}

static void test_loss_comes_near_its_chance_both_ways(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.loss_ppm = 100000}, .in = {.loss_ppm = 250000}, .seed = 5});
    for (uint32_t i = 0; i < FRAMES; i++) {
        assert_int_equal(ends_send(outer, i, 100), WEIR_TX_DONE);
        ends_arrive(i, 100);
    }
    assert_in_range(ends.sent_count, FRAMES * 88 / 100, FRAMES * 92 / 100);
    assert_in_range(ends.received_count, FRAMES * 72 / 100, FRAMES * 78 / 100);
    assert_int_equal(ends.sent_count + impair.out.counters.lost, FRAMES);
    assert_int_equal(ends.received_count + impair.in.counters.lost, FRAMES);
    impair_close(&impair);
}

static void test_same_seed_same_losses(void **state)
{
    (void)state;
    static uint32_t first[FRAMES];
    uint32_t count = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct weir_netif *outer =
            open_with(&(struct impair_config){.out = {.loss_ppm = 300000}, .seed = seed == 2 ? 1 : seed});
        for (uint32_t i = 0; i < 1000; i++)
            ends_send(outer, i, 100);
        uint32_t same = 0;
        for (uint32_t i = 0; i < ends.sent_count; i++) {
            if (seed == 1)
                first[i] = ends_number(&ends.sent[i]);
            same += i < count && first[i] == ends_number(&ends.sent[i]);
        }
        if (seed == 1)
            count = ends.sent_count;
        else
            assert_int_equal(same == count && count == ends.sent_count, seed == 2);
        impair_close(&impair);
    }
}

static void test_loss_burst_loses_in_a_row(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.loss_ppm = 10000, .loss_burst = 5}, .seed = 9});
    for (uint32_t i = 0; i < FRAMES; i++)
        ends_send(outer, i, 100);
    assert_true(ends.sent_count < FRAMES);
    for (uint32_t i = 1; i < ends.sent_count; i++) {
        uint32_t gap = ends_number(&ends.sent[i]) - ends_number(&ends.sent[i - 1]) - 1;
        assert_true(gap == 0 || gap >= 5);
    }
    impair_close(&impair);
}

static void test_delay_is_exact_and_deadline_told(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 10000}, .in = {.delay_us = 2500}});
    uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 1400);
    ends_arrive(2, 1400);
    assert_int_equal(ends.sent_count + ends.received_count, 0);
    assert_true(outer->driver->timer(outer, start_us) == start_us + 2500);
    ends_run(outer, start_us + 20000);
    assert_int_equal(ends.sent_count, 1);
    assert_int_equal(ends.received_count, 1);
    assert_int_equal(ends.sent[0].at_us, start_us + 10000);
    assert_int_equal(ends.received[0].at_us, start_us + 2500);
    assert_int_equal(ends_number(&ends.sent[0]), 1);  // a copy: the lent bytes were overwritten meanwhile
    assert_int_equal(ends_number(&ends.received[0]), 2);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_VERIFIED);
    impair_close(&impair);
}

static void test_jitter_keeps_order(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.delay_us = 1000, .jitter_us = 5000}, .seed = 3});
    uint64_t start_us = ends.now_us, sent_at[500], longest_us = 0;
    for (uint32_t i = 0; i < 500; i++) {
        sent_at[i] = ends.now_us;
        ends_send(outer, i, 100);
        ends_run(outer, ends.now_us + 100);
    }
    ends_run(outer, start_us + 1000000);
    assert_int_equal(ends.sent_count, 500);
    for (uint32_t i = 0; i < 500; i++) {
        uint64_t took_us = ends.sent[i].at_us - sent_at[i];
        assert_int_equal(ends_number(&ends.sent[i]), i);
        assert_in_range(took_us, 1000, 6000);
        longest_us = took_us > longest_us ? took_us : longest_us;
    }
    assert_true(longest_us > 4000);
    impair_close(&impair);
}

static void test_reordered_frames_are_overtaken(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.in = {.reorder_ppm = 100000, .reorder_us = 1000}, .seed = 4});
    for (uint32_t i = 0; i < 1000; i++) {
        ends_arrive(i, 100);
        ends_run(outer, ends.now_us + 100);
    }
    ends_run(outer, ends.now_us + 10000);
    assert_int_equal(ends.received_count, 1000);
    uint32_t late = 0, highest = 0;
    for (uint32_t i = 0; i < 1000; i++) {
        uint32_t number = ends_number(&ends.received[i]);
        late += number < highest;
        highest = number > highest ? number : highest;
    }
    assert_int_equal(late, impair.in.counters.reordered);  // each of them, and none else (but for one at the very end)
    assert_in_range(late, 60, 140);
    impair_close(&impair);
}

static void test_duplicates_both_ways(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.duplicate_ppm = 1000000}, .in = {.duplicate_ppm = 1000000}});
    ends_send(outer, 1, 100);
    ends_arrive(2, 100);
    assert_int_equal(ends.sent_count, 2);
    assert_int_equal(ends.received_count, 2);
    assert_memory_equal(ends.sent[0].bytes, ends.sent[1].bytes, 100);
    impair_close(&impair);
}

static uint32_t bits_set(const struct ends_frame *frame)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < frame->length; i++)
        for (int b = 0; b < 8; b++)
            bits += frame->bytes[i] >> b & 1;
    return bits;
}

static void test_corruption_flips_one_bit_and_voids_the_checksum(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.corrupt_ppm = 1000000}, .in = {.corrupt_ppm = 1000000}, .seed = 8});
    ends_send(outer, 0, 100);
    ends_arrive(0, 100);
    assert_int_equal(bits_set(&ends.sent[0]), 1);
    assert_int_equal(bits_set(&ends.received[0]), 1);
    assert_int_equal(ends.received[0].checksum, WEIR_CHECKSUM_NONE);
    impair_close(&impair);
}

static void test_full_driver_neither_loses_nor_reorders(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}});
    for (uint32_t i = 0; i < 10; i++)
        ends_send(outer, i, 100);
    ends.full = true;
    ends_run(outer, ends.now_us + 5000);
    assert_int_equal(ends.sent_count, 0);
    assert_int_equal(ends_send(outer, 10, 100), WEIR_TX_FULL);  // the stack learns of it
    ends.full = false;
    weir_netif_ready(&ends.netif);
    assert_int_equal(ends.ready_count, 1);
    assert_int_equal(ends_send(outer, 10, 100), WEIR_TX_DONE);
    ends_run(outer, ends.now_us + 5000);
    assert_int_equal(ends.sent_count, 11);
    for (uint32_t i = 0; i < 11; i++)
        assert_int_equal(ends_number(&ends.sent[i]), i);
    impair_close(&impair);
}

static void test_full_driver_is_asked_again(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}});
    ends_send(outer, 1, 100);
    ends.full = true;
    ends_run(outer, ends.now_us + 5000);
    ends.full = false;  // and nobody says so: nothing was refused to the stack
    ends_run(outer, ends.now_us + 2 * LINE_RETRY_US);
    assert_int_equal(ends.sent_count, 1);
    assert_true(outer->driver->timer(outer, ends.now_us) == WEIR_NEVER);
    impair_close(&impair);
}

static void test_refused_frame_meets_the_same_fate(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.loss_ppm = 500000}, .seed = 6});
    ends.full = true;
    enum weir_tx_verdict verdict = WEIR_TX_DONE;
    for (uint32_t i = 0; i < 64 && verdict == WEIR_TX_DONE; i++)  // until one that is not to be lost
        verdict = ends_send(outer, i, 100);
    assert_int_equal(verdict, WEIR_TX_FULL);
    for (uint32_t i = 0; i < 64; i++)  // asked again, it is never lost
        assert_int_equal(ends_send(outer, 100, 100), WEIR_TX_FULL);
    ends.full = false;
    assert_int_equal(ends_send(outer, 100, 100), WEIR_TX_DONE);
    assert_int_equal(ends_number(&ends.sent[0]), 100);
    impair_close(&impair);
}

static void test_memory_is_bounded(void **state)
{
    (void)state;
    struct weir_netif *outer =
        open_with(&(struct impair_config){.out = {.delay_us = 1000}, .in = {.delay_us = 1000}, .limit_bytes = 1000});
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(ends_send(outer, i, 100), WEIR_TX_DONE);
        ends_arrive(i, 100);
    }
    ends_run(outer, ends.now_us + 5000);
    assert_int_equal(ends.sent_count, 10);
    assert_int_equal(ends.received_count, 10);
    assert_int_equal(impair.out.counters.overflowed, 10);
    impair_close(&impair);
}

static void test_wrappers_stack(void **state)
{
    (void)state;
    static struct impair above;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}, .in = {.delay_us = 3000}});
    outer->upper = NULL;
    outer = impair_wrap(&above, outer, &(struct impair_config){.out = {.delay_us = 500}, .in = {.delay_us = 700}});
    ends_attach(outer);
    uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 100);
    assert_true(outer->driver->timer(outer, ends.now_us) == start_us + 500);
    ends_run(outer, start_us + 1000);  // the inner one knows the instance from here on
    ends_arrive(2, 100);
    ends_run(outer, start_us + 20000);
    assert_int_equal(ends.sent[0].at_us, start_us + 1500);
    assert_int_equal(ends.received[0].at_us, start_us + 1000 + 3700);
    impair_close(&above);
    impair_close(&impair);
}

static void test_held_frames_leave_without_an_instance(void **state)
{
    (void)state;
    static struct impair above;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}});
    outer->upper = NULL;
    outer = impair_wrap(&above, outer, &(struct impair_config){.out = {.delay_us = 500}});
    ends_attach(outer);
    const uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 100);
    ends_clock(start_us + 100);
    ends_send(outer, 2, 100);
    outer->weir = NULL;  // removed, and the instance destroyed
    assert_true(impair_drain(&impair, ends.now_us) == WEIR_NEVER);
    assert_true(impair_drain(&above, ends.now_us) == start_us + 500);
    ends.now_us = start_us + 600;
    (void)impair_drain(&impair, ends.now_us);
    assert_true(impair_drain(&above, ends.now_us) == WEIR_NEVER);
    assert_null(impair.wrap.outer.weir);
    assert_true(impair_drain(&impair, ends.now_us) == start_us + 1600);
    assert_int_equal(ends.sent_count, 0);
    ends.now_us = start_us + 1600;
    assert_true(impair_drain(&impair, ends.now_us) == WEIR_NEVER);
    assert_int_equal(ends.sent_count, 2);
    assert_int_equal(ends_number(&ends.sent[1]), 2);
    impair_close(&above);
    impair_close(&impair);
}

static void test_drain_gives_a_full_driver_up(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}});
    const uint64_t start_us = ends.now_us;
    ends_send(outer, 1, 100);
    ends_send(outer, 2, 100);
    ends.full = true;
    for (ends.now_us = start_us + 1000; ends.now_us < start_us + 1001000; ends.now_us += LINE_RETRY_US)
        assert_true(impair_drain(&impair, ends.now_us) == ends.now_us + LINE_RETRY_US);
    assert_true(impair_drain(&impair, ends.now_us) == WEIR_NEVER);
    assert_int_equal(ends.sent_count, 0);
    assert_int_equal(impair.out.line.frames, 0);
    impair_close(&impair);
}

// It takes a frame each tenth of a second: that lasts longer than its patience with one that takes nothing.
static void test_drain_waits_for_a_slow_driver(void **state)
{
    (void)state;
    struct weir_netif *outer = open_with(&(struct impair_config){.out = {.delay_us = 1000}});
    for (uint32_t i = 1; i <= 20; i++)
        ends_send(outer, i, 100);
    ends.slow = true;
    for (uint32_t i = 1; i <= 20; i++) {
        ends.now_us += 100000;
        ends.full = false;
        assert_true(impair_drain(&impair, ends.now_us) == (i < 20 ? ends.now_us + LINE_RETRY_US : WEIR_NEVER));
        assert_int_equal(ends.sent_count, i);
    }
    impair_close(&impair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_perfect_link_passes_all),
        cmocka_unit_test(test_offloads_are_taken_away),
        cmocka_unit_test(test_loss_comes_near_its_chance_both_ways),
        cmocka_unit_test(test_same_seed_same_losses),
        cmocka_unit_test(test_loss_burst_loses_in_a_row),
        cmocka_unit_test(test_delay_is_exact_and_deadline_told),
        cmocka_unit_test(test_jitter_keeps_order),
        cmocka_unit_test(test_reordered_frames_are_overtaken),
        cmocka_unit_test(test_duplicates_both_ways),
        cmocka_unit_test(test_corruption_flips_one_bit_and_voids_the_checksum),
        cmocka_unit_test(test_full_driver_neither_loses_nor_reorders),
        cmocka_unit_test(test_full_driver_is_asked_again),
        cmocka_unit_test(test_refused_frame_meets_the_same_fate),
        cmocka_unit_test(test_memory_is_bounded),
        cmocka_unit_test(test_wrappers_stack),
        cmocka_unit_test(test_held_frames_leave_without_an_instance),
        cmocka_unit_test(test_drain_gives_a_full_driver_up),
        cmocka_unit_test(test_drain_waits_for_a_slow_driver),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
