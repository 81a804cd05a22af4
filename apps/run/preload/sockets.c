// SPDX-License-Identifier: BSD-2-Clause
// A socket's life, its names and options, and what copies descriptors.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/preload/interfaces.h"
#include "run/preload/preload.h"

static int simple(const uint8_t id[8], uint32_t call, int a, const void *data, size_t length)
{
    const struct run_question question = {.id = id, .call = call, .a = a, .data = data, .length = length, .fd = -1};
    return run_result(run_ask(&question));
}

// --- life --------------------------------------------------------------------------------------------
EXPORT int socket(int domain, int type, int protocol)
{
    const int flags = type & (SOCK_NONBLOCK | SOCK_CLOEXEC), plain = type & ~(SOCK_NONBLOCK | SOCK_CLOEXEC);
    int pair[2];
    if (!run_active() || (domain != AF_INET && domain != AF_INET6) ||
        (plain != SOCK_STREAM && plain != SOCK_DGRAM && plain != SOCK_RAW)) {
        const int fd = (int)syscall(SYS_socket, domain, type, protocol);
        run_kind_set(fd, KIND_NONE);
        return fd;
    }
    // The program's end first: it gets the lowest number.
    if (syscall(SYS_socketpair, AF_UNIX, (plain == SOCK_STREAM ? SOCK_STREAM : SOCK_SEQPACKET) | flags, 0, pair) != 0)
        return -1;
    const struct run_question question = {.call = RUN_SOCKET, .a = domain, .b = plain, .c = protocol, .fd = pair[1]};
    const int result = run_ask(&question);
    syscall(SYS_close, pair[1]);
    if (result < 0) {
        syscall(SYS_close, pair[0]);
        return run_result(result);
    }
    run_kind_set(pair[0], plain == SOCK_STREAM ? KIND_FRESH : KIND_DATAGRAM);
    return pair[0];
}

EXPORT int socketpair(int domain, int type, int protocol, int fds[2])
{
    const int result = (int)syscall(SYS_socketpair, domain, type, protocol, fds);
    if (result == 0) {
        run_kind_set(fds[0], KIND_NONE);
        run_kind_set(fds[1], KIND_NONE);
    }
    return result;
}

EXPORT int bind(int fd, const struct sockaddr *name, socklen_t length)
{
    uint8_t id[8];
    if (!run_ours(fd, id))
        return (int)syscall(SYS_bind, fd, name, length);
    return simple(id, RUN_BIND, 0, name, length);
}

EXPORT int listen(int fd, int backlog)
{
    uint8_t id[8];
    if (!run_ours(fd, id))
        return (int)syscall(SYS_listen, fd, backlog);
    const int result = simple(id, RUN_LISTEN, backlog, NULL, 0);
    if (result == 0)
        run_kind_set(fd, KIND_LISTEN);
    return result;
}

void run_address_copy(const void *from, size_t length, struct sockaddr *to, socklen_t *room)
{
    if (to == NULL || room == NULL)
        return;
    memcpy(to, from, *room < length ? *room : length);
    *room = (socklen_t)length;
}

// A connection as the server hands it over. The descriptor, or -1.
static int take_connection(int fd, struct run_accepted *record, int flags)
{
    union run_rights control;
    struct iovec iov = {record, sizeof *record};
    struct msghdr message = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t got = run_libc()->recvmsg(fd, &message, flags & SOCK_CLOEXEC ? MSG_CMSG_CLOEXEC : 0);
    if (got < 0)
        return -1;
    const struct cmsghdr *const header = CMSG_FIRSTHDR(&message);
    if (got != (ssize_t)sizeof *record || record->magic != RUN_MAGIC)
        return run_result(-EINVAL);
    int connection = -1;
    if (header == NULL || header->cmsg_type != SCM_RIGHTS)
        return run_result(-EMFILE);
    memcpy(&connection, CMSG_DATA(header), sizeof connection);
    return connection;
}

EXPORT int accept4(int fd, struct sockaddr *name, socklen_t *length, int flags)
{
    struct run_accepted record;
    uint8_t id[8];
    if (run_kind_of(fd) != KIND_LISTEN) {
        if (!run_ours(fd, id)) {
            const int accepted = run_libc()->accept4(fd, name, length, flags);
            run_kind_set(accepted, KIND_NONE);
            return accepted;
        }
        const struct run_question question = {.id = id, .call = RUN_STATE, .fd = -1};
        const int state = run_ask(&question);
        if (run_kind_of(fd) == KIND_DATAGRAM)
            return run_result(-EOPNOTSUPP);
        if (state != RUN_LISTENING)
            return run_result(state == -ENETDOWN ? -ENETDOWN : -EINVAL);
        run_kind_set(fd, KIND_LISTEN);
    }
    if (flags & ~(SOCK_CLOEXEC | SOCK_NONBLOCK))
        return run_result(-EINVAL);
    const int connection = take_connection(fd, &record, flags);
    if (connection < 0)
        return -1;
    if (flags & SOCK_NONBLOCK)
        (void)syscall(SYS_fcntl, connection, F_SETFL, O_RDWR | O_NONBLOCK);
    run_kind_set(connection, KIND_STREAM);
    run_address_copy(record.address, record.length, name, length);
    return connection;
}

EXPORT int accept(int fd, struct sockaddr *name, socklen_t *length) { return accept4(fd, name, length, 0); }

static bool non_blocking(int fd) { return (syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK) != 0; }

// Until the connection is there the program's end is to be unwritable: it is filled with what the server throws away.
static int filler_send(int fd)
{
    static const uint8_t filler[RUN_FILLER];
    const long sent = syscall(SYS_sendto, fd, filler, sizeof filler, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
    return sent < 0 ? 0 : (int)sent;
}

EXPORT int connect(int fd, const struct sockaddr *name, socklen_t length)
{
    uint8_t id[8];
    struct timeval timeout = {0, 0};
    socklen_t size = sizeof timeout;
    if (!run_ours(fd, id))
        return run_libc()->connect(fd, name, length);
    const bool stream = run_kind_of(fd) != KIND_DATAGRAM, waits = stream && !non_blocking(fd);
    int filler = 0;
    if (stream && !waits && run_kind_of(fd) == KIND_FRESH)
        filler = filler_send(fd);
    if (waits)
        (void)syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, &size);
    const struct run_question question = {.id = id,
                                          .call = RUN_CONNECT,
                                          .a = waits ? -1 : filler,
                                          .data = name,
                                          .length = length,
                                          .fd = -1,
                                          .waits = waits,
                                          .timeout = &timeout};
    int result = run_ask(&question);
    if (result == -EAGAIN && waits)
        result = -EINPROGRESS;
    if (stream && result >= 0)
        run_kind_set(fd, KIND_STREAM);
    else if (stream && (result == -EINPROGRESS || result == -EINTR || filler > 0))
        run_kind_set(fd, KIND_ASK);
    return run_result(result > 0 ? 0 : result);
}

EXPORT int shutdown(int fd, int how)
{
    uint8_t id[8];
    if (!run_ours(fd, id))
        return (int)syscall(SYS_shutdown, fd, how);
    return simple(id, RUN_SHUTDOWN, how, NULL, 0);
}

EXPORT int close(int fd)
{
    run_kind_set(fd, KIND_NONE);
    return run_libc()->close(fd);
}

// --- names and options -------------------------------------------------------------------------------
static int name_of(int fd, uint32_t call, long number, struct sockaddr *name, socklen_t *length)
{
    uint8_t id[8], address[128];
    size_t got = 0;
    if (!run_ours(fd, id))
        return (int)syscall(number, fd, name, length);
    if (name == NULL || length == NULL)
        return run_result(-EFAULT);
    const struct run_question question = {
        .id = id, .call = call, .fd = -1, .answer = address, .room = sizeof address, .got = &got};
    const int result = run_ask(&question);
    if (result >= 0)
        run_address_copy(address, got, name, length);
    return run_result(result);
}

EXPORT int getsockname(int fd, struct sockaddr *name, socklen_t *length)
{
    return name_of(fd, RUN_LOCAL, SYS_getsockname, name, length);
}

EXPORT int getpeername(int fd, struct sockaddr *name, socklen_t *length)
{
    return name_of(fd, RUN_PEER, SYS_getpeername, name, length);
}

static bool of_pair(int level, int option)
{
    return level == SOL_SOCKET && (option == SO_RCVTIMEO || option == SO_SNDTIMEO || option == SO_OOBINLINE);
}

EXPORT int setsockopt(int fd, int level, int option, const void *value, socklen_t length)
{
    uint8_t id[8];
    if (of_pair(level, option) || !run_ours(fd, id))
        return (int)syscall(SYS_setsockopt, fd, level, option, value, length);
    if (value == NULL && length > 0)
        return run_result(-EFAULT);
    if (level == SOL_SOCKET && option == SO_SNDBUF)  // what is on its way to the server is a part of it
        (void)syscall(SYS_setsockopt, fd, level, option, value, length);
    const struct run_question question = {
        .id = id, .call = RUN_SET, .a = level, .b = option, .data = value, .length = length, .fd = -1};
    return run_result(run_ask(&question));
}

// The value of these says what is asked for.
static bool value_asks(int level, int option)
{
    return (level == IPPROTO_IP && (option == IP_MSFILTER || option == MCAST_MSFILTER)) ||
           (level == IPPROTO_IPV6 && option == MCAST_MSFILTER);
}

EXPORT int getsockopt(int fd, int level, int option, void *restrict value, socklen_t *restrict length)
{
    uint8_t id[8];
    size_t got = 0;
    if (of_pair(level, option) || !run_ours(fd, id))
        return (int)syscall(SYS_getsockopt, fd, level, option, value, length);
    if (value == NULL || length == NULL)
        return run_result(-EFAULT);
    if (level == SOL_SOCKET && option == SO_ERROR && run_kind_of(fd) == KIND_DATAGRAM && *length >= sizeof(int)) {
        const int error = run_datagram_pending(fd, true);
        memcpy(value, &error, *length = sizeof error);
        if (error != 0)
            return 0;
    }
    const struct run_question question = {.id = id,
                                          .call = RUN_GET,
                                          .a = level,
                                          .b = option,
                                          .c = (int)*length,
                                          .data = value,
                                          .length = value_asks(level, option) ? *length : 0,
                                          .fd = -1,
                                          .answer = value,
                                          .room = *length,
                                          .got = &got};
    const int result = run_ask(&question);
    if (result >= 0)
        *length = (socklen_t)got;
    return run_result(result);
}

// --- ioctl, fcntl, dup -------------------------------------------------------------------------------
EXPORT int ioctl(int fd, unsigned long request, ...)
{
    uint8_t id[8];
    va_list arguments;
    va_start(arguments, request);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    const bool queue = request == SIOCOUTQ || request == SIOCOUTQNSD;
    const bool interface = run_interface_request(request);
    const bool unread = request == FIONREAD && run_kind_of(fd) != KIND_NONE;
    if ((!queue && !interface && !unread) || !run_ours(fd, id))
        return run_libc()->ioctl(fd, request, argument);
    if (interface)
        return run_result(run_interface_answer(request, argument));
    if (unread && run_kind_of(fd) == KIND_LISTEN)
        return run_result(-EINVAL);
    if (unread && run_kind_of(fd) == KIND_DATAGRAM) {
        *(int *)argument = run_datagram_pending(fd, false);
        return 0;
    }
    if (unread)
        return run_libc()->ioctl(fd, request, argument);
    const struct run_question question = {
        .id = id, .call = RUN_IOCTL, .b = (int)request, .fd = -1, .answer = argument, .room = sizeof(int)};
    return run_result(run_ask(&question));
}

EXPORT int sockatmark(int fd)
{
    int mark = 0;
    return ioctl(fd, SIOCATMARK, &mark) < 0 ? -1 : mark;
}

static int copied(int from, int to)
{
    run_kind_set(to, run_kind_of(from));
    return to;
}

EXPORT int fcntl(int fd, int command, ...)
{
    va_list arguments;
    va_start(arguments, command);
    void *const argument = va_arg(arguments, void *);
    va_end(arguments);
    const int result = run_libc()->fcntl(fd, command, argument);
    if (result >= 0 && (command == F_DUPFD || command == F_DUPFD_CLOEXEC))
        return copied(fd, result);
    return result;
}

EXPORT int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));

EXPORT int dup(int fd) { return copied(fd, (int)syscall(SYS_dup, fd)); }

EXPORT int dup2(int from, int to)
{
    const int result =
        from == to ? (syscall(SYS_fcntl, from, F_GETFD) < 0 ? -1 : to) : (int)syscall(SYS_dup3, from, to, 0);
    return result < 0 ? result : copied(from, result);
}

EXPORT int dup3(int from, int to, int flags)
{
    const int result = (int)syscall(SYS_dup3, from, to, flags);
    return result < 0 ? result : copied(from, result);
}
