// SPDX-License-Identifier: BSD-2-Clause
// Responses: the header, and the body as the queue takes it.
#include <string.h>

#include "calendar.h"
#include "http/internal.h"

#define SPANS 8
#define CHUNK_HEAD 6u                  // "03e8" CR LF
#define CHUNK_FRAME (CHUNK_HEAD + 2u)  // and CR LF behind the data
#define CHUNK_DATA_MAX 0xffffu
#define LAST_CHUNK "0\r\n\r\n"

// What a status is called, and what the error's text says of it.
static const struct status_words {
    int status;
    const char *reason, *explanation;
} statuses[] = {
    {101, "Switching Protocols", ""},
    {200, "OK", ""},
    {201, "Created", ""},
    {202, "Accepted", ""},
    {204, "No Content", ""},
    {206, "Partial Content", ""},
    {301, "Moved Permanently", ""},
    {302, "Found", ""},
    {303, "See Other", ""},
    {304, "Not Modified", ""},
    {307, "Temporary Redirect", ""},
    {308, "Permanent Redirect", ""},
    {400, "Bad Request", "This is not an HTTP/1.1 request that can be understood in one way only."},
    {401, "Unauthorized", ""},
    {403, "Forbidden", ""},
    {404, "Not Found", "Nothing has this name here."},
    {405, "Method Not Allowed", "This is not done with it: see Allow."},
    {408, "Request Timeout", "The request did not arrive in time."},
    {409, "Conflict", ""},
    {412, "Precondition Failed", "It is not what the request takes it for."},
    {413, "Content Too Large", "The request's body is longer than is accepted here."},
    {414, "URI Too Long", "The request line is longer than is accepted here."},
    {415, "Unsupported Media Type", ""},
    {416, "Range Not Satisfiable", "The body does not reach to this range."},
    {417, "Expectation Failed", "Nothing but 100-continue can be expected here."},
    {421, "Misdirected Request", "This host does not go by that name."},
    {422, "Unprocessable Content", ""},
    {426, "Upgrade Required", "This is a WebSocket of version 13 (RFC 6455)."},
    {429, "Too Many Requests", ""},
    {431, "Request Header Fields Too Large", "The request's header is longer than is accepted here."},
    {500, "Internal Server Error", ""},
    {501, "Not Implemented", "No transfer coding but chunked is accepted here."},
    {503, "Service Unavailable", ""},
    {505, "HTTP Version Not Supported", "Only HTTP/1.0 and HTTP/1.1 are spoken here."},
};

static const struct status_words *status_of(int status)
{
    static const struct status_words unknown = {0, "Unknown", ""};
    for (uint32_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        if (statuses[i].status == status)
            return &statuses[i];
    }
    return &unknown;
}

// --- the header ------------------------------------------------------------------------------------------------------

uint32_t http_out_room(struct http_connection *c, char **at)
{
    if (c->out_at > 0) {
        memmove(c->out, c->out + c->out_at, c->out_length - c->out_at);
        c->out_length -= c->out_at;
        c->out_at = 0;
    }
    *at = c->out + c->out_length;
    return c->server->config.out_bytes - c->out_length;
}

static void put_field(struct text *out, const char *name, const char *value)
{
    text_put(out, name);
    text_put(out, ": ");
    text_put(out, value);
    text_put(out, "\r\n");
}

static void put_number(struct text *out, const char *name, uint64_t value)
{
    text_put(out, name);
    text_put(out, ": ");
    text_u64(out, value);
    text_put(out, "\r\n");
}

// RFC 9110 §6.6.1: Date is said by who has a clock, and by nobody else.
static void put_date(const struct http_server_config *config, struct text *out)
{
    struct calendar now;
    if (config->unix_us == NULL || !calendar_of(config->unix_us(config->context), &now))
        return;
    text_put(out, "Date: ");
    text_bytes(out, &"SunMonTueWedThuFriSat"[3 * now.weekday], 3);
    text_put(out, ", ");
    text_padded(out, now.day, 2);
    text_char(out, ' ');
    text_bytes(out, &"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * (now.month - 1)], 3);
    text_char(out, ' ');
    text_padded(out, now.year, 4);
    text_char(out, ' ');
    text_clock(out, now.hour, now.minute, now.second);
    text_put(out, " GMT\r\n");
}

// bytes first-last/size; of 416: bytes */size
static void put_range(struct text *out, int status, uint64_t first, uint64_t count, uint64_t size)
{
    text_put(out, "Content-Range: bytes ");
    if (status == 206) {
        text_u64(out, first);
        text_char(out, '-');
        text_u64(out, first + count - 1);
    } else {
        text_char(out, '*');
    }
    text_char(out, '/');
    text_u64(out, size);
    text_put(out, "\r\n");
}

static void put_allow(struct text *out, unsigned methods)
{
    bool first = true;
    text_put(out, "Allow: ");
    for (unsigned method = HTTP_GET; method != HTTP_OTHER; method <<= 1) {
        if ((methods & method) == 0)
            continue;
        text_put(out, first ? "" : ", ");
        text_put(out, http_method_name((enum http_method)method));
        first = false;
    }
    text_put(out, "\r\n");
}

static bool has_no_body(int status) { return status == 204 || status == 304; }

// The part that every response has. RFC 9112 §6.3: where the length is not known, HTTP/1.0 reads until the end.
static struct text head_begin(struct http_connection *c, int status, const char *type, uint64_t length)
{
    char *at;
    struct text out;
    const uint32_t room = http_out_room(c, &at);
    text_init(&out, at, room);
    text_put(&out, "HTTP/1.1 ");
    text_u64(&out, (uint64_t)status);
    text_char(&out, ' ');
    text_put(&out, status_of(status)->reason);
    text_put(&out, "\r\nServer: Weir\r\n");
    put_date(&c->server->config, &out);
    if (type != NULL)
        put_field(&out, "Content-Type", type);
    if (length != HTTP_UNTIL_END && !has_no_body(status))
        put_number(&out, "Content-Length", length);
    else if (length == HTTP_UNTIL_END && c->version_minor > 0 && status != 204)  // RFC 9112 §6.1
        put_field(&out, "Transfer-Encoding", "chunked");
    put_field(&out, "X-Content-Type-Options", "nosniff");
    put_field(&out, "Connection", c->keep_alive ? "keep-alive" : "close");
    return out;
}

static void response_ready(struct http_connection *c, const struct text *head, uint32_t stall_us)
{
    c->out_length += head->length;
    c->output.ended = c->output.left == 0;
    c->output.stall_us = stall_us != 0 ? stall_us : HTTP_STALL_US;
    c->responded = true;
    http_enter(c, HTTP_SENDING, c->output.stall_us);
    if (c->server->running != c)
        http_resume(c);
}

// A line of text that says what was wrong. The connection goes on only where the next request's beginning is known.
void http_respond_error(struct http_connection *c, int status, uint64_t size)
{
    const char *const what = status_of(status)->reason, *const why = status_of(status)->explanation;
    c->server->count.errors++;
    if (status != 404 && status != 405 && status != 412 && status != 416 && status != 426)
        c->keep_alive = false;
    c->keep_alive = c->keep_alive && !c->expecting;
    c->output = (struct http_output){0};
    struct text out =
        head_begin(c, status, "text/plain; charset=utf-8", 4 + text_length(what) + 1 + text_length(why) + 1);
    if (status == 405)
        put_allow(&out, (unsigned)size);
    if (status == 416)
        put_range(&out, status, 0, 0, size);
    if (status == 426)
        text_put(&out, "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    text_put(&out, "\r\n");
    if (!c->head_only) {
        text_u64(&out, (uint64_t)status);
        text_char(&out, ' ');
        text_put(&out, what);
        text_char(&out, '\n');
        text_put(&out, why);
        text_char(&out, '\n');
    }
    response_ready(c, &out, 0);
}

// Whether all the fields are in, as they were meant.
static bool put_fields(struct text *out, const struct http_response *response)
{
    bool good = true;
    for (uint32_t i = 0; i < response->field_count; i++) {
        const struct http_field *field = &response->fields[i];
        good = good && http_is_value(field->value) &&
               http_is_token((struct http_line){field->name, text_length(field->name)});
        put_field(out, field->name, field->value);
    }
    text_put(out, "\r\n");
    return good && !out->cut;
}

// What of the body is to be sent, and with which status.
static int part_choose(struct http_request *request, const struct http_response *response, uint64_t *first,
                       uint64_t *count)
{
    const int status = response->status != 0 ? response->status : 200;
    *first = 0;
    *count = response->length;
    if (request == NULL || response->etag == NULL || status != 200)
        return status;
    const int met = http_conditions_apply(request, response->etag);
    if (met != 200)
        return met;
    if (response->length == HTTP_UNTIL_END || request->method != HTTP_GET)  // RFC 9110 §14.2
        return status;
    return http_range_apply(request, response->length, first, count);
}

void http_respond(struct http_connection *c, struct http_request *request, const struct http_response *response)
{
    uint64_t first, count;
    if (c->responded || c->state == HTTP_FREE)
        return;
    const int status = part_choose(request, response, &first, &count);
    const bool unknown = count == HTTP_UNTIL_END, body = !c->head_only && !has_no_body(status);
    if (status == 412 || status == 416) {
        http_respond_error(c, status, response->length);
        return;
    }
    c->keep_alive = c->keep_alive && !c->expecting && !(unknown && c->version_minor == 0);
    c->output = (struct http_output){.data = response->data,
                                     .produce = response->produce,
                                     .at = first,
                                     .left = body ? count : 0,
                                     .chunked = body && unknown && c->version_minor > 0,
                                     .pushed = body && unknown && response->produce == NULL};
    struct text out = head_begin(c, status, response->type, count);
    if (response->etag != NULL)
        put_field(&out, "ETag", response->etag);
    if (response->etag != NULL && !unknown)
        put_field(&out, "Accept-Ranges", "bytes");
    if (status == 206)
        put_range(&out, status, first, count, response->length);
    const bool good = put_fields(&out, response);
    // Of what is pushed the end may follow at once: there is room for it, here as in http_push.
    if (good && (!c->output.pushed || out.room - out.length >= sizeof LAST_CHUNK - 1))
        response_ready(c, &out, response->stall_us);
    else
        http_respond_error(c, 500, 0);
}

// --- the body --------------------------------------------------------------------------------------------------------

int http_flush(struct http_connection *c)
{
    while (c->out_at < c->out_length) {
        const int sent = weir_stream_write(&c->stream, c->out + c->out_at, c->out_length - c->out_at);
        if (sent <= 0)
            return sent < 0 ? sent : WEIR_AGAIN;
        c->out_at += (uint32_t)sent;
        client_moved(&c->client, (uint64_t)sent, weir_now_us(http_weir(c)));
        if (c->state == HTTP_SENDING)
            c->due_us = weir_now_us(http_weir(c)) + c->output.stall_us;
    }
    return WEIR_OK;
}

// Makes bytes where they are to lie in the send queue. As those below: bytes queued, or an error.
static int send_in_place(struct http_connection *c, uint32_t want)
{
    struct weir_span spans[SPANS];
    int room = weir_socket_reserve(http_weir(c), c->stream.socket, want, spans, SPANS);
    if (room <= 0)
        return room;
    uint32_t made = 0;
    for (int i = 0; made < (uint32_t)room; i++) {
        const int some = c->output.produce(c, c->output.at + made, spans[i].data, spans[i].length);
        if (some < 0 && made == 0)
            return some;
        made += some > 0 ? (uint32_t)some : 0;
        if (some < (int)spans[i].length)
            break;
    }
    const int error = made > 0 ? weir_socket_commit(http_weir(c), c->stream.socket, made) : WEIR_AGAIN;
    return error < 0 ? error : (int)made;
}

// Bytes for a stream over the socket are put together elsewhere first.
static int send_copied(struct http_connection *c, uint32_t want)
{
    const struct weir_stream_maker *const maker = c->server->config.maker;
    want = want < maker->scratch_bytes ? want : maker->scratch_bytes;
    const int made = c->output.produce(c, c->output.at, maker->scratch, want);
    return made > 0 ? weir_stream_write(&c->stream, maker->scratch, (uint32_t)made) : made < 0 ? made : WEIR_AGAIN;
}

static int send_known(struct http_connection *c)
{
    struct http_output *output = &c->output;
    const uint32_t want = output->left < INT32_MAX ? (uint32_t)output->left : INT32_MAX;
    if (output->data != NULL)
        return weir_stream_write(&c->stream, output->data + output->at, want);
    if (output->produce == NULL)
        return WEIR_INVALID;
    return c->stream.calls == NULL ? send_in_place(c, want) : send_copied(c, want);
}

// Puts a piece into c->out, with what makes it a chunk; its data are at `at` + CHUNK_HEAD already, where it is one.
static void stage(struct http_connection *c, char *at, uint32_t length)
{
    struct text head;
    char size[CHUNK_HEAD + 1];
    if (c->output.chunked) {
        text_init(&head, size, sizeof size);
        text_hex(&head, length, 4);
        text_put(&head, "\r\n");
        memcpy(at, size, CHUNK_HEAD);
        at[CHUNK_HEAD + length] = '\r';
        at[CHUNK_HEAD + length + 1] = '\n';
    }
    c->out_length += length + (c->output.chunked ? CHUNK_FRAME : 0);
}

static void stage_end(struct http_connection *c)
{
    char *at;
    c->output.ended = true;
    if (!c->output.chunked)
        return;
    (void)http_out_room(c, &at);
    memcpy(at, LAST_CHUNK, sizeof LAST_CHUNK - 1);
    c->out_length += (uint32_t)sizeof LAST_CHUNK - 1;
}

// The next piece of a body whose length is not known; c->out is empty.
static int stage_produced(struct http_connection *c)
{
    char *at;
    const uint32_t frame = c->output.chunked ? CHUNK_FRAME : 0;
    uint32_t room = http_out_room(c, &at) - frame;
    room = room < CHUNK_DATA_MAX ? room : CHUNK_DATA_MAX;
    char *const data = at + (c->output.chunked ? CHUNK_HEAD : 0);
    const int made = c->output.produce(c, c->output.at, (uint8_t *)data, room);
    if (made > 0) {
        stage(c, at, (uint32_t)made);
        c->output.at += (uint32_t)made;
    } else if (made == 0) {
        stage_end(c);
    }
    return made;
}

int http_push(struct http_connection *c, const void *data, uint32_t length)
{
    char *at;
    if (c->state != HTTP_SENDING || !c->output.pushed || c->output.ended)
        return WEIR_NOT_CONNECTED;
    const uint32_t frame = (c->output.chunked ? CHUNK_FRAME : 0) + (uint32_t)sizeof LAST_CHUNK - 1;
    if (length + frame > c->server->config.out_bytes || length > CHUNK_DATA_MAX)
        return WEIR_TOO_BIG;
    if (http_out_room(c, &at) < length + frame)
        return WEIR_AGAIN;
    if (length == 0)
        return WEIR_OK;  // a chunk of no bytes would be the last
    memcpy(at + (c->output.chunked ? CHUNK_HEAD : 0), data, length);
    stage(c, at, length);
    c->output.at += length;
    if (c->output.idle)
        c->due_us = weir_now_us(http_weir(c)) + c->output.stall_us;
    c->output.idle = false;
    if (c->server->running != c)
        http_resume(c);
    return WEIR_OK;
}

void http_push_end(struct http_connection *c)
{
    if (c->state != HTTP_SENDING || !c->output.pushed || c->output.ended)
        return;
    stage_end(c);  // http_push leaves room for it
    if (c->server->running != c)
        http_resume(c);
}

void http_route_done(struct http_connection *c, bool whole)
{
    const struct http_route *const route = c->route;
    c->route = NULL;
    if (route != NULL && route->done != NULL)
        route->done(c, whole);
}

static void response_done(struct http_connection *c)
{
    http_route_done(c, true);
    const bool unread = c->body.chunked || c->body.left > 0;
    if (c->keep_alive && unread)
        http_enter(c, HTTP_SKIPPING, HTTP_HEADER_US);
    else
        http_exchange_done(c);
}

// Nothing to be sent now: the peer of a stream of events is asked from time to time whether it is still there.
static bool wait_for_handler(struct http_connection *c)
{
    if (!c->output.idle)
        c->due_us = weir_now_us(http_weir(c)) + (c->output.events ? HTTP_QUIET_US : HTTP_STALL_US);
    c->output.idle = true;
    return false;
}

bool http_step_sending(struct http_connection *c)
{
    struct http_output *output = &c->output;
    int sent = http_flush(c);
    if (sent == WEIR_OK && output->ended) {
        response_done(c);
        return true;
    }
    if (sent == WEIR_OK && output->pushed)
        return wait_for_handler(c);
    if (sent == WEIR_OK)
        sent = output->left == HTTP_UNTIL_END ? stage_produced(c) : send_known(c);
    if (sent == WEIR_AGAIN)
        return false;
    if (sent < 0) {
        http_end(c, true);
        return false;
    }
    if (output->left == HTTP_UNTIL_END)
        return true;
    c->due_us = weir_now_us(http_weir(c)) + output->stall_us;
    client_moved(&c->client, (uint64_t)sent, weir_now_us(http_weir(c)));
    output->at += (uint32_t)sent;
    output->left -= (uint32_t)sent;
    output->ended = output->left == 0;
    return true;
}
