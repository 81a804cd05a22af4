// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"
#include "weir/stats.h"

int flock_tcpsocket(const struct flock *flock) { return flock_socket(flock, WEIR_SOCK_STREAM); }

static bool meet(struct weir_addr a, struct weir_addr b)
{
    return weir_addr_is_any(a) || weir_addr_is_any(b) || weir_addr_equal(a, b);
}

// Whether a socket that does not listen has the address. What is in TIME-WAIT, or was closed and goes on by itself, is
// no socket any more.
static bool taken(struct weir *weir, weir_socket own, const struct weir_endpoint *local)
{
    struct weir_socket_info info;
    uint64_t cursor = 0;
    while (local->port && (cursor = weir_socket_next(weir, cursor, &info)) != 0)
        if (info.socket > 0 && info.socket != own && info.type == WEIR_STREAM && info.tcp_state != WEIR_TCP_LISTEN &&
            info.local.port == local->port && meet(info.local.addr, local->addr))
            return true;
    return false;
}

static int bind_to(struct weir *weir, weir_socket handle, const struct weir_endpoint *local)
{
    if (taken(weir, handle, local))
        return WEIR_IN_USE;
    const int error = weir_socket_set(weir, handle, WEIR_OPTION_REUSE_ADDRESS, 1);
    return error ? error : weir_socket_bind(weir, handle, local);
}

int flock_tcpbind(const struct flock *flock, int socket, const struct sockaddr *src)
{
    struct flock_call call;
    struct weir_endpoint local;
    if (flock_address_in(flock, src, &local))
        return -1;
    int result = flock_begin(&call, flock, socket, WEIR_STREAM, 0);
    if (!result)
        result = bind_to(flock->bsd->weir, call.file->socket, &local);
    return flock_end(&call, result);
}

// An attempt that failed has used the native socket up: the next takes its place, and its local address.
static void renew(struct bsd_file *file)
{
    struct weir *weir = file->bsd->weir;
    const weir_socket old = file->socket;
    struct weir_endpoint local = {0};
    (void)weir_socket_local(weir, old, &local);
    weir_socket_close(weir, old);
    flock_become(file, flock_stream(weir, &local));
}

// Inside the gate for writing.
static int attempt(const struct flock_call *call, const struct weir_endpoint *peer)
{
    struct bsd_file *file = call->file;
    int result = WEIR_IN_PROGRESS;
    if (!(file->flags & BSD_CONNECTING)) {
        result = weir_socket_connect(call->bsd->weir, file->socket, peer);
        if (result != WEIR_IN_PROGRESS)
            return result;
        file->flags |= BSD_CONNECTING;
    }
    while ((result = bsd_connect_state(call->bsd, file)) == WEIR_IN_PROGRESS) {
        const int slept = call->wait ? bsd_gate_sleep(file, &file->write, call->deadline_us) : WEIR_AGAIN;
        if (slept)
            return slept;
    }
    if (result)
        renew(file);
    return result;
}

int flock_tcpconnect(const struct flock *flock, int socket, const struct sockaddr *dst, uint32_t timeout_ms)
{
    struct flock_call call;
    struct weir_endpoint peer;
    if (flock_address_in(flock, dst, &peer))
        return -1;
    int result = flock_begin(&call, flock, socket, WEIR_STREAM, timeout_ms);
    if (!result)
        result = bsd_gate_enter(call.file, &call.file->write, call.deadline_us, call.wait);
    if (!result) {
        result = attempt(&call, &peer);
        bsd_gate_leave(call.file, &call.file->write);
    }
    return flock_end(&call, result);
}

int flock_tcpsend(const struct flock *flock, int socket, const char *buf, unsigned len)
{
    struct flock_call call;
    struct bsd_transfer transfer;
    int result = flock_begin(&call, flock, socket, WEIR_STREAM, FLOCK_FOREVER);
    if (!result)
        result = flock_transfer(&call, &transfer, bsd_stream_send, buf, len);
    return flock_end(&call, result);
}

int flock_tcprecv(const struct flock *flock, int socket, char *buf, unsigned len, uint32_t timeout_ms)
{
    struct flock_call call;
    struct bsd_transfer transfer;
    int result = flock_begin(&call, flock, socket, WEIR_STREAM, timeout_ms);
    if (!result)
        result = flock_transfer(&call, &transfer, bsd_stream_receive, buf, len);
    return flock_end(&call, result);
}

int flock_tcpclose(const struct flock *flock, int socket) { return flock_close(flock, socket, WEIR_STREAM); }
