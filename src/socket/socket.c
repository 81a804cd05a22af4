// SPDX-License-Identifier: BSD-2-Clause
// The native socket API: each call finds the sock, checks that its kind has the operation, and hands over to the layer
// that owns it. No protocol here.
#include "socket/socket.h"

int socket_conn_find(struct weir *weir, weir_socket socket, struct tcp_conn **conn)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock->kind == SOCK_LISTENER)
        return WEIR_LISTENING;
    if (sock_is_datagram(sock))
        return WEIR_NOT_SUPPORTED;
    *conn = sock_conn(sock);
    socket_conn_remember(weir, socket, *conn);
    return WEIR_OK;
}

// A sock of the kind, still without a handle; NULL: no memory.
static struct sock *sock_new(struct weir *weir, enum weir_socket_type type, uint8_t protocol)
{
    if (type == WEIR_STREAM)
        return tcp_open(weir);
    struct datagram *datagram = SOCKET_DATAGRAMS ? datagram_open(weir, type, protocol) : NULL;
    return datagram ? &datagram->sock : NULL;
}

static bool type_built(enum weir_socket_type type)
{
    switch (type) {
    case WEIR_STREAM: return true;
    case WEIR_DATAGRAM: return SOCKET_DATAGRAMS;
    case WEIR_RAW:
    case WEIR_ICMP: return SOCKET_DATAGRAMS && WEIR_CFG_RAW;
    }
    return false;
}

weir_socket weir_socket_open(struct weir *weir, enum weir_socket_type type, uint8_t protocol)
{
    if (!type_built(type))
        return WEIR_NOT_SUPPORTED;
    if (!handle_room(weir))
        return WEIR_NO_MEMORY;
    struct sock *sock = sock_new(weir, type, protocol);
    return sock ? handle_new(weir, sock) : WEIR_NO_MEMORY;
}

int weir_socket_bind(struct weir *weir, weir_socket socket, const struct weir_endpoint *local)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    struct weir_endpoint wanted = *local;
    const int error = socket_family_bind(sock, &wanted.addr);
    if (error)
        return error;
    if (sock_is_datagram(sock))
        return datagram_bind(weir, sock_datagram(sock), &wanted);
    return sock->kind == SOCK_LISTENER ? WEIR_LISTENING : tcp_bind(weir, sock, &wanted);
}

#if WEIR_CFG_TCP_CONNECT
static int stream_connect(struct weir *weir, struct sock *sock, const struct weir_endpoint *peer)
{
    return sock->kind == SOCK_LISTENER ? WEIR_LISTENING : tcp_connect(weir, sock_conn(sock), peer);
}
#else
static int stream_connect(struct weir *weir, struct sock *sock, const struct weir_endpoint *peer)
{
    (void)weir, (void)sock, (void)peer;
    return WEIR_NOT_SUPPORTED;
}
#endif

int weir_socket_connect(struct weir *weir, weir_socket socket, const struct weir_endpoint *peer)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    return sock_is_datagram(sock) ? datagram_connect(weir, sock_datagram(sock), peer)
                                  : stream_connect(weir, sock, peer);
}

int weir_socket_listen(struct weir *weir, weir_socket socket, uint32_t backlog)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock_is_datagram(sock))
        return WEIR_NOT_SUPPORTED;
    backlog = max_u32(1, min_u32(backlog, WEIR_CFG_LISTEN_BACKLOG_MAX));
    if (sock->kind == SOCK_LISTENER)
        return tcp_listen_again(weir, sock_listener(sock), backlog);
    // The sock is about to be replaced: its news is old.
    if (sock->flags & SOCK_ON_READY)
        sock_ready_remove(&weir->socks, sock);
    struct sock *listener = NULL;
    const int error = tcp_listen(weir, sock_conn(sock), backlog, &listener);
    if (error) {
        if (sock->events)
            sock_event(&weir->socks, sock, sock->events);
        return error;
    }
    handle_replace(weir, socket, listener);
    return WEIR_OK;
}

weir_socket weir_socket_accept(struct weir *weir, weir_socket listener)
{
    struct sock *sock = handle_sock(weir, listener);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock->kind != SOCK_LISTENER)
        return sock_is_datagram(sock) ? WEIR_NOT_SUPPORTED : WEIR_INVALID;
    if (!handle_room(weir))
        return WEIR_NO_MEMORY;  // the connection goes on waiting
    struct sock *accepted = tcp_accept(weir, sock_listener(sock));
    if (!accepted)
        return WEIR_AGAIN;
    handle_new(weir, accepted);
    // Whatever came before the handle did becomes news now.
    sock_event(&weir->socks, accepted, tcp_ready(weir, accepted));
    return accepted->handle;
}

int weir_socket_shutdown(struct weir *weir, weir_socket socket, enum weir_shutdown how)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (how < WEIR_SHUT_READ || how > WEIR_SHUT_BOTH)
        return WEIR_INVALID;
    if (sock_is_datagram(sock))
        return datagram_shutdown(weir, sock_datagram(sock), how);
    return sock->kind == SOCK_LISTENER ? WEIR_NOT_CONNECTED : tcp_shutdown(weir, sock_conn(sock), how);
}

static int end(struct weir *weir, weir_socket socket, void (*stream_end)(struct weir *, struct sock *))
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    handle_free(weir, sock);
    if (sock_is_datagram(sock))
        datagram_close(weir, sock_datagram(sock));
    else
        stream_end(weir, sock);
    return WEIR_OK;
}

int weir_socket_close(struct weir *weir, weir_socket socket) { return end(weir, socket, tcp_close); }
int weir_socket_abort(struct weir *weir, weir_socket socket) { return end(weir, socket, tcp_abort); }

void sockets_abort_all(struct weir *weir)
{
    for (uint32_t index = 0; index < weir->handles.slots; index++) {
        const struct sock *sock = handle_at(weir, index);
        if (sock)
            weir_socket_abort(weir, sock->handle);
    }
}

static int endpoints(const struct weir *weir, weir_socket socket, struct weir_endpoint *local,
                     struct weir_endpoint *peer)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock_is_datagram(sock)) {
        *local = sock_datagram(sock)->local;
        *peer = sock_datagram(sock)->peer;
    } else {
        tcp_endpoints(sock, local, peer);
    }
    return WEIR_OK;
}

int weir_socket_local(struct weir *weir, weir_socket socket, struct weir_endpoint *out)
{
    struct weir_endpoint peer;
    return endpoints(weir, socket, out, &peer);
}

int weir_socket_peer(struct weir *weir, weir_socket socket, struct weir_endpoint *out)
{
    struct weir_endpoint local;
    const int error = endpoints(weir, socket, &local, out);
    if (error)
        return error;
    const struct sock *sock = handle_sock(weir, socket);
    if (sock_is_datagram(sock))  // raw sockets have no ports: the address tells
        return weir_addr_is_any(out->addr) && !out->port ? WEIR_NOT_CONNECTED : WEIR_OK;
    return tcp_state(sock) < WEIR_TCP_ESTABLISHED ? WEIR_NOT_CONNECTED : WEIR_OK;
}

int weir_socket_reserve(struct weir *weir, weir_socket socket, uint32_t want, struct weir_span *spans, int count)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    if (error)
        return error;
    if (want == 0 || count < 1)
        return WEIR_INVALID;
    return tcp_reserve(weir, c, min_u32(want, INT32_MAX), spans, count);
}

int weir_socket_commit(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_commit(weir, c, bytes, false);
}

int weir_socket_peek(struct weir *weir, weir_socket socket, uint32_t skip, struct weir_slice *slices, int count)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    if (error)
        return error;
    return count < 1 ? WEIR_INVALID : tcp_peek(weir, c, skip, slices, count);
}

int weir_socket_consume(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_consume(weir, c, bytes);
}

int weir_socket_acknowledge(struct weir *weir, weir_socket socket)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    if (!error)
        tcp_acknowledge(weir, c);
    return error;
}

int weir_socket_write(struct weir *weir, weir_socket socket, const void *data, uint32_t bytes)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    if (error)
        return error;
    return bytes ? tcp_write(weir, c, data, min_u32(bytes, INT32_MAX)) : 0;
}

int weir_socket_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    if (error)
        return error;
    return bytes ? tcp_read(weir, c, data, min_u32(bytes, INT32_MAX)) : 0;
}
