// SPDX-License-Identifier: BSD-2-Clause
// only without IPv4
// A build of IPv6 alone: what names an IPv4 address is refused with an error, frames of IPv4 and of ARP are nobody's,
// and nothing of either is ever sent.
#include "pair.h"

#include <errno.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"
#include "ip/packets6.h"
#include "link/frames.h"
#include "weir/names.h"
#include "weir/socket.h"

#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)
#define SECOND_US 1000000u

static void an_interface_takes_no_address_of_it(void **state)
{
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, OURS6, 64, 0);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(10, 0, 0, 1), 24, WEIR_ADDRESS_AT_ONCE),
                     WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_netif_address_add(&f.netif, weir_ip4(10, 0, 0, 1), 24, WEIR_ADDRESS_PROBE),
                     WEIR_NOT_SUPPORTED);
    assert_true(weir_addr_equal(f.netif.address.addr, OURS6));
    assert_null(weir_netif_address_next(&f.netif, &f.netif.address));
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_ip4(10, 0, 0, 2), FIXTURE_PEER_MAC),
                     WEIR_NOT_SUPPORTED);
    assert_false(weir_family_configured(f.weir, false));
    assert_true(weir_family_configured(f.weir, true));
    fixture_close(&f);
}

static void no_route_leads_to_it(void **state)
{
    const struct weir_addr any = weir_addr_any(), gateway = weir_ip4(10, 0, 0, 254);
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, OURS6, 64, 0);
    const uint16_t routes = f.weir->ip.route_count;
    assert_int_equal(weir_route_add(f.weir, any, 0, gateway, &f.netif, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_route_add(f.weir, weir_ip4(10, 1, 0, 0), 16, any, &f.netif, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_route_remove(f.weir, any, 0, gateway, &f.netif), WEIR_NOT_SUPPORTED);
    assert_int_equal(f.weir->ip.route_count, routes);
    // All of IPv6 is on the link, and that is one route, not two.
    assert_int_equal(weir_route_add(f.weir, any, 0, any, &f.netif, 0), WEIR_OK);
    assert_int_equal(f.weir->ip.route_count, routes + 1);
    assert_int_equal(weir_route_remove(f.weir, any, 0, any, &f.netif), WEIR_OK);
    fixture_close(&f);
}

static void a_socket_is_told(void **state)
{
    static const struct weir_slice slice = {(const uint8_t *)"x", 1};
    const struct weir_endpoint local = {weir_ip4(10, 0, 0, 1), 7}, none = {weir_ip4(0, 0, 0, 0), 7};
    const struct weir_endpoint peer = {weir_ip4(10, 0, 0, 2), 7}, everybody = {weir_ip4(255, 255, 255, 255), 7};
    const struct weir_message message = {.peer = peer};
    struct fixture f;
    int32_t family;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, OURS6, 64, 0);
    // However much of IPv6 is thought to be reached there.
    assert_int_equal(weir_route_add(f.weir, weir_addr_any(), 0, PEER6, &f.netif, 0), WEIR_OK);
    for (enum weir_socket_type type = WEIR_STREAM; type <= WEIR_DATAGRAM; type++) {
        const weir_socket socket = weir_socket_open(f.weir, type, 0);
        assert_true(socket > 0);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 4), WEIR_NOT_SUPPORTED);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 6), WEIR_OK);
        assert_int_equal(weir_socket_get(f.weir, socket, WEIR_OPTION_FAMILY, &family), WEIR_OK);
        assert_int_equal(family, 6);
        assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_FAMILY, 0), WEIR_OK);
        assert_int_equal(weir_socket_bind(f.weir, socket, &local), WEIR_NOT_SUPPORTED);
        assert_int_equal(weir_socket_bind(f.weir, socket, &none), WEIR_NOT_SUPPORTED);
        assert_int_equal(weir_socket_connect(f.weir, socket, &peer), WEIR_NOT_SUPPORTED);
        assert_int_equal(weir_socket_connect(f.weir, socket, &everybody), WEIR_NOT_SUPPORTED);
        assert_int_equal(weir_socket_close(f.weir, socket), WEIR_OK);
    }
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_send_message(f.weir, socket, &message, &slice, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_membership(f.weir, socket, weir_ip4(224, 0, 0, 251), 0, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_close(f.weir, socket), WEIR_OK);
    fixture_poll(&f, SECOND_US);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void its_frames_are_nobodys(void **state)
{
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, OURS6, 64, 0);
    const uint32_t unknown = fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN);
    frames_arp(&f, ethernet_broadcast, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    frames_arp(&f, FIXTURE_MAC, ARP_REPLY, FIXTURE_PEER_MAC, PEER, OURS);
    static const uint8_t echo[8] = {8, 0, 0xf7, 0xff};
    fixture_input_ip4(&f, weir_ip4(10, 0, 0, 2), weir_ip4(10, 0, 0, 1), 1, echo, sizeof echo);
    fixture_poll(&f, 2 * SECOND_US);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ETHERNET_UNKNOWN), unknown + 3);
    assert_int_equal(fixture_sent_count(&f), 0);
    // A mapped address is in no packet from outside, either (RFC 4291 §2.5.5.2 has it inside a host).
    uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2};
    const uint32_t refused = fixture_count(&f, WEIR_COUNT_IP_BAD_SOURCE);
    input6(&f, &(struct make6){.source = weir_addr_v6(mapped), .next_header = IP6_ICMP, .payload = echo, .length = 8});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_SOURCE), refused + 1);
    fixture_close(&f);
}

static void the_loopback_interface_has_ip6s_address(void **state)
{
    static const uint8_t loopback[16] = {[15] = 1};
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    const struct weir_netif *lo = weir_netif_find(f.weir, "lo");
    assert_non_null(lo);
    assert_true(weir_addr_equal(lo->address.addr, weir_addr_v6(loopback)));
    fixture_close(&f);
}

static void addresses_as_text(void **state)
{
    struct weir_addr addr = weir_addr_any();
    char text[WEIR_ADDR_TEXT_BYTES];
    (void)state;
    assert_false(weir_addr_read("10.0.0.1", 8, &addr));
    assert_true(weir_addr_is_any(addr));
    assert_true(weir_addr_read("2001:db8::1", 11, &addr));
    weir_addr_write(addr, text);
    assert_string_equal(text, "2001:db8::1");
}

// --- BSD sockets -----------------------------------------------------------------------------------------------------

static int last_error;
static void set_error(void *context, int value)
{
    (void)context;
    last_error = value;
}

static void programs_of_ip4_are_told(void **state)
{
    const struct weir_bsd_config config = {.set_errno = set_error};
    struct weir_sockaddr_in name = {.sin_family = WEIR_AF_INET, .sin_port = weir_htons(7), .sin_addr = {weir_htonl(1)}};
    struct weir_sockaddr_in6 mapped = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(7)};
    struct weir_addrinfo hints = {.ai_family = WEIR_AF_INET, .ai_socktype = WEIR_SOCK_STREAM}, *list;
    struct fixture f;
    (void)state;
    weir_addr_to_v6(weir_ip4(10, 0, 0, 2), mapped.sin6_addr.s6_bytes);
    fixture_open(&f, &weir_link_ethernet, OURS6, 64, 0);
    struct weir_bsd *bsd = bsd_create(f.weir, &config);
    assert_non_null(bsd);
    assert_int_equal(bsd_socket(bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), -1);
    assert_int_equal(last_error, EAFNOSUPPORT);
    const int fd = bsd_socket(bsd, WEIR_AF_INET6, WEIR_SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bsd_connect(bsd, fd, ADDRESS(mapped)), -1);
    assert_int_equal(last_error, EAFNOSUPPORT);
    assert_int_equal(bsd_bind(bsd, fd, ADDRESS(mapped)), -1);
    assert_int_equal(last_error, EAFNOSUPPORT);
    assert_int_equal(bsd_bind(bsd, fd, ADDRESS(name)), -1);
    assert_int_equal(last_error, EINVAL);  // as Linux has it: a name of another family's length
    assert_int_equal(bsd_close(bsd, fd), 0);
    assert_int_equal(bsd_getaddrinfo(bsd, "localhost", "7", &hints, &list), WEIR_EAI_FAMILY);
    hints.ai_family = WEIR_AF_UNSPEC;
    assert_int_equal(bsd_getaddrinfo(bsd, "10.0.0.2", "7", &hints, &list), WEIR_EAI_NONAME);
    assert_int_equal(bsd_getaddrinfo(bsd, "::ffff:10.0.0.2", "7", &hints, &list), WEIR_EAI_NONAME);
    assert_int_equal(bsd_getaddrinfo(bsd, "localhost", "7", &hints, &list), 0);
    assert_int_equal(list->ai_family, WEIR_AF_INET6);
    assert_null(list->ai_next);
    bsd_freeaddrinfo(bsd, list);
    bsd_destroy(bsd);
    fixture_poll(&f, SECOND_US);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interface_takes_no_address_of_it),
        cmocka_unit_test(no_route_leads_to_it),
        cmocka_unit_test(a_socket_is_told),
        cmocka_unit_test(its_frames_are_nobodys),
        cmocka_unit_test(the_loopback_interface_has_ip6s_address),
        cmocka_unit_test(addresses_as_text),
        cmocka_unit_test(programs_of_ip4_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
