// SPDX-License-Identifier: BSD-2-Clause
// The check of the exercise "an ICMP message" (docs/course.md): a timestamp request (RFC 792) is answered.
#include "ip/packets.h"

#define TIMESTAMP 13
#define TIMESTAMP_REPLY 14
#define NOT_STANDARD 0x80000000u  // of a time that is not that of the day

static void a_timestamp_request_is_answered(void **state)
{
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    const uint8_t asked[12] = {0x01, 0x23, 0x45, 0x67};
    (void)state;
    open_raw(&f);
    input_icmp(&f, PEER, TIMESTAMP, 0, 0xabcd0007u, asked, sizeof asked);
    assert_int_equal(fixture_sent_count(&f), 0);  // from weir_poll alone
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 1);
    const uint8_t *bytes = sent_icmp(&f, 0, &ip, &icmp, &length);
    assert_int_equal(icmp.type, TIMESTAMP_REPLY);
    assert_int_equal(icmp.code, 0);
    assert_int_equal(icmp.rest, 0xabcd0007u);  // identifier and sequence number
    assert_int_equal(length, ICMP4_BYTES + sizeof asked);
    assert_memory_equal(bytes + ICMP4_BYTES, asked, 4);
    assert_true(get32(bytes + ICMP4_BYTES + 4) & NOT_STANDARD);
    assert_int_equal(get32(bytes + ICMP4_BYTES + 4), get32(bytes + ICMP4_BYTES + 8));
    assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    assert_int_equal(ip.destination, weir_addr_to_v4(PEER));
    fixture_close(&f);
}

static void nonsense_is_not_answered(void **state)
{
    struct fixture f;
    const uint8_t asked[12] = {0};
    uint8_t message[ICMP4_BYTES + sizeof asked];
    (void)state;
    open_raw(&f);
    input_icmp(&f, PEER, TIMESTAMP, 1, 0, asked, sizeof asked);      // no such code
    input_icmp(&f, PEER, TIMESTAMP, 0, 0, asked, sizeof asked - 1);  // too short
    make_icmp(message, TIMESTAMP, 0, 0, asked, sizeof asked);
    input(&f, &(struct make){.destination = weir_ip4(10, 0, 0, 255),  // to everybody
                             .protocol = IP_ICMP,
                             .payload = message,
                             .length = sizeof message});
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timestamp_request_is_answered),
        cmocka_unit_test(nonsense_is_not_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
