// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Names of both families, asked over both, and who says which server is asked.
#include "apps/dns/questions.h"

static void open_all(struct bench *bench, struct weir_addr server)
{
    bench_open(bench);
    assert_int_equal(weir_route_add(bench->f.weir, weir_addr_v4(0), 0, weir_ip4(10, 0, 0, 2), &bench->f.netif, 0),
                     WEIR_OK);
    resolver_open(bench, server);
}

static void add_ip6(struct bench *bench)
{
    const struct weir_addr router = weir_addr_with_zone(ip6_of(0xfe800000u, 0, 0, 0xfe), bench->f.netif.index);
    assert_int_equal(weir_netif_address_add(&bench->f.netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_route_add(bench->f.weir, weir_addr_any(), 0, router, &bench->f.netif, 0), WEIR_OK);
}

#define assert_first(both, addr) assert_true((both)->count > 0 && weir_addr_equal((both)->addresses[0], addr))

static void both_families_in_order(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench, weir_ip4(127, 0, 0, 1));
    ask(&bench, &both, "both.example", 100000);
    assert_int_equal(both.result, DNS_FOUND);
    assert_int_equal(both.count, 2);
    assert_first(&both, NAME_FOUR);  // there is no route of IPv6
    assert_int_equal(name_server.asked, 2);
    add_ip6(&bench);
    ask(&bench, &both, "Both.Example", 100000);
    assert_first(&both, NAME_SIX);
    assert_int_equal(name_server.asked, 2);  // both kinds are kept
    ask(&bench, &both, "alias.example", 100000);
    assert_int_equal(both.count, 1);
    assert_first(&both, NAME_SIX);
    ask(&bench, &both, "four.example", 100000);
    assert_int_equal(both.count, 1);
    assert_first(&both, NAME_FOUR);
    ask(&bench, &both, "xyz.example", 100000);
    assert_int_equal(both.result, DNS_NO_NAME);
    ask(&bench, &both, "none.example", 100000);
    assert_int_equal(both.result, DNS_NO_DATA);
    close_all(&bench);
}

static void servers_are_asked_over_ip6(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench, LOOPBACK6);
    ask(&bench, &both, "both.example", 100000);
    assert_int_equal(both.count, 2);
    assert_true(weir_addr_equal(name_server.asked_by, LOOPBACK6));
    close_all(&bench);
}

static void a_missing_answer_does_not_stall_the_other(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench, weir_ip4(127, 0, 0, 1));
    name_server.silent_type = DNS_AAAA;
    ask(&bench, &both, "both.example", DNS_OTHER_US + 20000);
    assert_int_equal(both.result, DNS_FOUND);
    assert_int_equal(both.count, 1);
    assert_first(&both, NAME_FOUR);
    close_all(&bench);
}

static void a_server_without_a_way_is_passed_over(void **state)
{
    struct bench bench;
    struct dns_both both;
    const struct weir_addr servers[2] = {FAR6, weir_ip4(127, 0, 0, 1)};  // there is no IPv6
    (void)state;
    open_all(&bench, weir_addr_any());
    dns_servers(&dns, servers, 2);
    ask(&bench, &both, "both.example", 100000);
    assert_int_equal(both.count, 2);
    close_all(&bench);
}

static void say_server(struct bench *bench, struct weir_addr server, uint32_t lifetime_s)
{
    uint8_t message[16 + 24] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64};
    message[16] = ND_DNS_SERVERS;
    message[17] = 3;
    put32(message + 20, lifetime_s);
    weir_addr_to_v6(server, message + 24);
    const struct make6 make = {.source = ip6_of(0xfe800000u, 0, 0, 0xfe), .destination = ALL_NODES6, .hop_limit = 255};
    input_icmp6(&bench->f, &make, message, sizeof message);
}

static void the_servers_in_force(void **state)
{
    struct bench bench;
    struct weir_addr out[DNS_SERVERS];
    const struct weir_addr dhcp[2] = {weir_ip4(10, 0, 0, 53), weir_ip4(10, 0, 0, 54)}, dhcp6 = PEER6;
    (void)state;
    open_all(&bench, weir_addr_any());
    assert_int_equal(weir_netif_ip6(&bench.f.netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
    assert_int_equal(dns_servers_in_force(&dns, out), 0);
    say_server(&bench, OTHER6, 60);
    assert_int_equal(dns_servers_in_force(&dns, out), 1);
    assert_true(weir_addr_equal(out[0], OTHER6));
    dns_servers_from(&dns, DNS_DHCP, dhcp, 1);
    assert_int_equal(dns_servers_in_force(&dns, out), 2);
    assert_true(weir_addr_equal(out[0], dhcp[0]) && weir_addr_equal(out[1], OTHER6));
    dns_servers_from(&dns, DNS_DHCP6, &dhcp6, 1);
    assert_int_equal(dns_servers_in_force(&dns, out), 3);
    assert_true(weir_addr_equal(out[1], dhcp6));
    dns_servers_from(&dns, DNS_DHCP, dhcp, 2);
    assert_int_equal(dns_servers_in_force(&dns, out), DNS_SERVERS);
    dns_servers(&dns, dhcp + 1, 1);  // given: alone
    assert_int_equal(dns_servers_in_force(&dns, out), 1);
    assert_true(weir_addr_equal(out[0], dhcp[1]));
    dns_servers(&dns, NULL, 0);
    dns_servers_from(&dns, DNS_DHCP, NULL, 0);
    dns_servers_from(&dns, DNS_DHCP6, NULL, 0);
    bench_run(&bench, 61000000);
    assert_int_equal(dns_servers_in_force(&dns, out), 0);
    close_all(&bench);
}

static void addresses_are_synthesised_behind_nat64(void **state)
{
    struct bench bench;
    struct dns_both both;
    (void)state;
    open_all(&bench, LOOPBACK6);
    assert_int_equal(weir_netif_ip6(&bench.f.netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
    add_ip6(&bench);
    ask(&bench, &both, "192.0.2.33", 10000);
    assert_first(&both, weir_ip4(192, 0, 2, 33));
    say_nat64(&bench);
    ask(&bench, &both, "192.0.2.33", 10000);
    assert_first(&both, weir_ip4(192, 0, 2, 33));  // IPv4 leads there by itself
    assert_int_equal(weir_netif_set_address(&bench.f.netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    ask(&bench, &both, "192.0.2.33", 10000);
    assert_first(&both, ip6_of(0x0064ff9bu, 0, 0, 0xc0000221u));
    ask(&bench, &both, "four.example", 100000);
    assert_first(&both, ip6_of(0x0064ff9bu, 0, 0, 0x0a090807u));
    ask(&bench, &both, "both.example", 100000);
    assert_first(&both, NAME_SIX);  // it has an address of its own
    close_all(&bench);
}

// RFC 6052 §2.4.
static void where_the_bytes_of_ip4_stand(void **state)
{
    const struct weir_addr v4 = weir_ip4(192, 0, 2, 33);
    (void)state;
    static const struct {
        uint8_t bits;
        uint32_t prefix[3], made[4];
    } rows[] = {
        {32, {0x20010db8u, 0, 0}, {0x20010db8u, 0xc0000221u, 0, 0}},
        {40, {0x20010db8u, 0x01000000u, 0}, {0x20010db8u, 0x01c00002u, 0x00210000u, 0}},
        {48, {0x20010db8u, 0x01220000u, 0}, {0x20010db8u, 0x0122c000u, 0x00022100u, 0}},
        {56, {0x20010db8u, 0x01220300u, 0}, {0x20010db8u, 0x012203c0u, 0x00000221u, 0}},
        {64, {0x20010db8u, 0x01220344u, 0}, {0x20010db8u, 0x01220344u, 0x00c00002u, 0x21000000u}},
        {96, {0x20010db8u, 0x01220344u, 0}, {0x20010db8u, 0x01220344u, 0, 0xc0000221u}},
    };
    for (uint32_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_addr prefix = ip6_of(rows[i].prefix[0], rows[i].prefix[1], rows[i].prefix[2], 0);
        const uint32_t *const made = rows[i].made;
        assert_true(weir_addr_equal(dns_nat64(prefix, rows[i].bits, v4), ip6_of(made[0], made[1], made[2], made[3])));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_families_in_order),
        cmocka_unit_test(servers_are_asked_over_ip6),
        cmocka_unit_test(a_missing_answer_does_not_stall_the_other),
        cmocka_unit_test(a_server_without_a_way_is_passed_over),
        cmocka_unit_test(the_servers_in_force),
        cmocka_unit_test(addresses_are_synthesised_behind_nat64),
        cmocka_unit_test(where_the_bytes_of_ip4_stand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
