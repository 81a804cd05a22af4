// SPDX-License-Identifier: BSD-2-Clause
#include "http/request.h"

#include <stddef.h>

#include "text.h"

struct line {
    const char *bytes;
    uint32_t length;  // without its CR LF
};

struct seen {
    bool host, length, coding;
};

// Takes the line at *at. RFC 9112 §2.2: a bare LF may end a line; a bare CR, NUL or other control byte in it is
// refused. 1: taken; 0: it goes on beyond the bytes; -400.
static int line_take(const char *bytes, uint32_t length, uint32_t *at, struct line *line)
{
    for (uint32_t i = *at; i < length; i++) {
        uint8_t c = (uint8_t)bytes[i];
        if (c == '\n') {
            uint32_t end = i > *at && bytes[i - 1] == '\r' ? i - 1 : i;
            *line = (struct line){bytes + *at, end - *at};
            *at = i + 1;
            return 1;
        }
        bool last = i + 1 == length;
        if (c == '\r' ? !last && bytes[i + 1] != '\n' : (c < 0x20 && c != '\t') || c == 0x7f)
            return -400;
    }
    return 0;
}

static bool is_token(char c)
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

static uint32_t find(struct line line, uint32_t from, char c)
{
    while (from < line.length && line.bytes[from] != c)
        from++;
    return from;
}

// origin-form, or absolute-form with whatever authority (RFC 9112 §3.2.2).
static int target_parse(struct line target, struct http_request *request)
{
    uint32_t at = 0;
    if (target.length == 0)
        return -400;
    if (target.length > 7 && text_equal_nocase(target.bytes, 7, "http://")) {
        const uint32_t slash = find(target, 7, '/'), question = find(target, 7, '?');
        at = slash < question ? slash : target.length;  // a slash in the query begins no path
    }
    uint32_t end = find(target, at, '?');
    request->path = at < target.length ? target.bytes + at : "/";
    request->path_length = at < target.length ? end - at : 1;
    return request->path_length > 0 && request->path[0] == '/' ? 0 : -400;
}

static int request_line_parse(struct line line, struct http_request *request)
{
    uint32_t method = find(line, 0, ' '), target = find(line, method + 1, ' ');
    if (method == 0 || target >= line.length)
        return -400;
    for (uint32_t i = 0; i < method; i++) {
        if (!is_token(line.bytes[i]))
            return -400;
    }
    const char *version = line.bytes + target + 1;
    uint32_t version_length = line.length - target - 1;
    if (version_length != 8 || !text_equal(version, 5, "HTTP/") || version[6] != '.')
        return -400;
    if (version[5] != '1' || version[7] < '0' || version[7] > '9')
        return -505;
    request->keep_alive = version[7] != '0';
    request->method = text_equal(line.bytes, method, "GET")    ? HTTP_GET
                      : text_equal(line.bytes, method, "HEAD") ? HTTP_HEAD
                                                               : HTTP_OTHER;
    if (request->method == HTTP_OTHER && text_equal(line.bytes + method + 1, target - method - 1, "*")) {
        request->path = "/";  // OPTIONS *
        request->path_length = 1;
        return 0;
    }
    return target_parse((struct line){line.bytes + method + 1, target - method - 1}, request);
}

// "bytes=a-b", "bytes=a-", "bytes=-n". Anything else, several ranges too, leaves `ranged` false.
static void range_parse(struct line value, struct http_request *request)
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

static void connection_parse(struct line value, struct http_request *request)
{
    for (uint32_t at = 0; at < value.length;) {
        uint32_t end = find(value, at, ',');
        uint32_t from = at, to = end;
        while (from < to && (value.bytes[from] == ' ' || value.bytes[from] == '\t'))
            from++;
        while (to > from && (value.bytes[to - 1] == ' ' || value.bytes[to - 1] == '\t'))
            to--;
        if (text_equal_nocase(value.bytes + from, to - from, "close"))
            request->keep_alive = false;
        else if (text_equal_nocase(value.bytes + from, to - from, "keep-alive"))
            request->keep_alive = true;
        at = end + 1;
    }
}

static int length_parse(struct line value, struct http_request *request, struct seen *seen)
{
    uint64_t length;
    if (seen->length || value.length == 0 ||
        text_read_u64(value.bytes, value.length, UINT64_MAX - 1, &length) != value.length)
        return -400;
    seen->length = true;
    request->body_length = length;
    return 0;
}

static int field_parse(struct line line, struct http_request *request, struct seen *seen)
{
    uint32_t colon = find(line, 0, ':');
    if (colon == 0 || colon == line.length)
        return -400;
    for (uint32_t i = 0; i < colon; i++) {
        if (!is_token(line.bytes[i]))
            return -400;  // also a folded line, which begins with a blank (RFC 9112 §5.2)
    }
    struct line value = {line.bytes + colon + 1, line.length - colon - 1};
    while (value.length > 0 && (value.bytes[0] == ' ' || value.bytes[0] == '\t'))
        value.bytes++, value.length--;
    while (value.length > 0 && (value.bytes[value.length - 1] == ' ' || value.bytes[value.length - 1] == '\t'))
        value.length--;
    if (text_equal_nocase(line.bytes, colon, "host")) {
        if (seen->host)
            return -400;
        seen->host = true;
    } else if (text_equal_nocase(line.bytes, colon, "content-length")) {
        return length_parse(value, request, seen);
    } else if (text_equal_nocase(line.bytes, colon, "transfer-encoding")) {
        seen->coding = true;
    } else if (text_equal_nocase(line.bytes, colon, "connection")) {
        connection_parse(value, request);
    } else if (text_equal_nocase(line.bytes, colon, "range")) {
        range_parse(value, request);
    } else if (text_equal_nocase(line.bytes, colon, "if-range")) {
        request->if_range = value.bytes;
        request->if_range_length = value.length;
    }
    return 0;
}

static int too_long(bool in_request_line) { return in_request_line ? -414 : -431; }

int http_request_parse(const char *bytes, uint32_t length, uint32_t limit, struct http_request *request)
{
    struct line line;
    struct seen seen = {0};
    uint32_t at = 0;
    bool first = true, http11 = false;
    *request = (struct http_request){0};
    for (;;) {
        int taken = line_take(bytes, length < limit ? length : limit, &at, &line);
        if (taken == 0)
            return length >= limit ? too_long(first) : 0;
        if (taken < 0)
            return taken;
        int error = 0;
        if (first && line.length == 0)
            continue;  // RFC 9112 §2.2: empty lines before a request are ignored; the limit bounds them
        if (line.length == 0)
            break;
        error = first ? request_line_parse(line, request) : field_parse(line, request, &seen);
        http11 = first ? request->keep_alive : http11;
        first = false;
        if (error != 0)
            return error;
    }
    if (seen.coding)
        return seen.length ? -400 : -501;  // both: a smuggled request (RFC 9112 §6.3); one alone: not built
    if (http11 && !seen.host)
        return -400;
    return (int)at;
}

int http_range_apply(const struct http_request *request, uint64_t size, uint64_t *first, uint64_t *count)
{
    *first = 0;
    *count = size;
    if (!request->ranged)
        return 200;
    if (request->from_end) {
        uint64_t tail = request->first < size ? request->first : size;
        *first = size - tail;
        *count = tail;
        return tail == 0 ? 416 : 206;
    }
    if (request->first >= size)
        return 416;
    uint64_t last = request->last < size - 1 ? request->last : size - 1;
    *first = request->first;
    *count = last - request->first + 1;
    return 206;
}
