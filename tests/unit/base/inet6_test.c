// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/inet6.h"

static uint32_t random_state = 5952;
static uint32_t next_random(void) { return (random_state = random_state * 1664525u + 1013904223u) >> 8; }

// Of a copy of its exact length.
static bool parse(const char *text, uint8_t out[16])
{
    const uint32_t length = (uint32_t)strlen(text);
    char *exact = malloc(length ? length : 1);
    memcpy(exact, text, length);
    const bool good = inet6_parse(exact, length, out);
    free(exact);
    return good;
}

static const struct {
    const char *text;
    uint8_t address[16];
    const char *canonical;  // where it differs
} good[] = {
    {"::", {0}, NULL},
    {"::1", {[15] = 1}, NULL},
    {"1::", {0, 1}, NULL},
    {"2001:db8::1", {0x20, 1, 0x0d, 0xb8, [15] = 1}, NULL},
    {"2001:DB8:0:0:0:0:0:1", {0x20, 1, 0x0d, 0xb8, [15] = 1}, "2001:db8::1"},
    {"2001:0db8::0001", {0x20, 1, 0x0d, 0xb8, [15] = 1}, "2001:db8::1"},
    // RFC 5952 §4.2.2: a single group is not left out; §4.2.3: the longest run, the first of two.
    {"2001:db8:0:1:1:1:1:1", {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, NULL},
    {"2001:db8::1:1:1:1:1", {0x20, 1, 0x0d, 0xb8, 0, 0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, "2001:db8:0:1:1:1:1:1"},
    {"2001:0:0:1:0:0:0:1", {0x20, 1, [7] = 1, [15] = 1}, "2001:0:0:1::1"},
    {"2001:db8:0:0:1:0:0:1", {0x20, 1, 0x0d, 0xb8, [9] = 1, [15] = 1}, "2001:db8::1:0:0:1"},
    {"1:2:3:4:5:6:7:8", {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}, NULL},
    {"1:2:3:4:5:6:7::", {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7}, "1:2:3:4:5:6:7:0"},
    {"::2:3:4:5:6:7:8", {0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8}, "0:2:3:4:5:6:7:8"},
    {"1:2:3:4:5:6::", {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6}, NULL},
    {"0:0:3:4:5:6:0:0", {[5] = 3, 0, 4, 0, 5, 0, 6}, "::3:4:5:6:0:0"},
    {"ffff:ffff:ffff:ffff::", {255, 255, 255, 255, 255, 255, 255, 255}, NULL},
    {"aBcD:eF01::A", {0xab, 0xcd, 0xef, 1, [15] = 10}, "abcd:ef01::a"},
    // §5, and dotted numbers elsewhere.
    {"::ffff:192.0.2.33", {[10] = 255, 255, 192, 0, 2, 33}, NULL},
    {"::ffff:c000:221", {[10] = 255, 255, 192, 0, 2, 33}, "::ffff:192.0.2.33"},
    {"::ffff:0.0.0.0", {[10] = 255, 255}, NULL},
    {"::ffff:255.255.255.255", {[10] = 255, 255, 255, 255, 255, 255}, NULL},
    {"64:ff9b::192.0.2.33", {0, 0x64, 0xff, 0x9b, [12] = 192, 0, 2, 33}, "64:ff9b::c000:221"},
    {"1:2:3:4:5:6:7.8.9.10", {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 7, 8, 9, 10}, "1:2:3:4:5:6:708:90a"},
    {"1:2:3:4:5::7.8.9.10", {0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 0, 7, 8, 9, 10}, "1:2:3:4:5:0:708:90a"},
    {"::1.2.3.4", {[12] = 1, 2, 3, 4}, "::102:304"},
    {"::fffe:1.2.3.4", {[10] = 255, 254, 1, 2, 3, 4}, "::fffe:102:304"},
    {"1::ffff:1.2.3.4", {0, 1, [10] = 255, 255, 1, 2, 3, 4}, "1::ffff:102:304"},
};

static void good_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint8_t out[16];
        memset(out, 0xee, sizeof out);
        assert_true(parse(good[i].text, out));
        assert_memory_equal(out, good[i].address, 16);
    }
}

static void one_text_for_an_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        char text[INET6_TEXT_BYTES];
        const char *expected = good[i].canonical ? good[i].canonical : good[i].text;
        assert_int_equal(inet6_format(good[i].address, text), strlen(expected));
        assert_string_equal(text, expected);
    }
}

static void bad_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        ":",
        ":::",
        "::::",
        "1",
        "1:",
        ":1",
        "1:2",
        "1.2.3.4",
        "a::b::c",
        "1::2::3",
        "::1::",
        "1:::2",
        ":::1",
        "1:::",
        // groups: too many, too few, five digits, other letters
        "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9",
        "1:2:3:4:5:6:7:8:",
        ":1:2:3:4:5:6:7:8",
        "1:2:3:4:5:6:7:",
        ":2:3:4:5:6:7:8",
        "12345::",
        "00001::",
        "::g",
        "::-1",
        "::+1",
        "::0x1",
        "1:2:3:4:5:6:7:abcde",
        // a :: that stands for nothing
        "1:2:3:4:5:6:7:8::",
        "::1:2:3:4:5:6:7:8",
        "1:2:3:4::5:6:7:8",
        "1:2:3:4:5:6::7.8.9.10",
        "::1:2:3:4:5:6:7.8.9.10",
        // dotted numbers: last, four of them, to 255, without zeros before
        "1.2.3.4::",
        "1.2.3.4:1:2:3:4:5:6",
        "::1.2.3.4:5",
        "::1.2.3",
        "::1.2.3.4.5",
        "::1.2.3.",
        "::1..3.4",
        "::.1.2.3",
        "::256.1.1.1",
        "::1.1.1.256",
        "::1.1.1.1000",
        "::01.2.3.4",
        "::1.2.3.04",
        "::1.2.3.00",
        "::a.2.3.4",
        "::1.2.3.a",
        "::ffff:1.2.3.4 ",
        "1:2:3:4:5:6:7:1.2.3.4",
        "1:2:3:4:5:1.2.3.4",
        "::4294967297.1.1.1",
        "::1234.1.1.1",
        // what belongs to other texts
        "fe80::1%eth0",
        "fe80::1%2",
        "[::1]",
        "::1/64",
        " ::1",
        "::1 ",
        "::1\n",
        "localhost",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t out[16];
        memset(out, 0xee, sizeof out);
        if (parse(bad[i], out))
            fail_msg("%s", bad[i]);
        for (uint32_t k = 0; k < 16; k++)
            assert_int_equal(out[k], 0xee);
    }
    uint8_t out[16];
    assert_false(inet6_parse("::1\0", 4, out));  // a 0 is a character like another
    assert_true(inet6_parse("::12", 3, out));    // the length says where it ends
    assert_int_equal(out[15], 1);
}

static void random_address(uint8_t address[16])
{
    const uint32_t dense = next_random() % 8;
    for (uint32_t i = 0; i < 16; i += 2) {
        const uint32_t value = next_random() % 8 < dense ? next_random() >> next_random() % 16 : 0;
        address[i] = (uint8_t)(value >> 8);
        address[i + 1] = (uint8_t)value;
    }
}

// What is written is read, and is what the C library writes. (It has dotted numbers also for ::a.b.c.d, which RFC
// 5952 has not.)
static void written_as_the_library_does(void **state)
{
    (void)state;
    static const uint8_t zeros[12];
    for (int i = 0; i < 100000; i++) {
        uint8_t address[16], back[16];
        char text[INET6_TEXT_BYTES], expected[INET6_ADDRSTRLEN];
        random_address(address);
        const uint32_t length = inet6_format(address, text);
        assert_int_equal(length, strlen(text));
        assert_true(parse(text, back));
        assert_memory_equal(back, address, 16);
        if (memcmp(address, zeros, 12) == 0)
            continue;
        assert_non_null(inet_ntop(AF_INET6, address, expected, sizeof expected));
        assert_string_equal(text, expected);
    }
}

// Texts with a few characters changed are taken or refused as the C library does, with the same result.
static void read_as_the_library_does(void **state)
{
    (void)state;
    static const char characters[] = "0123456789abcdefABCDEF:::::...g%/ ";
    uint32_t taken = 0;
    for (int i = 0; i < 300000; i++) {
        uint8_t address[16], expected[16];
        char text[80];
        if (i % 2) {
            strcpy(text, good[next_random() % (sizeof good / sizeof *good)].text);
        } else {
            random_address(address);
            inet6_format(address, text);
        }
        for (uint32_t changes = next_random() % 4; changes; changes--) {
            const uint32_t length = (uint32_t)strlen(text), at = next_random() % (length + 1);
            const char c = characters[next_random() % (sizeof characters - 1)];
            if (next_random() % 3 == 0 && at < length) {
                memmove(text + at, text + at + 1, length - at);
            } else if (next_random() % 2 && at < length) {
                text[at] = c;
            } else {
                memmove(text + at + 1, text + at, length - at + 1);
                text[at] = c;
            }
        }
        const bool good_text = inet_pton(AF_INET6, text, expected) == 1;
        if (parse(text, address) != good_text)
            fail_msg("%s", text);
        if (good_text)
            assert_memory_equal(address, expected, 16);
        taken += good_text;
    }
    assert_in_range(taken, 60000, 240000);
}

// The longest text there is fits.
static void room_for_the_longest(void **state)
{
    (void)state;
    uint8_t address[16];
    memset(address, 0xff, sizeof address);
    char *text = malloc(INET6_TEXT_BYTES);
    assert_int_equal(inet6_format(address, text), 39);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_texts),
        cmocka_unit_test(one_text_for_an_address),
        cmocka_unit_test(bad_texts),
        cmocka_unit_test(written_as_the_library_does),
        cmocka_unit_test(read_as_the_library_does),
        cmocka_unit_test(room_for_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
