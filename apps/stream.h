// SPDX-License-Identifier: BSD-2-Clause
// A stream that a service is written to: a socket, or what lies above one (TLS: apps/tls). The verbs are those of the
// native API, and never wait. On any event of the socket the service asks again; and at weir_stream_due_us, though
// nothing came.
#ifndef APPS_STREAM_H
#define APPS_STREAM_H

#include "weir/socket.h"

struct weir_stream_calls {
    // Before data can flow: WEIR_OK; WEIR_AGAIN: wait for the socket; WEIR_IN_PROGRESS: call again when the stack has
    // had its turn; an error.
    int (*begin)(void *self);
    int (*read)(void *self, void *data, uint32_t bytes);         // bytes, 0 at the end, WEIR_AGAIN, an error
    int (*write)(void *self, const void *data, uint32_t bytes);  // bytes, WEIR_AGAIN, an error
    int (*shutdown)(void *self);  // ends our direction; goes on by itself with the calls that follow
    void (*close)(void *self, int reset);
    uint64_t (*due_us)(void *self);  // WEIR_NEVER
};

struct weir_stream {
    const struct weir_stream_calls *calls;  // NULL: the socket itself
    void *self;
    struct weir *weir;
    weir_socket socket;
};

// Makes streams of a listener's connections; NULL in its place: of the sockets themselves.
struct weir_stream_maker {
    int (*may_accept)(struct weir_stream_maker *maker);  // 0: the next connection is to wait in the listener's queue
    // Sets `calls` and `self`. WEIR_OK; an error: the socket is the caller's still.
    int (*open)(struct weir_stream_maker *maker, struct weir_stream *stream);
    // Where a service may put together what it writes next, within one call.
    uint8_t *scratch;
    uint32_t scratch_bytes;
};

// Whether the socket's connection is there: WEIR_OK; WEIR_AGAIN: not yet; what ended it.
static inline int weir_stream_connected(const struct weir_stream *s)
{
    int32_t error = 0;
    const int ready = weir_socket_ready(s->weir, s->socket);
    (void)weir_socket_get(s->weir, s->socket, WEIR_OPTION_ERROR, &error);
    return error != 0 ? error : (ready & WEIR_WRITABLE) != 0 ? WEIR_OK : WEIR_AGAIN;
}

static inline int weir_stream_begin(const struct weir_stream *s)
{
    return s->calls ? s->calls->begin(s->self) : WEIR_OK;
}

static inline int weir_stream_read(const struct weir_stream *s, void *data, uint32_t bytes)
{
    return s->calls ? s->calls->read(s->self, data, bytes) : weir_socket_read(s->weir, s->socket, data, bytes);
}

static inline int weir_stream_write(const struct weir_stream *s, const void *data, uint32_t bytes)
{
    return s->calls ? s->calls->write(s->self, data, bytes) : weir_socket_write(s->weir, s->socket, data, bytes);
}

static inline int weir_stream_shutdown(const struct weir_stream *s)
{
    return s->calls ? s->calls->shutdown(s->self) : weir_socket_shutdown(s->weir, s->socket, WEIR_SHUT_WRITE);
}

// Ends the stream, with RST if so wished; its socket, too.
static inline void weir_stream_close(struct weir_stream *s, int reset)
{
    if (s->calls)
        s->calls->close(s->self, reset);
    else if (s->socket > 0)
        (void)(reset ? weir_socket_abort(s->weir, s->socket) : weir_socket_close(s->weir, s->socket));
    s->socket = 0;
    s->calls = NULL;
}

static inline uint64_t weir_stream_due_us(const struct weir_stream *s)
{
    return s->calls ? s->calls->due_us(s->self) : UINT64_MAX;
}

#endif
