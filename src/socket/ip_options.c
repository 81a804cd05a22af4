// SPDX-License-Identifier: BSD-2-Clause
// IPv4 options in the native API.
#include "ip/options.h"
#include "socket/socket.h"
#include "tcp/ip_options.h"

int weir_socket_set_ip_options(struct weir *weir, weir_socket socket, const void *bytes, int length)
{
    struct sock *const sock = handle_sock(weir, socket);
    struct weir_ip_options options;
    if (!sock)
        return WEIR_BAD_SOCKET;
    const int error = length < 0 ? WEIR_INVALID : ip4_options_take(&options, bytes, (uint32_t)length);
    if (error)
        return error;
    if (!sock_is_datagram(sock))
        return tcp_ip_options_set(weir, sock, &options);
    sock_datagram(sock)->ip_options = options;
    return WEIR_OK;
}

int weir_socket_ip_options(struct weir *weir, weir_socket socket, struct weir_ip_options *options)
{
    const struct sock *const sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock_is_datagram(sock))
        *options = ((const struct datagram *)sock)->ip_options;
    else
        tcp_ip_options_get(sock, options);
    return WEIR_OK;
}

int weir_socket_received_ip_options(struct weir *weir, weir_socket socket, struct weir_ip_options *options)
{
    const struct sock *const sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock_is_datagram(sock))
        return WEIR_NOT_SUPPORTED;
    tcp_ip_options_received(sock, options);
    return WEIR_OK;
}
