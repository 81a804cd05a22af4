// SPDX-License-Identifier: BSD-2-Clause
// Routes and neighbours as they are shown (weir/tables.h).
#include "ip/packets.h"

#include "weir/tables.h"

static void routes_are_shown_as_they_are_asked(void **state)
{
    struct fixture f;
    struct weir_route_info route;
    uint32_t count = 0;
    bool connected = false, gateway = false;
    uint8_t before = UINT8_MAX;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    const struct weir_addr none = weir_addr_any(), router = weir_ip4(10, 0, 0, 9);
    assert_int_equal(weir_route_add(f.weir, none, 0, router, &f.netif, 7), WEIR_OK);
    for (; weir_route_at(f.weir, count, &route); count++) {
        const bool v4 = weir_addr_is_v4(route.prefix);
        if (v4 && route.netif == &f.netif) {
            assert_true(route.prefix_length <= before);
            before = route.prefix_length;
        }
        connected |= v4 && route.connected && route.prefix_length == 24 && route.netif == &f.netif &&
                     weir_addr_equal(route.prefix, weir_ip4(10, 0, 0, 0)) && weir_addr_is_any(route.gateway);
        gateway |= route.prefix_length == 0 && route.metric == 7 && !route.connected && !route.advertised &&
                   weir_addr_equal(route.gateway, router);
    }
    assert_true(connected && gateway);
    assert_false(weir_route_at(f.weir, UINT32_MAX, &route));
    fixture_close(&f);
}

static void neighbours_are_shown_with_their_state(void **state)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
    struct fixture f;
    struct weir_neighbour_info neighbour;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    assert_int_equal(weir_neighbour_next(f.weir, 0, &neighbour), 0);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_ip4(10, 0, 0, 9), mac), WEIR_OK);
    const uint32_t cursor = weir_neighbour_next(f.weir, 0, &neighbour);
    assert_int_not_equal(cursor, 0);
    assert_true(weir_addr_equal(neighbour.address, weir_ip4(10, 0, 0, 9)) && neighbour.netif == &f.netif);
    assert_true(neighbour.known);
    assert_memory_equal(neighbour.mac, mac, sizeof mac);
    assert_string_equal(neighbour.state, "PERMANENT");
    assert_int_equal(weir_neighbour_next(f.weir, cursor, &neighbour), 0);
    fixture_close(&f);
}

// One that was asked for and did not answer, then did, then was not heard of for long.
static void a_neighbour_that_is_asked_for_changes_its_state(void **state)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 8};
    const struct weir_message message = {.peer = {weir_ip4(10, 0, 0, 8), 9}};
    const struct weir_slice slice = {mac, sizeof mac};
    struct fixture f;
    struct weir_neighbour_info neighbour;
    uint8_t reply[42] = {2, 0, 0, 0, 0, 1, 2, 0,  0, 0, 0, 8, 0x08, 0x06, 0, 1, 0x08, 0,  6, 4, 0,
                         2, 2, 0, 0, 0, 0, 8, 10, 0, 0, 8, 2, 0,    0,    0, 0, 1,    10, 0, 0, 1};
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    memcpy(reply, f.netif.mac, 6);
    memcpy(reply + 32, f.netif.mac, 6);
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_in_range(socket, 1, INT32_MAX);
    assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1), (int)sizeof mac);
    fixture_poll(&f, 1000);
    assert_int_not_equal(weir_neighbour_next(f.weir, 0, &neighbour), 0);
    assert_false(neighbour.known);
    assert_string_equal(neighbour.state, "INCOMPLETE");
    fixture_input(&f, reply, sizeof reply);
    assert_int_not_equal(weir_neighbour_next(f.weir, 0, &neighbour), 0);
    assert_true(neighbour.known);
    assert_memory_equal(neighbour.mac, mac, sizeof mac);
    assert_string_equal(neighbour.state, "REACHABLE");
    fixture_poll(&f, 60000000);
    assert_int_not_equal(weir_neighbour_next(f.weir, 0, &neighbour), 0);
    assert_string_equal(neighbour.state, "STALE");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_are_shown_as_they_are_asked),
        cmocka_unit_test(neighbours_are_shown_with_their_state),
        cmocka_unit_test(a_neighbour_that_is_asked_for_changes_its_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
