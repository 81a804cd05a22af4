// SPDX-License-Identifier: BSD-2-Clause
// The way out: longest prefix, metric, interfaces up and down, source addresses, loopback, broadcast, multicast.
#include "ip/packets.h"

#include "link/loopback.h"

// A second interface whose driver swallows everything.
static enum weir_tx_verdict swallow(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif, (void)tx;
    return WEIR_TX_DONE;
}
static const struct weir_driver sink = {.name = "sink", .tx = swallow};

struct world {
    struct fixture f;
    struct weir_netif second;
};

static void open_two(struct world *w)
{
    open_raw(&w->f);
    weir_netif_init(&w->second, "test1", &sink, &weir_link_rawip);
    w->second.mtu = 900;
    assert_int_equal(weir_netif_add(w->f.weir, &w->second), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&w->second, weir_ip4(172, 16, 0, 1), 16, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
}

static void close_two(struct world *w)
{
    weir_netif_remove(&w->second);
    fixture_close(&w->f);
}

static int find(struct world *w, struct path *path, struct weir_addr *source, struct weir_addr to, uint8_t netif)
{
    *source = weir_addr_any();
    return ip_path_find(w->f.weir, path, source, to, netif);
}

static void connected_routes_follow_addresses(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    open_two(&w);
    assert_int_equal(find(&w, &path, &source, PEER, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.netif);
    assert_true(weir_addr_equal(path.next_hop, PEER) && weir_addr_equal(source, OURS));
    assert_int_equal(path.mtu, 1500);
    assert_int_equal(find(&w, &path, &source, weir_ip4(172, 16, 9, 9), 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    assert_int_equal(path.mtu, 900);
    assert_int_equal(weir_addr_to_v4(source), weir_addr_to_v4(weir_ip4(172, 16, 0, 1)));
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_NO_ROUTE);
    assert_null(path.netif);
    assert_int_equal(weir_netif_set_address(&w.second, weir_ip4(192, 0, 2, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, weir_ip4(172, 16, 9, 9), 0), WEIR_NO_ROUTE);
    assert_int_equal(weir_netif_set_address(&w.second, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_NO_ROUTE);
    close_two(&w);
}

// One that was added by hand, and has an address's subnet, is not the address's.
static void added_routes_stay_when_addresses_go(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    open_two(&w);
    assert_int_equal(weir_route_add(w.f.weir, weir_ip4(192, 0, 2, 0), 24, weir_addr_any(), &w.f.netif, 7), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&w.f.netif, weir_ip4(192, 0, 2, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&w.f.netif, OURS, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_OK);
    assert_true(weir_addr_equal(path.next_hop, FAR));
    assert_int_equal(weir_route_remove(w.f.weir, weir_ip4(192, 0, 2, 0), 24, weir_addr_any(), &w.f.netif), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_NO_ROUTE);
    close_two(&w);
}

// Removed again, it leaves the way that an address has made without it.
static void an_added_route_leaves_what_an_address_needs(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    const struct weir_addr subnet = weir_ip4(10, 7, 0, 0), neighbour = weir_ip4(10, 7, 0, 9);
    open_two(&w);
    assert_int_equal(weir_netif_set_address(&w.second, weir_ip4(10, 7, 0, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_route_add(w.f.weir, subnet, 24, weir_addr_any(), &w.second, 5), WEIR_OK);
    assert_int_equal(weir_route_remove(w.f.weir, subnet, 24, weir_addr_any(), &w.second), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, neighbour, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    assert_int_equal(weir_route_remove(w.f.weir, subnet, 24, weir_addr_any(), &w.second), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, neighbour, 0), WEIR_NO_ROUTE);
    close_two(&w);
}

static void longest_prefix_then_metric(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    const struct weir_addr any = weir_addr_any(), r1 = weir_ip4(10, 0, 0, 250), r2 = weir_ip4(172, 16, 0, 250),
                           r3 = weir_ip4(10, 0, 0, 251);
    open_two(&w);
    struct weir *weir = w.f.weir;
    assert_int_equal(weir_route_add(weir, any, 0, r1, &w.f.netif, 10), WEIR_OK);
    assert_int_equal(weir_route_add(weir, any, 0, r2, &w.second, 5), WEIR_OK);
    // host bits are cut
    assert_int_equal(weir_route_add(weir, weir_ip4(192, 0, 2, 99), 24, r3, &w.f.netif, 200), WEIR_OK);
    find(&w, &path, &source, FAR, 0);
    assert_true(weir_addr_equal(path.next_hop, r3));  // longer prefix, whatever the metric
    find(&w, &path, &source, weir_ip4(8, 8, 8, 8), 0);
    assert_true(weir_addr_equal(path.next_hop, r2));  // lower metric
    assert_int_equal(weir_addr_to_v4(source), weir_addr_to_v4(weir_ip4(172, 16, 0, 1)));
    find(&w, &path, &source, weir_ip4(8, 8, 8, 8), w.f.netif.index);
    assert_true(weir_addr_equal(path.next_hop, r1));  // bound to an interface
    // The same route again: a new metric, no second entry.
    const uint32_t before = weir->ip.route_count;
    assert_int_equal(weir_route_add(weir, any, 0, r1, &w.f.netif, 1), WEIR_OK);
    assert_int_equal(weir->ip.route_count, before);
    find(&w, &path, &source, weir_ip4(8, 8, 8, 8), 0);
    assert_true(weir_addr_equal(path.next_hop, r1));
    // A source of ours that was asked for chooses its interface.
    source = weir_ip4(172, 16, 0, 1);
    assert_int_equal(ip_path_find(weir, &path, &source, weir_ip4(8, 8, 8, 8), 0), WEIR_OK);
    assert_true(weir_addr_equal(path.next_hop, r2));
    assert_int_equal(weir_route_remove(weir, any, 0, r1, &w.f.netif), WEIR_OK);
    assert_int_equal(weir_route_remove(weir, any, 0, r1, &w.f.netif), WEIR_NO_ROUTE);
    find(&w, &path, &source, weir_ip4(8, 8, 8, 8), 0);
    assert_true(weir_addr_equal(path.next_hop, r2));
    close_two(&w);
}

static void downed_interface_is_passed_over(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    const struct weir_addr any = weir_addr_any();
    open_two(&w);
    assert_int_equal(weir_route_add(w.f.weir, any, 0, ROUTER, &w.f.netif, 1), WEIR_OK);
    assert_int_equal(weir_route_add(w.f.weir, any, 0, weir_ip4(172, 16, 0, 250), &w.second, 2), WEIR_OK);
    find(&w, &path, &source, FAR, 0);
    assert_ptr_equal(path.netif, &w.f.netif);
    weir_netif_set_up(&w.f.netif, false);
    assert_false(ip_path_valid(w.f.weir, &path));
    find(&w, &path, &source, FAR, 0);
    assert_ptr_equal(path.netif, &w.second);
    weir_netif_set_up(&w.second, false);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_NETIF_DOWN);
    assert_int_equal(find(&w, &path, &source, weir_ip4(255, 255, 255, 255), w.second.index), WEIR_NETIF_DOWN);
    close_two(&w);
}

static void removed_interface_takes_its_routes(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    open_two(&w);
    assert_int_equal(weir_route_add(w.f.weir, FAR, 32, weir_ip4(172, 16, 0, 250), &w.second, 2), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_OK);
    const uint8_t index = w.second.index;
    weir_netif_remove(&w.second);
    assert_false(ip_path_valid(w.f.weir, &path));
    assert_int_equal(find(&w, &path, &source, FAR, 0), WEIR_NO_ROUTE);
    assert_int_equal(find(&w, &path, &source, FAR, index), WEIR_NO_ROUTE);
    fixture_close(&w.f);
}

static void sources_must_be_ours(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source = OTHER;
    open_two(&w);
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, PEER, 0), WEIR_NO_ADDRESS);
    source = weir_ip4(127, 0, 0, 1);  // 127/8 never leaves
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, PEER, 0), WEIR_NO_ROUTE);
    source = weir_addr_any();
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, weir_addr_any(), 0), WEIR_NO_ROUTE);
    // An address that is still being probed, or that another host has, is not ours to use.
    w.f.netif.address.state = WEIR_ADDRESS_PROBING;
    assert_false(ip_is_ours(w.f.weir, OURS));
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, PEER, 0), WEIR_NO_ADDRESS);
    w.f.netif.address.state = WEIR_ADDRESS_READY;
    close_two(&w);
}

static void own_addresses_go_round(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    open_two(&w);
    assert_int_equal(find(&w, &path, &source, OURS, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.weir->loopback.netif);
    assert_true(weir_addr_equal(source, OURS));
    assert_int_equal(find(&w, &path, &source, weir_ip4(127, 1, 2, 3), 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.weir->loopback.netif);
    assert_int_equal(weir_addr_to_v4(source), weir_addr_to_v4(weir_ip4(127, 0, 0, 1)));
    // From one of our addresses to another, bound to an interface or not: still inside.
    source = weir_ip4(172, 16, 0, 1);
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, OURS, w.second.index), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.weir->loopback.netif);
    close_two(&w);
}

static void broadcast_and_multicast_find_an_interface(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    struct weir_addr source;
    const struct weir_addr all = weir_ip4(255, 255, 255, 255), group = weir_ip4(239, 1, 2, 3);
    open_two(&w);
    assert_int_equal(find(&w, &path, &source, all, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.netif);
    assert_int_equal(find(&w, &path, &source, all, w.second.index), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    source = weir_ip4(172, 16, 0, 1);
    assert_int_equal(ip_path_find(w.f.weir, &path, &source, group, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    assert_int_equal(weir_route_add(w.f.weir, weir_ip4(224, 0, 0, 0), 4, weir_addr_any(), &w.second, 0), WEIR_OK);
    assert_int_equal(find(&w, &path, &source, group, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    // A directed broadcast goes to everybody on its subnet.
    assert_int_equal(find(&w, &path, &source, weir_ip4(10, 0, 0, 255), 0), WEIR_OK);
    assert_ptr_equal(path.netif, &w.f.netif);
    assert_true(weir_addr_is_broadcast(path.next_hop));
    assert_true(ip_is_broadcast(w.f.weir, weir_ip4(172, 16, 255, 255)));
    assert_false(ip_is_broadcast(w.f.weir, weir_ip4(172, 16, 0, 255)));
    // Without an address one may ask everybody (DHCP), and nobody in particular.
    weir_netif_set_address(&w.second, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
    assert_int_equal(find(&w, &path, &source, all, w.second.index), WEIR_OK);
    assert_true(weir_addr_is_any(source));
    close_two(&w);
}

static void prefixes_of_31_and_32_have_no_broadcast(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    weir_netif_set_address(&w.second, weir_ip4(192, 0, 2, 0), 31, WEIR_ADDRESS_AT_ONCE);
    assert_false(ip_is_broadcast(w.f.weir, weir_ip4(192, 0, 2, 1)));
    weir_netif_set_address(&w.second, weir_ip4(192, 0, 2, 0), 32, WEIR_ADDRESS_AT_ONCE);
    assert_false(ip_is_broadcast(w.f.weir, weir_ip4(192, 0, 2, 0)));
    close_two(&w);
}

static void replies_go_back_where_they_came_from(void **state)
{
    (void)state;
    struct world w;
    struct path path;
    open_two(&w);
    assert_int_equal(weir_route_add(w.f.weir, weir_addr_any(), 0, ROUTER, &w.f.netif, 1), WEIR_OK);
    assert_int_equal(weir_route_add(w.f.weir, weir_addr_any(), 0, weir_ip4(172, 16, 0, 250), &w.second, 2), WEIR_OK);
    const struct packet packet = {.netif = &w.second, .source = FAR, .destination = weir_ip4(172, 16, 0, 1)};
    assert_int_equal(ip_path_reply(w.f.weir, &path, &packet), WEIR_OK);
    assert_ptr_equal(path.netif, &w.second);
    close_two(&w);
}

static void table_is_bounded(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    int error = WEIR_OK;
    uint32_t added = 0;
    for (; !error && added < 2 * WEIR_CFG_ROUTES; added += !error)
        error = weir_route_add(w.f.weir, weir_ip4(192, 168, (uint8_t)added, 0), 24, ROUTER, &w.f.netif, 0);
    assert_int_equal(error, WEIR_NO_MEMORY);
    assert_int_equal(added + 2, WEIR_CFG_ROUTES);
    assert_int_equal(weir_route_add(w.f.weir, FAR, 33, ROUTER, &w.f.netif, 0), WEIR_INVALID);
    assert_int_equal(weir_route_add(w.f.weir, FAR, 24, ROUTER, NULL, 0), WEIR_INVALID);
    close_two(&w);
}

static void generation_skips_zero(void **state)
{
    (void)state;
    struct world w;
    open_two(&w);
    w.f.weir->ip.generation = 65535;
    ip_netif_changed(w.f.weir, &w.second);
    assert_int_not_equal(w.f.weir->ip.generation, 0);
    close_two(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connected_routes_follow_addresses),
        cmocka_unit_test(added_routes_stay_when_addresses_go),
        cmocka_unit_test(an_added_route_leaves_what_an_address_needs),
        cmocka_unit_test(longest_prefix_then_metric),
        cmocka_unit_test(downed_interface_is_passed_over),
        cmocka_unit_test(removed_interface_takes_its_routes),
        cmocka_unit_test(sources_must_be_ours),
        cmocka_unit_test(own_addresses_go_round),
        cmocka_unit_test(broadcast_and_multicast_find_an_interface),
        cmocka_unit_test(prefixes_of_31_and_32_have_no_broadcast),
        cmocka_unit_test(replies_go_back_where_they_came_from),
        cmocka_unit_test(table_is_bounded),
        cmocka_unit_test(generation_skips_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
