// SPDX-License-Identifier: BSD-2-Clause
#include "service.h"

static weir_socket service_open(struct loop *loop, enum weir_socket_type type, uint16_t port, struct weir_watch *watch)
{
    weir_socket socket = weir_socket_open(loop->weir, type, 0);
    if (socket < 0)
        return socket;
    const struct weir_endpoint local = {weir_addr_any(), port};
    int error = type == WEIR_STREAM ? weir_socket_set(loop->weir, socket, WEIR_OPTION_REUSE_ADDRESS, 1) : WEIR_OK;
    if (error == WEIR_OK)
        error = weir_socket_bind(loop->weir, socket, &local);
    if (error == WEIR_OK && type == WEIR_STREAM)
        error = weir_socket_listen(loop->weir, socket, SERVICE_BACKLOG);
    if (error == WEIR_OK)
        error = loop_watch(loop, socket, watch);
    if (error != WEIR_OK) {
        (void)weir_socket_close(loop->weir, socket);
        return error;
    }
    return socket;
}

weir_socket service_listen(struct loop *loop, uint16_t port, struct weir_watch *watch)
{
    return service_open(loop, WEIR_STREAM, port, watch);
}

weir_socket service_bind(struct loop *loop, uint16_t port, struct weir_watch *watch)
{
    return service_open(loop, WEIR_DATAGRAM, port, watch);
}

weir_socket service_accept(struct loop *loop, weir_socket listener, struct weir_watch *watch)
{
    weir_socket socket = weir_socket_accept(loop->weir, listener);
    if (socket < 0)
        return socket;
    (void)loop_watch(loop, socket, watch);
    // Where keepalive is not built in the user timeout still ends a connection with unacknowledged data.
    (void)weir_socket_set(loop->weir, socket, WEIR_OPTION_KEEPALIVE, 1);
    (void)weir_socket_set(loop->weir, socket, WEIR_OPTION_KEEPALIVE_IDLE_S, SERVICE_KEEPALIVE_S);
    (void)weir_socket_set(loop->weir, socket, WEIR_OPTION_KEEPALIVE_INTERVAL_S, SERVICE_KEEPALIVE_S / 4);
    return socket;
}

bool service_peek(struct loop *loop, weir_socket socket, struct weir_message *message, struct weir_slice *slice,
                  int *error)
{
    int got = weir_socket_peek_message(loop->weir, socket, message, slice);
    if (got < 0 && got != WEIR_AGAIN) {
        if (error != NULL)
            *error = got;  // taken by this
        got = weir_socket_peek_message(loop->weir, socket, message, slice);
    }
    return got >= 0;
}

bool service_may_answer(const struct weir_message *message)
{
    return message->peer.port >= SERVICE_UNPRIVILEGED && !weir_addr_is_broadcast(message->local) &&
           !weir_addr_is_multicast(message->local);
}

void service_close(struct loop *loop, weir_socket *socket)
{
    if (*socket > 0)
        (void)weir_socket_close(loop->weir, *socket);
    *socket = 0;
}
