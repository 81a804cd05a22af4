// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"

int flock_udpsocket(const struct flock *flock) { return flock_socket(flock, WEIR_SOCK_DGRAM); }

int flock_udpbind(const struct flock *flock, int socket, const struct sockaddr *src)
{
    struct flock_call call;
    struct weir_endpoint local;
    if (flock_address_in(flock, src, &local))
        return -1;
    int result = flock_begin(&call, flock, socket, WEIR_DATAGRAM, 0);
    if (!result)
        result = weir_socket_bind(flock->bsd->weir, call.file->socket, &local);
    return flock_end(&call, result);
}

int flock_udpsendto(const struct flock *flock, int socket, const struct sockaddr *dst, const char *buf, unsigned len)
{
    struct flock_call call;
    struct bsd_transfer transfer = {0};
    if (flock_address_in(flock, dst, &transfer.message.peer))
        return -1;
    int result = flock_begin(&call, flock, socket, WEIR_DATAGRAM, FLOCK_FOREVER);
    if (!result)
        result = flock_transfer(&call, &transfer, bsd_message_send, buf, len);
    return flock_end(&call, result);
}

int flock_udprecvfrom(const struct flock *flock, int socket, struct sockaddr *src, char *buf, unsigned len,
                      uint32_t timeout_ms)
{
    struct flock_call call;
    struct bsd_transfer transfer = {0};
    int result = flock_begin(&call, flock, socket, WEIR_DATAGRAM, timeout_ms);
    if (!result)
        result = flock_transfer(&call, &transfer, bsd_message_receive, buf, len);
    result = flock_end(&call, result);
    return result >= 0 && flock_address_out(flock, &transfer.message.peer, src) ? -1 : result;
}

int flock_udpclose(const struct flock *flock, int socket) { return flock_close(flock, socket, WEIR_DATAGRAM); }
