// SPDX-License-Identifier: BSD-2-Clause
// A session over a descriptor of api/bsd. Records move without waiting; waiting is for the descriptor's gate, with its
// timeouts, so that a close from another thread, a signal and O_NONBLOCK mean what they mean for the descriptor.
#include "bsd/internal.h"
#include "internal.h"

#define LINGER_US 2000000u

// A session under a descriptor has its file, whatever its number.
static int file_pin(struct bsd_file *file)
{
    if (file->flags & BSD_DEAD)
        return WEIR_CLOSED;
    file->pins++;
    return WEIR_OK;
}

// The pinned file of the session's descriptor, with the lock held; an error: neither.
static int pin(struct weir_tls_session *s, struct bsd_file **file)
{
    bsd_enter(s->bsd);
    const int status = s->file ? file_pin(s->file) : bsd_socket_pin(s->bsd, s->fd, file);
    if (s->file)
        *file = s->file;
    if (status < 0)
        bsd_leave(s->bsd);
    return status;
}

static void unpin(struct weir_tls_session *s, struct bsd_file *file)
{
    bsd_file_unpin(file);
    bsd_leave(s->bsd);
}

static int move(struct weir_tls_session *s, void *data, uint32_t bytes, bool sending)
{
    struct bsd_file *file;
    int status = pin(s, &file);
    if (status < 0)
        return status;
    const struct weir_iovec piece = {data, bytes};
    struct bsd_transfer transfer = {.file = file, .cursor = {&piece, 1, 0}, .bytes = bytes, .stream = true};
    status = sending ? bsd_stream_send(&transfer, 0) : bsd_stream_receive(&transfer, 0);
    unpin(s, file);
    return status;
}

static int receive(struct weir_tls_session *s, void *data, uint32_t bytes) { return move(s, data, bytes, false); }

static int send(struct weir_tls_session *s, const void *data, uint32_t bytes)
{
    return move(s, (void *)(uintptr_t)data, bytes, true);
}

static struct bsd_gate *gate_of(struct bsd_file *file, int wants)
{
    return wants & TLS_READ ? &file->read : &file->write;
}

// Asleep in the gate until the socket is ready for what is wanted, or the handshake that waits for it has ended by
// another task. Lock held, file pinned.
static int sleep_until(struct weir_tls_session *s, struct bsd_file *file, int wants, uint64_t deadline_us)
{
    const int bits = (wants & TLS_READ ? WEIR_READABLE : WEIR_WRITABLE) | WEIR_ERROR | WEIR_HANGUP;
    struct bsd_gate *const gate = gate_of(file, wants);
    int status = bsd_gate_enter(file, gate, deadline_us, true);
    if (status)
        return status;
    while (!status && !(wants & TLS_HANDSHAKE && s->handshake_over) &&
           !(weir_socket_ready(file->bsd->weir, file->socket) & bits))
        status = bsd_gate_sleep(file, gate, deadline_us);
    bsd_gate_leave(file, gate);
    return status;
}

// A handshake gets on by whichever task works on it first, and then what the others wait for may never come: so one
// waits for the stream, and the others until that one has been woken or the handshake has ended. Its own time limit is
// looked at by who makes it.
static int sleep_in_handshake(struct weir_tls_session *s, struct bsd_file *file, int wants, uint64_t deadline_us)
{
    const uint64_t until_us = s->deadline_us < deadline_us ? s->deadline_us : deadline_us;
    int status = WEIR_OK;
    if (s->handshake_over)
        return WEIR_OK;
    if (s->waiter) {
        status = bsd_sleep(s->bsd, &s->handshake_over, until_us);
    } else {
        s->waiter = gate_of(file, wants);
        status = sleep_until(s, file, wants, until_us);
        s->waiter = NULL;
        bsd_wake(s->bsd, &s->handshake_over);
    }
    return status == WEIR_AGAIN && until_us < deadline_us ? WEIR_OK : status;
}

static int wait(struct weir_tls_session *s, int wants, int direction, uint64_t *deadline_us)
{
    struct bsd_file *file;
    int status = pin(s, &file);
    if (status < 0)
        return status;
    if (!*deadline_us)
        *deadline_us = bsd_deadline(s->bsd, direction == TLS_WRITE ? file->send_timeout_us : file->receive_timeout_us);
    if (file->flags & BSD_NONBLOCK || !wants)
        status = WEIR_AGAIN;
    else if (wants & TLS_HANDSHAKE)
        status = sleep_in_handshake(s, file, wants, *deadline_us);
    else
        status = sleep_until(s, file, wants, *deadline_us);
    unpin(s, file);
    return status;
}

static int ready(struct weir_tls_session *s)
{
    struct bsd_file *file;
    const int status = pin(s, &file);
    if (status < 0)
        return 0;
    const int bits = weir_socket_ready(s->weir, file->socket);
    unpin(s, file);
    return bits < 0 ? WEIR_ERROR : bits;
}

// Waits itself: a descriptor has no other watch than its own.
static bool linger(struct weir_tls_session *s)
{
    const uint64_t deadline_us = tls_session_now_us(s) + LINGER_US;
    struct bsd_file *file;
    int status = WEIR_AGAIN;
    while (status == WEIR_AGAIN && tls_session_now_us(s) < deadline_us && pin(s, &file) >= 0) {
        const int slept = sleep_until(s, file, TLS_WRITE, deadline_us);
        unpin(s, file);
        status = slept ? slept : tls_session_end(s);
        if (slept)
            break;
    }
    return false;
}

static void fin(struct weir_tls_session *s)
{
    tls_lock(s);
    (void)weir_socket_shutdown(s->weir, s->socket, WEIR_SHUT_WRITE);
    tls_unlock(s);
}

static void end(struct weir_tls_session *s, bool reset)
{
    const struct weir_linger now = {1, 0};
    if (reset) {
        (void)bsd_setsockopt(s->bsd, s->fd, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &now, sizeof now);
    } else {
        tls_lock(s);
        tls_drain(s);
        tls_unlock(s);
    }
    (void)bsd_close(s->bsd, s->fd);
}

const struct tls_transport tls_fd = {receive, send, wait, ready, linger, fin, end};

struct weir_tls_session *weir_tls_open_fd(struct weir_tls_config *config, struct weir_bsd *bsd, int fd,
                                          const struct weir_tls_session_options *options, int *error)
{
    const int on = 1;
    const weir_socket socket = bsd_handle(bsd, fd);
    if (socket < 0 || (options && options->locked)) {
        if (error)
            *error = socket < 0 ? socket : WEIR_INVALID;
        return NULL;
    }
    struct weir_tls_session *const s = tls_session_make(config, &tls_fd, bsd_instance(bsd), options, error);
    if (!s)
        return NULL;
    s->bsd = bsd;
    s->fd = fd;
    s->socket = socket;
    (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_OOBINLINE, &on, sizeof on);
    (void)bsd_setsockopt(bsd, fd, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &on, sizeof on);
    (void)bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &on, sizeof on);  // of what is no plaintext
    return s;
}
