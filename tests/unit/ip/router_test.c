// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// Which router is asked to carry a packet on (RFC 4861 §6.3, 4191, 8028), and what else routers say of the link.
#include "ip/advertise6.h"

#include "ip/internal.h"
#include "link/neighbour.h"
#include "weir/socket.h"

#define SECOND_ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfd)
#define THIRD_ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfc)

enum { HIGH = 0x08, MEDIUM = 0, RESERVED = 0x10, LOW = 0x18 };

static void open_settled(struct fixture *f)
{
    open_auto(f, NULL);
    fixture_poll(f, 5 * SECOND);
}

// The first hop to `destination` from `source` (any: to be chosen, and then chosen).
static struct weir_addr first_hop(struct fixture *f, struct weir_addr *source, struct weir_addr destination)
{
    struct path path;
    if (ip_path_find(f->weir, &path, source, destination, 0) != WEIR_OK)
        return weir_addr_any();
    return weir_addr_with_zone(path.next_hop, 0);
}

static struct weir_addr way_to(struct fixture *f, struct weir_addr destination)
{
    struct weir_addr source = weir_addr_any();
    return first_hop(f, &source, destination);
}

#define assert_same(a, b) assert_true(weir_addr_equal(a, b))

static void an_address_is_there(struct fixture *f)
{
    const struct prefix_said said = of_prefix(1);
    advertise(f, THIRD_ROUTER6, 0, 0, &said, 0);
    fixture_poll(f, 5 * SECOND);
}

// --- preferences -----------------------------------------------------------------------------------------------------

static void the_preferred_router_is_the_way_out(void **state)
{
    (void)state;
    static const uint8_t order[] = {LOW, MEDIUM, HIGH};
    struct fixture f;
    open_settled(&f);
    an_address_is_there(&f);
    for (unsigned i = 0; i < 9; i++) {
        advertise(&f, ROUTER6, 600, order[i / 3], NULL, 0);
        advertise(&f, SECOND_ROUTER6, 600, order[i % 3], NULL, 0);
        if (i / 3 != i % 3)
            assert_same(way_to(&f, FAR6), i / 3 > i % 3 ? ROUTER6 : SECOND_ROUTER6);
    }
    advertise(&f, ROUTER6, 600, LOW, NULL, 0);
    advertise(&f, SECOND_ROUTER6, 600, RESERVED, NULL, 0);  // medium
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    advertise(&f, ROUTER6, 600, HIGH, NULL, 0);
    assert_same(way_to(&f, FAR6), ROUTER6);
    advertise(&f, ROUTER6, 0, HIGH, NULL, 0);
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    fixture_close(&f);
}

// A route information option (RFC 4191 §2.3) of 2001:db8:9999::/48, as `units` of eight bytes.
static void say_route(struct fixture *f, struct weir_addr router, uint8_t units, uint8_t flags, uint32_t lifetime)
{
    uint8_t message[16 + 24] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64};
    uint8_t *const option = message + 16;
    option[0] = ND_ROUTE;
    option[1] = units;
    option[2] = 48;
    option[3] = flags;
    put32(option + 4, lifetime);
    memcpy(option + 8, "\x20\x01\x0d\xb8\x99\x99", 6);
    input_icmp6(f, &(struct make6){.source = router, .destination = ALL_NODES6, .hop_limit = 255}, message,
                16 + 8u * units);
    fixture_poll(f, 1000);
}

static void a_more_specific_route_goes_before_the_default(void **state)
{
    (void)state;
    struct fixture f;
    open_settled(&f);
    an_address_is_there(&f);
    advertise(&f, ROUTER6, 600, HIGH, NULL, 0);
    say_route(&f, SECOND_ROUTER6, 2, LOW, 600);  // its router is no default router
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    assert_same(way_to(&f, ip6_of(0x20010db8u, 0x88880000u, 0, 7)), ROUTER6);
    say_route(&f, THIRD_ROUTER6, 3, RESERVED, 600);  // ignored (§2.3)
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    say_route(&f, THIRD_ROUTER6, 3, HIGH, 600);
    assert_same(way_to(&f, FAR6), THIRD_ROUTER6);
    say_route(&f, THIRD_ROUTER6, 3, HIGH, 0);
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    say_route(&f, SECOND_ROUTER6, 1, HIGH, 0);  // 48 bits of prefix do not go into this length
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    fixture_poll(&f, 601ull * SECOND);
    assert_same(way_to(&f, FAR6), weir_addr_any());
    fixture_close(&f);
}

// RFC 4861 §6.3.6, RFC 4191 §3.2: reachability before preference.
static void a_router_that_is_silent_is_passed_over(void **state)
{
    (void)state;
    struct fixture f;
    const struct weir_addr first = weir_addr_with_zone(ROUTER6, 1);
    open_settled(&f);
    an_address_is_there(&f);
    advertise(&f, ROUTER6, 600, HIGH, NULL, 0);
    advertise(&f, SECOND_ROUTER6, 600, LOW, NULL, 0);
    ip_gateway_silent(f.weir, &f.netif, first);
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    ip_gateway_silent(f.weir, &f.netif, weir_addr_with_zone(SECOND_ROUTER6, 1));
    assert_same(way_to(&f, FAR6), ROUTER6);  // none answers: by turns
    ip_gateway_silent(f.weir, &f.netif, first);
    assert_same(way_to(&f, FAR6), SECOND_ROUTER6);
    ip_gateway_answers(f.weir, &f.netif, first);
    assert_same(way_to(&f, FAR6), ROUTER6);
    fixture_close(&f);
}

// --- several prefixes ------------------------------------------------------------------------------------------------

static struct weir_addr address_of(const struct fixture *f, uint32_t prefix)
{
    const struct prefix_said said = of_prefix(prefix);
    for (const struct weir_netif_address *a = &f->netif.address; a; a = a->next)
        if (a->origin == WEIR_ADDRESS_AUTO && weir_addr_in_prefix(a->addr, said.prefix, 64))
            return a->addr;
    fail();
    return weir_addr_any();
}

// Two routers of two providers, each with its prefix; both forward only what has it.
static void open_between_two(struct fixture *f, uint8_t first_preference)
{
    struct prefix_said said = of_prefix(1);
    open_settled(f);
    advertise(f, ROUTER6, 600, first_preference, &said, 0);
    said = of_prefix(2);
    advertise(f, SECOND_ROUTER6, 600, MEDIUM, &said, 0);
    fixture_poll(f, 5 * SECOND);
}

static void a_packet_leaves_by_a_router_of_its_prefix(void **state)
{
    (void)state;
    static const uint8_t preferences[] = {HIGH, MEDIUM, LOW};
    for (unsigned i = 0; i < sizeof preferences; i++) {
        struct fixture f;
        open_between_two(&f, preferences[i]);
        struct weir_addr first = address_of(&f, 1), second = address_of(&f, 2);
        assert_same(first_hop(&f, &first, FAR6), ROUTER6);
        assert_same(first_hop(&f, &second, FAR6), SECOND_ROUTER6);
        assert_same(first_hop(&f, &first, FAR6), ROUTER6);
        fixture_close(&f);
    }
}

// RFC 6724, rule 5.5: against rule 8, by which the second would be nearer.
static void a_source_is_of_the_next_hops_prefix(void **state)
{
    (void)state;
    const struct weir_addr to = ip6_of(0x20010db8u, 3, 0, 7);
    struct fixture f;
    struct weir_addr source = weir_addr_any();
    open_between_two(&f, HIGH);
    assert_same(first_hop(&f, &source, to), ROUTER6);
    assert_same(source, address_of(&f, 1));
    fixture_close(&f);
}

static void the_answer_leaves_by_the_router_of_the_address_asked(void **state)
{
    (void)state;
    const uint8_t echo[8] = {ICMP6_ECHO, 0, 0, 0, 1, 2, 3, 4};
    static const uint8_t macs[2][6] = {{2, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}};
    struct fixture f;
    uint32_t length;
    open_between_two(&f, MEDIUM);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(
            weir_neighbour_add_static(f.weir, &f.netif, weir_addr_with_zone(i ? SECOND_ROUTER6 : ROUTER6, 1), macs[i]),
            WEIR_OK);
    for (uint32_t i = 0; i < 4; i++) {
        fixture_clear(&f);
        input_icmp6(&f, &(struct make6){.source = FAR6, .destination = address_of(&f, 1 + i % 2)}, echo, sizeof echo);
        fixture_poll(&f, SECOND);
        const int reply = find_icmp6(&f, ICMP6_ECHO_REPLY);
        assert_true(reply >= 0);
        assert_memory_equal(fixture_sent(&f, (uint32_t)reply, &length), macs[i % 2], 6);
    }
    fixture_close(&f);
}

static void where_its_router_is_silent_another_is_tried(void **state)
{
    (void)state;
    struct fixture f;
    open_between_two(&f, MEDIUM);
    struct weir_addr first = address_of(&f, 1);
    ip_gateway_silent(f.weir, &f.netif, weir_addr_with_zone(ROUTER6, 1));
    assert_same(first_hop(&f, &first, FAR6), SECOND_ROUTER6);
    ip_gateway_answers(f.weir, &f.netif, weir_addr_with_zone(ROUTER6, 1));
    assert_same(first_hop(&f, &first, FAR6), ROUTER6);
    const struct prefix_said said = of_prefix(1);
    advertise(&f, SECOND_ROUTER6, 600, HIGH, &said, 0);  // it carries the first prefix, too, and is preferred
    assert_same(first_hop(&f, &first, FAR6), SECOND_ROUTER6);
    fixture_close(&f);
}

// With no lifetime a router says that a prefix is its own no longer: its packets go where any go.
static void a_router_that_withdrew_a_prefix_is_as_any_other(void **state)
{
    (void)state;
    struct fixture f;
    open_between_two(&f, LOW);
    struct weir_addr first = address_of(&f, 1);
    assert_same(first_hop(&f, &first, FAR6), ROUTER6);
    struct prefix_said said = of_prefix(1);
    said.valid = said.preferred = 0;
    advertise(&f, ROUTER6, 600, LOW, &said, 0);
    first = address_of(&f, 1);  // which stays for two hours yet (RFC 4862 §5.5.3)
    assert_same(first_hop(&f, &first, FAR6), SECOND_ROUTER6);
    said = of_prefix(1);
    advertise(&f, ROUTER6, 600, LOW, &said, 0);
    assert_same(first_hop(&f, &first, FAR6), ROUTER6);
    fixture_close(&f);
}

// RFC 4861 §6.3.4, RFC 5942: what is on the link is what routers say, and an address of ours says nothing.
static void a_prefix_is_on_the_link_as_long_as_routers_say(void **state)
{
    (void)state;
    const struct weir_addr neighbour = ip6_of(0x20010db8u, 1, 0, 7);
    struct prefix_said said = of_prefix(1);
    struct fixture f;
    open_settled(&f);
    said.flags = 0x40;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);
    fixture_poll(&f, 5 * SECOND);
    assert_non_null(of_origin(&f, WEIR_ADDRESS_AUTO));
    assert_same(way_to(&f, neighbour), ROUTER6);
    said.flags = 0xc0;
    said.valid = said.preferred = 100;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);
    assert_same(way_to(&f, neighbour), neighbour);
    said.flags = 0x40;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);  // which says nothing of the link
    assert_same(way_to(&f, neighbour), neighbour);
    fixture_poll(&f, 101ull * SECOND);
    assert_same(way_to(&f, neighbour), ROUTER6);
    said.flags = 0xc0;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);
    assert_same(way_to(&f, neighbour), neighbour);
    said.valid = said.preferred = 0;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);  // at once: there are no two hours for this
    assert_same(way_to(&f, neighbour), ROUTER6);
    fixture_close(&f);
}

// An address by hand says that its subnet is on the link whatever routers say of it.
static void a_subnet_by_hand_outlives_routers_prefix(void **state)
{
    (void)state;
    const struct weir_addr neighbour = ip6_of(0x20010db8u, 1, 0, 7);
    struct prefix_said said = of_prefix(1);
    struct fixture f;
    open_settled(&f);
    said.flags = 0x80;
    said.valid = said.preferred = 100;
    advertise(&f, ROUTER6, 600, MEDIUM, &said, 0);
    assert_int_equal(weir_netif_address_add(&f.netif, ip6_of(0x20010db8u, 1, 0, 5), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_same(way_to(&f, neighbour), neighbour);
    fixture_poll(&f, 101ull * SECOND);
    assert_same(way_to(&f, neighbour), neighbour);
    fixture_close(&f);
}

// --- what else they say ----------------------------------------------------------------------------------------------

static void hear(struct fixture *f, uint8_t hop_limit, uint32_t reachable_ms, uint32_t retransmit_ms)
{
    uint8_t message[16] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, hop_limit, 0, 2, 88};
    put32(message + 8, reachable_ms);
    put32(message + 12, retransmit_ms);
    input_icmp6(f, &(struct make6){.source = ROUTER6, .destination = ALL_NODES6, .hop_limit = 255}, message, 16);
    fixture_poll(f, 1000);
}

static uint8_t hop_limit_sent(struct fixture *f)
{
    const uint8_t echo[8] = {ICMP6_ECHO, 0, 0, 0, 1, 2, 3, 4};
    struct ip6 ip;
    uint32_t length;
    fixture_poll(f, SECOND);
    fixture_clear(f);
    input_icmp6(f, &(struct make6){.source = PEER_LINK6, .destination = LINK_LOCAL6}, echo, sizeof echo);
    fixture_poll(f, 10000);
    const int reply = find_icmp6(f, ICMP6_ECHO_REPLY);
    assert_true(reply >= 0);
    (void)sent_icmp6(f, (uint32_t)reply, &ip, &length);
    return ip.hop_limit;
}

static void packets_have_the_hop_limit_that_routers_say(void **state)
{
    (void)state;
    static const struct {
        uint8_t said, sent;
    } rows[] = {{0, 64}, {100, 100}, {0, 100}, {1, 100}, {31, 100}, {32, 32}, {255, 255}};
    struct fixture f;
    open_settled(&f);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, weir_addr_with_zone(PEER_LINK6, 1), FIXTURE_PEER_MAC),
                     WEIR_OK);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        hear(&f, rows[i].said, 0, 0);
        assert_int_equal(hop_limit_sent(&f), rows[i].sent);
    }
    fixture_close(&f);
}

static uint8_t hop_limit_of_datagram(struct fixture *f, weir_socket socket, struct weir_addr to, uint8_t ttl)
{
    const struct weir_message message = {.peer = {to, 9}, .netif_index = 1, .ttl = ttl};
    const struct weir_slice slice = {(const uint8_t *)"x", 1};
    uint32_t length;
    fixture_clear(f);
    assert_int_equal(weir_socket_send_message(f->weir, socket, &message, &slice, 1), 1);
    fixture_poll(f, 1000);
    assert_int_equal(fixture_sent_count(f), 1);
    return fixture_sent_packet(f, 0, &length)[7];
}

// What a user asks for is sent, also where it is the default that routers have taken the place of.
static void a_hop_limit_that_was_asked_for_is_no_routers(void **state)
{
    (void)state;
    const struct weir_addr peer = weir_addr_with_zone(PEER_LINK6, 1), group = weir_addr_with_zone(ALL_NODES6, 1);
    struct fixture f;
    int32_t value;
    open_settled(&f);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, peer, FIXTURE_PEER_MAC), WEIR_OK);
    hear(&f, 100, 0, 0);
    const weir_socket socket = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_get(f.weir, socket, WEIR_OPTION_TTL, &value), WEIR_OK);
    assert_int_equal(value, 64);
    assert_int_equal(hop_limit_of_datagram(&f, socket, peer, 0), 100);
    assert_int_equal(hop_limit_of_datagram(&f, socket, peer, 64), 64);
    assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_TTL, 64), WEIR_OK);
    assert_int_equal(hop_limit_of_datagram(&f, socket, peer, 0), 64);
    assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_TTL, -1), WEIR_OK);
    assert_int_equal(hop_limit_of_datagram(&f, socket, peer, 0), 100);
    assert_int_equal(weir_socket_get(f.weir, socket, WEIR_OPTION_TTL, &value), WEIR_OK);
    assert_int_equal(value, 64);
    assert_int_equal(hop_limit_of_datagram(&f, socket, group, 0), 1);
    assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_MULTICAST_TTL, 64), WEIR_OK);
    assert_int_equal(hop_limit_of_datagram(&f, socket, group, 0), 64);
    assert_int_equal(weir_socket_set(f.weir, socket, WEIR_OPTION_TTL, 0), WEIR_INVALID);
    assert_int_equal(weir_socket_close(f.weir, socket), WEIR_OK);
    fixture_close(&f);
}

static void timers_are_the_routers_where_they_make_sense(void **state)
{
    (void)state;
    struct fixture f;
    open_settled(&f);
    const struct weir_netif_ip6 *const ip6 = &f.netif.ip6;
    hear(&f, 0, 10000, 2000);
    assert_int_equal(ip6->base_ms, 10000);
    assert_in_range(ip6->reachable_ms, 5000, 15001);
    assert_int_equal(ip6->retransmit_ms, 2000);
    const uint32_t reachable_ms = ip6->reachable_ms;
    hear(&f, 0, 0, 0);  // they say nothing
    hear(&f, 0, 10000, 2000);
    assert_int_equal(ip6->reachable_ms, reachable_ms);
    hear(&f, 0, 3600001, UINT32_MAX);
    assert_int_equal(ip6->base_ms, 10000);
    assert_int_equal(ip6->retransmit_ms, 10000);
    hear(&f, 0, 1, 1);
    assert_true(ip6->reachable_ms >= 1);
    assert_int_equal(ip6->retransmit_ms, 100);
    fixture_close(&f);
}

// RFC 4861 §6.2.6: a host does not listen to those who ask for routers.
static void solicitations_of_routers_are_not_heard(void **state)
{
    (void)state;
    uint8_t message[ND_RS_BYTES_MAX];
    struct fixture f;
    open_settled(&f);
    fixture_clear(&f);
    const uint32_t length = nd_rs_emit(message, FIXTURE_PEER_MAC);
    input_icmp6(&f, &(struct make6){.source = PEER_LINK6, .destination = ALL_NODES6, .hop_limit = 255}, message,
                length);
    fixture_poll(&f, 1000);
    assert_int_equal(find_icmp6(&f, ICMP6_ROUTER_ADVERTISEMENT), -1);
    assert_null(neighbour_find(f.weir, &f.netif, weir_addr_with_zone(PEER_LINK6, 1)));
    fixture_close(&f);
}

// RFC 4861 §6.3.4: by its advertisement's link address an entry is made or becomes STALE, and is a router's.
static void an_advertisement_makes_its_router_known(void **state)
{
    (void)state;
    struct prefix_said said = of_prefix(1);
    struct fixture f;
    open_settled(&f);
    said.link_address = true;
    advertise(&f, ROUTER6, 600, 0, &said, 0);
    const struct neighbour *const n = neighbour_find(f.weir, &f.netif, weir_addr_with_zone(ROUTER6, 1));
    assert_non_null(n);
    assert_int_equal(n->state, NEIGHBOUR_STALE);
    assert_true(n->router);
    assert_memory_equal(n->mac, FIXTURE_PEER_MAC, 6);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_preferred_router_is_the_way_out),
        cmocka_unit_test(a_more_specific_route_goes_before_the_default),
        cmocka_unit_test(a_router_that_is_silent_is_passed_over),
        cmocka_unit_test(a_packet_leaves_by_a_router_of_its_prefix),
        cmocka_unit_test(a_source_is_of_the_next_hops_prefix),
        cmocka_unit_test(the_answer_leaves_by_the_router_of_the_address_asked),
        cmocka_unit_test(where_its_router_is_silent_another_is_tried),
        cmocka_unit_test(a_router_that_withdrew_a_prefix_is_as_any_other),
        cmocka_unit_test(a_prefix_is_on_the_link_as_long_as_routers_say),
        cmocka_unit_test(a_subnet_by_hand_outlives_routers_prefix),
        cmocka_unit_test(packets_have_the_hop_limit_that_routers_say),
        cmocka_unit_test(a_hop_limit_that_was_asked_for_is_no_routers),
        cmocka_unit_test(timers_are_the_routers_where_they_make_sense),
        cmocka_unit_test(solicitations_of_routers_are_not_heard),
        cmocka_unit_test(an_advertisement_makes_its_router_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
