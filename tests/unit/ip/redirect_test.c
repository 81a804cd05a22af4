// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// Redirects (RFC 4861 §8): whose are believed, and what they change. What a redirect must look like: wire/nd_test.c.
#include "ip/advertise6.h"

#include "ip/internal.h"
#include "link/neighbour.h"

#define BETTER6 ip6_of(0xfe800000u, 0, 0, 0xfb)
#define BEST6 ip6_of(0xfe800000u, 0, 0, 0xfa)

static void open_behind_router(struct fixture *f)
{
    const struct prefix_said said = of_prefix(1);
    open_auto(f, NULL);
    fixture_poll(f, 5 * SECOND);
    advertise(f, ROUTER6, 9000, 0, &said, 0);
    fixture_poll(f, 5 * SECOND);
}

static void redirect(struct fixture *f, struct weir_addr from, struct weir_addr target, struct weir_addr destination,
                     const uint8_t *mac)
{
    uint8_t message[48] = {ICMP6_REDIRECT};
    weir_addr_to_v6(target, message + 8);
    weir_addr_to_v6(destination, message + 24);
    message[40] = ND_TARGET_LINK;
    message[41] = 1;
    if (mac)
        memcpy(message + 42, mac, 6);
    input_icmp6(f, &(struct make6){.source = from, .destination = LINK_LOCAL6, .hop_limit = 255}, message,
                mac ? 48 : 40);
    fixture_poll(f, 1000);
}

static struct weir_addr way_to(struct fixture *f, struct weir_addr destination)
{
    struct weir_addr source = weir_addr_any();
    struct path path;
    assert_int_equal(ip_path_find(f->weir, &path, &source, destination, 0), WEIR_OK);
    return weir_addr_with_zone(path.next_hop, 0);
}

#define assert_way(f, to, hop) assert_true(weir_addr_equal(way_to(f, to), hop))
#define OTHER_FAR6 ip6_of(0x20010db8u, 0x99990000u, 0, 8)

static void a_better_router_is_taken_for_that_destination(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    redirect(&f, ROUTER6, BETTER6, FAR6, FIXTURE_PEER_MAC);  // nothing was ever sent there
    assert_way(&f, FAR6, BETTER6);
    assert_way(&f, OTHER_FAR6, ROUTER6);
    const struct neighbour *const n = neighbour_find(f.weir, &f.netif, weir_addr_with_zone(BETTER6, 1));
    assert_non_null(n);
    assert_int_equal(n->state, NEIGHBOUR_STALE);
    assert_true(n->router);
    fixture_poll(&f, 601ull * SECOND);
    assert_way(&f, FAR6, ROUTER6);
    fixture_close(&f);
}

static void a_destination_on_the_link_is_reached_itself(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    redirect(&f, ROUTER6, FAR6, FAR6, NULL);
    assert_way(&f, FAR6, FAR6);
    assert_null(neighbour_find(f.weir, &f.netif, FAR6));
    fixture_close(&f);
}

static void only_the_first_hop_is_believed(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    redirect(&f, BETTER6, BEST6, FAR6, NULL);  // a router, perhaps, but not this one
    assert_way(&f, FAR6, ROUTER6);
    redirect(&f, OTHER6, BEST6, FAR6, NULL);  // not from the link
    assert_way(&f, FAR6, ROUTER6);
    redirect(&f, ROUTER6, OTHER6, FAR6, NULL);  // to a router that is none: no link-local address
    assert_way(&f, FAR6, ROUTER6);
    redirect(&f, ROUTER6, BETTER6, ALL_NODES6, NULL);
    assert_null(neighbour_find(f.weir, &f.netif, weir_addr_with_zone(BEST6, 1)));
    fixture_close(&f);
}

static void the_next_redirect_is_its_first_hops(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    redirect(&f, ROUTER6, BETTER6, FAR6, NULL);
    redirect(&f, ROUTER6, BEST6, FAR6, NULL);  // it is the first hop no longer
    assert_way(&f, FAR6, BETTER6);
    redirect(&f, BETTER6, BEST6, FAR6, NULL);
    assert_way(&f, FAR6, BEST6);
    redirect(&f, BEST6, FAR6, FAR6, NULL);
    assert_way(&f, FAR6, FAR6);
    fixture_close(&f);
}

static void it_goes_with_its_router(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    redirect(&f, ROUTER6, BETTER6, FAR6, NULL);
    ip_router_lost(f.weir, &f.netif, weir_addr_with_zone(BETTER6, 1));
    assert_way(&f, FAR6, ROUTER6);
    fixture_close(&f);
}

static void floods_of_redirects_fill_no_table(void **state)
{
    (void)state;
    struct fixture f;
    open_behind_router(&f);
    for (uint32_t i = 0; i < 500; i++)
        redirect(&f, ROUTER6, BETTER6, ip6_of(0x20010db8u, 0x99990000u, 1, i), NULL);
    assert_in_range(f.weir->ip.route_count, 2, WEIR_CFG_ROUTES / 2 + 1);
    assert_way(&f, OTHER_FAR6, ROUTER6);
    assert_int_equal(weir_route_add(f.weir, OTHER6, 64, PEER_LINK6, &f.netif, 0), WEIR_OK);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_better_router_is_taken_for_that_destination),
        cmocka_unit_test(a_destination_on_the_link_is_reached_itself),
        cmocka_unit_test(only_the_first_hop_is_believed),
        cmocka_unit_test(the_next_redirect_is_its_first_hops),
        cmocka_unit_test(it_goes_with_its_router),
        cmocka_unit_test(floods_of_redirects_fill_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
