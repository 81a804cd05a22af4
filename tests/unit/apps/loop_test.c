// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include "bench.h"

struct counter {
    struct app app;
    struct loop *loop;
    uint64_t period_us, due_us;
    uint32_t polls, most;
};

static uint64_t counter_poll(struct app *app, uint64_t now_us)
{
    struct counter *counter = (struct counter *)app;
    if (now_us >= counter->due_us) {
        counter->polls++;
        counter->due_us = now_us + counter->period_us;
        if (counter->polls == counter->most) {
            loop_remove(counter->loop, app);
            return WEIR_NEVER;
        }
    }
    return counter->due_us;
}

static void applications_are_polled_when_due(void **state)
{
    struct bench bench;
    (void)state;
    bench_open(&bench);
    struct counter fast = {
        .app = {.poll = counter_poll}, .loop = &bench.loop, .period_us = 1000, .due_us = bench.f.now_us + 1000};
    struct counter slow = fast, once = fast;
    slow.period_us = 10000;
    once.most = 1;
    loop_add(&bench.loop, &fast.app);
    loop_add(&bench.loop, &once.app);
    loop_add(&bench.loop, &slow.app);
    bench_run(&bench, 50500);
    assert_int_equal(fast.polls, 50);
    assert_int_equal(slow.polls, 5);
    assert_int_equal(once.polls, 1);
    loop_remove(&bench.loop, &fast.app);
    loop_remove(&bench.loop, &fast.app);  // harmless twice
    bench_run(&bench, 10000);
    assert_int_equal(fast.polls, 50);
    bench_close(&bench);
}

static void a_socket_without_watch_is_no_trouble(void **state)
{
    struct bench bench;
    (void)state;
    bench_open(&bench);
    weir_socket socket = bench_connect(&bench, 1);  // refused: an event for nobody
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applications_are_polled_when_due),
        cmocka_unit_test(a_socket_without_watch_is_no_trouble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
