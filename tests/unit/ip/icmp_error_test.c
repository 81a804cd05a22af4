// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// ICMP errors: when one is sent, what it quotes and how often; which are believed.
#include "ip/packets.h"
#include "ip/icmp.h"

#define FLOW_PORT 5000
#define PEER_PORT 53

static void closed_port_is_reported(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    uint8_t payload[100];
    open_raw(&f);
    fill(payload, sizeof payload, 1);
    input_udp(&f, PEER, OURS, 1234, 99, payload, sizeof payload);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 1);
    const uint8_t *bytes = sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(icmp.type, ICMP4_UNREACHABLE);
    assert_int_equal(icmp.code, ICMP4_PORT);
    assert_int_equal(icmp.rest, 0);
    assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    assert_int_equal(ip.destination, weir_addr_to_v4(PEER));
    assert_int_equal(ip.tos & 0x1f, 0);  // RFC 1122 §3.2.2: no type of service; above it the precedence
    // Header and eight bytes, whatever the packet held: never larger than what it answers.
    assert_int_equal(length, ICMP4_BYTES + IP4_BYTES + 8);
    assert_int_equal(get32(bytes + ICMP4_BYTES + 12), weir_addr_to_v4(PEER));
    assert_int_equal(get16(bytes + ICMP4_BYTES + IP4_BYTES), 1234);
    assert_int_equal(get16(bytes + ICMP4_BYTES + IP4_BYTES + 2), 99);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_SENT), 1);
    fixture_close(&f);
}

// URGENT/11, CVE-2019-12256: options of the packet at fault are quoted, never taken over, and no length of theirs is
// trusted.
static void options_do_not_reach_the_answer(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    uint8_t udp[UDP_BYTES + 20], options[40];
    open_raw(&f);
    memset(options, 1, sizeof options);
    make_udp(udp, PEER, OURS, 1234, 99, "12345678901234567890", 20);
    input(&f, &(struct make){
                  .protocol = IP_UDP, .options = options, .options_length = 40, .payload = udp, .length = sizeof udp});
    static const uint8_t routes[12] = {131, 3, 4, 131, 3, 4, 137, 3, 4, 7, 1, 0};
    input(&f, &(struct make){
                  .protocol = IP_UDP, .options = routes, .options_length = 12, .payload = udp, .length = sizeof udp});
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 1);
    sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(ip.header_length, IP4_BYTES);
    assert_int_equal(length, ICMP4_BYTES + 60 + 8);
    fixture_close(&f);
}

static void some_packets_get_no_error(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t bytes[ICMP4_BYTES + IP4_BYTES + 8] = {0}, udp[UDP_BYTES];
    open_raw(&f);
    // To many.
    make_udp(udp, PEER, weir_ip4(255, 255, 255, 255), 1, 2, NULL, 0);
    input(&f,
          &(struct make){
              .destination = weir_ip4(255, 255, 255, 255), .protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    make_udp(udp, PEER, weir_ip4(10, 0, 0, 255), 1, 2, NULL, 0);
    input(&f, &(struct make){
                  .destination = weir_ip4(10, 0, 0, 255), .protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    make_udp(udp, PEER, weir_ip4(224, 0, 0, 1), 1, 2, NULL, 0);
    input(&f, &(struct make){
                  .destination = weir_ip4(224, 0, 0, 1), .protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    // An unknown protocol to many, too short a packet to quote, a wrong checksum.
    input(&f, &(struct make){.destination = weir_ip4(224, 0, 0, 1), .protocol = 200, .payload = bytes, .length = 20});
    input(&f, &(struct make){.protocol = 200, .payload = bytes, .length = 7});
    make_udp(udp, PEER, OURS, 1, 2, NULL, 0);
    udp[7] ^= 1;
    input(&f, &(struct make){.protocol = IP_UDP, .payload = udp, .length = sizeof udp});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_BAD_CHECKSUM), 1);
    // An error never answers an error.
    input_icmp(&f, PEER, ICMP4_UNREACHABLE, ICMP4_PORT, 0, bytes, 28);
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static uint32_t probe(struct fixture *f, struct weir_addr source, uint32_t times)
{
    fixture_clear(f);
    for (uint32_t i = 0; i < times; i++) {
        input_udp(f, source, OURS, 1234, (uint16_t)(10000 + i), NULL, 0);
        if (i % 16 == 0)
            fixture_poll(f, 0);
    }
    fixture_poll(f, 0);
    return fixture_sent_count(f);
}

static void errors_are_limited_per_destination(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const uint32_t burst = probe(&f, PEER, 500);
    assert_in_range(burst, 20, 80);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_RATE_LIMITED), 500 - burst);
    assert_int_equal(probe(&f, PEER, 5), 0);
    fixture_poll(&f, 1000000);
    assert_in_range(probe(&f, PEER, 500), 20, 60);  // what a second has earned
    fixture_close(&f);
}

// SAD DNS (CVE-2020-25705): probes in the name of the victim's peer exhaust that peer's allowance only: the attacker,
// probing in his own name, sees the same as if nothing had happened.
static void no_limit_is_shared_between_destinations(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    assert_true(probe(&f, PEER, 500) < 100);
    assert_int_equal(probe(&f, OTHER, 1), 1);
    assert_true(probe(&f, weir_ip4(10, 0, 0, 77), 10) == 10);
    fixture_close(&f);
}

// How many answers a bucket gives differs from bucket to bucket, so that counting them to the last tells nothing for
// sure.
static void burst_is_uneven(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t least = 1000, most = 0;
    open_raw(&f);
    for (uint8_t host = 10; host < 30; host++) {
        const uint32_t burst = probe(&f, weir_ip4(10, 0, 0, host), 200);
        least = burst < least ? burst : least;
        most = burst > most ? burst : most;
    }
    assert_true(least < most);
    fixture_close(&f);
}

static void invented_sources_take_no_more_memory(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const uint64_t before = f.allocated_bytes;
    for (uint32_t i = 0; i < 5000; i++) {
        input_udp(&f, weir_addr_v4(0x0b000000u + i), OURS, 1, 2, NULL, 0);
        if (i % 100 == 0)
            assert_true(f.allocated_bytes - before <= 2 * WEIR_CFG_OUTBOX_BYTES);
    }
    fixture_poll(&f, 1000000);
    fixture_close(&f);
}

// --- in --------------------------------------------------------------------------------------------------------------

// What a router quotes: a UDP packet of ours from FLOW_PORT to the peer's PEER_PORT.
static uint32_t quote(uint8_t *out, struct weir_addr source, struct weir_addr destination, uint16_t from, uint16_t to,
                      uint16_t total_length)
{
    const struct ip4 ip = {.source = weir_addr_to_v4(source),
                           .destination = weir_addr_to_v4(destination),
                           .total_length = total_length,
                           .ttl = 60,
                           .protocol = IP_UDP,
                           .flags = IP4_DONT_FRAGMENT};
    const struct udp_header udp = {.source = from, .destination = to, .length = (uint16_t)(total_length - IP4_BYTES)};
    ip4_emit(out, &ip);
    udp_emit(out + IP4_BYTES, &udp);
    return IP4_BYTES + UDP_BYTES;
}

static int32_t pending(struct fixture *f, weir_socket s)
{
    int32_t error;
    assert_int_equal(weir_socket_get(f->weir, s, WEIR_OPTION_ERROR, &error), WEIR_OK);
    return error;
}

static void errors_reach_the_flow_they_are_about(void **state)
{
    (void)state;
    static const struct {
        uint8_t type, code;
        int error;
    } rows[] = {
        {ICMP4_UNREACHABLE, ICMP4_PORT, WEIR_REFUSED},
        {ICMP4_UNREACHABLE, ICMP4_PROTOCOL, WEIR_REFUSED},
        {ICMP4_UNREACHABLE, ICMP4_HOST, WEIR_HOST_UNREACHABLE},
        {ICMP4_UNREACHABLE, ICMP4_NET, WEIR_NETWORK_UNREACHABLE},
        {ICMP4_UNREACHABLE, 9, WEIR_NETWORK_UNREACHABLE},
        {ICMP4_UNREACHABLE, 13, WEIR_HOST_UNREACHABLE},
        {ICMP4_TIME_EXCEEDED, 0, WEIR_HOST_UNREACHABLE},
        {ICMP4_PARAMETER, 0, WEIR_HOST_UNREACHABLE},
        {ICMP4_SOURCE_QUENCH, 0, WEIR_OK},
        {ICMP4_REDIRECT, 1, WEIR_OK},
    };
    struct fixture f;
    uint8_t quoted[64];
    open_raw(&f);
    const weir_socket s = socket_connected(&f, FLOW_PORT, PEER, PEER_PORT);
    const uint32_t length = quote(quoted, OURS, PEER, FLOW_PORT, PEER_PORT, 100);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        input_icmp(&f, ROUTER, rows[i].type, rows[i].code, 0, quoted, length);
        assert_int_equal(pending(&f, s), rows[i].error);
    }
    fixture_close(&f);
}

static void guesses_are_ignored(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t quoted[64];
    open_raw(&f);
    const weir_socket s = socket_connected(&f, FLOW_PORT, PEER, PEER_PORT);
    const weir_socket loose = socket_bound(&f, weir_addr_any(), 6000);
    uint32_t ignored = 0;
    const struct {
        struct weir_addr source, destination;
        uint16_t from, to;
    } rows[] = {
        {OURS, PEER, FLOW_PORT + 1, PEER_PORT}, {OURS, PEER, FLOW_PORT, PEER_PORT + 1},
        {OURS, OTHER, FLOW_PORT, PEER_PORT},    {OTHER, PEER, FLOW_PORT, PEER_PORT},
        {PEER, OURS, PEER_PORT, FLOW_PORT},     {OURS, weir_ip4(224, 0, 0, 9), FLOW_PORT, PEER_PORT},
        {OURS, PEER, 6000, PEER_PORT},  // a socket without a peer has no flow
    };
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint32_t length = quote(quoted, rows[i].source, rows[i].destination, rows[i].from, rows[i].to, 100);
        input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_PORT, 0, quoted, length);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_IGNORED), ++ignored);
    }
    // Too short, of another version, header length that lies, a later fragment.
    const uint32_t length = quote(quoted, OURS, PEER, FLOW_PORT, PEER_PORT, 100);
    for (uint32_t cut = 0; cut < length; cut++) {
        input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_PORT, 0, quoted, cut);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_IGNORED), ++ignored);
    }
    static const uint8_t changes[][2] = {{0, 0x65}, {0, 0x44}, {0, 0x4f}, {7, 1}};
    for (unsigned i = 0; i < 4; i++) {
        quote(quoted, OURS, PEER, FLOW_PORT, PEER_PORT, 100);
        quoted[changes[i][0]] = changes[i][1];
        input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_PORT, 0, quoted, length);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_IGNORED), ++ignored);
    }
    assert_int_equal(pending(&f, s), WEIR_OK);
    assert_int_equal(pending(&f, loose), WEIR_OK);
    fixture_close(&f);
}

static int32_t path_mtu(struct fixture *f, weir_socket s)
{
    int32_t mtu;
    assert_int_equal(weir_socket_get(f->weir, s, WEIR_OPTION_MTU, &mtu), WEIR_OK);
    return mtu;
}

static void too_big(struct fixture *f, uint16_t mtu, uint16_t quoted_length, uint16_t from)
{
    uint8_t quoted[64];
    const uint32_t length = quote(quoted, OURS, PEER, from, PEER_PORT, quoted_length);
    input_icmp(f, ROUTER, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, mtu, quoted, length);
}

static void path_mtu_follows_believable_reports(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_connected(&f, FLOW_PORT, PEER, PEER_PORT);
    assert_int_equal(path_mtu(&f, s), 1500);
    too_big(&f, 1400, 1500, FLOW_PORT + 1);  // not a flow of ours
    assert_int_equal(path_mtu(&f, s), 1500);
    too_big(&f, 1500, 1500, FLOW_PORT);  // no lower than the packet
    too_big(&f, 9000, 1500, FLOW_PORT);
    assert_int_equal(path_mtu(&f, s), 1500);
    too_big(&f, 1000, 600, FLOW_PORT);  // lower than the path, but the packet would have passed
    assert_int_equal(path_mtu(&f, s), 1500);
    too_big(&f, 1400, 1500, FLOW_PORT);
    assert_int_equal(path_mtu(&f, s), 1400);
    too_big(&f, 1450, 1500, FLOW_PORT);  // never up
    assert_int_equal(path_mtu(&f, s), 1400);
    too_big(&f, 0, 1400, FLOW_PORT);  // RFC 1191 §7: the next plateau
    assert_int_equal(path_mtu(&f, s), 1006);
    too_big(&f, 68, 1006, FLOW_PORT);  // not below 576
    assert_int_equal(path_mtu(&f, s), 576);
    too_big(&f, 0, 20, FLOW_PORT);
    assert_int_equal(path_mtu(&f, s), 576);
    assert_int_equal(pending(&f, s), WEIR_OK);  // it may fragment: nothing it need know
    fixture_close(&f);
}

static void unfragmentable_sender_is_told(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[1472] = {0};
    open_raw(&f);
    const weir_socket s = socket_connected(&f, FLOW_PORT, PEER, PEER_PORT);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 1), WEIR_OK);
    assert_int_equal(send_to(&f, s, PEER, PEER_PORT, payload, 1472), 1472);
    assert_int_equal(send_to(&f, s, PEER, PEER_PORT, payload, 1473), WEIR_TOO_BIG);
    fixture_poll(&f, 0);  // a small queue has room again
    too_big(&f, 1400, 1500, FLOW_PORT);
    assert_int_equal(send_to(&f, s, PEER, PEER_PORT, payload, 1), WEIR_TOO_BIG);  // the news, once
    assert_int_equal(send_to(&f, s, PEER, PEER_PORT, payload, 1400 - 28), 1400 - 28);
    assert_int_equal(send_to(&f, s, PEER, PEER_PORT, payload, 1400 - 27), WEIR_TOO_BIG);
    fixture_close(&f);
}

// What the transport is told, seen by a protocol of the test's own.
static struct ip_error told;
static uint8_t told_first;
static uint32_t told_count;
static void tell(struct weir *weir, const struct ip_error *error)
{
    (void)weir;
    told = *error;
    told_first = error->transport[0];
    told_count++;
}

static void transport_is_told_what_it_needs(void **state)
{
    (void)state;
    static const struct ip_protocol protocols[] = {
        {IP_ICMP, IP_VERSION_4, icmp_input, NULL}, {IP_UDP, IP_VERSIONS, udp_input, tell}, {0, 0, NULL, NULL}};
    struct fixture f;
    uint8_t quoted[64];
    open_raw(&f);
    f.weir->protocols = protocols;
    const uint32_t length = quote(quoted, OURS, PEER, 0x1234, PEER_PORT, 1500);
    input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_PORT, 0, quoted, length + 20);
    assert_int_equal(told_count, 1);
    assert_int_equal(told.error, WEIR_REFUSED);
    assert_true(told.hard);
    assert_true(weir_addr_equal(told.local, OURS) && weir_addr_equal(told.remote, PEER));
    assert_int_equal(told.transport_length, 28);
    assert_int_equal(told_first, 0x12);
    input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_HOST, 0, quoted, length);
    assert_false(told.hard);
    input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 68, quoted, length);
    assert_int_equal(told_count, 3);
    assert_int_equal(told.error, WEIR_TOO_BIG);
    assert_int_equal(told.mtu, 576);  // bounded before the transport sees it
    assert_false(told.hard);
    assert_int_equal(f.weir->ip.pmtu_count, 0);  // and only the transport lowers it
    fixture_close(&f);
}

// Asked about a fragment other than the first, it keeps silent.
static void later_fragments_get_no_error(void **state)
{
    (void)state;
    struct fixture f;
    struct made *made = malloc(sizeof *made);
    open_raw(&f);
    for (uint16_t offset = 0; offset <= 8; offset = (uint16_t)(offset + 8)) {
        make_packet(made, &(struct make){.protocol = 200, .offset = offset, .payload = "12345678", .length = 8});
        const struct weir_slice slice = {made->bytes, made->length};
        const struct weir_frame frame = {.slices = &slice, .length = made->length, .count = 1};
        const struct packet packet = {.netif = &f.netif,
                                      .frame = &frame,
                                      .head = made->bytes + IP4_BYTES,
                                      .offset = IP4_BYTES,
                                      .length = 8,
                                      .network = made->bytes,
                                      .source = PEER,
                                      .destination = OURS,
                                      .network_length = IP4_BYTES,
                                      .protocol = 200};
        icmp_error_send(f.weir, &packet, ICMP_ERROR_PROTOCOL, 0);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_SENT), 1);
    }
    fixture_close(&f);
    free(made);
}

// The floor is the interface's own MTU where that is below 576.
static void narrow_interface_stays_as_it_is(void **state)
{
    (void)state;
    struct fixture f;
    const struct fixture_options options = {.link = &weir_link_rawip, .address = OURS, .mtu = 296};
    assert_true(fixture_open_with(&f, &options));
    const weir_socket s = socket_connected(&f, FLOW_PORT, PEER, PEER_PORT);
    too_big(&f, 68, 296, FLOW_PORT);
    assert_int_equal(path_mtu(&f, s), 296);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_port_is_reported),
        cmocka_unit_test(options_do_not_reach_the_answer),
        cmocka_unit_test(some_packets_get_no_error),
        cmocka_unit_test(errors_are_limited_per_destination),
        cmocka_unit_test(no_limit_is_shared_between_destinations),
        cmocka_unit_test(burst_is_uneven),
        cmocka_unit_test(invented_sources_take_no_more_memory),
        cmocka_unit_test(errors_reach_the_flow_they_are_about),
        cmocka_unit_test(guesses_are_ignored),
        cmocka_unit_test(path_mtu_follows_believable_reports),
        cmocka_unit_test(unfragmentable_sender_is_told),
        cmocka_unit_test(transport_is_told_what_it_needs),
        cmocka_unit_test(later_fragments_get_no_error),
        cmocka_unit_test(narrow_interface_stays_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
