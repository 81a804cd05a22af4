// SPDX-License-Identifier: BSD-2-Clause
#include "http/answer.h"

#include "text.h"

// HTTP/1.x SP three digits, and a reason behind a blank, or none.
static bool status_line_parse(struct http_line line, struct http_answer *answer)
{
    uint64_t status;
    if (line.length < 12 || !text_equal(line.bytes, 7, "HTTP/1.") || line.bytes[7] < '0' || line.bytes[7] > '9' ||
        line.bytes[8] != ' ' || (line.length > 12 && line.bytes[12] != ' '))
        return false;
    if (text_read_u64(line.bytes + 9, 3, 999, &status) != 3 || status < 100)
        return false;
    answer->status = (int)status;
    return true;
}

// A server that sends a length beside chunks, or two, may stand behind something that reads the other one.
static int framing_parse(struct http_answer *answer, struct http_framing *framing)
{
    struct http_line line, name, value;
    bool bare = false;
    for (uint32_t at = 0; http_line_take(answer->fields.bytes, answer->fields.length, &at, &line, &bare) > 0;) {
        if (!http_field_cut(line, &name, &value) || http_framing_take(framing, name, value) != 0)
            return -1;
    }
    return framing->chunked && framing->length_seen ? -1 : 0;
}

int http_answer_parse(const char *bytes, uint32_t length, bool bodiless, struct http_answer *answer)
{
    struct http_line line;
    struct http_framing framing = {0};
    uint32_t at = 0, begin = 0;
    bool first = true, bare = false;
    *answer = (struct http_answer){0};
    for (;;) {
        const uint32_t line_at = at;
        const int taken = http_line_take(bytes, length, &at, &line, &bare);
        if (taken <= 0)
            return taken < 0 ? -1 : 0;
        if (first && !status_line_parse(line, answer))
            return -1;
        begin = first ? at : begin;
        if (!first && line.length == 0) {
            answer->fields = (struct http_line){bytes + begin, line_at - begin};
            break;
        }
        first = false;
    }
    framing.keep_alive = bytes[7] != '0';  // RFC 9112 §9.3: the version's, where no field says it
    if (framing_parse(answer, &framing) != 0)
        return -1;
    const bool none = bodiless || answer->status < 200 || answer->status == 204 || answer->status == 304;
    answer->chunked = framing.chunked && !none;
    answer->keep_alive = framing.keep_alive;
    answer->length = none ? 0 : framing.length_seen ? framing.length : UINT64_MAX;
    return (int)at;
}

bool http_answer_field(const struct http_answer *answer, const char *name, struct http_line *value)
{
    uint32_t at = 0;
    return http_fields_find(answer->fields, &at, name, value);
}
