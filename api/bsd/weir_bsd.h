// SPDX-License-Identifier: BSD-2-Clause
// BSD sockets over the native API: blocking, non-blocking, with timeouts; from any thread. Every function works on a
// context, struct weir_bsd, that binds an instance to a table of descriptors. Names carry prefixes, so that a program
// may use the system's own sockets beside it; posix_names.h gives the plain names on request.
//
// Semantics are POSIX.1-2017's (XSH 2.10), and Linux's where POSIX leaves a choice: −1 and errno on failure (errno goes
// through weir_bsd_config.set_errno). None of these functions may be called with the instance's lock held, nor from an
// interrupt.
//
// Threads: any number may use one descriptor. Readers take turns, writers take turns. Closing it from another thread
// ends all its calls with EBADF. Waiting is the port's: without port->wait nothing blocks and EAGAIN is returned
// instead.
#ifndef WEIR_BSD_H
#define WEIR_BSD_H

#include "weir_bsd_types.h"
#include "weir/instance.h"
#include "weir/language.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

struct weir_bsd;

struct weir_bsd_config {   // zero: the defaults
    int first_descriptor;  // the lowest number given out; 0
    int descriptors;       // at most so many at once; WEIR_CFG_SOCKETS, but no more than 65536
    void *memory;  // where the port has no allocator: bsd_memory_bytes() of it (less: no memory for polls and wait
                   // sets); otherwise NULL
    size_t memory_bytes;
    // Sets errno of the calling task. NULL: the C library's errno (hosted builds), or none.
    void (*set_errno)(void *context, int value);
    // A stream was written to that takes no more, without WEIR_MSG_NOSIGNAL: raise SIGPIPE. NULL: nothing, only EPIPE.
    void (*broken_pipe)(void *context);
    void *context;  // of these two
};

// The resolver behind bsd_getaddrinfo: looks `name` up, blocking, without the lock held. Writes at most `most`
// addresses; returns how many, or a negative WEIR_EAI_*.
typedef int weir_bsd_resolve(void *context, struct weir_bsd *bsd, const char *name, struct weir_addr *out, int most);

// Makes a context on an instance. NULL: no memory. One context an instance is enough; several do not disturb each
// other.
struct weir_bsd *bsd_create(struct weir *weir, const struct weir_bsd_config *config);
// Closes all descriptors. No call may be in progress.
void bsd_destroy(struct weir_bsd *bsd);
size_t bsd_memory_bytes(int descriptors);
struct weir *bsd_instance(struct weir_bsd *bsd);
void bsd_set_resolver(struct weir_bsd *bsd, weir_bsd_resolve *resolve, void *context);
// What a poller calls with the lock held after weir_poll: drains the ready list and wakes who waits. Sockets of other
// users of the instance are told through their struct weir_watch. (It is weir_dispatch; a poller that calls that need
// not call this.)
void bsd_dispatch(struct weir_bsd *bsd);
// The native handle of a descriptor; WEIR_BAD_SOCKET. With it and the lock the native calls (reserve, peek …) work on
// it too.
weir_socket bsd_handle(struct weir_bsd *bsd, int fd);

int bsd_socket(struct weir_bsd *bsd, int domain, int type, int protocol);
int bsd_bind(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length);
int bsd_listen(struct weir_bsd *bsd, int fd, int backlog);
int bsd_accept(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length);
int bsd_accept4(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length, int flags);
int bsd_connect(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length);
int bsd_shutdown(struct weir_bsd *bsd, int fd, int how);
// With SO_LINGER and a blocking descriptor: waits until all data is acknowledged, or the time is over.
int bsd_close(struct weir_bsd *bsd, int fd);
int bsd_getsockname(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length);
int bsd_getpeername(struct weir_bsd *bsd, int fd, struct weir_sockaddr *address, weir_socklen *length);

weir_ssize bsd_send(struct weir_bsd *bsd, int fd, const void *data, size_t bytes, int flags);
weir_ssize bsd_sendto(struct weir_bsd *bsd, int fd, const void *data, size_t bytes, int flags,
                      const struct weir_sockaddr *address, weir_socklen length);
weir_ssize bsd_sendmsg(struct weir_bsd *bsd, int fd, const struct weir_msghdr *message, int flags);
weir_ssize bsd_write(struct weir_bsd *bsd, int fd, const void *data, size_t bytes);
weir_ssize bsd_writev(struct weir_bsd *bsd, int fd, const struct weir_iovec *vector, int count);
weir_ssize bsd_recv(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags);
weir_ssize bsd_recvfrom(struct weir_bsd *bsd, int fd, void *data, size_t bytes, int flags,
                        struct weir_sockaddr *address, weir_socklen *length);
weir_ssize bsd_recvmsg(struct weir_bsd *bsd, int fd, struct weir_msghdr *message, int flags);
weir_ssize bsd_read(struct weir_bsd *bsd, int fd, void *data, size_t bytes);
weir_ssize bsd_readv(struct weir_bsd *bsd, int fd, const struct weir_iovec *vector, int count);

int bsd_getsockopt(struct weir_bsd *bsd, int fd, int level, int name, void *value, weir_socklen *length);
int bsd_setsockopt(struct weir_bsd *bsd, int fd, int level, int name, const void *value, weir_socklen length);
int bsd_fcntl(struct weir_bsd *bsd, int fd, int command, int argument);
int bsd_ioctl(struct weir_bsd *bsd, int fd, unsigned long request, void *argument);
int bsd_sockatmark(struct weir_bsd *bsd, int fd);

int bsd_poll(struct weir_bsd *bsd, struct weir_pollfd *fds, size_t count, int timeout_ms);
int bsd_select(struct weir_bsd *bsd, int count, struct weir_fd_set *read, struct weir_fd_set *write,
               struct weir_fd_set *except, struct weir_timeval *timeout);

// Wait sets, as Linux's epoll: level-triggered, edge-triggered (WEIR_EPOLLET) and one-shot (WEIR_EPOLLONESHOT). A set
// cannot be in a set; it can be polled and selected.
int bsd_epoll_create(struct weir_bsd *bsd);
int bsd_epoll_ctl(struct weir_bsd *bsd, int set, int operation, int fd, const struct weir_epoll_event *event);
int bsd_epoll_wait(struct weir_bsd *bsd, int set, struct weir_epoll_event *events, int most, int timeout_ms);

int bsd_getaddrinfo(struct weir_bsd *bsd, const char *node, const char *service, const struct weir_addrinfo *hints,
                    struct weir_addrinfo **out);
void bsd_freeaddrinfo(struct weir_bsd *bsd, struct weir_addrinfo *list);
const char *bsd_gai_strerror(int error);

// Connects a stream to a name, whichever of its addresses answers first (RFC 8305): they are tried in getaddrinfo's
// order, families in turn, 250 ms after one another, four at once at the most, a minute in all. Blocks. Returns the
// connected descriptor; −1: of a name without addresses *name_error, where not NULL, is its WEIR_EAI_*, otherwise 0 and
// errno that of the last attempt. Where the port cannot wait: WEIR_EAGAIN.
int bsd_connect_name(struct weir_bsd *bsd, const char *node, const char *service, int *name_error);

// An interface's index by its name (0: none has it), and the name by the index, into WEIR_IF_NAMESIZE bytes (NULL: none
// has it).
unsigned bsd_if_nametoindex(struct weir_bsd *bsd, const char *name);
char *bsd_if_indextoname(struct weir_bsd *bsd, unsigned index, char *name);

// 1: done; 0: not an address; −1: unknown family. `out` is a struct weir_in_addr or weir_in6_addr (network byte order).
int weir_inet_pton(int family, const char *text, void *out);
// `text`, or NULL when the family is unknown or `bytes` too few (16 are enough for IPv4, 46 for IPv6).
const char *weir_inet_ntop(int family, const void *address, char *text, weir_socklen bytes);
// The POSIX errno for an enum weir_error.
int weir_bsd_errno(int error);

WEIR_END_DECLS

#endif
