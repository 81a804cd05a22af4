// SPDX-License-Identifier: BSD-2-Clause
// What of a resource is to be sent: ranges (RFC 9110 §14), conditions (§13), codings (§12.5.3).
#include <stddef.h>
#include <string.h>

#include "http/request.h"
#include "text.h"

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

static bool is_weak(struct http_line tag) { return tag.length > 2 && tag.bytes[0] == 'W' && tag.bytes[1] == '/'; }

// Ours is strong. `weakly`: a weak one of the same text is the same, too (§8.8.3.2).
static bool tag_is(struct http_line tag, const char *etag, bool weakly)
{
    if (weakly && is_weak(tag))
        tag = (struct http_line){tag.bytes + 2, tag.length - 2};
    return text_equal(tag.bytes, tag.length, etag);
}

// Whether one of the tags in all fields of that name is ours; *there: there is such a field.
static bool tags_have(const struct http_request *request, const char *name, const char *etag, bool weakly, bool *there)
{
    struct http_line value, tag;
    *there = false;
    for (uint32_t at = 0; http_fields_find(request->fields, &at, name, &value);) {
        *there = true;
        for (uint32_t in = 0; http_list_next(value, &in, &tag);) {
            if (text_equal(tag.bytes, tag.length, "*") || tag_is(tag, etag, weakly))
                return true;
        }
    }
    return false;
}

int http_conditions_apply(struct http_request *request, const char *etag)
{
    const bool reads = request->method == HTTP_GET || request->method == HTTP_HEAD;
    bool there;
    if (!tags_have(request, "if-match", etag, false, &there) && there)
        return 412;
    if (tags_have(request, "if-none-match", etag, true, &there))
        return reads ? 304 : 412;
    if (request->if_range != NULL &&
        !tag_is((struct http_line){request->if_range, request->if_range_length}, etag, false))
        request->ranged = false;
    return 200;
}

// "gzip;q=0" is a refusal: a weight, which comes last, that is 0 in all its digits.
static bool is_refused(struct http_line parameters)
{
    uint32_t at = parameters.length;
    while (at > 0 && (parameters.bytes[at - 1] == '0' || parameters.bytes[at - 1] == '.'))
        at--;
    return at < parameters.length && at >= 2 && parameters.bytes[at - 1] == '=' &&
           (parameters.bytes[at - 2] | 0x20) == 'q';
}

// Whether a field that lists what is taken, with weights, has `item`; -1: not named; *any: there is a "*" that is
// taken.
static int taken_by(const struct http_request *request, const char *field, const char *item, bool *any)
{
    struct http_line value, one;
    *any = false;
    for (uint32_t at = 0; http_fields_find(request->fields, &at, field, &value);) {
        for (uint32_t in = 0; http_list_next(value, &in, &one);) {
            const uint32_t end = http_line_find(one, 0, ';');
            uint32_t length = end;
            while (length > 0 && (one.bytes[length - 1] == ' ' || one.bytes[length - 1] == '\t'))
                length--;
            const bool taken = !is_refused((struct http_line){one.bytes + end, one.length - end});
            if (text_equal_nocase(one.bytes, length, item))
                return taken;
            *any = *any || (taken && text_equal(one.bytes, length, "*"));
        }
    }
    return -1;
}

bool http_accepts(const struct http_request *request, const char *coding)
{
    bool any;
    const int named = taken_by(request, "accept-encoding", coding, &any);
    return named < 0 ? any : named > 0;
}

bool http_takes(const struct http_request *request, const char *type)
{
    bool any;
    return taken_by(request, "accept", type, &any) > 0;
}
