// SPDX-License-Identifier: BSD-2-Clause
// A session over a native stream. Records are read out of the receive queue where they lie and written where they are
// to be sent from; with the lock given away while bytes are copied, unless the caller wants to keep it.
#include <string.h>

#include "internal.h"
#include "weir/instance.h"

#define SPANS 8
#define COPY_LOCKED 2048u  // so little is copied without giving the lock away

void tls_lock(const struct weir_tls_session *s)
{
    const struct weir_port *const port = weir_port(s->weir);
    if (s->locked)
        return;
    if (port->lock)
        port->lock(port->context);
    if (port->now_us)
        weir_clock(s->weir, port->now_us(port->context));
}

void tls_unlock(const struct weir_tls_session *s)
{
    const struct weir_port *const port = weir_port(s->weir);
    if (s->locked)
        return;
    if (port->kick && weir_output_pending(s->weir))
        port->kick(port->context);
    if (port->unlock)
        port->unlock(port->context);
}

// Lent memory stays where it is until consume, commit or close, and the socket is the session's: no lock for the copy.
static bool copy_begin(const struct weir_tls_session *s, uint32_t bytes)
{
    if (s->locked || bytes <= COPY_LOCKED)
        return false;
    tls_unlock(s);
    return true;
}

static void copy_end(const struct weir_tls_session *s, bool unlocked)
{
    if (unlocked)
        tls_lock(s);
}

static int receive(struct weir_tls_session *s, void *data, uint32_t bytes)
{
    struct weir_slice slices[SPANS];
    tls_lock(s);
    int lent = weir_socket_peek(s->weir, s->socket, 0, slices, SPANS);
    if (lent > 0) {
        lent = (uint32_t)lent < bytes ? lent : (int)bytes;
        const bool unlocked = copy_begin(s, (uint32_t)lent);
        uint32_t done = 0;
        for (const struct weir_slice *slice = slices; done < (uint32_t)lent; slice++) {
            const uint32_t left = (uint32_t)lent - done, part = slice->length < left ? slice->length : left;
            memcpy((uint8_t *)data + done, slice->data, part);
            done += part;
        }
        copy_end(s, unlocked);
        const int status = weir_socket_consume(s->weir, s->socket, (uint32_t)lent);
        lent = status < 0 ? status : lent;
    }
    tls_unlock(s);
    return lent;
}

static int send(struct weir_tls_session *s, const void *data, uint32_t bytes)
{
    struct weir_span spans[SPANS];
    tls_lock(s);
    int lent = weir_socket_reserve(s->weir, s->socket, bytes, spans, SPANS);
    if (lent > 0) {
        const bool unlocked = copy_begin(s, (uint32_t)lent);
        uint32_t done = 0;
        for (const struct weir_span *span = spans; done < (uint32_t)lent; span++) {
            memcpy(span->data, (const uint8_t *)data + done, span->length);
            done += span->length;
        }
        copy_end(s, unlocked);
        const int status = weir_socket_commit(s->weir, s->socket, (uint32_t)lent);
        lent = status < 0 ? status : lent;
    }
    tls_unlock(s);
    return lent;
}

static int wait_never(struct weir_tls_session *s, int wants, int direction, uint64_t *deadline_us)
{
    (void)s, (void)wants, (void)direction, (void)deadline_us;
    return WEIR_AGAIN;
}

static int ready(struct weir_tls_session *s)
{
    tls_lock(s);
    const int bits = weir_socket_ready(s->weir, s->socket);
    tls_unlock(s);
    return bits < 0 ? 0 : bits;
}

static void fin(struct weir_tls_session *s)
{
    tls_lock(s);
    (void)weir_socket_shutdown(s->weir, s->socket, WEIR_SHUT_WRITE);
    tls_unlock(s);
}

// What has come and nobody will read is taken first: closing with unread data would reset the connection, and the reset
// could take our last record, or an alert, with it. Bounded: the queue holds no more, and the lock is held.
void tls_drain(const struct weir_tls_session *s)
{
    struct weir_slice slices[SPANS];
    int lent;
    while ((lent = weir_socket_peek(s->weir, s->socket, 0, slices, SPANS)) > 0)
        (void)weir_socket_consume(s->weir, s->socket, (uint32_t)lent);
}

static void end(struct weir_tls_session *s, bool reset)
{
    tls_lock(s);
    if (!reset)
        tls_drain(s);
    (void)(reset ? weir_socket_abort(s->weir, s->socket) : weir_socket_close(s->weir, s->socket));
    tls_unlock(s);
}

// The socket's events, with the lock held.
static void lingering(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir_tls_session *const s =
        (struct weir_tls_session *)(void *)((char *)watch - offsetof(struct weir_tls_session, watch));
    (void)socket, (void)events;
    const int status = tls_session_end(s);
    const bool late = status == WEIR_AGAIN && tls_session_now_us(s) >= s->deadline_us;
    if (status == WEIR_AGAIN && !late)
        return;
    end(s, late);
    tls_place_leave(s->place);
    tls_session_discard(s);
}

// From now on the socket's watch is the session's. A peer that takes nothing is given up by the user timeout, one that
// takes little by the deadline.
static bool linger(struct weir_tls_session *s)
{
    const struct weir_port *const port = weir_port(s->weir);
    const bool ours = !s->locked;
    s->place = tls_place_take(s);
    if (!s->place)
        return false;
    tls_lock(s);
    s->locked = true;
    s->watch.event = lingering;
    s->deadline_us = tls_session_now_us(s) + TLS_LINGER_US;
    (void)weir_socket_set(s->weir, s->socket, WEIR_OPTION_USER_TIMEOUT_MS, TLS_LINGER_US / 1000);
    (void)weir_socket_set_user(s->weir, s->socket, &s->watch);
    struct weir *const weir = s->weir;
    lingering(&s->watch, s->socket, 0);  // there may have been room meanwhile
    if (ours && port->kick && weir_output_pending(weir))
        port->kick(port->context);
    if (ours && port->unlock)
        port->unlock(port->context);
    return true;
}

const struct tls_transport tls_native = {receive, send, wait_never, ready, linger, fin, end};

struct weir_tls_session *weir_tls_open(struct weir_tls_config *config, struct weir *weir, weir_socket socket,
                                       const struct weir_tls_session_options *options, int *error)
{
    struct weir_tls_session *const s = tls_session_make(config, &tls_native, weir, options, error);
    if (!s)
        return NULL;
    s->socket = socket;
    s->fd = -1;
    tls_lock(s);
    const int status = weir_socket_ready(weir, socket);
    tls_stream_take(weir, socket);
    tls_unlock(s);
    if (status >= 0)
        return s;
    if (error)
        *error = status;
    tls_session_discard(s);
    return NULL;
}
