// SPDX-License-Identifier: BSD-2-Clause
// Readiness: the level of one socket, and the list of sockets that have news.
#include "socket/socket.h"

int weir_socket_ready(struct weir *weir, weir_socket socket)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    return sock_is_datagram(sock) ? datagram_ready(sock_datagram(sock)) : tcp_ready(weir, sock);
}

weir_socket weir_ready_next(struct weir *weir, uint32_t *events)
{
    struct sock *sock = sock_ready_pop(&weir->socks);
    if (!sock)
        return 0;
    *events = sock->events;
    sock->events = 0;
    return sock->handle;
}

uint32_t weir_dispatch(struct weir *weir, uint32_t most)
{
    uint32_t taken = 0;
    while (taken < most) {
        uint32_t events;
        const weir_socket socket = weir_ready_next(weir, &events);
        if (!socket)
            break;
        taken++;
        struct weir_watch *watch = weir_socket_user(weir, socket);
        if (watch)
            watch->event(watch, socket, events);
    }
    return taken;
}

int weir_output_pending(const struct weir *weir) { return weir->socks.output.head != NULL || weir->ip.outbox_due; }

int weir_socket_set_user(struct weir *weir, weir_socket socket, void *user)
{
    void **place = handle_sock(weir, socket) ? handle_user(weir, socket, true) : NULL;
    if (!place)
        return handle_sock(weir, socket) ? WEIR_NO_MEMORY : WEIR_BAD_SOCKET;
    *place = user;
    return WEIR_OK;
}

void *weir_socket_user(struct weir *weir, weir_socket socket)
{
    void **place = handle_sock(weir, socket) ? handle_user(weir, socket, false) : NULL;
    return place ? *place : NULL;
}
