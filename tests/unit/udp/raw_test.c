// SPDX-License-Identifier: BSD-2-Clause
// Raw sockets and ICMP echo sockets.
#include "ip/packets.h"

static weir_socket raw(struct fixture *f, uint8_t protocol)
{
    const weir_socket s = weir_socket_open(f->weir, WEIR_RAW, protocol);
    assert_true(s > 0);
    return s;
}

static void whole_packets_are_copied(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t got[200];
    struct weir_message message;
    open_raw(&f);
    const weir_socket a = raw(&f, IP_UDP), b = raw(&f, 200), u = socket_bound(&f, weir_addr_any(), 7000);
    input_udp(&f, PEER, OURS, 9, 7000, "abcd", 4);
    assert_int_equal(take(&f, u, NULL, 0, NULL), 4);  // the protocol gets it all the same
    assert_int_equal(take(&f, a, got, sizeof got, &message), IP4_BYTES + UDP_BYTES + 4);
    assert_int_equal(got[0], 0x45);
    assert_memory_equal(got + IP4_BYTES + UDP_BYTES, "abcd", 4);
    assert_true(weir_addr_equal(message.peer.addr, PEER));
    assert_int_equal(take(&f, b, NULL, 0, NULL), WEIR_AGAIN);
    // A protocol only a raw socket takes is not unreachable.
    input(&f, &(struct make){.protocol = 200, .payload = "payload!", .length = 8});
    assert_int_equal(take(&f, b, NULL, 0, NULL), IP4_BYTES + 8);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_PROTOCOL), 0);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void bind_and_connect_narrow(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket a = raw(&f, 200);
    assert_int_equal(weir_socket_connect(f.weir, a, &(struct weir_endpoint){OTHER, 0}), WEIR_OK);
    input(&f, &(struct make){.protocol = 200, .payload = "payload!", .length = 8});
    assert_int_equal(take(&f, a, NULL, 0, NULL), WEIR_AGAIN);
    input(&f, &(struct make){.source = OTHER, .protocol = 200, .payload = "payload!", .length = 8});
    assert_int_equal(take(&f, a, NULL, 0, NULL), IP4_BYTES + 8);
    fixture_close(&f);
}

static void reassembled_packets_are_whole(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[3000], got[4000];
    struct ip4 ip;
    open_raw(&f);
    fill(payload, sizeof payload, 1);
    const weir_socket a = raw(&f, 200);
    input(&f,
          &(struct make){.protocol = 200, .id = 1, .flags = IP4_MORE_FRAGMENTS, .payload = payload, .length = 1480});
    input(&f,
          &(struct make){
              .protocol = 200, .id = 1, .offset = 1480, .payload = payload + 1480, .length = sizeof payload - 1480});
    assert_int_equal(take(&f, a, got, sizeof got, NULL), IP4_BYTES + sizeof payload);
    // a header that tells the truth about the whole
    assert_int_equal(ip4_parse(got, IP4_BYTES + sizeof payload, false, &ip), IP4_OK);
    assert_int_equal(ip.total_length, IP4_BYTES + sizeof payload);
    assert_int_equal(ip.flags, 0);
    assert_memory_equal(got + IP4_BYTES, payload, sizeof payload);
    fixture_close(&f);
}

static void writes_add_a_header(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    open_raw(&f);
    const weir_socket s = raw(&f, 200);
    assert_int_equal(send_to(&f, s, PEER, 0, "payload!", 8), 8);
    fixture_poll(&f, 1000);
    const uint8_t *bytes = sent_packet(&f, 0, &ip, &length);
    assert_int_equal(length, 8);
    assert_memory_equal(bytes, "payload!", 8);
    assert_int_equal(ip.protocol, 200);
    assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    fixture_close(&f);
}

static void included_headers_are_completed(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    struct made *packet = malloc(sizeof *packet);
    open_raw(&f);
    const weir_socket s = raw(&f, 200);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_HEADER_INCLUDED, 1), WEIR_OK);
    static const uint8_t options[4] = {0x94, 4, 0, 0};
    make_packet(packet, &(struct make){.source = OURS,
                                       .destination = PEER,
                                       .protocol = 201,
                                       .ttl = 9,
                                       .options = options,
                                       .options_length = 4,
                                       .payload = "payload!",
                                       .length = 8});
    put32(packet->bytes + 12, 0);
    put16(packet->bytes + 2, 0);
    put16(packet->bytes + 10, 0x1234);
    assert_int_equal(send_to(&f, s, PEER, 0, packet->bytes, packet->length), packet->length);
    fixture_poll(&f, 1000);
    const uint8_t *bytes = sent_packet(&f, 0, &ip, &length);
    assert_int_equal(ip.header_length, 24);
    assert_int_equal(ip.protocol, 201);
    assert_int_equal(ip.ttl, 9);
    assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    assert_memory_equal(bytes, "payload!", 8);
    // What is no packet is refused, and larger than the path told at once.
    assert_int_equal(send_to(&f, s, PEER, 0, "short", 5), 5);
    fixture_poll(&f, 1000);
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_INVALID);
    assert_int_equal(send_to(&f, s, PEER, 0, packet->bytes, 1501), WEIR_TOO_BIG);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
    free(packet);
}

static void icmp_types_can_be_filtered(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = raw(&f, IP_ICMP), udp = raw(&f, IP_UDP);
    assert_int_equal(weir_socket_set(f.weir, udp, WEIR_OPTION_ICMP_FILTER, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_ICMP_FILTER, ~(1 << ICMP4_ECHO_REPLY)), WEIR_OK);
    input_icmp(&f, PEER, ICMP4_ECHO, 0, 1, NULL, 0);
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_AGAIN);
    input_icmp(&f, PEER, ICMP4_ECHO_REPLY, 0, 1, NULL, 0);
    assert_int_equal(take(&f, s, NULL, 0, NULL), IP4_BYTES + ICMP4_BYTES);
    fixture_close(&f);
}

static void echo_sockets_ping(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    uint8_t request[ICMP4_BYTES + 5], got[64];
    struct weir_message message;
    open_raw(&f);
    const weir_socket s = weir_socket_open(f.weir, WEIR_ICMP, 0), other = weir_socket_open(f.weir, WEIR_ICMP, 0);
    assert_int_equal(weir_socket_bind(f.weir, s, &(struct weir_endpoint){weir_addr_any(), 77}), WEIR_OK);
    assert_int_equal(weir_socket_bind(f.weir, other, &(struct weir_endpoint){weir_addr_any(), 77}), WEIR_IN_USE);
    make_icmp(request, ICMP4_ECHO, 0, 0xdead0003, "abcde", 5);  // the identifier and the sum are ours to set
    put16(request + 2, 0);
    assert_int_equal(send_to(&f, s, PEER, 0, request, sizeof request), sizeof request);
    fixture_poll(&f, 1000);
    sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(icmp.type, ICMP4_ECHO);
    assert_int_equal(icmp.id, 77);
    assert_int_equal(icmp.sequence, 3);
    input_icmp(&f, PEER, ICMP4_ECHO_REPLY, 0, 77u << 16 | 3, "abcde", 5);
    assert_int_equal(take(&f, s, got, sizeof got, &message), ICMP4_BYTES + 5);
    assert_int_equal(get16(got + 6), 3);
    assert_memory_equal(got + ICMP4_BYTES, "abcde", 5);
    assert_true(weir_addr_equal(message.peer.addr, PEER));
    input_icmp(&f, PEER, ICMP4_ECHO_REPLY, 0, 78u << 16 | 3, "abcde", 5);  // not ours
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_AGAIN);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_IGNORED), 1);
    // Only echo requests may be sent so.
    request[0] = ICMP4_REDIRECT;
    assert_int_equal(send_to(&f, s, PEER, 0, request, sizeof request), WEIR_INVALID);
    assert_int_equal(send_to(&f, s, PEER, 0, request, 7), WEIR_INVALID);
    request[0] = ICMP4_ECHO;
    assert_int_equal(send_to(&f, other, PEER, 0, request, sizeof request), sizeof request);  // an identifier of its own
    struct weir_endpoint local;
    weir_socket_local(f.weir, other, &local);
    assert_int_not_equal(local.port, 0);
    fixture_close(&f);
}

static void echo_to_ourselves_comes_back(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t request[ICMP4_BYTES + 56], got[128];
    open_raw(&f);
    const weir_socket s = weir_socket_open(f.weir, WEIR_ICMP, 0);
    make_icmp(request, ICMP4_ECHO, 0, 1, "abcdefgh", 8);
    assert_int_equal(send_to(&f, s, weir_ip4(127, 0, 0, 1), 0, request, ICMP4_BYTES + 8), ICMP4_BYTES + 8);
    fixture_poll(&f, 1000);
    assert_int_equal(take(&f, s, got, sizeof got, NULL), ICMP4_BYTES + 8);
    assert_int_equal(got[0], ICMP4_ECHO_REPLY);
    fixture_close(&f);
}

static void errors_reach_the_connected(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t quoted[IP4_BYTES + 8] = {0};
    open_raw(&f);
    const weir_socket s = weir_socket_open(f.weir, WEIR_ICMP, 0);
    assert_int_equal(weir_socket_bind(f.weir, s, &(struct weir_endpoint){weir_addr_any(), 77}), WEIR_OK);
    assert_int_equal(weir_socket_connect(f.weir, s, &(struct weir_endpoint){PEER, 0}), WEIR_OK);
    const struct ip4 ip = {.source = weir_addr_to_v4(OURS),
                           .destination = weir_addr_to_v4(PEER),
                           .total_length = 84,
                           .ttl = 1,
                           .protocol = IP_ICMP};
    ip4_emit(quoted, &ip);
    quoted[IP4_BYTES] = ICMP4_ECHO;
    put16(quoted + IP4_BYTES + 4, 78);
    input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_HOST, 0, quoted, sizeof quoted);
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_AGAIN);
    put16(quoted + IP4_BYTES + 4, 77);
    input_icmp(&f, ROUTER, ICMP4_UNREACHABLE, ICMP4_HOST, 0, quoted, sizeof quoted);
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_HOST_UNREACHABLE);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_packets_are_copied),
        cmocka_unit_test(bind_and_connect_narrow),
        cmocka_unit_test(reassembled_packets_are_whole),
        cmocka_unit_test(writes_add_a_header),
        cmocka_unit_test(included_headers_are_completed),
        cmocka_unit_test(icmp_types_can_be_filtered),
        cmocka_unit_test(echo_sockets_ping),
        cmocka_unit_test(echo_to_ourselves_comes_back),
        cmocka_unit_test(errors_reach_the_connected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
