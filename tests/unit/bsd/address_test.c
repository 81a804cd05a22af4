// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "api/bsd/weir_bsd.h"

static void text_to_address(void **state)
{
    static const char *const wrong[] = {
        "",         "1",        "1.2.3",     "1.2.3.4.5",         "1.2.3.256", "01.2.3.4",
        "1.2.3.04", "1..2.3",   ".1.2.3.4",  "1.2.3.4 ",          " 1.2.3.4",  "1.2.3.",
        "a.b.c.d",  "1.2.3.-4", "0x1.2.3.4", "99999999999.1.1.1", "1.2.3.4\n"};
    uint8_t out[4] = {9, 9, 9, 9};
    (void)state;
    assert_int_equal(weir_inet_pton(WEIR_AF_INET, "192.0.2.255", out), 1);
    assert_memory_equal(out, ((uint8_t[]){192, 0, 2, 255}), 4);
    assert_int_equal(weir_inet_pton(WEIR_AF_INET, "0.0.0.0", out), 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memset(out, 7, sizeof out);
        assert_int_equal(weir_inet_pton(WEIR_AF_INET, wrong[i], out), 0);
        assert_memory_equal(out, ((uint8_t[]){7, 7, 7, 7}), 4);  // untouched
    }
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, "1.2.3.4", out), WEIR_CFG_IP6 ? 0 : -1);
    assert_int_equal(weir_inet_pton(11, "1.2.3.4", out), -1);
}

static void address_to_text(void **state)
{
    char text[WEIR_INET_ADDRSTRLEN + 1];
    (void)state;
    assert_string_equal(weir_inet_ntop(WEIR_AF_INET, (uint8_t[]){255, 255, 255, 255}, text, 16), "255.255.255.255");
    assert_string_equal(weir_inet_ntop(WEIR_AF_INET, (uint8_t[]){0, 9, 10, 100}, text, 16), "0.9.10.100");
    assert_null(weir_inet_ntop(WEIR_AF_INET, (uint8_t[]){255, 255, 255, 255}, text, 15));
    assert_non_null(weir_inet_ntop(WEIR_AF_INET, (uint8_t[]){1, 2, 3, 4}, text, 8));
    assert_null(weir_inet_ntop(WEIR_AF_INET, (uint8_t[]){1, 2, 3, 4}, text, 7));
    assert_null(weir_inet_ntop(11, (uint8_t[]){1, 2, 3, 4}, text, 16));
}

static void there_and_back(void **state)
{
    char text[16];
    uint8_t in[4], out[4];
    (void)state;
    for (uint32_t i = 0; i < 100000; i += 7) {
        const uint32_t value = i * 2654435761u;
        memcpy(in, &value, 4);
        assert_non_null(weir_inet_ntop(WEIR_AF_INET, in, text, sizeof text));
        assert_int_equal(weir_inet_pton(WEIR_AF_INET, text, out), 1);
        assert_memory_equal(in, out, 4);
    }
}

static void byte_order(void **state)
{
    const uint16_t port = weir_htons(0x1234);
    const uint32_t address = weir_htonl(0x01020304);
    (void)state;
    assert_memory_equal(&port, ((uint8_t[]){0x12, 0x34}), 2);
    assert_memory_equal(&address, ((uint8_t[]){1, 2, 3, 4}), 4);
    assert_int_equal(weir_ntohs(port), 0x1234);
    assert_int_equal(weir_ntohl(address), 0x01020304);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_to_address), cmocka_unit_test(address_to_text),
                                       cmocka_unit_test(there_and_back), cmocka_unit_test(byte_order)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
