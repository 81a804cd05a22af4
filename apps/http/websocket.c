// SPDX-License-Identifier: BSD-2-Clause
#include "http/websocket.h"

#include <string.h>

#include "bytes.h"
#include "http/internal.h"

#define CONTROL_MAX 125u
#define CONTROL_ROOM (CONTROL_MAX + 2u)

enum { CONTINUATION = 0, CLOSE = 8, PING = 9, PONG = 10 };
enum { PROTOCOL_ERROR = 1002, NO_STATUS = 1005, BAD_TEXT = 1007, REFUSED = 1008, TOO_LONG = 1009 };

// --- the handshake ---------------------------------------------------------------------------------------------------

static bool field_has(const struct http_request *request, const char *name, const char *item)
{
    struct http_line value;
    for (uint32_t at = 0; http_fields_find(request->fields, &at, name, &value);) {
        if (http_list_has(value, item))
            return true;
    }
    return false;
}

// 16 bytes in base64.
static bool is_key(struct http_line key)
{
    for (uint32_t i = 0; i < key.length; i++) {
        const char c = key.bytes[i], lower = (char)(c | 0x20);
        const bool digit = (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '+' || c == '/';
        if (i < 22 ? !digit : c != '=')
            return false;
    }
    return key.length == 24;
}

// 101, or the status that refuses.
static int handshake_judge(struct http_connection *c, const struct http_request *request, struct http_line *key)
{
    const struct http_websocket *websocket = c->route->websocket;
    struct http_line version;
    if (!request->http11 || !field_has(request, "connection", "upgrade") ||
        !field_has(request, "upgrade", "websocket") ||
        !http_request_field(request, "sec-websocket-version", &version) ||
        !text_equal(version.bytes, version.length, "13"))
        return 426;
    if (!http_request_field(request, "sec-websocket-key", key) || !is_key(*key) || request->chunked ||
        request->body_length > 0)
        return 400;
    const bool may = websocket->open != NULL ? websocket->open(c, request) : http_same_origin(request);
    return may ? 101 : 403;
}

void http_websocket_begin(struct http_connection *c, const struct http_request *request)
{
    const struct http_websocket *websocket = c->route->websocket;
    struct http_line key;
    struct text out;
    char accept[29], *at;
    const int status = handshake_judge(c, request, &key);
    if (c->responded || c->state == HTTP_FREE)
        return;
    if (status != 101) {
        http_respond_error(c, status, 0);
        return;
    }
    http_websocket_accept(key, accept);
    const uint32_t room = http_out_room(c, &at);
    text_init(&out, at, room);
    text_put(&out, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Accept: ");
    text_put(&out, accept);
    if (websocket->protocol != NULL && field_has(request, "sec-websocket-protocol", websocket->protocol)) {
        text_put(&out, "\r\nSec-WebSocket-Protocol: ");
        text_put(&out, websocket->protocol);
    }
    text_put(&out, "\r\n\r\n");
    c->out_length += out.length;
    c->responded = true;
    c->frames = (struct http_frames){0};
    http_enter(c, HTTP_UPGRADED, HTTP_QUIET_US);
    if (websocket->opened != NULL)
        websocket->opened(c);
}

// --- output ----------------------------------------------------------------------------------------------------------

// Puts a frame into c->out, where there is room for it.
static void frame_put(struct http_connection *c, uint8_t first, const void *data, uint32_t length)
{
    char *at;
    (void)http_out_room(c, &at);
    uint8_t *out = (uint8_t *)at;
    uint32_t head = 2;
    out[0] = first;
    out[1] = (uint8_t)length;
    if (length > CONTROL_MAX) {
        out[1] = CONTROL_MAX + 1;
        put16(out + 2, length);
        head = HTTP_WEBSOCKET_FRAME;
    }
    if (length > 0)
        memcpy(out + head, data, length);
    c->out_length += head + length;
    c->frames.filled = true;
}

static bool control_room(struct http_connection *c)
{
    char *at;
    return http_out_room(c, &at) >= CONTROL_ROOM;
}

int http_websocket_send(struct http_connection *c, enum http_websocket_type type, const void *piece, uint32_t length,
                        bool last)
{
    char *at;
    struct http_frames *f = &c->frames;
    if (c->state != HTTP_UPGRADED || f->closing != 0)
        return WEIR_NOT_CONNECTED;
    if (length + HTTP_WEBSOCKET_FRAME > c->server->config.out_bytes || length > 0xffff)
        return WEIR_TOO_BIG;
    if (http_out_room(c, &at) < length + HTTP_WEBSOCKET_FRAME)
        return WEIR_AGAIN;
    frame_put(c, (uint8_t)((last ? 0x80 : 0) | (f->sending ? CONTINUATION : (int)type)), piece, length);
    f->sending = !last;
    if (c->server->running != c)
        http_resume(c);
    return WEIR_OK;
}

// The close is sent when there is room for it; then the other end's is awaited, for so long as that may take.
static void close_begin(struct http_connection *c, uint16_t code)
{
    if (c->frames.closing != 0)
        return;
    c->frames.closing = code;
    c->due_us = weir_now_us(http_weir(c)) + HTTP_WEBSOCKET_CLOSE_US;
}

static void close_put(struct http_connection *c)
{
    uint8_t code[2];
    put16(code, c->frames.closing);
    frame_put(c, 0x80 | CLOSE, code, c->frames.closing == NO_STATUS ? 0 : 2);
    c->frames.close_sent = true;
}

void http_websocket_close(struct http_connection *c, uint16_t code)
{
    if (c->state != HTTP_UPGRADED)
        return;
    close_begin(c, code);
    if (c->server->running != c)
        http_resume(c);
}

// What breaks the protocol: the other end's close is not waited for.
static bool fail(struct http_connection *c, uint16_t code)
{
    close_begin(c, code);
    c->frames.close_seen = true;
    return true;
}

// --- input -----------------------------------------------------------------------------------------------------------

static uint16_t head_judge(const struct http_frames *f, const uint8_t *in, uint64_t length)
{
    const uint8_t opcode = in[0] & 15;
    const bool control = opcode >= CLOSE, known = opcode <= HTTP_WEBSOCKET_BINARY || (control && opcode <= PONG);
    if ((in[0] & 0x70) != 0 || !known || (in[1] & 0x80) == 0)
        return PROTOCOL_ERROR;
    if (control)
        return (in[0] & 0x80) == 0 || length > CONTROL_MAX ? PROTOCOL_ERROR : 0;
    return (opcode == CONTINUATION) != (f->message != 0) ? PROTOCOL_ERROR : 0;
}

// A frame's header. 1: taken; 0: it is not whole; a close code: it is wrong.
static int head_take(struct http_connection *c)
{
    struct http_frames *f = &c->frames;
    const uint8_t *in = (const uint8_t *)c->in + c->in_at;
    const uint32_t extra = c->in_length < 2 ? 0 : (in[1] & 127) == 126 ? 2 : (in[1] & 127) == 127 ? 8 : 0;
    const uint32_t bytes = 2 + extra + 4;
    if (c->in_length < 2 || (c->in_length < bytes && (in[1] & 0x80) != 0))
        return 0;
    uint64_t length = extra == 0 ? in[1] & 127u : 0;
    for (uint32_t i = 0; i < extra && (in[1] & 0x80) != 0; i++)
        length = length << 8 | in[2 + i];
    // The shortest form, and no sign (§5.2).
    if ((extra == 2 && length <= CONTROL_MAX) || (extra == 8 && (length <= 0xffff || length >> 63 != 0)))
        return PROTOCOL_ERROR;
    const uint16_t wrong = head_judge(f, in, length);
    if (wrong != 0)
        return wrong;
    f->opcode = in[0] & 15;
    f->final = (in[0] & 0x80) != 0;
    f->left = length;
    f->clear = f->position = 0;
    memcpy(f->mask, in + 2 + extra, 4);
    if (f->opcode < CLOSE) {
        if (f->opcode != CONTINUATION) {
            f->message = f->opcode;
            f->total = 0;
            f->utf8 = (struct http_utf8){0};
        }
        f->total = length > UINT64_MAX - f->total ? UINT64_MAX : f->total + length;
        if (c->route->websocket->message_max != 0 && f->total > c->route->websocket->message_max)
            return TOO_LONG;
    }
    http_input_taken(c, bytes);
    f->inside = true;
    return 1;
}

// Takes the mask off the first `length` bytes there, once. false: they are no text.
static bool unmask(struct http_connection *c, uint32_t length)
{
    struct http_frames *f = &c->frames;
    uint8_t *in = (uint8_t *)c->in + c->in_at;
    bool good = true;
    for (; f->clear < length; f->clear++, f->position++) {
        in[f->clear] ^= f->mask[f->position & 3];
        if (f->opcode < CLOSE && f->message == HTTP_WEBSOCKET_TEXT)
            good = good && http_utf8_take(&f->utf8, in[f->clear]);
    }
    return good;
}

// Gives the handler a piece. Returns how many bytes are done with, WEIR_AGAIN.
static int data_give(struct http_connection *c, uint32_t length, bool last)
{
    const struct http_frames *f = &c->frames;
    if (f->closing != 0)
        return (int)length;  // nobody wants it any more
    c->resumed = false;
    const int took = c->route->websocket->message(c, (enum http_websocket_type)f->message,
                                                  (const uint8_t *)c->in + c->in_at, length, last);
    return took < (int)length ? took : (int)length;
}

static bool data_take(struct http_connection *c)
{
    struct http_frames *f = &c->frames;
    const uint32_t length = f->left < c->in_length ? (uint32_t)f->left : c->in_length;
    const bool last = f->final && length == f->left;
    if (length == 0 && f->left > 0)
        return false;
    if (!unmask(c, length) || (last && f->utf8.left > 0))
        return fail(c, BAD_TEXT);
    const int took = data_give(c, length, last);
    if (c->state != HTTP_UPGRADED)
        return false;
    if (took < 0) {
        c->paused = !c->resumed;
        return c->resumed;
    }
    http_input_taken(c, (uint32_t)took);
    f->left -= (uint32_t)took;
    f->clear -= (uint32_t)took;
    f->inside = f->left > 0;
    if (last && !f->inside)
        f->message = 0;
    return took > 0 || length == 0;  // none: when more of it has come
}

static bool is_close_code(uint32_t code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) || (code >= 3000 && code <= 4999);
}

static void close_take(struct http_connection *c, const uint8_t *data, uint32_t length)
{
    struct http_utf8 utf8 = {0};
    bool good = true;
    const uint32_t code = length >= 2 ? get16(data) : NO_STATUS;
    for (uint32_t i = 2; i < length; i++)
        good = good && http_utf8_take(&utf8, data[i]);
    const uint16_t answer = length == 1 || (length >= 2 && !is_close_code(code)) ? PROTOCOL_ERROR
                            : !good || utf8.left > 0                             ? BAD_TEXT
                                                                                 : (uint16_t)code;
    c->frames.close_seen = true;
    close_begin(c, answer);
}

// Whole, and only where there is room for an answer.
static bool control_take(struct http_connection *c)
{
    struct http_frames *f = &c->frames;
    const uint32_t length = (uint32_t)f->left;
    const uint8_t *data = (const uint8_t *)c->in + c->in_at;
    if (c->in_length < length)
        return false;
    if (!control_room(c)) {
        f->filled = c->paused = true;  // until what is there has gone, be it the handshake
        return false;
    }
    (void)unmask(c, length);
    if (f->opcode == PING && f->closing == 0)
        frame_put(c, 0x80 | PONG, data, length);
    if (f->opcode == CLOSE)
        close_take(c, data, length);
    http_input_taken(c, length);
    f->clear = 0;
    f->inside = false;
    return true;
}

static bool input_take(struct http_connection *c)
{
    if (!c->frames.inside) {
        const int head = head_take(c);
        return head > 1 ? fail(c, (uint16_t)head) : head == 1;
    }
    return c->frames.opcode >= CLOSE ? control_take(c) : data_take(c);
}

static bool input_receive(struct http_connection *c)
{
    const int got = c->in_length < c->server->config.in_bytes ? http_receive(c) : WEIR_AGAIN;
    if (got <= 0 && got != WEIR_AGAIN)
        http_end(c, got < 0);
    if (got > 0 && c->frames.closing == 0) {
        c->frames.pinged = false;
        c->due_us = weir_now_us(http_weir(c)) + HTTP_QUIET_US;
    }
    return got > 0;
}

bool http_step_websocket(struct http_connection *c)
{
    struct http_frames *f = &c->frames;
    if (f->closing != 0 && !f->close_sent && control_room(c))
        close_put(c);
    const int flushed = http_flush(c);
    if (flushed < 0 && flushed != WEIR_AGAIN) {
        http_end(c, true);
        return false;
    }
    if (flushed == WEIR_OK && f->close_sent && f->close_seen) {
        http_route_done(c, true);
        c->keep_alive = false;
        http_exchange_done(c);
        return true;
    }
    if (flushed == WEIR_OK && f->filled) {
        f->filled = false;
        c->paused = false;
        if (c->route->websocket->ready != NULL && f->closing == 0)
            c->route->websocket->ready(c);
        return c->state == HTTP_UPGRADED;
    }
    if (f->close_seen)
        return f->closing != 0 && !f->close_sent && control_room(c);
    return !c->paused && (input_take(c) || (c->state == HTTP_UPGRADED && !c->paused && input_receive(c)));
}

bool http_websocket_quiet(struct http_connection *c)
{
    const uint64_t now_us = weir_now_us(http_weir(c));
    const bool room = control_room(c);
    if (c->frames.closing != 0 || c->frames.pinged || (!room && now_us - c->client.last_us >= HTTP_QUIET_US))
        return false;
    if (room) {  // none: it has a message before it, of which it takes something
        frame_put(c, 0x80 | PING, NULL, 0);
        c->frames.pinged = true;
    }
    c->due_us = now_us + HTTP_QUIET_US;
    http_resume(c);
    return true;
}
