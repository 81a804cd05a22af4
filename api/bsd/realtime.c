// SPDX-License-Identifier: BSD-2-Clause
// Real-time streams (weir/realtime.h): frames read by a call that waits for them, until their deadlines and no longer.
// The settings are socket options.
#include "internal.h"
#include "weir_realtime.h"

#if WEIR_CFG_REALTIME

// The next frame, into our own memory or the caller's: its length, or why there is none.
static int frame_next(struct weir_bsd *bsd, struct bsd_file *file, void *data, size_t bytes, bool wait,
                      uint64_t deadline_us, struct weir_realtime_frame *frame)
{
    int result = bsd_gate_enter(file, &file->read, deadline_us, wait);
    if (result)
        return result;
    for (;;) {
        result = weir_realtime_read(bsd->weir, file->socket, data, (uint32_t)bytes, frame);
        if (result != WEIR_AGAIN || !wait || (result = bsd_gate_sleep(file, &file->read, deadline_us)) != WEIR_OK)
            break;
    }
    bsd_gate_leave(file, &file->read);
    if (result < 0 && result != WEIR_SKIPPED && result != WEIR_AGAIN)
        *frame = (struct weir_realtime_frame){0};
    return result;
}

weir_ssize bsd_recv_frame(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags,
                          struct weir_realtime_frame *out)
{
    struct weir_realtime_frame frame = {0};
    struct bsd_file *file;
    bytes = bytes < INT32_MAX ? bytes : INT32_MAX;
    bsd_enter(bsd);
    void *own = bsd->port->copy_out ? bsd_alloc(bsd, bytes)
                                    : NULL;  // the caller's memory may fault, which nothing under the lock may
    int result = bsd->port->copy_out && !own ? WEIR_NO_MEMORY : bsd_socket_pin(bsd, fd, &file);
    if (!result) {
        const bool wait = !(flags & WEIR_MSG_DONTWAIT) && !(file->flags & BSD_NONBLOCK);
        result =
            frame_next(bsd, file, own ? own : data, bytes, wait, bsd_deadline(bsd, file->receive_timeout_us), &frame);
        bsd_file_unpin(file);
    }
    bsd_leave(bsd);
    if (own && result > 0 && bsd_copy_out(bsd, data, own, (size_t)result))
        result = WEIR_FAULT;
    if (own) {
        bsd_enter(bsd);
        bsd_free(bsd, own, bytes);
        bsd_leave(bsd);
    }
    if (out && bsd_copy_out(bsd, out, &frame, sizeof frame))
        result = WEIR_FAULT;
    return bsd_result(bsd, result);
}

#else

weir_ssize bsd_recv_frame(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags,
                          struct weir_realtime_frame *out)
{
    (void)fd, (void)data, (void)bytes, (void)flags, (void)out;
    return bsd_fail(bsd, WEIR_NOT_SUPPORTED);
}

#endif
