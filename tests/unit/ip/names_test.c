// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// DNS servers, search domains and NAT64 prefixes of router advertisements: lifetimes, order, bounds (RFC 8106, 8781).
#include "ip/packets6.h"
#include "weir/names.h"

#define SECOND 1000000u
#define ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfe)
#define SERVER6(n) ip6_of(0x20010db8u, 0, 0, 0x5300u + (n))

static void open_auto(struct fixture *f)
{
    fixture_open(f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_ip6(&f->netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
}

// An advertisement with one option, whose first two bytes are made here. The router's own lifetime is 0: DNS counts all
// the same.
static void advertise(struct fixture *f, uint8_t type, const void *body, uint32_t bytes)
{
    uint8_t message[16 + 512] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64};
    const uint32_t units = (2 + bytes + 7) / 8;
    assert_true(units * 8 <= 512);
    message[16] = type;
    message[17] = (uint8_t)units;
    memcpy(message + 18, body, bytes);
    input_icmp6(f, &(struct make6){.source = ROUTER6, .destination = ALL_NODES6, .hop_limit = 255}, message,
                16 + units * 8);
}

static void say_servers(struct fixture *f, uint32_t first, uint32_t count, uint32_t lifetime_s)
{
    uint8_t body[6 + 16 * 16] = {0};
    put32(body + 2, lifetime_s);
    for (uint32_t i = 0; i < count; i++)
        weir_addr_to_v6(SERVER6(first + i), body + 6 + 16 * i);
    advertise(f, ND_DNS_SERVERS, body, 6 + 16 * count);
}

static void say_domains(struct fixture *f, const char *names, uint32_t bytes, uint32_t lifetime_s)
{
    uint8_t body[300] = {0};
    put32(body + 2, lifetime_s);
    memcpy(body + 6, names, bytes);
    advertise(f, ND_DNS_DOMAINS, body, 6 + bytes);
}

static uint32_t servers(const struct fixture *f, struct weir_addr out[16])
{
    return weir_router_dns_servers(f->weir, out, 16);
}

#define assert_server(addr, n) assert_true(weir_addr_equal(addr, SERVER6(n)))

static void servers_stand_in_the_routers_order(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr out[16];
    open_auto(&f);
    assert_int_equal(servers(&f, out), 0);
    say_servers(&f, 0, 3, 600);
    say_servers(&f, 1, 1, 900);  // heard again: stays where it is
    assert_int_equal(servers(&f, out), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_server(out[i], i);
    assert_int_equal(weir_router_dns_servers(f.weir, out, 2), 2);
    fixture_close(&f);
}

static void servers_end_with_their_lifetime(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr out[16];
    open_auto(&f);
    say_servers(&f, 0, 1, 20);
    say_servers(&f, 1, 1, UINT32_MAX);
    say_servers(&f, 2, 2, 60);
    fixture_poll(&f, 19 * SECOND);
    assert_int_equal(servers(&f, out), 4);
    fixture_poll(&f, SECOND + 1);
    assert_int_equal(servers(&f, out), 3);
    assert_server(out[0], 1);
    say_servers(&f, 2, 1, 0);
    assert_int_equal(servers(&f, out), 2);
    assert_server(out[1], 3);
    fixture_poll(&f, 3600ull * SECOND);
    assert_int_equal(servers(&f, out), 1);
    assert_server(out[0], 1);
    fixture_close(&f);
}

// A full list gives up what would end first, for what lives longer.
static void a_full_list_keeps_what_lives_longest(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr out[16];
    open_auto(&f);
    for (uint32_t i = 0; i < NAMES_SERVERS; i++)
        say_servers(&f, i, 1, i == 2 ? 100 : 1000);
    say_servers(&f, 50, 1, 50);
    assert_int_equal(servers(&f, out), NAMES_SERVERS);
    assert_server(out[2], 2);
    say_servers(&f, 51, 2, 500);
    assert_int_equal(servers(&f, out), NAMES_SERVERS);
    assert_server(out[2], 3);
    assert_server(out[NAMES_SERVERS - 1], 51);
    fixture_poll(&f, 501ull * SECOND);
    say_servers(&f, 60, 1, 5);  // there is room again
    assert_int_equal(servers(&f, out), NAMES_SERVERS);
    assert_server(out[NAMES_SERVERS - 1], 60);
    fixture_close(&f);
}

static void no_host_can_be_asked_at_a_group(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr out[16];
    uint8_t body[6 + 4 * 16] = {0};
    open_auto(&f);
    put32(body + 2, 600);
    weir_addr_to_v6(ALL_NODES6, body + 6);
    weir_addr_to_v6(weir_addr_any(), body + 22);
    weir_addr_to_v6(ip6_of(0, 0, 0, 1), body + 38);
    weir_addr_to_v6(PEER_LINK6, body + 54);
    advertise(&f, ND_DNS_SERVERS, body, sizeof body);
    assert_int_equal(servers(&f, out), 1);
    assert_int_equal(weir_addr_zone(out[0]), f.netif.index);  // a link-local server keeps its zone
    fixture_close(&f);
}

static void domains_are_names_of_hosts(void **state)
{
    (void)state;
    struct fixture f;
    char text[WEIR_DOMAIN_BYTES];
    char long_name[200];
    open_auto(&f);
    say_domains(&f, "\3lab\4test\0\7example\0\3a b\0\2;x\0", 27, 30);
    assert_true(weir_router_dns_domain(f.weir, 0, text));
    assert_string_equal(text, "lab.test");
    assert_true(weir_router_dns_domain(f.weir, 1, text));
    assert_string_equal(text, "example");
    assert_false(weir_router_dns_domain(f.weir, 2, text));
    memset(long_name, 'x', sizeof long_name);
    long_name[0] = long_name[64] = 63;
    long_name[128] = 1;
    long_name[130] = 0;
    say_domains(&f, long_name, 131, 30);  // 129 characters
    assert_false(weir_router_dns_domain(f.weir, 2, text));
    long_name[128] = 0;
    say_domains(&f, long_name, 129, 30);  // 127, and their 0
    assert_true(weir_router_dns_domain(f.weir, 2, text));
    assert_int_equal(strlen(text), 127);
    say_domains(&f, "\3lab\4test\0", 10, 0);
    assert_true(weir_router_dns_domain(f.weir, 0, text));
    assert_string_equal(text, "example");
    fixture_poll(&f, 31 * SECOND);
    assert_false(weir_router_dns_domain(f.weir, 0, text));
    fixture_close(&f);
}

static void nat64_has_a_prefix(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr prefix;
    uint8_t bits, body[14] = {0x02, 0x58 | 1, 0x20, 1, 0x0d, 0xb8, 0x64};  // 600 s, /64
    open_auto(&f);
    assert_false(weir_router_nat64(f.weir, &prefix, &bits));
    advertise(&f, ND_PREF64, body, sizeof body);
    assert_true(weir_router_nat64(f.weir, &prefix, &bits));
    assert_true(weir_addr_equal(prefix, ip6_of(0x20010db8u, 0x64000000u, 0, 0)));
    assert_int_equal(bits, 64);
    body[1] |= 7;  // a length that is none
    body[3] = 2;
    advertise(&f, ND_PREF64, body, sizeof body);
    fixture_poll(&f, 599ull * SECOND);
    assert_true(weir_router_nat64(f.weir, &prefix, &bits));
    fixture_poll(&f, 2 * SECOND);
    assert_false(weir_router_nat64(f.weir, &prefix, &bits));
    fixture_close(&f);
}

static void what_was_said_goes_with_the_link(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr out[16];
    char text[WEIR_DOMAIN_BYTES];
    open_auto(&f);
    say_servers(&f, 0, 3, UINT32_MAX);
    say_domains(&f, "\3lab\4test\0", 10, UINT32_MAX);
    weir_link_change(&f.netif, false);
    assert_int_equal(servers(&f, out), 0);
    assert_false(weir_router_dns_domain(f.weir, 0, text));
    weir_link_change(&f.netif, true);
    say_servers(&f, 0, 3, UINT32_MAX);
    assert_int_equal(servers(&f, out), 3);
    weir_netif_remove(&f.netif);
    assert_int_equal(servers(&f, out), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_stand_in_the_routers_order),   cmocka_unit_test(servers_end_with_their_lifetime),
        cmocka_unit_test(a_full_list_keeps_what_lives_longest), cmocka_unit_test(no_host_can_be_asked_at_a_group),
        cmocka_unit_test(domains_are_names_of_hosts),           cmocka_unit_test(nat64_has_a_prefix),
        cmocka_unit_test(what_was_said_goes_with_the_link),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
