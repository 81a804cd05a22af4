// SPDX-License-Identifier: BSD-2-Clause
// Requests: which handler each has, and its body.
#include <string.h>

#include "http/internal.h"

#define CONTINUE "HTTP/1.1 100 Continue\r\n\r\n"

static unsigned methods_of(const struct http_route *route)
{
    if (route->websocket != NULL)
        return route->methods | HTTP_GET;
    return route->methods & HTTP_GET ? route->methods | HTTP_HEAD : route->methods;
}

// The first that fits, or another for the same path that has the method. NULL: none; *methods: what they allow.
static const struct http_route *route_find(const struct http_server *server, const struct http_request *request,
                                           unsigned *methods)
{
    const char *path = NULL;
    *methods = 0;
    for (uint32_t i = 0; i < server->config.route_count; i++) {
        const struct http_route *route = &server->config.routes[i];
        if (path != NULL ? strcmp(path, route->path) != 0
                         : !http_path_is(request->path, request->path_length, route->path))
            continue;
        path = route->path;
        *methods |= methods_of(route);
        if (methods_of(route) & request->method)
            return route;
    }
    return NULL;
}

static void body_await(struct http_connection *c)
{
    char *at;
    if (c->expecting && http_out_room(c, &at) >= sizeof CONTINUE - 1) {
        memcpy(at, CONTINUE, sizeof CONTINUE - 1);
        c->out_length += (uint32_t)sizeof CONTINUE - 1;
    }
    c->expecting = false;
    c->body_us = weir_now_us(http_weir(c));
    http_enter(c, HTTP_BODY, HTTP_BODY_US);
}

static void exchange_begin(struct http_connection *c, struct http_request *request)
{
    c->server->count.requests++;
    c->answered = true;
    c->responded = c->paused = false;
    c->user = NULL;
    c->route = NULL;
    c->version_minor = request->http11;
    c->keep_alive = request->keep_alive;
    c->head_only = request->method == HTTP_HEAD;
    c->body = (struct http_body){.chunked = request->chunked, .left = request->body_length};
    c->body_taken = 0;
    c->expecting = request->expects && (request->chunked || request->body_length > 0);
    c->output = (struct http_output){0};
}

static uint64_t body_max(const struct http_route *route)
{
    return route != NULL && route->body_max != 0 ? route->body_max : HTTP_BODY_MAX;
}

static void handle(struct http_connection *c, struct http_request *request)
{
    unsigned methods;
    const struct http_route *const route = route_find(c->server, request, &methods);
    if (c->body.left > body_max(route)) {
        http_respond_error(c, 413, 0);
        return;
    }
    if (route == NULL) {
        http_respond_error(c, methods != 0 ? 405 : 404, methods);
        return;
    }
    const int refused = http_origin_judge(c->server, route, request);
    if (refused != 0) {
        http_respond_error(c, refused, 0);
        return;
    }
    c->route = route;
    if (route->websocket != NULL && request->method == HTTP_GET) {
        http_websocket_begin(c, request);
        return;
    }
    c->state = HTTP_WAITING;
    if (route->request != NULL)
        route->request(c, request);
    if (c->responded || c->state == HTTP_FREE)
        return;
    if (route->body != NULL)
        body_await(c);
    else
        http_enter(c, HTTP_WAITING, HTTP_STALL_US);
}

bool http_step_reading(struct http_connection *c)
{
    struct http_request request;
    const int parsed = http_request_parse(c->in + c->in_at, c->in_length, c->server->config.in_bytes, &request);
    if (parsed > 0) {
        exchange_begin(c, &request);
        handle(c, &request);  // the path lies in c->in
        http_input_taken(c, (uint32_t)parsed);
        return c->state != HTTP_WAITING;
    }
    if (parsed < 0) {
        c->head_only = c->keep_alive = c->expecting = false;
        http_respond_error(c, -parsed, 0);
        c->in_length = c->in_at = 0;
        return true;
    }
    const bool empty = c->in_length == 0;
    const int got = http_receive(c);
    if (got > 0) {
        if (empty)
            http_enter(c, HTTP_READING, HTTP_HEADER_US);
        return true;
    }
    if (got != WEIR_AGAIN)
        http_end(c, got < 0);
    return false;
}

// --- the body --------------------------------------------------------------------------------------------------------

// What of the body lies in c->in, at its beginning.
static enum http_chunk piece_next(struct http_connection *c, uint32_t *length)
{
    uint32_t used;
    const enum http_chunk chunk = http_body_read(&c->body, c->in + c->in_at, c->in_length, &used, length);
    http_input_taken(c, used);
    return chunk;
}

static void piece_taken(struct http_connection *c, uint32_t length)
{
    http_input_taken(c, length);
    c->body_taken += length;
    http_body_taken(&c->body, length);
}

// More of it. false: there is none now.
static bool piece_receive(struct http_connection *c)
{
    const int got = http_receive(c);
    if (got <= 0 && got != WEIR_AGAIN)
        http_end(c, got < 0);
    return got > 0;
}

static bool body_refuse(struct http_connection *c, int status)
{
    c->keep_alive = false;
    http_respond_error(c, status, 0);
    return true;
}

// Gives the handler a piece. false: it takes no more now.
static bool body_give(struct http_connection *c, uint32_t length)
{
    if (c->body_taken + length > body_max(c->route))
        return body_refuse(c, 413);
    c->resumed = false;
    uint32_t took = c->route->body(c, (const uint8_t *)c->in + c->in_at, length);
    took = took < length ? took : length;
    if (c->state == HTTP_FREE)
        return false;
    piece_taken(c, took);
    if (c->responded)
        return true;
    c->paused = took < length && !c->resumed;
    // So much time as its length gives, however it is spread; while the handler pauses, so much as that may.
    c->due_us = c->paused ? weir_now_us(http_weir(c)) + HTTP_STALL_US
                          : c->body_us + HTTP_BODY_US + c->body_taken * (1000000u / HTTP_BODY_RATE);
    return !c->paused;
}

static bool body_finish(struct http_connection *c)
{
    http_enter(c, HTTP_WAITING, HTTP_STALL_US);
    (void)c->route->body(c, NULL, 0);
    return c->state != HTTP_WAITING && c->state != HTTP_FREE;
}

bool http_step_body(struct http_connection *c)
{
    uint32_t length;
    const int flushed = http_flush(c);
    if (flushed < 0 && flushed != WEIR_AGAIN) {
        http_end(c, true);
        return false;
    }
    if (c->paused)
        return false;
    switch (piece_next(c, &length)) {
    case HTTP_CHUNK_DATA: return body_give(c, length);
    case HTTP_CHUNK_END: return body_finish(c);
    case HTTP_CHUNK_MORE: return piece_receive(c);
    default: return body_refuse(c, 400);
    }
}

// RFC 9112 §9.3: the rest of a body never becomes the next request.
bool http_step_skipping(struct http_connection *c)
{
    uint32_t length;
    switch (piece_next(c, &length)) {
    case HTTP_CHUNK_DATA:
        piece_taken(c, length);
        c->keep_alive = c->body_taken <= HTTP_BODY_MAX;
        if (c->keep_alive)
            return true;
        break;
    case HTTP_CHUNK_MORE: return piece_receive(c);
    case HTTP_CHUNK_BAD: c->keep_alive = false; break;
    case HTTP_CHUNK_END: break;
    }
    http_exchange_done(c);
    return true;
}
