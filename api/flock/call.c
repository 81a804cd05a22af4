// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"

int flock_socket(const struct flock *flock, int type) { return bsd_socket(flock->bsd, WEIR_AF_INET, type, 0); }

int flock_begin(struct flock_call *call, const struct flock *flock, int socket, enum weir_socket_type type,
                uint32_t timeout_ms)
{
    call->bsd = flock->bsd;
    call->file = NULL;
    call->wait = timeout_ms != 0;
    bsd_enter(flock->bsd);
    call->deadline_us =
        timeout_ms == FLOCK_FOREVER ? WEIR_NEVER : weir_now_us(flock->bsd->weir) + timeout_ms * UINT64_C(1000);
    const int error = bsd_socket_pin(flock->bsd, socket, &call->file);
    if (error)
        return error;
    return call->file->type == type ? WEIR_OK : WEIR_BAD_SOCKET;
}

int flock_end(struct flock_call *call, int result)
{
    if (call->file)
        bsd_file_unpin(call->file);
    bsd_leave(call->bsd);
    return result >= 0 ? result : result == WEIR_AGAIN ? FLOCK_LATE : -1;
}

int flock_transfer(const struct flock_call *call, struct bsd_transfer *transfer,
                   int (*move)(struct bsd_transfer *, int), const char *buf, unsigned len)
{
    const struct weir_iovec one = {(void *)(uintptr_t)buf, len < INT32_MAX ? len : INT32_MAX};
    // (the rest is of datagrams)
    transfer->file = call->file;
    transfer->cursor = (struct bsd_cursor){&one, 1, 0};
    transfer->bytes = one.iov_len;
    transfer->out_flags = 0;
    transfer->wait = call->wait;
    transfer->deadline_us = call->deadline_us;
    return move(transfer, 0);
}

int flock_close(const struct flock *flock, int socket, enum weir_socket_type type)
{
    struct flock_call call;
    const int result = flock_end(&call, flock_begin(&call, flock, socket, type, 0));
    return result < 0 ? result : bsd_close(flock->bsd, socket);
}

int flock_address_in(const struct flock *flock, const struct sockaddr *address, struct weir_endpoint *out)
{
    struct sockaddr copy;
    const int error = address ? bsd_copy_in(flock->bsd, &copy, address, sizeof copy) : WEIR_FAULT;
    if (!error)
        *out = (struct weir_endpoint){weir_addr_v4(copy.addr), copy.port};
    return error;
}

int flock_address_out(const struct flock *flock, const struct weir_endpoint *endpoint, struct sockaddr *address)
{
    const struct sockaddr copy = {weir_addr_to_v4(endpoint->addr), endpoint->port};
    return address ? bsd_copy_out(flock->bsd, address, &copy, sizeof copy) : WEIR_OK;
}

void flock_become(struct bsd_file *file, weir_socket handle)
{
    file->socket = handle;
    if (handle > 0)
        weir_socket_set_user(file->bsd->weir, handle, &file->watch);
}

weir_socket flock_stream(struct weir *weir, const struct weir_endpoint *local)
{
    const weir_socket handle = weir_socket_open(weir, WEIR_STREAM, 0);
    if (handle < 0 || !local->port)
        return handle;
    int error = weir_socket_set(weir, handle, WEIR_OPTION_REUSE_ADDRESS, 1);
    if (error == WEIR_OK)
        error = weir_socket_bind(weir, handle, local);
    if (error == WEIR_OK)
        return handle;
    weir_socket_close(weir, handle);
    return error;
}
