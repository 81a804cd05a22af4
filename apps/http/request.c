// SPDX-License-Identifier: BSD-2-Clause
#include "http/request.h"

#include <stddef.h>

#include "text.h"

static const char *const methods[HTTP_METHODS] = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", ""};

const char *http_method_name(enum http_method method)
{
    uint32_t bit = 0;
    while ((1u << bit) != HTTP_OTHER && (1u << bit) != method)
        bit++;
    return methods[bit];
}

static enum http_method method_of(struct http_line name)
{
    uint32_t bit = 0;
    while ((1u << bit) != HTTP_OTHER && !text_equal(name.bytes, name.length, methods[bit]))
        bit++;
    return (enum http_method)(1u << bit);
}

// --- the target ------------------------------------------------------------------------------------------------------

// The byte at *at of a path or query, which is then behind it. -1: a % without two hexadecimal digits.
static int byte_decode(struct http_line text, uint32_t *at, bool *escaped)
{
    const char c = text.bytes[(*at)++];
    *escaped = c == '%';
    if (c != '%')
        return (uint8_t)c;
    if (text.length - *at < 2)
        return -1;
    const int high = http_hex(text.bytes[*at]), low = http_hex(text.bytes[*at + 1]);
    *at += 2;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

// A path that means one thing: whole escapes, no control byte, no backslash, no segment of dots.
static bool path_is_plain(struct http_line path)
{
    uint32_t dots = 0, others = 0;
    bool escaped = false;
    for (uint32_t at = 0; at < path.length;) {
        const int c = byte_decode(path, &at, &escaped);
        if (c < 0x20 || c == 0x7f || c == '\\')
            return false;
        const bool separates = c == '/';
        if (separates && others == 0 && dots > 0 && dots <= 2)
            return false;
        dots = separates ? 0 : dots + (c == '.');
        others = separates ? 0 : others + (c != '.');
    }
    return others > 0 || dots == 0 || dots > 2;
}

static bool target_is_visible(struct http_line target)
{
    for (uint32_t i = 0; i < target.length; i++) {
        if ((uint8_t)target.bytes[i] <= 0x20 || (uint8_t)target.bytes[i] >= 0x7f || target.bytes[i] == '#')
            return false;
    }
    return target.length > 0;
}

static bool is_host_byte(struct http_line value, uint32_t at, uint32_t end)
{
    static const char marks[] = "-._~!$&'()*+;=";
    const char c = value.bytes[at], lower = (char)(c | 0x20);
    if (c == '%')
        return end - at > 2 && http_hex(value.bytes[at + 1]) >= 0 && http_hex(value.bytes[at + 2]) >= 0;
    for (const char *mark = marks; *mark != '\0'; mark++) {
        if (*mark == c)
            return true;
    }
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

// uri-host [":" port] (RFC 3986 §3.2). No comma, which is a name's there, so that nobody takes it for two hosts.
static bool is_host(struct http_line value)
{
    const bool literal = value.length > 0 && value.bytes[0] == '[';
    const uint32_t close = literal ? http_line_find(value, 1, ']') : 0;
    const uint32_t name = literal ? 1 : 0, name_end = literal ? close : http_line_find(value, 0, ':');
    uint32_t at = literal ? close + 1 : name_end;
    if (literal && (close >= value.length || close == 1))
        return false;
    for (uint32_t i = name; i < name_end; i++) {
        if (!is_host_byte(value, i, name_end) && !(literal && value.bytes[i] == ':'))
            return false;
    }
    if (at < value.length && value.bytes[at] == ':')
        while (++at < value.length && value.bytes[at] >= '0' && value.bytes[at] <= '9')
            ;
    return at == value.length;
}

// How long the scheme of an absolute-form is, with what is behind it; 0: the target is none.
static uint32_t scheme_length(struct http_line target)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (uint32_t i = 0; i < 2; i++) {
        const uint32_t length = text_length(schemes[i]);
        if (target.length >= length && text_equal_nocase(target.bytes, length, schemes[i]))
            return length;
    }
    return 0;
}

// origin-form, or absolute-form (RFC 9112 §3.2.2), whose authority has a host (RFC 9110 §4.2.1) and no user (§4.2.4).
static int target_parse(struct http_line target, struct http_request *request)
{
    const uint32_t scheme = scheme_length(target);
    uint32_t at = 0;
    if (!target_is_visible(target))
        return -400;
    if (scheme > 0) {
        const uint32_t slash = http_line_find(target, scheme, '/'), question = http_line_find(target, scheme, '?');
        at = slash < question ? slash : question;  // a slash in the query begins no path
        request->host = (struct http_line){target.bytes + scheme, at - scheme};
        if (at == scheme || target.bytes[scheme] == ':' || !is_host(request->host))
            return -400;
    }
    const uint32_t end = http_line_find(target, at, '?');
    const bool empty = end == at && at > 0;
    request->path = empty ? "/" : target.bytes + at;
    request->path_length = empty ? 1 : end - at;
    if (end < target.length)
        request->query = (struct http_line){target.bytes + end + 1, target.length - end - 1};
    const bool good = request->path_length > 0 && request->path[0] == '/' &&
                      path_is_plain((struct http_line){request->path, request->path_length});
    return good ? 0 : -400;
}

bool http_path_is(const char *path, uint32_t length, const char *pattern)
{
    const struct http_line text = {path, length};
    bool escaped = false;
    for (uint32_t at = 0; at < length; pattern++) {
        if (pattern[0] == '*' && pattern[1] == '\0')
            return true;
        const int c = byte_decode(text, &at, &escaped);
        if (c != (uint8_t)*pattern || c <= 0 || (escaped && c == '/'))
            return false;
    }
    return *pattern == '\0' || (pattern[0] == '*' && pattern[1] == '\0');
}

static int value_decode(struct http_line value, char *out, uint32_t room)
{
    uint32_t length = 0;
    bool escaped = false;
    for (uint32_t at = 0; at < value.length; length++) {
        const int c = byte_decode(value, &at, &escaped);
        if (c <= 0 || length + 1 >= room)
            return -1;
        out[length] = c == '+' && !escaped ? ' ' : (char)c;
    }
    out[length] = '\0';
    return (int)length;
}

int http_query_get(const struct http_request *request, const char *name, char *out, uint32_t room)
{
    for (uint32_t at = 0; at < request->query.length;) {
        const uint32_t end = http_line_find(request->query, at, '&');
        const struct http_line pair = {request->query.bytes + at, end - at};
        const uint32_t equals = http_line_find(pair, 0, '=');
        const uint32_t behind = equals < pair.length ? equals + 1 : equals;
        if (text_equal(pair.bytes, equals, name))
            return value_decode((struct http_line){pair.bytes + behind, pair.length - behind}, out, room);
        at = end + 1;
    }
    return -1;
}

// --- lines -----------------------------------------------------------------------------------------------------------

static int request_line_parse(struct http_line line, struct http_request *request)
{
    const uint32_t method = http_line_find(line, 0, ' '), target = http_line_find(line, method + 1, ' ');
    if (target >= line.length || !http_is_token((struct http_line){line.bytes, method}))
        return -400;
    const char *version = line.bytes + target + 1;
    const uint32_t version_length = line.length - target - 1;
    if (version_length != 8 || !text_equal(version, 5, "HTTP/") || version[6] != '.')
        return -400;
    if (version[5] != '1' || version[7] < '0' || version[7] > '9')
        return -505;
    request->http11 = version[7] != '0';
    request->method = method_of((struct http_line){line.bytes, method});
    if (request->method == HTTP_OPTIONS && text_equal(line.bytes + method + 1, target - method - 1, "*")) {
        request->path = "/";
        request->path_length = 1;
        return 0;
    }
    return target_parse((struct http_line){line.bytes + method + 1, target - method - 1}, request);
}

// "bytes=a-b", "bytes=a-", "bytes=-n". Anything else, several ranges too, leaves `ranged` false.
static void range_parse(struct http_line value, struct http_request *request)
{
    request->ranged = request->from_end = false;  // nothing is left of a field before it
    if (value.length < 7 || !text_equal_nocase(value.bytes, 6, "bytes="))
        return;
    uint32_t at = 6, digits = text_read_u64(value.bytes + at, value.length - at, UINT64_MAX - 1, &request->first);
    at += digits;
    if (at >= value.length || value.bytes[at] != '-')
        return;
    at++;
    request->last = UINT64_MAX;
    uint64_t second;
    uint32_t second_digits = text_read_u64(value.bytes + at, value.length - at, UINT64_MAX - 1, &second);
    if (at + second_digits != value.length || digits + second_digits == 0)
        return;
    if (digits == 0) {
        request->from_end = true;
        request->first = second;
    } else if (second_digits > 0) {
        if (second < request->first)
            return;
        request->last = second;
    }
    request->ranged = true;
}

struct seen {
    struct http_framing framing;
    bool host, odd_expectation;
};

static int field_parse(struct http_line line, struct http_request *request, struct seen *seen)
{
    struct http_line name, value;
    if (!http_field_cut(line, &name, &value))
        return -400;
    if (text_equal_nocase(name.bytes, name.length, "host")) {
        if (seen->host || !is_host(value))
            return -400;
        seen->host = true;
        request->host = request->host.length > 0 ? request->host : value;  // an absolute-form's goes before (§3.2.2)
    } else if (text_equal_nocase(name.bytes, name.length, "range")) {
        range_parse(value, request);
    } else if (text_equal_nocase(name.bytes, name.length, "if-range")) {
        request->if_range = value.bytes;
        request->if_range_length = value.length;
    } else if (text_equal_nocase(name.bytes, name.length, "expect")) {
        request->expects = request->http11 && text_equal_nocase(value.bytes, value.length, "100-continue");
        seen->odd_expectation = request->http11 && !request->expects;
    }
    return http_framing_take(&seen->framing, name, value);
}

// What the fields mean together. RFC 9112 §6.3: a length beside a coding is a smuggled request; HTTP/1.0 has no
// codings. A header whose lines some programs do not see as lines must not be followed by a body.
static int whole_check(struct http_request *request, const struct seen *seen, bool bare)
{
    const struct http_framing *framing = &seen->framing;
    request->keep_alive = framing->keep_alive;
    request->chunked = framing->chunked;
    request->body_length = framing->length;
    if (framing->chunked && (framing->length_seen || !request->http11))
        return -400;
    if (bare && (framing->chunked || framing->length > 0))
        return -400;
    if (request->http11 && !seen->host)
        return -400;
    return seen->odd_expectation ? -417 : 0;
}

static int too_long(bool in_request_line) { return in_request_line ? -414 : -431; }

int http_request_parse(const char *bytes, uint32_t length, uint32_t limit, struct http_request *request)
{
    struct http_line line;
    struct seen seen = {0};
    uint32_t at = 0, fields_at = 0;
    bool first = true, bare = false;
    int unbuilt = 0;
    *request = (struct http_request){0};
    for (;;) {
        const uint32_t line_at = at;
        int taken = http_line_take(bytes, length < limit ? length : limit, &at, &line, &bare);
        if (taken == 0)
            return length >= limit ? too_long(first) : 0;
        if (taken < 0)
            return taken;
        if (first && line.length == 0)
            continue;  // RFC 9112 §2.2: empty lines before a request are ignored; the limit bounds them
        if (line.length == 0) {
            request->fields = (struct http_line){bytes + fields_at, line_at - fields_at};
            break;
        }
        int error = first ? request_line_parse(line, request) : field_parse(line, request, &seen);
        if (first)
            seen.framing.keep_alive = request->http11, fields_at = at;
        first = false;
        unbuilt = error == -501 ? -501 : unbuilt;  // a length behind it makes it worse
        if (error != 0 && error != -501)
            return error;
    }
    if (unbuilt != 0)
        return seen.framing.length_seen || !request->http11 ? -400 : unbuilt;
    const int error = whole_check(request, &seen, bare);
    return error != 0 ? error : (int)at;
}

bool http_request_field(const struct http_request *request, const char *name, struct http_line *value)
{
    uint32_t at = 0;
    return http_fields_find(request->fields, &at, name, value);
}
