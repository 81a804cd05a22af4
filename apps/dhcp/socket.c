// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp/socket.h"

int dhcp_socket(struct loop *loop, const struct weir_netif *netif, uint16_t port, struct weir_watch *watch,
                weir_socket *out)
{
    const weir_socket socket = weir_socket_open(loop->weir, WEIR_DATAGRAM, 0);
    if (socket < 0)
        return socket;
    const struct weir_endpoint local = {weir_addr_any(), port};
    int error = weir_socket_set(loop->weir, socket, WEIR_OPTION_BROADCAST, 1);
    if (error == WEIR_OK)
        error = weir_socket_set(loop->weir, socket, WEIR_OPTION_BIND_NETIF, netif->index);
    if (error == WEIR_OK)
        error = weir_socket_bind(loop->weir, socket, &local);
    if (error == WEIR_OK)
        error = loop_watch(loop, socket, watch);
    if (error != WEIR_OK)
        (void)weir_socket_close(loop->weir, socket);
    else
        *out = socket;
    return error;
}
