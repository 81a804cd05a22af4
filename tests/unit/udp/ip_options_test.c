// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// IPv4 options on datagram and raw sockets: set, sent and padded, told of what arrives, with this host in what records
// the way or times; source routes and what is malformed are refused.
#include "ip/packets.h"
#include "ip/packets6.h"

#define PORT 7000

static const uint8_t alert[4] = {0x94, 4, 0, 0}, stamp[8] = {68, 8, 5, 0, 0, 0, 0, 0};

static weir_socket opened(struct fixture *f)
{
    const weir_socket s = weir_socket_open(f->weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(f->weir, s, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    return s;
}

static int send_bytes(struct fixture *f, weir_socket s, struct weir_addr to, uint32_t length)
{
    static const uint8_t zeros[4000];
    const struct weir_slice slice = {zeros, length};
    const struct weir_message message = {.peer = {to, 9}};
    const int result = weir_socket_send_message(f->weir, s, &message, &slice, 1);
    fixture_poll(f, 1000);
    return result;
}

// The options of a packet that was sent.
static uint32_t sent_options(const struct fixture *f, uint32_t index, const uint8_t **options, struct ip4 *ip)
{
    uint32_t length;
    const uint8_t *const payload = sent_packet(f, index, ip, &length);
    *options = payload - (ip->header_length - IP4_BYTES);
    assert_true(checksum_sum_portable(payload - ip->header_length, ip->header_length) == 0xffff);
    return ip->header_length - IP4_BYTES;
}

static void options_go_with_every_packet(void **state)
{
    const uint8_t odd[5] = {1, 0x94, 4, 0, 0};
    const uint8_t *options;
    struct weir_ip_options got;
    struct fixture f;
    struct ip4 ip;
    (void)state;
    open_raw(&f);
    const weir_socket s = opened(&f);
    assert_int_equal(weir_socket_ip_options(f.weir, s, &got), WEIR_OK);
    assert_int_equal(got.length, 0);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, odd, 5), WEIR_OK);
    assert_int_equal(weir_socket_ip_options(f.weir, s, &got), WEIR_OK);
    assert_int_equal(got.length, 8);
    assert_int_equal(send_bytes(&f, s, PEER, 3), 3);
    assert_int_equal(sent_options(&f, 0, &options, &ip), 8);
    assert_memory_equal(options, ((const uint8_t[]){1, 0x94, 4, 0, 0, 0, 0, 0}), 8);  // padded with the end
    assert_int_equal(ip.total_length, 28 + 8 + 3);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, NULL, 0), WEIR_OK);
    assert_int_equal(send_bytes(&f, s, PEER, 3), 3);
    assert_int_equal(sent_options(&f, 1, &options, &ip), 0);
    fixture_close(&f);
}

// RFC 1122 §3.2.1.8 (d): the one place has this host's time, which is none of the day (RFC 791 §3.1).
static void assert_stamped(const struct fixture *f, const uint8_t *options)
{
    assert_memory_equal(options, ((const uint8_t[]){68, 8, 9, 0}), 4);
    assert_true(get32(options + 4) >> 31 && f->weir->now_ms - (get32(options + 4) & 0x7fffffffu) <= 1);
}

// RFC 791 §3.1: the copied flag.
static void fragments_have_those_that_are_copied(void **state)
{
    uint8_t both[12];
    const uint8_t *options;
    struct fixture f;
    struct ip4 ip;
    (void)state;
    memcpy(both, stamp, 8);
    memcpy(both + 8, alert, 4);
    open_raw(&f);
    const weir_socket s = opened(&f);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, both, 12), WEIR_OK);
    assert_int_equal(send_bytes(&f, s, PEER, 3000), 3000);
    assert_int_equal(fixture_sent_count(&f), 3);
    assert_int_equal(sent_options(&f, 0, &options, &ip), 12);
    assert_stamped(&f, options);
    assert_memory_equal(options + 8, alert, 4);
    uint32_t bytes = ip.total_length - ip.header_length;
    for (uint32_t i = 1; i < 3; i++) {
        assert_int_equal(sent_options(&f, i, &options, &ip), 12);
        assert_memory_equal(options, ((const uint8_t[]){1, 1, 1, 1, 1, 1, 1, 1, 0x94, 4, 0, 0}), 12);
        assert_true(ip.total_length <= 1500);
        bytes += ip.total_length - ip.header_length;
    }
    assert_int_equal(bytes, 3008);
    fixture_clear(&f);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 1), WEIR_OK);
    assert_int_equal(send_bytes(&f, s, PEER, 1500 - 28 - 12 + 1), WEIR_TOO_BIG);
    assert_int_equal(send_bytes(&f, s, PEER, 1500 - 28 - 12), 1500 - 28 - 12);
    fixture_close(&f);
}

static void what_is_malformed_or_a_source_route_is_refused(void **state)
{
    static const uint8_t loose[8] = {131, 7, 4, 10, 0, 0, 1, 0}, strict[8] = {137, 7, 4, 10, 0, 0, 1, 0},
                         longer[4] = {0x94, 5, 0, 0}, none[4] = {0x94, 1, 0, 0}, cut[1] = {0x94};
    uint8_t many[44];
    struct fixture f;
    struct weir_ip_options got;
    (void)state;
    open_raw(&f);
    const weir_socket s = opened(&f), stream = weir_socket_open(f.weir, WEIR_STREAM, 0);
    memset(many, 1, sizeof many);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, alert, 4), WEIR_OK);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, loose, 8), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, strict, 8), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, longer, 4), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, none, 4), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, cut, 1), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, many, 41), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, many, -1), WEIR_INVALID);
    assert_int_equal(weir_socket_set_ip_options(f.weir, stream, loose, 8), WEIR_INVALID);
    assert_int_equal(weir_socket_ip_options(f.weir, s, &got), WEIR_OK);
    assert_int_equal(got.length, 4);  // as it was
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, many, 40), WEIR_OK);
    assert_int_equal(send_bytes(&f, s, PEER, 1), 1);
    fixture_close(&f);
}

static uint8_t received_options(struct fixture *f, weir_socket s, struct weir_message *message)
{
    uint8_t bytes[12];
    struct weir_slice slice;
    make_udp(bytes, PEER, OURS, 9, PORT, "abcd", 4);
    input(f, &(struct make){
                 .protocol = IP_UDP, .options = stamp, .options_length = 8, .payload = bytes, .length = sizeof bytes});
    assert_int_equal(weir_socket_peek_message(f->weir, s, message, &slice), 4);
    assert_memory_equal(slice.data, "abcd", 4);
    assert_int_equal(weir_socket_discard(f->weir, s), WEIR_OK);
    return message->options.length;
}

static void options_of_what_arrives_are_told_where_they_are_wanted(void **state)
{
    struct weir_message message;
    struct fixture f;
    int32_t value = 1;
    (void)state;
    open_raw(&f);
    const weir_socket s = opened(&f);
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_RECEIVE_IP_OPTIONS, &value), WEIR_OK);
    assert_int_equal(value, 0);
    assert_int_equal(received_options(&f, s, &message), 0);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_RECEIVE_IP_OPTIONS, 1), WEIR_OK);
    assert_int_equal(received_options(&f, s, &message), 8);
    assert_stamped(&f, message.options.bytes);
    struct weir_slice slice;
    input_udp(&f, PEER, OURS, 9, PORT, "x", 1);
    assert_int_equal(weir_socket_peek_message(f.weir, s, &message, &slice), 1);
    assert_int_equal(message.options.length, 0);
    fixture_close(&f);
}

struct record {
    uint8_t length, before[16], after[16];
};

// RFC 791 §3.1: the pointer, the flags and the overflow of records, as they come to this host.
static void what_records_has_this_host(void **state)
{
#define TIME 0xaa, 0xaa, 0xaa, 0xaa  // of now
    static const struct record records[] = {
        {8, {7, 7, 4, 0, 0, 0, 0, 0}, {7, 7, 8, 10, 0, 0, 1, 0}},
        {12, {7, 11, 8, 1, 2, 3, 4, 0, 0, 0, 0, 0}, {7, 11, 12, 1, 2, 3, 4, 10, 0, 0, 1, 0}},
        {8, {7, 7, 8, 1, 2, 3, 4, 0}, {7, 7, 8, 1, 2, 3, 4, 0}},  // full
        {8, {7, 7, 6, 1, 2, 3, 4, 0}, {7, 7, 6, 1, 2, 3, 4, 0}},  // too little room, or a pointer that lies
        {8, {7, 7, 2, 1, 2, 3, 4, 0}, {7, 7, 2, 1, 2, 3, 4, 0}},
        {8, {7, 7, 0, 1, 2, 3, 4, 0}, {7, 7, 0, 1, 2, 3, 4, 0}},
        {8, {7, 7, 255, 1, 2, 3, 4, 0}, {7, 7, 255, 1, 2, 3, 4, 0}},
        {4, {1, 1, 7, 2}, {1, 1, 7, 2}},
        {12, {68, 12, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0}, {68, 12, 9, 0, TIME, 0, 0, 0, 0}},
        {12, {68, 12, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0}, {68, 12, 13, 1, 10, 0, 0, 1, TIME}},
        {12, {68, 12, 5, 3, 10, 0, 0, 1, 0, 0, 0, 0}, {68, 12, 13, 3, 10, 0, 0, 1, TIME}},
        {12, {68, 12, 5, 3, 10, 0, 0, 9, 0, 0, 0, 0}, {68, 12, 5, 3, 10, 0, 0, 9, 0, 0, 0, 0}},  // another's turn
        {8, {68, 8, 9, 0, 1, 2, 3, 4}, {68, 8, 9, 0x10, 1, 2, 3, 4}},                            // full: counted,
        {8, {68, 8, 9, 0xe0, 1, 2, 3, 4}, {68, 8, 9, 0xf0, 1, 2, 3, 4}},
        {8, {68, 8, 9, 0xf0, 1, 2, 3, 4}, {68, 8, 9, 0xf0, 1, 2, 3, 4}},  // as far as it goes
        {8, {68, 8, 5, 1, 1, 2, 3, 4}, {68, 8, 5, 1, 1, 2, 3, 4}},
        {8, {68, 8, 5, 2, 1, 2, 3, 4}, {68, 8, 5, 2, 1, 2, 3, 4}},
        {8, {68, 8, 1, 0, 1, 2, 3, 4}, {68, 8, 1, 0, 1, 2, 3, 4}},
        {4, {1, 1, 68, 2}, {1, 1, 68, 2}},
        {8, {0, 68, 5, 5, 0, 0, 0, 0}, {0, 68, 5, 5, 0, 0, 0, 0}},  // beyond the end
    };
#undef TIME
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = opened(&f);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_RECEIVE_IP_OPTIONS, 1), WEIR_OK);
    for (uint32_t i = 0; i < sizeof records / sizeof *records; i++) {
        const struct record *const r = &records[i];
        uint8_t bytes[12];
        struct weir_message message;
        struct weir_slice slice;
        make_udp(bytes, PEER, OURS, 9, PORT, "abcd", 4);
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .options = r->before,
                                 .options_length = r->length,
                                 .payload = bytes,
                                 .length = sizeof bytes});
        assert_int_equal(weir_socket_peek_message(f.weir, s, &message, &slice), 4);
        assert_int_equal(weir_socket_discard(f.weir, s), WEIR_OK);
        assert_int_equal(message.options.length, r->length);
        for (uint32_t at = 0; at < r->length; at++) {
            if (r->after[at] != 0xaa) {
                assert_int_equal(message.options.bytes[at], r->after[at]);
                continue;
            }
            assert_int_equal(get32(message.options.bytes + at), 0x80000000u | f.weir->now_ms);
            at += 3;
        }
    }
    fixture_close(&f);
}

static void raw_sockets_have_them_and_ip6_has_none(void **state)
{
    const uint8_t *options;
    struct fixture f;
    struct ip4 ip;
    struct ip6 ip6;
    uint32_t length;
    (void)state;
    open_raw(&f);
    const weir_socket raw = weir_socket_open(f.weir, WEIR_RAW, 99);
    assert_int_equal(weir_socket_set_ip_options(f.weir, raw, alert, 4), WEIR_OK);
    assert_int_equal(send_bytes(&f, raw, PEER, 10), 10);
    assert_int_equal(sent_options(&f, 0, &options, &ip), 4);
    assert_int_equal(ip.protocol, 99);
    fixture_close(&f);
    open6(&f, &weir_link_rawip);
    settle6(&f);
    const weir_socket s = opened(&f);
    assert_int_equal(weir_socket_set_ip_options(f.weir, s, alert, 4), WEIR_OK);
    assert_int_equal(send_bytes(&f, s, PEER6, 10), 10);
    (void)sent6(&f, 0, &ip6, &length);
    assert_int_equal(ip6.next_header, IP_UDP);
    assert_int_equal(length, 18);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_go_with_every_packet),
        cmocka_unit_test(fragments_have_those_that_are_copied),
        cmocka_unit_test(what_is_malformed_or_a_source_route_is_refused),
        cmocka_unit_test(options_of_what_arrives_are_told_where_they_are_wanted),
        cmocka_unit_test(what_records_has_this_host),
        cmocka_unit_test(raw_sockets_have_them_and_ip6_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
