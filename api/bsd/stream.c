// SPDX-License-Identifier: BSD-2-Clause
// Streams: reserve under the lock, copy outside it, commit under it; and peek, copy, consume.
#include "internal.h"

#define SPANS (WEIR_CFG_ALLOCATOR ? 16 : 2)  // a ring is no more than two
// so little is copied without giving the lock away: the two lock operations would cost more
#define COPY_LOCKED 2048u

// The piece of the vector that is next, `want` bytes of it at the most; want is not 0.
static size_t next_piece(struct bsd_cursor *cursor, size_t want)
{
    while (cursor->offset == cursor->vector->iov_len) {
        cursor->vector++;
        cursor->count--;
        cursor->offset = 0;
    }
    const size_t left = cursor->vector->iov_len - cursor->offset;
    return left < want ? left : want;
}

static uint8_t *piece_at(const struct bsd_cursor *cursor)
{
    return (uint8_t *)cursor->vector->iov_base + cursor->offset;
}

int bsd_cursor_in(struct weir_bsd *bsd, struct bsd_cursor *cursor, void *to, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t part = next_piece(cursor, bytes - at);
        if (bsd_copy_in(bsd, (uint8_t *)to + at, piece_at(cursor), part))
            return WEIR_FAULT;
        cursor->offset += part;
        at += part;
    }
    return WEIR_OK;
}

int bsd_cursor_out(struct weir_bsd *bsd, struct bsd_cursor *cursor, const void *from, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        const size_t part = next_piece(cursor, bytes - at);
        if (bsd_copy_out(bsd, piece_at(cursor), (const uint8_t *)from + at, part))
            return WEIR_FAULT;
        cursor->offset += part;
        at += part;
    }
    return WEIR_OK;
}

// Gives the lock away for a copy of `bytes`, if that pays (or the caller's memory may fault); returns whether it did.
// Meanwhile the pin keeps the socket, and the gate keeps others from moving the same queue.
static bool copy_begin(struct weir_bsd *bsd, bool may_fault, size_t bytes)
{
    const bool waits = may_fault && !bsd->port->caller_owns;
    if (!WEIR_CFG_BSD_FAULTS || !bsd->port->unlock || (!waits && bytes <= COPY_LOCKED))
        return false;
    bsd->port->unlock(bsd->port->context);
    return true;
}

static void copy_end(struct weir_bsd *bsd, bool unlocked)
{
    if (unlocked)
        bsd_enter(bsd);
}

// Move so much of the piece that is next, or what of it can be moved now: bytes, or WEIR_AGAIN, or another error.
static int send_piece(struct bsd_transfer *t, size_t bytes)
{
    const int moved = weir_socket_write(t->file->bsd->weir, t->file->socket, piece_at(&t->cursor), (uint32_t)bytes);
    if (moved > 0)
        t->cursor.offset += (uint32_t)moved;
    return moved;
}

static int receive_piece(struct bsd_transfer *t, size_t bytes)
{
    const int moved = weir_socket_read(t->file->bsd->weir, t->file->socket, piece_at(&t->cursor), (uint32_t)bytes);
    if (moved > 0)
        t->cursor.offset += (uint32_t)moved;
    return moved;
}

#if WEIR_CFG_BSD_FAULTS
// How much of the piece that is next is known to be the caller's; WEIR_FAULT: it is not. 0: the port does not tell, or
// it is more than is copied with the lock held.
static int piece_owned(struct bsd_transfer *t, size_t want, bool write)
{
    const struct weir_port *port = t->file->bsd->port;
    const size_t bytes = next_piece(&t->cursor, want);
    if (!port->caller_owns || bytes > COPY_LOCKED)
        return 0;
    return port->caller_owns(port->context, piece_at(&t->cursor), bytes, write) ? (int)bytes : WEIR_FAULT;
}

static int send_lent(struct bsd_transfer *t, size_t want)
{
    struct bsd_file *file = t->file;
    struct weir_bsd *bsd = file->bsd;
    struct weir_span spans[SPANS];
    const int lent =
        weir_socket_reserve(bsd->weir, file->socket, want < INT32_MAX ? (uint32_t)want : INT32_MAX, spans, SPANS);
    if (lent <= 0)
        return lent ? lent : WEIR_AGAIN;
    const bool unlocked = copy_begin(bsd, bsd->port->copy_in != NULL, (size_t)lent);
    int error = WEIR_OK;
    uint32_t copied = 0;
    for (const struct weir_span *span = spans; copied < (uint32_t)lent && !error; span++) {
        error = bsd_cursor_in(bsd, &t->cursor, span->data, span->length);
        copied += span->length;
    }
    copy_end(bsd, unlocked);
    if (file->flags & BSD_DEAD)
        return WEIR_CLOSED;
    if (error)
        return error;
    const int committed = weir_socket_commit(bsd->weir, file->socket, (uint32_t)lent);
    return committed < 0 ? committed : lent;
}

static int send_some(struct bsd_transfer *t, size_t want)
{
    const int owned = piece_owned(t, want, false);
    return owned > 0 ? send_piece(t, (size_t)owned) : owned ? owned : send_lent(t, want);
}
#else
static int send_some(struct bsd_transfer *t, size_t want) { return send_piece(t, next_piece(&t->cursor, want)); }
#endif

// The last byte of urgent data, on its own: the mark goes behind it.
#if WEIR_CFG_TCP_URGENT
static int send_urgent(struct bsd_transfer *t)
{
    struct weir_bsd *bsd = t->file->bsd;
    struct bsd_cursor ahead = t->cursor;
    uint8_t byte;
    const bool unlocked = copy_begin(bsd, bsd->port->copy_in != NULL, 1);
    const int error = bsd_cursor_in(bsd, &ahead, &byte, 1);
    copy_end(bsd, unlocked);
    if (error)
        return error;
    return t->file->flags & BSD_DEAD ? WEIR_CLOSED : weir_socket_write_urgent(bsd->weir, t->file->socket, &byte, 1);
}
#else
static int send_urgent(struct bsd_transfer *t)
{
    (void)t;
    return WEIR_NOT_SUPPORTED;
}
#endif

#if WEIR_CFG_SOCKET_OPTIONS
// MSG_MORE is a cork that the next write without it draws (Linux). The user's own cork stays.
static void hold_back(struct bsd_file *file, bool more)
{
    int32_t corked = 0;
    struct weir *const weir = file->bsd->weir;
    if (more == !!(file->flags & BSD_MORE) ||
        (more && (weir_socket_get(weir, file->socket, WEIR_OPTION_CORK, &corked) || corked)))
        return;
    if (!weir_socket_set(weir, file->socket, WEIR_OPTION_CORK, more))
        file->flags ^= BSD_MORE;
}
#else
static void hold_back(struct bsd_file *file, bool more) { (void)file, (void)more; }
#endif

int bsd_stream_send(struct bsd_transfer *t, int flags)
{
    struct bsd_file *file = t->file;
    const bool urgent = flags & WEIR_MSG_OOB;
    size_t done = 0;
    int error = bsd_gate_enter(file, &file->write, t->deadline_us, t->wait);
    if (error)
        return error;
    if (flags & WEIR_MSG_MORE)
        hold_back(file, true);
    while (done < t->bytes) {
        const size_t left = t->bytes - done;
        const int moved = urgent && left == 1 ? send_urgent(t) : send_some(t, left - urgent);
        if (moved > 0) {
            done += (size_t)moved;
            continue;
        }
        error = moved;
        if (moved == WEIR_AGAIN && t->wait)
            error = bsd_gate_sleep(file, &file->write, t->deadline_us);
        if (error)
            break;
    }
    if (!(flags & WEIR_MSG_MORE))
        hold_back(file, false);
    bsd_gate_leave(file, &file->write);
    return done ? (int)done : error;
}

// Moves what is there now, from `skip` bytes in: bytes, 0 at the end of the stream, or an error.
static int receive_looking(struct bsd_transfer *t, int flags, size_t skip, size_t want)
{
    struct bsd_file *file = t->file;
    struct weir_bsd *bsd = file->bsd;
    struct weir_slice slices[SPANS];
    const bool peek = flags & WEIR_MSG_PEEK;
    const int lent = weir_socket_peek(bsd->weir, file->socket, (uint32_t)skip, slices, SPANS);
    if (lent <= 0)
        return lent;
    const size_t take = (size_t)lent < want ? (size_t)lent : want;
    int error = WEIR_OK;
    if (!(flags & WEIR_MSG_TRUNC)) {  // with it bytes are thrown away (Linux)
        const bool unlocked = copy_begin(bsd, bsd->port->copy_out != NULL, take);
        size_t left = take;
        for (const struct weir_slice *slice = slices; left && !error; slice++) {
            const size_t part = slice->length < left ? slice->length : left;
            error = bsd_cursor_out(bsd, &t->cursor, slice->data, part);
            left -= part;
        }
        copy_end(bsd, unlocked);
        if (file->flags & BSD_DEAD)
            return WEIR_CLOSED;
    }
    if (error)
        return error;
    if (!peek) {
        const int consumed = weir_socket_consume(bsd->weir, file->socket, (uint32_t)take);
        if (consumed < 0)
            return consumed;
    }
    return (int)take;
}

#if WEIR_CFG_BSD_FAULTS
static int receive_next(struct bsd_transfer *t, size_t want)
{
    const int owned = piece_owned(t, want, true);
    return owned > 0 ? receive_piece(t, (size_t)owned) : owned ? owned : receive_looking(t, 0, 0, want);
}
#else
static int receive_next(struct bsd_transfer *t, size_t want) { return receive_piece(t, next_piece(&t->cursor, want)); }
#endif

static int receive_some(struct bsd_transfer *t, int flags, size_t skip, size_t want)
{
    return flags & (WEIR_MSG_PEEK | WEIR_MSG_TRUNC) ? receive_looking(t, flags, skip, want) : receive_next(t, want);
}

// After a read of one piece, there are more to see where the vector has pieces behind the one that is full. (One look
// has shown all there was, or as many pieces as it lends.)
static bool more_to_see(const struct bsd_transfer *t)
{
    return t->cursor.count > 1 && t->cursor.offset == t->cursor.vector->iov_len;
}

#if WEIR_CFG_SOCKET_OPTIONS
// An error waits, and nothing before it: left to the next call, since this one has bytes to return and the error is
// told once. Without this a stream that was reset looked as if it had ended.
static bool error_next(const struct bsd_file *file)
{
    int32_t bytes;
    struct weir *weir = file->bsd->weir;
    const int ready = weir_socket_ready(weir, file->socket);
    return ready > 0 && ready & WEIR_ERROR &&
           weir_socket_get(weir, file->socket, WEIR_OPTION_READABLE_BYTES, &bytes) == WEIR_OK && bytes == 0;
}

// Sleeps until `bytes` are there: the socket's mark is the sleeper's meanwhile, who may want fewer, or have taken some
// already.
static int sleep_for(struct bsd_transfer *t, size_t bytes)
{
    struct bsd_file *file = t->file;
    if (file->receive_low_water > 1)
        (void)weir_socket_set(file->bsd->weir, file->socket, WEIR_OPTION_RECEIVE_LOW_WATER, (int32_t)bytes);
    const int error = bsd_gate_sleep(file, &file->read, t->deadline_us);
    if (file->receive_low_water > 1)
        (void)weir_socket_set(file->bsd->weir, file->socket, WEIR_OPTION_RECEIVE_LOW_WATER,
                              (int32_t)file->receive_low_water);
    return error;
}
// nobody has set a low-water mark: only MSG_WAITALL looks for an error, and sleeps again where there are too few bytes
#else
static bool error_next(const struct bsd_file *file)
{
    return weir_socket_ready(file->bsd->weir, file->socket) & WEIR_ERROR;
}
static int sleep_for(struct bsd_transfer *t, size_t bytes)
{
    (void)bytes;
    return bsd_gate_sleep(t->file, &t->file->read, t->deadline_us);
}
#endif

#if WEIR_CFG_TCP_URGENT
static int receive_urgent(struct bsd_transfer *t, int flags)
{
    struct weir_bsd *bsd = t->file->bsd;
    uint8_t byte;
    const int got = weir_socket_read_urgent(bsd->weir, t->file->socket, &byte, flags & WEIR_MSG_PEEK);
    if (got < 0 || t->bytes == 0)
        return got < 0 ? got : 0;
    const bool unlocked = copy_begin(bsd, bsd->port->copy_out != NULL, 1);
    const int error = bsd_cursor_out(bsd, &t->cursor, &byte, 1);
    copy_end(bsd, unlocked);
    t->out_flags |= WEIR_MSG_OOB;
    return error ? error : 1;
}
static bool at_mark(struct bsd_file *file) { return weir_socket_at_mark(file->bsd->weir, file->socket) > 0; }
#else
static int receive_urgent(struct bsd_transfer *t, int flags)
{
    (void)t, (void)flags;
    return WEIR_NOT_SUPPORTED;
}
static bool at_mark(struct bsd_file *file)
{
    (void)file;
    return false;
}
#endif

// Returns with at least the low-water mark of bytes, or all with MSG_WAITALL; with fewer at the end of the stream, at
// the urgent mark, at the deadline, after an error or a signal. Never mixes what lies before and behind the mark.
int bsd_stream_receive(struct bsd_transfer *t, int flags)
{
    struct bsd_file *file = t->file;
    if (flags & WEIR_MSG_OOB)
        return receive_urgent(t, flags);
    size_t target = flags & WEIR_MSG_WAITALL ? t->bytes : file->receive_low_water;
    if (target > t->bytes)
        target = t->bytes;
    size_t done = 0;
    int error = bsd_gate_enter(file, &file->read, t->deadline_us, t->wait);
    if (error)
        return error;
    while (done < t->bytes && !(done && (at_mark(file) || error_next(file)))) {
        const int moved = receive_some(t, flags, flags & WEIR_MSG_PEEK ? done : 0, t->bytes - done);
        if (moved > 0) {
            done += (size_t)moved;
            if (done >= target && !more_to_see(t))
                break;
            continue;
        }
        error = moved;
        if (moved != WEIR_AGAIN || !t->wait || done >= target)
            break;
        error = sleep_for(t, flags & WEIR_MSG_PEEK ? target : target - done);
        if (error)
            break;
    }
    bsd_gate_leave(file, &file->read);
    return done ? (int)done : error;
}
