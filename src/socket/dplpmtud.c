// SPDX-License-Identifier: BSD-2-Clause
// Path MTU discovery by probes in the native API.
#include "socket/socket.h"
#include "udp/dplpmtud.h"

int weir_dplpmtud_start(struct weir *weir, weir_socket socket, const struct weir_dplpmtud_settings *settings)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_search_start(weir, datagram, settings);
}

int weir_dplpmtud_stop(struct weir *weir, weir_socket socket)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_search_stop(weir, datagram);
}

int weir_dplpmtud_get(struct weir *weir, weir_socket socket, struct weir_dplpmtud_info *out)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (!error)
        datagram_search_get(datagram, out);
    return error;
}

int weir_dplpmtud_probe(struct weir *weir, weir_socket socket, const struct weir_slice *slices, int count)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    if (error)
        return error;
    return count < 0 ? WEIR_INVALID : datagram_search_probe(weir, datagram, slices, count);
}

int weir_dplpmtud_report(struct weir *weir, weir_socket socket, enum weir_dplpmtud_event event, uint32_t bytes)
{
    struct datagram *datagram;
    const int error = handle_datagram(weir, socket, &datagram);
    return error ? error : datagram_search_report(weir, datagram, event, bytes);
}
