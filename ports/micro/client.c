// SPDX-License-Identifier: BSD-2-Clause
#include "client.h"

#include "weir/error.h"
#include "weir/port.h"

void client_init(struct client *client, const struct client_host *host, void *context, struct window *window)
{
    *client = (struct client){.host = host, .context = context, .window = window, .timeout_us = WEIR_NEVER};
}

// --- the caller's memory ---------------------------------------------------------------------------------------------
int client_copy_in(struct client *client, void *to, const void *from_caller, size_t bytes)
{
    if (client->host->copy_in)
        return client->host->copy_in(client->context, to, from_caller, bytes) ? WEIR_FAULT : WEIR_OK;
    memcpy(to, from_caller, bytes);
    return WEIR_OK;
}

int client_copy_out(struct client *client, void *to_caller, const void *from, size_t bytes)
{
    if (client->host->copy_out)
        return client->host->copy_out(client->context, to_caller, from, bytes) ? WEIR_FAULT : WEIR_OK;
    memcpy(to_caller, from, bytes);
    return WEIR_OK;
}

// --- calls -----------------------------------------------------------------------------------------------------------
static int call(struct client *client, struct micro_message *message)
{
    return client->host->call(client->context, message) < 0 ? WEIR_CLOSED : message->operation;
}

// A call about a socket, with at most two numbers.
static int ask(struct client *client, enum micro_operation operation, int socket, int32_t first, int32_t second)
{
    struct micro_message message = {.operation = operation, .channel = socket, .argument = {first, second}};
    return call(client, &message);
}

static int ask_endpoint(struct client *client, enum micro_operation operation, int socket,
                        struct weir_endpoint *endpoint)
{
    struct micro_message message = {.operation = operation, .channel = socket};
    const int result = call(client, &message);
    if (result >= 0)
        *endpoint = message.endpoint;
    return result;
}

static int give_endpoint(struct client *client, enum micro_operation operation, int socket,
                         const struct weir_endpoint *endpoint)
{
    struct micro_message message = {.operation = operation, .channel = socket, .endpoint = *endpoint};
    return call(client, &message);
}

// A channel of the server's, new to us.
static int take_on(struct client *client, int socket, enum weir_socket_type type)
{
    if (socket < 0 || socket >= CLIENT_CHANNELS)
        return socket < 0 ? socket : WEIR_NO_MEMORY;
    client->socket[socket].sent = client->socket[socket].taken = 0;
    client->socket[socket].type = (uint8_t)type;
    client->socket[socket].told = false;
    return socket;
}

int client_socket(struct client *client, enum weir_socket_type type)
{
    return take_on(client, ask(client, MICRO_OPEN, 0, (int32_t)type, 0), type);
}
int client_bind(struct client *client, int socket, const struct weir_endpoint *local)
{
    return give_endpoint(client, MICRO_BIND, socket, local);
}
int client_listen(struct client *client, int socket, uint32_t backlog)
{
    return ask(client, MICRO_LISTEN, socket, (int32_t)backlog, 0);
}
int client_shutdown(struct client *client, int socket, enum weir_shutdown how)
{
    return ask(client, MICRO_SHUTDOWN, socket, (int32_t)how, 0);
}
int client_close(struct client *client, int socket) { return ask(client, MICRO_CLOSE, socket, 0, 0); }
int client_getsockname(struct client *client, int socket, struct weir_endpoint *local)
{
    return ask_endpoint(client, MICRO_LOCAL, socket, local);
}
int client_getpeername(struct client *client, int socket, struct weir_endpoint *peer)
{
    return ask_endpoint(client, MICRO_PEER, socket, peer);
}
int client_setsockopt(struct client *client, int socket, enum weir_option option, int32_t value)
{
    return ask(client, MICRO_SET, socket, (int32_t)option, value);
}
int client_getsockopt(struct client *client, int socket, enum weir_option option, int32_t *value)
{
    struct micro_message message = {.operation = MICRO_GET, .channel = socket, .argument = {(int32_t)option, 0}};
    const int result = call(client, &message);
    if (result >= 0)
        *value = message.argument[1];
    if (result >= 0 && option == WEIR_OPTION_ERROR && !*value)  // the server has mostly taken it from the socket
        *value = client_take_error(client, socket);
    return result;
}

// --- waiting ---------------------------------------------------------------------------------------------------------
static struct window_channel *shared(struct client *client, int socket) { return &client->window->channel[socket]; }
static bool valid(const struct client *client, int socket)
{
    return socket >= 0 && socket < CLIENT_CHANNELS && (uint32_t)socket < client->window->channels;
}

static uint8_t ready_of(struct client *client, int socket)
{
    struct window_channel *channel = shared(client, socket);
    const uint32_t state = atomic_load(&channel->state), send_end = atomic_load(&channel->send_end),
                   read_end = atomic_load(&channel->read_end), size = client->window->ring_bytes;
    if (atomic_load(&channel->passing))
        return WINDOW_READ | WINDOW_WRITE | WINDOW_FAILED;
    const bool readable =
        atomic_load(&channel->received) != client->socket[socket].taken || read_end || state & WINDOW_ACCEPTABLE;
    const bool writable = send_end || (state & WINDOW_CONNECTED &&
                                       client->socket[socket].sent - atomic_load(&channel->accepted) <= size / 2);
    const bool failed = read_end && (send_end || (int32_t)read_end < 0);
    return (uint8_t)((readable ? WINDOW_READ : 0) | (writable ? WINDOW_WRITE : 0) | (failed ? WINDOW_FAILED : 0));
}

static int take_passing(struct client *client, int socket)
{
    shared_word *passing = &shared(client, socket)->passing;
    return atomic_load(passing) ? (int)(int32_t)atomic_exchange(passing, 0) : WEIR_OK;
}

// What a connection died of is told once. After that it has ended.
static int take_death(struct client *client, int socket)
{
    const int end = (int)(int32_t)atomic_load(&shared(client, socket)->read_end);
    if (end >= 0 || client->socket[socket].told)
        return WEIR_OK;
    client->socket[socket].told = true;
    return end;
}

int client_take_error(struct client *client, int socket)
{
    const int passing = take_passing(client, socket);
    return passing ? passing : take_death(client, socket);
}

bool client_error_waits(struct client *client, int socket)
{
    const struct window_channel *channel = shared(client, socket);
    return atomic_load(&channel->passing) ||
           ((int32_t)atomic_load(&channel->read_end) < 0 && !client->socket[socket].told);
}

static uint64_t deadline(struct client *client)
{
    const uint64_t now_us =
        client->timeout_us && client->timeout_us != WEIR_NEVER ? client->host->now_us(client->context) : 0;
    return client->timeout_us > WEIR_NEVER - now_us ? WEIR_NEVER : now_us + client->timeout_us;
}

static int count_ready(struct client *client, struct client_pollfd *fds, uint32_t count)
{
    int found = 0;
    for (uint32_t i = 0; i < count; i++) {
        fds[i].ready = valid(client, fds[i].socket) ? ready_of(client, fds[i].socket) & fds[i].wants : fds[i].wants;
        found += fds[i].ready != 0;
    }
    return found;
}

// Tells the server what is wanted of each, by all entries that name it; or no more.
static void want(struct client *client, const struct client_pollfd *fds, uint32_t count, bool wanted)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!valid(client, fds[i].socket))  // it has no place in the window
            continue;
        shared_word *const wants = &shared(client, fds[i].socket)->wants;
        if (wanted)
            atomic_fetch_or(wants, fds[i].wants);
        else
            atomic_store(wants, 0);
    }
}

static int wait_until(struct client *client, struct client_pollfd *fds, uint32_t count, uint64_t deadline_us)
{
    int found, waited = 0;
    while ((found = count_ready(client, fds, count)) == 0 && waited == 0 && deadline_us) {
        want(client, fds, count, true);
        if (count_ready(client, fds, count) == 0)  // what came before `wants` was seen
            waited = client->host->wait(client->context, deadline_us);
        want(client, fds, count, false);
    }
    return waited < 0 ? WEIR_CLOSED : found;
}

int client_poll(struct client *client, struct client_pollfd *fds, uint32_t count)
{
    return wait_until(client, fds, count, deadline(client));
}

// WEIR_OK when the socket is ready for it.
static int wait_for(struct client *client, int socket, uint8_t wants, uint64_t deadline_us)
{
    struct client_pollfd one = {.socket = socket, .wants = wants};
    const int result = wait_until(client, &one, 1, deadline_us);
    return result == 0 ? WEIR_AGAIN : result < 0 ? result : WEIR_OK;
}

static void ring_server(struct client *client)
{
    if (atomic_exchange(&client->window->attention, 0))
        client->host->notify(client->context);
}

// --- connections -----------------------------------------------------------------------------------------------------
int client_accept(struct client *client, int socket, struct weir_endpoint *peer)
{
    struct weir_endpoint unused;
    const uint64_t deadline_us = deadline(client);
    int result = valid(client, socket) ? WEIR_OK : WEIR_BAD_SOCKET;
    while (result == WEIR_OK) {
        result = ask_endpoint(client, MICRO_ACCEPT, socket, peer ? peer : &unused);
        if (result != WEIR_AGAIN)
            return take_on(client, result, WEIR_STREAM);
        result = wait_for(client, socket, WINDOW_READ, deadline_us);
    }
    return result;
}

int client_connect(struct client *client, int socket, const struct weir_endpoint *peer)
{
    int result = give_endpoint(client, MICRO_CONNECT, socket, peer);
    if (result != WEIR_IN_PROGRESS)
        return result;
    result = wait_for(client, socket, WINDOW_WRITE, deadline(client));
    return result < 0 ? result : client_connect_error(client, socket);
}

int client_connect_error(struct client *client, int socket)
{
    const int death = take_death(client, socket);
    return death ? death : (int)(int32_t)atomic_load(&shared(client, socket)->send_end);
}

// --- data ------------------------------------------------------------------------------------------------------------
static uint8_t *ring_of(struct client *client, int socket, uint32_t receive)
{
    return window_ring(client->window, client->window->channels, client->window->ring_bytes, (uint32_t)socket, receive);
}

// Between the caller's memory and a ring, from the counter `at` on: WEIR_OK, or WEIR_FAULT.
static int put(struct client *client, int socket, uint32_t at, const void *data, uint32_t bytes)
{
    const uint32_t size = client->window->ring_bytes, first = ring_first(size, at, bytes);
    uint8_t *ring = ring_of(client, socket, 0);
    const int error = client_copy_in(client, ring + (at & (size - 1)), data, first);
    return error || first == bytes ? error : client_copy_in(client, ring, (const uint8_t *)data + first, bytes - first);
}

static int get(struct client *client, int socket, uint32_t at, void *data, uint32_t bytes)
{
    const uint32_t size = client->window->ring_bytes, first = ring_first(size, at, bytes);
    const uint8_t *ring = ring_of(client, socket, 1);
    const int error = client_copy_out(client, data, ring + (at & (size - 1)), first);
    return error || first == bytes ? error : client_copy_out(client, (uint8_t *)data + first, ring, bytes - first);
}

// Waits for room; the bytes of it, or an error. What befell a datagram before is no reason to refuse one `to` another,
// unless that has to wait.
static int room_for(struct client *client, int socket, uint32_t bytes, const struct weir_endpoint *to,
                    uint64_t deadline_us)
{
    struct window_channel *channel = shared(client, socket);
    for (;;) {
        const int error = (int)(int32_t)atomic_load(&channel->send_end);
        if (error < 0)
            return client->socket[socket].told ? WEIR_SHUT_DOWN : error;
        if (!(atomic_load(&channel->state) & WINDOW_CONNECTED))
            return WEIR_NOT_CONNECTED;
        const uint32_t room =
            ring_room(atomic_load(&channel->accepted), client->socket[socket].sent, client->window->ring_bytes);
        const int passing = to && room >= bytes ? WEIR_OK : take_passing(client, socket);
        if (passing < 0 || room >= bytes)
            return passing < 0 ? passing : (int)room;
        const int result = wait_for(client, socket, WINDOW_WRITE, deadline_us);
        if (result < 0)
            return result;
    }
}

int client_send(struct client *client, int socket, const void *data, uint32_t bytes)
{
    const int room = valid(client, socket) ? room_for(client, socket, 1, NULL, deadline(client)) : WEIR_BAD_SOCKET;
    if (room < 0 || !bytes)
        return room < 0 ? room : 0;
    const uint32_t now = bytes < (uint32_t)room ? bytes : (uint32_t)room;
    if (put(client, socket, client->socket[socket].sent, data, now))
        return WEIR_FAULT;
    client->socket[socket].sent += now;
    atomic_store(&shared(client, socket)->sent, client->socket[socket].sent);
    ring_server(client);
    return (int)now;
}

int client_send_all(struct client *client, int socket, const void *data, uint32_t bytes)
{
    uint32_t done = 0;
    while (done < bytes) {
        const int some = client_send(client, socket, (const uint8_t *)data + done, bytes - done);
        if (some < 0)
            return some;
        done += (uint32_t)some;
    }
    return (int)done;
}

// The bytes there are, 0 at the end, or an error.
static int received(struct client *client, int socket, uint64_t deadline_us)
{
    struct window_channel *channel = shared(client, socket);
    for (;;) {
        const int passing = take_passing(client, socket);
        if (passing < 0)
            return passing;
        const int end = (int)(int32_t)atomic_load(&channel->read_end);  // before: what it follows is then seen
        const uint32_t there =
            ring_filled(atomic_load(&channel->received), client->socket[socket].taken, client->window->ring_bytes);
        if (there)
            return (int)there;
        if (end)
            return take_death(client, socket);
        const int result = wait_for(client, socket, WINDOW_READ, deadline_us);
        if (result < 0)
            return result;
    }
}

static void taken(struct client *client, int socket, uint32_t bytes)
{
    struct window_channel *channel = shared(client, socket);
    const uint32_t size = client->window->ring_bytes;
    client->socket[socket].taken += bytes;
    atomic_store(&channel->taken, client->socket[socket].taken);
    if (atomic_load(&channel->state) & WINDOW_STALLED &&
        atomic_load(&channel->received) - client->socket[socket].taken <= size / 2)
        ring_server(client);
}

int client_recv(struct client *client, int socket, void *data, uint32_t bytes)
{
    const int there = valid(client, socket) ? received(client, socket, deadline(client)) : WEIR_BAD_SOCKET;
    if (there <= 0 || !bytes)
        return there < 0 ? there : 0;
    const uint32_t now = bytes < (uint32_t)there ? bytes : (uint32_t)there;
    if (get(client, socket, client->socket[socket].taken, data, now))
        return WEIR_FAULT;
    taken(client, socket, now);
    return (int)now;
}

int client_sendto(struct client *client, int socket, const void *data, uint32_t bytes, const struct weir_endpoint *peer)
{
    struct window_record record = {.length = bytes};
    if (!valid(client, socket))
        return WEIR_BAD_SOCKET;
    const uint32_t size = client->window->ring_bytes;
    // so that it finds room when the server says there is some
    if (bytes > size / 2 || window_record_bytes(bytes) > size / 2)
        return WEIR_TOO_BIG;
    if (peer)
        record.peer = *peer;
    const int room = room_for(client, socket, window_record_bytes(bytes), peer, deadline(client));
    if (room < 0)
        return room;
    const uint32_t at = client->socket[socket].sent;
    ring_put(ring_of(client, socket, 0), size, at, &record, sizeof record);
    if (put(client, socket, at + (uint32_t)sizeof record, data, bytes))
        return WEIR_FAULT;
    client->socket[socket].sent = at + window_record_bytes(bytes);
    atomic_store(&shared(client, socket)->sent, client->socket[socket].sent);
    ring_server(client);
    return (int)bytes;
}

int client_recvfrom(struct client *client, int socket, void *data, uint32_t bytes, struct weir_endpoint *peer)
{
    struct window_record record;
    const int there = valid(client, socket) ? received(client, socket, deadline(client)) : WEIR_BAD_SOCKET;
    if (there <= 0)
        return there;
    const uint32_t size = client->window->ring_bytes, at = client->socket[socket].taken;
    ring_get(ring_of(client, socket, 1), size, at, &record, sizeof record);
    if (get(client, socket, at + (uint32_t)sizeof record, data, record.length < bytes ? record.length : bytes))
        return WEIR_FAULT;
    if (peer)
        *peer = record.peer;
    taken(client, socket, window_record_bytes(record.length));
    return (int)record.length;
}
