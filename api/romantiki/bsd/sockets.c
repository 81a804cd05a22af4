// SPDX-License-Identifier: BSD-2-Clause
// Romantiki's sockets over BSD's: bsd.h.
#define _POSIX_C_SOURCE 200809L
#include "bsd.h"

#ifdef ROMANTIKI_PORT
#include "api/bsd/posix_calls.h"
#include "api/bsd/posix_names.h"

#define errno romantiki_errno()
#else
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#endif

void romantiki_socket_init(struct romantiki_socket *socket, int mode, int limit)
{
    *socket = (struct romantiki_socket){-1, mode, limit};
}

int socket_close(struct romantiki_socket *socket)
{
    const int descriptor = socket->descriptor;
    socket->descriptor = -1;
    return descriptor >= 0 && close(descriptor) ? -errno : EOK;
}

static struct sockaddr_in name_of(uint32_t address, uint16_t port)
{
    return (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(address), .sin_port = htons(port)};
}

static int make(struct romantiki_socket *to, int type, uint32_t address, uint16_t port)
{
    const struct sockaddr_in name = name_of(address, port);
    const int on = 1;
    to->descriptor = socket(AF_INET, type, 0);
    if (to->descriptor < 0)
        return -errno;
    if (type == SOCK_STREAM)
        setsockopt(to->descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(to->descriptor, (const struct sockaddr *)&name, sizeof name) == 0)
        return EOK;
    const int error = -errno;
    (void)socket_close(to);
    return error;
}

int socket_bind(struct romantiki_socket *socket, uint16_t port) { return make(socket, SOCK_DGRAM, INADDR_ANY, port); }

int socket_listen(struct romantiki_socket *socket, uint16_t port, uint32_t address)
{
    const int error = make(socket, SOCK_STREAM, address, port);
    if (error != EOK || listen(socket->descriptor, socket->limit > 0 ? socket->limit : 5) == 0)
        return error;
    (void)socket_close(socket);
    return -errno;
}

// Waits until the socket is ready as its mode and the timeout say: EOK, EWAIT, ETIMEOUT or an error.
static int wait_for(const struct romantiki_socket *socket, short what, const unsigned *timeout_ms)
{
    struct pollfd one = {socket->descriptor, what, 0};
    const int wait_ms = socket->mode & SOCK_NONBLOCKING ? 0 : timeout_ms ? (int)*timeout_ms : -1;
    int found;
    if (socket->descriptor < 0)
        return -EBADF;
    while ((found = poll(&one, 1, wait_ms)) < 0 && errno == EINTR)
        ;
    return found > 0 ? EOK : found < 0 ? -errno : socket->mode & SOCK_NONBLOCKING ? EWAIT : ETIMEOUT;
}

static void prepare(const struct romantiki_socket *socket)
{
    const int on = 1;
    if (socket->mode & SOCK_SPLIT)
        setsockopt(socket->descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (socket->limit > 0)  // the system takes it as a wish
        setsockopt(socket->descriptor, SOL_SOCKET, SO_RCVBUF, &socket->limit, sizeof socket->limit);
}

void socket_accept(struct romantiki_socket *listener, struct romantiki_socket *stream, int *res)
{
    (void)socket_close(stream);
    *res = wait_for(listener, POLLIN, NULL);
    if (*res != EOK)
        return;
    stream->descriptor = accept(listener->descriptor, NULL, NULL);
    if (stream->descriptor < 0)
        *res = -errno;
    else
        prepare(stream);
}

void socket_connect(struct romantiki_socket *socket_, uint32_t address, uint16_t port, int *res,
                    const unsigned *timeout_ms)
{
    const struct sockaddr_in name = name_of(address, port);
    int error = 0;
    socklen_t bytes = sizeof error;
    (void)socket_close(socket_);
    socket_->descriptor = socket(AF_INET, SOCK_STREAM, 0);
    const int flags = fcntl(socket_->descriptor, F_GETFL);
    fcntl(socket_->descriptor, F_SETFL, flags | O_NONBLOCK);
    *res = EOK;
    if (connect(socket_->descriptor, (const struct sockaddr *)&name, sizeof name)) {
        *res = errno == EINPROGRESS ? wait_for(socket_, POLLOUT, timeout_ms) : -errno;
        if (*res == EOK && getsockopt(socket_->descriptor, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error)
            *res = -error;
    }
    fcntl(socket_->descriptor, F_SETFL, flags);
    if (*res == EOK)
        prepare(socket_);
    else if (*res != EWAIT)
        (void)socket_close(socket_);
}

void socket_recv(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received, int *res,
                 const unsigned *timeout_ms)
{
    *received = 0;
    *res = wait_for(socket, POLLIN, timeout_ms);
    if (*res != EOK)
        return;
    const ssize_t got = recv(socket->descriptor, data, bytes, 0);
    if (got < 0)
        *res = -errno;
    else
        *received = (unsigned)got;
}

void socket_send(struct romantiki_socket *socket, const void *data, unsigned bytes, unsigned *sent, int *res,
                 const unsigned *timeout_ms)
{
    unsigned piece = socket->mode & SOCK_SPLIT && bytes > 1 ? (bytes + 1) / 2 : bytes;
    *res = EOK;
    for (*sent = 0; *sent < bytes && *res == EOK; piece = bytes - *sent) {
        *res = wait_for(socket, POLLOUT, timeout_ms);
        if (*res != EOK)
            return;
        const ssize_t put = send(socket->descriptor, (const char *)data + *sent, piece, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (put > 0)
            *sent += (unsigned)put;
        else if (errno != EAGAIN)
            *res = -errno;
    }
}

void socket_select(struct romantiki_socket *const *list, unsigned count, unsigned *ready, const unsigned *timeout_ms)
{
    struct pollfd all[32];
    *ready = 0;
    for (unsigned i = 0; i < count; i++)
        all[i] = (struct pollfd){list[i]->descriptor, POLLIN, 0};
    if (poll(all, count, timeout_ms ? (int)*timeout_ms : -1) > 0)
        for (unsigned i = 0; i < count; i++)
            *ready |= (unsigned)(all[i].revents != 0) << i;
}

void socket_recvfrom(struct romantiki_socket *socket, void *data, unsigned bytes, unsigned *received,
                     struct weir_endpoint *from, int *res, const unsigned *timeout_ms)
{
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    *received = 0;
    *res = wait_for(socket, POLLIN, timeout_ms);
    if (*res != EOK)
        return;
    const ssize_t got = recvfrom(socket->descriptor, data, bytes, 0, (struct sockaddr *)&name, &length);
    if (got < 0) {
        *res = -errno;
        return;
    }
    *received = (unsigned)got;
    *from = (struct weir_endpoint){weir_addr_v4(ntohl(name.sin_addr.s_addr)), ntohs(name.sin_port)};
}

void socket_sendto(struct romantiki_socket *socket, const void *data, unsigned bytes, const struct weir_endpoint *to,
                   int *res, const unsigned *timeout_ms)
{
    const struct sockaddr_in name = name_of(weir_addr_to_v4(to->addr), to->port);
    *res = wait_for(socket, POLLOUT, timeout_ms);
    if (*res == EOK && sendto(socket->descriptor, data, bytes, 0, (const struct sockaddr *)&name, sizeof name) < 0)
        *res = -errno;
}
