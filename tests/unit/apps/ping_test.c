// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include "bench.h"

#include "ping.h"

#if WEIR_CFG_IP6
#define LOOPBACK6 weir_addr_v6((const uint8_t[16]){[15] = 1})
#else
#define LOOPBACK6 BENCH_LOOPBACK
#endif

static uint32_t replies;
static bool ended;

static void event(struct ping *ping, const struct ping_reply *reply, void *context)
{
    (void)ping, (void)context;
    ended |= reply == NULL;
    replies += reply != NULL;
}

static void run(struct ping *ping, struct weir_addr host, uint32_t count, uint32_t bytes, uint64_t us)
{
    struct bench bench;
    bench_open(&bench);
    replies = 0;
    ended = false;
    assert_int_equal(ping_start(ping, &bench.loop, host, count, 100000, bytes, event, NULL), WEIR_OK);
    bench_run(&bench, us);
    ping_stop(ping);
    bench_close(&bench);
}

static void each_request_is_answered(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, BENCH_LOOPBACK, 5, 56, 3000000);
    assert_int_equal(replies, 5);
    assert_int_equal(ping.received, 5);
    assert_int_equal(ping.duplicates + ping.corrupted, 0);
    assert_true(ended);
    run(&ping, BENCH_LOOPBACK, 2, 0, 3000000);  // no room for a time: counted, not timed
    assert_int_equal(ping.received, 2);
    run(&ping, BENCH_LOOPBACK, 1, PING_DATA_MAX, 3000000);
    assert_int_equal(ping.received, 1);
}

static void hosts_of_ip6_too(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, LOOPBACK6, 5, 56, 3000000);
    assert_int_equal(ping.received, 5);
    assert_int_equal(ping.duplicates + ping.corrupted, 0);
    run(&ping, LOOPBACK6, 1, PING_DATA_MAX, 3000000);
    assert_int_equal(ping.received, 1);
}

static void silence_ends_too(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, fixture_address(99), 2, 56, 10000000);  // nobody there
    assert_int_equal(replies, 0);
    assert_int_equal(ping.sent, 2);
    assert_true(ended);
}

static void too_much_data_is_refused(void **state)
{
    struct bench bench;
    struct ping ping;
    (void)state;
    bench_open(&bench);
    assert_int_equal(ping_start(&ping, &bench.loop, BENCH_LOOPBACK, 1, 1, PING_DATA_MAX + 1, event, NULL),
                     WEIR_INVALID);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_answered),
        cmocka_unit_test(hosts_of_ip6_too),
        cmocka_unit_test(silence_ends_too),
        cmocka_unit_test(too_much_data_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
