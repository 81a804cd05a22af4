// SPDX-License-Identifier: BSD-2-Clause
// The socket calls of LyraOS (Chuang, Sew, Chiang and Chang, "Integration of Linux communication stacks into embedded
// operating systems"): the 13 of its table 1, and select over sets that are arrays of socket descriptors, since there
// is no file descriptor table. Results and errors are Linux's (−1 and errno). LyraOS has one address space: these are
// plain calls into the stack's component.
//
// The types and constants are those of posix_names.h, so include this after the C library's headers. Programs of a
// system whose C library has no such functions are compiled, like the component (docs/lyraos.md), with -DLYRAOS_PLAIN:
// then the functions have these very names; otherwise they are called lyraos_socket and so on, and the plain names are
// macros for them.
#ifndef LYRAOS_H
#define LYRAOS_H

#include "api/bsd/posix_names.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#undef socket
#undef bind
#undef listen
#undef connect
#undef accept
#undef send
#undef sendto
#undef sendmsg
#undef recv
#undef recvfrom
#undef recvmsg
#undef getsockopt
#undef setsockopt
#undef select
#ifndef LYRAOS_PLAIN
#define socket lyraos_socket
#define bind lyraos_bind
#define listen lyraos_listen
#define connect lyraos_connect
#define accept lyraos_accept
#define send lyraos_send
#define sendto lyraos_sendto
#define sendmsg lyraos_sendmsg
#define recv lyraos_recv
#define recvfrom lyraos_recvfrom
#define recvmsg lyraos_recvmsg
#define getsockopt lyraos_getsockopt
#define setsockopt lyraos_setsockopt
#define select lyraos_select
#endif

void lyraos_use(struct weir_bsd *bsd);  // the stack that they are calls of; once, before any

int socket(int domain, int type, int protocol);
int bind(int sockfd, const struct sockaddr *my_addr, int addrlen);
int listen(int s, int backlog);
int connect(int sockfd, const struct sockaddr *serv_addr, int addrlen);
int accept(int s, struct sockaddr *addr, int *addrlen);
int send(int s, const void *msg, int len, unsigned flags);
int sendto(int s, const void *msg, int len, unsigned flags, const struct sockaddr *to, int tolen);
int sendmsg(int s, const struct msghdr *msg, unsigned flags);
int recv(int s, void *buf, int len, unsigned flags);
int recvfrom(int s, void *buf, int len, unsigned flags, struct sockaddr *from, int *fromlen);
int recvmsg(int s, struct msghdr *msg, unsigned flags);
int getsockopt(int s, int level, int optname, void *optval, int *optlen);
int setsockopt(int s, int level, int optname, const void *optval, int optlen);
// Table 1 has none, since Linux closes by way of its files.
int closesocket(int s);

// --- select ----------------------------------------------------------------------------------------------------------
#undef FD_SETSIZE
#define FD_SETSIZE 63  // sockets in a set; more are not taken in
#undef fd_set
#define fd_set struct lyraos_fd_set
// The paper's figure 7 has an array of void *, its sockets being addresses. With -DLYRAOS_FD_POINTERS, for the program
// and the component alike, it is one here: the descriptors' numbers as pointers.
#ifdef LYRAOS_FD_POINTERS
typedef void *lyraos_fd;
#define LYRAOS_NUMBER(fd) ((int)(intptr_t)(fd))
#else
typedef int lyraos_fd;
#define LYRAOS_NUMBER(fd) (fd)
#endif
struct lyraos_fd_set {
    int nr;
    lyraos_fd fd[FD_SETSIZE];
};
#undef FD_ZERO
#undef FD_SET
#undef FD_CLR
#undef FD_ISSET
#define FD_ZERO(set) ((void)((set)->nr = 0))
#define FD_SET(s, set) lyraos_fd_add(LYRAOS_NUMBER(s), set)
#define FD_CLR(s, set) lyraos_fd_remove(LYRAOS_NUMBER(s), set)
#define FD_ISSET(s, set) (lyraos_fd_find(LYRAOS_NUMBER(s), set) >= 0)
int lyraos_fd_find(int s, const fd_set *set);  // its index, −1
void lyraos_fd_add(int s, fd_set *set);
void lyraos_fd_remove(int s, fd_set *set);
// Leaves in the sets (each may be NULL) those sockets that are ready; returns how many. `n` is Linux's, and not looked
// at: sets know how many they have. EBADF: a set has what is no socket; EINVAL: a negative time.
int select(int n, fd_set *in, fd_set *out, fd_set *exceptional, struct timeval *timeout);

WEIR_END_DECLS

#endif
