// SPDX-License-Identifier: BSD-2-Clause
#include "chargen.h"

#include "service.h"

#define SPANS 4

static struct chargen *chargen_of(struct weir_watch *watch, size_t offset) { return (struct chargen *)(void *)((char *)watch - offset); }

uint32_t chargen_fill(uint8_t *out, uint32_t bytes, uint32_t at)
{
    uint32_t line = at / CHARGEN_LINE, column = at % CHARGEN_LINE;
    for (uint32_t i = 0; i < bytes; i++) {
        out[i] = column < 72 ? (uint8_t)(' ' + (line + column) % 95) : column == 72 ? '\r' : '\n';
        if (++column == CHARGEN_LINE) {
            column = 0;
            line = line == 94 ? 0 : line + 1;
        }
    }
    return line * CHARGEN_LINE + column;
}

static struct client *client_of(const struct chargen_connection *connection)
{
    return &connection->chargen->places[connection - connection->chargen->connections];
}

// Sends what there is room for. Bounded: by the room in the send queue. Returns whether the connection goes on.
static bool chargen_run(struct chargen_connection *connection)
{
    struct weir *weir = connection->chargen->loop->weir;
    weir_socket socket = connection->socket;
    struct weir_slice slice;
    struct weir_span spans[SPANS];
    int there, room = WEIR_CLOSED;
    while ((there = weir_socket_peek(weir, socket, 0, &slice, 1)) > 0)
        (void)weir_socket_consume(weir, socket, (uint32_t)there);  // "any input is thrown away"
    while (there == WEIR_AGAIN && (room = weir_socket_reserve(weir, socket, INT32_MAX, spans, SPANS)) > 0) {
        uint32_t left = (uint32_t)room;
        for (int i = 0; left > 0; i++) {
            connection->at = chargen_fill(spans[i].data, spans[i].length, connection->at);
            left -= spans[i].length;
        }
        (void)weir_socket_commit(weir, socket, (uint32_t)room);
        client_moved(client_of(connection), (uint32_t)room, weir_now_us(weir));
    }
    if (room == WEIR_AGAIN)
        return true;
    client_of(connection)->state = CLIENT_NONE;
    service_close(connection->chargen->loop, &connection->socket);
    return false;
}

// The next of the accept queue begins, in a place that is free or made so. false: there is none of either.
static bool chargen_begin(struct chargen *chargen, weir_socket listener)
{
    struct weir *weir = chargen->loop->weir;
    const uint64_t now_us = weir_now_us(weir);
    struct weir_endpoint peer;
    int place = -1;
    if (weir_socket_ready(weir, listener) & WEIR_READABLE)
        place = clients_place(&chargen->clients, now_us);
    if (place < 0)
        return false;
    struct chargen_connection *connection = &chargen->connections[place];
    if (connection->socket != 0)
        (void)weir_socket_abort(weir, connection->socket);
    client_of(connection)->state = CLIENT_NONE;
    connection->at = 0;
    connection->socket = service_accept(chargen->loop, listener, &connection->watch);
    if (connection->socket < 0) {
        connection->socket = 0;
        return false;
    }
    client_enter(client_of(connection), CLIENT_SERVED, now_us);
    if (weir_socket_peer(weir, connection->socket, &peer) == WEIR_OK)
        client_of(connection)->source = peer.addr;
    (void)chargen_run(connection);
    return true;
}

static void chargen_accept(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    struct chargen *chargen = chargen_of(watch, offsetof(struct chargen, listener));
    (void)events;
    while (chargen_begin(chargen, listener))
        ;
}

static void chargen_stream(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct chargen_connection *connection = (struct chargen_connection *)watch;
    struct chargen *chargen = connection->chargen;
    (void)socket;
    if (!chargen_run(connection))
        chargen_accept(&chargen->listener, chargen->listening, events);  // one may wait for this place
}

static void chargen_datagram(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir *weir = chargen_of(watch, offsetof(struct chargen, datagram))->loop->weir;
    uint8_t out[CHARGEN_DATAGRAM];
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (weir_socket_peek_message(weir, socket, &message, &slice) >= 0) {
        const struct weir_message reply = {.peer = message.peer, .local = message.local};
        const struct weir_slice answer = {out, message.length < sizeof out ? message.length : (uint32_t)sizeof out};
        (void)chargen_fill(out, answer.length, 0);
        if (service_may_answer(&message))
            (void)weir_socket_send_message(weir, socket, &reply, &answer, answer.length > 0);
        (void)weir_socket_discard(weir, socket);
    }
}

int chargen_start(struct chargen *chargen, struct loop *loop, uint16_t port)
{
    *chargen = (struct chargen){.listener = {chargen_accept}, .datagram = {chargen_datagram}, .loop = loop};
    for (uint32_t i = 0; i < CHARGEN_CONNECTIONS; i++) {
        chargen->connections[i].watch.event = chargen_stream;
        chargen->connections[i].chargen = chargen;
    }
    clients_init(&chargen->clients, chargen->places, CHARGEN_CONNECTIONS);
    chargen->bound = service_bind(loop, port, &chargen->datagram);
    if (chargen->bound < 0)
        chargen->bound = 0;  // a profile without UDP serves TCP alone
    chargen->listening = service_listen(loop, port, &chargen->listener);
    if (chargen->listening > 0)
        return WEIR_OK;
    int error = chargen->listening;
    chargen_stop(chargen);
    return error;
}

void chargen_stop(struct chargen *chargen)
{
    for (uint32_t i = 0; i < CHARGEN_CONNECTIONS; i++)
        service_close(chargen->loop, &chargen->connections[i].socket);
    service_close(chargen->loop, &chargen->listening);
    service_close(chargen->loop, &chargen->bound);
}
