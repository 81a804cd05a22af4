// SPDX-License-Identifier: BSD-2-Clause
// C's conversions into text, for the console or for memory.
#include "api/linux_netdev/printk.h"

#include <string.h>

#include "api/linux_netdev/internal.h"

#define DIGITS 24  // of the largest number in octal, and more
#define CHUNK 64   // goes to the console at once

struct sink {
    char *to;  // NULL: the console
    int count;
    uint32_t held;
    char chunk[CHUNK + 1];
};

struct directive {
    int width, precision;  // negative: no precision
    bool left, plus, space, prefix, zeros, is_long, is_short;
};

static void release(struct sink *sink)
{
    sink->chunk[sink->held] = 0;
    linux_board->puts(sink->chunk);
    sink->held = 0;
}

static void put(struct sink *sink, char letter)
{
    if (sink->to) {
        sink->to[sink->count] = letter;
    } else {
        sink->chunk[sink->held++] = letter;
        if (sink->held == CHUNK)
            release(sink);
    }
    sink->count++;
}

static void repeat(struct sink *sink, char letter, int times)
{
    for (; times > 0; times--)
        put(sink, letter);
}

static void put_text(struct sink *sink, const char *text, int length)
{
    for (int i = 0; i < length; i++)
        put(sink, text[i]);
}

static void put_string(struct sink *sink, const struct directive *how, const char *text)
{
    int length = 0;
    if (!text)
        text = "<NULL>";
    while (text[length] && length != how->precision)
        length++;
    repeat(sink, ' ', how->left ? 0 : how->width - length);
    put_text(sink, text, length);
    repeat(sink, ' ', how->left ? how->width - length : 0);
}

// As Linux 2.0 does it: the prefix also of zero.
static void put_number(struct sink *sink, const struct directive *how, unsigned long value, char letter, char sign)
{
    const char *const letters = letter == 'X' ? "0123456789ABCDEF" : "0123456789abcdef";
    const unsigned base = letter == 'o' ? 8 : letter == 'd' || letter == 'u' ? 10 : 16;
    const char prefix[3] = {sign ? sign : '0', letter, 0};
    const int prefixed = sign ? 1 : !how->prefix || base == 10 ? 0 : base == 8 ? 1 : 2;
    char digits[DIGITS];
    int at = DIGITS;
    do
        digits[--at] = letters[value % base];
    while (value /= base);
    const int count = DIGITS - at;
    const bool filled = how->zeros && !how->left && how->precision < 0;
    const int least = filled ? how->width - prefixed : how->precision;
    const int zeros = least > count ? least - count : 0;
    const int blanks = how->width - prefixed - zeros - count;
    repeat(sink, ' ', how->left ? 0 : blanks);
    put_text(sink, prefix, prefixed);
    repeat(sink, '0', zeros);
    put_text(sink, digits + at, count);
    repeat(sink, ' ', how->left ? blanks : 0);
}

static int number_at(const char **at, va_list *arguments)
{
    int number = 0;
    if (**at == '*') {
        ++*at;
        return va_arg(*arguments, int);
    }
    for (; **at >= '0' && **at <= '9'; ++*at)
        number = number * 10 + **at - '0';
    return number;
}

static const char *parse(const char *at, struct directive *how, va_list *arguments)
{
    *how = (struct directive){.precision = -1};
    for (; *at && strchr("-+ #0", *at); at++) {
        how->left |= *at == '-';
        how->plus |= *at == '+';
        how->space |= *at == ' ';
        how->prefix |= *at == '#';
        how->zeros |= *at == '0';
    }
    how->width = number_at(&at, arguments);
    if (how->width < 0) {
        how->left = true;
        how->width = -how->width;
    }
    if (*at == '.') {
        at++;
        how->precision = number_at(&at, arguments);
    }
    for (; *at && strchr("hlL", *at); at++) {
        how->is_long |= *at != 'h';
        how->is_short |= *at == 'h';
    }
    return at;
}

static void put_signed(struct sink *sink, const struct directive *how, va_list *arguments)
{
    long value = how->is_long ? va_arg(*arguments, long) : va_arg(*arguments, int);
    if (how->is_short)
        value = (short)value;
    const char sign = value < 0 ? '-' : how->plus ? '+' : how->space ? ' ' : 0;
    put_number(sink, how, value < 0 ? 0 - (unsigned long)value : (unsigned long)value, 'd', sign);
}

static void put_unsigned(struct sink *sink, const struct directive *how, char letter, va_list *arguments)
{
    const unsigned long value = how->is_long ? va_arg(*arguments, unsigned long) : va_arg(*arguments, unsigned);
    put_number(sink, how, how->is_short ? (unsigned short)value : value, letter, 0);
}

static void put_pointer(struct sink *sink, struct directive *how, const void *pointer)
{
    how->zeros = true;
    how->width = how->width ? how->width : 2 * (int)sizeof pointer;
    put_number(sink, how, (unsigned long)(uintptr_t)pointer, 'x', 0);
}

static void convert(struct sink *sink, char letter, struct directive *how, va_list *arguments)
{
    if (letter == 'd' || letter == 'i') {
        put_signed(sink, how, arguments);
    } else if (letter == 'u' || letter == 'x' || letter == 'X' || letter == 'o') {
        put_unsigned(sink, how, letter, arguments);
    } else if (letter == 'p') {
        put_pointer(sink, how, va_arg(*arguments, const void *));
    } else if (letter == 's') {
        put_string(sink, how, va_arg(*arguments, const char *));
    } else if (letter == 'c') {
        const char text[2] = {(char)va_arg(*arguments, int), 0};
        put_string(sink, how, text);
    } else {
        put(sink, letter);
    }
}

static bool is_level(const char *at) { return at[0] == '<' && at[1] >= '0' && at[1] <= '7' && at[2] == '>'; }

// On the console levels, as of KERN_INFO, are left out at the beginning of a line.
static void format_text(struct sink *sink, const char *format, va_list *arguments)
{
    bool begins = !sink->to;
    for (; *format; format++) {
        if (begins && is_level(format))
            format += 3;
        begins = !sink->to && *format == '\n';
        if (!*format)
            return;
        if (*format != '%') {
            put(sink, *format);
            continue;
        }
        struct directive how;
        format = parse(format + 1, &how, arguments);
        if (!*format)
            return;
        convert(sink, *format, &how, arguments);
    }
}

static int print(const char *format, va_list *arguments)
{
    struct sink sink = {.to = NULL};
    format_text(&sink, format, arguments);
    release(&sink);
    return sink.count;
}

int printk(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int count = print(format, &arguments);
    va_end(arguments);
    return count;
}

int linux_vsprintf(char *to, const char *format, va_list arguments)
{
    struct sink sink = {.to = to};
    va_list copy;
    va_copy(copy, arguments);
    format_text(&sink, format, &copy);
    va_end(copy);
    to[sink.count] = 0;
    return sink.count;
}

int linux_sprintf(char *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int count = linux_vsprintf(to, format, arguments);
    va_end(arguments);
    return count;
}

void panic(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    linux_board->puts("Kernel panic: ");
    (void)print(format, &arguments);
    linux_board->puts("\n");
    va_end(arguments);
    for (;;)
        ;
}

static unsigned digit_of(char letter)
{
    if (letter >= '0' && letter <= '9')
        return (unsigned)(letter - '0');
    const char small = (char)(letter | 0x20);
    return small >= 'a' && small <= 'z' ? (unsigned)(small - 'a') + 10 : 36;
}

unsigned long simple_strtoul(const char *text, char **end, unsigned base)
{
    unsigned long value = 0;
    const bool hexadecimal = text[0] == '0' && (text[1] | 0x20) == 'x';
    if (!base)
        base = hexadecimal ? 16 : text[0] == '0' ? 8 : 10;
    if (base == 16 && hexadecimal)
        text += 2;
    for (; digit_of(*text) < base; text++)
        value = value * base + digit_of(*text);
    if (end)
        *end = (char *)(uintptr_t)text;
    return value;
}
