// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// Reassembly of IPv6 (RFC 8200 §4.5, 5722, 6946, 7112), told by the echoes that come back.
#include "ip/packets6.h"

#include "built.h"

#define SECOND 1000000u
#define ECHO_BYTES 1460u  // a packet of 1500 bytes, which every host must be able to put together

// The echo request of which all pieces are parts.
static void echo_make(uint8_t bytes[ECHO_BYTES])
{
    uint8_t source[16], destination[16];
    for (uint32_t i = 0; i < ECHO_BYTES; i++)
        bytes[i] = (uint8_t)(i * 7);
    memset(bytes, 0, 8);
    bytes[0] = ICMP6_ECHO;
    make6_ends(&(struct make6){.next_header = 0}, source, destination);
    icmp6_checksum_put(bytes, ECHO_BYTES, source, destination);
}

// Bytes [from, to) of it in a fragment.
static void piece(struct fixture *f, uint32_t id, uint32_t from, uint32_t to, bool more, uint8_t next_header)
{
    uint8_t whole[ECHO_BYTES], header[8] = {next_header};
    echo_make(whole);
    put16(header + 2, from | more);
    put32(header + 4, id);
    input6(f, &(struct make6){.next_header = IP6_FRAGMENT,
                              .chain = header,
                              .chain_length = 8,
                              .payload = whole + from,
                              .length = to - from});
    fixture_poll(f, 1000);
}

static void expect_echo(struct fixture *f, bool answered)
{
    struct ip6 ip;
    uint32_t length;
    fixture_poll(f, 10000);
    assert_int_equal(fixture_sent_count(f), answered);
    if (answered) {
        assert_int_equal(sent_icmp6(f, 0, &ip, &length)[0], ICMP6_ECHO_REPLY);
        assert_int_equal(length, ECHO_BYTES);
    }
    fixture_clear(f);
}

static void pieces_come_in_any_order(void **state)
{
    (void)state;
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    static const uint32_t ends[4] = {0, 400, 800, ECHO_BYTES};
    struct fixture f;
    open6(&f, &weir_link_rawip);
    for (uint32_t i = 0; i < 6; i++) {
        for (unsigned j = 0; j < 3; j++) {
            const uint8_t at = orders[i][j];
            assert_int_equal(fixture_sent_count(&f), 0);
            // What the later ones say of the next header counts for nothing.
            piece(&f, i, ends[at], ends[at + 1], at < 2, at ? 99 : IP6_ICMP);
        }
        expect_echo(&f, true);
        fixture_poll(&f, SECOND);
    }
    fixture_close(&f);
}

static void an_overlap_ends_the_datagram_and_what_follows(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    piece(&f, 1, 0, 400, true, IP6_ICMP);
    piece(&f, 1, 392, 800, true, IP6_ICMP);
    piece(&f, 1, 400, 800, true, IP6_ICMP);
    piece(&f, 1, 800, ECHO_BYTES, false, IP6_ICMP);
    piece(&f, 1, 0, 400, true, IP6_ICMP);
    expect_echo(&f, false);
    piece(&f, 2, 0, 400, true, IP6_ICMP);
    piece(&f, 2, 0, 400, true, IP6_ICMP);  // the same once more is none
    piece(&f, 2, 400, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, true);
    fixture_poll(&f, 61 * (uint64_t)SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);  // and nobody is told
    fixture_close(&f);
}

static void an_atomic_fragment_disturbs_nothing(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    piece(&f, 1, 0, 400, true, IP6_ICMP);
    piece(&f, 1, 0, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, true);
    piece(&f, 1, 400, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, true);
    fixture_close(&f);
}

static void a_datagram_waits_sixty_seconds(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    piece(&f, 1, 0, 400, true, IP6_ICMP);
    fixture_poll(&f, 59 * (uint64_t)SECOND);
    piece(&f, 1, 400, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, true);
    piece(&f, 2, 0, 400, true, IP6_ICMP);
    fixture_poll(&f, 61 * (uint64_t)SECOND);
    expect_error6(&f, ICMP6_TIME_EXCEEDED, ICMP6_REASSEMBLY, 0);
    piece(&f, 3, 400, ECHO_BYTES, false, IP6_ICMP);
    fixture_poll(&f, 61 * (uint64_t)SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);  // the first has not come
    fixture_close(&f);
}

static void faults_are_pointed_at(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    piece(&f, 1, 0, 399, true, IP6_ICMP);
    expect_error6(&f, ICMP6_PARAMETER, IP6_ERRONEOUS_FIELD, IP6_PAYLOAD_LENGTH_AT);
    uint8_t header[16] = {IP6_ICMP}, payload[100] = {0};
    put16(header + 2, 65528);
    input6(&f, &(struct make6){
                   .next_header = IP6_FRAGMENT, .chain = header, .chain_length = 8, .payload = payload, .length = 100});
    expect_error6(&f, ICMP6_PARAMETER, IP6_ERRONEOUS_FIELD, 42);
    memcpy(header, (const uint8_t[16]){IP6_DESTINATION, 0, 0, 1, 0, 0, 0, 9, IP6_ICMP, 2, 1, 4}, 16);
    input6(&f, &(struct make6){.next_header = IP6_FRAGMENT, .chain = header, .chain_length = 16});
    expect_error6(&f, ICMP6_PARAMETER, IP6_INCOMPLETE_CHAIN, 0);
    fixture_close(&f);
}

// Headers before the fragment header, as long as a sender likes: each is a length of 8 (n + 1) bytes.
static void long_headers_before_the_fragment_header_spill_nothing(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 100; more++) {
        uint8_t whole[ECHO_BYTES], chain[8 * 101 + 8] = {IP6_FRAGMENT, (uint8_t)more};
        const uint32_t bytes = 8 * (more + 1);
        struct fixture f;
        open6(&f, &weir_link_rawip);
        echo_make(whole);
        for (uint32_t at = 2; at < bytes; at += 2 + chain[at + 1]) {  // options that are passed over
            const uint32_t left = bytes - at - 2;
            chain[at] = 0x1e;
            chain[at + 1] = (uint8_t)(left < 255 ? left : 253);
        }
        chain[bytes] = IP6_ICMP;
        put32(chain + bytes + 4, 7);
        for (unsigned i = 0; i < 2; i++) {
            put16(chain + bytes + 2, i ? 400 : 1);
            input6(&f, &(struct make6){.next_header = IP6_HOP_BY_HOP,
                                       .chain = chain,
                                       .chain_length = bytes + 8,
                                       .payload = whole + (i ? 400 : 0),
                                       .length = i ? ECHO_BYTES - 400 : 400});
            fixture_poll(&f, 1000);
        }
        if (more < 8)
            expect_echo(&f, true);
        fixture_poll(&f, 61 * (uint64_t)SECOND);
        fixture_close(&f);
    }
}

// The key has no next header: two datagrams that differ in source or identification alone are two.
static void pieces_of_different_datagrams_do_not_meet(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_rawip);
    piece(&f, 1, 0, 400, true, IP6_ICMP);
    piece(&f, 2, 400, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, false);
    uint8_t whole[ECHO_BYTES], header[8] = {IP6_ICMP};
    echo_make(whole);
    put16(header + 2, 400);
    put32(header + 4, 1);
    const struct make6 make = {.source = OTHER6,
                               .next_header = IP6_FRAGMENT,
                               .chain = header,
                               .chain_length = 8,
                               .payload = whole + 400,
                               .length = ECHO_BYTES - 400};
    input6(&f, &make);
    expect_echo(&f, false);
    piece(&f, 1, 400, ECHO_BYTES, false, IP6_ICMP);
    expect_echo(&f, true);
    fixture_close(&f);
}

// What we send ourselves (RFC 7739): the identification of one datagram tells nobody that of the next.
static void identifications_are_not_counted(void **state)
{
    (void)state;
    static const uint8_t data[3000];
    const struct weir_slice slice = {data, sizeof data};
    const struct weir_message message = {.peer = {PEER6, 9}};
    struct fixture f;
    struct ip6 ip;
    uint32_t length, ids[8];
    open6(&f, &weir_link_rawip);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    for (unsigned i = 0; i < 8; i++) {
        fixture_clear(&f);
        assert_int_equal(weir_socket_send_message(f.weir, s, &message, &slice, 1), sizeof data);
        fixture_poll(&f, 10000);
        assert_int_equal(fixture_sent_count(&f), 3);
        for (uint32_t at = 0; at < 3; at++) {
            const uint8_t *const bytes = sent6(&f, at, &ip, &length);
            assert_int_equal(ip.next_header, IP6_FRAGMENT);
            assert_int_equal(bytes[0], IP6_UDP);
            assert_int_equal(get16(bytes + 2) & 7, at < 2);  // more follow; lengths go by eight
            assert_true(at == 2 || (length - 8) % 8 == 0);
            if (!at)
                ids[i] = get32(bytes + 4);
            assert_int_equal(get32(bytes + 4), ids[i]);
        }
        for (unsigned j = 0; j < i; j++)
            assert_false(ids[i] - ids[j] <= 16 || ids[j] - ids[i] <= 16);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_in_any_order),
        cmocka_unit_test(an_overlap_ends_the_datagram_and_what_follows),
        cmocka_unit_test(an_atomic_fragment_disturbs_nothing),
        cmocka_unit_test(a_datagram_waits_sixty_seconds),
        cmocka_unit_test(faults_are_pointed_at),
        test_with(WEIR_CFG_REASSEMBLY_BYTES > 8192, pieces_of_different_datagrams_do_not_meet),
        test_with(WEIR_CFG_DATAGRAM_SEND_BYTES > 3000, identifications_are_not_counted),
        cmocka_unit_test(long_headers_before_the_fragment_header_spill_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
