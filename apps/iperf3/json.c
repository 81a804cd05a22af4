// SPDX-License-Identifier: BSD-2-Clause
#include "iperf3/json.h"

#include "text.h"

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static uint32_t skip_blanks(struct json json, uint32_t at)
{
    while (at < json.length && is_blank(json.text[at]))
        at++;
    return at;
}

// Behind the string whose opening quote is at `at`; 0: it does not end.
static uint32_t skip_string(struct json json, uint32_t at)
{
    for (at++; at < json.length; at++) {
        if (json.text[at] == '"')
            return at + 1;
        if (json.text[at] == '\\')
            at++;
    }
    return 0;
}

static bool is_scalar(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' ||
           c == '.';
}

// Behind the value that begins at `at`; 0: malformed. Brackets are matched in kind, JSON_DEPTH deep.
static uint32_t skip_value(struct json json, uint32_t at)
{
    char closing[JSON_DEPTH];
    uint32_t depth = 0;
    do {
        at = skip_blanks(json, at);
        if (at >= json.length)
            return 0;
        char c = json.text[at];
        if (c == '"') {
            at = skip_string(json, at);
            if (at == 0)
                return 0;
        } else if (c == '{' || c == '[') {
            if (depth == JSON_DEPTH)
                return 0;
            closing[depth++] = c == '{' ? '}' : ']';
            at++;
        } else if (depth > 0 && c == closing[depth - 1]) {
            depth--;
            at++;
        } else if (depth > 0 && (c == ',' || c == ':')) {
            at++;
        } else if (is_scalar(c)) {
            while (at < json.length && is_scalar(json.text[at]))
                at++;
        } else {
            return 0;
        }
    } while (depth > 0);
    return at;
}

bool json_read(const char *text, uint32_t length, struct json *value)
{
    struct json whole = {text, length};
    uint32_t from = skip_blanks(whole, 0), end = skip_value(whole, from);
    if (end == 0 || skip_blanks(whole, end) != length)
        return false;
    *value = (struct json){text + from, end - from};
    return true;
}

// Takes the value at `at` and the comma behind it. Returns where the next begins; 0: malformed.
static uint32_t take(struct json json, uint32_t at, struct json *value)
{
    at = skip_blanks(json, at);
    uint32_t end = skip_value(json, at);
    if (end == 0)
        return 0;
    *value = (struct json){json.text + at, end - at};
    return skip_blanks(json, end);
}

bool json_member(struct json object, const char *key, struct json *value)
{
    if (object.length < 2 || object.text[0] != '{')
        return false;
    struct json name;
    for (uint32_t at = 1; at < object.length - 1;) {
        at = take(object, at, &name);
        if (at == 0 || name.text[0] != '"' || at >= object.length || object.text[at] != ':')
            return false;
        at = take(object, at + 1, value);
        if (at == 0 || at >= object.length)
            return false;
        if (text_equal(name.text + 1, name.length - 2, key))
            return true;
        if (object.text[at] != ',')
            return false;
        at++;
    }
    return false;
}

bool json_element(struct json array, uint32_t *cursor, struct json *value)
{
    if (array.length < 2 || array.text[0] != '[')
        return false;
    uint32_t at = *cursor == 0 ? 1 : *cursor;
    if (skip_blanks(array, at) >= array.length - 1)
        return false;
    at = take(array, at, value);
    if (at == 0 || at >= array.length || (array.text[at] != ',' && at != array.length - 1))
        return false;
    *cursor = at + 1;
    return true;
}

// The exponent behind 'e'. false: none is there, or it is absurd.
static bool read_exponent(struct json value, uint32_t at, int *exponent)
{
    uint64_t number;
    bool negative = at < value.length && value.text[at] == '-';
    if (at < value.length && (negative || value.text[at] == '+'))
        at++;
    uint32_t digits = text_read_u64(value.text + at, value.length - at, 400, &number);
    *exponent = negative ? -(int)number : (int)number;
    return digits > 0 && at + digits == value.length;
}

bool json_number(struct json value, unsigned decimals, int64_t *out)
{
    bool negative = value.length > 0 && value.text[0] == '-';
    uint32_t at = negative;
    uint64_t mantissa = 0;
    int exponent = (int)decimals, written = 0;
    bool point = false, digits = false;
    for (; at < value.length; at++) {
        char c = value.text[at];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9')
            break;
        digits = true;
        if (mantissa > (UINT64_MAX - 9) / 10)
            exponent += !point;  // further digits are beyond what 64 bits tell apart
        else
            mantissa = mantissa * 10 + (uint64_t)(c - '0'), exponent -= point;
    }
    if (!digits || (at < value.length && ((value.text[at] | 0x20) != 'e' || !read_exponent(value, at + 1, &written))))
        return false;
    for (exponent += written; exponent < 0 && mantissa != 0; exponent++)
        mantissa /= 10;
    for (; exponent > 0 && mantissa != 0; exponent--) {
        if (mantissa > INT64_MAX / 10)
            return false;
        mantissa *= 10;
    }
    if (mantissa > INT64_MAX)
        return false;
    *out = negative ? -(int64_t)mantissa : (int64_t)mantissa;
    return true;
}

bool json_true(struct json value)
{
    int64_t number;
    return text_equal(value.text, value.length, "true") || (json_number(value, 0, &number) && number != 0);
}

bool json_string(struct json value, char *out, uint32_t room)
{
    if (value.length < 2 || value.text[0] != '"' || value.length - 2 >= room)
        return false;
    for (uint32_t i = 0; i < value.length - 2; i++) {
        if (value.text[i + 1] == '\\')
            return false;
        out[i] = value.text[i + 1];
    }
    out[value.length - 2] = '\0';
    return true;
}

int64_t json_get(struct json object, const char *key, unsigned decimals, int64_t otherwise)
{
    struct json value;
    int64_t number;
    return json_member(object, key, &value) && json_number(value, decimals, &number) ? number : otherwise;
}

bool json_get_true(struct json object, const char *key)
{
    struct json value;
    return json_member(object, key, &value) && json_true(value);
}
