// SPDX-License-Identifier: BSD-2-Clause
#include "discard.h"

#include "service.h"

static struct discard *discard_of(struct weir_watch *watch, size_t offset) { return (struct discard *)(void *)((char *)watch - offset); }

static void discard_stream(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct discard *discard = discard_of(watch, offsetof(struct discard, stream));
    struct weir_slice slices[8];
    int there;
    (void)events;
    while ((there = weir_socket_peek(discard->loop->weir, socket, 0, slices, 8)) > 0) {
        discard->bytes += (uint32_t)there;
        (void)weir_socket_consume(discard->loop->weir, socket, (uint32_t)there);
    }
    if (there != WEIR_AGAIN)
        (void)weir_socket_close(discard->loop->weir, socket);
}

static void discard_accept(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    struct discard *discard = discard_of(watch, offsetof(struct discard, listener));
    weir_socket socket;
    (void)events;
    while ((socket = service_accept(discard->loop, listener, &discard->stream)) > 0)
        discard_stream(&discard->stream, socket, WEIR_READABLE);
}

static void discard_datagram(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct discard *discard = discard_of(watch, offsetof(struct discard, datagram));
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (weir_socket_peek_message(discard->loop->weir, socket, &message, &slice) >= 0) {
        discard->bytes += message.length;
        (void)weir_socket_discard(discard->loop->weir, socket);
    }
}

int discard_start(struct discard *discard, struct loop *loop, uint16_t port)
{
    discard->listener.event = discard_accept;
    discard->stream.event = discard_stream;
    discard->datagram.event = discard_datagram;
    discard->loop = loop;
    discard->bytes = 0;
    discard->bound = service_bind(loop, port, &discard->datagram);
    if (discard->bound < 0)
        discard->bound = 0;  // a profile without UDP serves TCP alone
    discard->listening = service_listen(loop, port, &discard->listener);
    if (discard->listening > 0)
        return WEIR_OK;
    int error = discard->listening;
    discard_stop(discard);
    return error;
}

void discard_stop(struct discard *discard)
{
    service_close(discard->loop, &discard->listening);
    service_close(discard->loop, &discard->bound);
}
