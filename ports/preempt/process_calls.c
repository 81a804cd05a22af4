// SPDX-License-Identifier: BSD-2-Clause
// The process's side. Nothing here touches the kernel but by a system call.
#include "ports/preempt/process_calls.h"

#include <stdarg.h>

#include "api/bsd/internal.h"

int process_errno(void) { return (int)process_call(CALL_ERRNO, 0, 0, 0, 0, 0, 0); }

static int bsd_call(uint32_t number, int fd, intptr_t b, intptr_t c)
{
    return (int)process_call(number, fd, b, c, 0, 0, 0);
}

int weir_posix_socket(int domain, int type, int protocol) { return bsd_call(CALL_SOCKET, domain, type, protocol); }
int weir_posix_bind(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    return bsd_call(CALL_BIND, fd, (intptr_t)address, (intptr_t)length);
}
int weir_posix_listen(int fd, int backlog) { return bsd_call(CALL_LISTEN, fd, backlog, 0); }
int weir_posix_accept(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_call(CALL_ACCEPT, fd, (intptr_t)address, (intptr_t)length);
}
int weir_posix_connect(int fd, const struct weir_sockaddr *address, weir_socklen length)
{
    return bsd_call(CALL_CONNECT, fd, (intptr_t)address, (intptr_t)length);
}
int weir_posix_shutdown(int fd, int how) { return bsd_call(CALL_SHUTDOWN, fd, how, 0); }
int weir_posix_close(int fd) { return bsd_call(CALL_CLOSE, fd, 0, 0); }

weir_ssize weir_posix_sendto(int fd, const void *data, size_t bytes, int flags, const struct weir_sockaddr *address,
                             weir_socklen length)
{
    return process_call(CALL_SENDTO, fd, (intptr_t)data, (intptr_t)bytes, flags, (intptr_t)address, (intptr_t)length);
}
weir_ssize weir_posix_send(int fd, const void *data, size_t bytes, int flags)
{
    return weir_posix_sendto(fd, data, bytes, flags, NULL, 0);
}
weir_ssize weir_posix_write(int fd, const void *data, size_t bytes)
{
    return weir_posix_sendto(fd, data, bytes, 0, NULL, 0);
}

weir_ssize weir_posix_recvfrom(int fd, void *data, size_t bytes, int flags, struct weir_sockaddr *address,
                               weir_socklen *length)
{
    return process_call(CALL_RECVFROM, fd, (intptr_t)data, (intptr_t)bytes, flags, (intptr_t)address, (intptr_t)length);
}
weir_ssize weir_posix_recv(int fd, void *data, size_t bytes, int flags)
{
    return weir_posix_recvfrom(fd, data, bytes, flags, NULL, NULL);
}
weir_ssize weir_posix_read(int fd, void *data, size_t bytes)
{
    return weir_posix_recvfrom(fd, data, bytes, 0, NULL, NULL);
}

int weir_posix_getsockopt(int fd, int level, int name, void *value, weir_socklen *length)
{
    return (int)process_call(CALL_GETSOCKOPT, fd, level, name, (intptr_t)value, (intptr_t)length, 0);
}
int weir_posix_setsockopt(int fd, int level, int name, const void *value, weir_socklen length)
{
    return (int)process_call(CALL_SETSOCKOPT, fd, level, name, (intptr_t)value, (intptr_t)length, 0);
}
int weir_posix_getsockname(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_call(CALL_GETSOCKNAME, fd, (intptr_t)address, (intptr_t)length);
}
int weir_posix_getpeername(int fd, struct weir_sockaddr *address, weir_socklen *length)
{
    return bsd_call(CALL_GETPEERNAME, fd, (intptr_t)address, (intptr_t)length);
}
int weir_posix_fcntl(int fd, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    const int value = command == WEIR_F_SETFL || command == WEIR_F_SETFD ? va_arg(rest, int) : 0;
    va_end(rest);
    return bsd_call(CALL_FCNTL, fd, command, value);
}
int weir_posix_select(int count, struct weir_fd_set *read, struct weir_fd_set *write, struct weir_fd_set *except,
                      struct weir_timeval *timeout)
{
    return (int)process_call(CALL_SELECT, count, (intptr_t)read, (intptr_t)write, (intptr_t)except, (intptr_t)timeout,
                             0);
}
int weir_posix_poll(struct weir_pollfd *fds, unsigned long count, int timeout_ms)
{
    return (int)process_call(CALL_POLL, (intptr_t)fds, (intptr_t)count, timeout_ms, 0, 0, 0);
}

// --- names -----------------------------------------------------------------------------------------------------------
// Numeric addresses and services need no system call: api/bsd's function runs in the process, with its memory.
static void *take(void *context, size_t bytes) { return (void)context, process_alloc(bytes); }
static void give_back(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, process_free(memory); }
static const struct weir_port names_port = {.alloc = take, .free = give_back};

int weir_posix_getaddrinfo(const char *node, const char *service, const struct weir_addrinfo *hints,
                           struct weir_addrinfo **out)
{
    struct weir_bsd names = {.port = &names_port};
    return bsd_getaddrinfo(&names, node, service, hints, out);
}

void weir_posix_freeaddrinfo(struct weir_addrinfo *list)
{
    struct weir_bsd names = {.port = &names_port};
    bsd_freeaddrinfo(&names, list);
}
