// SPDX-License-Identifier: BSD-2-Clause
#include "http/message.h"

#include <stddef.h>

#include "text.h"

int http_line_take(const char *bytes, uint32_t length, uint32_t *at, struct http_line *line, bool *bare)
{
    for (uint32_t i = *at; i < length; i++) {
        const uint8_t c = (uint8_t)bytes[i];
        if (c == '\n') {
            const bool whole = i > *at && bytes[i - 1] == '\r';
            *line = (struct http_line){bytes + *at, (whole ? i - 1 : i) - *at};
            *bare = *bare || !whole;
            *at = i + 1;
            return 1;
        }
        const bool last = i + 1 == length;
        if (c == '\r' ? !last && bytes[i + 1] != '\n' : (c < 0x20 && c != '\t') || c == 0x7f)
            return -400;
    }
    return 0;
}

uint32_t http_line_find(struct http_line line, uint32_t from, char c)
{
    while (from < line.length && line.bytes[from] != c)
        from++;
    return from < line.length ? from : line.length;
}

int http_hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_token_byte(char c)
{
    static const char others[] = "!#$%&'*+-.^_`|~";
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return true;
    for (const char *other = others; *other != '\0'; other++) {
        if (c == *other)
            return true;
    }
    return false;
}

bool http_is_token(struct http_line word)
{
    for (uint32_t i = 0; i < word.length; i++) {
        if (!is_token_byte(word.bytes[i]))
            return false;
    }
    return word.length > 0;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static struct http_line trimmed(struct http_line text)
{
    while (text.length > 0 && is_blank(text.bytes[0]))
        text.bytes++, text.length--;
    while (text.length > 0 && is_blank(text.bytes[text.length - 1]))
        text.length--;
    return text;
}

bool http_field_cut(struct http_line line, struct http_line *name, struct http_line *value)
{
    const uint32_t colon = http_line_find(line, 0, ':');
    *name = (struct http_line){line.bytes, colon};
    if (colon == line.length || !http_is_token(*name))
        return false;
    *value = trimmed((struct http_line){line.bytes + colon + 1, line.length - colon - 1});
    return true;
}

bool http_list_next(struct http_line list, uint32_t *at, struct http_line *item)
{
    if (*at >= list.length)
        return false;
    const uint32_t end = http_line_find(list, *at, ',');
    *item = trimmed((struct http_line){list.bytes + *at, end - *at});
    *at = end + 1;
    return true;
}

bool http_list_has(struct http_line list, const char *item)
{
    struct http_line one;
    for (uint32_t at = 0; http_list_next(list, &at, &one);) {
        if (text_equal_nocase(one.bytes, one.length, item))
            return true;
    }
    return false;
}

bool http_fields_find(struct http_line fields, uint32_t *at, const char *name, struct http_line *value)
{
    struct http_line line, found;
    bool bare = false;
    while (http_line_take(fields.bytes, fields.length, at, &line, &bare) > 0) {
        if (http_field_cut(line, &found, value) && text_equal_nocase(found.bytes, found.length, name))
            return true;
    }
    return false;
}

bool http_is_value(const char *value)
{
    for (; *value != '\0'; value++) {
        if (((uint8_t)*value < 0x20 && *value != '\t') || *value == 0x7f)
            return false;
    }
    return true;
}

static int length_take(struct http_framing *framing, struct http_line value)
{
    uint64_t length;
    if (framing->length_seen || value.length == 0 ||
        text_read_u64(value.bytes, value.length, UINT64_MAX - 1, &length) != value.length)
        return -400;
    framing->length_seen = true;
    framing->length = length;
    return 0;
}

// RFC 9112 §6.1: chunked is the only coding, once; any other leaves the body's end unknown.
static int coding_take(struct http_framing *framing, struct http_line value)
{
    if (framing->coding_seen)
        return -400;
    framing->coding_seen = true;
    framing->chunked = text_equal_nocase(value.bytes, value.length, "chunked");
    return framing->chunked ? 0 : -501;
}

int http_framing_take(struct http_framing *framing, struct http_line name, struct http_line value)
{
    if (text_equal_nocase(name.bytes, name.length, "content-length"))
        return length_take(framing, value);
    if (text_equal_nocase(name.bytes, name.length, "transfer-encoding"))
        return coding_take(framing, value);
    if (!text_equal_nocase(name.bytes, name.length, "connection"))
        return 0;
    struct http_line item;
    for (uint32_t at = 0; http_list_next(value, &at, &item);) {
        if (text_equal_nocase(item.bytes, item.length, "close"))
            framing->keep_alive = false;
        else if (text_equal_nocase(item.bytes, item.length, "keep-alive"))
            framing->keep_alive = true;
    }
    return 0;
}
