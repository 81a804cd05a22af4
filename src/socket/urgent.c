// SPDX-License-Identifier: BSD-2-Clause
// Urgent data in the native API (RFC 6093: one byte, before the mark).
#include "socket/socket.h"

// The mark goes behind the last byte of `data`, so only a write that fits whole sets it; otherwise what fits is sent as
// ordinary data and the caller goes on with the rest.
int weir_socket_write_urgent(struct weir *weir, weir_socket socket, const void *data, uint32_t bytes)
{
    struct tcp_conn *c;
    struct weir_span span;
    int error = socket_conn(weir, socket, &c);
    if (error)
        return error;
    if (bytes == 0 || bytes > INT32_MAX)
        return WEIR_INVALID;
    uint32_t done = 0;
    while (done < bytes) {
        const int lent = tcp_reserve(weir, c, bytes - done, &span, 1);
        if (lent <= 0)
            return done ? (int)done : lent;
        memcpy(span.data, (const uint8_t *)data + done, (uint32_t)lent);
        done += (uint32_t)lent;
        error = tcp_commit(weir, c, (uint32_t)lent, done == bytes);
        if (error < 0)
            return error;
    }
    return (int)done;
}

int weir_socket_read_urgent(struct weir *weir, weir_socket socket, uint8_t *byte, int peek)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_read_urgent(weir, c, byte, peek != 0);
}

int weir_socket_at_mark(struct weir *weir, weir_socket socket)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_at_mark(weir, c);
}
