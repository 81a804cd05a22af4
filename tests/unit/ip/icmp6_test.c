// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// ICMPv6 (RFC 4443): echo, the errors we send and those we believe.
#include "ip/packets6.h"

#include "wire/udp.h"

#define SECOND 1000000u

static void echo(struct fixture *f, const struct make6 *make, uint32_t length)
{
    uint8_t message[2048] = {ICMP6_ECHO, 0, 0, 0, 0x12, 0x34, 0, 7};
    for (uint32_t i = 8; i < 8 + length; i++)
        message[i] = (uint8_t)(i * 31);
    input_icmp6(f, make, message, 8 + length);
    fixture_poll(f, 10000);
}

static void echo_is_answered_as_it_came(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 2, 55, 56, 1000, 1452};
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        echo(&f, &(struct make6){.next_header = 0}, lengths[i]);
        assert_int_equal(fixture_sent_count(&f), 1);
        const uint8_t *const bytes = sent_icmp6(&f, 0, &ip, &length);
        assert_int_equal(bytes[0], ICMP6_ECHO_REPLY);
        assert_int_equal(length, 8 + lengths[i]);
        assert_int_equal(get32(bytes + 4), 0x12340007);
        for (uint32_t at = 8; at < length; at++)
            assert_int_equal(bytes[at], (uint8_t)(at * 31));
        assert_addr(ip.source, OURS6);
        assert_addr(ip.destination, PEER6);
        fixture_clear(&f);
        fixture_poll(&f, SECOND);
    }
    fixture_close(&f);
}

static void echo_to_a_group_is_answered_from_an_address(void **state)
{
    (void)state;
    const struct weir_addr groups[] = {ALL_NODES6, solicited_node_of(OURS6)};
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < 2; i++) {
        echo(&f, &(struct make6){.destination = groups[i]}, 8);
        assert_int_equal(fixture_sent_count(&f), 1);
        assert_int_equal(sent_icmp6(&f, 0, &ip, &length)[0], ICMP6_ECHO_REPLY);
        assert_addr(ip.source, OURS6);
        assert_addr(ip.destination, PEER6);
        fixture_clear(&f);
        fixture_poll(&f, SECOND);
    }
    echo(&f, &(struct make6){.destination = solicited_node_of(OTHER6)}, 8);
    echo(&f, &(struct make6){.destination = ALL_NODES6, .from_any = true}, 8);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void a_wrong_checksum_is_dropped(void **state)
{
    (void)state;
    const uint8_t message[8] = {ICMP6_ECHO, 0, 0x12, 0x34};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    input6(&f, &(struct make6){.next_header = IP6_ICMP, .payload = message, .length = 8});
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_BAD), 1);
    fixture_close(&f);
}

static void addresses_that_no_link_brings_are_dropped(void **state)
{
    (void)state;
    const struct weir_addr loopback = ip6_of(0, 0, 0, 1), mapped = ip6_of(0, 0, 0xffff, 0x0a000002);
    struct fixture f;
    open6(&f, &weir_link_rawip);
    echo(&f, &(struct make6){.source = loopback}, 8);
    echo(&f, &(struct make6){.source = mapped}, 8);
    echo(&f, &(struct make6){.source = ALL_NODES6}, 8);
    echo(&f, &(struct make6){.source = OURS6}, 8);
    echo(&f, &(struct make6){.destination = loopback}, 8);
    echo(&f, &(struct make6){.destination = mapped}, 8);
    echo(&f, &(struct make6){.destination = ip6_of(0xff010000u, 0, 0, 1)}, 8);
    echo(&f, &(struct make6){.from_any = true}, 8);
    echo(&f, &(struct make6){.destination = OTHER6}, 8);
    assert_int_equal(fixture_sent_count(&f), 0);
    echo(&f, &(struct make6){.next_header = 0}, 8);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

// --- errors we send --------------------------------------------------------------------------------------------------

static void expect_nothing(struct fixture *f)
{
    fixture_poll(f, 10000);
    assert_int_equal(fixture_sent_count(f), 0);
    settle6(f);
}

static void an_unknown_next_header_is_pointed_at(void **state)
{
    (void)state;
    static const uint8_t options[16] = {IP6_DESTINATION, 0, 1, 4, 0, 0, 0, 0, 200, 0, 1, 4, 0, 0, 0, 0};
    static const uint8_t hop_by_hop_inside[16] = {IP6_HOP_BY_HOP, 0, 1, 4, 0, 0, 0, 0, IP6_NONE, 0, 1, 4, 0, 0, 0, 0};
    static const uint8_t nothing_behind[8] = {IP6_NONE, 0, 1, 4};
    const uint8_t payload[16] = {0};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    input6(&f, &(struct make6){.next_header = 200, .payload = payload, .length = 16});
    expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_NEXT_HEADER, 6);
    input6(&f,
           &(struct make6){
               .next_header = IP6_DESTINATION, .chain = options, .chain_length = 16, .payload = payload, .length = 16});
    expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_NEXT_HEADER, 48);
    input6(&f, &(struct make6){.next_header = IP6_DESTINATION, .chain = hop_by_hop_inside, .chain_length = 16});
    expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_NEXT_HEADER, 40);
    input6(&f, &(struct make6){.next_header = 200, .payload = payload, .length = 16, .destination = ALL_NODES6});
    expect_nothing(&f);
    input6(&f, &(struct make6){.next_header = IP6_NONE, .payload = payload, .length = 16});
    expect_nothing(&f);
    input6(&f, &(struct make6){.next_header = IP6_DESTINATION, .chain = nothing_behind, .chain_length = 8});
    expect_nothing(&f);
    fixture_close(&f);
}

// RFC 8200 §4.2, to an address and to a group.
static void the_high_bits_of_an_option_say_what_to_do(void **state)
{
    (void)state;
    static const struct {
        uint8_t option, header;
        bool unicast, group;  // is an error sent?
        bool passes;
    } rows[] = {
        {0x1e, IP6_HOP_BY_HOP, false, false, true},  {0x5e, IP6_HOP_BY_HOP, false, false, false},
        {0x9e, IP6_HOP_BY_HOP, true, true, false},   {0xde, IP6_HOP_BY_HOP, true, false, false},
        {0x1e, IP6_DESTINATION, false, false, true}, {0x5e, IP6_DESTINATION, false, false, false},
        {0x9e, IP6_DESTINATION, true, true, false},  {0xde, IP6_DESTINATION, true, false, false},
    };
    struct fixture f;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const bool group = i & 1, error = group ? rows[i / 2].group : rows[i / 2].unicast;
        const uint8_t chain[8] = {IP6_ICMP, 0, rows[i / 2].option, 4}, message[16] = {ICMP6_ECHO};
        const struct make6 make = {.destination = group ? ALL_NODES6 : OURS6,
                                   .next_header = rows[i / 2].header,
                                   .chain = chain,
                                   .chain_length = 8};
        input_icmp6(&f, &make, message, 16);
        if (error) {
            expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_OPTION, 42);
            continue;
        }
        fixture_poll(&f, 10000);
        assert_int_equal(fixture_sent_count(&f), rows[i / 2].passes);
        assert_int_equal(find_icmp6(&f, ICMP6_ECHO_REPLY), rows[i / 2].passes ? 0 : -1);
        settle6(&f);
    }
    fixture_close(&f);
}

static void an_unknown_routing_header_with_segments_left_is_pointed_at(void **state)
{
    (void)state;
    uint8_t chain[8] = {IP6_ICMP, 0, 33, 1}, message[16] = {ICMP6_ECHO};
    const struct make6 make = {.next_header = IP6_ROUTING, .chain = chain, .chain_length = 8};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    input_icmp6(&f, &make, message, 16);
    expect_error6(&f, ICMP6_PARAMETER, IP6_ERRONEOUS_FIELD, 42);
    chain[2] = 0;
    input_icmp6(&f, &make, message, 16);
    expect_error6(&f, ICMP6_PARAMETER, IP6_ERRONEOUS_FIELD, 42);
    chain[3] = 0;
    input_icmp6(&f, &make, message, 16);
    fixture_poll(&f, 10000);
    assert_int_equal(find_icmp6(&f, ICMP6_ECHO_REPLY), 0);
    fixture_close(&f);
}

// A datagram to a port nobody has. `length` of all of it.
static void datagram(struct fixture *f, struct make6 make, uint32_t length)
{
    uint8_t source[16], destination[16], bytes[2048] = {0};
    const struct udp_header header = {.source = 1000, .destination = 2000, .length = (uint16_t)length};
    make6_ends(&make, source, destination);
    udp_emit(bytes, &header);
    checksum_put(bytes + 6, checksum_add(ip6_pseudo_sum(source, destination, IP6_UDP, length),
                                         checksum_sum_portable(bytes, length)));
    make.next_header = IP6_UDP;
    make.payload = bytes;
    make.length = length;
    input6(f, &make);
}

static void a_closed_port_is_unreachable(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {8, 9, 100, 1192, 1193, 1460};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct ip6 ip;
        uint32_t length;
        datagram(&f, (struct make6){.next_header = 0}, lengths[i]);
        fixture_poll(&f, 10000);
        (void)sent_icmp6(&f, 0, &ip, &length);
        // As much of the packet as goes into 1280 bytes.
        assert_int_equal(length, 8 + (IP6_BYTES + lengths[i] < 1232 ? IP6_BYTES + lengths[i] : 1232));
        expect_error6(&f, ICMP6_UNREACHABLE, ICMP6_PORT, 0);
    }
    datagram(&f, (struct make6){.destination = ALL_NODES6}, 100);
    expect_nothing(&f);
    datagram(&f, (struct make6){.destination = ALL_NODES6, .from_any = true}, 100);
    expect_nothing(&f);
    fixture_close(&f);
}

// What an error or a redirect carries is answered by nothing, wherever its fault lies; an unknown informational message
// likewise.
static void errors_are_not_answered_with_errors(void **state)
{
    (void)state;
    static const uint8_t types[] = {ICMP6_UNREACHABLE, ICMP6_TOO_BIG, ICMP6_TIME_EXCEEDED, ICMP6_PARAMETER, 100, 127,
                                    ICMP6_REDIRECT};
    static const uint8_t chain[8] = {IP6_ICMP, 0, 0x9e, 4};
    const struct make6 make = {.next_header = IP6_DESTINATION, .chain = chain, .chain_length = 8};
    uint8_t message[64] = {0};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < sizeof types; i++) {
        message[0] = types[i];
        input_icmp6(&f, &make, message, sizeof message);
        expect_nothing(&f);
    }
    message[0] = ICMP6_ECHO_REPLY;  // the option is at fault, so this one is told of it
    input_icmp6(&f, &make, message, sizeof message);
    expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_OPTION, 42);
    message[0] = 200;
    input_icmp6(&f, &(struct make6){.next_header = 0}, message, sizeof message);
    expect_nothing(&f);
    fixture_close(&f);
}

// RFC 8200 §8.1: none is no checksum over IPv6, also where 0 is the right one.
static void a_datagram_without_a_checksum_is_dropped(void **state)
{
    (void)state;
    uint8_t source[16], destination[16], bytes[12] = {0x03, 0xe8, 0x07, 0xd0, 0, 12};
    const struct make6 make = {.next_header = IP6_UDP, .payload = bytes, .length = sizeof bytes};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    input6(&f, &make);
    expect_nothing(&f);
    make6_ends(&make, source, destination);
    checksum_put(bytes + 10, checksum_add(ip6_pseudo_sum(source, destination, IP6_UDP, sizeof bytes),
                                          checksum_sum_portable(bytes, sizeof bytes)));
    input6(&f, &make);
    expect_nothing(&f);
    datagram(&f, (struct make6){.next_header = 0}, 12);
    expect_error6(&f, ICMP6_UNREACHABLE, ICMP6_PORT, 0);
    fixture_close(&f);
}

static void a_unicast_address_in_a_frame_to_many_gets_no_error(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_ethernet);
    fixture_know_peer(&f, PEER6);
    datagram(&f, (struct make6){.group_frame = true}, 100);
    expect_nothing(&f);
    datagram(&f, (struct make6){.group_frame = false}, 100);
    expect_error6(&f, ICMP6_UNREACHABLE, ICMP6_PORT, 0);
    fixture_close(&f);
}

static void a_jumbogram_is_refused_by_its_option(void **state)
{
    (void)state;
    uint8_t packet[IP6_BYTES + 8 + 16] = {0x60, [6] = IP6_HOP_BY_HOP, [7] = 64};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    weir_addr_to_v6(PEER6, packet + 8);
    weir_addr_to_v6(OURS6, packet + 24);
    memcpy(packet + IP6_BYTES, (const uint8_t[]){IP6_UDP, 0, 0xc2, 4, 0, 1, 0, 0}, 8);
    fixture_input(&f, packet, sizeof packet);
    expect_error6(&f, ICMP6_PARAMETER, IP6_UNKNOWN_OPTION, 42);
    packet[6] = IP6_UDP;
    fixture_input(&f, packet, sizeof packet);
    expect_nothing(&f);
    fixture_close(&f);
}

static void errors_are_limited(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    for (unsigned i = 0; i < 1000; i++)
        datagram(&f, (struct make6){.next_header = 0}, 20);
    fixture_poll(&f, 10000);
    assert_in_range(fixture_sent_count(&f), 1, 100);
    fixture_close(&f);
}

// --- errors we believe -----------------------------------------------------------------------------------------------

#define UDP_HERE 3000u
#define UDP_THERE 4000u

static weir_socket connected(struct fixture *f)
{
    const weir_socket s = weir_socket_open(f->weir, WEIR_DATAGRAM, 0);
    const struct weir_endpoint local = {weir_addr_any(), UDP_HERE}, remote = {PEER6, UDP_THERE};
    assert_int_equal(weir_socket_bind(f->weir, s, &local), WEIR_OK);
    assert_int_equal(weir_socket_connect(f->weir, s, &remote), WEIR_OK);
    return s;
}

// An error of PEER6's about a datagram of 1460 bytes from `source`, port UDP_HERE, to `destination`.
static void quote(struct fixture *f, uint8_t type, uint8_t code, uint32_t word, struct weir_addr source,
                  struct weir_addr destination)
{
    uint8_t message[8 + IP6_BYTES + 8] = {type, code}, from[16], to[16];
    weir_addr_to_v6(source, from);
    weir_addr_to_v6(destination, to);
    const struct ip6 header = {
        .source = from, .destination = to, .payload_length = 1460, .next_header = IP6_UDP, .hop_limit = 64};
    const struct udp_header udp = {.source = UDP_HERE, .destination = UDP_THERE, .length = 1460};
    put32(message + 4, word);
    ip6_emit(message + 8, &header);
    udp_emit(message + 8 + IP6_BYTES, &udp);
    input_icmp6(f, &(struct make6){.next_header = 0}, message, sizeof message);
    fixture_poll(f, 10000);
}

// Sends 1400 bytes: in how many packets?
static uint32_t pieces(struct fixture *f, weir_socket s)
{
    static const uint8_t data[1400];
    const struct weir_slice slice = {data, sizeof data};
    fixture_clear(f);
    const int sent = weir_socket_send_message(f->weir, s, &(struct weir_message){.ttl = 0}, &slice, 1);
    if (sent == WEIR_TOO_BIG)
        return 0;
    assert_int_equal(sent, sizeof data);
    fixture_poll(f, 10000);
    return fixture_sent_count(f);
}

static void too_big_lowers_the_path_mtu_of_a_flow_of_ours(void **state)
{
    (void)state;
    static const uint32_t useless[] = {0, 68, 1279, 1500, 1501, 0xffffffff};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    const weir_socket s = connected(&f);
    assert_int_equal(pieces(&f, s), 1);
    for (unsigned i = 0; i < sizeof useless / sizeof useless[0]; i++) {
        quote(&f, ICMP6_TOO_BIG, 0, useless[i], OURS6, PEER6);
        assert_int_equal(pieces(&f, s), 1);
    }
    quote(&f, ICMP6_TOO_BIG, 0, 1300, OTHER6, PEER6);  // neither is from us
    quote(&f, ICMP6_TOO_BIG, 0, 1300, OURS6, OTHER6);  // nobody speaks to that one
    assert_int_equal(pieces(&f, s), 1);
    quote(&f, ICMP6_TOO_BIG, 7, 1300, OURS6, PEER6);
    (void)pieces(&f, s);  // an error is told first
    assert_int_not_equal(pieces(&f, s), 1);
    fixture_close(&f);
}

static void port_unreachable_refuses_a_connected_socket(void **state)
{
    (void)state;
    static const uint8_t byte[1];
    const struct weir_message to_peer = {.ttl = 0};
    const struct weir_slice slice = {byte, 1};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    const weir_socket s = connected(&f);
    quote(&f, ICMP6_UNREACHABLE, ICMP6_PORT, 0, OURS6, OTHER6);
    assert_int_equal(weir_socket_send_message(f.weir, s, &to_peer, &slice, 1), 1);
    quote(&f, ICMP6_UNREACHABLE, ICMP6_PORT, 0, OURS6, PEER6);
    assert_int_equal(weir_socket_send_message(f.weir, s, &to_peer, &slice, 1), WEIR_REFUSED);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echo_is_answered_as_it_came),
        cmocka_unit_test(echo_to_a_group_is_answered_from_an_address),
        cmocka_unit_test(a_wrong_checksum_is_dropped),
        cmocka_unit_test(addresses_that_no_link_brings_are_dropped),
        cmocka_unit_test(an_unknown_next_header_is_pointed_at),
        cmocka_unit_test(the_high_bits_of_an_option_say_what_to_do),
        cmocka_unit_test(an_unknown_routing_header_with_segments_left_is_pointed_at),
        cmocka_unit_test(a_closed_port_is_unreachable),
        cmocka_unit_test(errors_are_not_answered_with_errors),
        cmocka_unit_test(a_datagram_without_a_checksum_is_dropped),
        cmocka_unit_test(a_unicast_address_in_a_frame_to_many_gets_no_error),
        cmocka_unit_test(a_jumbogram_is_refused_by_its_option),
        cmocka_unit_test(errors_are_limited),
        cmocka_unit_test(too_big_lowers_the_path_mtu_of_a_flow_of_ours),
        cmocka_unit_test(port_unreachable_refuses_a_connected_socket),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
