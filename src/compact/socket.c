// SPDX-License-Identifier: BSD-2-Clause
// The native socket API. A handle is a generation above the socket's index: listeners first, then connections, then
// datagram sockets. A stream that weir_socket_open gives can only become a listener.
#include "compact/compact.h"
#include "compact/udp.h"

#define GENERATION 0x100u

static struct socket *socket_of(struct weir *weir, uint32_t index)
{
    if (DATAGRAMS && index >= LISTENERS + CONNS)
        return datagram_socket(weir, index - LISTENERS - CONNS);
    return index < LISTENERS ? &weir->listeners[index].socket : &weir->conns[index - LISTENERS].socket;
}

static struct listener *find_listener(struct weir *weir, weir_socket handle)
{
    const uint32_t at = (uint32_t)handle & INDEX_MASK;
    if (at >= LISTENERS)
        return NULL;
    struct listener *listener = weir->listeners + at;
    return listener->socket.open && listener->socket.handle == handle ? listener : NULL;
}

static BYTES_INLINE struct conn *conn_of(struct weir *weir, weir_socket handle)
{
    const uint32_t at = ((uint32_t)handle & INDEX_MASK) - LISTENERS;
    if (at >= CONNS)
        return NULL;
    struct conn *c = weir->conns + at;
    return c->socket.open && c->socket.handle == handle ? c : NULL;
}
static struct conn *find_conn(struct weir *weir, weir_socket handle) { return conn_of(weir, handle); }

static struct socket *socket_find(struct weir *weir, weir_socket handle)
{
    struct listener *listener = find_listener(weir, handle);
    struct conn *c = find_conn(weir, handle);
    // its first member
    return listener ? &listener->socket : c ? &c->socket : (struct socket *)(void *)datagram_of(weir, handle);
}

// Why a call that needs a connection got none.
static int no_conn(struct weir *weir, weir_socket handle)
{
    return find_listener(weir, handle) ? WEIR_LISTENING : WEIR_BAD_SOCKET;
}

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
    const bool datagrams = DATAGRAMS && type == WEIR_DATAGRAM;
    if (type != WEIR_STREAM && !datagrams)
        return WEIR_NOT_SUPPORTED;
    for (uint32_t index = datagrams ? LISTENERS + CONNS : 0;
         index < (datagrams ? LISTENERS + CONNS + DATAGRAMS : LISTENERS); index++) {
        struct listener *listener = (struct listener *)(void *)socket_of(weir, index);  // or what begins as one
        if (!listener->socket.open) {
            // of a datagram socket also that nothing waits; of a listener that is padding
            memset(listener->port, 0, DATAGRAMS ? 3 : 2);
            return handle_give(&listener->socket, index);
        }
    }
    return WEIR_NO_MEMORY;
}

int weir_socket_bind(struct weir *weir, weir_socket socket, const struct weir_endpoint *local)
{
    struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return datagram_bind(weir, socket, local);
    if (listener->socket.state)
        return WEIR_LISTENING;
    if (!weir_addr_is_any(local->addr) && !local_bindable(weir->netif, local->addr))
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
        if (c->flags & CONN_WAITS_ACCEPT && native16(c->peer.ports + 2) == native16(listener->port))
            return c;
    return NULL;
}

static uint32_t conn_ready(const struct conn *c)
{
    const bool ended = !c->socket.state;
    return (c->receive_length || c->flags & (CONN_FIN_RECEIVED | CONN_READ_SHUT) || ended ? WEIR_READABLE : 0u) |
           (conn_writable(c) ? (c->send_length < SEND_BYTES ? WEIR_WRITABLE : 0u) : WEIR_WRITABLE) |
           (c->flags & CONN_FIN_RECEIVED ? WEIR_READ_CLOSED : 0u) | (ended ? WEIR_HANGUP : 0u) |
           (c->error ? WEIR_ERROR : 0u);
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
        conn_reset(c, 0);
    for (struct entry *entry = weir->entries; entry < weir->entries + HALF_OPENS; entry++)
        if (native16(entry->peer.ports + 2) == native16(listener->port))
            entry->state = ENTRY_FREE;
}

static int end(struct weir *weir, weir_socket socket, bool abort)
{
    struct socket *s = socket_find(weir, socket);
    if (!s)
        return WEIR_BAD_SOCKET;
    struct conn *c = (struct conn *)(void *)s;  // its first member, as a listener's
    s->open = false;
    s->events = 0;
    weir->output_pending = true;
    if (((uint32_t)socket & INDEX_MASK) < LISTENERS)
        listener_close(weir, (struct listener *)(void *)s);
    else if (!s->state)
        return WEIR_OK;
    else if (abort || c->receive_length)  // RFC 2525 §2.17: the peer must learn that data was not read
        conn_reset(c, WEIR_ABORTED);
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
    out->port = get16(c ? c->peer.ports + 2 : ((const struct listener *)(const void *)s)->port);
    out->addr = c && weir->netif ? local_address(weir->netif, &c->peer) : weir_addr_any();
    return WEIR_OK;
}

int weir_socket_peer(struct weir *weir, weir_socket socket, struct weir_endpoint *out)
{
    const struct conn *c = find_conn(weir, socket);
    if (!c)
        return find_listener(weir, socket) ? WEIR_NOT_CONNECTED : WEIR_BAD_SOCKET;
    out->port = get16(c->peer.ports);
    out->addr = peer_address(&c->peer);
    return WEIR_OK;
}

// --- streams ---------------------------------------------------------------------------------------------------------

// Room for so many bytes to send, or why there is none.
static int room(struct conn *c)
{
    if (!conn_writable(c))
        return c->error < 0 ? c->error : WEIR_SHUT_DOWN;
    if (c->send_length < SEND_BYTES)
        return (int)(SEND_BYTES - c->send_length);
    c->flags |= CONN_WRITE_BLOCKED;
    return WEIR_AGAIN;
}

int weir_socket_reserve(struct weir *weir, weir_socket socket, uint32_t want, struct weir_span *spans, int count)
{
    struct conn *c = find_conn(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    if (!want || count < 1)
        return WEIR_INVALID;
    const int most = room(c);
    if (most <= 0)
        return most;
    const uint32_t at = ((uint32_t)c->send_at + c->send_length) % SEND_BYTES, lent = min_u32(want, (uint32_t)most);
    const uint32_t first = min_u32(lent, SEND_BYTES - at);
    spans[0] = (struct weir_span){c->send + at, first};
    if (count < 2)
        return (int)first;
    spans[1] = (struct weir_span){c->send, lent - first};
    return (int)lent;
}

// The bytes are in their place.
static int queue(struct weir *weir, struct conn *c, uint32_t bytes)
{
    c->send_length = (uint16_t)(c->send_length + bytes);
    if (c->max == c->una)
        c->progress = now(weir);
    weir->output_pending = true;
    return (int)bytes;
}

static int commit(struct weir *weir, struct conn *c, uint32_t bytes)
{
    if (!conn_writable(c))
        return c->error < 0 ? c->error : WEIR_SHUT_DOWN;
    return bytes > SEND_BYTES - c->send_length ? WEIR_INVALID : queue(weir, c, bytes);
}

int weir_socket_commit(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    return c ? commit(weir, c, bytes) : no_conn(weir, socket);
}

// Why there is nothing to read.
static int nothing(const struct conn *c)
{
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
    if (count < 1)
        return WEIR_INVALID;
    if (skip >= c->receive_length)
        return nothing(c);
    const uint32_t at = (c->receive_at + skip) % RECEIVE_BYTES, lent = c->receive_length - skip;
    const uint32_t first = min_u32(lent, RECEIVE_BYTES - at);
    slices[0] = (struct weir_slice){c->receive + at, first};
    if (count < 2)
        return (int)first;
    slices[1] = (struct weir_slice){c->receive, lent - first};
    return (int)lent;
}

static int consume(struct weir *weir, struct conn *c, uint32_t bytes)
{
    conn_consume(c, bytes);
    weir->output_pending = true;
    return (int)bytes;
}

int weir_socket_consume(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct conn *c = find_conn(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    return bytes > c->receive_length ? WEIR_INVALID : consume(weir, c, bytes);
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
    struct conn *c = conn_of(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    const int most = bytes ? room(c) : 0;
    if (most <= 0)
        return most;
    const uint32_t at = ((uint32_t)c->send_at + c->send_length) % SEND_BYTES, take = min_u32(bytes, (uint32_t)most);
    const uint32_t first = min_u32(take, SEND_BYTES - at);
    memcpy(c->send + at, data, first);
    if (take != first)
        memcpy(c->send, (const uint8_t *)data + first, take - first);
    return queue(weir, c, take);
}

int weir_socket_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes)
{
    struct conn *c = conn_of(weir, socket);
    if (!c)
        return no_conn(weir, socket);
    const uint32_t take = min_u32(c->receive_length, bytes), first = min_u32(take, RECEIVE_BYTES - c->receive_at);
    if (!take)
        return bytes ? nothing(c) : 0;
    memcpy(data, c->receive + c->receive_at, first);
    if (take != first)
        memcpy((uint8_t *)data + first, c->receive, take - first);
    return consume(weir, c, take);
}

// --- readiness -------------------------------------------------------------------------------------------------------

int weir_socket_ready(struct weir *weir, weir_socket socket)
{
    const struct conn *c = find_conn(weir, socket);
    if (c)
        return (int)conn_ready(c);
    const struct listener *listener = find_listener(weir, socket);
    if (!listener)
        return datagram_ready(weir, socket);
    return waiting(weir, listener) ? WEIR_READABLE : 0;
}

// The next socket with news, which are told by that.
static struct socket *next_ready(struct weir *weir, uint32_t *events)
{
    for (uint32_t index = 0; index < LISTENERS + CONNS + DATAGRAMS; index++) {
        struct socket *socket = socket_of(weir, index);
        *events = socket->events;
        if (*events && socket->open) {
            socket->events = 0;
            return socket;
        }
    }
    return NULL;
}

weir_socket weir_ready_next(struct weir *weir, uint32_t *events)
{
    const struct socket *socket = next_ready(weir, events);
    return socket ? socket->handle : 0;
}

uint32_t weir_dispatch(struct weir *weir, uint32_t most)
{
    uint32_t taken = 0, events;
    const struct socket *socket;
    for (; taken < most && (socket = next_ready(weir, &events)); taken++) {
        struct weir_watch *watch = socket->user;
        if (watch)
            watch->event(watch, socket->handle, events);
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
