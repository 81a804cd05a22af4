// SPDX-License-Identifier: BSD-2-Clause
// IPv4 options of datagram and raw sockets in the native API.
#include "socket/socket.h"

int weir_socket_set_ip_options(struct weir *weir, weir_socket socket, const void *bytes, int length)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (error)
        return error;
    return length < 0 ? WEIR_INVALID : datagram_ip_options_set(datagram, bytes, (uint32_t)length);
}

int weir_socket_ip_options(struct weir *weir, weir_socket socket, struct weir_ip_options *options)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (!error)
        *options = datagram->ip_options;
    return error;
}
