// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Which socket a UDP datagram is for, checksums, ports.
#include "built.h"
#include "ip/packets.h"

#define GROUP weir_ip4(239, 1, 2, 3)
#define PORT 7000

static uint32_t queued(struct fixture *f, weir_socket s)
{
    uint32_t got = 0;
    while (take(f, s, NULL, 0, NULL) >= 0)
        got++;
    return got;
}

static void datagrams_arrive_whole_with_their_names(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 7, 8, 9, 512, 1471, 1472};
    struct fixture f;
    uint8_t payload[1472], got[1472];
    struct weir_message message;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        fill(payload, lengths[i], i);
        input_udp(&f, PEER, OURS, 4321, PORT, payload, lengths[i]);
        assert_true(weir_socket_ready(f.weir, s) & WEIR_READABLE);
        assert_int_equal(take(&f, s, got, sizeof got, &message), lengths[i]);
        assert_memory_equal(got, payload, lengths[i]);
        assert_true(weir_addr_equal(message.peer.addr, PEER) && weir_addr_equal(message.local, OURS));
        assert_int_equal(message.peer.port, 4321);
        assert_int_equal(message.netif_index, f.netif.index);
        assert_int_equal(message.ttl, 64);
        assert_int_equal(message.length, lengths[i]);
        assert_false(weir_socket_ready(f.weir, s) & WEIR_READABLE);
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_RECEIVED), sizeof lengths / sizeof lengths[0]);
    fixture_close(&f);
}

// RFC 1122 §3.2.1.6: the type of service of what arrived is told, of each datagram its own.
static void the_type_of_service_is_told(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t udp[UDP_BYTES + 1], got[1];
    struct weir_message message;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_udp(udp, PEER, OURS, 4321, PORT, "x", 1);
    for (uint32_t tos = 0; tos <= 0xb8; tos += 0xb8) {
        input(&f, &(struct make){.protocol = IP_UDP, .tos = (uint8_t)tos, .payload = udp, .length = sizeof udp});
        assert_int_equal(take(&f, s, got, sizeof got, &message), 1);
        assert_int_equal(message.tos, tos);
    }
    fixture_close(&f);
}

static void damage_is_found_wherever_it_is(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t udp[UDP_BYTES + 301], payload[301];
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    fill(payload, sizeof payload, 1);
    uint32_t bad = 0;
    for (uint32_t at = 0; at < sizeof udp; at += at < 16 ? 1 : 13) {
        if (at == 4 || at == 5)  // length: its own check
            continue;
        make_udp(udp, PEER, OURS, 9, PORT, payload, sizeof payload);
        udp[at] ^= 0x10;
        input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_BAD_CHECKSUM), ++bad);
        assert_false(weir_socket_ready(f.weir, s) & WEIR_READABLE);
    }
    assert_int_equal(queued(&f, s), 0);
    // The queue works on behind what was taken back.
    input_udp(&f, PEER, OURS, 9, PORT, payload, sizeof payload);
    udp[20] ^= 1;
    input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    input_udp(&f, PEER, OURS, 9, PORT, payload, 5);
    assert_int_equal(take(&f, s, NULL, 0, NULL), 301);
    assert_int_equal(take(&f, s, NULL, 0, NULL), 5);
    assert_int_equal(queued(&f, s), 0);
    fixture_close(&f);
}

static void checksum_zero_means_none(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t udp[UDP_BYTES + 4];
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    make_udp(udp, PEER, OURS, 9, PORT, "abcd", 4);
    put16(udp + 6, 0);
    input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    assert_int_equal(take(&f, s, NULL, 0, NULL), 4);
    // We always send one, and never 0: some of all these would have it.
    for (uint32_t i = 0; i < 65536; i++) {
        uint8_t data[2];
        put16(data, i);
        assert_int_equal(send_to(&f, s, PEER, 9, data, 2), 2);
        if (i % 16 == 15)
            fixture_poll(&f, 1000);
    }
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        struct ip4 ip;
        uint32_t length;
        const uint8_t *bytes = sent_packet(&f, i, &ip, &length);
        assert_int_not_equal(get16(bytes + 6), 0);
        assert_int_equal(checksum_add(ip4_pseudo_sum(ip.source, ip.destination, IP_UDP, length),
                                      checksum_sum_portable(bytes, length)),
                         0xffff);
    }
    fixture_close(&f);
}

static void lengths_that_lie_are_dropped(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t udp[UDP_BYTES + 20];
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    uint32_t bad = 0;
    for (uint32_t length = 0; length < UDP_BYTES; length++, bad++)
        input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = length});
    static const uint16_t lies[] = {0, 7, 29, 0xffff};
    for (unsigned i = 0; i < 4; i++, bad++) {
        make_udp(udp, PEER, OURS, 9, PORT, "12345678901234567890", 20);
        put16(udp + 4, lies[i]);
        put16(udp + 6, 0);
        input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_BAD_LENGTH), bad);
    // Shorter than the packet is allowed: what follows is not part of it.
    make_udp(udp, PEER, OURS, 9, PORT, "abcd", 4);
    input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    assert_int_equal(take(&f, s, NULL, 0, NULL), 4);
    fixture_close(&f);
}

// Whatever the order in which they were opened.
static void most_precise_socket_gets_it(void **state)
{
    (void)state;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    for (unsigned o = 0; o < 3; o++) {
        struct fixture f;
        weir_socket s[3];  // any address, bound to ours, connected
        open_raw(&f);
        for (int i = 0; i < 3; i++) {
            const int which = orders[o][i];
            const struct weir_endpoint local = {which == 1 ? OURS : weir_addr_any(), PORT}, peer = {PEER, 53};
            s[which] = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
            weir_socket_set(f.weir, s[which], WEIR_OPTION_REUSE_ADDRESS, 1);
            assert_int_equal(weir_socket_bind(f.weir, s[which], &local), WEIR_OK);
            if (which == 2)
                assert_int_equal(weir_socket_connect(f.weir, s[2], &peer), WEIR_OK);
        }
        input_udp(&f, PEER, OURS, 53, PORT, "c", 1);
        input_udp(&f, PEER, OURS, 54, PORT, "b", 1);
        input_udp(&f, OTHER, OURS, 53, PORT, "b", 1);
        assert_int_equal(queued(&f, s[2]), 1);
        assert_int_equal(queued(&f, s[1]), 2);
        weir_socket_close(f.weir, s[1]);
        input_udp(&f, OTHER, OURS, 53, PORT, "a", 1);
        assert_int_equal(queued(&f, s[0]), 1);
        weir_socket_close(f.weir, s[0]);
        input_udp(&f, OTHER, OURS, 53, PORT, "-", 1);  // a connected socket takes nothing from others
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 1);
        fixture_close(&f);
    }
}

static void bound_interface_is_heeded(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_BIND_NETIF, f.netif.index), WEIR_OK);
    assert_int_equal(weir_socket_bind(f.weir, s, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    input_udp(&f, PEER, OURS, 9, PORT, "x", 1);
    assert_int_equal(queued(&f, s), 1);
    const weir_socket local = socket_bound(&f, weir_addr_any(), 7001);
    send_to(&f, local, OURS, PORT, "x", 1);  // comes round through loopback: not that interface
    fixture_poll(&f, 1000);
    assert_int_equal(queued(&f, s), 0);
    fixture_close(&f);
}

static void everybody_who_wants_it_gets_a_broadcast(void **state)
{
    (void)state;
    struct fixture f;
    const struct weir_addr all = weir_ip4(255, 255, 255, 255), net = weir_ip4(10, 0, 0, 255);
    weir_socket s[3];
    open_raw(&f);
    for (int i = 0; i < 3; i++) {
        s[i] = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
        weir_socket_set(f.weir, s[i], WEIR_OPTION_REUSE_ADDRESS, 1);
        assert_int_equal(weir_socket_bind(f.weir, s[i], &(struct weir_endpoint){i == 2 ? OURS : weir_addr_any(), PORT}),
                         WEIR_OK);
    }
    input_udp(&f, PEER, all, 9, PORT, "x", 1);
    input_udp(&f, PEER, net, 9, PORT, "y", 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(queued(&f, s[i]), 2);
    fixture_close(&f);
}

static void groups_reach_their_members_only(void **state)
{
    (void)state;
    struct fixture f;
    weir_socket s[3];
    struct weir_message message;
    open_raw(&f);
    for (int i = 0; i < 3; i++) {
        s[i] = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
        weir_socket_set(f.weir, s[i], WEIR_OPTION_REUSE_ADDRESS, 1);
        assert_int_equal(
            weir_socket_bind(f.weir, s[i], &(struct weir_endpoint){i == 1 ? GROUP : weir_addr_any(), PORT}), WEIR_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(weir_socket_membership(f.weir, s[i], GROUP, f.netif.index, 1), WEIR_OK);
    assert_int_equal(weir_socket_membership(f.weir, s[0], GROUP, f.netif.index, 1), WEIR_IN_USE);
    assert_int_equal(weir_socket_membership(f.weir, s[2], PEER, f.netif.index, 1), WEIR_INVALID);
    input_udp(&f, PEER, GROUP, 9, PORT, "x", 1);
    assert_int_equal(take(&f, s[0], NULL, 0, &message), 1);
    assert_true(weir_addr_equal(message.local, GROUP));
    assert_int_equal(queued(&f, s[1]), 1);
    assert_int_equal(queued(&f, s[2]), 0);
    assert_int_equal(weir_socket_membership(f.weir, s[0], GROUP, 0, 0), WEIR_OK);
    input_udp(&f, PEER, GROUP, 9, PORT, "x", 1);
    assert_int_equal(queued(&f, s[0]), 0);
    assert_int_equal(queued(&f, s[1]), 1);
    weir_socket_close(f.weir, s[1]);  // the last member goes, and the instance's membership with it
    assert_false(ip_group_member(f.weir, &f.netif, GROUP));
    fixture_close(&f);
}

static void groups_are_heard_on_this_host_too(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT), sender = socket_bound(&f, weir_addr_any(), 7001);
    assert_int_equal(weir_socket_membership(f.weir, s, GROUP, 0, 1), WEIR_OK);
    fixture_poll(&f, 20000000);
    fixture_clear(&f);
    assert_int_equal(send_to(&f, sender, GROUP, PORT, "abc", 3), 3);
    fixture_poll(&f, 1000);
    assert_int_equal(queued(&f, s), 1);
    assert_int_equal(fixture_sent_count(&f), 1);  // and on the wire, with a time to live of 1
    struct ip4 ip;
    uint32_t length;
    sent_packet(&f, 0, &ip, &length);
    assert_int_equal(ip.ttl, 1);
    assert_int_equal(weir_socket_set(f.weir, sender, WEIR_OPTION_MULTICAST_LOOP, 0), WEIR_OK);
    send_to(&f, sender, GROUP, PORT, "abc", 3);
    fixture_poll(&f, 1000);
    assert_int_equal(queued(&f, s), 0);
    assert_int_equal(weir_socket_set(f.weir, sender, WEIR_OPTION_MULTICAST_LOOP, 1), WEIR_OK);
    assert_int_equal(weir_socket_set(f.weir, sender, WEIR_OPTION_MULTICAST_TTL, 0), WEIR_OK);
    fixture_clear(&f);
    send_to(&f, sender, GROUP, PORT, "abc", 3);  // 0: on this host only
    fixture_poll(&f, 1000);
    assert_int_equal(queued(&f, s), 1);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void ports_are_taken_once(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket first = socket_bound(&f, OURS, PORT), s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    const struct weir_endpoint any = {weir_addr_any(), PORT}, ours = {OURS, PORT}, foreign = {OTHER, PORT},
                               loopback = {weir_ip4(127, 0, 0, 1), PORT};
    assert_int_equal(weir_socket_bind(f.weir, s, &any), WEIR_IN_USE);
    assert_int_equal(weir_socket_bind(f.weir, s, &ours), WEIR_IN_USE);
    assert_int_equal(weir_socket_bind(f.weir, s, &foreign), WEIR_NO_ADDRESS);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_REUSE_ADDRESS, 1), WEIR_OK);
    assert_int_equal(weir_socket_bind(f.weir, s, &any), WEIR_IN_USE);    // both must agree
    assert_int_equal(weir_socket_bind(f.weir, s, &loopback), WEIR_OK);   // another address is no collision
    assert_int_equal(weir_socket_bind(f.weir, s, &ours), WEIR_INVALID);  // bound already
    weir_socket_close(f.weir, first);
    (void)socket_bound(&f, OURS, PORT);
    fixture_close(&f);
}

// RFC 6056: from the dynamic range, not to be guessed from the last.
static void ephemeral_ports_are_random(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t steps_of_one = 0;
    uint16_t last = 0;
    uint8_t seen[65536 / 8] = {0};
    open_raw(&f);
    for (int i = 0; i < 300; i++) {
        const weir_socket s = socket_bound(&f, weir_addr_any(), 0);
        struct weir_endpoint local;
        assert_int_equal(weir_socket_local(f.weir, s, &local), WEIR_OK);
        assert_in_range(local.port, 49152, 65535);
        assert_false(seen[local.port / 8] >> local.port % 8 & 1);
        seen[local.port / 8] |= (uint8_t)(1 << local.port % 8);
        steps_of_one += local.port == last + 1;
        last = local.port;
    }
    assert_in_range(steps_of_one, 0, 5);
    fixture_close(&f);
}

static void all_ephemeral_ports_can_be_had(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    for (int i = 0; i < 16384; i++)
        assert_true(weir_socket_bind(f.weir, weir_socket_open(f.weir, WEIR_DATAGRAM, 0),
                                     &(struct weir_endpoint){weir_addr_any(), 0}) == WEIR_OK);
    assert_int_equal(weir_socket_bind(f.weir, weir_socket_open(f.weir, WEIR_DATAGRAM, 0),
                                      &(struct weir_endpoint){weir_addr_any(), 0}),
                     WEIR_IN_USE);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_arrive_whole_with_their_names),
        cmocka_unit_test(the_type_of_service_is_told),
        cmocka_unit_test(damage_is_found_wherever_it_is),
        cmocka_unit_test(checksum_zero_means_none),
        cmocka_unit_test(lengths_that_lie_are_dropped),
        cmocka_unit_test(most_precise_socket_gets_it),
        cmocka_unit_test(bound_interface_is_heeded),
        cmocka_unit_test(everybody_who_wants_it_gets_a_broadcast),
        test_with(WEIR_CFG_IGMP, groups_reach_their_members_only),
        test_with(WEIR_CFG_IGMP, groups_are_heard_on_this_host_too),
        test_with(WEIR_CFG_LOOPBACK, ports_are_taken_once),
        test_with(WEIR_CFG_ALLOCATOR, ephemeral_ports_are_random),
        test_with(WEIR_CFG_ALLOCATOR, all_ephemeral_ports_can_be_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
