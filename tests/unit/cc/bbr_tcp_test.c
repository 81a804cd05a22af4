// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// BBR within TCP, between two instances: 100 Mbit/s, 20 ms, a queue of one bandwidth-delay product, loss in the data's
// direction behind it.
#include <string.h>

#include "../pair.h"
#include "weir/cc.h"
#include "weir/socket.h"
#include "weir/stats.h"

#define RATE 12500000u
#define SECOND UINT64_C(1000000)

struct transfer {
    struct pair p;
    weir_socket client, server;
    uint64_t received, written, most;  // to be written
};

static uint8_t buffer[65536];

static bool step(void *context)
{
    struct transfer *f = context;
    int bytes;
    while (f->written < f->most) {
        const uint64_t want = f->most - f->written < sizeof buffer ? f->most - f->written : sizeof buffer;
        if ((bytes = weir_socket_write(f->p.a.weir, f->client, buffer, (uint32_t)want)) <= 0)
            break;
        f->written += (uint32_t)bytes;
    }
    while ((bytes = weir_socket_read(f->p.b.weir, f->server, buffer, sizeof buffer)) > 0)
        f->received += (uint32_t)bytes;
    return f->received == f->most;
}

static void begin(struct transfer *f, uint32_t loss_ppm, uint64_t seed)
{
    memset(f, 0, sizeof *f);
    const struct weir_config config = {.congestion_control = "bbr"};
    const struct pair_link back = {.delay_us = 10000};
    pair_open(&f->p, &(struct pair_options){.link = {.delay_us = 10000, .rate = RATE, .queue_frames = 165},
                                            .back = &back,
                                            .seed = seed,
                                            .a = {.config = &config},
                                            .b = {.config = &config}});
    pair_connect(&f->p, 7, &f->client, &f->server);
    f->p.link[0].loss_ppm = loss_ppm;  // the handshake passes
}

static struct weir_tcp_info info_of(struct transfer *f)
{
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(f->p.a.weir, f->client, &info), WEIR_OK);
    return info;
}

// The flow goes on at the bandwidth at once, without another STARTUP that would overrun the queue.
static void goes_on(struct transfer *f, uint32_t idle_s, bool forgotten)
{
    pair_run(&f->p, idle_s * SECOND);
    assert_int_equal(info_of(f).pacing_rate == 0, forgotten);
    const uint32_t lost = f->p.stats[0].lost;
    const uint64_t began_us = pair_now_us(&f->p);
    f->most += 2000000;
    (void)step(f);
    pair_run_until(&f->p, step, f, 1000);
    assert_in_range(info_of(f).pacing_rate, RATE * 85 / 100, RATE);
    assert_true(pair_run_until(&f->p, step, f, SECOND));
    assert_in_range(pair_now_us(&f->p) - began_us, 160000, 250000);  // 2 MB take 167 ms, and the way 10
    assert_int_equal(f->p.stats[0].lost, lost);
}

static void after_idling_it_goes_on_at_the_bandwidth(void **state)
{
    (void)state;
    static struct transfer f;
    begin(&f, 0, 3);
    f.most = 20000000;
    assert_true(pair_run_until(&f.p, step, &f, 10 * SECOND));
    goes_on(&f, 5, false);
    goes_on(&f, 90, true);  // TCP lets go of the state after a minute; what ssthresh kept is enough
    pair_close(&f.p);
}

// Linux's BBR: 75.5 of 86.0 Mbit/s at 10 %, 55.7 of 81.3 at 15 %.
static void loss_at_random_leaves_most_of_the_rate(void **state)
{
    (void)state;
    static struct transfer f;
    static const struct {
        uint32_t loss_ppm, mbits;
    } wanted[] = {{100000, 80}, {150000, 74}};
    for (uint32_t i = 0; i < 2; i++) {
        begin(&f, wanted[i].loss_ppm, 5);
        f.most = UINT64_MAX;
        pair_run_until(&f.p, step, &f, 4 * SECOND);
        assert_true(f.received * 8 / (4 * SECOND) >= wanted[i].mbits);
        assert_int_equal(info_of(&f).rto_count, 0);
        pair_close(&f.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_idling_it_goes_on_at_the_bandwidth),
        cmocka_unit_test(loss_at_random_leaves_most_of_the_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
