// SPDX-License-Identifier: BSD-2-Clause
// Connections: who has a place, what state it is in, when that is given up.
#include "http/server.h"

#include <string.h>

#include "http/internal.h"
#include "service.h"

// --- life of a connection --------------------------------------------------------------------------------------------

// What that is to one who waits for its place.
static enum client_state place_state(const struct http_connection *c)
{
    const bool first = !c->answered && c->in_length == 0;
    if (c->state == HTTP_SECURING || (c->state == HTTP_READING && c->server->config.maker != NULL && first))
        return CLIENT_OPENING;
    if (c->state == HTTP_READING)
        return c->answered && c->in_length == 0 ? CLIENT_RESTING : CLIENT_ASKING;
    return c->state == HTTP_LINGERING ? CLIENT_RESTING : CLIENT_SERVED;
}

void http_enter(struct http_connection *c, enum http_state state, uint32_t wait_us)
{
    const uint64_t now_us = weir_now_us(http_weir(c));
    struct client *client = &c->client;
    c->state = state;
    c->due_us = now_us + wait_us;
    if (client->state != place_state(c) || state == HTTP_SENDING)
        client_enter(client, place_state(c), now_us);
}

void http_end(struct http_connection *c, bool reset)
{
    weir_stream_close(&c->stream, reset);
    c->state = HTTP_FREE;
    clients_leave(&c->server->clients, &c->client);
    http_route_done(c, false);
}

int http_receive(struct http_connection *c)
{
    if (c->ended)
        return 0;
    if (c->in_at > 0) {
        memmove(c->in, c->in + c->in_at, c->in_length);
        c->in_at = 0;
    }
    const int got = weir_stream_read(&c->stream, c->in + c->in_length, c->server->config.in_bytes - c->in_length);
    if (got > 0) {
        c->in_length += (uint32_t)got;
        client_moved(&c->client, (uint64_t)got, weir_now_us(http_weir(c)));
    }
    c->ended = got == 0;
    return got;
}

void http_input_taken(struct http_connection *c, uint32_t bytes)
{
    c->in_length -= bytes;
    c->in_at = c->in_length > 0 ? c->in_at + bytes : 0;
}

void http_exchange_done(struct http_connection *c)
{
    if (!c->keep_alive) {
        // RFC 9112 §9.6: closing with unread data would reset the connection and could take the response with it.
        (void)weir_stream_shutdown(&c->stream);
        http_enter(c, HTTP_LINGERING, HTTP_LINGER_US);
    } else {
        http_enter(c, HTTP_READING, c->in_length > 0 ? HTTP_HEADER_US : HTTP_IDLE_US);
    }
}

// The stack has its turn between the steps of a handshake, however long they are.
static bool step_securing(struct http_connection *c)
{
    const int status = weir_stream_begin(&c->stream);
    if (status == WEIR_OK)
        http_enter(c, HTTP_READING, HTTP_HEADER_US);
    else if (status != WEIR_AGAIN && status != WEIR_IN_PROGRESS)
        http_end(c, false);
    return status == WEIR_OK;
}

static bool step_lingering(struct http_connection *c)
{
    c->in_length = c->in_at = 0;
    const int got = http_receive(c);
    if (got <= 0 && got != WEIR_AGAIN)
        http_end(c, false);
    return got > 0;
}

// Bounded: a step either takes bytes the queues hold, or fills what they have room for, or ends the run.
static void connection_run(struct http_connection *c)
{
    bool more = true;
    c->server->running = c;
    while (more) {
        switch (c->state) {
        case HTTP_SECURING: more = step_securing(c); break;
        case HTTP_READING: more = http_step_reading(c); break;
        case HTTP_BODY: more = http_step_body(c); break;
        case HTTP_SENDING: more = http_step_sending(c); break;
        case HTTP_SKIPPING: more = http_step_skipping(c); break;
        case HTTP_LINGERING: more = step_lingering(c); break;
        case HTTP_UPGRADED: more = http_step_websocket(c); break;
        default: more = false; break;
        }
    }
    c->server->running = NULL;
}

// --- events ----------------------------------------------------------------------------------------------------------

static void connection_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct http_connection *c = (struct http_connection *)watch;
    if (c->stream.socket != socket)
        return;
    if ((events & WEIR_ERROR) && c->state == HTTP_WAITING)
        http_end(c, true);
    else
        connection_run(c);
}

static void connection_begin(struct http_server *server, struct http_connection *c, weir_socket socket)
{
    struct weir_stream_maker *const maker = server->config.maker;
    char *const in = c->in, *const out = c->out;
    const struct client client = c->client;
    memset(c, 0, sizeof *c);
    c->watch.event = connection_event;
    c->server = server;
    c->client = client;
    c->in = in;
    c->out = out;
    c->stream = (struct weir_stream){.weir = http_weir(c), .socket = socket};
    (void)loop_watch(server->loop, socket, &c->watch);
    (void)weir_socket_set(http_weir(c), socket, WEIR_OPTION_NO_DELAY, 1);
    c->state = maker != NULL ? HTTP_SECURING : HTTP_READING;
    clients_enter(&server->clients, &c->client, place_state(c), weir_now_us(http_weir(c)));
    http_enter(c, c->state, maker != NULL ? HTTP_SECURE_US : HTTP_HEADER_US);
    if (maker != NULL && maker->open(maker, &c->stream) != WEIR_OK)
        http_end(c, true);
    connection_run(c);
}

static struct http_connection *connection_of(struct client *client)
{
    return (struct http_connection *)(void *)((char *)client - offsetof(struct http_connection, client));
}

// Where so many handshakes are under way as may be, one that has had its time makes room. false: who waits has to wait.
static bool may_open(struct clients *clients)
{
    struct http_server *server =
        (struct http_server *)(void *)((char *)clients - offsetof(struct http_server, clients));
    struct weir_stream_maker *const maker = server->config.maker;
    if (maker->may_accept(maker))
        return true;
    struct client *place = clients_opening(clients, weir_now_us(server->loop->weir));
    if (place == NULL)
        return false;
    server->count.made_room++;
    http_end(connection_of(place), true);
    return maker->may_accept(maker);
}

// Each that waits takes a free place, or that of one who makes room.
static void accept_waiting(struct http_server *server)
{
    weir_socket socket;
    struct client *place;
    while ((place = clients_accept(&server->clients, server->loop, server->listening, &socket)) != NULL) {
        struct http_connection *c = connection_of(place);
        if (c->state != HTTP_FREE) {
            server->count.made_room++;
            http_end(c, c->state != HTTP_READING);
        }
        connection_begin(server, c, socket);
    }
}

static void listener_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)socket, (void)events;
    accept_waiting((struct http_server *)(void *)((char *)watch - offsetof(struct http_server, listener)));
}

// A deadline passed: a header half sent gets an answer, a body that stops one, everything else is just ended.
static void connection_late(struct http_connection *c)
{
    if (c->state == HTTP_UPGRADED ? http_websocket_quiet(c)
                                  : c->output.events && c->output.idle && http_events_quiet(c))
        return;
    c->server->count.given_up++;
    if ((c->state == HTTP_READING && c->in_length > 0) || c->state == HTTP_BODY) {
        c->head_only = c->head_only && c->state == HTTP_BODY;
        c->keep_alive = false;
        c->in_length = c->in_at = 0;
        http_respond_error(c, 408, 0);
    } else {
        http_end(c, c->state != HTTP_READING);
    }
}

// What is due of a connection; returns when to look again, µs.
static uint64_t connection_poll(struct http_connection *c, uint64_t now_us)
{
    if (c->state != HTTP_FREE && now_us >= c->due_us)
        connection_late(c);
    if (c->state == HTTP_SECURING && now_us >= weir_stream_due_us(&c->stream))
        connection_run(c);
    if (c->resumed) {
        c->resumed = false;
        connection_run(c);
    }
    if (c->state == HTTP_FREE)
        return WEIR_NEVER;
    const uint64_t stream_us = c->state == HTTP_SECURING ? weir_stream_due_us(&c->stream) : WEIR_NEVER;
    return stream_us < c->due_us ? stream_us : c->due_us;
}

// One by one: within the steps of a connection, another has to wait for its turn.
void http_resume(struct http_connection *c)
{
    if (c->paused && c->state == HTTP_BODY)  // since HTTP_STALL_US before it is given up: that is not the client's time
        c->body_us += weir_now_us(http_weir(c)) - (c->due_us - HTTP_STALL_US);
    c->paused = false;
    if (c->server->running == NULL)
        connection_run(c);
    else
        c->resumed = c->server->resumed = true;
}

static uint64_t server_poll(struct app *app, uint64_t now_us)
{
    struct http_server *server = (struct http_server *)app;
    uint64_t due_us = WEIR_NEVER;
    server->resumed = false;
    for (uint32_t i = 0; i < server->clients.used; i++) {
        const uint64_t connection_us = connection_poll(&server->config.connections[i], now_us);
        due_us = connection_us < due_us ? connection_us : due_us;
    }
    accept_waiting(server);
    due_us = server->clients.look_us < due_us ? server->clients.look_us : due_us;
    return server->resumed ? now_us : due_us;
}

int http_server_start(struct http_server *server, struct loop *loop, const struct http_server_config *config)
{
    const uint32_t each = config->in_bytes + config->out_bytes;
    memset(server, 0, sizeof *server);
    if (config->in_bytes < HTTP_IN_LEAST || config->out_bytes < HTTP_OUT_LEAST || config->connection_count == 0)
        return WEIR_INVALID;
    memset(config->connections, 0, config->connection_count * sizeof *config->connections);
    server->config = *config;
    server->app.poll = server_poll;
    server->listener.event = listener_event;
    server->loop = loop;
    clients_init(&server->clients, &config->connections[0].client, config->connection_count,
                 sizeof config->connections[0]);
    server->clients.may_open = config->maker != NULL ? may_open : NULL;
    for (uint32_t i = 0; i < config->connection_count; i++) {
        config->connections[i].server = server;
        config->connections[i].in = config->memory + (size_t)i * each;
        config->connections[i].out = config->connections[i].in + config->in_bytes;
    }
    server->listening = service_listen(loop, config->port, &server->listener);
    if (server->listening < 0)
        return server->listening;
    loop_add(loop, &server->app);
    return WEIR_OK;
}

void http_server_stop(struct http_server *server)
{
    loop_remove(server->loop, &server->app);
    for (uint32_t i = 0; i < server->config.connection_count; i++) {
        if (server->config.connections[i].state != HTTP_FREE)
            http_end(&server->config.connections[i], false);
    }
    clients_stop(&server->clients, server->loop);
    service_close(server->loop, &server->listening);
}
