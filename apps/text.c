// SPDX-License-Identifier: BSD-2-Clause
#include "text.h"

void text_init(struct text *text, char *bytes, uint32_t room)
{
    text->bytes = bytes;
    text->length = 0;
    text->room = room;
    text->cut = false;
    bytes[0] = '\0';
}

void text_char(struct text *text, char c)
{
    if (text->length + 1 >= text->room) {
        text->cut = true;
        return;
    }
    text->bytes[text->length++] = c;
    text->bytes[text->length] = '\0';
}

void text_put(struct text *text, const char *string)
{
    while (*string != '\0')
        text_char(text, *string++);
}

void text_bytes(struct text *text, const char *bytes, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        text_char(text, bytes[i]);
}

void text_fixed(struct text *text, uint64_t value, unsigned decimals)
{
    char digits[24];
    unsigned count = 0;
    do {
        digits[count++] = (char)('0' + value % 10);
        value /= 10;
    } while ((value != 0 || count <= decimals) && count < sizeof digits);
    while (count > 0) {
        text_char(text, digits[--count]);
        if (count == decimals && count > 0)
            text_char(text, '.');
    }
}

void text_u64(struct text *text, uint64_t value) { text_fixed(text, value, 0); }

void text_i64(struct text *text, int64_t value)
{
    if (value < 0)
        text_char(text, '-');
    text_u64(text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void text_padded(struct text *text, uint32_t value, unsigned digits)
{
    char out[10];
    const unsigned count = digits < sizeof out ? digits : sizeof out;
    for (unsigned i = count; i > 0; value /= 10)
        out[--i] = (char)('0' + value % 10);
    text_bytes(text, out, count);
}

void text_clock(struct text *text, uint32_t hour, uint32_t minute, uint32_t second)
{
    text_padded(text, hour, 2);
    text_char(text, ':');
    text_padded(text, minute, 2);
    text_char(text, ':');
    text_padded(text, second, 2);
}

void text_pad(struct text *text, uint32_t start, uint32_t column)
{
    while (text->length - start < column && !text->cut)
        text_char(text, ' ');
}

void text_right(struct text *text, uint32_t start, uint32_t column)
{
    uint32_t wide = text->length - start;
    if (wide >= column || text->cut)
        return;
    uint32_t shift = column - wide;
    for (uint32_t i = 0; i < shift; i++)
        text_char(text, ' ');
    if (text->cut)
        return;
    for (uint32_t i = text->length; i > start + shift; i--)
        text->bytes[i - 1] = text->bytes[i - 1 - shift];
    for (uint32_t i = 0; i < shift; i++)
        text->bytes[start + i] = ' ';
}

void text_hex(struct text *text, uint32_t value, unsigned digits)
{
    while (digits > 0)
        text_char(text, "0123456789abcdef"[value >> (4 * --digits) & 15]);
}

void text_json(struct text *text, const char *string)
{
    text_char(text, '"');
    for (; *string != '\0'; string++) {
        uint8_t c = (uint8_t)*string;
        if (c < 0x20 || c > 0x7e) {
            text_put(text, "\\u");
            text_hex(text, c, 4);
        } else {
            if (c == '"' || c == '\\')
                text_char(text, '\\');
            text_char(text, (char)c);
        }
    }
    text_char(text, '"');
}

#if WEIR_CFG_IP6
void text_addr(struct text *text, struct weir_addr addr)
{
    char written[WEIR_ADDR_TEXT_BYTES];
    text_bytes(text, written, weir_addr_write(addr, written));
}
#else
void text_addr(struct text *text, struct weir_addr addr)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        text_u64(text, weir_addr_to_v4(addr) >> shift & 255);
        if (shift > 0)
            text_char(text, '.');
    }
}
#endif

// An IPv6 address stands in brackets before its port (RFC 3986 §3.2.2).
void text_endpoint(struct text *text, const struct weir_endpoint *endpoint)
{
    const bool v4 = weir_addr_is_v4(endpoint->addr);
    text_put(text, v4 ? "" : "[");
    text_addr(text, endpoint->addr);
    text_put(text, v4 ? ":" : "]:");
    text_u64(text, endpoint->port);
}

void text_mac(struct text *text, const uint8_t mac[6])
{
    for (int i = 0; i < 6; i++) {
        if (i > 0)
            text_char(text, ':');
        text_hex(text, mac[i], 2);
    }
}

uint32_t text_length(const char *string)
{
    uint32_t length = 0;
    while (string[length] != '\0')
        length++;
    return length;
}

bool text_equal(const char *bytes, uint32_t length, const char *string)
{
    uint32_t i = 0;
    for (; i < length && string[i] != '\0'; i++) {
        if (bytes[i] != string[i])
            return false;
    }
    return i == length && string[i] == '\0';
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool text_bytes_equal_nocase(const char *a, uint32_t a_length, const char *b, uint32_t b_length)
{
    if (a_length != b_length)
        return false;
    for (uint32_t i = 0; i < a_length; i++) {
        if (lower(a[i]) != lower(b[i]))
            return false;
    }
    return true;
}

bool text_equal_nocase(const char *bytes, uint32_t length, const char *string)
{
    return text_bytes_equal_nocase(bytes, length, string, text_length(string));
}

uint32_t text_read_u64(const char *bytes, uint32_t length, uint64_t max, uint64_t *value)
{
    uint64_t number = 0;
    uint32_t i = 0;
    for (; i < length && bytes[i] >= '0' && bytes[i] <= '9'; i++) {
        uint64_t digit = (uint64_t)(bytes[i] - '0');
        if (number > max / 10 || number * 10 > max - digit)
            return 0;
        number = number * 10 + digit;
    }
    if (i > 0)
        *value = number;
    return i;
}

bool text_read_addr(const char *bytes, uint32_t length, struct weir_addr *addr)
{
    uint32_t at = 0, result = 0;
    for (int part = 0; part < 4; part++) {
        uint64_t octet;
        uint32_t digits = text_read_u64(bytes + at, length - at, 255, &octet);
        if (digits == 0 || digits > 3)
            return false;
        result = result << 8 | (uint32_t)octet;
        at += digits;
        if (part < 3 && (at >= length || bytes[at++] != '.'))
            return false;
    }
    *addr = weir_addr_v4(result);
    return at == length;
}
