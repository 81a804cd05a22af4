// SPDX-License-Identifier: BSD-2-Clause
// The native socket API. A handle is a generation above the socket's index: listeners first, then connections. What weir_socket_open gives
// can only become a listener.
#include "compact/compact.h"

#define INDEX_MASK 0xffu
#define GENERATION 0x100u

static struct socket *socket_of(struct weir *weir, uint32_t index)
{
    return index < LISTENERS ? &weir->listeners[index].socket : &weir->conns[index - LISTENERS].socket;
}

static struct socket *socket_find(struct weir *weir, weir_socket handle)
{
    const uint32_t index = (uint32_t)handle & INDEX_MASK;
    struct socket *socket = index < LISTENERS + CONNS ? socket_of(weir, index) : NULL;
    return socket && socket->open && socket->handle == handle ? socket : NULL;
}

static struct listener *find_listener(struct weir *weir, weir_socket handle)
{
    return ((uint32_t)handle & INDEX_MASK) < LISTENERS ? (struct listener *)(void *)socket_find(weir, handle) : NULL;
}

static struct conn *find_conn(struct weir *weir, weir_socket handle)
{
    return ((uint32_t)handle & INDEX_MASK) < LISTENERS ? NULL : (struct conn *)(void *)socket_find(weir, handle);
}

// Why a call that needs a connection got none.
static int no_conn(struct weir *weir, weir_socket handle) { return find_listener(weir, handle) ? WEIR_LISTENING : WEIR_BAD_SOCKET; }

static weir_socket handle_give(struct socket *socket, uint32_t index)
{
    const uint32_t next = ((uint32_t)socket->handle & ~INDEX_MASK) + GENERATION;
    socket->handle = (weir_socket)((next > INT32_MAX ? GENERATION : next) | index);
    socket->open = true;
    socket->user = NULL;
    return socket->handle;
}

weir_socket weir_socket_open(struct weir *weir, enum weir_socket_type type, uint8_t protocol)
{
    (void)protocol;
    if (type != WEIR_STREAM)
        return WEIR_NOT_SUPPORTED;
    for (uint32_t index = 0; index < LISTENERS; index++) {
        struct listener *listener = &weir->listeners[index];
        if (!listener->socket.open) {
            memset(listener->port, 0, 2);
            return handle_give(&listener->socket, index);
        }
    }
    return WEIR_NO_MEMORY;
}

int weir_socket_bind(struct weir *weir, weir_socket socket, const struct weir_endpoint *local)
{
    struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return WEIR_BAD_SOCKET;
    if (listener->socket.state)
        return WEIR_LISTENING;
    if (!weir_addr_is_any(local->addr) && (!weir->netif || !weir_addr_equal(local->addr, weir->netif->address)))
        return WEIR_NO_ADDRESS;
    put16(listener->port, local->port);
    return listener_find(weir, listener->port) ? WEIR_IN_USE : WEIR_OK;
}

int weir_socket_connect(struct weir *weir, weir_socket socket, const struct weir_endpoint *peer)
{
    (void)weir, (void)socket, (void)peer;
    return WEIR_NOT_SUPPORTED;
}

int weir_socket_listen(struct weir *weir, weir_socket socket, uint32_t backlog)
{
    (void)backlog;  // as many wait as there are connections
    struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return WEIR_BAD_SOCKET;
    if (!get16(listener->port))
        return WEIR_INVALID;
    if (!listener->socket.state && listener_find(weir, listener->port))
        return WEIR_IN_USE;
    listener->socket.state = WEIR_TCP_LISTEN;
    return WEIR_OK;
}

// The next connection that waits for this listener; NULL: none.
static struct conn *waiting(struct weir *weir, const struct listener *listener)
{
    for (struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        if (c->flags & CONN_WAITS_ACCEPT && memcmp(c->peer.our_port, listener->port, 2) == 0)
            return c;
    return NULL;
}

static uint32_t conn_ready(const struct conn *c)
{
    const bool ended = !c->socket.state;
    return (c->receive_length || c->flags & (CONN_FIN_RECEIVED | CONN_READ_SHUT) || ended ? WEIR_READABLE : 0u) |
           (conn_writable(c) ? (c->send_length < SEND_BYTES ? WEIR_WRITABLE : 0u) : WEIR_WRITABLE) |
           (c->flags & CONN_FIN_RECEIVED ? WEIR_READ_CLOSED : 0u) | (ended ? WEIR_HANGUP : 0u) | (c->error ? WEIR_ERROR : 0u);
}

weir_socket weir_socket_accept(struct weir *weir, weir_socket socket)
{
    const struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return find_conn(weir, socket) ? WEIR_INVALID : WEIR_BAD_SOCKET;
    struct conn *c = waiting(weir, listener);
    if (!c)
        return WEIR_AGAIN;
    c->flags &= (uint16_t)~CONN_WAITS_ACCEPT;
    c->socket.events = (uint8_t)conn_ready(c);  // whatever came before the handle did becomes news now
    return handle_give(&c->socket, LISTENERS + (uint32_t)(c - weir->conns));
}

int weir_socket_shutdown(struct weir *weir, weir_socket socket, enum weir_shutdown how)
{
    struct conn *c = find_conn(weir, socket);
    if (!c)
        return find_listener(weir, socket) ? WEIR_NOT_CONNECTED : WEIR_BAD_SOCKET;
    if (how < WEIR_SHUT_READ || how > WEIR_SHUT_BOTH)
        return WEIR_INVALID;
    if (how & WEIR_SHUT_READ) {
        c->flags |= CONN_READ_SHUT;
        conn_consume(c, c->receive_length);
    }
    if (how & WEIR_SHUT_WRITE)
        conn_shut(c);
    weir->output_pending = true;
    return WEIR_OK;
}

// Connections that nobody took end with their listener, and handshakes too.
static void listener_close(struct weir *weir, struct listener *listener)
{
    struct conn *c;
    listener->socket.state = WEIR_TCP_CLOSED;
    while ((c = waiting(weir, listener)))
        conn_reset(weir, c, 0);
    for (struct entry *entry = weir->entries; entry < weir->entries + HALF_OPENS; entry++)
        if (memcmp(entry->peer.our_port, listener->port, 2) == 0)
            entry->state = ENTRY_FREE;
}

static int end(struct weir *weir, weir_socket socket, bool abort)
{
    struct socket *s = socket_find(weir, socket);
    if (!s)
        return WEIR_BAD_SOCKET;
    struct conn *c = find_conn(weir, socket);
    s->open = false;
    s->events = 0;
    weir->output_pending = true;
    if (!c)
        listener_close(weir, (struct listener *)(void *)s);
    else if (!c->socket.state)
        return WEIR_OK;
    else if (abort || c->receive_length)  // RFC 2525 §2.17: the peer must learn that data was not read
        conn_reset(weir, c, WEIR_ABORTED);
    else
        conn_shut(c);
    return WEIR_OK;
}

int weir_socket_close(struct weir *weir, weir_socket socket) { return end(weir, socket, false); }
int weir_socket_abort(struct weir *weir, weir_socket socket) { return end(weir, socket, true); }

int weir_socket_local(struct weir *weir, weir_socket socket, struct weir_endpoint *out)
{
    const struct socket *s = socket_find(weir, socket);
    const struct conn *c = find_conn(weir, socket);
    if (!s)
        return WEIR_BAD_SOCKET;
    out->port = get16(c ? c->peer.our_port : ((const struct listener *)(const void *)s)->port);
    out->addr = c && weir->netif ? weir->netif->address : weir_addr_any();
    return WEIR_OK;
}

int weir_socket_peer(struct weir *weir, weir_socket socket, struct weir_endpoint *out)
{
    const struct conn *c = find_conn(weir, socket);
    if (!c)
        return find_listener(weir, socket) ? WEIR_NOT_CONNECTED : WEIR_BAD_SOCKET;
    out->port = get16(c->peer.port);
    out->addr = weir_addr_v4(get32(c->peer.address));
    return WEIR_OK;
}

// --- streams ---------------------------------------------------------------------------------------------------------------

static int reserve(struct conn *c, uint32_t want, struct weir_slice *slices, uint32_t count)
{
    const uint32_t room = SEND_BYTES - c->send_length;
    if (!conn_writable(c))
        return c->error < 0 ? c->error : WEIR_SHUT_DOWN;
    if (!room) {
        c->flags |= CONN_WRITE_BLOCKED;
        return WEIR_AGAIN;
    }
    return (int)ring_slices(c->send, SEND_BYTES, (uint32_t)c->send_at + c->send_length, min_u32(want, room), slices, count);
}

int weir_socket_reserve(struct weir *weir, weir_socket socket, uint32_t want, struct weir_span *spans, int count)
{
    struct conn *c = find_conn(weir, socket);
    struct weir_slice slices[2];
    if (!c)
        return no_conn(weir, socket);
    if (!want || count < 1)
        return WEIR_INVALID;
    const int lent = reserve(c, want, slices, (uint32_t)count);
    if (lent > 0)
        for (int i = 0; i < count && i < 2; i++)
            spans[i] = (struct weir_span){(uint8_t *)slices[i].data, slices[i].length};
    return lent;
}

static int commit(struct weir *weir, struct conn *c, uint32_t bytes)
{
    if (!conn_writable(c))
        return c->error < 0 ? c->error : WEIR_SHUT_DOWN;
    if (bytes > SEND_BYTES - c->send_length)
        return WEIR_INVALID;
    c->send_length = (uint16_t)(c->send_length + bytes);
    if (c->max == c->una)
        c->progress = now(weir);
    weir->output_pending = true;
    return (int)bytes;
}

int weir_socket_commit(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    return c ? commit(weir, c, bytes) : no_conn(weir, socket);
}

static int peek(const struct conn *c, uint32_t skip, struct weir_slice *slices, uint32_t count)
{
    if (skip < c->receive_length)
        return (int)ring_slices(c->receive, RECEIVE_BYTES, c->receive_at + skip, c->receive_length - skip, slices, count);
    if (c->flags & (CONN_FIN_RECEIVED | CONN_READ_SHUT))
        return 0;
    if (c->socket.state)
        return WEIR_AGAIN;
    return c->error < 0 ? c->error : WEIR_OK;
}

int weir_socket_peek(struct weir *weir, weir_socket socket, uint32_t skip, struct weir_slice *slices, int count)
{
    const struct conn *c = find_conn(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    return count < 1 ? WEIR_INVALID : peek(c, skip, slices, (uint32_t)count);
}

static int consume(struct weir *weir, struct conn *c, uint32_t bytes)
{
    if (bytes > c->receive_length)
        return WEIR_INVALID;
    conn_consume(c, bytes);
    weir->output_pending = true;
    return (int)bytes;
}

int weir_socket_consume(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    return c ? consume(weir, c, bytes) : no_conn(weir, socket);
}

int weir_socket_acknowledge(struct weir *weir, weir_socket socket)
{
    struct conn *c = find_conn(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    if (c->flags & CONN_ACK_DELAYED) {
        c->flags |= CONN_ACK_NOW;
        weir->output_pending = true;
    }
    return WEIR_OK;
}

int weir_socket_write(struct weir *weir, weir_socket socket, const void *data, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    struct weir_slice slices[2];
    if (!c)
        return no_conn(weir, socket);
    if (!bytes)
        return 0;
    const int lent = reserve(c, bytes, slices, 2);
    if (lent <= 0)
        return lent;
    memcpy((uint8_t *)slices[0].data, data, slices[0].length);
    memcpy((uint8_t *)slices[1].data, (const uint8_t *)data + slices[0].length, slices[1].length);
    return commit(weir, c, (uint32_t)lent);
}

int weir_socket_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    struct weir_slice slices[2] = {{NULL, 0}, {NULL, 0}};
    if (!c)
        return no_conn(weir, socket);
    const int lent = bytes ? peek(c, 0, slices, 2) : 0;
    if (lent <= 0)
        return lent;
    const uint32_t take = min_u32((uint32_t)lent, bytes), first = min_u32(take, slices[0].length);
    memcpy(data, slices[0].data, first);
    memcpy((uint8_t *)data + first, slices[1].data, take - first);
    return consume(weir, c, take);
}

// --- readiness -------------------------------------------------------------------------------------------------------------

int weir_socket_ready(struct weir *weir, weir_socket socket)
{
    const struct conn *c = find_conn(weir, socket);
    if (c)
        return (int)conn_ready(c);
    const struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return WEIR_BAD_SOCKET;
    return waiting(weir, listener) ? WEIR_READABLE : 0;
}

weir_socket weir_ready_next(struct weir *weir, uint32_t *events)
{
    for (uint32_t index = 0; index < LISTENERS + CONNS; index++) {
        struct socket *socket = socket_of(weir, index);
        if (socket->open && socket->events) {
            *events = socket->events;
            socket->events = 0;
            return socket->handle;
        }
    }
    return 0;
}

uint32_t weir_dispatch(struct weir *weir, uint32_t most)
{
    uint32_t taken = 0, events;
    weir_socket socket;
    for (; taken < most && (socket = weir_ready_next(weir, &events)); taken++) {
        struct weir_watch *watch = weir_socket_user(weir, socket);
        if (watch)
            watch->event(watch, socket, events);
    }
    return taken;
}

int weir_output_pending(const struct weir *weir) { return weir->output_pending; }

int weir_socket_set_user(struct weir *weir, weir_socket socket, void *user)
{
    struct socket *s = socket_find(weir, socket);
    if (!s)
        return WEIR_BAD_SOCKET;
    s->user = user;
    return WEIR_OK;
}

void *weir_socket_user(struct weir *weir, weir_socket socket)
{
    const struct socket *s = socket_find(weir, socket);
    return s ? s->user : NULL;
}
