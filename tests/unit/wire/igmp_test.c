// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/igmp.h"

static void emitted_is_parsed(void **state)
{
    (void)state;
    static const uint8_t expected[IGMP_BYTES] = {0x16, 0, 0, 0, 239, 1, 2, 3};
    const struct igmp message = {.type = IGMP_REPORT_V2, .group = 0xef010203};
    uint8_t bytes[IGMP_BYTES];
    struct igmp out;
    igmp_emit(bytes, &message);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_true(igmp_parse(bytes, IGMP_BYTES, &out));
    assert_int_equal(out.type, IGMP_REPORT_V2);
    assert_int_equal(out.group, message.group);
    const struct igmp query = {.type = IGMP_QUERY, .max_response_ms = 10000, .group = 0};
    igmp_emit(bytes, &query);
    assert_true(igmp_parse(bytes, IGMP_BYTES, &out));
    assert_int_equal(out.version, 2);
    assert_int_equal(out.max_response_ms, 10000);
}

// RFC 9776 §7.1.
static void versions(void **state)
{
    (void)state;
    uint8_t bytes[16] = {IGMP_QUERY};
    struct igmp out;
    for (uint32_t length = 0; length < IGMP_BYTES; length++)
        assert_false(igmp_parse(bytes, length, &out));
    assert_true(igmp_parse(bytes, 8, &out));
    assert_int_equal(out.version, 1);
    assert_int_equal(out.max_response_ms, 0);
    bytes[1] = 25;
    assert_true(igmp_parse(bytes, 8, &out));
    assert_int_equal(out.version, 2);
    assert_int_equal(out.max_response_ms, 2500);
    for (uint32_t length = 9; length < 12; length++)
        assert_false(igmp_parse(bytes, length, &out));
    assert_true(igmp_parse(bytes, 12, &out));
    assert_int_equal(out.version, 3);
}

static void sources_must_be_there(void **state)
{
    (void)state;
    uint8_t *bytes = calloc(1, 16);
    bytes[0] = IGMP_QUERY;
    struct igmp out;
    bytes[11] = 1;
    assert_false(igmp_parse(bytes, 12, &out));
    assert_false(igmp_parse(bytes, 15, &out));
    assert_true(igmp_parse(bytes, 16, &out));
    bytes[10] = bytes[11] = 0xff;
    assert_false(igmp_parse(bytes, 16, &out));
    free(bytes);
}

// RFC 9776 §4.1.1: 1 exp(3) mant(4) is (mant | 0x10) << (exp + 3), in tenths of a second.
static void response_code(void **state)
{
    (void)state;
    static const struct {
        uint8_t code;
        uint32_t tenths;
    } table[] = {{0, 0}, {127, 127}, {128, 128}, {0x8f, 248}, {0x90, 256}, {0xff, 31744}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const uint8_t bytes[12] = {IGMP_QUERY, table[i].code};
        struct igmp out;
        assert_true(igmp_parse(bytes, 12, &out));
        assert_int_equal(out.max_response_ms, table[i].tenths * 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed), cmocka_unit_test(versions),
                                       cmocka_unit_test(sources_must_be_there), cmocka_unit_test(response_code)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
