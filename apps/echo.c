// SPDX-License-Identifier: BSD-2-Clause
#include "echo.h"

#include <string.h>

#include "service.h"

#define SPANS 4

// Copies from slices to spans, at most `bytes`.
static void gather(const struct weir_span *to, const struct weir_slice *from, uint32_t bytes)
{
    uint32_t to_at = 0, from_at = 0;
    while (bytes > 0) {
        uint32_t part = to->length - to_at < from->length - from_at ? to->length - to_at : from->length - from_at;
        part = part < bytes ? part : bytes;
        memcpy(to->data + to_at, from->data + from_at, part);
        bytes -= part;
        to_at += part;
        from_at += part;
        if (to_at == to->length)
            to++, to_at = 0;
        if (from_at == from->length)
            from++, from_at = 0;
    }
}

// Bounded: by what the receive queue holds; nothing arrives while this runs.
static bool echo_serve(struct crowd_place *place)
{
    struct weir *weir = place->crowd->loop->weir;
    const weir_socket socket = place->socket;
    for (;;) {
        struct weir_slice in[SPANS];
        struct weir_span out[SPANS];
        int there = weir_socket_peek(weir, socket, 0, in, SPANS);
        if (there == WEIR_AGAIN)
            return true;
        // End of stream: all before it has been queued to go back; close sends it, then FIN.
        int room = there <= 0 ? WEIR_CLOSED : weir_socket_reserve(weir, socket, (uint32_t)there, out, SPANS);
        if (room < 0)
            return room == WEIR_AGAIN;  // WRITABLE will come, and the peer's window closes meanwhile
        uint32_t bytes = (uint32_t)(room < there ? room : there);
        gather(out, in, bytes);
        (void)weir_socket_commit(weir, socket, bytes);
        (void)weir_socket_consume(weir, socket, bytes);
        crowd_moved(place, bytes);
    }
}

static void echo_datagram(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct loop *loop = ((struct echo *)(void *)((char *)watch - offsetof(struct echo, datagram)))->crowd.loop;
    struct weir *weir = loop->weir;
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (service_peek(loop, socket, &message, &slice, NULL)) {
        const struct weir_message reply = {.peer = message.peer, .local = message.local};
        if (service_may_answer(&message))
            (void)weir_socket_send_message(weir, socket, &reply, &slice, slice.length > 0);  // no room: UDP may lose it
        (void)weir_socket_discard(weir, socket);
    }
}

int echo_start_with(struct echo *echo, struct loop *loop, uint16_t port, struct crowd_place *places, uint32_t count)
{
    echo->datagram.event = echo_datagram;
    echo->bound = 0;
    const int error = crowd_start(&echo->crowd, loop, port, places, count, echo_serve);
    if (error == WEIR_OK)
        echo->bound = service_bind(loop, port, &echo->datagram);
    if (echo->bound < 0)
        echo->bound = 0;  // a profile without UDP serves TCP alone
    return error;
}

int echo_start(struct echo *echo, struct loop *loop, uint16_t port)
{
    *echo = (struct echo){0};
    return echo_start_with(echo, loop, port, echo->places, ECHO_CONNECTIONS);
}

void echo_stop(struct echo *echo)
{
    service_close(echo->crowd.loop, &echo->bound);
    crowd_stop(&echo->crowd);
}
