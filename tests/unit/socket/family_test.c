// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
#include "fixture.h"

#define LOOPBACK6 weir_addr_v6((const uint8_t[16]){[15] = 1})

static int bind_to(struct fixture *f, weir_socket socket, struct weir_addr addr, uint16_t port)
{
    return weir_socket_bind(f->weir, socket, &(struct weir_endpoint){addr, port});
}

static int connect_to(struct fixture *f, weir_socket socket, struct weir_addr addr)
{
    return weir_socket_connect(f->weir, socket, &(struct weir_endpoint){addr, 7});
}

static weir_socket open_of(struct fixture *f, enum weir_socket_type type, int32_t family)
{
    int32_t value = -1;
    const weir_socket socket = weir_socket_open(f->weir, type, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_set(f->weir, socket, WEIR_OPTION_FAMILY, family), WEIR_OK);
    assert_int_equal(weir_socket_get(f->weir, socket, WEIR_OPTION_FAMILY, &value), WEIR_OK);
    assert_int_equal(value, family);
    return socket;
}

static void chosen_before_the_socket_has_a_name(void **state)
{
    static const enum weir_socket_type types[] = {WEIR_STREAM, WEIR_DATAGRAM};
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    for (int i = 0; i < 2; i++) {
        const weir_socket socket = open_of(&f, types[i], 6);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 5), WEIR_INVALID);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 4), WEIR_OK);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 0), WEIR_OK);
        assert_int_equal(bind_to(&f, socket, weir_addr_any(), 80), WEIR_OK);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 6), WEIR_INVALID);
        weir_socket_close(f.weir, socket);
    }
    fixture_close(&f);
}

static void a_socket_of_one_family_takes_no_address_of_the_other(void **state)
{
    static const enum weir_socket_type types[] = {WEIR_STREAM, WEIR_DATAGRAM};
    struct fixture f;
    struct weir_endpoint local;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    for (int i = 0; i < 2; i++) {
        const weir_socket four = open_of(&f, types[i], 4), six = open_of(&f, types[i], 6);
        assert_int_equal(bind_to(&f, four, LOOPBACK6, 80), WEIR_INVALID);
        assert_int_equal(bind_to(&f, six, weir_ip4(10, 0, 0, 1), 80), WEIR_INVALID);
        assert_int_equal(bind_to(&f, four, weir_addr_any(), 80), WEIR_OK);
        assert_int_equal(weir_socket_local(f.weir, four, &local), WEIR_OK);
        assert_true(weir_addr_equal(local.addr, weir_addr_v4(0)));
        assert_int_equal(bind_to(&f, six, weir_addr_any(), 80), WEIR_OK);  // beside it: they never meet
        assert_int_equal(connect_to(&f, four, LOOPBACK6), WEIR_NETWORK_UNREACHABLE);
        assert_int_equal(connect_to(&f, six, weir_ip4(10, 0, 0, 1)), WEIR_NETWORK_UNREACHABLE);
        weir_socket_close(f.weir, four);
        weir_socket_close(f.weir, six);
    }
    fixture_close(&f);
}

static void a_socket_of_both_meets_each(void **state)
{
    static const enum weir_socket_type types[] = {WEIR_STREAM, WEIR_DATAGRAM};
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    for (int i = 0; i < 2; i++) {
        const weir_socket both = open_of(&f, types[i], 0), four = open_of(&f, types[i], 4),
                          six = open_of(&f, types[i], 6);
        assert_int_equal(bind_to(&f, both, weir_addr_any(), 80), WEIR_OK);
        assert_int_equal(bind_to(&f, four, weir_addr_any(), 80), WEIR_IN_USE);
        assert_int_equal(bind_to(&f, four, weir_ip4(10, 0, 0, 1), 80), WEIR_IN_USE);
        assert_int_equal(bind_to(&f, six, weir_addr_any(), 80), WEIR_IN_USE);
        assert_int_equal(bind_to(&f, six, LOOPBACK6, 80), WEIR_IN_USE);
        weir_socket_close(f.weir, both);
        weir_socket_close(f.weir, four);
        weir_socket_close(f.weir, six);
    }
    fixture_close(&f);
}

static void bound_to_one_family_it_reaches_that_alone(void **state)
{
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    const weir_socket stream = open_of(&f, WEIR_STREAM, 0), datagram = open_of(&f, WEIR_DATAGRAM, 0);
    assert_int_equal(bind_to(&f, stream, weir_ip4(10, 0, 0, 1), 80), WEIR_OK);
    assert_int_equal(bind_to(&f, datagram, weir_ip4(10, 0, 0, 1), 80), WEIR_OK);
    assert_int_equal(connect_to(&f, stream, LOOPBACK6), WEIR_NETWORK_UNREACHABLE);
    assert_int_equal(connect_to(&f, datagram, LOOPBACK6), WEIR_NETWORK_UNREACHABLE);
    weir_socket_close(f.weir, stream);
    weir_socket_close(f.weir, datagram);
    fixture_close(&f);
}

// A datagram to a group, on an interface with no address of the group's family, one of which is only asked for: over
// IPv4 it may leave without one, over IPv6 it must not (RFC 4291 §2.5.2), be it sent now or waiting since.
static void only_ip4_leaves_without_an_address(void **state)
{
    const struct weir_addr group6 = weir_addr_v6((const uint8_t[16]){0xff, 2, [13] = 1, [15] = 2}),
                           own6 = weir_addr_v6((const uint8_t[16]){0xfe, 0x80, [15] = 7});
    const struct weir_addr groups[] = {weir_ip4(255, 255, 255, 255), group6};
    const struct weir_slice slice = {(const uint8_t *)"hello", 5};
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    const uint8_t netif = f.netif.index;
    for (int i = 0; i < 2; i++) {
        const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_BROADCAST, 1), WEIR_OK);
        const struct weir_message message = {.peer = {groups[i], 547}, .netif_index = netif};
        for (int twice = 0; twice < 2; twice++)
            assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1),
                             i == 0 ? 5 : WEIR_NO_ADDRESS);
        (void)fixture_poll(&f, 1000);
        assert_int_equal(fixture_sent_count(&f), i == 0 ? 2 : 0);
        fixture_clear(&f);
        weir_socket_close(f.weir, socket);
    }
    // It waits while the link is down, and the address is probed anew when that comes back.
    assert_int_equal(weir_netif_address_add(&f.netif, own6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    (void)fixture_poll(&f, 1000);
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    const struct weir_message message = {.peer = {group6, 547}, .netif_index = netif};
    weir_link_change(&f.netif, false);
    assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1), 5);
    (void)fixture_poll(&f, 1000);
    fixture_clear(&f);
    weir_link_change(&f.netif, true);
    (void)fixture_poll(&f, 100);
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(&f, i, &length);
        assert_false(packet[0] >> 4 == 6 && packet[6] == 17 && packet[8] != 0xfe);
    }
    struct weir_message none;
    struct weir_slice unread;
    assert_int_equal(weir_socket_peek_message(f.weir, socket, &none, &unread), WEIR_NO_ADDRESS);
    weir_socket_close(f.weir, socket);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen_before_the_socket_has_a_name),
        cmocka_unit_test(a_socket_of_one_family_takes_no_address_of_the_other),
        cmocka_unit_test(a_socket_of_both_meets_each),
        cmocka_unit_test(bound_to_one_family_it_reaches_that_alone),
        cmocka_unit_test(only_ip4_leaves_without_an_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
