// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/udp.h"

static void emitted_is_parsed(void **state)
{
    (void)state;
    static const uint8_t expected[UDP_BYTES] = {0x00, 0x35, 0xc0, 0x01, 0x00, 0x0c, 0, 0};
    const struct udp_header header = {.source = 53, .destination = 49153, .length = 12};
    uint8_t bytes[12] = {0};
    struct udp_header out;
    udp_emit(bytes, &header);
    assert_memory_equal(bytes, expected, sizeof expected);
    assert_true(udp_parse(bytes, sizeof bytes, &out));
    assert_int_equal(out.source, 53);
    assert_int_equal(out.destination, 49153);
    assert_int_equal(out.length, 12);
    assert_false(out.checksum_present);
    bytes[7] = 1;
    assert_true(udp_parse(bytes, sizeof bytes, &out));
    assert_true(out.checksum_present);
}

// Every length field against every number of bytes at hand: right exactly from 8 to what is there.
static void lengths(void **state)
{
    (void)state;
    struct udp_header out;
    for (uint32_t at_hand = 0; at_hand <= 20; at_hand++) {
        uint8_t *bytes = calloc(1, at_hand ? at_hand : 1);
        for (uint32_t field = 0; field <= 65535; field += field < 32 || field > 65500 ? 1 : 997) {
            if (at_hand >= 6)
                put16(bytes + 4, field);
            assert_int_equal(udp_parse(bytes, at_hand, &out),
                             at_hand >= UDP_BYTES && field >= UDP_BYTES && field <= at_hand);
        }
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed), cmocka_unit_test(lengths)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
