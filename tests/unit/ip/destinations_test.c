// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Which of a name's addresses is tried first: RFC 6724 §6, rule by rule, and its examples (§10.2).
#include "ip/packets6.h"
#include "weir/names.h"

#define ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfe)
#define FAR4 weir_ip4(198, 51, 100, 121)
#define ULA(n) ip6_of(0xfd000000u, 0, 0, (n))

static void open_with(struct fixture *f, bool v4, bool v6)
{
    fixture_open(f, &weir_link_ethernet, v4 ? weir_ip4(198, 51, 100, 117) : weir_addr_any(), v4 ? 24 : 0, 0);
    if (v4)
        assert_int_equal(weir_route_add(f->weir, weir_addr_v4(0), 0, weir_ip4(198, 51, 100, 1), &f->netif, 0), WEIR_OK);
    if (v6) {
        const struct weir_addr router = weir_addr_with_zone(ROUTER6, f->netif.index);
        assert_int_equal(weir_netif_address_add(&f->netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
        assert_int_equal(weir_route_add(f->weir, weir_addr_any(), 0, router, &f->netif, 0), WEIR_OK);
    }
}

// Whether of the two, in whichever order they are given, `first` is tried first.
static void expect_order(struct fixture *f, struct weir_addr first, struct weir_addr second)
{
    struct weir_addr one[2] = {first, second}, other[2] = {second, first};
    weir_destinations_sort(f->weir, one, 2);
    weir_destinations_sort(f->weir, other, 2);
    assert_true(weir_addr_equal(one[0], first));
    assert_true(weir_addr_equal(one[1], second));
    assert_true(weir_addr_equal(other[0], first));
    assert_true(weir_addr_equal(other[1], second));
}

static void what_cannot_be_reached_comes_last(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, true, false);
    expect_order(&f, FAR4, FAR6);  // no route
    fixture_close(&f);
    open_with(&f, false, true);
    expect_order(&f, FAR6, FAR4);
    fixture_close(&f);
}

static void families_in_the_tables_order(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, true, true);
    expect_order(&f, FAR6, FAR4);                                    // rule 6: 40 before 35
    expect_order(&f, FAR4, ip6_of(0x20020000u | 0xc633u, 0, 0, 1));  // rule 5: 6to4 has another label than our source
    expect_order(&f, FAR4, ULA(1));                                  // no ULA of our own: rule 5
    fixture_close(&f);
}

static void the_sources_scope_and_label_count(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, true, true);
    const struct weir_addr near = weir_addr_with_zone(PEER_LINK6, f.netif.index);
    assert_int_equal(
        weir_netif_address_add(&f.netif, weir_addr_with_zone(LINK_LOCAL6, f.netif.index), 64, WEIR_ADDRESS_AT_ONCE),
        WEIR_OK);
    expect_order(&f, near, FAR6);  // rule 8: the smaller scope
    assert_int_equal(weir_netif_address_add(&f.netif, ULA(0x1111), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    expect_order(&f, FAR6, ULA(2));  // rule 6: 40 before 3
    expect_order(&f, FAR4, ULA(2));
    fixture_close(&f);
}

static void a_deprecated_source_comes_later(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, true, true);
    const uint64_t now_us = weir_now_us(f.weir);
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, OURS6, now_us, WEIR_NEVER), WEIR_OK);
    fixture_poll(&f, 10000);
    expect_order(&f, FAR4, FAR6);
    fixture_close(&f);
}

static void the_longest_match_of_one_family(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_addr rotated[3] = {weir_ip4(192, 0, 2, 1), FAR4, weir_ip4(192, 0, 2, 2)};
    open_with(&f, true, true);
    expect_order(&f, FAR6, ip6_of(0x3ffe0000u, 0, 0, 1));
    expect_order(&f, PEER6, ip6_of(0x24000000u, 0, 0, 1));
    weir_destinations_sort(f.weir, rotated, 3);  // IPv4 keeps the name server's order
    assert_true(weir_addr_equal(rotated[0], weir_ip4(192, 0, 2, 1)));
    assert_true(weir_addr_equal(rotated[2], weir_ip4(192, 0, 2, 2)));
    fixture_close(&f);
}

static void families_that_are_configured(void **state)
{
    (void)state;
    struct fixture f;
    open_with(&f, false, false);
    assert_int_equal(weir_netif_ip6(&f.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    fixture_poll(&f, 5000000);
    assert_false(weir_family_configured(f.weir, true));  // link-local and loopback alone do not count
    assert_false(weir_family_configured(f.weir, false));
    assert_int_equal(weir_netif_address_add(&f.netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_true(weir_family_configured(f.weir, true));
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(169, 254, 1, 1), 16, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_false(weir_family_configured(f.weir, false));
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(10, 0, 0, 1), 8, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_true(weir_family_configured(f.weir, false));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_reached_comes_last), cmocka_unit_test(families_in_the_tables_order),
        cmocka_unit_test(the_sources_scope_and_label_count), cmocka_unit_test(a_deprecated_source_comes_later),
        cmocka_unit_test(the_longest_match_of_one_family),   cmocka_unit_test(families_that_are_configured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
