// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/icmp6.h"

static void too_short(void **state)
{
    (void)state;
    struct icmp6 out;
    for (uint32_t length = 0; length < 12; length++) {
        uint8_t *bytes = calloc(1, length ? length : 1);
        assert_int_equal(icmp6_parse(bytes, length, &out), length >= 8);
        free(bytes);
    }
}

static void emitted_is_parsed(void **state)
{
    (void)state;
    static const uint8_t expected[8] = {128, 0, 0, 0, 0x12, 0x34, 0x56, 0x78};
    uint8_t bytes[8];
    struct icmp6 out;
    memset(bytes, 0xff, sizeof bytes);
    icmp6_emit(bytes, &(struct icmp6){.type = ICMP6_ECHO, .rest = 0x12345678});
    assert_memory_equal(bytes, expected, 8);
    assert_true(icmp6_parse(bytes, 8, &out));
    assert_int_equal(out.id, 0x1234);
    assert_int_equal(out.sequence, 0x5678);
    icmp6_emit(bytes, &(struct icmp6){.type = ICMP6_PARAMETER, .code = 2, .rest = 42});
    assert_true(icmp6_parse(bytes, 8, &out));
    assert_int_equal(out.type, 4);
    assert_int_equal(out.code, 2);
    assert_int_equal(out.rest, 42);
}

// v6LC.4.1.7: an MTU has 32 bits.
static void an_mtu_of_32_bits(void **state)
{
    (void)state;
    static const uint8_t bytes[8] = {2, 0, 0, 0, 0x1f, 0xff, 0xff, 0xff};
    struct icmp6 out;
    assert_true(icmp6_parse(bytes, 8, &out));
    assert_int_equal(out.rest, 0x1fffffff);
}

static void errors_have_types_below_128(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++)
        assert_int_equal(icmp6_is_error((uint8_t)type), type < 128);
}

// A router solicitation from fe80::1 to ff02::2, its checksum worked out by hand: fe80 + 0001 + ff02 + 0002 + 0008 +
// 003a + 8500 = 282c7.
static void the_checksum_covers_the_pseudo_header(void **state)
{
    (void)state;
    static const uint8_t source[16] = {0xfe, 0x80, [15] = 1}, destination[16] = {0xff, 2, [15] = 2};
    uint8_t message[8] = {133, 0, 0xaa, 0xaa};
    icmp6_checksum_put(message, sizeof message, source, destination);
    assert_int_equal(get16(message + 2), 0xffff - (0x82c7 + 2));
    assert_int_equal(icmp6_sum(message, sizeof message, source, destination), 0xffff);
    for (uint32_t bit = 0; bit < 64; bit++) {
        message[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(icmp6_sum(message, sizeof message, source, destination), 0xffff);
        message[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (uint32_t bit = 0; bit < 128; bit++) {
        uint8_t other[16];
        memcpy(other, source, 16);
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(icmp6_sum(message, sizeof message, other, destination), 0xffff);
        memcpy(other, destination, 16);
        other[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(icmp6_sum(message, sizeof message, source, other), 0xffff);
    }
}

static void messages_of_odd_length(void **state)
{
    (void)state;
    static const uint8_t source[16] = {0xfe, 0x80, [15] = 1}, destination[16] = {0xff, 2, [15] = 2};
    for (uint32_t length = 8; length < 80; length++) {
        uint8_t *message = malloc(length);
        for (uint32_t i = 0; i < length; i++)
            message[i] = (uint8_t)(i * 37 + length);
        icmp6_checksum_put(message, length, source, destination);
        uint32_t sum = 0xfe80 + 1 + 0xff02 + 2 + length + 58;
        for (uint32_t i = 0; i < length; i += 2)
            sum += (uint32_t)message[i] << 8 | (i + 1 < length ? message[i + 1] : 0);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        assert_int_equal(sum, 0xffff);
        free(message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_short),
        cmocka_unit_test(emitted_is_parsed),
        cmocka_unit_test(an_mtu_of_32_bits),
        cmocka_unit_test(errors_have_types_below_128),
        cmocka_unit_test(the_checksum_covers_the_pseudo_header),
        cmocka_unit_test(messages_of_odd_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
