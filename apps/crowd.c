// SPDX-License-Identifier: BSD-2-Clause
#include "crowd.h"

#include "service.h"

static struct crowd_place *place_of(struct client *client)
{
    return (struct crowd_place *)(void *)((char *)client - offsetof(struct crowd_place, client));
}

// --- the order in which something moved last -------------------------------------------------------------------------

static void order_leave(struct crowd *crowd, struct crowd_place *place)
{
    *(place->newer != NULL ? &place->newer->older : &crowd->newest) = place->older;
    *(place->older != NULL ? &place->older->newer : &crowd->oldest) = place->newer;
}

static void order_enter(struct crowd *crowd, struct crowd_place *place)
{
    place->newer = NULL;
    place->older = crowd->newest;
    *(crowd->newest != NULL ? &crowd->newest->newer : &crowd->oldest) = place;
    crowd->newest = place;
}

void crowd_moved(struct crowd_place *place, uint64_t bytes)
{
    struct crowd *crowd = place->crowd;
    const uint64_t now_us = weir_now_us(crowd->loop->weir);
    if (place->client.state == CLIENT_ASKING)
        client_enter(&place->client, CLIENT_SERVED, now_us);
    client_moved(&place->client, bytes, now_us);
    if (crowd->newest == place)
        return;
    order_leave(crowd, place);
    order_enter(crowd, place);
}

// --- life of a place -------------------------------------------------------------------------------------------------

static void place_end(struct crowd_place *place, bool reset)
{
    struct crowd *crowd = place->crowd;
    if (reset)
        (void)weir_socket_abort(crowd->loop->weir, place->socket);
    else
        (void)weir_socket_close(crowd->loop->weir, place->socket);
    place->socket = 0;
    order_leave(crowd, place);
    clients_leave(&crowd->clients, &place->client);
}

static void place_event(struct weir_watch *watch, weir_socket socket, uint32_t events);

static void place_begin(struct crowd *crowd, struct crowd_place *place, weir_socket socket)
{
    place->watch.event = place_event;
    place->crowd = crowd;
    place->socket = socket;
    place->at = 0;
    (void)loop_watch(crowd->loop, socket, &place->watch);
    clients_enter(&crowd->clients, &place->client, CLIENT_ASKING, weir_now_us(crowd->loop->weir));
    order_enter(crowd, place);
    if (!crowd->serve(place))
        place_end(place, false);
}

// Each that waits takes a free place, or that of one who makes room.
static void accept_waiting(struct crowd *crowd)
{
    weir_socket socket;
    struct client *client;
    while ((client = clients_accept(&crowd->clients, crowd->loop, crowd->listening, &socket)) != NULL) {
        struct crowd_place *place = place_of(client);
        if (place->socket != 0) {
            crowd->made_room++;
            place_end(place, true);
        }
        place_begin(crowd, place, socket);
    }
}

// --- events ----------------------------------------------------------------------------------------------------------

static void place_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct crowd_place *place = (struct crowd_place *)watch;
    (void)events;
    if (place->socket != socket || place->crowd->serve(place))
        return;
    place_end(place, false);
    accept_waiting(place->crowd);  // one may wait for this place
}

static void listener_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)socket, (void)events;
    accept_waiting((struct crowd *)(void *)((char *)watch - offsetof(struct crowd, listener)));
}

static uint64_t crowd_poll(struct app *app, uint64_t now_us)
{
    struct crowd *crowd = (struct crowd *)app;
    while (crowd->oldest != NULL && now_us - crowd->oldest->client.last_us >= CROWD_IDLE_US) {
        crowd->idle++;
        place_end(crowd->oldest, true);
    }
    accept_waiting(crowd);
    const uint64_t idle_us = crowd->oldest != NULL ? crowd->oldest->client.last_us + CROWD_IDLE_US : WEIR_NEVER;
    return crowd->clients.look_us < idle_us ? crowd->clients.look_us : idle_us;
}

int crowd_start(struct crowd *crowd, struct loop *loop, uint16_t port, struct crowd_place *places, uint32_t count,
                bool (*serve)(struct crowd_place *place))
{
    *crowd = (struct crowd){.app = {.poll = crowd_poll}, .listener = {listener_event}, .loop = loop, .serve = serve};
    clients_init(&crowd->clients, &places[0].client, count, sizeof places[0]);
    crowd->listening = service_listen(loop, port, &crowd->listener);
    if (crowd->listening < 0) {
        const int error = crowd->listening;
        crowd->listening = 0;
        return error;
    }
    loop_add(loop, &crowd->app);
    return WEIR_OK;
}

void crowd_stop(struct crowd *crowd)
{
    if (crowd->listening == 0)
        return;
    loop_remove(crowd->loop, &crowd->app);
    while (crowd->oldest != NULL)
        place_end(crowd->oldest, false);
    clients_stop(&crowd->clients, crowd->loop);
    service_close(crowd->loop, &crowd->listening);
}
