// SPDX-License-Identifier: BSD-2-Clause
#include "status/server.h"

#include <string.h>

#include "status/metrics.h"

#define PATTERN_PERIOD 251u  // a prime: no segment, page or power of two hides a byte out of place
#define BYTES_PATH 7u        // "/bytes/"

static struct status_server *server_of(const struct http_connection *c)
{
    return (struct status_server *)c->server->config.context;
}

// --- the page --------------------------------------------------------------------------------------------------------

static void page_get(struct http_connection *c, struct http_request *request)
{
    static const struct http_field fields[] = {
        {"Cache-Control", "no-cache"},
        {"Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                    "connect-src 'self'; img-src data:"}};
    http_respond(c, request,
                 &(struct http_response){.type = "text/html; charset=utf-8",
                                         .data = status_page,
                                         .length = status_page_length,
                                         .fields = fields,
                                         .field_count = 2});
}

// --- its data --------------------------------------------------------------------------------------------------------

enum { STATUS_JSON, STATUS_METRICS_PLAIN, STATUS_METRICS_OPEN };

// What is asked for is made once for a response and stays in server->rendered until it is sent; another connection
// waits for it meanwhile.
static void status_respond(struct http_connection *c, struct status_server *server)
{
    static const char *const types[] = {"application/json", METRICS_TYPE_PLAIN, METRICS_TYPE_OPEN};
    static const struct http_field fields[] = {{"Cache-Control", "no-store"}};
    const uintptr_t what = (uintptr_t)c->user;
    struct text out;
    text_init(&out, server->rendered, sizeof server->rendered);
    if (what == STATUS_JSON)
        status_render(&server->status, server->from[c - server->connections], &out);
    else
        status_metrics_render(&server->status, what == STATUS_METRICS_OPEN, &out);
    server->owner = c->head_only ? NULL : c;
    http_respond(c, NULL,
                 &(struct http_response){.type = types[what],
                                         .data = server->rendered,
                                         .length = out.length,
                                         .fields = fields,
                                         .field_count = 1,
                                         .stall_us = STATUS_STALL_US});
}

static void rendered_get(struct http_connection *c, uintptr_t what)
{
    struct status_server *server = server_of(c);
    c->user = (void *)what;
    if (server->owner == NULL)
        status_respond(c, server);
}

static void status_get(struct http_connection *c, struct http_request *request)
{
    struct status_server *server = server_of(c);
    char from[24];
    const int length = http_query_get(request, "from", from, sizeof from);
    uint64_t *cursor = &server->from[c - server->connections];
    if (length <= 0 || text_read_u64(from, (uint32_t)length, UINT64_MAX, cursor) != (uint32_t)length)
        *cursor = 0;
    rendered_get(c, STATUS_JSON);
}

static void metrics_get(struct http_connection *c, struct http_request *request)
{
    rendered_get(c, http_takes(request, "application/openmetrics-text") ? STATUS_METRICS_OPEN : STATUS_METRICS_PLAIN);
}

// The response that was waiting for the buffer, if any.
static void status_done(struct http_connection *c, bool whole)
{
    struct status_server *server = server_of(c);
    (void)whole;
    if (server->owner != c)
        return;
    server->owner = NULL;
    for (uint32_t i = 0; i < STATUS_CONNECTIONS && server->owner == NULL; i++) {
        if (server->connections[i].state == HTTP_WAITING)
            status_respond(&server->connections[i], server);
    }
}

// --- bytes for tests -------------------------------------------------------------------------------------------------

void status_pattern(uint8_t *out, uint32_t bytes, uint64_t at)
{
    uint32_t first = bytes < PATTERN_PERIOD ? bytes : PATTERN_PERIOD, value = (uint32_t)(at % PATTERN_PERIOD);
    for (uint32_t i = 0; i < first; i++) {
        out[i] = (uint8_t)value;
        value = value + 1 == PATTERN_PERIOD ? 0 : value + 1;
    }
    // What is there is a whole number of periods, and doubles.
    for (uint32_t filled = first; filled < bytes;) {
        uint32_t part = filled < bytes - filled ? filled : bytes - filled;
        memcpy(out + filled, out, part);
        filled += part;
    }
}

static int bytes_produce(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room)
{
    (void)c;
    status_pattern(out, room, at);
    return (int)room;
}

// Its ETag is "N": the bytes follow from the number.
static void bytes_get(struct http_connection *c, struct http_request *request)
{
    const char *number = request->path + BYTES_PATH;
    const uint32_t digits = request->path_length - BYTES_PATH;
    char etag[24];
    struct text tag;
    uint64_t size = 0;
    text_init(&tag, etag, sizeof etag);
    text_char(&tag, '"');
    text_bytes(&tag, number, digits);
    text_char(&tag, '"');
    if (tag.cut || digits == 0 || text_read_u64(number, digits, STATUS_BYTES_MAX, &size) != digits) {
        http_respond_error(c, 404, 0);
        return;
    }
    http_respond(c, request,
                 &(struct http_response){
                     .type = "application/octet-stream", .length = size, .produce = bytes_produce, .etag = etag});
}

// --- a capture, where the program offers one
// --------------------------------------------------------------------------

static void capture_get(struct http_connection *c, struct http_request *request)
{
    const struct status_server *const server = server_of(c);
    if (server->offer == NULL)
        http_respond_error(c, 404, 0);
    else
        server->offer_calls->get(c, request);
}

static void capture_done(struct http_connection *c, bool whole)
{
    const struct status_server *const server = server_of(c);
    (void)whole;
    if (server->offer != NULL)
        server->offer_calls->done(server->offer, c);
}

// --- the server ------------------------------------------------------------------------------------------------------

static const struct http_route routes[] = {
    {.path = "/", .methods = HTTP_GET, .request = page_get},
    {.path = "/index.html", .methods = HTTP_GET, .request = page_get},
    {.path = "/status.json", .methods = HTTP_GET, .request = status_get, .done = status_done},
    {.path = "/metrics", .methods = HTTP_GET, .request = metrics_get, .done = status_done},
    {.path = "/capture.pcapng", .methods = HTTP_GET, .request = capture_get, .done = capture_done},
    {.path = "/bytes/*", .methods = HTTP_GET, .request = bytes_get}};

static uint64_t sample_poll(struct app *app, uint64_t now_us)
{
    struct status_server *server = (struct status_server *)app;
    const uint64_t due_us = status_poll(&server->status, now_us);
    const uint64_t offer_us = server->offer != NULL ? server->offer_calls->poll(server, now_us) : WEIR_NEVER;
    return due_us < offer_us ? due_us : offer_us;
}

int status_server_start(struct status_server *server, struct loop *loop, uint16_t port,
                        struct weir_netif *const *netifs, uint32_t netif_count)
{
    return status_server_start_over(server, loop, port, netifs, netif_count, NULL);
}

int status_server_start_over(struct status_server *server, struct loop *loop, uint16_t port,
                             struct weir_netif *const *netifs, uint32_t netif_count, struct weir_stream_maker *maker)
{
    const struct http_server_config config = {.port = port,
                                              .routes = routes,
                                              .route_count = sizeof routes / sizeof *routes,
                                              .connections = server->connections,
                                              .connection_count = STATUS_CONNECTIONS,
                                              .memory = server->memory,
                                              .in_bytes = STATUS_HEADER_MAX,
                                              .out_bytes = STATUS_OUT_BYTES,
                                              .maker = maker,
                                              .context = server};
    server->owner = NULL;
    server->offer = NULL;
    status_init(&server->status, loop->weir, netifs, netif_count);
    const int error = http_server_start(&server->http, loop, &config);
    if (error != WEIR_OK)
        return error;
    server->app = (struct app){.poll = sample_poll};
    loop_add(loop, &server->app);
    return WEIR_OK;
}

void status_server_stop(struct status_server *server)
{
    if (server->offer != NULL)
        server->offer_calls->end(server->offer);
    loop_remove(server->http.loop, &server->app);
    http_server_stop(&server->http);
}
