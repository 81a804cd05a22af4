// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/arp.h"

static const struct arp_packet example = {.operation = ARP_REPLY,
                                          .sender_mac = {2, 0, 0, 0, 0, 1},
                                          .target_mac = {2, 0, 0, 0, 0, 2},
                                          .sender = 0xc0a80001,
                                          .target = 0xc0a800fe};

static void emitted_is_parsed(void **state)
{
    (void)state;
    static const uint8_t expected[ARP_BYTES] = {0,    1,    8, 0, 6, 4, 0, 2, 2, 0, 0,    0,    0, 1,
                                                0xc0, 0xa8, 0, 1, 2, 0, 0, 0, 0, 2, 0xc0, 0xa8, 0, 0xfe};
    uint8_t bytes[ARP_BYTES];
    struct arp_packet out;
    arp_emit(bytes, &example);
    assert_memory_equal(bytes, expected, ARP_BYTES);
    assert_true(arp_parse(bytes, ARP_BYTES, &out));
    assert_int_equal(out.operation, example.operation);
    assert_memory_equal(out.sender_mac, example.sender_mac, 6);
    assert_memory_equal(out.target_mac, example.target_mac, 6);
    assert_int_equal(out.sender, example.sender);
    assert_int_equal(out.target, example.target);
}

// SECURITY.md, runt frames (CVE-2020-11913): an ARP packet of 8 bytes, and every other length that is too short.
static void runts(void **state)
{
    (void)state;
    uint8_t whole[ARP_BYTES];
    struct arp_packet out;
    arp_emit(whole, &example);
    for (uint32_t length = 0; length < ARP_BYTES; length++) {
        uint8_t *bytes = malloc(length + 1);
        memcpy(bytes, whole, length);
        uint8_t *exact = realloc(bytes, length ? length : 1);
        assert_false(arp_parse(exact, length, &out));
        free(exact);
    }
}

// Padding to the smallest Ethernet frame does not matter.
static void padding(void **state)
{
    (void)state;
    uint8_t bytes[46] = {0};
    struct arp_packet out;
    arp_emit(bytes, &example);
    assert_true(arp_parse(bytes, sizeof bytes, &out));
}

static void other_hardware_and_protocols(void **state)
{
    (void)state;
    struct arp_packet out;
    for (uint32_t at = 0; at < 6; at++) {  // hardware type, protocol type, both lengths
        uint8_t bytes[ARP_BYTES];
        arp_emit(bytes, &example);
        bytes[at] ^= 0x10;
        assert_false(arp_parse(bytes, ARP_BYTES, &out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed), cmocka_unit_test(runts),
                                       cmocka_unit_test(padding), cmocka_unit_test(other_hardware_and_protocols)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
