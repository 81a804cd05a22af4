// SPDX-License-Identifier: BSD-2-Clause
#include "http/http.h"

#include <string.h>

#include "service.h"

#define SPANS 8
#define PATTERN_PERIOD 251u  // a prime: no segment, page or power of two hides a byte out of place

static struct weir *weir_of(const struct http_connection *c) { return c->http->loop->weir; }

void http_pattern(uint8_t *out, uint32_t bytes, uint64_t at)
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

// --- life of a connection --------------------------------------------------------------------------------------------

// What that is to one who waits for its place.
static enum client_state place_state(const struct http_connection *c)
{
    const bool first = !c->answered && c->in_length == 0;
    if (c->state == HTTP_SECURING || (c->state == HTTP_READING && c->http->maker != NULL && first))
        return CLIENT_OPENING;
    if (c->state == HTTP_READING)
        return c->answered && c->in_length == 0 ? CLIENT_RESTING : CLIENT_ASKING;
    return c->state == HTTP_LINGERING ? CLIENT_RESTING : CLIENT_SERVED;
}

static void connection_enter(struct http_connection *c, enum http_state state, uint32_t wait_us)
{
    const uint64_t now_us = weir_now_us(weir_of(c));
    struct client *client = &c->client;
    c->state = state;
    c->due_us = now_us + wait_us;
    if (client->state != place_state(c) || state == HTTP_SENDING)
        client_enter(client, place_state(c), now_us);
}

static void connection_end(struct http_connection *c, bool reset)
{
    if (c->http->status_owner == c)
        c->http->status_owner = NULL;
    weir_stream_close(&c->stream, reset);
    c->state = HTTP_FREE;
    clients_leave(&c->http->clients, &c->client);
}

// --- responses -------------------------------------------------------------------------------------------------------

static const char *reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 416: return "Range Not Satisfiable";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 505: return "HTTP Version Not Supported";
    default: return "Internal Server Error";
    }
}

static const char *explanation(int status)
{
    switch (status) {
    case 400: return "This is not an HTTP/1.1 request that can be understood in one way only.";
    case 404: return "Nothing has this name. There are /, /status.json and /bytes/N (N up to 2^40).";
    case 405: return "Only GET and HEAD are served here.";
    case 408: return "The request's header did not arrive in time.";
    case 413: return "The request's body is longer than is accepted here.";
    case 414: return "The request line is longer than is accepted here.";
    case 416: return "The body does not reach to this range.";
    case 431: return "The request's header is longer than is accepted here.";
    case 501: return "Transfer codings are not accepted here: send a Content-Length.";
    case 505: return "Only HTTP/1.0 and HTTP/1.1 are spoken here.";
    default: return "";
    }
}

// The common part of a response's header, into c->out.
static struct text response_begin(struct http_connection *c, int status, const char *type, uint64_t length)
{
    struct text out;
    text_init(&out, c->out, sizeof c->out);
    text_put(&out, "HTTP/1.1 ");
    text_u64(&out, (uint64_t)status);
    text_char(&out, ' ');
    text_put(&out, reason(status));
    text_put(&out, "\r\nServer: Weir\r\nContent-Type: ");
    text_put(&out, type);
    text_put(&out, "\r\nContent-Length: ");
    text_u64(&out, length);
    text_put(&out, "\r\nX-Content-Type-Options: nosniff\r\nConnection: ");
    text_put(&out, c->keep_alive ? "keep-alive\r\n" : "close\r\n");
    return out;
}

static void response_ready(struct http_connection *c, const struct text *head)
{
    c->out_at = 0;
    c->out_length = head->length;
    if (c->head_only)
        c->body = HTTP_BODY_NONE, c->body_left = 0;
    connection_enter(c, HTTP_SENDING, c->body == HTTP_BODY_STATUS ? HTTP_STATUS_STALL_US : HTTP_STALL_US);
}

// A line of text that says what was wrong. The connection goes on only where the next request's beginning is known.
static void respond_error(struct http_connection *c, int status, uint64_t size)
{
    const char *why = explanation(status), *what = reason(status);
    c->http->count.errors++;
    if (status != 404 && status != 405 && status != 416)
        c->keep_alive = false;
    c->body = HTTP_BODY_NONE;
    c->body_left = 0;
    struct text out =
        response_begin(c, status, "text/plain; charset=utf-8", 4 + text_length(what) + 1 + text_length(why) + 1);
    if (status == 405)
        text_put(&out, "Allow: GET, HEAD\r\n");
    if (status == 416) {
        text_put(&out, "Content-Range: bytes */");
        text_u64(&out, size);
        text_put(&out, "\r\n");
    }
    text_put(&out, "\r\n");
    if (!c->head_only) {
        text_u64(&out, (uint64_t)status);
        text_char(&out, ' ');
        text_put(&out, what);
        text_char(&out, '\n');
        text_put(&out, why);
        text_char(&out, '\n');
    }
    response_ready(c, &out);
}

static void respond_page(struct http_connection *c)
{
    c->body = HTTP_BODY_PAGE;
    c->body_at = 0;
    c->body_left = http_page_length;
    struct text out = response_begin(c, 200, "text/html; charset=utf-8", http_page_length);
    text_put(&out, "Cache-Control: no-cache\r\nContent-Security-Policy: default-src 'none'; style-src 'unsafe-inline'; "
                   "script-src 'unsafe-inline'; connect-src 'self'; img-src data:\r\n\r\n");
    response_ready(c, &out);
}

// The JSON is made once for a response and stays in http->rendered until it is sent; another connection waits for it
// meanwhile.
static void respond_status(struct http_connection *c)
{
    struct http *http = c->http;
    struct text json;
    if (http->status_owner != NULL && http->status_owner != c) {
        connection_enter(c, HTTP_WAITING_STATUS, HTTP_STALL_US);
        return;
    }
    text_init(&json, http->rendered, sizeof http->rendered);
    status_render(&http->status, &json);
    http->rendered_length = json.length;
    if (!c->head_only)
        http->status_owner = c;
    c->body = HTTP_BODY_STATUS;
    c->body_at = 0;
    c->body_left = json.length;
    struct text out = response_begin(c, 200, "application/json", json.length);
    text_put(&out, "Cache-Control: no-store\r\n\r\n");
    response_ready(c, &out);
}

// ETag of /bytes/N is "N": the bytes follow from the number.
static bool if_range_holds(const struct http_request *request, const char *number, uint32_t digits)
{
    if (request->if_range == NULL)
        return true;
    const char *tag = request->if_range;
    return request->if_range_length == digits + 2 && tag[0] == '"' && tag[digits + 1] == '"' &&
           memcmp(tag + 1, number, digits) == 0;
}

static void respond_bytes(struct http_connection *c, struct http_request *request)
{
    const char *number = request->path + 7;
    uint32_t digits = request->path_length - 7;
    uint64_t size = 0, first, count;
    if (digits == 0 || text_read_u64(number, digits, HTTP_BYTES_MAX, &size) != digits) {
        respond_error(c, 404, 0);
        return;
    }
    if (!if_range_holds(request, number, digits))
        request->ranged = false;
    int status = http_range_apply(request, size, &first, &count);
    if (status == 416) {
        respond_error(c, 416, size);
        return;
    }
    c->body = HTTP_BODY_BYTES;
    c->body_at = first;
    c->body_left = count;
    struct text out = response_begin(c, status, "application/octet-stream", count);
    text_put(&out, "Accept-Ranges: bytes\r\nETag: \"");
    text_bytes(&out, number, digits);
    text_put(&out, "\"\r\n");
    if (status == 206) {
        text_put(&out, "Content-Range: bytes ");
        text_u64(&out, first);
        text_char(&out, '-');
        text_u64(&out, first + count - 1);
        text_char(&out, '/');
        text_u64(&out, size);
        text_put(&out, "\r\n");
    }
    text_put(&out, "\r\n");
    response_ready(c, &out);
}

static void respond(struct http_connection *c, struct http_request *request)
{
    const char *path = request->path;
    uint32_t length = request->path_length;
    c->http->count.requests++;
    c->answered = true;
    c->keep_alive = request->keep_alive;
    c->head_only = request->method == HTTP_HEAD;
    c->skip = request->body_length;
    if (c->skip > HTTP_BODY_MAX)
        respond_error(c, 413, 0);
    else if (request->method == HTTP_OTHER)
        respond_error(c, 405, 0);
    else if (text_equal(path, length, "/") || text_equal(path, length, "/index.html"))
        respond_page(c);
    else if (text_equal(path, length, "/status.json"))
        respond_status(c);
    else if (length > 7 && text_equal(path, 7, "/bytes/"))
        respond_bytes(c, request);
    else
        respond_error(c, 404, 0);
}

// --- steps: each returns whether the next may follow at once ---------------------------------------------------------

// Fills c->in from the socket. Returns bytes added; 0: the peer ended; WEIR_AGAIN and other errors.
static int receive(struct http_connection *c)
{
    if (c->ended)
        return 0;
    int got = weir_stream_read(&c->stream, c->in + c->in_length, (uint32_t)sizeof c->in - c->in_length);
    if (got > 0) {
        c->in_length += (uint32_t)got;
        client_moved(&c->client, (uint64_t)got, weir_now_us(weir_of(c)));
    }
    c->ended = got == 0;
    return got;
}

static void take_from_input(struct http_connection *c, uint32_t bytes)
{
    c->in_length -= bytes;
    memmove(c->in, c->in + bytes, c->in_length);
}

// The stack has its turn between the steps of a handshake, however long they are.
static bool step_securing(struct http_connection *c)
{
    const int status = weir_stream_begin(&c->stream);
    if (status == WEIR_OK)
        connection_enter(c, HTTP_READING, HTTP_HEADER_US);
    else if (status != WEIR_AGAIN && status != WEIR_IN_PROGRESS)
        connection_end(c, false);
    return status == WEIR_OK;
}

static bool step_reading(struct http_connection *c)
{
    struct http_request request;
    int parsed = http_request_parse(c->in, c->in_length, sizeof c->in, &request);
    if (parsed > 0) {
        respond(c, &request);  // the path lies in c->in
        take_from_input(c, (uint32_t)parsed);
        if (c->state == HTTP_WAITING_STATUS)
            return false;
        return true;
    }
    if (parsed < 0) {
        c->head_only = c->keep_alive = false;
        c->skip = 0;
        respond_error(c, -parsed, 0);
        c->in_length = 0;
        return true;
    }
    bool empty = c->in_length == 0;
    int got = receive(c);
    if (got > 0) {
        if (empty)
            connection_enter(c, HTTP_READING, HTTP_HEADER_US);
        return true;
    }
    if (got != WEIR_AGAIN)
        connection_end(c, got < 0);
    return false;
}

// Copies a piece of text that begins `at` bytes into it. Returns bytes queued, or an error.
static int send_text(struct http_connection *c, const char *text, uint64_t at, uint64_t left)
{
    uint32_t want = left < INT32_MAX ? (uint32_t)left : INT32_MAX;
    return weir_stream_write(&c->stream, text + at, want);
}

// Bytes for a stream over the socket are put together elsewhere first.
static int send_copied(struct http_connection *c, uint32_t want)
{
    const struct weir_stream_maker *const maker = c->http->maker;
    want = want < maker->scratch_bytes ? want : maker->scratch_bytes;
    http_pattern(maker->scratch, want, c->body_at);
    return weir_stream_write(&c->stream, maker->scratch, want);
}

// Generates bytes where they are to lie in the send queue.
static int send_bytes(struct http_connection *c)
{
    struct weir_span spans[SPANS];
    uint32_t want = c->body_left < INT32_MAX ? (uint32_t)c->body_left : INT32_MAX;
    if (c->stream.calls != NULL)
        return send_copied(c, want);
    int room = weir_socket_reserve(weir_of(c), c->stream.socket, want, spans, SPANS);
    if (room <= 0)
        return room;
    uint64_t at = c->body_at;
    uint32_t left = (uint32_t)room;
    for (int i = 0; left > 0; i++) {
        http_pattern(spans[i].data, spans[i].length, at);
        at += spans[i].length;
        left -= spans[i].length;
    }
    int error = weir_socket_commit(weir_of(c), c->stream.socket, (uint32_t)room);
    return error < 0 ? error : room;
}

static void response_done(struct http_connection *c)
{
    struct http *http = c->http;
    if (http->status_owner == c)
        http->status_owner = NULL;
    if (!c->keep_alive) {
        // RFC 9112 §9.6: closing with unread data would reset the connection and could take the response with it.
        (void)weir_stream_shutdown(&c->stream);
        connection_enter(c, HTTP_LINGERING, HTTP_LINGER_US);
    } else if (c->skip > 0) {
        connection_enter(c, HTTP_SKIPPING, HTTP_HEADER_US);
    } else {
        connection_enter(c, HTTP_READING, c->in_length > 0 ? HTTP_HEADER_US : HTTP_IDLE_US);
    }
}

static bool step_sending(struct http_connection *c)
{
    bool body = c->out_at == c->out_length;
    int sent = 0;
    if (!body)
        sent = send_text(c, c->out, c->out_at, c->out_length - c->out_at);
    else if (c->body_left == 0)
        response_done(c);
    else if (c->body == HTTP_BODY_BYTES)
        sent = send_bytes(c);
    else
        sent = send_text(c, c->body == HTTP_BODY_PAGE ? http_page : c->http->rendered, c->body_at, c->body_left);
    if (sent == WEIR_AGAIN)
        return false;
    if (sent < 0) {
        connection_end(c, true);
        return false;
    }
    if (sent == 0)
        return true;
    c->due_us = weir_now_us(weir_of(c)) + (c->body == HTTP_BODY_STATUS ? HTTP_STATUS_STALL_US : HTTP_STALL_US);
    client_moved(&c->client, (uint64_t)sent, weir_now_us(weir_of(c)));
    if (!body) {
        c->out_at += (uint32_t)sent;
    } else {
        c->body_at += (uint32_t)sent;
        c->body_left -= (uint32_t)sent;
    }
    return true;
}

static bool step_skipping(struct http_connection *c)
{
    uint32_t part = c->skip < c->in_length ? (uint32_t)c->skip : c->in_length;
    take_from_input(c, part);
    c->skip -= part;
    if (c->skip == 0) {
        connection_enter(c, HTTP_READING, c->in_length > 0 ? HTTP_HEADER_US : HTTP_IDLE_US);
        return true;
    }
    int got = receive(c);
    if (got <= 0 && got != WEIR_AGAIN)
        connection_end(c, got < 0);
    return got > 0;
}

static bool step_lingering(struct http_connection *c)
{
    c->in_length = 0;
    int got = receive(c);
    if (got <= 0 && got != WEIR_AGAIN)
        connection_end(c, false);
    return got > 0;
}

// Bounded: a step either takes bytes the queues hold, or fills what they have room for, or ends the run.
static void connection_run(struct http_connection *c)
{
    bool more = true;
    while (more) {
        switch (c->state) {
        case HTTP_SECURING: more = step_securing(c); break;
        case HTTP_READING: more = step_reading(c); break;
        case HTTP_SENDING: more = step_sending(c); break;
        case HTTP_SKIPPING: more = step_skipping(c); break;
        case HTTP_LINGERING: more = step_lingering(c); break;
        default: more = false; break;
        }
    }
}

// --- events ----------------------------------------------------------------------------------------------------------

// The response with /status.json that was waiting for the buffer, if any.
static void status_next(struct http *http)
{
    for (uint32_t i = 0; i < http->clients.used && http->status_owner == NULL; i++) {
        struct http_connection *c = &http->connections[i];
        if (c->state == HTTP_WAITING_STATUS) {
            respond_status(c);
            connection_run(c);
        }
    }
}

static void connection_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct http_connection *c = (struct http_connection *)watch;
    struct http *http = c->http;
    if (c->stream.socket != socket)
        return;
    if ((events & WEIR_ERROR) && c->state == HTTP_WAITING_STATUS)
        connection_end(c, true);
    else
        connection_run(c);
    status_next(http);
}

static void connection_begin(struct http *http, struct http_connection *c, weir_socket socket)
{
    const bool secure = http->maker != NULL;
    c->stream = (struct weir_stream){.weir = weir_of(c), .socket = socket};
    c->in_length = 0;
    c->answered = c->ended = c->head_only = c->keep_alive = false;
    c->skip = 0;
    (void)loop_watch(http->loop, socket, &c->watch);
    (void)weir_socket_set(weir_of(c), socket, WEIR_OPTION_NO_DELAY, 1);
    c->state = secure ? HTTP_SECURING : HTTP_READING;
    clients_enter(&http->clients, &c->client, place_state(c), weir_now_us(weir_of(c)));
    connection_enter(c, c->state, secure ? HTTP_SECURE_US : HTTP_HEADER_US);
    if (secure && http->maker->open(http->maker, &c->stream) != WEIR_OK)
        connection_end(c, true);
    connection_run(c);
}

static struct http_connection *connection_of(struct client *client)
{
    return (struct http_connection *)(void *)((char *)client - offsetof(struct http_connection, client));
}

// Where so many handshakes are under way as may be, one that has had its time makes room. false: who waits has to wait.
static bool may_open(struct clients *clients)
{
    struct http *http = (struct http *)(void *)((char *)clients - offsetof(struct http, clients));
    if (http->maker->may_accept(http->maker))
        return true;
    struct client *place = clients_opening(clients, weir_now_us(http->loop->weir));
    if (place == NULL)
        return false;
    http->count.made_room++;
    connection_end(connection_of(place), true);
    return http->maker->may_accept(http->maker);
}

// Each that waits takes a free place, or that of one who makes room.
static void accept_waiting(struct http *http)
{
    weir_socket socket;
    struct client *place;
    while ((place = clients_accept(&http->clients, http->loop, http->listening, &socket)) != NULL) {
        struct http_connection *c = connection_of(place);
        if (c->state != HTTP_FREE) {
            http->count.made_room++;
            connection_end(c, c->state != HTTP_READING);
        }
        connection_begin(http, c, socket);
    }
}

static void listener_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct http *http = (struct http *)(void *)((char *)watch - offsetof(struct http, listener));
    (void)socket, (void)events;
    accept_waiting(http);
    status_next(http);
}

// A deadline passed: a header half sent gets an answer, everything else is just ended.
static void connection_late(struct http_connection *c)
{
    c->http->count.given_up++;
    if (c->state == HTTP_READING && c->in_length > 0) {
        c->head_only = c->keep_alive = false;
        c->in_length = 0;
        respond_error(c, 408, 0);
        connection_run(c);
    } else {
        connection_end(c, c->state != HTTP_READING);
    }
}

// What is due of a connection; returns when to look again, µs.
static uint64_t connection_poll(struct http_connection *c, uint64_t now_us)
{
    if (c->state != HTTP_FREE && now_us >= c->due_us)
        connection_late(c);
    if (c->state == HTTP_SECURING && now_us >= weir_stream_due_us(&c->stream))
        connection_run(c);
    if (c->state == HTTP_FREE)
        return WEIR_NEVER;
    const uint64_t stream_us = c->state == HTTP_SECURING ? weir_stream_due_us(&c->stream) : WEIR_NEVER;
    return stream_us < c->due_us ? stream_us : c->due_us;
}

static uint64_t http_poll(struct app *app, uint64_t now_us)
{
    struct http *http = (struct http *)app;
    uint64_t due_us = status_poll(&http->status, now_us);
    for (uint32_t i = 0; i < http->clients.used; i++) {
        const uint64_t connection_us = connection_poll(&http->connections[i], now_us);
        due_us = connection_us < due_us ? connection_us : due_us;
    }
    status_next(http);
    accept_waiting(http);
    return http->clients.look_us < due_us ? http->clients.look_us : due_us;
}

int http_start(struct http *http, struct loop *loop, uint16_t port, struct weir_netif *const *netifs,
               uint32_t netif_count)
{
    return http_start_over(http, loop, port, netifs, netif_count, NULL);
}

int http_start_over(struct http *http, struct loop *loop, uint16_t port, struct weir_netif *const *netifs,
                    uint32_t netif_count, struct weir_stream_maker *maker)
{
    memset(http, 0, sizeof *http);
    http->maker = maker;
    http->app.poll = http_poll;
    http->listener.event = listener_event;
    http->loop = loop;
    clients_init(&http->clients, &http->connections[0].client, HTTP_CONNECTIONS, sizeof http->connections[0]);
    http->clients.may_open = maker != NULL ? may_open : NULL;
    status_init(&http->status, loop->weir, netifs, netif_count);
    for (uint32_t i = 0; i < HTTP_CONNECTIONS; i++) {
        http->connections[i].watch.event = connection_event;
        http->connections[i].http = http;
    }
    http->listening = service_listen(loop, port, &http->listener);
    if (http->listening < 0)
        return http->listening;
    loop_add(loop, &http->app);
    return WEIR_OK;
}

void http_stop(struct http *http)
{
    loop_remove(http->loop, &http->app);
    for (uint32_t i = 0; i < HTTP_CONNECTIONS; i++) {
        if (http->connections[i].state != HTTP_FREE)
            connection_end(&http->connections[i], false);
    }
    clients_stop(&http->clients, http->loop);
    service_close(http->loop, &http->listening);
}
