// SPDX-License-Identifier: BSD-2-Clause
// The BSD calls on one default context: what the plain names of posix_names.h stand for.
#ifndef WEIR_POSIX_CALLS_H
#define WEIR_POSIX_CALLS_H

#include "weir_bsd.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// The context that the plain names work on.
void weir_posix_use(struct weir_bsd *bsd);

// Where processes have these calls, whose C library's errno no call reaches: that of the last call that failed.
int process_errno(void);

int weir_posix_socket(int domain, int type, int protocol);
int weir_posix_bind(int fd, const struct weir_sockaddr *address, weir_socklen length);
int weir_posix_listen(int fd, int backlog);
int weir_posix_accept(int fd, struct weir_sockaddr *address, weir_socklen *length);
int weir_posix_accept4(int fd, struct weir_sockaddr *address, weir_socklen *length, int flags);
int weir_posix_connect(int fd, const struct weir_sockaddr *address, weir_socklen length);
int weir_posix_shutdown(int fd, int how);
int weir_posix_close(int fd);
int weir_posix_getsockname(int fd, struct weir_sockaddr *address, weir_socklen *length);
int weir_posix_getpeername(int fd, struct weir_sockaddr *address, weir_socklen *length);
weir_ssize weir_posix_send(int fd, const void *data, size_t bytes, int flags);
weir_ssize weir_posix_sendto(int fd, const void *data, size_t bytes, int flags, const struct weir_sockaddr *address,
                             weir_socklen length);
weir_ssize weir_posix_sendmsg(int fd, const struct weir_msghdr *message, int flags);
weir_ssize weir_posix_write(int fd, const void *data, size_t bytes);
weir_ssize weir_posix_writev(int fd, const struct weir_iovec *vector, int count);
weir_ssize weir_posix_recv(int fd, void *data, size_t bytes, int flags);
weir_ssize weir_posix_recvfrom(int fd, void *data, size_t bytes, int flags, struct weir_sockaddr *address,
                               weir_socklen *length);
weir_ssize weir_posix_recvmsg(int fd, struct weir_msghdr *message, int flags);
weir_ssize weir_posix_read(int fd, void *data, size_t bytes);
weir_ssize weir_posix_readv(int fd, const struct weir_iovec *vector, int count);
int weir_posix_getsockopt(int fd, int level, int name, void *value, weir_socklen *length);
int weir_posix_setsockopt(int fd, int level, int name, const void *value, weir_socklen length);
int weir_posix_fcntl(int fd, int command, ...);
int weir_posix_ioctl(int fd, unsigned long request, ...);
int weir_posix_sockatmark(int fd);
int weir_posix_poll(struct weir_pollfd *fds, unsigned long count, int timeout_ms);
int weir_posix_select(int count, struct weir_fd_set *read, struct weir_fd_set *write, struct weir_fd_set *except,
                      struct weir_timeval *timeout);
int weir_posix_epoll_create1(int flags);
int weir_posix_epoll_ctl(int set, int operation, int fd, struct weir_epoll_event *event);
int weir_posix_epoll_wait(int set, struct weir_epoll_event *events, int most, int timeout_ms);
int weir_posix_getaddrinfo(const char *node, const char *service, const struct weir_addrinfo *hints,
                           struct weir_addrinfo **out);
void weir_posix_freeaddrinfo(struct weir_addrinfo *list);
unsigned weir_posix_if_nametoindex(const char *name);
char *weir_posix_if_indextoname(unsigned index, char *name);

WEIR_END_DECLS

#endif
