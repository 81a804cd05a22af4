// SPDX-License-Identifier: BSD-2-Clause
#include "clients.h"

// In the order in which they make room.
enum merit { MERIT_RESTS, MERIT_SLOW, MERIT_ASKS, MERIT_STALLED, MERIT_STAYS };

void clients_init(struct clients *clients, struct client *places, uint32_t count)
{
    *clients = (struct clients){.client = places, .count = count};
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

static enum merit merit_of(const struct client *client, uint64_t now_us)
{
    const uint64_t age_us = now_us - client->since_us;
    if (client->state == CLIENT_RESTING)
        return age_us >= CLIENTS_REST_US ? MERIT_RESTS : MERIT_STAYS;
    if (client->rate < CLIENTS_RATE_MIN)
        return MERIT_SLOW;
    if (client->state == CLIENT_ASKING)
        return age_us >= CLIENTS_ASK_US ? MERIT_ASKS : MERIT_STAYS;
    return now_us - client->last_us >= CLIENTS_STALL_US ? MERIT_STALLED : MERIT_STAYS;
}

static uint32_t places_of(const struct clients *clients, struct weir_addr source)
{
    uint32_t places = 0;
    for (uint32_t i = 0; i < clients->count; i++)
        places += clients->client[i].state != CLIENT_NONE && weir_addr_equal(clients->client[i].source, source);
    return places;
}

// Whether `a` makes room rather than `b`, of the same merit.
static bool goes_before(const struct clients *clients, const struct client *a, const struct client *b, enum merit merit)
{
    const uint32_t a_places = places_of(clients, a->source), b_places = places_of(clients, b->source);
    if (a_places != b_places)
        return a_places > b_places;
    if (merit == MERIT_SLOW && a->rate != b->rate)
        return a->rate < b->rate;
    if (merit == MERIT_STALLED && a->total != b->total)
        return a->total < b->total;
    return a->since_us < b->since_us;
}

int clients_place(struct clients *clients, uint64_t now_us)
{
    enum merit least = MERIT_STAYS;
    int place = -1;
    for (uint32_t i = 0; i < clients->count; i++) {
        struct client *client = &clients->client[i];
        if (client->state == CLIENT_NONE)
            return (int)i;
        measure(client, now_us);
        const enum merit merit = merit_of(client, now_us);
        if (merit > least || merit == MERIT_STAYS)
            continue;
        if (merit < least || goes_before(clients, client, &clients->client[place], merit))
            place = (int)i;
        least = merit;
    }
    return place;
}

uint64_t clients_wait(struct clients *clients, struct weir *weir, weir_socket listener, uint64_t now_us)
{
    if (!clients->full)
        clients->full_since_us = now_us;
    clients->full = true;
    weir_socket socket;
    while (now_us - clients->full_since_us >= CLIENTS_WAIT_US && (socket = weir_socket_accept(weir, listener)) > 0)
        (void)weir_socket_abort(weir, socket);
    return now_us + CLIENTS_ASK_US;
}
