// SPDX-License-Identifier: BSD-2-Clause
#include <string.h>

#include "ports/coop/coop_port.h"
#include "internal.h"

int socket_bind(struct romantiki_socket *socket, uint16_t port)
{
    struct weir *weir = coop_port_weir();
    const struct weir_endpoint local = {weir_addr_any(), port};
    const weir_socket handle = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    if (handle < 0)
        return handle;
    romantiki_take(socket, handle);
    const int result = weir_socket_bind(weir, handle, &local);
    if (result < 0)
        (void)socket_close(socket);
    return result < 0 ? result : EOK;
}

// Bytes that do not fit are cut.
BFD romantiki_recvfrom(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received,
                       struct weir_endpoint *from, int *res)
{
    struct weir_message message;
    struct weir_slice slice;
    const int got = weir_socket_peek_message(coop_port_weir(), socket->handle, &message, &slice);
    *received = 0;
    if (got >= 0) {
        *received = slice.length < bytes ? slice.length : bytes;
        memcpy(data, slice.data, *received);
        *from = message.peer;
        (void)weir_socket_discard(coop_port_weir(), socket->handle);
    }
    return romantiki_wait(socket, got, res);
}

BFD romantiki_sendto(struct romantiki_socket *socket, const void *data, unsigned bytes, const struct weir_endpoint *to,
                     int *res)
{
    const struct weir_message message = {.peer = *to, .length = bytes};
    const struct weir_slice slice = {data, bytes};
    return romantiki_wait(
        socket, weir_socket_send_message(coop_port_weir(), socket->handle, &message, &slice, bytes ? 1 : 0), res);
}
