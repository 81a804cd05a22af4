// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Connecting by name while one family's packets vanish (RFC 8305). Addresses of the name that are this host's answer;
// the others have neighbours that are silent.
#include "apps/bench.h"
#include "apps/dns/names.h"
#include "discard.h"
#include "happy_eyeballs.h"
#include "ip/packets6.h"

#define NAME_SIX ip6_of(0x20010db8u, 0, 0, 7)

struct race {
    struct bench bench;
    struct dns dns;
    struct discard discard;
    struct happy_eyeballs happy;
    uint32_t calls;
    uint64_t began_us, done_us;
};

static struct race r;

enum own { OWN_NONE = 0, OWN_FOUR = 1, OWN_SIX = 2 };

static void open_all(unsigned own)
{
    const struct weir_addr server = weir_ip4(127, 0, 0, 1);
    struct weir_netif *const netif = &r.bench.f.netif;
    memset(&r, 0, sizeof r);
    bench_open(&r.bench);
    assert_int_equal(weir_route_add(r.bench.f.weir, weir_addr_v4(0), 0, weir_ip4(10, 0, 0, 2), netif, 0), WEIR_OK);
    assert_int_equal(weir_netif_address_add(netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    if (own & OWN_FOUR)
        assert_int_equal(weir_netif_address_add(netif, NAME_FOUR, 32, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    if (own & OWN_SIX)
        assert_int_equal(weir_netif_address_add(netif, NAME_SIX, 128, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    name_server_open(&r.bench.loop);
    dns_start(&r.dns, &r.bench.loop);
    dns_servers(&r.dns, &server, 1);
    assert_int_equal(discard_start(&r.discard, &r.bench.loop, 9), WEIR_OK);
}

static void close_all(void)
{
    if (r.happy.socket > 0)
        (void)weir_socket_close(r.bench.f.weir, r.happy.socket);
    discard_stop(&r.discard);
    dns_stop(&r.dns);
    name_server_close(&r.bench.loop);
    bench_run(&r.bench, 1000000);
    bench_close(&r.bench);
}

static void done(void *context, struct happy_eyeballs *self)
{
    (void)self;
    ++*(uint32_t *)context;
    r.done_us = weir_now_us(r.bench.f.weir);
}

// The milliseconds that it took.
static uint64_t race(const char *name, uint16_t port, uint64_t us)
{
    r.calls = 0;
    r.began_us = r.bench.f.now_us;
    happy_eyeballs_start(&r.happy, &r.dns, name, port, done, &r.calls);
    assert_int_equal(r.calls, 0);
    bench_run(&r.bench, us);
    assert_int_equal(r.calls, 1);
    return (r.done_us - r.began_us) / 1000;
}

static void expect_peer(struct weir_addr addr)
{
    struct weir_endpoint peer;
    assert_int_equal(r.happy.result, WEIR_OK);
    assert_true(r.happy.socket > 0);
    assert_int_equal(weir_socket_peer(r.bench.f.weir, r.happy.socket, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, addr));
}

static uint32_t streams(void)
{
    struct weir_socket_info info;
    uint64_t cursor = 0;
    uint32_t count = 0;
    while ((cursor = weir_socket_next(r.bench.f.weir, cursor, &info)) != 0)
        count += info.type == WEIR_STREAM && info.tcp_state != WEIR_TCP_LISTEN;
    return count;
}

static void the_first_address_wins(void **state)
{
    (void)state;
    open_all(OWN_FOUR | OWN_SIX);
    assert_in_range(race("both.example", 9, 1000000), 0, 20);
    expect_peer(NAME_SIX);
    close_all();
}

static void a_black_hole_of_ip6_costs_a_quarter_of_a_second(void **state)
{
    (void)state;
    open_all(OWN_FOUR);
    assert_in_range(race("both.example", 9, 2000000), 250, 280);
    expect_peer(NAME_FOUR);
    assert_in_range(streams(), 1, 2);  // ours and the server's end of it: the other attempt is closed
    close_all();
}

static void a_black_hole_of_ip4_costs_nothing(void **state)
{
    (void)state;
    open_all(OWN_SIX);
    assert_in_range(race("both.example", 9, 1000000), 0, 20);
    expect_peer(NAME_SIX);
    close_all();
}

static void a_missing_answer_costs_the_resolution_delay(void **state)
{
    (void)state;
    open_all(OWN_FOUR | OWN_SIX);
    name_server.silent_type = DNS_AAAA;
    assert_in_range(race("both.example", 9, 1000000), 50, 70);
    expect_peer(NAME_FOUR);
    close_all();
    open_all(OWN_FOUR | OWN_SIX);
    name_server.silent_type = DNS_A;
    assert_in_range(race("both.example", 9, 1000000), 0, 20);
    expect_peer(NAME_SIX);
    close_all();
}

static void a_refusal_brings_the_next_at_once(void **state)
{
    (void)state;
    open_all(OWN_FOUR | OWN_SIX);
    assert_in_range(race("both.example", 1234, 1000000), 0, 20);
    assert_int_equal(r.happy.socket, 0);
    assert_int_equal(r.happy.result, WEIR_REFUSED);
    assert_int_equal(streams(), 0);
    close_all();
}

static void names_without_addresses(void **state)
{
    (void)state;
    open_all(OWN_NONE);
    (void)race("xyz.example", 9, 1000000);
    assert_int_equal(r.happy.result, DNS_NO_NAME);
    (void)race("none.example", 9, 1000000);
    assert_int_equal(r.happy.result, DNS_NO_DATA);
    (void)race("a..b", 9, 1000000);
    assert_int_equal(r.happy.result, WEIR_INVALID);
    close_all();
}

static void it_ends_and_can_be_stopped(void **state)
{
    (void)state;
    open_all(OWN_NONE);
    (void)race("both.example", 9, HAPPY_EYEBALLS_TIMEOUT_US + 1000000);
    assert_int_equal(r.happy.socket, 0);
    assert_true(r.happy.result < 0);
    assert_int_equal(streams(), 0);
    r.calls = 0;
    happy_eyeballs_start(&r.happy, &r.dns, "both.example", 9, done, &r.calls);
    bench_run(&r.bench, 400000);
    assert_int_equal(streams(), 2);
    happy_eyeballs_stop(&r.happy);
    bench_run(&r.bench, 1000000);
    assert_int_equal(r.calls, 0);
    assert_int_equal(streams(), 0);
    close_all();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_address_wins),
        cmocka_unit_test(a_black_hole_of_ip6_costs_a_quarter_of_a_second),
        cmocka_unit_test(a_black_hole_of_ip4_costs_nothing),
        cmocka_unit_test(a_missing_answer_costs_the_resolution_delay),
        cmocka_unit_test(a_refusal_brings_the_next_at_once),
        cmocka_unit_test(names_without_addresses),
        cmocka_unit_test(it_ends_and_can_be_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
