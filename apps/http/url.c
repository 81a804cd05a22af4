// SPDX-License-Identifier: BSD-2-Clause
#include "http/url.h"

#include <string.h>

#include "http/message.h"
#include "text.h"

#define URL_MAX (HTTP_HOST_MAX + HTTP_PATH_MAX + 16u)

static uint32_t find_of(struct http_line text, uint32_t from, const char *set)
{
    for (; from < text.length; from++) {
        for (const char *c = set; *c != '\0'; c++) {
            if (text.bytes[from] == *c)
                return from;
        }
    }
    return text.length;
}

static bool copy(char *out, uint32_t room, struct http_line text)
{
    if (text.length == 0 || text.length >= room)
        return false;
    memcpy(out, text.bytes, text.length);
    out[text.length] = '\0';
    return true;
}

// host, host:port, [address]:port
static bool authority_take(struct http_line text, struct http_url *url)
{
    uint32_t end = http_line_find(text, 0, ':');
    struct http_line host = {text.bytes, end};
    url->bracketed = text.length > 0 && text.bytes[0] == '[';
    if (url->bracketed) {
        const uint32_t close = http_line_find(text, 0, ']');
        if (close == text.length || (close + 1 < text.length && text.bytes[close + 1] != ':'))
            return false;
        host = (struct http_line){text.bytes + 1, close - 1};
        end = close + 1;
    }
    url->port = url->secure ? 443 : 80;
    if (end + 1 < text.length) {
        uint64_t port;
        const uint32_t digits = text.length - end - 1;
        if (text_read_u64(text.bytes + end + 1, digits, 65535, &port) != digits || port == 0)
            return false;
        url->port = (uint16_t)port;
    }
    return http_line_find(text, 0, '@') == text.length && copy(url->host, sizeof url->host, host);
}

static bool is_clean(struct http_line text)
{
    for (uint32_t i = 0; i < text.length; i++) {
        if ((uint8_t)text.bytes[i] <= ' ' || (uint8_t)text.bytes[i] > '~')
            return false;
    }
    return text.length > 0;
}

// The path: "/" before a query that has none.
static bool path_take(struct http_line text, struct http_url *url)
{
    text.length = http_line_find(text, 0, '#');
    const uint32_t slash = text.length == 0 || text.bytes[0] == '?';
    url->path[0] = '/';
    if (text.length + slash >= sizeof url->path)
        return false;
    memcpy(url->path + slash, text.bytes, text.length);
    url->path[text.length + slash] = '\0';
    return true;
}

static bool url_take(struct http_line text, struct http_url *url)
{
    url->secure = text.length > 8 && text_equal_nocase(text.bytes, 8, "https://");
    if (!url->secure && !(text.length > 7 && text_equal_nocase(text.bytes, 7, "http://")))
        return false;
    const uint32_t begin = url->secure ? 8 : 7, end = find_of(text, begin, "/?#");
    return is_clean(text) && authority_take((struct http_line){text.bytes + begin, end - begin}, url) &&
           path_take((struct http_line){text.bytes + end, text.length - end}, url);
}

bool http_url_parse(const char *text, struct http_url *url)
{
    return url_take((struct http_line){text, text_length(text)}, url);
}

// RFC 3986 §5.2.4: takes "." and ".." out of a path, up to its query.
static void dots_remove(char *path)
{
    uint32_t out = 0, at = 0;
    while (path[at] == '/') {
        uint32_t end = at + 1;
        while (path[end] != '/' && path[end] != '?' && path[end] != '\0')
            end++;
        const struct http_line segment = {path + at, end - at};
        const bool here = text_equal(segment.bytes, segment.length, "/.");
        const bool up = text_equal(segment.bytes, segment.length, "/..");
        if (up) {
            while (out > 0 && path[--out] != '/')
                continue;
        }
        if (here || up) {
            if (path[end] != '/')
                path[out++] = '/';
        } else {
            memmove(path + out, path + at, end - at);
            out += end - at;
        }
        at = end;
    }
    memmove(path + out, path + at, strlen(path + at) + 1);
}

// A path that begins where the base's last segment does.
static bool path_merge(const struct http_url *base, struct http_line text, struct http_url *url)
{
    const struct http_line whole = {base->path, text_length(base->path)};
    uint32_t keep = http_line_find(whole, 0, '?');
    text.length = http_line_find(text, 0, '#');
    if (text.length == 0)
        keep = whole.length;
    else if (text.bytes[0] == '/')
        keep = 0;
    else if (text.bytes[0] != '?')
        while (keep > 0 && whole.bytes[keep - 1] != '/')
            keep--;
    if (keep + text.length >= sizeof url->path)
        return false;
    memmove(url->path, whole.bytes, keep);
    memcpy(url->path + keep, text.bytes, text.length);
    url->path[keep + text.length] = '\0';
    return true;
}

bool http_url_resolve(const struct http_url *base, const char *reference, uint32_t length, struct http_url *url)
{
    const struct http_line text = {reference, length};
    const uint32_t colon = find_of(text, 0, ":/?#");
    bool good = is_clean(text);
    if (good && colon < length && reference[colon] == ':') {
        good = url_take(text, url);
    } else if (good && length > 1 && reference[0] == '/' && reference[1] == '/') {
        char whole[URL_MAX];
        struct text out;
        text_init(&out, whole, sizeof whole);
        text_put(&out, base->secure ? "https:" : "http:");
        text_bytes(&out, reference, length);
        good = !out.cut && http_url_parse(whole, url);
    } else if (good) {
        *url = *base;
        good = path_merge(base, text, url);
    }
    if (good)
        dots_remove(url->path);
    return good;
}

bool http_url_same_server(const struct http_url *a, const struct http_url *b)
{
    return a->secure == b->secure && a->port == b->port && text_equal_nocase(a->host, text_length(a->host), b->host);
}
