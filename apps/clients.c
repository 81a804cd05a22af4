// SPDX-License-Identifier: BSD-2-Clause
#include "clients.h"

#include "service.h"

// In the order in which they make room.
enum merit { MERIT_RESTS, MERIT_SLOW, MERIT_ASKS, MERIT_STALLED, MERIT_GREEDY, MERIT_STAYS };

void clients_init(struct clients *clients, struct client *first, uint32_t count, size_t stride)
{
    *clients = (struct clients){.first = first, .count = count, .stride = stride, .look_us = WEIR_NEVER};
}

static struct client *client_at(const struct clients *clients, uint32_t index)
{
    return (struct client *)(void *)((char *)clients->first + index * clients->stride);
}

// --- places ----------------------------------------------------------------------------------------------------------

static struct client *free_place(const struct clients *clients)
{
    if (clients->free != NULL)
        return clients->free;
    return clients->used < clients->count ? client_at(clients, clients->used) : NULL;
}

void clients_enter(struct clients *clients, struct client *client, enum client_state state, uint64_t now_us)
{
    struct client **link = &clients->free;  // mostly the first: others may have left since it was chosen
    while (*link != NULL && *link != client)
        link = &(*link)->next_free;
    if (*link != NULL)
        *link = client->next_free;
    else
        clients->used++;
    client_enter(client, state, now_us);
}

void clients_leave(struct clients *clients, struct client *client)
{
    client->state = CLIENT_NONE;
    client->next_free = clients->free;
    clients->free = client;
}

void client_enter(struct client *client, enum client_state state, uint64_t now_us)
{
    client->state = state;
    client->since_us = client->mark_us = client->last_us = now_us;
    client->moved = client->total = 0;
    client->rate = UINT64_MAX;
}

static void measure(struct client *client, uint64_t now_us)
{
    const uint64_t span_us = now_us - client->mark_us;
    if (span_us < CLIENTS_PERIOD_US)
        return;
    client->rate = client->moved * 1000000 / span_us;
    client->mark_us = now_us;
    client->moved = 0;
}

void client_moved(struct client *client, uint64_t bytes, uint64_t now_us)
{
    measure(client, now_us);
    client->moved += bytes;
    client->total += bytes;
    client->last_us = now_us;
}

// --- who makes room --------------------------------------------------------------------------------------------------

static uint32_t looked_at(const struct clients *clients)
{
    return clients->count < CLIENTS_LOOK ? clients->count : CLIENTS_LOOK;
}

static struct client *look_at(const struct clients *clients, uint32_t index)
{
    const uint32_t at = clients->look + index;
    return client_at(clients, at < clients->count ? at : at - clients->count);
}

// Others are looked at next time.
static void look_on(struct clients *clients)
{
    clients->look += looked_at(clients);
    if (clients->look >= clients->count)
        clients->look -= clients->count;
}

// Of those that are looked at.
static uint32_t places_of(const struct clients *clients, struct weir_addr source)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < looked_at(clients); i++) {
        const struct client *client = look_at(clients, i);
        places += client->state != CLIENT_NONE && weir_addr_equal(client->source, source);
    }
    return places;
}

static enum merit merit_of(const struct client *client, uint64_t now_us)
{
    const uint64_t age_us = now_us - client->since_us;
    if (client->state == CLIENT_RESTING)
        return age_us >= CLIENTS_REST_US ? MERIT_RESTS : MERIT_STAYS;
    if (client->state == CLIENT_OPENING)
        return age_us >= CLIENTS_OPEN_US ? MERIT_ASKS : MERIT_STAYS;
    if (client->rate < CLIENTS_RATE_MIN)
        return MERIT_SLOW;
    if (client->state == CLIENT_ASKING)
        return age_us >= CLIENTS_ASK_US ? MERIT_ASKS : MERIT_STAYS;
    return now_us - client->last_us >= CLIENTS_STALL_US ? MERIT_STALLED : MERIT_STAYS;
}

// Whether its address has more than its share, and more than that of the newcomer will have.
static bool greedy(const struct clients *clients, const struct client *client, uint32_t newcomers)
{
    const uint32_t places = places_of(clients, client->source);
    return places * CLIENTS_SHARE > looked_at(clients) && places > newcomers + 1;
}

// Whether `a` makes room rather than `b`, of the same merit.
static bool goes_before(const struct clients *clients, const struct client *a, const struct client *b, enum merit merit)
{
    const uint32_t a_places = places_of(clients, a->source), b_places = places_of(clients, b->source);
    if (a_places != b_places)
        return a_places > b_places;
    if ((merit == MERIT_SLOW || merit == MERIT_GREEDY) && a->rate != b->rate)
        return a->rate < b->rate;
    if (merit == MERIT_STALLED && a->total != b->total)
        return a->total < b->total;
    return a->since_us < b->since_us;
}

struct client *clients_place(struct clients *clients, struct weir_addr source, uint64_t now_us)
{
    struct client *place = free_place(clients);
    if (place != NULL)
        return place;
    const uint32_t newcomers = places_of(clients, source);
    enum merit least = MERIT_STAYS;
    for (uint32_t i = 0; i < looked_at(clients); i++) {
        struct client *client = look_at(clients, i);
        measure(client, now_us);
        enum merit merit = merit_of(client, now_us);
        if (merit == MERIT_STAYS && least >= MERIT_GREEDY && greedy(clients, client, newcomers))
            merit = MERIT_GREEDY;
        if (merit > least || merit == MERIT_STAYS)
            continue;
        if (merit < least || goes_before(clients, client, place, merit))
            place = client;
        least = merit;
    }
    look_on(clients);
    return place;
}

struct client *clients_opening(struct clients *clients, uint64_t now_us)
{
    struct client *place = NULL;
    for (uint32_t i = 0; i < looked_at(clients); i++) {
        struct client *client = look_at(clients, i);
        if (client->state == CLIENT_OPENING && merit_of(client, now_us) == MERIT_ASKS &&
            (place == NULL || goes_before(clients, client, place, MERIT_ASKS)))
            place = client;
    }
    look_on(clients);
    return place;
}

// --- the accept queue ------------------------------------------------------------------------------------------------

// There is no place for who waits.
static void wait_for_place(struct clients *clients, struct loop *loop, weir_socket listener, uint64_t now_us)
{
    if (!clients->full)
        clients->full_since_us = now_us;
    clients->full = true;
    clients->look_us = now_us + CLIENTS_ASK_US;
    if (now_us - clients->full_since_us < CLIENTS_WAIT_US)
        return;
    do
        (void)weir_socket_abort(loop->weir, clients->waiting);
    while ((clients->waiting = weir_socket_accept(loop->weir, listener)) > 0);
    clients->waiting = 0;
}

struct client *clients_accept(struct clients *clients, struct loop *loop, weir_socket listener, weir_socket *socket)
{
    const uint64_t now_us = weir_now_us(loop->weir);
    struct weir_endpoint peer;
    clients->look_us = WEIR_NEVER;
    if (clients->waiting == 0) {
        clients->waiting = service_accept(loop, listener, NULL);
        if (clients->waiting < 0) {
            clients->waiting = 0;
            clients->full = false;
            return NULL;
        }
        clients->source =
            weir_socket_peer(loop->weir, clients->waiting, &peer) == WEIR_OK ? peer.addr : weir_addr_any();
    }
    struct client *place = NULL;
    if (clients->may_open == NULL || clients->may_open(clients))
        place = clients_place(clients, clients->source, now_us);
    if (place == NULL) {
        wait_for_place(clients, loop, listener, now_us);
        return NULL;
    }
    place->source = clients->source;
    *socket = clients->waiting;
    clients->waiting = 0;
    return place;
}

void clients_stop(struct clients *clients, struct loop *loop) { service_close(loop, &clients->waiting); }
