// SPDX-License-Identifier: BSD-2-Clause
// The functions of a C library that boards bring themselves, by names of their own beside this machine's.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define memmove board_memmove
#define memset board_memset
#define memcmp board_memcmp
#define strlen board_strlen
#define strcmp board_strcmp
#define strncmp board_strncmp
#define strchr board_strchr
#define strcpy board_strcpy
#define strncpy board_strncpy
#define strcat board_strcat
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t bytes);
char *strchr(const char *text, int letter);
char *strcpy(char *restrict to, const char *restrict from);
char *strncpy(char *restrict to, const char *restrict from, size_t bytes);
char *strcat(char *restrict to, const char *restrict from);
#include "boards/string.c"

static void memory_is_moved_set_and_compared(void **state)
{
    char text[] = "abcdefgh";
    (void)state;
    assert_ptr_equal(memmove(text + 2, text, 5), text + 2);
    assert_int_equal(memcmp(text, "ababcdeh", 8), 0);
    memmove(text, text + 2, 5);
    assert_int_equal(memcmp(text, "abcdedeh", 8), 0);
    for (size_t from = 0; from < 8; from++)
        for (size_t bytes = 0; bytes < 24; bytes++) {
            uint8_t all[40] = {0};
            memset(all + from, 0x1aa, bytes);
            for (size_t i = 0; i < sizeof all; i++)
                assert_int_equal(all[i], i >= from && i < from + bytes ? 0xaa : 0);
        }
    assert_true(memcmp("a\xff", "a\x01", 2) > 0);
    assert_int_equal(memcmp("ab", "ac", 1), 0);
}

static void text_is_measured_and_compared(void **state)
{
    const char *const text = "eth0";
    (void)state;
    assert_int_equal(strlen(""), 0);
    assert_int_equal(strlen(text), 4);
    assert_int_equal(strcmp(text, "eth0"), 0);
    assert_true(strcmp(text, "eth") > 0);
    assert_true(strcmp("\x7f", "\x80") < 0);
    assert_int_equal(strncmp(text, "eth1", 3), 0);
    assert_true(strncmp(text, "eth1", 4) < 0);
    assert_int_equal(strncmp("eth", "eth", 9), 0);
    assert_int_equal(strncmp("a", "b", 0), 0);
    assert_ptr_equal(strchr(text, 't'), text + 1);
    assert_ptr_equal(strchr(text, 0), text + 4);
    assert_null(strchr(text, 'x'));
}

static void text_is_copied(void **state)
{
    char to[12];
    (void)state;
    memset(to, 'x', sizeof to);
    assert_ptr_equal(strcpy(to, "eth"), to);
    assert_int_equal(memcmp(to, "eth\0x", 5), 0);
    assert_ptr_equal(strcat(to, "0:1"), to);
    assert_int_equal(memcmp(to, "eth0:1\0x", 8), 0);
    assert_ptr_equal(strncpy(to, "ab", 5), to);
    assert_int_equal(memcmp(to,
                            "ab\0\0\0"
                            "1\0",
                            7),
                     0);
    strncpy(to, "abcdef", 3);  // no end where the text is as long
    assert_int_equal(memcmp(to, "abc\0", 4), 0);
    strncpy(to, "ABCDEF", 4);
    assert_int_equal(memcmp(to,
                            "ABCD\0"
                            "1",
                            6),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_moved_set_and_compared),
        cmocka_unit_test(text_is_measured_and_compared),
        cmocka_unit_test(text_is_copied),
    };
    return cmocka_run_group_tests_name("boards/string", tests, NULL, NULL);
}
