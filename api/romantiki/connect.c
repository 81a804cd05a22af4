// SPDX-License-Identifier: BSD-2-Clause
#include "ports/coop/coop_port.h"
#include "internal.h"

// The handle tells whether the connection was asked for already.
BFD romantiki_connect(struct romantiki_socket *socket, uint32_t address, uint16_t port, int *res)
{
    struct weir *weir = coop_port_weir();
    const struct weir_endpoint peer = {weir_addr_v4(address), port};
    int32_t error = 0;
    if (!socket->handle) {
        const weir_socket handle = weir_socket_open(weir, WEIR_STREAM, 0);
        if (handle > 0)
            romantiki_take_stream(socket, handle);
        error = handle > 0 ? weir_socket_connect(weir, handle, &peer) : handle;
        if (error == WEIR_IN_PROGRESS)
            error = WEIR_AGAIN;
    } else if (!(weir_socket_ready(weir, socket->handle) & (WEIR_WRITABLE | WEIR_ERROR))) {
        error = WEIR_AGAIN;
    } else {
        (void)weir_socket_get(weir, socket->handle, WEIR_OPTION_ERROR, &error);
    }
    if (error == WEIR_AGAIN && coop_expired())
        error = ETIMEOUT;
    if (error < 0 && error != WEIR_AGAIN)
        (void)socket_close(socket);
    return romantiki_wait(socket, error, res);
}
