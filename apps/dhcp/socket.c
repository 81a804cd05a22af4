// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp/socket.h"

#include "dhcp/message.h"

static int bound_socket(struct loop *loop, const struct weir_netif *netif, uint16_t port, weir_socket *out)
{
    const struct weir_endpoint local = {weir_addr_any(), port};
    const weir_socket socket = weir_socket_open(loop->weir, WEIR_DATAGRAM, 0);
    if (socket < 0)
        return socket;
    int error = weir_socket_set(loop->weir, socket, WEIR_OPTION_BROADCAST, 1);
    if (error == WEIR_OK)
        error = weir_socket_set(loop->weir, socket, WEIR_OPTION_BIND_NETIF, netif->index);
    if (error == WEIR_OK)
        error = weir_socket_bind(loop->weir, socket, &local);
    if (error != WEIR_OK)
        (void)weir_socket_close(loop->weir, socket);
    else
        *out = socket;
    return error;
}

// A server beside a client would serve the client's network, so whoever comes second finds the other's port taken.
int dhcp_socket(struct loop *loop, const struct weir_netif *netif, uint16_t port, struct weir_watch *watch,
                weir_socket *out)
{
    weir_socket socket;
    int error = bound_socket(loop, netif, DHCP_CLIENT_PORT + DHCP_SERVER_PORT - port, &socket);
    if (error != WEIR_OK)
        return error;
    (void)weir_socket_close(loop->weir, socket);
    error = bound_socket(loop, netif, port, &socket);
    if (error != WEIR_OK)
        return error;
    error = loop_watch(loop, socket, watch);
    if (error != WEIR_OK)
        (void)weir_socket_close(loop->weir, socket);
    else
        *out = socket;
    return error;
}
