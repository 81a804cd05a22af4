// SPDX-License-Identifier: BSD-2-Clause
// What is said of a name without addresses, in builds of one family and of both.
#include "apps/bench.h"
#include "apps/dns/names.h"

#include "dns/both.h"
#include "happy_eyeballs.h"

static struct world {
    struct bench bench;
    struct dns dns;
    struct dns_both both;
    struct happy_eyeballs happy;
    uint32_t calls;
} w;

static void both_done(void *context, struct dns_both *both)
{
    (void)context, (void)both;
    w.calls++;
}

static void happy_done(void *context, struct happy_eyeballs *happy)
{
    (void)context, (void)happy;
    w.calls++;
}

static void open_world(bool server)
{
    const struct weir_addr loopback = weir_ip4(127, 0, 0, 1);
    memset(&w, 0, sizeof w);
    bench_open(&w.bench);
    name_server_open(&w.bench.loop);
    dns_start(&w.dns, &w.bench.loop);
    dns_servers(&w.dns, &loopback, server);
}

static void close_world(void)
{
    dns_stop(&w.dns);
    name_server_close(&w.bench.loop);
    bench_close(&w.bench);
}

static void expect(const char *name, int result)
{
    w.calls = 0;
    dns_both_start(&w.both, &w.dns, name, both_done, NULL);
    happy_eyeballs_start(&w.happy, &w.dns, name, 9, happy_done, NULL);
    bench_run(&w.bench, 1000000);
    assert_int_equal(w.calls, 2);
    assert_int_equal(w.both.count, 0);
    assert_int_equal(w.both.result, result);
    assert_int_equal(w.happy.socket, 0);
    assert_int_equal(w.happy.result, result);
}

static void a_server_tells(void **state)
{
    (void)state;
    open_world(true);
    expect("xyz.example", DNS_NO_NAME);
    expect("none.example", DNS_NO_DATA);
    close_world();
}

// That nobody can be asked says nothing of the name.
static void nobody_can_be_asked(void **state)
{
    (void)state;
    open_world(false);
    expect("both.example", WEIR_NO_ROUTE);
    expect("a..b", WEIR_INVALID);
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_tells),
        cmocka_unit_test(nobody_can_be_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
