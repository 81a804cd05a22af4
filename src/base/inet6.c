// SPDX-License-Identifier: BSD-2-Clause
#include "base/inet6.h"

#include "base/bytes.h"

#define ADDRESS_BYTES 16u
#define NO_GAP UINT32_MAX

struct text {
    const char *at, *end;
};

// --- reading -------------------------------------------------------------------------------------------------------

static bool skip(struct text *text, char wanted)
{
    if (text->at == text->end || *text->at != wanted)
        return false;
    text->at++;
    return true;
}

static uint32_t hex_value(char c)
{
    const uint32_t lower = (uint8_t)c | 0x20u;
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0');
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : UINT32_MAX;
}

// One to four hexadecimal digits.
static bool read_group(struct text *text, uint8_t *out)
{
    uint32_t value = 0, digits = 0;
    for (; text->at < text->end && hex_value(*text->at) != UINT32_MAX; text->at++, digits++) {
        if (digits == 4)
            return false;
        value = value << 4 | hex_value(*text->at);
    }
    put16(out, value);
    return digits > 0;
}

// A number up to 255 without a 0 before it, as inet_pton wants.
static bool read_number(struct text *text, uint8_t *out)
{
    uint32_t value = 0, digits = 0;
    for (; text->at < text->end && *text->at >= '0' && *text->at <= '9'; text->at++, digits++) {
        if (digits && !value)
            return false;
        value = value * 10 + (uint32_t)(*text->at - '0');
        if (value > 255)
            return false;
    }
    *out = (uint8_t)value;
    return digits > 0;
}

// All that is left, as four numbers.
static bool read_dotted(struct text *text, uint8_t *out)
{
    for (uint32_t i = 0; i < 4; i++)
        if ((i && !skip(text, '.')) || !read_number(text, out + i))
            return false;
    return text->at == text->end;
}

// A group, or dotted numbers where the text ends; 0: neither, or there is no room for it. Returns its bytes.
static uint32_t read_part(struct text *text, uint8_t *out, uint32_t room)
{
    struct text again = *text;
    if (room < 2 || !read_group(text, out))
        return 0;
    if (text->at == text->end || *text->at != '.')
        return 2;
    *text = again;
    return room >= 4 && read_dotted(text, out) ? 4 : 0;
}

bool inet6_parse(const char *text, uint32_t length, uint8_t out[16])
{
    struct text left = {text, text + length};
    uint8_t bytes[ADDRESS_BYTES] = {0};
    uint32_t filled = 0, gap = NO_GAP;
    if (skip(&left, ':')) {
        if (!skip(&left, ':'))
            return false;
        gap = 0;
    }
    while (left.at < left.end) {
        const uint32_t part = read_part(&left, bytes + filled, ADDRESS_BYTES - filled);
        filled += part;
        if (!part)
            return false;
        if (left.at == left.end)
            break;
        if (!skip(&left, ':') || left.at == left.end)
            return false;
        if (*left.at == ':') {
            if (gap != NO_GAP)
                return false;
            left.at++;
            gap = filled;
        }
    }
    if (gap == NO_GAP ? filled != ADDRESS_BYTES : filled == ADDRESS_BYTES)
        return false;
    memset(out, 0, ADDRESS_BYTES);
    const uint32_t before = min_u32(gap, filled);
    memcpy(out, bytes, before);
    memcpy(out + ADDRESS_BYTES - (filled - before), bytes + before, filled - before);
    return true;
}

// --- writing -------------------------------------------------------------------------------------------------------

static char *write_group(char *at, uint32_t value)
{
    bool begun = false;
    for (int shift = 12; shift >= 0; shift -= 4) {
        const uint32_t digit = value >> shift & 15;
        begun |= digit || !shift;
        if (begun)
            *at++ = "0123456789abcdef"[digit];
    }
    return at;
}

static char *write_number(char *at, uint32_t value)
{
    if (value >= 100)
        *at++ = (char)('0' + value / 100);
    if (value >= 10)
        *at++ = (char)('0' + value / 10 % 10);
    *at++ = (char)('0' + value % 10);
    return at;
}

struct run {
    uint32_t first, count;
};

// §4.2: the longest run of zero groups, of two or more; of several, the first.
static struct run longest_zeros(const uint8_t *address)
{
    struct run longest = {0, 1}, run = {0, 0};
    for (uint32_t i = 0; i < 8; i++) {
        if (get16(address + 2 * i)) {
            run.count = 0;
            continue;
        }
        run.first = run.count ? run.first : i;
        if (++run.count > longest.count)
            longest = run;
    }
    return longest.count > 1 ? longest : (struct run){8, 0};
}

uint32_t inet6_format(const uint8_t address[16], char out[INET6_TEXT_BYTES])
{
    const struct run zeros = longest_zeros(address);
    const bool mapped = zeros.first == 0 && zeros.count == 5 && get16(address + 10) == 0xffff;
    const uint32_t groups = mapped ? 6 : 8;
    char *at = out;
    for (uint32_t i = 0; i < groups; i++) {
        if (i == zeros.first) {
            *at++ = ':';
            i += zeros.count - 1;
            if (i == 7)
                *at++ = ':';
            continue;
        }
        if (i)
            *at++ = ':';
        at = write_group(at, get16(address + 2 * i));
    }
    for (uint32_t i = 12; mapped && i < 16; i++) {
        *at++ = i == 12 ? ':' : '.';
        at = write_number(at, address[i]);
    }
    *at = 0;
    return (uint32_t)(at - out);
}
