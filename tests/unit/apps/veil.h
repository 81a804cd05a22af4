// SPDX-License-Identifier: BSD-2-Clause
// A layer over a stream, as TLS is, that hands bytes on as they are, and fails where a test says: its handshake takes
// some calls, and any of its verbs may be the one that goes wrong.
#ifndef TESTS_APPS_VEIL_H
#define TESTS_APPS_VEIL_H

#include "apps/bench.h"

#include "stream.h"

#define VEILS 16u

struct veil {
    struct weir *weir;
    weir_socket socket;  // 0: the veil is free
    uint32_t steps;      // of the handshake, until it is done
    bool begun;
};

// What is wanted of all, and what they saw.
static struct {
    struct veil veil[VEILS];
    uint32_t steps;                    // a handshake takes so many calls
    int open, begin, read, write;      // errors in place of the answer; 0: none
    uint32_t read_after, write_after;  // so many calls go well before
    uint32_t opens, begins, reads, writes, ends, resets;
    bool full;    // no more may begin
    bool silent;  // the other end says nothing: no handshake goes on
} veils;

static inline int veil_begin(void *self)
{
    struct veil *veil = self;
    veils.begins++;
    if (veils.silent)
        return WEIR_AGAIN;
    if (veil->steps > 0) {
        veil->steps--;
        return WEIR_IN_PROGRESS;
    }
    veil->begun = true;
    return veils.begin;
}

static inline int veil_read(void *self, void *data, uint32_t bytes)
{
    const struct veil *veil = self;
    return veils.read != 0 && veils.reads++ >= veils.read_after
               ? veils.read
               : weir_socket_read(veil->weir, veil->socket, data, bytes);
}

static inline int veil_write(void *self, const void *data, uint32_t bytes)
{
    const struct veil *veil = self;
    return veils.write != 0 && veils.writes++ >= veils.write_after
               ? veils.write
               : weir_socket_write(veil->weir, veil->socket, data, bytes);
}

static inline int veil_shutdown(void *self)
{
    const struct veil *veil = self;
    return weir_socket_shutdown(veil->weir, veil->socket, WEIR_SHUT_WRITE);
}

static inline void veil_close(void *self, int reset)
{
    struct veil *veil = self;
    assert_true(veil->socket > 0);  // once
    (void)(reset ? weir_socket_abort(veil->weir, veil->socket) : weir_socket_close(veil->weir, veil->socket));
    veil->socket = 0;
    veils.ends++;
    veils.resets += reset != 0;
}

// A handshake's next step is due at once.
static inline uint64_t veil_due_us(void *self)
{
    const struct veil *veil = self;
    return veil->begun || veils.silent ? WEIR_NEVER : weir_now_us(veil->weir);
}

static const struct weir_stream_calls veil_calls = {veil_begin,    veil_read,  veil_write,
                                                    veil_shutdown, veil_close, veil_due_us};

static inline int veil_open(struct weir_stream *stream)
{
    veils.opens++;
    if (veils.open != 0)
        return veils.open;
    for (uint32_t i = 0; i < VEILS; i++)
        if (veils.veil[i].socket == 0) {
            veils.veil[i] = (struct veil){stream->weir, stream->socket, veils.steps, false};
            stream->calls = &veil_calls;
            stream->self = &veils.veil[i];
            return WEIR_OK;
        }
    return WEIR_NO_MEMORY;
}

// Where all veils have been given back the applications ended what they began.
static inline void veil_check(void)
{
    for (uint32_t i = 0; i < VEILS; i++)
        assert_int_equal(veils.veil[i].socket, 0);
}

#endif
