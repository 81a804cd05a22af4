// SPDX-License-Identifier: BSD-2-Clause
#include "discard.h"

#include "service.h"

static bool discard_serve(struct crowd_place *place)
{
    struct discard *discard = (struct discard *)place->crowd;
    struct weir *weir = place->crowd->loop->weir;
    struct weir_slice slices[8];
    int there;
    while ((there = weir_socket_peek(weir, place->socket, 0, slices, 8)) > 0) {
        discard->bytes += (uint32_t)there;
        (void)weir_socket_consume(weir, place->socket, (uint32_t)there);
        crowd_moved(place, (uint32_t)there);
    }
    return there == WEIR_AGAIN;
}

static void discard_datagram(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct discard *discard = (struct discard *)(void *)((char *)watch - offsetof(struct discard, datagram));
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (service_peek(discard->crowd.loop, socket, &message, &slice, NULL)) {
        discard->bytes += message.length;
        (void)weir_socket_discard(discard->crowd.loop->weir, socket);
    }
}

int discard_start(struct discard *discard, struct loop *loop, uint16_t port)
{
    *discard = (struct discard){.datagram = {discard_datagram}};
    const int error = crowd_start(&discard->crowd, loop, port, discard->places, DISCARD_CONNECTIONS, discard_serve);
    if (error == WEIR_OK)
        discard->bound = service_bind(loop, port, &discard->datagram);
    if (discard->bound < 0)
        discard->bound = 0;  // a profile without UDP serves TCP alone
    return error;
}

void discard_stop(struct discard *discard)
{
    service_close(discard->crowd.loop, &discard->bound);
    crowd_stop(&discard->crowd);
}
