// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/icmp4.h"

static void emitted_is_parsed(void **state)
{
    (void)state;
    static const uint8_t expected[ICMP4_BYTES] = {3, 4, 0, 0, 0, 0, 0x05, 0xdc};
    const struct icmp4 header = {.type = ICMP4_UNREACHABLE, .code = ICMP4_FRAGMENTATION_NEEDED, .rest = 1500};
    uint8_t bytes[ICMP4_BYTES];
    struct icmp4 out;
    icmp4_emit(bytes, &header);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_true(icmp4_parse(bytes, ICMP4_BYTES, &out));
    assert_int_equal(out.type, header.type);
    assert_int_equal(out.code, header.code);
    assert_int_equal(out.rest, 1500);
    assert_int_equal(out.next_hop_mtu, 1500);
}

static void echo_fields(void **state)
{
    (void)state;
    const uint8_t bytes[ICMP4_BYTES] = {8, 0, 0xaa, 0xbb, 0x12, 0x34, 0x56, 0x78};
    struct icmp4 out;
    assert_true(icmp4_parse(bytes, ICMP4_BYTES, &out));
    assert_int_equal(out.type, ICMP4_ECHO);
    assert_int_equal(out.id, 0x1234);
    assert_int_equal(out.sequence, 0x5678);
    assert_int_equal(out.rest, 0x12345678);
}

static void runts(void **state)
{
    (void)state;
    struct icmp4 out;
    for (uint32_t length = 0; length < ICMP4_BYTES; length++) {
        uint8_t *bytes = calloc(1, length + 1);
        uint8_t *exact = realloc(bytes, length ? length : 1);
        assert_false(icmp4_parse(exact, length, &out));
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed), cmocka_unit_test(echo_fields),
                                       cmocka_unit_test(runts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
