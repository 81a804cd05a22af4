// SPDX-License-Identifier: BSD-2-Clause
// Server-sent events: a response that goes on, of which each piece is an event for a page's EventSource.
#ifndef APPS_HTTP_EVENTS_H
#define APPS_HTTP_EVENTS_H

#include "server.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

struct http_event {
    const char *name;  // NULL: "message"
    const char *data;  // lines, each of which becomes a field
    const char *id;    // comes back as Last-Event-ID; NULL: none
};

// Responds with a stream of events, from a route's `request`. Every HTTP_QUIET_US without one a comment is sent.
void http_events_begin(struct http_connection *c, struct http_request *request);
// Sends one, whole: as http_push says. Whoever takes too little gets WEIR_AGAIN: leave it out, or send it again later.
int http_event_send(struct http_connection *c, const struct http_event *event);

WEIR_END_DECLS

#endif
