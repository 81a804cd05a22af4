// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// Which of two addresses speaks (RFC 6724 §5), a rule a row. (Rules 5.5 and 7: ip/router_test.c, ip/temporary_test.c.)
#include "ip/packets6.h"

#include "link/address.h"
#include "weir/socket.h"

#define GLOBAL6(last) ip6_of(0x20010db8u, 1, 0, last)
#define LINK6(last) ip6_of(0xfe800000u, 0, 0, last)
#define LOCAL6(last) ip6_of(0xfd000000u, 1, 0, last)
#define TEREDO6 ip6_of(0x20010000u, 1, 0, 5)
#define SIX_TO_FOUR6 ip6_of(0x20020a00u, 1, 0, 5)

struct pair_of {
    const char *rule;
    struct weir_addr to, speaks, other;
    bool speaks_deprecated, other_deprecated;
};

static void add(struct fixture *f, struct weir_addr a, bool deprecated)
{
    const struct weir_addr addr = weir_addr_is_link_local6(a) ? weir_addr_with_zone(a, f->netif.index) : a;
    assert_int_equal(weir_netif_address_add(&f->netif, addr, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    if (deprecated)
        assert_int_equal(weir_netif_address_lifetimes(&f->netif, addr, 0, WEIR_NEVER), WEIR_OK);
}

// In whatever order the interface has them.
static void expect(const struct pair_of *pair, bool speaks_first)
{
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    if (speaks_first)
        add(&f, pair->speaks, pair->speaks_deprecated);
    add(&f, pair->other, pair->other_deprecated);
    if (!speaks_first)
        add(&f, pair->speaks, pair->speaks_deprecated);
    fixture_poll(&f, 1000);
    const struct weir_netif_address *const own = address_source6(&f.netif, pair->to, 0);
    assert_non_null(own);
    if (!weir_addr_equal(weir_addr_with_zone(own->addr, 0), pair->speaks))
        fail_msg("%s", pair->rule);
    fixture_close(&f);
}

static void the_rules_in_their_order(void **state)
{
    (void)state;
    const struct pair_of pairs[] = {
        {.rule = "1: the destination itself", .to = GLOBAL6(1), .speaks = GLOBAL6(1), .other = GLOBAL6(2)},
        {.rule = "1 before 3", .to = GLOBAL6(1), .speaks = GLOBAL6(1), .other = GLOBAL6(2), .speaks_deprecated = true},
        {.rule = "2: global to global", .to = FAR6, .speaks = GLOBAL6(1), .other = LINK6(1)},
        {.rule = "2: link-local to link-local", .to = LINK6(9), .speaks = LINK6(1), .other = GLOBAL6(1)},
        {.rule = "2: to a group of the link", .to = ALL_NODES6, .speaks = LINK6(1), .other = GLOBAL6(1)},
        {.rule = "2: to a global group", .to = ip6_of(0xff0e0000u, 0, 0, 1), .speaks = GLOBAL6(1), .other = LINK6(1)},
        {.rule = "2 before 3", .to = FAR6, .speaks = GLOBAL6(1), .other = LINK6(1), .speaks_deprecated = true},
        {.rule = "3: preferred", .to = FAR6, .speaks = GLOBAL6(1), .other = GLOBAL6(2), .other_deprecated = true},
        {.rule = "3 before 8",
         .to = GLOBAL6(9),
         .speaks = ip6_of(0x20010db8u, 8, 0, 1),
         .other = GLOBAL6(2),
         .other_deprecated = true},
        {.rule = "6: unique local", .to = LOCAL6(9), .speaks = LOCAL6(1), .other = GLOBAL6(1)},
        {.rule = "6: not unique local", .to = FAR6, .speaks = GLOBAL6(1), .other = LOCAL6(1)},
        {.rule = "6: 6to4", .to = ip6_of(0x20020b00u, 0, 0, 1), .speaks = SIX_TO_FOUR6, .other = GLOBAL6(1)},
        {.rule = "6: not Teredo", .to = FAR6, .speaks = GLOBAL6(1), .other = TEREDO6},
        {.rule = "8: longest match",
         .to = ip6_of(0x20010db8u, 3, 0, 1),
         .speaks = ip6_of(0x20010db8u, 2, 0, 1),
         .other = GLOBAL6(1)},
    };
    for (unsigned i = 0; i < 2 * sizeof pairs / sizeof pairs[0]; i++)
        expect(&pairs[i / 2], i & 1);
}

// Rule 8 stops at the prefix: the identifier decides nothing, and the first stays.
static void identifiers_do_not_match(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    add(&f, GLOBAL6(0x80), false);
    add(&f, GLOBAL6(8), false);
    fixture_poll(&f, 1000);
    assert_true(weir_addr_equal(address_source6(&f.netif, GLOBAL6(9), 0)->addr, GLOBAL6(0x80)));
    fixture_close(&f);
}

static void what_is_not_ready_does_not_speak(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_address_add(&f.netif, GLOBAL6(1), 64, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_null(address_source6(&f.netif, FAR6, 0));
    fixture_poll(&f, 3000000);
    assert_non_null(address_source6(&f.netif, FAR6, 0));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rules_in_their_order),
        cmocka_unit_test(identifiers_do_not_match),
        cmocka_unit_test(what_is_not_ready_does_not_speak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
