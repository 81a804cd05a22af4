// SPDX-License-Identifier: BSD-2-Clause
// A receiver whose allocator has less than the windows it promises, and whose budget does not say so: transfers, one
// after the other, are slowed, and all end.
#include "pair.h"

#define SECOND 1000000ull
#define PORT 80u
#define BYTES 5000000u
#define TRANSFERS_MOST 50u
#define RENEGED_LEAST 10u
#define POOL_BYTES (96u << 10)

struct transfer {
    struct pair pair;
    weir_socket from, to;
    uint32_t sent, received;
};

static bool move(void *context)
{
    static const uint8_t zeros[4096];
    struct transfer *const t = context;
    uint8_t bytes[4096];
    for (int wrote = 1; wrote > 0 && t->sent < BYTES;) {
        wrote = weir_socket_write(t->pair.a.weir, t->from, zeros, min_u32(sizeof zeros, BYTES - t->sent));
        t->sent += wrote > 0 ? (uint32_t)wrote : 0;
    }
    for (int got = 1; got > 0;) {
        got = weir_socket_read(t->pair.b.weir, t->to, bytes, sizeof bytes);
        t->received += got > 0 ? (uint32_t)got : 0;
    }
    return t->received >= BYTES;
}

static uint32_t reneged(const struct transfer *t) { return fixture_count(&t->pair.b, WEIR_COUNT_TCP_RENEGED); }

static void a_scarce_allocator_slows_and_never_stops(void **state)
{
    static struct transfer t;
    const struct pair_options options = {.link = {.delay_us = 20000, .rate = 100000000, .loss_ppm = 1000}, .seed = 5};
    (void)state;
    pair_open(&t.pair, &options);
    t.pair.b.limit_bytes = t.pair.b.allocated_bytes + POOL_BYTES;
    for (uint32_t i = 0; i < TRANSFERS_MOST && reneged(&t) < RENEGED_LEAST; i++) {
        t.sent = t.received = 0;
        pair_connect(&t.pair, (uint16_t)(PORT + i), &t.from, &t.to);
        assert_true(pair_run_until(&t.pair, move, &t, 600 * SECOND));
        assert_int_equal(weir_socket_close(t.pair.a.weir, t.from), WEIR_OK);
        assert_int_equal(weir_socket_close(t.pair.b.weir, t.to), WEIR_OK);
        pair_run(&t.pair, SECOND);
    }
    assert_true(reneged(&t) >= RENEGED_LEAST);  // or nothing was scarce
    pair_close(&t.pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_scarce_allocator_slows_and_never_stops)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
