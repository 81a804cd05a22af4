// SPDX-License-Identifier: BSD-2-Clause
// Datagrams: one call, one message.
#include "internal.h"
#include "weir_dplpmtud.h"

#if WEIR_CFG_UDP

#define SLICES 16u

// The caller's bytes in one piece of ours: where its memory may fault (it is not touched under the lock), or is
// scattered too widely.
static int gather(struct bsd_transfer *t, uint8_t **bounce)
{
    struct weir_bsd *bsd = t->file->bsd;
    *bounce = bsd_alloc(bsd, t->bytes);
    if (!*bounce)
        return WEIR_NO_MEMORY;
    if (bsd->port->unlock)
        bsd->port->unlock(bsd->port->context);
    const int error = bsd_cursor_in(bsd, &t->cursor, *bounce, t->bytes);
    if (bsd->port->unlock)
        bsd_enter(bsd);
    return error;
}

#if WEIR_CFG_DPLPMTUD
static int queue(const struct bsd_transfer *t, const struct weir_slice *slices, int count, int flags)
{
    const struct bsd_file *file = t->file;
    if (!(flags & WEIR_MSG_DPLPMTUD_PROBE))
        return weir_socket_send_message(file->bsd->weir, file->socket, &t->message, slices, count);
    return t->named ? WEIR_INVALID : weir_dplpmtud_probe(file->bsd->weir, file->socket, slices, count);
}
#else
static inline int queue(const struct bsd_transfer *t, const struct weir_slice *slices, int count, int flags)
{
    (void)flags;
    return weir_socket_send_message(t->file->bsd->weir, t->file->socket, &t->message, slices, count);
}
#endif

static int message_wait(struct bsd_transfer *t, const struct weir_slice *slices, int count, int flags)
{
    struct bsd_file *file = t->file;
    int result = bsd_gate_enter(file, &file->write, t->deadline_us, t->wait);
    if (result)
        return result;
    while ((result = queue(t, slices, count, flags)) == WEIR_AGAIN && t->wait) {
        const int error = bsd_gate_sleep(file, &file->write, t->deadline_us);
        if (error) {
            result = error;
            break;
        }
    }
    bsd_gate_leave(file, &file->write);
    return result;
}

int bsd_message_send(struct bsd_transfer *t, int flags)
{
    struct weir_bsd *bsd = t->file->bsd;
    struct weir_slice slices[SLICES];
    uint8_t *bounce = NULL;
    int count = 0, error = WEIR_OK;
    if (t->bytes > 65535)
        return WEIR_TOO_BIG;
    if (t->bytes && (bsd->port->copy_in || t->cursor.count > SLICES)) {
        error = gather(t, &bounce);
        slices[count++] = (struct weir_slice){bounce, (uint32_t)t->bytes};
    } else {
        for (size_t index = 0; index < t->cursor.count; index++)
            if (t->cursor.vector[index].iov_len)
                slices[count++] =
                    (struct weir_slice){t->cursor.vector[index].iov_base, (uint32_t)t->cursor.vector[index].iov_len};
    }
    if (!error)
        error = t->file->flags & BSD_DEAD ? WEIR_CLOSED : message_wait(t, slices, count, flags);
    if (bounce)
        bsd_free(bsd, bounce, t->bytes);
    return error == WEIR_NOT_CONNECTED ? BSD_NO_DESTINATION : error;
}

// Inside the gate. The record stays where it is until discarded, so it is copied without the lock.
static int receive_one(struct bsd_transfer *t, int flags)
{
    struct bsd_file *file = t->file;
    struct weir_bsd *bsd = file->bsd;
    struct weir_slice slice = {0};
    const int length = weir_socket_peek_message(bsd->weir, file->socket, &t->message, &slice);
    if (length < 0)
        return length == WEIR_SHUT_DOWN ? 0 : length;  // shut down for reading: the end
    const size_t take = slice.length < t->bytes ? slice.length : t->bytes;
    if (take < slice.length)
        t->out_flags |= WEIR_MSG_TRUNC;
    const bool unlocked = bsd->port->unlock && (bsd->port->copy_out || take > 2048);
    if (unlocked)
        bsd->port->unlock(bsd->port->context);
    const int error = bsd_cursor_out(bsd, &t->cursor, slice.data, take);
    if (unlocked)
        bsd_enter(bsd);
    if (file->flags & BSD_DEAD)
        return WEIR_CLOSED;
    if (error)
        return error;
    if (!(flags & WEIR_MSG_PEEK))
        weir_socket_discard(bsd->weir, file->socket);
    return flags & WEIR_MSG_TRUNC ? (int)slice.length : (int)take;
}

int bsd_message_receive(struct bsd_transfer *t, int flags)
{
    struct bsd_file *file = t->file;
    if (flags & WEIR_MSG_OOB)
        return WEIR_NOT_SUPPORTED;
    int result = bsd_gate_enter(file, &file->read, t->deadline_us, t->wait);
    if (result)
        return result;
    while ((result = receive_one(t, flags)) == WEIR_AGAIN && t->wait) {
        const int error = bsd_gate_sleep(file, &file->read, t->deadline_us);
        if (error) {
            result = error;
            break;
        }
    }
    bsd_gate_leave(file, &file->read);
    return result;
}

#else

int bsd_message_send(struct bsd_transfer *t, int flags)
{
    (void)t, (void)flags;
    return WEIR_NOT_SUPPORTED;
}
int bsd_message_receive(struct bsd_transfer *t, int flags)
{
    (void)t, (void)flags;
    return WEIR_NOT_SUPPORTED;
}

#endif
