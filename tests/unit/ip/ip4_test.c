// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// What IPv4 lets in and what it does not, where it goes, and the header it writes.
#include "built.h"
#include "ip/packets.h"

#include "wire/ethernet.h"

// A packet that would be delivered: to a port nobody has, so that its arrival shows as UDP_NO_SOCKET.
static void make_good(struct made *packet)
{
    uint8_t udp[UDP_BYTES + 4];
    make_udp(udp, PEER, OURS, 1, 2, "abcd", 4);
    make_packet(packet, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
}

static void good_packet_arrives(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    open_raw(&f);
    make_good(&packet);
    fixture_input(&f, packet.bytes, packet.length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 1);
    fixture_close(&f);
}

static void header_lies_are_dropped(void **state)
{
    (void)state;
    // Each: offset, value, counter. The checksum is made right again unless it is what is tested.
    static const struct {
        uint8_t at, value;
        enum weir_counter counter;
    } rows[] = {
        {0, 0x55, WEIR_COUNT_ETHERNET_UNKNOWN},  // version 5: the raw link itself knows it is not ours
        {0, 0x44, WEIR_COUNT_IP_BAD_HEADER},     // header of 16 bytes
        {0, 0x4f, WEIR_COUNT_IP_BAD_HEADER},     // header longer than the packet
        {2, 0xff, WEIR_COUNT_IP_BAD_HEADER},     // total length beyond the frame
        {10, 0x00, WEIR_COUNT_IP_BAD_CHECKSUM},
    };
    struct fixture f;
    struct made packet;
    open_raw(&f);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t before = fixture_count(&f, rows[i].counter);
        make_good(&packet);
        packet.bytes[rows[i].at] = packet.bytes[rows[i].at] == rows[i].value ? (uint8_t)~rows[i].value : rows[i].value;
        if (rows[i].counter != WEIR_COUNT_IP_BAD_CHECKSUM && (packet.bytes[0] & 15) * 4u <= packet.length)
            header_sum(packet.bytes);
        fixture_input(&f, packet.bytes, packet.length);
        assert_int_equal(fixture_count(&f, rows[i].counter), before + 1);
    }
    make_good(&packet);
    put16(packet.bytes + 2, 19);  // INFRA:HALT: total length below the header's
    header_sum(packet.bytes);
    fixture_input(&f, packet.bytes, packet.length);
    for (uint32_t length = 1; length < IP4_BYTES; length++)  // runts (CVE-2020-11913)
        fixture_input(&f, packet.bytes, length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_HEADER), 3 + 1 + 19);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 0);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// The second of two alike is recognised by how its frame begins (flow_match); what lies is dropped as if it were the
// first.
static void what_begins_like_a_good_packet_is_checked_all_the_same(void **state)
{
    (void)state;
    static const struct {
        uint8_t at, value, checked;
        enum weir_counter counter;
    } rows[] = {
        {10, 0x55, false, WEIR_COUNT_IP_BAD_CHECKSUM}, {2, 0x7f, true, WEIR_COUNT_IP_BAD_HEADER},
        {3, 19, true, WEIR_COUNT_IP_BAD_HEADER},       {12, 127, true, WEIR_COUNT_IP_BAD_SOURCE},
        {19, 77, true, WEIR_COUNT_IP_NOT_OURS},
    };
    struct fixture f;
    struct made good, packet;
    uint8_t udp[UDP_BYTES + 32], data[32] = "abcd";
    open_raw(&f);
    make_udp(udp, PEER, OURS, 1, 2, data, sizeof data);
    make_packet(&good, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    for (uint32_t i = 1; i <= 3; i++) {
        fixture_input(&f, good.bytes, good.length);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), i);
    }
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t before = fixture_count(&f, rows[i].counter);
        packet = good;
        packet.bytes[rows[i].at] = rows[i].value;
        if (rows[i].checked)
            header_sum(packet.bytes);
        fixture_input(&f, packet.bytes, packet.length);
        assert_int_equal(fixture_count(&f, rows[i].counter), before + 1);
    }
    packet = good;
    packet.bytes[6] |= 0x20;  // a first fragment waits for the others
    header_sum(packet.bytes);
    fixture_input(&f, packet.bytes, packet.length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 3);
    fixture_input(&f, good.bytes, good.length);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 4);
    fixture_close(&f);
}

static void link_padding_is_cut(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    uint8_t data[64];
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), 2);
    make_good(&packet);
    memset(packet.bytes + packet.length, 0xee, 30);
    fixture_input(&f, packet.bytes, packet.length + 30);
    assert_int_equal(take(&f, s, data, sizeof data, NULL), 4);
    assert_memory_equal(data, "abcd", 4);
    fixture_close(&f);
}

static void impossible_sources_are_dropped(void **state)
{
    (void)state;
    const struct weir_addr sources[] = {
        weir_ip4(127, 0, 0, 1), weir_ip4(224, 0, 0, 1), weir_ip4(255, 255, 255, 255), weir_ip4(10, 0, 0, 255), OURS,
        weir_ip4(0, 0, 0, 1),   weir_ip4(240, 0, 0, 1)};
    struct fixture f;
    open_raw(&f);
    for (unsigned i = 0; i < sizeof sources / sizeof sources[0]; i++) {
        input_udp(&f, sources[i], OURS, 1, 2, "x", 1);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_SOURCE), i + 1);
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 0);
    fixture_close(&f);
}

// 0.0.0.0 may speak to everybody (DHCP), not to one host.
static void unspecified_source_only_to_all(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    uint8_t udp[UDP_BYTES];
    open_raw(&f);
    for (int all = 0; all < 2; all++) {
        const struct weir_addr to = all ? weir_ip4(255, 255, 255, 255) : OURS;
        make_udp(udp, weir_addr_any(), to, 68, 67, NULL, 0);
        make_packet(&packet,
                    &(struct make){.destination = to, .protocol = IP_UDP, .payload = udp, .length = sizeof udp});
        put32(packet.bytes + 12, 0);
        header_sum(packet.bytes);
        fixture_input(&f, packet.bytes, packet.length);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_SOURCE), 1);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), all);
    }
    fixture_close(&f);
}

// RFC 1122 §3.2.1.7: a host takes what reached it, whatever is left of its way.
static void a_packet_at_the_end_of_its_way_is_taken(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    open_raw(&f);
    for (uint8_t ttl = 0; ttl < 3; ttl++) {
        make_good(&packet);
        packet.bytes[8] = ttl;
        header_sum(packet.bytes);
        fixture_input(&f, packet.bytes, packet.length);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), ttl + 1);
    }
    fixture_close(&f);
}

static void packets_for_others_vanish(void **state)
{
    (void)state;
    const struct weir_addr others[] = {
        OTHER, FAR, weir_ip4(127, 0, 0, 1), weir_ip4(224, 0, 0, 5), weir_ip4(10, 0, 0, 0), weir_ip4(10, 0, 1, 255)};
    struct fixture f;
    open_raw(&f);
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        input_udp(&f, PEER, others[i], 1, 2, "x", 1);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NOT_OURS), i + 1);
    }
    fixture_poll(&f, 1000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// RFC 1122 §3.3.6, and CVE-2020-11899: a unicast packet, or a SYN to a group, in a broadcast frame gets no answer.
static void link_broadcast_with_unicast_address_is_dropped(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    uint8_t frame[200];
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    fixture_know_peer(&f, PEER);
    make_good(&packet);
    static const uint8_t all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    const struct ethernet link = {.destination = all, .source = FIXTURE_PEER_MAC, .type = ETHERTYPE_IP4};
    memcpy(frame + 32, packet.bytes, packet.length);
    const uint8_t *head = ethernet_emit(frame + 32, &link);
    fixture_input(&f, head, packet.length + 14);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NOT_OURS), 1);
    fixture_poll(&f, 1000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void options_are_checked(void **state)
{
    (void)state;
    // Source routes and malformed options are dropped and counted; harmless ones are passed over.
    static const struct {
        uint8_t bytes[8];
        bool good;
    } rows[] = {
        {{131, 7, 4, 1, 2, 3, 4, 0}, false},                                        // loose source route
        {{131, 7, 0, 1, 2, 3, 4, 0}, false},                                        // the same, pointer 0
        {{131, 7, 255, 1, 2, 3, 4, 0}, false},                                      // the same, pointer 255
        {{137, 7, 4, 1, 2, 3, 4, 0}, false},                                        // strict
        {{1, 1, 131, 3, 4, 0, 0, 0}, false},                                        // behind NOPs
        {{68, 1, 0, 0, 0, 0, 0, 0}, false},                                         // length 1
        {{68, 0, 0, 0, 0, 0, 0, 0}, false},                                         // length 0
        {{68, 200, 0, 0, 0, 0, 0, 0}, false},                                       // length beyond the header
        {{7, 7, 4, 0, 0, 0, 0, 0}, true},                                           // record route: ignored
        {{0x94, 4, 0, 0, 0, 0, 0, 0}, true},                                        // router alert
        {{136, 4, 1, 2, 0, 0, 0, 0}, true},                                         // stream identifier: obsolete
        {{1, 1, 1, 1, 1, 1, 1, 1}, true},      {{0, 131, 7, 4, 1, 2, 3, 4}, true},  // end of list: the rest is padding
    };
    struct fixture f;
    uint8_t udp[UDP_BYTES + 1];
    open_raw(&f);
    make_udp(udp, PEER, OURS, 1, 2, "x", 1);
    uint32_t bad = 0, good = 0;
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .options = rows[i].bytes,
                                 .options_length = 8,
                                 .payload = udp,
                                 .length = sizeof udp});
        *(rows[i].good ? &good : &bad) += 1;
        assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_OPTIONS), bad);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), good);
    }
    fixture_close(&f);
}

static uint32_t handled, handled_offset;
static void handle(struct weir_protocol_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                   uint32_t offset, struct weir_addr source, struct weir_addr destination)
{
    (void)self, (void)netif;
    handled++;
    handled_offset = offset;
    assert_int_equal(frame->slices[0].data[offset], 'p');
    assert_true(weir_addr_equal(source, PEER) && weir_addr_equal(destination, OURS));
}

static void unknown_protocol_is_reported(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    open_raw(&f);
    input(&f, &(struct make){.protocol = 200, .payload = "payload!", .length = 8});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_PROTOCOL), 1);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(icmp.type, ICMP4_UNREACHABLE);
    assert_int_equal(icmp.code, ICMP4_PROTOCOL);
    fixture_close(&f);
}

static void registered_protocol_is_handled(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_protocol_handler handler = {.protocol = 200, .input = handle};
    open_raw(&f);
    assert_int_equal(weir_protocol_register(f.weir, &handler), WEIR_OK);
    input(&f, &(struct make){.protocol = 200, .payload = "payload!", .length = 8});
    assert_int_equal(handled, 1);
    assert_int_equal(handled_offset, IP4_BYTES);
    weir_protocol_unregister(f.weir, &handler);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// --- output ----------------------------------------------------------------------------------------------------------

static void output(struct fixture *f, struct weir_addr to, bool dont_fragment, bool router_alert)
{
    struct path path;
    struct packet_out out;
    struct weir_addr source = weir_addr_any();
    assert_int_equal(ip_path_find(f->weir, &path, &source, to, 0), WEIR_OK);
    packet_out_init(&out);
    memcpy(packet_out_header(&out, 8), "transprt", 8);
    packet_out_payload(&out, "data", 4);
    const struct ip_out ip = {.source = source,
                              .destination = to,
                              .protocol = 99,
                              .ttl = 7,
                              .tos = 0x28,
                              .dont_fragment = dont_fragment,
                              .router_alert = router_alert};
    assert_int_equal(ip_output(f->weir, &path, &ip, &out, NULL), WEIR_TX_DONE);
}

static void output_writes_the_header(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    fixture_open(&f, &weir_link_rawip, OURS, 24, 0);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    output(&f, PEER, true, false);
    const uint8_t *payload = sent_packet(&f, 0, &ip, &length);
    assert_int_equal(length, 12);
    assert_memory_equal(payload, "transprtdata", 12);
    assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    assert_int_equal(ip.destination, weir_addr_to_v4(PEER));
    assert_int_equal(ip.protocol, 99);
    assert_int_equal(ip.ttl, 7);
    assert_int_equal(ip.tos, 0x28);
    assert_int_equal(ip.flags, IP4_DONT_FRAGMENT);
    assert_int_equal(ip.id, 0);  // RFC 6864: nothing to be told by it
    output(&f, PEER, true, true);
    payload = sent_packet(&f, 1, &ip, &length);
    assert_int_equal(ip.header_length, 24);
    assert_memory_equal(payload - 4, ((const uint8_t[]){0x94, 4, 0, 0}), 4);
    assert_memory_equal(payload, "transprtdata", 12);
    fixture_close(&f);
}

// What host B sees of the identifications says nothing about what is sent to A.
static void identifications_are_per_destination(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    uint16_t to_b[2][16];
    fixture_open(&f, &weir_link_rawip, OURS, 24, 0);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    for (int round = 0; round < 2; round++) {
        fixture_clear(&f);
        uint32_t at = 0;
        for (int i = 0; i < 16; i++) {
            output(&f, OTHER, false, false);
            sent_packet(&f, at++, &ip, &length);
            to_b[round][i] = ip.id;
            for (int j = 0; round == 1 && j < 1 + i % 3; j++, at++)
                output(&f, PEER, false, false);
        }
    }
    for (int i = 1; i < 16; i++) {
        assert_int_equal((uint16_t)(to_b[0][i] - to_b[0][i - 1]), 1);
        assert_int_equal((uint16_t)(to_b[1][i] - to_b[1][i - 1]), 1);
    }
    fixture_close(&f);
}

// A path that is no longer valid is not used: its interface may be gone.
static void stale_path_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    struct path path;
    struct packet_out out;
    struct weir_addr source = weir_addr_any();
    fixture_open(&f, &weir_link_rawip, OURS, 24, 0);
    assert_int_equal(ip_path_find(f.weir, &path, &source, PEER, 0), WEIR_OK);
    assert_true(ip_path_valid(f.weir, &path));
    assert_int_equal(weir_route_add(f.weir, FAR, 32, ROUTER, &f.netif, 1), WEIR_OK);
    assert_false(ip_path_valid(f.weir, &path));
    packet_out_init(&out);
    const struct ip_out ip = {.source = source, .destination = PEER, .protocol = 99, .ttl = 1};
    assert_int_equal(ip_output(f.weir, &path, &ip, &out, NULL), WEIR_TX_DONE);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_ROUTE), 1);
    fixture_close(&f);
}

// Random bytes behind a good address: nothing crashes, nothing is sent from within input (the fixture watches).
static void noise_is_survived(void **state)
{
    (void)state;
    struct fixture f;
    struct made packet;
    uint8_t noise[300];
    uint32_t random = 12345;
    open_raw(&f);
    for (int i = 0; i < 20000; i++) {
        for (unsigned j = 0; j < sizeof noise; j++)
            noise[j] = (uint8_t)((random = random * 1664525u + 1013904223u) >> 24);
        static const uint8_t protocols[] = {1, 2, 4, 6, 17, 41, 255, 0};
        make_packet(&packet, &(struct make){.protocol = protocols[i % 8],
                                            .flags = (i >> 3) % 7 == 0 ? IP4_MORE_FRAGMENTS : 0,
                                            .offset = (uint16_t)((i >> 3) % 5 == 0 ? noise[1] * 8u : 0),
                                            .id = noise[2] & 3,
                                            .payload = noise,
                                            .length = noise[0]});
        if (i % 3 == 0)
            packet.bytes[noise[3] % 20] ^= noise[4];
        if (i % 2)
            header_sum(packet.bytes);
        fixture_input(&f, packet.bytes, packet.length);
        if (i % 64 == 0)
            fixture_poll(&f, 100);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_packet_arrives),
        cmocka_unit_test(header_lies_are_dropped),
        cmocka_unit_test(what_begins_like_a_good_packet_is_checked_all_the_same),
        cmocka_unit_test(link_padding_is_cut),
        cmocka_unit_test(impossible_sources_are_dropped),
        cmocka_unit_test(unspecified_source_only_to_all),
        cmocka_unit_test(a_packet_at_the_end_of_its_way_is_taken),
        cmocka_unit_test(packets_for_others_vanish),
        cmocka_unit_test(link_broadcast_with_unicast_address_is_dropped),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(unknown_protocol_is_reported),
        test_with(WEIR_CFG_HANDLERS, registered_protocol_is_handled),
        test_with(WEIR_CFG_IGMP, output_writes_the_header),
        test_with(WEIR_CFG_ALLOCATOR,
                  identifications_are_per_destination),  // a static build has few, and these two meet
        cmocka_unit_test(stale_path_is_refused),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
