// SPDX-License-Identifier: BSD-2-Clause
#include "http/events.h"

#include "http/internal.h"

#define EVENT_MAX 1024u  // bytes of one

void http_events_begin(struct http_connection *c, struct http_request *request)
{
    static const struct http_field fields[] = {{"Cache-Control", "no-store"}};
    http_respond(c, request,
                 &(struct http_response){
                     .type = "text/event-stream", .length = HTTP_UNTIL_END, .fields = fields, .field_count = 1});
    c->output.events = c->output.pushed;
}

// name: value, for each of the value's lines, whatever ends them.
static void put_lines(struct text *out, const char *name, const char *value)
{
    bool more = true;
    while (more) {
        text_put(out, name);
        text_put(out, ": ");
        while (*value != '\0' && *value != '\n' && *value != '\r')
            text_char(out, *value++);
        text_char(out, '\n');
        more = *value != '\0';
        value += value[0] == '\r' && value[1] == '\n';
        value += more;
    }
}

int http_event_send(struct http_connection *c, const struct http_event *event)
{
    char bytes[EVENT_MAX];
    struct text out;
    text_init(&out, bytes, sizeof bytes);
    if (event->name != NULL)
        put_lines(&out, "event", event->name);
    if (event->id != NULL)
        put_lines(&out, "id", event->id);
    put_lines(&out, "data", event->data);
    text_char(&out, '\n');
    return out.cut ? WEIR_TOO_BIG : http_push(c, out.bytes, out.length);
}

bool http_events_quiet(struct http_connection *c) { return http_push(c, ":\n\n", 3) == WEIR_OK; }
