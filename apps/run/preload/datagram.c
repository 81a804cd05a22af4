// SPDX-License-Identifier: BSD-2-Clause
// Datagrams: struct run_datagram and the ancillary data stand in front of the payload, both ways.
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "run/preload/preload.h"

#define PIECES 66           // of a message: header, ancillary data, and the caller's as they are
#define PAYLOAD_MAX 65535u  // longer ones are refused as Linux does

// A message's pieces behind our own. false: there are too many.
static bool pieces(const struct msghdr *message, struct iovec *iov, size_t own)
{
    if (message->msg_iovlen > PIECES - own)
        return false;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        iov[own + i] = message->msg_iov[i];
    return true;
}

// --- receiving ---------------------------------------------------------------------------------------
static void names_out(struct msghdr *message, const struct run_datagram *header, const uint8_t *control)
{
    if (message->msg_name != NULL) {
        memcpy(message->msg_name, header->address,
               message->msg_namelen < header->length ? message->msg_namelen : header->length);
        message->msg_namelen = header->length;
    }
    size_t room = message->msg_control != NULL ? message->msg_controllen : 0, taken = 0;
    while (taken + sizeof(struct cmsghdr) <= header->control) {
        struct cmsghdr one;
        memcpy(&one, control + taken, sizeof one);
        const size_t space = CMSG_ALIGN(one.cmsg_len);
        if (one.cmsg_len < sizeof one || taken + one.cmsg_len > room || space > header->control) {
            message->msg_flags |= MSG_CTRUNC;
            break;
        }
        memcpy((uint8_t *)message->msg_control + taken, control + taken, one.cmsg_len);
        taken += space;
    }
    message->msg_controllen = taken < room ? taken : room;
}

// The header and its ancillary data come first: a look at the header tells how much of that there is.
ssize_t run_datagram_receive(int fd, struct msghdr *message, int flags)
{
    struct run_datagram header;
    uint8_t control[RUN_CONTROL], id[8];
    struct iovec iov[PIECES] = {{&header, sizeof header}};
    struct msghdr whole = {.msg_iov = iov, .msg_iovlen = 1};
    if (!run_ours(fd, id)) {
        run_kind_set(fd, KIND_NONE);
        return run_libc()->recvmsg(fd, message, flags);
    }
    if (flags & MSG_ERRQUEUE)
        return run_result(-EAGAIN);
    if (flags & MSG_OOB)
        return run_result(-EOPNOTSUPP);
    const int own = flags & (MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    for (;;) {
        whole.msg_iovlen = 1;
        ssize_t got = run_libc()->recvmsg(fd, &whole, own | MSG_PEEK);
        if (got <= 0)
            return got;
        if (header.magic != RUN_MAGIC || header.control > sizeof control)
            return run_result(-EIO);
        const size_t first = header.control ? 2 : 1;
        iov[1] = (struct iovec){control, header.control};
        if (!pieces(message, iov, first))
            return run_result(-EMSGSIZE);
        whole.msg_iovlen = first + message->msg_iovlen;
        const uint32_t seen = header.control;
        got = run_libc()->recvmsg(fd, &whole, own | MSG_TRUNC | MSG_DONTWAIT | (flags & MSG_PEEK));
        if (got < 0 && errno == EAGAIN && !(flags & MSG_DONTWAIT))
            continue;  // another thread took it
        if (got < 0 || header.error != 0)
            return got < 0 ? got : run_result(-header.error);
        if (header.control != seen)
            continue;  // another thread took the one we looked at: this one's pieces lie wrongly
        message->msg_flags = header.flags | (whole.msg_flags & MSG_TRUNC);
        names_out(message, &header, control);
        const size_t room = run_message_bytes(message), bytes = (size_t)got - sizeof header - header.control;
        return (ssize_t)(bytes > room && !(flags & MSG_TRUNC) ? room : bytes);
    }
}

int run_datagram_pending(int fd, bool error)
{
    struct run_datagram header;
    struct iovec iov = {&header, sizeof header};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1};
    const long got = syscall(SYS_recvmsg, fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_TRUNC);
    if (got < (long)sizeof header)
        return 0;
    if (error && header.error != 0) {
        (void)syscall(SYS_recvmsg, fd, &message, MSG_DONTWAIT);
        return header.error;
    }
    return error || header.error ? 0 : (int)((size_t)got - sizeof header - header.control);
}

// --- sending -----------------------------------------------------------------------------------------
// The last destination that the server has taken, by descriptor: to it the next ones need no answer.
static uint32_t taken[1024];

static uint32_t hash(const uint8_t id[8], const struct msghdr *message)
{
    uint32_t sum = 2166136261u;
    const uint8_t *const name = message->msg_name;
    for (size_t i = 0; i < 8; i++)
        sum = (sum ^ id[i]) * 16777619u;
    for (size_t i = 0; name != NULL && i < message->msg_namelen && i < RUN_ADDRESS; i++)
        sum = (sum ^ name[i]) * 16777619u;
    return sum ? sum : 1;
}

static ssize_t by_call(const uint8_t id[8], struct iovec *iov, size_t count)
{
    uint8_t data[RUN_CONTROL + PAYLOAD_MAX + sizeof(struct run_datagram)];
    size_t bytes = 0;
    for (size_t i = 0; i < count; bytes += iov[i++].iov_len)
        memcpy(data + bytes, iov[i].iov_base, iov[i].iov_len);
    const struct run_question question = {.id = id, .call = RUN_SEND, .data = data, .length = bytes, .fd = -1};
    return run_ask(&question);
}

ssize_t run_datagram_send(int fd, const struct msghdr *message, int flags)
{
    struct run_datagram header = {.magic = RUN_MAGIC, .flags = flags};
    uint8_t id[8];
    struct iovec iov[PIECES] = {{&header, sizeof header}};
    if (!run_ours(fd, id)) {
        run_kind_set(fd, KIND_NONE);
        return run_libc()->sendmsg(fd, message, flags);
    }
    if (flags & MSG_OOB)
        return run_result(-EOPNOTSUPP);
    const size_t first = message->msg_controllen ? 2 : 1;
    if (!pieces(message, iov, first) || message->msg_controllen > RUN_CONTROL)
        return run_result(-EMSGSIZE);
    const size_t bytes = run_message_bytes(message);
    if (bytes > PAYLOAD_MAX)
        return run_result(-EMSGSIZE);
    if (message->msg_name != NULL) {
        header.length = message->msg_namelen < RUN_ADDRESS ? message->msg_namelen : RUN_ADDRESS;
        memcpy(header.address, message->msg_name, header.length);
    }
    header.control = (uint32_t)message->msg_controllen;
    iov[1] = first == 2 ? (struct iovec){message->msg_control, message->msg_controllen} : iov[1];
    const size_t count = first + message->msg_iovlen;
    uint32_t *const slot = &taken[(uint32_t)fd % 1024u];
    const uint32_t sum = hash(id, message);
    if (first == 2 || *slot != sum) {
        const ssize_t sent = by_call(id, iov, count);
        if (sent != -EAGAIN) {
            *slot = sent >= 0 ? sum : 0;
            return run_result((int)sent);
        }
    }
    const struct msghdr whole = {.msg_iov = iov, .msg_iovlen = count};
    const ssize_t sent = run_libc()->sendmsg(fd, &whole, (flags & MSG_DONTWAIT) | MSG_NOSIGNAL);
    if (sent < 0 && errno == EPIPE)
        return run_result(-ENETDOWN);
    return sent < 0 ? sent : (ssize_t)bytes;
}
