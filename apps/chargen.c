// SPDX-License-Identifier: BSD-2-Clause
#include "chargen.h"

#include "service.h"

#define SPANS 4

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

// Sends what there is room for. Bounded: by the room in the send queue.
static bool chargen_serve(struct crowd_place *place)
{
    struct weir *weir = place->crowd->loop->weir;
    struct weir_slice slice;
    struct weir_span spans[SPANS];
    int there, room = WEIR_CLOSED;
    while ((there = weir_socket_peek(weir, place->socket, 0, &slice, 1)) > 0)
        (void)weir_socket_consume(weir, place->socket, (uint32_t)there);  // "any input is thrown away"
    while (there == WEIR_AGAIN && (room = weir_socket_reserve(weir, place->socket, INT32_MAX, spans, SPANS)) > 0) {
        uint32_t left = (uint32_t)room;
        for (int i = 0; left > 0; i++) {
            place->at = chargen_fill(spans[i].data, spans[i].length, place->at);
            left -= spans[i].length;
        }
        (void)weir_socket_commit(weir, place->socket, (uint32_t)room);
        crowd_moved(place, (uint32_t)room);
    }
    return room == WEIR_AGAIN;
}

static void chargen_datagram(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct loop *loop = ((struct chargen *)(void *)((char *)watch - offsetof(struct chargen, datagram)))->crowd.loop;
    struct weir *weir = loop->weir;
    uint8_t out[CHARGEN_DATAGRAM];
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (service_peek(loop, socket, &message, &slice, NULL)) {
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
    *chargen = (struct chargen){.datagram = {chargen_datagram}};
    const int error = crowd_start(&chargen->crowd, loop, port, chargen->places, CHARGEN_CONNECTIONS, chargen_serve);
    if (error == WEIR_OK)
        chargen->bound = service_bind(loop, port, &chargen->datagram);
    if (chargen->bound < 0)
        chargen->bound = 0;  // a profile without UDP serves TCP alone
    return error;
}

void chargen_stop(struct chargen *chargen)
{
    service_close(chargen->crowd.loop, &chargen->bound);
    crowd_stop(&chargen->crowd);
}
