// SPDX-License-Identifier: BSD-2-Clause
// The plain names' functions: each passes the one context on.
#include "posix_calls.h"

#include <stdarg.h>

static struct weir_bsd *context;  // the only variable outside a context; set once, before any other call

void weir_posix_use(struct weir_bsd *bsd) { context = bsd; }

int weir_posix_socket(int domain, int type, int protocol) { return bsd_socket(context, domain, type, protocol); }

int weir_posix_bind(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    return bsd_bind(context, fd, address, length);
}

int weir_posix_listen(int fd, int backlog) { return bsd_listen(context, fd, backlog); }

int weir_posix_accept(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_accept(context, fd, address, length);
}

int weir_posix_accept4(int fd, struct weir_sockaddr *address, weir_socklen *length, int flags)
{
    return bsd_accept4(context, fd, address, length, flags);
}

int weir_posix_connect(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    return bsd_connect(context, fd, address, length);
}

int weir_posix_shutdown(int fd, int how) { return bsd_shutdown(context, fd, how); }

int weir_posix_close(int fd) { return bsd_close(context, fd); }

int weir_posix_getsockname(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_getsockname(context, fd, address, length);
}

int weir_posix_getpeername(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_getpeername(context, fd, address, length);
}

weir_ssize weir_posix_send(int fd, const void *data, size_t bytes, int flags)
{
    return bsd_send(context, fd, data, bytes, flags);
}

weir_ssize weir_posix_sendto(int fd, const void *data, size_t bytes, int flags, const struct weir_sockaddr *address,
                             weir_socklen length)
{
    return bsd_sendto(context, fd, data, bytes, flags, address, length);
}

weir_ssize weir_posix_sendmsg(int fd, const struct weir_msghdr *message, int flags)
{
    return bsd_sendmsg(context, fd, message, flags);
}

weir_ssize weir_posix_write(int fd, const void *data, size_t bytes) { return bsd_write(context, fd, data, bytes); }

weir_ssize weir_posix_writev(int fd, const struct weir_iovec *vector, int count)
{
    return bsd_writev(context, fd, vector, count);
}

weir_ssize weir_posix_recv(int fd, void *data, size_t bytes, int flags)
{
    return bsd_recv(context, fd, data, bytes, flags);
}

weir_ssize weir_posix_recvfrom(int fd, void *data, size_t bytes, int flags, struct weir_sockaddr *address,
                               weir_socklen *length)
{
    return bsd_recvfrom(context, fd, data, bytes, flags, address, length);
}

weir_ssize weir_posix_recvmsg(int fd, struct weir_msghdr *message, int flags)
{
    return bsd_recvmsg(context, fd, message, flags);
}

weir_ssize weir_posix_read(int fd, void *data, size_t bytes) { return bsd_read(context, fd, data, bytes); }

weir_ssize weir_posix_readv(int fd, const struct weir_iovec *vector, int count)
{
    return bsd_readv(context, fd, vector, count);
}

int weir_posix_getsockopt(int fd, int level, int name, void *value, weir_socklen *length)
{
    return bsd_getsockopt(context, fd, level, name, value, length);
}

int weir_posix_setsockopt(int fd, int level, int name, const void *value, weir_socklen length)
{
    return bsd_setsockopt(context, fd, level, name, value, length);
}

int weir_posix_sockatmark(int fd) { return bsd_sockatmark(context, fd); }

int weir_posix_poll(struct weir_pollfd *fds, unsigned long count, int timeout_ms)
{
    return bsd_poll(context, fds, count, timeout_ms);
}

int weir_posix_select(int count, struct weir_fd_set *read, struct weir_fd_set *write, struct weir_fd_set *except,
                      struct weir_timeval *timeout)
{
    return bsd_select(context, count, read, write, except, timeout);
}

int weir_posix_epoll_create1(int flags)
{
    (void)flags;
    return bsd_epoll_create(context);
}

int weir_posix_epoll_ctl(int set, int operation, int fd, struct weir_epoll_event *event)
{
    return bsd_epoll_ctl(context, set, operation, fd, event);
}

int weir_posix_epoll_wait(int set, struct weir_epoll_event *events, int most, int timeout_ms)
{
    return bsd_epoll_wait(context, set, events, most, timeout_ms);
}

int weir_posix_getaddrinfo(const char *node, const char *service, const struct weir_addrinfo *hints,
                           struct weir_addrinfo **out)
{
    return bsd_getaddrinfo(context, node, service, hints, out);
}

void weir_posix_freeaddrinfo(struct weir_addrinfo *list) { bsd_freeaddrinfo(context, list); }

unsigned weir_posix_if_nametoindex(const char *name) { return bsd_if_nametoindex(context, name); }

char *weir_posix_if_indextoname(unsigned index, char *name) { return bsd_if_indextoname(context, index, name); }

int weir_posix_fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    const int argument = command == WEIR_F_SETFL || command == WEIR_F_SETFD ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return bsd_fcntl(context, fd, command, argument);
}

int weir_posix_ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return bsd_ioctl(context, fd, request, argument);
}
