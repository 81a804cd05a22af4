// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "weir/addr.h"

static void both_families_are_read_and_written(void **state)
{
    static const char *const texts[] = {"192.0.2.1", "0.0.0.0",   "255.255.255.255",
                                        "::",        "::1",       "2001:db8::1",
                                        "fe80::1",   "fe80::1%2", "fe80::ffff:ffff:ffff:ffff%255",
                                        "ff02::1"};
    char text[WEIR_ADDR_TEXT_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct weir_addr addr;
        assert_true(weir_addr_read(texts[i], (uint32_t)strlen(texts[i]), &addr));
        assert_int_equal(weir_addr_is_v4(addr), strchr(texts[i], ':') == NULL);
        assert_int_equal(weir_addr_write(addr, text), strlen(texts[i]));
        assert_string_equal(text, texts[i]);
    }
}

static void a_mapped_address_is_one_of_ip4(void **state)
{
    struct weir_addr addr;
    (void)state;
    assert_true(weir_addr_read("::ffff:192.0.2.1", 16, &addr));
    assert_true(weir_addr_equal(addr, weir_ip4(192, 0, 2, 1)));
}

static void what_is_no_address_changes_nothing(void **state)
{
    static const char *const texts[] = {"",          "1",           "1234",        "1.2.3",       "1.2.3.4.5",
                                        "1.2.3.04",  "256.1.1.1",   "1.2.3.4%1",   "::1%1",       "fe80::1%",
                                        "fe80::1%0", "fe80::1%256", "fe80::1%x1",  "fe80::1%2%2", "ff02::1%2",
                                        ":::",       "1::2::3",     "[::1]",       " ::1",        "::1 ",
                                        "%1",        "1.2.3.4::1",  "::1.2.3.4.5", "ffff:1.2.3.4"};
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct weir_addr addr = weir_ip4(1, 2, 3, 4);
        assert_false(weir_addr_read(texts[i], (uint32_t)strlen(texts[i]), &addr));
        assert_true(weir_addr_equal(addr, weir_ip4(1, 2, 3, 4)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_families_are_read_and_written),
        cmocka_unit_test(a_mapped_address_is_one_of_ip4),
        cmocka_unit_test(what_is_no_address_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
