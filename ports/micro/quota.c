// SPDX-License-Identifier: BSD-2-Clause
#include "quota.h"

#include "server.h"
#include "weir/port.h"

static uint32_t index_of(const struct micro_session *session) { return (uint32_t)(session - session->server->session); }

struct micro_quota micro_quota_default(uint32_t channels)
{
    return (struct micro_quota){
        .sockets = 2 * channels, .memory_bytes = WEIR_CFG_MICRO_MEMORY_KB * 1024u, .calls = WEIR_CFG_MICRO_CALLS};
}

// --- orphans ---------------------------------------------------------------------------------------------------------
static void end(struct micro_orphan *orphan, bool reset)
{
    struct weir *weir = orphan->server->weir;
    (void)weir_socket_set_user(weir, orphan->socket, NULL);
    if (reset)
        (void)weir_socket_abort(weir, orphan->socket);
    else
        (void)weir_socket_close(weir, orphan->socket);
    orphan->socket = 0;
}

// It ends when the connection is at its end, or only waits as TIME-WAIT does: shutting it down once more says so.
static void event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct micro_orphan *orphan = (struct micro_orphan *)watch;
    (void)events;
    if (orphan->socket == socket &&
        weir_socket_shutdown(orphan->server->weir, socket, WEIR_SHUT_WRITE) == WEIR_NOT_CONNECTED)
        end(orphan, false);
}

static uint32_t orphans_of(const struct micro_server *server, uint32_t session)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MICRO_ORPHANS; i++)
        count += server->orphan[i].socket && server->orphan[i].session == session;
    return count;
}

// Of this session's; NULL: it has none.
static struct micro_orphan *oldest(struct micro_server *server, uint32_t session)
{
    struct micro_orphan *found = NULL;
    for (struct micro_orphan *orphan = server->orphan; orphan < &server->orphan[MICRO_ORPHANS]; orphan++)
        if (orphan->socket && orphan->session == session && (!found || orphan->due_us < found->due_us))
            found = orphan;
    return found;
}

// A free place; or that of the oldest of the session that has most.
static struct micro_orphan *place(struct micro_server *server)
{
    uint32_t greediest = 0, most = 0;
    for (struct micro_orphan *orphan = server->orphan; orphan < &server->orphan[MICRO_ORPHANS]; orphan++) {
        if (!orphan->socket)
            return orphan;
        const uint32_t count = orphans_of(server, orphan->session);
        if (count > most)
            most = count, greediest = orphan->session;
    }
    struct micro_orphan *orphan = oldest(server, greediest);
    end(orphan, true);
    return orphan;
}

void micro_orphan_leave(struct micro_session *session, weir_socket socket)
{
    struct micro_server *server = session->server;
    struct weir_slice unread;
    // What was never read: the peer must learn of it, and closing tells it so.
    const bool told = weir_socket_peek(server->weir, socket, 0, &unread, 1) > 0;
    if (told || weir_socket_shutdown(server->weir, socket, WEIR_SHUT_BOTH) != WEIR_OK) {
        (void)weir_socket_close(server->weir, socket);
        return;
    }
    struct micro_orphan *orphan = place(server);
    *orphan = (struct micro_orphan){.watch = {event},
                                    .server = server,
                                    .socket = socket,
                                    .session = index_of(session),
                                    .due_us = weir_now_us(server->weir) + WEIR_CFG_MICRO_ORPHAN_S * 1000000ull};
    (void)weir_socket_set_user(server->weir, socket, &orphan->watch);
}

void micro_orphans_turn(struct micro_server *server)
{
    const uint64_t now_us = weir_now_us(server->weir);
    for (struct micro_orphan *orphan = server->orphan; orphan < &server->orphan[MICRO_ORPHANS]; orphan++)
        if (orphan->socket && orphan->due_us <= now_us)
            end(orphan, true);
}

uint64_t micro_orphans_due(const struct micro_server *server)
{
    uint64_t due_us = WEIR_NEVER;
    for (const struct micro_orphan *orphan = server->orphan; orphan < &server->orphan[MICRO_ORPHANS]; orphan++)
        if (orphan->socket && orphan->due_us < due_us)
            due_us = orphan->due_us;
    return due_us;
}

// --- sockets, memory, calls ------------------------------------------------------------------------------------------
static uint32_t sockets_of(const struct micro_session *session)
{
    uint32_t count = orphans_of(session->server, index_of(session));
    for (uint32_t i = 0; i < session->channels; i++)
        if (session->used & 1u << i)
            count += session->channel[i].flags & CHANNEL_LISTENS ? session->channel[i].backlog : 1;
    return count;
}

uint32_t micro_quota_room(struct micro_session *session, uint32_t want)
{
    struct micro_orphan *orphan;
    for (;;) {
        const uint32_t have = sockets_of(session),
                       room = have < session->quota.sockets ? session->quota.sockets - have : 0;
        if (room >= want || (orphan = oldest(session->server, index_of(session))) == NULL)
            return room < want ? room : want;
        end(orphan, true);
    }
}

void micro_quota_queues(const struct micro_session *session, weir_socket socket)
{
    static const enum weir_option queues[] = {WEIR_OPTION_SEND_BUFFER, WEIR_OPTION_RECEIVE_BUFFER};
    struct weir *weir = session->server->weir;
    const int32_t most = (int32_t)(session->quota.memory_bytes / session->quota.sockets / 2);
    int32_t limit;
    for (uint32_t i = 0; session->quota.memory_bytes && i < 2; i++)
        if (weir_socket_get(weir, socket, queues[i], &limit) == WEIR_OK && limit > most)
            (void)weir_socket_set(weir, socket, queues[i], most);
}

// The generic cell rate algorithm (ITU-T I.371): calls_us is when the next would come of a client that calls at exactly
// its rate.
uint64_t micro_quota_call(struct micro_session *session)
{
    if (!session->quota.calls)
        return 0;
    const uint64_t now_us = weir_now_us(session->server->weir), each_us = 1000000u / session->quota.calls;
    const uint64_t most_us = now_us + (MICRO_CALLS_AT_ONCE - 1) * each_us;
    if (session->calls_us < now_us)
        session->calls_us = now_us;
    if (session->calls_us > most_us)
        return now_us + (session->calls_us - most_us);
    session->calls_us += each_us;
    return 0;
}
