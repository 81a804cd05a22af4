// SPDX-License-Identifier: BSD-2-Clause
// A site with a handler of every kind, over loopback in virtual time: what the HTTP server's tests and its fuzz target
// ask.
#ifndef TESTS_APPS_HTTP_SITE_H
#define TESTS_APPS_HTTP_SITE_H

#include "apps/bench.h"

#include "http/events.h"
#include "http/files.h"
#include "http/server.h"
#include "http/websocket.h"
#include "text.h"

#define SITE_CONNECTIONS 8u
#define SITE_IN 1024u
#define SITE_OUT 512u
#define SITE_UPLOAD_MAX 1000000u

static struct site {
    struct http_server http;
    struct http_connection connections[SITE_CONNECTIONS];
    char memory[SITE_CONNECTIONS * (SITE_IN + SITE_OUT)];
    uint32_t uploaded, sum, ended, broken, take;  // take: so much of a piece at most
    uint32_t refuse;                              // pieces to take nothing of, and to go on after all but the last
    uint32_t least;                               // bytes of a WebSocket's piece that are waited for
    struct http_connection *late, *listener;      // who waits for a response; for events
    uint64_t unix_us;                             // what the clock says; 0: nothing
} site;

static void site_upload(struct http_connection *c, struct http_request *request)
{
    struct http_line key;
    site.uploaded = site.sum = 0;
    if (http_request_field(request, "x-key", &key) && text_equal(key.bytes, key.length, "wrong"))
        http_respond_error(c, 403, 0);
}

static uint32_t site_upload_body(struct http_connection *c, const uint8_t *piece, uint32_t length)
{
    char words[40];
    struct text text;
    if (length > 0 && site.refuse > 0) {
        if (--site.refuse > 0)
            http_resume(c);
        return 0;
    }
    if (length > 0) {
        length = site.take != 0 && length > site.take ? site.take : length;
        for (uint32_t i = 0; i < length; i++)
            site.sum += piece[i];
        site.uploaded += length;
        return length;
    }
    text_init(&text, words, sizeof words);
    text_u64(&text, site.uploaded);
    c->user = words;
    http_respond(
        c, NULL,
        &(struct http_response){.status = 201, .fields = &(struct http_field){"X-Bytes", words}, .field_count = 1});
    return 0;
}

static void site_done(struct http_connection *c, bool whole)
{
    (void)c;
    site.ended += whole;
    site.broken += !whole;
    site.late = site.late == c ? NULL : site.late;
    site.listener = site.listener == c ? NULL : site.listener;
}

// Twenty lines, of which nobody knows how long they are.
static int site_lines(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room)
{
    uint32_t length = 0;
    (void)c;
    for (; length < room && at + length < 2000; length++)
        out[length] = (uint8_t)((at + length) % 100 == 99 ? '\n' : 'a' + (at + length) / 100);
    return (int)length;
}

static void site_generated(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request,
                 &(struct http_response){.type = "text/plain", .length = HTTP_UNTIL_END, .produce = site_lines});
}

static void site_later(struct http_connection *c, struct http_request *request)
{
    (void)request;
    site.late = c;
}

static void site_listen(struct http_connection *c, struct http_request *request)
{
    http_events_begin(c, request);
    site.listener = c;
}

// A header of any length, and an end right behind it.
static void site_empty(struct http_connection *c, struct http_request *request)
{
    char name[SITE_OUT];
    if (http_query_get(request, "name", name, sizeof name) < 0)
        name[0] = '\0';
    http_respond(c, request,
                 &(struct http_response){
                     .length = HTTP_UNTIL_END, .fields = &(struct http_field){"X-Name", name}, .field_count = 1});
    http_push_end(c);
}

static void site_text(struct http_connection *c, struct http_request *request)
{
    char name[20];
    const bool named = http_query_get(request, "name", name, sizeof name) >= 0;
    http_respond(c, request,
                 &(struct http_response){.type = "text/plain",
                                         .data = "0123456789",
                                         .length = 10,
                                         .etag = "\"ten\"",
                                         .fields = &(struct http_field){"X-Name", name},
                                         .field_count = named});
}

// A handler that gives a body where there is none.
static void site_nothing(struct http_connection *c, struct http_request *request)
{
    const bool unknown = request->query.length > 0;
    http_respond(c, request,
                 &(struct http_response){
                     .status = 204, .data = unknown ? NULL : "0123456789", .length = unknown ? HTTP_UNTIL_END : 10});
    (void)http_push(c, "0123456789", 10);
    http_push_end(c);
}

static int site_message(struct http_connection *c, enum http_websocket_type type, const uint8_t *piece, uint32_t length,
                        bool last)
{
    const uint32_t some = length < SITE_OUT / 2 ? length : SITE_OUT / 2;
    if (site.refuse > 0) {
        if (--site.refuse > 0)
            http_resume(c);
        return WEIR_AGAIN;
    }
    if (some < site.least && !last)
        return 0;
    const int sent = http_websocket_send(c, type, piece, some, last && some == length);
    return sent == WEIR_OK ? (int)some : sent;
}

static const struct http_websocket site_echo = {.message = site_message, .protocol = "echo", .message_max = 100000};

static const struct http_file site_pages[] = {
    {.path = "/page.html",
     .type = "text/html",
     .etag = "\"p1\"",
     .data = (const uint8_t *)"<p>plain",
     .length = 8,
     .gzip = (const uint8_t *)"zipped",
     .gzip_length = 6,
     .gzip_etag = "\"p1z\"",
     .cache = "no-cache"},
    {.path = "/a.js", .type = "text/javascript", .etag = "\"j\"", .data = (const uint8_t *)"1", .length = 1},
};
static const struct http_files site_files = {site_pages, 2};

static const struct http_route site_routes[] = {
    {.path = "/upload",
     .methods = HTTP_POST | HTTP_PUT,
     .request = site_upload,
     .body = site_upload_body,
     .done = site_done,
     .body_max = SITE_UPLOAD_MAX},
    {.path = "/text", .methods = HTTP_GET | HTTP_DELETE, .request = site_text},
    {.path = "/shared", .methods = HTTP_POST, .request = site_text, .any_origin = true},
    {.path = "/nothing-to-say", .methods = HTTP_GET, .request = site_nothing},
    {.path = "/empty", .methods = HTTP_GET, .request = site_empty},
    {.path = "/lines", .methods = HTTP_GET, .request = site_generated},
    {.path = "/later", .methods = HTTP_GET, .request = site_later, .done = site_done},
    {.path = "/events", .methods = HTTP_GET, .request = site_listen, .done = site_done},
    {.path = "/echo", .websocket = &site_echo, .done = site_done},
    {.path = "/*", .methods = HTTP_GET, .request = http_files_get, .context = &site_files},
};

static inline uint64_t site_clock(void *context)
{
    (void)context;
    return site.unix_us;
}

// `out_bytes`: up to SITE_OUT; `hosts`: the names that it goes by, NULL: any.
static inline int site_open_as(struct loop *loop, uint32_t out_bytes, const char *const *hosts)
{
    memset(&site, 0, sizeof site);
    return http_server_start(&site.http, loop,
                             &(struct http_server_config){.port = 80,
                                                          .routes = site_routes,
                                                          .route_count = sizeof site_routes / sizeof *site_routes,
                                                          .connections = site.connections,
                                                          .connection_count = SITE_CONNECTIONS,
                                                          .memory = site.memory,
                                                          .in_bytes = SITE_IN,
                                                          .out_bytes = out_bytes,
                                                          .unix_us = site_clock,
                                                          .hosts = hosts});
}

static inline int site_open_with(struct loop *loop, uint32_t out_bytes) { return site_open_as(loop, out_bytes, NULL); }

static inline int site_open(struct loop *loop) { return site_open_with(loop, SITE_OUT); }

#endif
