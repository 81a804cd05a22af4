// SPDX-License-Identifier: BSD-2-Clause
// Datagrams in the native API: UDP, raw and ICMP echo sockets.
#include "socket/socket.h"

int handle_datagram(const struct weir *weir, weir_socket socket, struct datagram **datagram)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (!sock_is_datagram(sock))
        return WEIR_NOT_SUPPORTED;
    *datagram = sock_datagram(sock);
    return WEIR_OK;
}

int weir_socket_send_message(struct weir *weir, weir_socket socket, const struct weir_message *message,
                             const struct weir_slice *slices, int count)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (error)
        return error;
    return count < 0 ? WEIR_INVALID : datagram_send(weir, datagram, message, slices, count);
}

int weir_socket_peek_message(struct weir *weir, weir_socket socket, struct weir_message *message,
                             struct weir_slice *slice)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_peek(weir, datagram, message, slice);
}

int weir_socket_discard(struct weir *weir, weir_socket socket)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_discard(weir, datagram);
}

int weir_socket_membership(struct weir *weir, weir_socket socket, struct weir_addr group, uint8_t netif_index, int join)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (error)
        return error;
    if (addr_foreign(group))
        return WEIR_NOT_SUPPORTED;
    return weir_addr_is_multicast(group) ? datagram_membership(weir, datagram, group, netif_index, join != 0)
                                         : WEIR_INVALID;
}
