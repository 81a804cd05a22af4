// SPDX-License-Identifier: BSD-2-Clause
#include "server.h"

#include "weir/port.h"

void micro_server_init(struct micro_server *server, struct weir *weir, const struct micro_server_host *host,
                       void *context)
{
    memset(server, 0, sizeof *server);
    server->weir = weir;
    server->host = host;
    server->context = context;
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        server->session[i].server = server;
}

bool micro_server_attach(struct micro_server *server, uint32_t index, void *memory, uint32_t channels,
                         uint32_t ring_bytes)
{
    if (index >= MICRO_SESSIONS || server->session[index].window || !channels || channels > MICRO_CHANNELS ||
        ring_bytes < 64 || ring_bytes & (ring_bytes - 1))
        return false;
    struct micro_session *session = &server->session[index];
    *session =
        (struct micro_session){.server = server, .window = memory, .channels = channels, .ring_bytes = ring_bytes};
    session->quota = micro_quota_default(channels);
    session->window->channels = channels;
    session->window->ring_bytes = ring_bytes;
    atomic_store(&session->window->attention, 1);
    server->attached |= 1u << index;
    return true;
}

void micro_server_limit(struct micro_server *server, uint32_t index, const struct micro_quota *quota)
{
    server->session[index].quota = *quota;
}

void micro_server_detach(struct micro_server *server, uint32_t index)
{
    struct micro_session *session = &server->session[index];
    for (uint32_t i = 0; i < session->channels; i++)
        if (session->used & 1u << i)
            micro_channel_close(&session->channel[i]);
    session->window = NULL;
    session->channels = session->news = 0;
    server->attached &= ~(1u << index);
    server->news &= ~(1u << index);
    server->notices &= ~(1u << index);
    server->held &= ~(1u << index);
}

// --- messages --------------------------------------------------------------------------------------------------------
static void news(struct micro_channel *channel)
{
    struct micro_session *session = channel->session;
    session->news |= 1u << (channel - session->channel);
    session->server->news |= 1u << (session - session->server->session);
}

static void event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)socket, (void)events;
    news((struct micro_channel *)watch);
}

// A free channel, or NULL.
static struct micro_channel *vacant(struct micro_session *session)
{
    for (uint32_t i = 0; i < session->channels; i++)
        if (!(session->used & 1u << i))
            return &session->channel[i];
    return NULL;
}

// The socket becomes the channel's, and its rings begin anew: the client takes them from the reply on.
static int occupy(struct micro_channel *channel, weir_socket socket, enum weir_socket_type type, uint8_t flags)
{
    struct micro_session *session = channel->session;
    const uint32_t index = (uint32_t)(channel - session->channel);
    struct window_channel *shared = &session->window->channel[index];
    *channel = (struct micro_channel){.watch = {event},
                                      .session = session,
                                      .socket = socket,
                                      .generation = channel->generation + 1,
                                      .type = (uint8_t)type,
                                      .flags = flags};
    shared_word *const words[] = {&shared->sent,     &shared->taken,    &shared->wants,    &shared->accepted,
                                  &shared->received, &shared->send_end, &shared->read_end, &shared->passing};
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++)
        atomic_store(words[i], 0);
    atomic_store(&shared->state, flags & CHANNEL_CONNECTED ? WINDOW_CONNECTED : 0);
    atomic_store(&shared->generation, channel->generation);
    session->used |= 1u << index;
    (void)weir_socket_set_user(session->server->weir, socket, &channel->watch);
    news(channel);
    return (int)index;
}

static int open_channel(struct micro_session *session, int32_t type)
{
    struct micro_channel *channel = vacant(session);
    if (type != WEIR_STREAM && type != WEIR_DATAGRAM)
        return WEIR_PERMISSION;  // raw packets are not for every client
    if (!channel || !micro_quota_room(session, 1))
        return WEIR_NO_MEMORY;
    const weir_socket socket = weir_socket_open(session->server->weir, (enum weir_socket_type)type, 0);
    if (socket < 0)
        return socket;
    channel->session = session;
    micro_quota_queues(session, socket);
    return occupy(channel, socket, (enum weir_socket_type)type, type == WEIR_DATAGRAM ? CHANNEL_CONNECTED : 0);
}

static int accept_channel(struct micro_channel *listener, struct micro_message *message)
{
    struct micro_session *session = listener->session;
    struct micro_channel *channel = vacant(session);
    if (!channel || !micro_quota_room(session, 1))
        return WEIR_NO_MEMORY;
    const weir_socket socket = weir_socket_accept(session->server->weir, listener->socket);
    micro_channel_look(listener);
    if (socket < 0)
        return socket;
    (void)weir_socket_peer(session->server->weir, socket, &message->endpoint);
    channel->session = session;
    return occupy(channel, socket, WEIR_STREAM, CHANNEL_CONNECTED);
}

// What is in the ring goes first.
static int finish(struct micro_channel *channel, uint8_t flag)
{
    if (!(channel->flags & (CHANNEL_SHUT | CHANNEL_CLOSING))) {
        const uint32_t sent = atomic_load(&micro_channel_window(channel)->sent);
        channel->last = channel->accepted + ring_filled(sent, channel->accepted, channel->session->ring_bytes);
    }
    if (flag == CHANNEL_CLOSING && !(channel->flags & CHANNEL_CONNECTED))
        channel->flags |= CHANNEL_SEND_ENDED;
    channel->flags |= flag;
    micro_channel_turn(channel);
    return WEIR_OK;
}

static int shut(struct micro_channel *channel, int32_t how)
{
    struct weir *weir = channel->session->server->weir;
    if (how < WEIR_SHUT_READ || how > WEIR_SHUT_BOTH)
        return WEIR_INVALID;
    if (!(channel->flags & CHANNEL_CONNECTED))
        return WEIR_NOT_CONNECTED;
    const int result = how & WEIR_SHUT_READ ? weir_socket_shutdown(weir, channel->socket, WEIR_SHUT_READ) : WEIR_OK;
    return result < 0 || !(how & WEIR_SHUT_WRITE) ? result : finish(channel, CHANNEL_SHUT);
}

// Queues' sizes are the server's to give.
static int set_option(struct micro_channel *channel, int32_t option, int32_t value)
{
    if (option < 0 || option >= WEIR_OPTION_COUNT)
        return WEIR_INVALID;
    if (option == WEIR_OPTION_SEND_BUFFER || option == WEIR_OPTION_RECEIVE_BUFFER ||
        option == WEIR_OPTION_HEADER_INCLUDED)
        return WEIR_PERMISSION;
    return weir_socket_set(channel->session->server->weir, channel->socket, (enum weir_option)option, value);
}

// Those that wait to be accepted count, too; the backlog is at most what the client has room for.
static int listen_channel(struct micro_channel *channel, int32_t backlog)
{
    const uint32_t most = WEIR_CFG_LISTEN_BACKLOG_MAX, want = backlog < 1                ? 1
                                                              : (uint32_t)backlog < most ? (uint32_t)backlog
                                                                                         : most;
    const uint32_t had = channel->flags & CHANNEL_LISTENS ? channel->backlog : 1, more = want > had ? want - had : 0;
    const uint32_t room = want - more + micro_quota_room(channel->session, more);
    const int result = weir_socket_listen(channel->session->server->weir, channel->socket, room);
    if (result >= 0) {
        channel->flags |= CHANNEL_LISTENS;
        channel->backlog = room;
    }
    return result;
}

static int operate(struct micro_channel *channel, struct micro_message *message)
{
    struct weir *weir = channel->session->server->weir;
    int result;
    switch (message->operation) {
    case MICRO_BIND: return weir_socket_bind(weir, channel->socket, &message->endpoint);
    case MICRO_LISTEN: return listen_channel(channel, message->argument[0]);
    case MICRO_ACCEPT: return channel->flags & CHANNEL_LISTENS ? accept_channel(channel, message) : WEIR_INVALID;
    case MICRO_CONNECT:
        result = weir_socket_connect(weir, channel->socket, &message->endpoint);
        if (result == WEIR_IN_PROGRESS)
            channel->flags |= CHANNEL_CONNECTING;
        return result;
    case MICRO_SHUTDOWN: return shut(channel, message->argument[0]);
    case MICRO_CLOSE: return finish(channel, CHANNEL_CLOSING);
    case MICRO_LOCAL: return weir_socket_local(weir, channel->socket, &message->endpoint);
    case MICRO_PEER: return weir_socket_peer(weir, channel->socket, &message->endpoint);
    case MICRO_SET: return set_option(channel, message->argument[0], message->argument[1]);
    case MICRO_GET:
        if (message->argument[0] < 0 || message->argument[0] >= WEIR_OPTION_COUNT)
            return WEIR_INVALID;
        return weir_socket_get(weir, channel->socket, (enum weir_option)message->argument[0], &message->argument[1]);
    default: return WEIR_NOT_SUPPORTED;
    }
}

static void answer(struct micro_session *session, struct micro_message *message)
{
    const uint32_t at = (uint32_t)message->channel;
    if (message->operation == MICRO_OPEN) {
        message->operation = open_channel(session, message->argument[0]);
    } else if (at >= session->channels || !(session->used & 1u << at) || session->channel[at].flags & CHANNEL_CLOSING) {
        message->operation = WEIR_BAD_SOCKET;
    } else {
        message->operation = operate(&session->channel[at], message);
        if (session->used & 1u << at)
            news(&session->channel[at]);
    }
}

bool micro_server_message(struct micro_server *server, uint32_t index, struct micro_message *message)
{
    struct micro_session *session = &server->session[index];
    if (!session->window) {
        message->operation = WEIR_CLOSED;
        return true;
    }
    if (server->held & 1u << index) {  // it could not have called: what it says is no call
        message->operation = WEIR_AGAIN;
        return true;
    }
    session->held_us = micro_quota_call(session);
    if (session->held_us) {
        session->held = *message;
        server->held |= 1u << index;
        return false;
    }
    answer(session, message);
    return true;
}

// Calls that came too soon, and whose time has come.
static void held_turn(struct micro_server *server)
{
    const uint64_t now_us = weir_now_us(server->weir);
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++) {
        struct micro_session *session = &server->session[i];
        if (!(server->held & 1u << i) || session->held_us > now_us)
            continue;
        server->held &= ~(1u << i);
        (void)micro_quota_call(session);
        answer(session, &session->held);
        server->host->reply(server->context, i, &session->held);
    }
}

uint64_t micro_server_due(const struct micro_server *server)
{
    uint64_t due_us = micro_orphans_due(server);
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        if (server->held & 1u << i && server->session[i].held_us < due_us)
            due_us = server->session[i].held_us;
    return due_us;
}

// --- turns -----------------------------------------------------------------------------------------------------------
void micro_server_rung(struct micro_server *server, uint32_t index)
{
    struct micro_session *session = &server->session[index];
    if (!session->window)
        return;
    session->news |= session->used;
    server->news |= 1u << index;
}

static void session_turn(struct micro_session *session)
{
    for (uint32_t i = 0; session->news; i++) {
        if (session->news & session->used & 1u << i)
            micro_channel_turn(&session->channel[i]);
        session->news &= ~(1u << i);
    }
}

#define EVENTS 64  // sockets with news handled in a turn

bool micro_server_turn(struct micro_server *server)
{
    const bool more = weir_dispatch(server->weir, EVENTS) >= EVENTS;
    held_turn(server);
    micro_orphans_turn(server);
    for (uint32_t i = 0; server->news; i++) {
        if (server->news & 1u << i)
            session_turn(&server->session[i]);
        server->news &= ~(1u << i);
    }
    for (uint32_t i = 0; server->notices; i++) {
        if (server->notices & 1u << i)
            server->host->notify(server->context, i);
        server->notices &= ~(1u << i);
    }
    return more || weir_output_pending(server->weir);
}

static bool session_idle(const struct micro_session *session)
{
    for (uint32_t i = 0, left = session->used; left; left &= ~(1u << i), i++)
        if (left & 1u << i && !micro_channel_idle(&session->channel[i]))
            return false;
    return true;
}

bool micro_server_rest(struct micro_server *server)
{
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        if (server->attached & 1u << i)
            atomic_store(&server->session[i].window->attention, 1);
    for (uint32_t i = 0; i < MICRO_SESSIONS; i++)
        if (server->attached & 1u << i && !session_idle(&server->session[i])) {
            atomic_store(&server->session[i].window->attention, 0);
            micro_server_rung(server, i);
        }
    return !server->news;
}
