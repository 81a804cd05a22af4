// SPDX-License-Identifier: BSD-2-Clause
// tcplisten. Of the sockets that wait on one address the first has the native listener, the others stand behind it with
// none; when it gets its connection, or leaves without, the next takes the listener over, and with it what knocks
// there.
#include "internal.h"

struct flock_waiter {  // on its task's stack
    struct flock_waiter *next;
    struct bsd_file *file;
    struct weir_endpoint local;
};

// The first that waits on the address of `of`; *count: how many do.
static struct flock_waiter *first_of(const struct flock_listeners *listeners, const struct flock_waiter *of,
                                     uint32_t *count)
{
    struct flock_waiter *first = NULL;
    *count = 0;
    for (struct flock_waiter *waiter = listeners->first; waiter; waiter = waiter->next) {
        if (waiter->local.port != of->local.port || !weir_addr_equal(waiter->local.addr, of->local.addr))
            continue;
        first = first ? first : waiter;
        ++*count;
    }
    return first;
}

static bool is_first(const struct flock_listeners *listeners, const struct flock_waiter *waiter)
{
    uint32_t count;
    return first_of(listeners, waiter, &count) == waiter;
}

// As many connections may be complete at once as there are sockets to take them.
static int join(struct flock_listeners *listeners, struct flock_waiter *waiter)
{
    struct weir *weir = waiter->file->bsd->weir;
    struct flock_waiter **end = &listeners->first;
    uint32_t count;
    int error = weir_socket_local(weir, waiter->file->socket, &waiter->local);
    if (error)
        return error;
    const struct flock_waiter *first = first_of(listeners, waiter, &count);
    error = weir_socket_listen(weir, first ? first->file->socket : waiter->file->socket, count + 1);
    if (error)
        return error;
    if (first) {
        weir_socket_close(weir, waiter->file->socket);
        waiter->file->socket = WEIR_BAD_SOCKET;
    }
    while (*end)
        end = &(*end)->next;
    *end = waiter;
    return WEIR_OK;
}

static void remove_waiter(struct flock_listeners *listeners, const struct flock_waiter *waiter)
{
    struct flock_waiter **at = &listeners->first;
    while (*at != waiter)
        at = &(*at)->next;
    *at = waiter->next;
}

// Leaves the listener to the next, or closes it.
static void hand_on(const struct flock_listeners *listeners, const struct flock_waiter *from, weir_socket listener)
{
    struct weir *weir = from->file->bsd->weir;
    uint32_t count;
    const struct flock_waiter *next = first_of(listeners, from, &count);
    if (!next) {
        weir_socket_close(weir, listener);
        return;
    }
    flock_become(next->file, listener);
    bsd_file_notify(next->file, WEIR_READABLE);  // somebody may be there already
}

// Inside the gate for reading, which a task of the same process in tcprecv waits for.
static int wait_for_connection(const struct flock_call *call, struct flock_listeners *listeners,
                               struct flock_waiter *waiter)
{
    struct bsd_file *file = call->file;
    struct weir *weir = call->bsd->weir;
    weir_socket got = WEIR_AGAIN;
    int slept = WEIR_OK;
    while (!slept) {
        got = is_first(listeners, waiter) ? weir_socket_accept(weir, file->socket) : WEIR_AGAIN;
        if (got != WEIR_AGAIN)
            break;
        slept = call->wait ? bsd_gate_sleep(file, &file->read, call->deadline_us) : WEIR_AGAIN;
    }
    const weir_socket listener = is_first(listeners, waiter) ? file->socket : 0;
    remove_waiter(listeners, waiter);
    if (listener)
        hand_on(listeners, waiter, listener);
    flock_become(file, got > 0 ? got : slept == WEIR_CLOSED ? WEIR_BAD_SOCKET : flock_stream(weir, &waiter->local));
    return got > 0 ? WEIR_OK : slept ? slept : got;
}

int flock_tcplisten(const struct flock *flock, int socket, uint32_t timeout_ms)
{
    struct flock_call call;
    int result = flock_begin(&call, flock, socket, WEIR_STREAM, timeout_ms);
    if (!result)
        result = bsd_gate_enter(call.file, &call.file->read, call.deadline_us, call.wait);
    if (!result) {
        struct flock_waiter waiter = {.file = call.file};
        result = join(flock->listeners, &waiter);
        if (!result)
            result = wait_for_connection(&call, flock->listeners, &waiter);
        bsd_gate_leave(call.file, &call.file->read);
    }
    return flock_end(&call, result);
}
