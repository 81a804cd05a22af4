// SPDX-License-Identifier: BSD-2-Clause
// COMPACT_ADDRESS: an address of the compact stack that is given by hand, beside those that it makes; and what becomes
// of datagrams (COMPACT_UDP) whose address goes.
// needs IPv6
#undef WEIR_CFG_IP4
#define WEIR_CFG_IP4 0
#define WEIR_CFG_COMPACT_ADDRESS 1
#define WEIR_CFG_COMPACT_UDP 1
#define WEIR_CFG_OUTBOX_BYTES 600
#define weir_socket_peek_message serving_socket_peek_message
#define weir_socket_send_message serving_socket_send_message
#define weir_socket_discard serving_socket_discard
#include "serving.c"

#include "compact/udp.c"

#include "compact/talk6.h"

#define PORT 9

static const uint8_t static_global[16] = {0x20, 1, 0xd, 0xb8, 0, 7, [15] = 1}, static_link[16] = {0xfe, 0x80, [15] = 7};

// With the address of the link, and a router that is no news.
static void begin_link(struct talk *t)
{
    uint8_t bytes[200];
    begin(t);
    pass(t, 2 * SECOND);
    icmp_in(t, bytes, peer_address6, ALL_NODES, 255, (make_advertisement(bytes, 0, 1800), 16));
    ready(t, false);
    forget(t);
}

static int set(struct talk *t, const uint8_t *address, enum weir_address_mode mode)
{
    const int error = weir_netif_set_address(&t->serving->netif, weir_addr_v6(address), 64, mode);
    turn(t);
    return error;
}

static void expect_report(struct talk *t, uint32_t count, const uint8_t *last)
{
    struct ip6 ip;
    uint8_t group[16];
    solicited(last, group);
    const uint8_t *report = message(t, ICMP6_MLD_REPORT_V2, &ip);
    assert_non_null(report);
    assert_int_equal(get32(report + 4), count);
    assert_memory_equal(report + 12 + 20 * (count - 1), group, 16);
}

// It echoes from that address; the peer speaks to it alone.
static void connects_to(struct talk *t, const uint8_t *address)
{
    memcpy(server_address, address, 16);
    forget(t);
    t->port++;
    connect_talk(t);
    in(t, TCP_ACK | TCP_PSH, 0, 0, 10);
    expect(t, TCP_ACK, 0, 10, 10);
}

// RFC 4862 §5.4, RFC 9777 §6.1: in use when nobody objected to it.
static void it_is_probed(void **state)
{
    (void)state;
    for (uint32_t link = 0; link < 2; link++) {
        struct talk t;
        struct ip6 ip;
        const uint8_t *address = link ? static_link : static_global;
        begin_link(&t);
        assert_int_equal(set(&t, address, WEIR_ADDRESS_PROBE), WEIR_OK);
        assert_int_equal(own(&t, !link)->state, WEIR_ADDRESS_PROBING);
        expect_report(&t, link ? 1 : 2, address);
        const uint8_t *probe = message(&t, ICMP6_NEIGHBOUR_SOLICITATION, &ip);
        assert_non_null(probe);
        assert_memory_equal(probe + 8, address, 16);
        expect_nothing(&t);
        pass(&t, SECOND - 1);
        assert_int_equal(own(&t, !link)->state, WEIR_ADDRESS_PROBING);
        pass(&t, 1);
        ready(&t, !link);
        assert_memory_equal(own_bytes(&t, !link), address, 16);
        connects_to(&t, address);
        pass(&t, 400 * 24 * HOUR);  // it is valid for ever
        ready(&t, !link);
        close_talk(&t);
    }
}

static void at_once_it_is_in_use_without_a_probe(void **state)
{
    (void)state;
    for (uint32_t link = 0; link < 2; link++) {
        struct talk t;
        struct ip6 ip;
        const uint8_t *address = link ? static_link : static_global;
        begin_link(&t);
        assert_int_equal(set(&t, address, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
        ready(&t, !link);
        expect_report(&t, link ? 1 : 2, address);
        expect_nothing(&t);
        connects_to(&t, address);
        forget(&t);
        serving_link_change(t.serving, false);
        serving_link_change(t.serving, true);
        turn(&t);
        ready(&t, !link);  // also where the link may be another one, whose switches are told
        expect_report(&t, link ? 1 : 2, address);
        if (!link)
            assert_non_null(message(&t, ICMP6_NEIGHBOUR_SOLICITATION, &ip));  // of the other one
        assert_non_null(message(&t, ICMP6_ROUTER_SOLICITATION, &ip));
        expect_nothing(&t);
        close_talk(&t);
    }
}

// Nothing is made in its place; routers' prefixes are not either.
static void a_conflict_ends_it(void **state)
{
    (void)state;
    for (uint32_t link = 0; link < 2; link++) {
        struct talk t;
        const uint8_t *address = link ? static_link : static_global;
        begin_link(&t);
        assert_int_equal(set(&t, address, WEIR_ADDRESS_PROBE), WEIR_OK);
        probe_in(&t, address, own(&t, !link)->nonce);  // its own, which the network sent back
        assert_int_equal(own(&t, !link)->state, WEIR_ADDRESS_PROBING);
        advertisement_in(&t, address);
        assert_int_equal(own(&t, !link)->state, WEIR_ADDRESS_CONFLICT);
        pass(&t, 100 * SECOND);
        assert_int_equal(own(&t, !link)->state, WEIR_ADDRESS_CONFLICT);
        if (!link)
            prefix_in(&t, prefix_a, 86400, 14400);
        assert_memory_equal(own_bytes(&t, !link), address, 16);
        assert_int_equal(set(&t, address, WEIR_ADDRESS_PROBE), WEIR_OK);  // tried anew when told to
        pass(&t, SECOND);
        ready(&t, !link);
        close_talk(&t);
    }
}

// It takes the place of an address out of a router's prefix, and gives it back.
static void prefixes_are_not_looked_at_while_it_is_there(void **state)
{
    (void)state;
    struct talk t;
    struct ip6 ip;
    begin_global(&t);
    assert_int_equal(set(&t, none, WEIR_ADDRESS_PROBE), WEIR_OK);  // there is none to clear
    ready(&t, true);
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_PROBE), WEIR_OK);
    pass(&t, SECOND);
    ready(&t, true);
    prefix_in(&t, prefix_a, 86400, 14400);
    prefix_in(&t, static_global, 10, 10);  // the same prefix changes nothing, either (RFC 4862 §5.5.3)
    pass(&t, 3 * HOUR);
    ready(&t, true);
    assert_memory_equal(own_bytes(&t, true), static_global, 16);
    forget(&t);
    assert_int_equal(set(&t, none, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_int_equal(own(&t, true)->state, WEIR_ADDRESS_NONE);
    assert_non_null(message(&t, ICMP6_ROUTER_SOLICITATION, &ip));
    prefix_in(&t, prefix_b, 86400, 14400);
    pass(&t, SECOND);
    ready(&t, true);
    assert_memory_equal(own_bytes(&t, true), prefix_b, 8);
    close_talk(&t);
}

static void what_is_no_address_of_a_host_is_refused(void **state)
{
    (void)state;
    static const uint8_t loopback[16] = {[15] = 1}, mapped[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2},
                         group[16] = {0xff, 2, [15] = 5};
    struct talk t;
    begin_global(&t);
    const uint8_t *const bad[] = {loopback, mapped, group};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(set(&t, bad[i], WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    struct weir_netif *netif = &t.serving->netif;
    assert_int_equal(weir_netif_set_address(netif, weir_addr_v6(static_global), 129, WEIR_ADDRESS_AT_ONCE),
                     WEIR_INVALID);
    ready(&t, true);
    assert_memory_equal(own_bytes(&t, true), prefix_a, 8);
    // Before IPv6 has begun, and when it has ended; then everything begins as at first.
    weir_netif_remove(netif);
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    assert_int_equal(weir_netif_add(t.serving->weir, netif), WEIR_OK);
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    close_talk(&t);
}

static void what_was_given_is_forgotten_with_its_interface(void **state)
{
    (void)state;
    static const uint8_t secret[16] = "another secret";
    struct talk t;
    begin_link(&t);
    assert_int_equal(set(&t, static_link, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    struct weir_netif *netif = &t.serving->netif;
    weir_netif_remove(netif);
    assert_int_equal(weir_netif_add(t.serving->weir, netif), WEIR_OK);
    assert_int_equal(weir_netif_ip6(netif, WEIR_IP6_AUTO | WEIR_IP6_PROMPT, secret), WEIR_OK);
    assert_int_equal(own(&t, false)->state, WEIR_ADDRESS_PROBING);
    assert_memory_not_equal(own_bytes(&t, false), static_link, 16);
    pass(&t, 2 * SECOND);
    prefix_in(&t, prefix_a, 86400, 14400);
    pass(&t, 2 * SECOND);
    ready(&t, true);
    assert_memory_equal(own_bytes(&t, true), prefix_a, 8);
    close_talk(&t);
}

// --- datagrams -------------------------------------------------------------------------------------------------------

static weir_socket bound(struct talk *t)
{
    const weir_socket socket = weir_socket_open(t->serving->weir, WEIR_DATAGRAM, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_bind(t->serving->weir, socket, &(struct weir_endpoint){weir_addr_any(), PORT}),
                     WEIR_OK);
    return socket;
}

// One of a byte.
static void datagram_in(struct talk *t, const uint8_t *source, const uint8_t *destination)
{
    uint8_t bytes[HEADERS + 9] = {0}, *udp = bytes + HEADERS;
    put16(udp, PEER_PORT);
    put16(udp + 2, PORT);
    put16(udp + 4, 9);
    checksum_put(udp + 6, checksum_add(ip6_pseudo_sum(source, destination, IP6_UDP, 9), checksum_sum_portable(udp, 9)));
    raw_input(t, bytes, wrap_ip6(bytes, source, destination, IP6_UDP, 64, 9));
}

static int peek(struct talk *t, weir_socket socket, struct weir_message *seen)
{
    struct weir_slice slice;
    const int got = weir_socket_peek_message(t->serving->weir, socket, seen, &slice);
    if (got >= 0)
        assert_int_equal(weir_socket_discard(t->serving->weir, socket), WEIR_OK);
    return got;
}

static int answer(struct talk *t, weir_socket socket, const struct weir_message *to)
{
    static const uint8_t bytes[] = {1, 2, 3};
    const struct weir_slice slice = {bytes, sizeof bytes};
    const int sent = weir_socket_send_message(t->serving->weir, socket, to, &slice, 1);
    turn(t);
    return sent;
}

// From the address that was asked; who asks a group, or is nobody, is not heard.
static void an_answer_comes_from_the_address_that_was_asked(void **state)
{
    (void)state;
    struct talk t;
    struct weir_message seen;
    uint8_t group[16];
    begin_global(&t);
    const weir_socket socket = bound(&t);
    for (uint32_t global = 0; global < 2; global++) {
        datagram_in(&t, global_peer, own_bytes(&t, global));
        assert_int_equal(peek(&t, socket, &seen), 1);
        assert_true(weir_addr_equal(seen.local, own(&t, global)->addr));
        assert_true(weir_addr_equal(seen.peer.addr, weir_addr_v6(global_peer)));
        assert_int_equal(answer(&t, socket, &seen), 3);
        assert_int_equal(t.count, 1);
        assert_memory_equal(t.frames[0] + ETHERNET_BYTES + 8, own_bytes(&t, global), 16);
        assert_memory_equal(t.frames[0] + ETHERNET_BYTES + 24, global_peer, 16);
        forget(&t);
    }
    solicited(own_bytes(&t, true), group);
    datagram_in(&t, global_peer, ALL_NODES);
    datagram_in(&t, global_peer, group);
    datagram_in(&t, none, own_bytes(&t, true));
    assert_int_equal(peek(&t, socket, &seen), WEIR_AGAIN);
    close_talk(&t);
}

static void datagrams_go_with_the_address_that_they_came_to(void **state)
{
    (void)state;
    struct talk t;
    struct weir_message seen, other;
    begin_global(&t);
    const weir_socket socket = bound(&t);
    datagram_in(&t, global_peer, own_bytes(&t, true));
    assert_int_equal(peek(&t, socket, &seen), 1);
    serving_link_change(t.serving, false);
    serving_link_change(t.serving, true);
    assert_int_equal(answer(&t, socket, &seen), WEIR_NO_ROUTE);  // while it is probed
    pass(&t, 2 * SECOND);
    assert_int_equal(answer(&t, socket, &seen), 3);
    datagram_in(&t, global_peer, own_bytes(&t, true));  // waits
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(answer(&t, socket, &seen), WEIR_NO_ROUTE);
    assert_int_equal(peek(&t, socket, &other), WEIR_AGAIN);
    datagram_in(&t, global_peer, own_bytes(&t, false));  // of the address that stays
    assert_int_equal(set(&t, static_global, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(peek(&t, socket, &other), 1);
    assert_int_equal(answer(&t, socket, &other), 3);
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_probed),
        cmocka_unit_test(at_once_it_is_in_use_without_a_probe),
        cmocka_unit_test(a_conflict_ends_it),
        cmocka_unit_test(prefixes_are_not_looked_at_while_it_is_there),
        cmocka_unit_test(what_is_no_address_of_a_host_is_refused),
        cmocka_unit_test(what_was_given_is_forgotten_with_its_interface),
        cmocka_unit_test(an_answer_comes_from_the_address_that_was_asked),
        cmocka_unit_test(datagrams_go_with_the_address_that_they_came_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
