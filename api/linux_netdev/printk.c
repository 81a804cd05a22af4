// SPDX-License-Identifier: BSD-2-Clause
#include <stdarg.h>
#include <stdbool.h>

#include "api/linux_netdev/internal.h"

#define DIGITS 24

struct directive {
    uint32_t width;
    bool zeros, prefix, is_long;
};

static void put(char letter) { linux_board->puts((const char[2]){letter, 0}); }

static void put_number(const struct directive *how, unsigned long value, uint32_t base, bool negative)
{
    char digits[DIGITS];
    uint32_t count = 0;
    do
        digits[count++] = "0123456789abcdef"[value % base];
    while (value /= base);
    while (how->zeros && count < how->width && count < DIGITS)
        digits[count++] = '0';
    if (negative)
        put('-');
    if (how->prefix && base == 16)
        linux_board->puts("0x");
    for (uint32_t spaces = count + negative; spaces < how->width; spaces++)
        put(' ');
    while (count)
        put(digits[--count]);
}

static const char *parse(const char *at, struct directive *how)
{
    *how = (struct directive){0};
    for (; *at == '0' || *at == '#'; at++) {
        how->zeros |= *at == '0';
        how->prefix |= *at == '#';
    }
    for (; *at >= '0' && *at <= '9'; at++)
        how->width = how->width * 10 + (uint32_t)(*at - '0');
    for (; *at == 'l' || *at == 'h'; at++)
        how->is_long |= *at == 'l';
    return at;
}

static unsigned long unsigned_of(const struct directive *how, va_list *arguments)
{
    return how->is_long ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned);
}

static void convert(char letter, const struct directive *how, va_list *arguments)
{
    if (letter == 'd' || letter == 'i') {
        const long value = how->is_long ? va_arg(*arguments, long) : va_arg(*arguments, int);
        put_number(how, value < 0 ? 0 - (unsigned long)value : (unsigned long)value, 10, value < 0);
    } else if (letter == 'u' || letter == 'x' || letter == 'X') {
        put_number(how, unsigned_of(how, arguments), letter == 'u' ? 10 : 16, false);
    } else if (letter == 'p') {
        put_number(how, (unsigned long)(uintptr_t)va_arg(*arguments, void *), 16, false);
    } else if (letter == 's') {
        linux_board->puts(va_arg(*arguments, const char *));
    } else {
        put(letter == 'c' ? (char)va_arg(*arguments, int) : letter);
    }
}

// Levels, as of KERN_INFO, are left out.
int printk(const char *format, ...)
{
    va_list arguments;
    struct directive how;
    va_start(arguments, format);
    if (format[0] == '<' && format[1] && format[2] == '>')
        format += 3;
    for (; *format; format++) {
        if (*format != '%') {
            put(*format);
            continue;
        }
        format = parse(format + 1, &how);
        if (!*format)
            break;
        convert(*format, &how, &arguments);
    }
    va_end(arguments);
    return 0;
}
