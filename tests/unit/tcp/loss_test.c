// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: reno and bbr are what is measured
// Loss recovery as a whole, over lossy links in virtual time: nothing waits for a timeout while acknowledgements flow,
// and Reno reaches what Linux's Reno reaches over the same link (reports of measurements: 100 Mbit/s, 20 ms, 250,000
// bytes of queue, random loss of data).
#include "pair.h"

#include "instance.h"
#include "tcp/internal.h"

#define PORT 80

struct bulk {
    struct pair pair;
    weir_socket client, server;
    uint32_t total, written, read;
    uint32_t timeouts, early;     // early: while there was more to send
    uint64_t us;                  // that the transfer took
    bool (*step)(void *context);  // NULL: step
};

static uint8_t bytes[65536];

static bool step(void *context)
{
    struct bulk *x = context;
    int moved;
    while (x->written < x->total && (moved = weir_socket_write(x->pair.a.weir, x->client, bytes,
                                                               min_u32(x->total - x->written, sizeof bytes))) > 0)
        x->written += (uint32_t)moved;
    while ((moved = weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes)) > 0)
        x->read += (uint32_t)moved;
    return x->read == x->total;
}

// Bytes that arrive in so many seconds, or the µs that `total` take.
static void run(struct bulk *x, const char *algorithm, const struct pair_link *link, uint32_t loss_ppm, uint64_t seed,
                uint64_t limit_us)
{
    const struct pair_link back = {.delay_us = link->delay_us, .rate = link->rate};
    pair_open(&x->pair, &(struct pair_options){.link = *link, .back = &back, .seed = seed});
    pair_connect(&x->pair, PORT, &x->client, &x->server);
    x->pair.link[0].loss_ppm = loss_ppm;
    assert_int_equal(weir_socket_set_congestion(x->pair.a.weir, x->client, algorithm), WEIR_OK);
    const uint64_t start = pair_now_us(&x->pair);
    pair_run_until(&x->pair, x->step ? x->step : step, x, limit_us);
    x->us = pair_now_us(&x->pair) - start;
}

static void end(struct bulk *x)
{
    assert_int_equal(weir_socket_close(x->pair.a.weir, x->client), WEIR_OK);
    assert_int_equal(weir_socket_close(x->pair.b.weir, x->server), WEIR_OK);
    pair_close(&x->pair);
}

static double goodput(const char *algorithm, uint32_t loss_ppm, uint32_t seconds, uint32_t *timeouts)
{
    const struct pair_link link = {.delay_us = 10000, .rate = 12500000, .queue_frames = 165};
    double sum = 0;
    *timeouts = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct bulk x = {.total = UINT32_MAX};
        run(&x, algorithm, &link, loss_ppm, seed, seconds * 1000000u);
        sum += x.read * 8e-6 / seconds;
        *timeouts += fixture_count(&x.pair.a, WEIR_COUNT_TCP_RTO);
        end(&x);
    }
    return sum / 3;
}

static void reno_is_as_fast_as_the_reference(void **state)
{
    static const struct {
        uint32_t loss_ppm;
        double reference;  // Mbit/s
        uint32_t timeouts;
    } row[] = {{0, 94.91, 0}, {10000, 6.42, 0}, {20000, 4.26, 1}, {50000, 2.44, 10}, {100000, 1.41, 60}};
    (void)state;
    for (uint32_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        uint32_t timeouts;
        const double got = goodput("reno", row[i].loss_ppm, row[i].loss_ppm ? 40 : 10, &timeouts);
        print_message("[          ] reno, %u ppm lost: %.2f Mbit/s (%.2f), %u timeouts in 120 s\n", row[i].loss_ppm,
                      got, row[i].reference, timeouts);
        assert_true(got > row[i].reference * 0.88 && got < row[i].reference * 1.12);
        assert_true(timeouts <= row[i].timeouts);
    }
}

// An algorithm that does not take loss for congestion: a timeout is needed only where the last of all transmissions is
// lost, so that nothing comes that could show it (the end of the stream; a probe may not go beside what is SACKed, RFC
// 8985 §7.2).
static bool step_to_the_tail(void *context)
{
    struct bulk *x = context;
    const bool done = step(x);
    const uint32_t timeouts = (uint32_t)fixture_count(&x->pair.a, WEIR_COUNT_TCP_RTO);
    const struct tcp_conn *c = (const struct tcp_conn *)(const void *)handle_sock(x->pair.a.weir, x->client);
    if (timeouts != x->timeouts && (x->written < x->total || tcp_unsent(c) >= c->mss))
        x->early++;
    x->timeouts = timeouts;
    return done;
}

static void a_near_path_that_loses_much_needs_timeouts_only_at_the_end(void **state)
{
    const struct pair_link link = {.delay_us = 10};
    uint32_t over = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct bulk x = {.total = 5242880, .step = step_to_the_tail};
        run(&x, "bbr", &link, 150000, seed, 5000000);
        assert_int_equal(x.read, x.total);
        assert_int_equal(x.early, 0);
        over += x.us > 100000;
        end(&x);
    }
    print_message("[          ] bbr, 5 MB at 15 %%: %u of 20 beyond 0.1 s\n", over);
    assert_true(over < 10);  // the median: measured 6, and 8 with a driver that refuses at random
}

// With the small windows that loss leaves them, Reno and Cubic wait for timeouts as the reference does, not more often.
static void small_windows_wait_no_more_than_the_reference(void **state)
{
    static const struct {
        const char *name;
        double most_s;      // of the mean; the reference's largest of twenty: 16.1 and 27.2
        uint32_t timeouts;  // per transfer, mean; the reference's: 31 to 39 and 79 to 81
    } row[] = {{"reno", 16.1, 50}, {"cubic", 27.2, 80}};
    const struct pair_link link = {.delay_us = 10};
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t timeouts = 0;
        double seconds = 0;
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct bulk x = {.total = 5242880};
            run(&x, row[i].name, &link, 150000, seed, (uint64_t)(row[i].most_s * 2e6));
            assert_int_equal(x.read, x.total);
            seconds += (double)x.us / 5e6;
            timeouts += fixture_count(&x.pair.a, WEIR_COUNT_TCP_RTO);
            end(&x);
        }
        print_message("[          ] %s: %u timeouts per transfer\n", row[i].name, timeouts / 5);
        assert_true(timeouts / 5 <= row[i].timeouts && seconds <= row[i].most_s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reno_is_as_fast_as_the_reference),
        cmocka_unit_test(a_near_path_that_loses_much_needs_timeouts_only_at_the_end),
        cmocka_unit_test(small_windows_wait_no_more_than_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
