// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text.h"

static void numbers_are_written(void **state)
{
    char bytes[200];
    struct text text;
    (void)state;
    text_init(&text, bytes, sizeof bytes);
    text_u64(&text, UINT64_MAX);
    text_char(&text, ' ');
    text_i64(&text, INT64_MIN);
    text_char(&text, ' ');
    text_fixed(&text, 5, 2);
    text_char(&text, ' ');
    text_fixed(&text, 1234, 2);
    text_char(&text, ' ');
    text_padded(&text, 907, 2);
    text_char(&text, ' ');
    text_padded(&text, 7, 3);
    text_char(&text, ' ');
    text_fixed(&text, 0, 3);
    text_char(&text, ' ');
    text_hex(&text, 0xbeef, 6);
    assert_string_equal(bytes, "18446744073709551615 -9223372036854775808 0.05 12.34 07 007 0.000 00beef");
    assert_false(text.cut);
}

static void columns_are_filled(void **state)
{
    char bytes[40];
    struct text text;
    (void)state;
    text_init(&text, bytes, sizeof bytes);
    text_char(&text, '|');
    text_u64(&text, 42);
    text_right(&text, 1, 5);
    text_char(&text, '|');
    text_u64(&text, 7);
    text_pad(&text, 7, 3);
    text_char(&text, '|');
    assert_string_equal(bytes, "|   42|7  |");
}

static void a_full_buffer_is_never_passed(void **state)
{
    char bytes[8] = "xxxxxxx";
    struct text text;
    (void)state;
    text_init(&text, bytes, 5);
    text_put(&text, "abcdef");
    text_right(&text, 0, 7);
    text_pad(&text, 0, 7);
    text_u64(&text, 123);
    assert_string_equal(bytes, "abcd");
    assert_true(text.cut);
    assert_memory_equal(bytes + 5, "xx", 2);
    text_init(&text, bytes, 1);
    text_json(&text, "a");
    assert_string_equal(bytes, "");
    assert_true(text.cut);
}

static void json_strings_are_escaped(void **state)
{
    char bytes[64];
    struct text text;
    (void)state;
    text_init(&text, bytes, sizeof bytes);
    text_json(&text, "a\"b\\c\n\x01\xff</script>");
    assert_string_equal(bytes, "\"a\\\"b\\\\c\\u000a\\u0001\\u00ff</script>\"");
}

static void addresses_go_both_ways(void **state)
{
    char bytes[32];
    struct text text;
    struct weir_addr addr;
    static const char *const bad[] = {"",       "1.2.3",  "1.2.3.4.",   "1.2.3.256", "1.2.3.4 ",
                                      ".1.2.3", "1..2.3", "0001.2.3.4", "1.2.3.a",   "-1.2.3.4"};
    (void)state;
    text_init(&text, bytes, sizeof bytes);
    const struct weir_endpoint endpoint = {weir_ip4(192, 168, 0, 255), 8080};
    text_endpoint(&text, &endpoint);
    assert_string_equal(bytes, "192.168.0.255:8080");
    assert_true(text_read_addr(bytes, 13, &addr));
    assert_int_equal(weir_addr_to_v4(addr), weir_addr_to_v4(endpoint.addr));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(text_read_addr(bad[i], text_length(bad[i]), &addr));
}

static void numbers_are_read_within_bounds(void **state)
{
    uint64_t value = 0;
    (void)state;
    assert_int_equal(text_read_u64("12x", 3, 100, &value), 2);
    assert_int_equal(value, 12);
    assert_int_equal(text_read_u64("101", 3, 100, &value), 0);
    assert_int_equal(text_read_u64("x", 1, 100, &value), 0);
    assert_int_equal(text_read_u64("18446744073709551615", 20, UINT64_MAX, &value), 20);
    assert_true(value == UINT64_MAX);
    assert_int_equal(text_read_u64("18446744073709551616", 20, UINT64_MAX, &value), 0);
    assert_true(text_equal_nocase("CoNtEnT", 7, "content"));
    assert_false(text_equal_nocase("content", 6, "content"));
    assert_false(text_equal_nocase("conten@", 7, "conten`"));  // which differ as letters do
    assert_true(text_bytes_equal_nocase("HOSTs", 4, "hosting", 4));
    assert_false(text_bytes_equal_nocase("host", 4, "host", 3));
    assert_false(text_equal("content", 7, "conten"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_written),           cmocka_unit_test(columns_are_filled),
        cmocka_unit_test(a_full_buffer_is_never_passed), cmocka_unit_test(json_strings_are_escaped),
        cmocka_unit_test(addresses_go_both_ways),        cmocka_unit_test(numbers_are_read_within_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
