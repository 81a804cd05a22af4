// SPDX-License-Identifier: BSD-2-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "iperf3/json.h"
#include "text.h"

static bool read(const char *text, struct json *out) { return json_read(text, (uint32_t)strlen(text), out); }

static void members_are_found(void **state)
{
    struct json object, value;
    char name[8];
    (void)state;
    assert_true(read(" {\"a\" : 1, \"b\":{\"c\":[1,2]} , \"s\":\"cubic\",\"t\":true,\"e\":\"\\\"\"}\n", &object));
    assert_int_equal(json_get(object, "a", 0, -7), 1);
    assert_int_equal(json_get(object, "zz", 0, -7), -7);
    assert_int_equal(json_get(object, "s", 0, -7), -7);
    assert_true(json_get_true(object, "t"));
    assert_false(json_get_true(object, "b"));
    assert_true(json_member(object, "b", &value) && json_member(value, "c", &value));
    assert_true(text_equal(value.text, value.length, "[1,2]"));
    assert_true(json_member(object, "s", &value) && json_string(value, name, sizeof name));
    assert_string_equal(name, "cubic");
    assert_false(json_string(value, name, 5));
    assert_true(json_member(object, "e", &value));
    assert_false(json_string(value, name, sizeof name));
}

static void elements_are_walked(void **state)
{
    struct json array, value;
    uint32_t cursor = 0;
    int count = 0;
    (void)state;
    assert_true(read("[ {\"id\":1}, {\"id\":2} ,3 ]", &array));
    while (json_element(array, &cursor, &value))
        count++;
    assert_int_equal(count, 3);
    assert_true(read("[ ]", &array));
    cursor = 0;
    assert_false(json_element(array, &cursor, &value));
}

static void numbers_are_scaled(void **state)
{
    static const struct {
        const char *text;
        unsigned decimals;
        int64_t value;
    } good[] = {{"0", 0, 0},
                {"-1", 0, -1},
                {"1.25e-3", 6, 1250},
                {"10.000112", 6, 10000112},
                {"1E3", 0, 1000},
                {"3.9999", 0, 3},
                {"0.0000001", 6, 0},
                {"9223372036854775807", 0, INT64_MAX},
                {"1.50000000000000000000000001", 2, 150},
                {"-0.5", 1, -5},
                {"0e99", 0, 0}};
    static const char *const bad[] = {"",     "-",    "x",  "1x", "1.2.3", "1e", "1e+", "18446744073709551615",
                                      "1e30", "true", "--1"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        int64_t value = 99;
        struct json json = {good[i].text, (uint32_t)strlen(good[i].text)};
        if (!json_number(json, good[i].decimals, &value) || value != good[i].value)
            fail_msg("%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t value;
        struct json json = {bad[i], (uint32_t)strlen(bad[i])};
        if (json_number(json, 0, &value))
            fail_msg("%s", bad[i]);
    }
}

static void malformed_text_is_refused(void **state)
{
    static const char *const bad[] = {"",
                                      "{",
                                      "}",
                                      "[}",
                                      "{]",
                                      "\"a",
                                      "\"a\\",
                                      "{\"a\":1",
                                      "1 2",
                                      "{}}",
                                      "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
                                      "\x01",
                                      "{\"a\":\x80}"};
    struct json value;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint32_t length = (uint32_t)strlen(bad[i]);
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy + 1, bad[i], length);
        if (json_read(copy + 1, length, &value))
            fail_msg("%s", bad[i]);
        free(copy);
    }
}

static void noise_is_survived(void **state)
{
    static const char letters[] = "{}[]\",:\\1a. -e";
    struct json value, member;
    uint32_t random = 3;
    (void)state;
    for (int round = 0; round < 50000; round++) {
        char text[24];
        uint32_t cursor = 0, count = 0;
        text[0] = round % 2 ? '{' : '[';
        text[23] = round % 2 ? '}' : ']';
        for (int i = 1; i < 23; i++) {
            random = random * 1664525u + 1013904223u;
            text[i] = letters[(random >> 16) % (sizeof letters - 1)];
        }
        struct json direct = {text, sizeof text};
        (void)json_member(direct, "a", &member);
        if (json_read(text, sizeof text, &value))
            (void)json_member(value, "a", &member);
        while (json_element(direct, &cursor, &member))
            assert_true(++count < 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_found),  cmocka_unit_test(elements_are_walked),
        cmocka_unit_test(numbers_are_scaled), cmocka_unit_test(malformed_text_is_refused),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
