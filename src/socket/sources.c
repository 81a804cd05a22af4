// SPDX-License-Identifier: BSD-2-Clause
// Source filters of multicast memberships in the native API.
#include "socket/socket.h"

int weir_socket_source(struct weir *weir, weir_socket socket, const struct weir_membership *which,
                       struct weir_addr source, enum weir_source_action action)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_source(weir, datagram, which, source, action);
}

int weir_socket_sources_set(struct weir *weir, weir_socket socket, const struct weir_membership *which, int exclude,
                            const struct weir_addr *sources, int count)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (error)
        return error;
    return count < 0 ? WEIR_INVALID
                     : datagram_sources_set(weir, datagram, which, exclude != 0, sources, (uint32_t)count);
}

int weir_socket_sources(struct weir *weir, weir_socket socket, const struct weir_membership *which, int *exclude,
                        struct weir_addr *sources, int room)
{
    struct datagram *datagram;
    bool all_but = false;
    int result = handle_datagram(weir, socket, &datagram);
    if (!result)
        result = room < 0 ? WEIR_INVALID : datagram_sources_get(datagram, which, &all_but, sources, (uint32_t)room);
    *exclude = all_but;
    return result;
}
