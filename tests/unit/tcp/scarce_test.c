// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// A receiver whose allocator has less than the windows it promises, and whose budget does not say so: transfers, one
// after the other, are slowed, and all end.
#include "pair.h"

#define SECOND 1000000ull
#define PORT 80u
#define BYTES 5000000u
#define TRANSFERS_MOST 50u
#define RENEGED_LEAST 10u
#define POOL_BYTES (96u << 10)

static uint32_t reneged(const struct pair *pair) { return fixture_count(&pair->b, WEIR_COUNT_TCP_RENEGED); }

static void a_scarce_allocator_slows_and_never_stops(void **state)
{
    static struct pair pair;
    const struct pair_options options = {.link = {.delay_us = 20000, .rate = 100000000, .loss_ppm = 1000}, .seed = 5};
    (void)state;
    pair_open(&pair, &options);
    pair.b.limit_bytes = pair.b.allocated_bytes + POOL_BYTES;
    for (uint32_t i = 0; i < TRANSFERS_MOST && reneged(&pair) < RENEGED_LEAST; i++) {
        struct pair_transfer t = {.pair = &pair, .bytes = BYTES};
        pair_connect(&pair, (uint16_t)(PORT + i), &t.from, &t.to);
        assert_true(pair_run_until(&pair, pair_transfer, &t, 600 * SECOND));
        assert_int_equal(weir_socket_close(pair.a.weir, t.from), WEIR_OK);
        assert_int_equal(weir_socket_close(pair.b.weir, t.to), WEIR_OK);
        pair_run(&pair, SECOND);
    }
    assert_true(reneged(&pair) >= RENEGED_LEAST);  // or nothing was scarce
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_scarce_allocator_slows_and_never_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
