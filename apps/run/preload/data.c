// SPDX-License-Identifier: BSD-2-Clause
// Data: the kernel moves it over the pair. What a pair does not do as TCP does is done here: the state before the
// connection is there, errors at the end, names; and datagrams have theirs in front of them.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/preload/preload.h"

static bool waits(int fd, int flags)
{
    return !(flags & MSG_DONTWAIT) && !(syscall(SYS_fcntl, fd, F_GETFL) & O_NONBLOCK);
}

// Before data moves on a stream whose state is not known. 0: go on; -1: errno says why not.
static int state_ask(int fd, bool sends, int flags)
{
    uint8_t id[8];
    if (run_confined)
        return 0;
    if (!run_ours(fd, id)) {
        run_kind_set(fd, KIND_NONE);
        return 0;
    }
    const bool patient = waits(fd, flags);
    const struct run_question question = {.id = id, .call = RUN_STATE, .a = patient, .fd = -1, .waits = patient};
    const int state = run_ask(&question);
    if (state == -EINPROGRESS)
        return run_result(-EAGAIN);
    if (state == -EINTR)
        return run_result(state);
    if (state == RUN_IDLE || state == RUN_LISTENING) {
        if (sends && !(flags & MSG_NOSIGNAL))
            (void)raise(SIGPIPE);
        return run_result(sends ? -EPIPE : -ENOTCONN);
    }
    run_kind_set(fd, KIND_STREAM);  // also one that has failed: its error is told below
    return 0;
}

static inline bool asks(enum run_kind kind) { return kind >= KIND_FRESH && kind <= KIND_LISTEN; }

// The end of a stream: of the peer's data, or of the connection. What read is to return.
static ssize_t ended(int fd, ssize_t result, size_t bytes)
{
    uint8_t id[8];
    const int saved = errno;
    struct pollfd pair = {.fd = fd, .events = POLLIN};
    if (run_confined || bytes == 0 || (result < 0 && saved != ECONNRESET))
        return result;
    const struct timespec at_once = {0, 0};
    const bool over = syscall(SYS_ppoll, &pair, 1, &at_once, NULL, 0) == 1 && pair.revents & (POLLHUP | POLLERR);
    if (result == 0 && !over) {
        errno = saved;
        return 0;
    }
    const int error = run_ours(fd, id) ? run_error(id) : result < 0 ? saved : 0;
    errno = error ? error : saved;
    return error ? -1 : 0;
}

static inline bool at_end(ssize_t result) { return result <= 0; }

// A send that was refused.
static ssize_t refused(int fd, ssize_t result, int flags)
{
    uint8_t id[8];
    if (errno != EPIPE && errno != ECONNRESET)
        return result;
    const int saved = errno, error = run_ours(fd, id) ? run_error(id) : 0;
    errno = error ? error : saved == ECONNRESET ? EPIPE : saved;
    if (errno == EPIPE && !(flags & MSG_NOSIGNAL)) {
        (void)raise(SIGPIPE);
        errno = EPIPE;
    }
    return -1;
}

// --- receiving ---------------------------------------------------------------------------------------
EXPORT ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    const enum run_kind kind = run_kind_of(fd);
    if (kind == KIND_DATAGRAM)
        return run_datagram_receive(fd, message, flags);
    if (asks(kind) && state_ask(fd, false, flags) < 0)
        return -1;
    if (kind == KIND_NONE) {
        const ssize_t got = run_libc()->recvmsg(fd, message, flags);
        if (got >= 0)
            run_descriptors_came(message);
        return got;
    }
    if (flags & MSG_ERRQUEUE)
        return run_result(-EAGAIN);
    struct msghdr plain = {.msg_iov = message->msg_iov, .msg_iovlen = message->msg_iovlen};
    const ssize_t got = run_libc()->recvmsg(fd, &plain, flags);
    message->msg_namelen = 0;
    message->msg_controllen = 0;
    message->msg_flags = plain.msg_flags;
    return at_end(got) ? ended(fd, got, run_message_bytes(&plain)) : got;
}

static ssize_t receive(int fd, void *data, size_t bytes, int flags, struct sockaddr *name, socklen_t *length)
{
    struct iovec iov = {data, bytes};
    struct msghdr message = {.msg_name = name,
                             .msg_namelen = name != NULL && length != NULL ? *length : 0,
                             .msg_iov = &iov,
                             .msg_iovlen = 1};
    const ssize_t got = recvmsg(fd, &message, flags);
    if (got >= 0 && name != NULL && length != NULL)
        *length = message.msg_namelen;
    return got;
}

EXPORT ssize_t recvfrom(int fd, void *restrict data, size_t bytes, int flags, struct sockaddr *restrict name,
                        socklen_t *restrict length)
{
    return run_kind_of(fd) == KIND_NONE ? run_libc()->recvfrom(fd, data, bytes, flags, name, length)
                                        : receive(fd, data, bytes, flags, name, length);
}

EXPORT ssize_t recv(int fd, void *data, size_t bytes, int flags)
{
    const enum run_kind kind = run_kind_of(fd);
    if (kind == KIND_STREAM && !(flags & MSG_ERRQUEUE)) {
        const ssize_t got = run_libc()->recv(fd, data, bytes, flags);
        return at_end(got) ? ended(fd, got, bytes) : got;
    }
    return kind == KIND_NONE ? run_libc()->recv(fd, data, bytes, flags) : receive(fd, data, bytes, flags, NULL, NULL);
}

EXPORT ssize_t read(int fd, void *data, size_t bytes)
{
    const enum run_kind kind = run_kind_of(fd);
    if (kind == KIND_NONE)
        return run_libc()->read(fd, data, bytes);
    if (kind == KIND_STREAM) {
        const ssize_t got = run_libc()->read(fd, data, bytes);
        return at_end(got) ? ended(fd, got, bytes) : got;
    }
    const ssize_t got = receive(fd, data, bytes, 0, NULL, NULL);
    return got < 0 && errno == ENOTSOCK ? run_libc()->read(fd, data, bytes) : got;
}

EXPORT ssize_t readv(int fd, const struct iovec *iov, int count)
{
    if (run_kind_of(fd) == KIND_NONE || count < 0 || run_confined)
        return run_libc()->readv(fd, iov, count);
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)count};
    const ssize_t got = recvmsg(fd, &message, 0);
    return got < 0 && errno == ENOTSOCK ? run_libc()->readv(fd, iov, count) : got;
}

EXPORT int recvmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *timeout)
{
    if (run_kind_of(fd) == KIND_NONE)
        return run_libc()->recvmmsg(fd, messages, count, flags, timeout);
    unsigned got = 0;
    for (int now = flags & ~MSG_WAITFORONE; got < count; got++) {
        const ssize_t bytes = recvmsg(fd, &messages[got].msg_hdr, now);
        if (bytes < 0)
            break;
        messages[got].msg_len = (unsigned)bytes;
        if (flags & MSG_WAITFORONE)
            now |= MSG_DONTWAIT;
    }
    return got > 0 || count == 0 ? (int)got : -1;
}

// --- sending -----------------------------------------------------------------------------------------
static ssize_t urgent_send(int fd, const struct msghdr *message)
{
    uint8_t id[8];
    const struct iovec none = {NULL, 0}, *const iov = message->msg_iovlen > 0 ? message->msg_iov : &none;
    const struct run_question question = {
        .id = id, .call = RUN_URGENT, .data = iov->iov_base, .length = iov->iov_len, .fd = -1};
    return run_ours(fd, id) ? run_result(run_ask(&question)) : run_result(-ENOTSOCK);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    const enum run_kind kind = run_kind_of(fd);
    if (kind == KIND_NONE)
        return run_libc()->sendmsg(fd, message, flags);
    if (kind == KIND_DATAGRAM)
        return run_datagram_send(fd, message, flags);
    if (asks(kind) && state_ask(fd, true, flags) < 0)
        return -1;
    if (flags & MSG_OOB)
        return urgent_send(fd, message);
    const struct msghdr plain = {.msg_iov = message->msg_iov, .msg_iovlen = message->msg_iovlen};
    const ssize_t sent = run_libc()->sendmsg(fd, &plain, (flags & ~MSG_ZEROCOPY) | MSG_NOSIGNAL);
    return sent < 0 ? refused(fd, sent, flags) : sent;
}

EXPORT ssize_t sendto(int fd, const void *data, size_t bytes, int flags, const struct sockaddr *name, socklen_t length)
{
    const enum run_kind kind = run_kind_of(fd);
    if (kind == KIND_NONE)
        return run_libc()->sendto(fd, data, bytes, flags, name, length);
    if (kind == KIND_STREAM && !(flags & MSG_OOB)) {
        const ssize_t sent = run_libc()->send(fd, data, bytes, (flags & ~MSG_ZEROCOPY) | MSG_NOSIGNAL);
        return sent < 0 ? refused(fd, sent, flags) : sent;
    }
    struct iovec iov = {(void *)(uintptr_t)data, bytes};
    const struct msghdr message = {
        .msg_name = (void *)(uintptr_t)name, .msg_namelen = length, .msg_iov = &iov, .msg_iovlen = 1};
    return sendmsg(fd, &message, flags);
}

EXPORT ssize_t send(int fd, const void *data, size_t bytes, int flags)
{
    return run_kind_of(fd) == KIND_NONE ? run_libc()->send(fd, data, bytes, flags)
                                        : sendto(fd, data, bytes, flags, NULL, 0);
}

EXPORT ssize_t write(int fd, const void *data, size_t bytes)
{
    if (run_kind_of(fd) == KIND_NONE || run_confined)
        return run_libc()->write(fd, data, bytes);
    const ssize_t sent = sendto(fd, data, bytes, 0, NULL, 0);
    return sent < 0 && errno == ENOTSOCK ? run_libc()->write(fd, data, bytes) : sent;
}

EXPORT ssize_t writev(int fd, const struct iovec *iov, int count)
{
    if (run_kind_of(fd) == KIND_NONE || count < 0 || run_confined)
        return run_libc()->writev(fd, iov, count);
    const struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)count};
    const ssize_t sent = sendmsg(fd, &message, 0);
    return sent < 0 && errno == ENOTSOCK ? run_libc()->writev(fd, iov, count) : sent;
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned count, int flags)
{
    if (run_kind_of(fd) == KIND_NONE)
        return run_libc()->sendmmsg(fd, messages, count, flags);
    unsigned sent = 0;
    for (; sent < count; sent++) {
        const ssize_t bytes = sendmsg(fd, &messages[sent].msg_hdr, flags);
        if (bytes < 0)
            break;
        messages[sent].msg_len = (unsigned)bytes;
    }
    return sent > 0 || count == 0 ? (int)sent : -1;
}

// --- the fortified names -----------------------------------------------------------------------------
extern void __chk_fail(void) __attribute__((noreturn));
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *data, size_t bytes, size_t room, int flags, struct sockaddr *name,
                       socklen_t *length);

EXPORT ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    if (bytes > room)
        __chk_fail();
    return read(fd, data, bytes);
}

EXPORT ssize_t __recv_chk(int fd, void *data, size_t bytes, size_t room, int flags)
{
    if (bytes > room)
        __chk_fail();
    return recv(fd, data, bytes, flags);
}

EXPORT ssize_t __recvfrom_chk(int fd, void *data, size_t bytes, size_t room, int flags, struct sockaddr *name,
                              socklen_t *length)
{
    if (bytes > room)
        __chk_fail();
    return recvfrom(fd, data, bytes, flags, name, length);
}
