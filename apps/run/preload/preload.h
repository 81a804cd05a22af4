// SPDX-License-Identifier: BSD-2-Clause
// The library that weir-run puts into programs. It keeps nothing that matters: a descriptor of Weir's is known by the
// name of its other end, which the kernel keeps through dup, fork, exec and SCM_RIGHTS. `kinds` only saves asking: a
// wrong entry costs a question, never a wrong answer.
#ifndef PRELOAD_PRELOAD_H
#define PRELOAD_PRELOAD_H

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include "run/protocol.h"

struct addrinfo;
struct mmsghdr;
struct timespec;

#define EXPORT __attribute__((visibility("default")))

enum run_kind {
    KIND_NONE,    // the kernel's, as far as is known
    KIND_FRESH,   // a stream of Weir's that this process made and that has no connection
    KIND_ASK,     // one whose state must be asked for before data moves
    KIND_LISTEN,  // one that listens
    KIND_STREAM,  // one with a connection
    KIND_DATAGRAM,
};

#define KINDS 65536
extern uint8_t run_kinds[KINDS];
static inline enum run_kind run_kind_of(int fd)
{
    return fd >= 0 && fd < KINDS ? (enum run_kind)run_kinds[fd] : KIND_NONE;
}
static inline void run_kind_set(int fd, enum run_kind kind)
{
    if (fd >= 0 && fd < KINDS && run_kinds[fd] != kind)
        run_kinds[fd] = (uint8_t)kind;
}

// The C library's own functions: those are cancellation points.
struct run_libc {
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*write)(int, const void *, size_t);
    ssize_t (*readv)(int, const struct iovec *, int);
    ssize_t (*writev)(int, const struct iovec *, int);
    ssize_t (*recv)(int, void *, size_t, int);
    ssize_t (*recvfrom)(int, void *, size_t, int, struct sockaddr *, socklen_t *);
    ssize_t (*recvmsg)(int, struct msghdr *, int);
    int (*recvmmsg)(int, struct mmsghdr *, unsigned, int, struct timespec *);
    ssize_t (*send)(int, const void *, size_t, int);
    ssize_t (*sendto)(int, const void *, size_t, int, const struct sockaddr *, socklen_t);
    ssize_t (*sendmsg)(int, const struct msghdr *, int);
    int (*sendmmsg)(int, struct mmsghdr *, unsigned, int);
    int (*accept4)(int, struct sockaddr *, socklen_t *, int);
    int (*connect)(int, const struct sockaddr *, socklen_t);
    int (*close)(int);
    int (*ioctl)(int, unsigned long, ...);
    int (*fcntl)(int, int, ...);
    int (*getaddrinfo)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    int (*getnameinfo)(const struct sockaddr *, socklen_t, char *, socklen_t, char *, socklen_t, int);
    int (*execve)(const char *, char *const[], char *const[]);
    int (*execvpe)(const char *, char *const[], char *const[]);
    int (*posix_spawn)(pid_t *, const char *, const void *, const void *, char *const[], char *const[]);
    int (*posix_spawnp)(pid_t *, const char *, const void *, const void *, char *const[], char *const[]);
};
const struct run_libc *run_libc(void);

// --- calls to the server (call.c) --------------------------------------------------------------------
extern uint8_t run_token[RUN_TOKEN];
bool run_active(void);  // there is a server
// The process has a filter for system calls: from now on it makes those that its own calls stand for, and no other.
extern bool run_confined;
// Whether a descriptor is Weir's; then `id` names its socket.
bool run_ours(int fd, uint8_t id[8]);

struct run_question {
    const uint8_t *id;  // NULL: none
    uint32_t call;
    int32_t a, b, c;
    const void *data;
    size_t length;
    int fd;      // sent along; -1: none
    bool waits;  // the answer may take long: a signal ends it, and so does `timeout` (NULL, zero: none)
    const struct timeval *timeout;
    void *answer;  // gets at most `room` bytes, *got of them (the answer's whole length)
    size_t room, *got;
};
// The answer's result, or a negative errno; -ENETDOWN: the server is gone. errno is left alone.
int run_ask(const struct run_question *question);
// The result as C has it: -1 and errno.
int run_result(int result);
// What the socket's pending error is, and clears it; ECONNRESET when there is no server any more.
int run_error(const uint8_t id[8]);
void run_undone(const char *name);

// --- data (data.c, datagram.c) -----------------------------------------------------------------------
static inline size_t run_message_bytes(const struct msghdr *message)
{
    size_t bytes = 0;
    for (size_t i = 0; i < message->msg_iovlen; i++)
        bytes += message->msg_iov[i].iov_len;
    return bytes;
}
ssize_t run_datagram_receive(int fd, struct msghdr *message, int flags);
ssize_t run_datagram_send(int fd, const struct msghdr *message, int flags);
int run_datagram_pending(int fd, bool error);  // bytes of the next one, or the errno that waits; 0: none
void run_descriptors_came(const struct msghdr *message);
void run_descriptors_scan(void);
void run_descriptor_look(int fd);
void run_address_copy(const void *from, size_t length, struct sockaddr *to, socklen_t *room);

#endif
