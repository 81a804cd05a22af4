// SPDX-License-Identifier: BSD-2-Clause
#include "http/client.h"

#include <string.h>

#include "text.h"

static uint64_t now(const struct http_client *client) { return weir_now_us(client->loop->weir); }

static void enter(struct http_client *client, enum http_client_state state, uint32_t wait_us)
{
    client->state = state;
    client->due_us = now(client) + wait_us;
}

static void progress(struct http_client *client) { client->due_us = now(client) + HTTP_CLIENT_STALL_US; }

// --- the end ---------------------------------------------------------------------------------------------------------

void http_client_cancel(struct http_client *client)
{
    weir_stream_close(&client->stream, client->state != HTTP_CLIENT_IDLE);
    client->state = HTTP_CLIENT_IDLE;
    client->due_us = WEIR_NEVER;
}

// Whether the next request may follow on the connection: both sides wish it, both messages are whole, and nothing
// stands behind the answer that the next one could be taken for.
static bool may_keep(const struct http_client *client)
{
    return client->ask.keep && client->goes_on && client->length == 0 &&
           (client->ask.data == NULL || client->data_sent == client->ask.length);
}

// `done` may ask for the next thing.
static void end(struct http_client *client, int result)
{
    struct weir_stream stream = client->stream;
    const bool keep = result == WEIR_OK && may_keep(client);
    if (!keep)
        client->stream = (struct weir_stream){.weir = client->loop->weir};
    client->state = HTTP_CLIENT_IDLE;
    client->due_us = keep ? now(client) + HTTP_CLIENT_KEPT_US : WEIR_NEVER;
    client->ending = &stream;
    client->config.done(client, result, client->config.context);
    client->ending = NULL;
    if (!keep)
        weir_stream_close(&stream, result != WEIR_OK);
}

static void kept_drop(struct http_client *client)
{
    weir_stream_close(&client->stream, 0);
    client->due_us = WEIR_NEVER;
}

// A server that speaks unasked, or ends, is not asked again on this connection.
static void kept_look(struct http_client *client)
{
    if (client->stream.socket > 0 && weir_stream_read(&client->stream, client->config.memory, 1) != WEIR_AGAIN)
        kept_drop(client);
}

// --- the connection --------------------------------------------------------------------------------------------------

static void connect_to(struct http_client *client, struct weir_addr address)
{
    struct weir *weir = client->loop->weir;
    const struct weir_endpoint server = {address, client->url.port};
    const weir_socket socket = weir_socket_open(weir, WEIR_STREAM, 0);
    client->stream = (struct weir_stream){.weir = weir, .socket = socket > 0 ? socket : 0};
    enter(client, HTTP_CLIENT_CONNECTING, HTTP_CLIENT_CONNECT_US);
    if (socket > 0)
        (void)loop_watch(client->loop, socket, &client->watch);
    const int error = socket < 0 ? socket : weir_socket_connect(weir, socket, &server);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        end(client, error);
}

void http_client_located(struct http_client *client, struct weir_addr address)
{
    if (client->state != HTTP_CLIENT_LOCATING)
        return;
    if (weir_addr_is_any(address))
        end(client, WEIR_NO_ADDRESS);
    else
        connect_to(client, address);
}

// Each server that the way leads to has a connection of its own.
static void locate(struct http_client *client)
{
    struct weir_addr address;
    const struct http_url *url = &client->url;
    enter(client, HTTP_CLIENT_LOCATING, HTTP_CLIENT_CONNECT_US);
    if (url->secure && client->config.secure == NULL)
        end(client, WEIR_NOT_SUPPORTED);
    else if (!url->bracketed && text_read_addr(url->host, text_length(url->host), &address))
        http_client_located(client, address);
    else if (client->config.locate != NULL)
        client->config.locate(client, url, client->config.context);
    else
        end(client, WEIR_NO_ADDRESS);
}

static bool step_connecting(struct http_client *client)
{
    int error = weir_stream_connected(&client->stream);
    if (error == WEIR_AGAIN)
        return false;
    (void)weir_socket_set(client->stream.weir, client->stream.socket, WEIR_OPTION_NO_DELAY, 1);
    if (error == WEIR_OK && client->url.secure)
        error = client->config.secure(&client->stream, &client->url, client->config.context);
    if (error != WEIR_OK)
        end(client, error);
    else
        client->state = HTTP_CLIENT_SECURING;
    return error == WEIR_OK;
}

// --- the request -----------------------------------------------------------------------------------------------------

static bool is_of_this_server_alone(const char *name)
{
    return text_equal_nocase(name, text_length(name), "authorization") ||
           text_equal_nocase(name, text_length(name), "cookie");
}

static void put_host(const struct http_url *url, struct text *out)
{
    text_put(out, "\r\nHost: ");
    text_put(out, url->bracketed ? "[" : "");
    text_put(out, url->host);
    text_put(out, url->bracketed ? "]" : "");
    if (url->port != (url->secure ? 443 : 80)) {
        text_char(out, ':');
        text_u64(out, url->port);
    }
}

static void put_range(const struct http_ask *ask, struct text *out)
{
    if (ask->first == 0 && ask->last == 0)
        return;
    text_put(out, "\r\nRange: bytes=");
    text_u64(out, ask->first);
    text_char(out, '-');
    if (ask->last > 0)
        text_u64(out, ask->last);
    if (ask->etag != NULL) {
        text_put(out, "\r\nIf-Range: ");
        text_put(out, ask->etag);
    }
}

// false: it does not fit.
static bool request_make(struct http_client *client)
{
    const struct http_ask *ask = &client->ask;
    struct text out;
    text_init(&out, client->config.memory, client->config.bytes);
    text_put(&out, http_method_name(client->method));
    text_char(&out, ' ');
    text_put(&out, client->url.path);
    text_put(&out, " HTTP/1.1");
    put_host(&client->url, &out);
    text_put(&out, "\r\nUser-Agent: Weir\r\nAccept: */*\r\nConnection: ");
    text_put(&out, ask->keep ? "keep-alive" : "close");
    put_range(ask, &out);
    if (client->with_data) {
        text_put(&out, "\r\nContent-Length: ");
        text_u64(&out, ask->length);
    }
    for (uint32_t i = 0; i < ask->field_count; i++) {
        if (client->away && is_of_this_server_alone(ask->fields[i].name))
            continue;
        text_put(&out, "\r\n");
        text_put(&out, ask->fields[i].name);
        text_put(&out, ": ");
        text_put(&out, ask->fields[i].value);
    }
    text_put(&out, "\r\n\r\n");
    client->at = 0;
    client->length = out.length;
    client->data_sent = 0;
    return !out.cut;
}

static bool step_securing(struct http_client *client)
{
    int begun = weir_stream_begin(&client->stream);
    if (begun == WEIR_AGAIN || begun == WEIR_IN_PROGRESS)  // the stack has its turn between the steps of a handshake
        return false;
    if (begun == WEIR_OK && !request_make(client))
        begun = WEIR_TOO_BIG;
    if (begun != WEIR_OK)
        end(client, begun);
    else
        enter(client, HTTP_CLIENT_SENDING, HTTP_CLIENT_STALL_US);
    return begun == WEIR_OK;
}

// RFC 9112 §9.3.1: a kept connection may end as the next request sets out. What may be asked twice is asked again, on a
// new one. false: it is not to be.
static bool ask_again(struct http_client *client)
{
    if (!client->reused || client->method == HTTP_POST || client->method == HTTP_PATCH)
        return false;
    client->reused = false;
    client->with_data = client->ask.data != NULL;
    weir_stream_close(&client->stream, 1);
    locate(client);
    return true;
}

static bool step_sending(struct http_client *client)
{
    const int sent = weir_stream_write(&client->stream, client->config.memory + client->at, client->length);
    if (sent > 0) {
        client->at += (uint32_t)sent;
        client->length -= (uint32_t)sent;
        progress(client);
    } else if (sent < 0 && sent != WEIR_AGAIN && !ask_again(client)) {
        end(client, sent);
    }
    if (sent <= 0)
        return false;
    if (client->length == 0) {
        client->at = 0;
        client->state = HTTP_CLIENT_HEADER;
    }
    return true;
}

// The request's body goes out while the answer may come already; a server that refuses it takes no more.
static void data_send(struct http_client *client)
{
    while (client->with_data && client->data_sent < client->ask.length) {
        const int sent = weir_stream_write(&client->stream, (const uint8_t *)client->ask.data + client->data_sent,
                                           client->ask.length - client->data_sent);
        if (sent <= 0) {
            client->with_data = sent == WEIR_AGAIN;
            return;
        }
        client->data_sent += (uint32_t)sent;
        progress(client);
    }
}

// --- the answer ------------------------------------------------------------------------------------------------------

// More of it. false: there is none now, or it has ended.
static bool receive(struct http_client *client)
{
    if (client->at > 0)
        memmove(client->config.memory, client->config.memory + client->at, client->length);
    client->at = 0;
    const int got = weir_stream_read(&client->stream, client->config.memory + client->length,
                                     client->config.bytes - client->length);
    if (got > 0) {
        client->length += (uint32_t)got;
        client->reused = false;
        progress(client);
        return true;
    }
    if (got != WEIR_AGAIN && !ask_again(client)) {
        const bool whole =
            client->state == HTTP_CLIENT_BODY && !client->body.chunked && client->body.left == UINT64_MAX;
        end(client, got < 0 ? got : whole ? WEIR_OK : HTTP_CLIENT_SHORT);
    }
    return false;
}

static void taken(struct http_client *client, uint32_t bytes)
{
    client->at += bytes;
    client->length -= bytes;
}

static bool is_redirect(int status) { return (status >= 301 && status <= 303) || status == 307 || status == 308; }

// RFC 9110 §15.4: 303 asks with GET; 301 and 302 do so of POST, as everybody does. false: it leads nowhere.
static bool redirect(struct http_client *client, int status, struct http_line location)
{
    struct http_url url;
    if (client->redirects++ == HTTP_CLIENT_REDIRECTS ||
        !http_url_resolve(&client->url, location.bytes, location.length, &url) || (client->url.secure && !url.secure))
        return false;
    const bool changed = status == 303 || (status <= 302 && client->method == HTTP_POST);
    if (changed) {
        client->method = client->method == HTTP_HEAD ? HTTP_HEAD : HTTP_GET;
        client->ask.data = NULL;  // nor does a later redirect lead it on
    }
    client->with_data = client->ask.data != NULL;
    client->away = client->away || !http_url_same_server(&client->url, &url);
    client->url = url;
    weir_stream_close(&client->stream, 0);
    locate(client);
    return true;
}

// Content-Range: bytes first-last/size
static bool range_is_ours(const struct http_ask *ask, const struct http_answer *answer)
{
    struct http_line value;
    uint64_t first, last;
    if (!http_answer_field(answer, "content-range", &value) || value.length < 6 ||
        !text_equal_nocase(value.bytes, 6, "bytes "))
        return false;
    uint32_t at = 6, digits = text_read_u64(value.bytes + at, value.length - at, UINT64_MAX - 1, &first);
    at += digits;
    if (digits == 0 || at >= value.length || value.bytes[at++] != '-')
        return false;
    digits = text_read_u64(value.bytes + at, value.length - at, UINT64_MAX - 1, &last);
    return digits > 0 && first == ask->first && last >= first && (ask->last == 0 || last <= ask->last) &&
           (answer->length == UINT64_MAX || answer->length == last - first + 1);
}

static bool answer_take(struct http_client *client, struct http_answer *answer, uint32_t bytes)
{
    const bool ranged = client->ask.first > 0 || client->ask.last > 0;
    struct http_line location;
    if (answer->status < 200) {
        taken(client, bytes);  // 100 (Continue) and its like say nothing
        if (answer->status == 101)
            end(client, HTTP_CLIENT_NO_HTTP);
        return answer->status != 101;
    }
    if (is_redirect(answer->status) && !client->ask.redirects_not && http_answer_field(answer, "location", &location)) {
        if (!redirect(client, answer->status, location))
            end(client, HTTP_CLIENT_REDIRECTED);
        return false;
    }
    if (answer->status == 206 && (!ranged || !range_is_ours(&client->ask, answer))) {
        end(client, HTTP_CLIENT_RANGE);
        return false;
    }
    client->state = HTTP_CLIENT_BODY;
    client->body = (struct http_body){.chunked = answer->chunked, .left = answer->length};
    client->paused = client->resumed = client->with_data = false;
    client->goes_on = answer->keep_alive && (answer->chunked || answer->length != UINT64_MAX);
    if (client->config.answer != NULL)
        client->config.answer(client, answer, client->config.context);
    if (client->state == HTTP_CLIENT_BODY)
        taken(client, bytes);
    return client->state == HTTP_CLIENT_BODY;
}

static bool step_header(struct http_client *client)
{
    struct http_answer answer;
    data_send(client);
    const int parsed =
        http_answer_parse(client->config.memory + client->at, client->length, client->method == HTTP_HEAD, &answer);
    if (parsed > 0)
        return answer_take(client, &answer, (uint32_t)parsed);
    if (parsed < 0 || client->length == client->config.bytes) {
        end(client, HTTP_CLIENT_NO_HTTP);
        return false;
    }
    return receive(client);
}

// What of the body is there. HTTP_CHUNK_END: all of it has been.
static enum http_chunk piece_next(struct http_client *client, uint32_t *length)
{
    uint32_t used;
    const enum http_chunk chunk =
        http_body_read(&client->body, client->config.memory + client->at, client->length, &used, length);
    taken(client, used);
    return chunk;
}

static bool piece_give(struct http_client *client, uint32_t length)
{
    client->resumed = false;
    const uint32_t most = client->config.body(client, (const uint8_t *)client->config.memory + client->at, length,
                                              client->config.context);
    const uint32_t took = most < length ? most : length;
    if (client->state != HTTP_CLIENT_BODY)
        return false;
    taken(client, took);
    http_body_taken(&client->body, took);
    client->paused = took < length && !client->resumed;
    if (client->paused)
        client->due_us = WEIR_NEVER;
    return !client->paused;
}

static bool step_body(struct http_client *client)
{
    uint32_t length;
    if (client->paused)
        return false;
    switch (piece_next(client, &length)) {
    case HTTP_CHUNK_DATA: return piece_give(client, length);
    case HTTP_CHUNK_MORE: return receive(client);
    case HTTP_CHUNK_END: end(client, WEIR_OK); return false;
    default: end(client, HTTP_CLIENT_NO_HTTP); return false;
    }
}

// --- turns -----------------------------------------------------------------------------------------------------------

static bool step(struct http_client *client)
{
    switch (client->state) {
    case HTTP_CLIENT_CONNECTING: return step_connecting(client);
    case HTTP_CLIENT_SECURING: return step_securing(client);
    case HTTP_CLIENT_SENDING: return step_sending(client);
    case HTTP_CLIENT_HEADER: return step_header(client);
    case HTTP_CLIENT_BODY: return step_body(client);
    default: return false;
    }
}

// Callbacks within it may ask for it.
static void run(struct http_client *client)
{
    client->again = true;
    if (client->running)
        return;
    client->running = true;
    while (client->again) {
        client->again = false;
        while (step(client))
            continue;
    }
    client->running = false;
}

void http_client_connected(struct http_client *client, weir_socket socket)
{
    if (client->state != HTTP_CLIENT_LOCATING)
        return;
    if (socket <= 0) {
        end(client, socket < 0 ? socket : WEIR_NO_ADDRESS);
        return;
    }
    client->stream = (struct weir_stream){.weir = client->loop->weir, .socket = socket};
    enter(client, HTTP_CLIENT_CONNECTING, HTTP_CLIENT_CONNECT_US);
    (void)loop_watch(client->loop, socket, &client->watch);
    run(client);
}

void http_client_resume(struct http_client *client)
{
    client->resumed = true;
    client->paused = false;
    if (client->state == HTTP_CLIENT_BODY) {
        progress(client);
        run(client);
    }
}

static void turn(struct http_client *client)
{
    if (client->state == HTTP_CLIENT_IDLE)
        kept_look(client);
    else
        run(client);
}

static void socket_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct http_client *client = (struct http_client *)(void *)((char *)watch - offsetof(struct http_client, watch));
    (void)events;
    if (socket == client->stream.socket)
        turn(client);
}

static uint64_t client_poll(struct app *app, uint64_t now_us)
{
    struct http_client *client = (struct http_client *)app;
    if (now_us >= client->due_us && client->state == HTTP_CLIENT_IDLE)
        kept_drop(client);
    else if (now_us >= client->due_us)
        end(client, WEIR_TIMED_OUT);
    if (client->stream.socket > 0 && now_us >= weir_stream_due_us(&client->stream))
        turn(client);
    const uint64_t stream_us = client->stream.socket > 0 ? weir_stream_due_us(&client->stream) : WEIR_NEVER;
    return stream_us < client->due_us ? stream_us : client->due_us;
}

int http_client_start(struct http_client *client, struct loop *loop, const struct http_client_config *config)
{
    memset(client, 0, sizeof *client);
    if (config->bytes < HTTP_CLIENT_LEAST || config->done == NULL || config->body == NULL)
        return WEIR_INVALID;
    client->app.poll = client_poll;
    client->watch.event = socket_event;
    client->loop = loop;
    client->config = *config;
    client->stream.weir = loop->weir;
    client->due_us = WEIR_NEVER;
    loop_add(loop, &client->app);
    return WEIR_OK;
}

void http_client_stop(struct http_client *client)
{
    http_client_cancel(client);
    loop_remove(client->loop, &client->app);
}

int http_client_ask(struct http_client *client, const struct http_ask *ask)
{
    if (client->state != HTTP_CLIENT_IDLE)
        return WEIR_AGAIN;
    struct http_url url;
    if (!http_url_parse(ask->url, &url) || (ask->etag != NULL && !http_is_value(ask->etag)))
        return WEIR_INVALID;
    for (uint32_t i = 0; i < ask->field_count; i++) {
        const struct http_line name = {ask->fields[i].name, text_length(ask->fields[i].name)};
        if (!http_is_token(name) || !http_is_value(ask->fields[i].value))
            return WEIR_INVALID;
    }
    kept_look(client);
    if (!http_url_same_server(&client->url, &url))
        kept_drop(client);
    client->ask = *ask;
    client->url = url;
    client->method = ask->method != 0 ? ask->method : HTTP_GET;
    client->with_data = ask->data != NULL;
    client->redirects = 0;
    client->away = false;
    client->reused = client->stream.socket > 0;
    if (!request_make(client))
        return WEIR_INVALID;
    if (client->reused) {
        enter(client, HTTP_CLIENT_SENDING, HTTP_CLIENT_STALL_US);
        run(client);
    } else {
        locate(client);
    }
    return WEIR_OK;
}
