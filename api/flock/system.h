// SPDX-License-Identifier: BSD-2-Clause
// The system's side of flock.h: the same calls with the calling process as their first argument. A process is a context
// of api/bsd with sockets of its own (docs/flock.md), so its sockets end with bsd_destroy. Where calls are plain
// functions calls.c makes them of these; where they are system calls the handler calls these, and port->copy_in and
// copy_out guard the processes' memory.
//
// As with api/bsd: never with the instance's lock held, nor from an interrupt.
#ifndef FLOCK_SYSTEM_H
#define FLOCK_SYSTEM_H

#include "api/bsd/weir_bsd.h"
#include "api/flock/flock.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct flock_waiter;
struct flock_listeners {  // one for an instance; zero: nobody listens
    struct flock_waiter *first;
};
struct flock {  // one for a process
    struct weir_bsd *bsd;
    struct flock_listeners *listeners;
};

#define FLOCK_FOREVER UINT32_MAX  // a timeout, milliseconds

// Who is calling, for calls.c; set once, before any call.
void flock_use(const struct flock *(*self)(void));

int flock_udpsocket(const struct flock *flock);
int flock_udpbind(const struct flock *flock, int socket, const struct sockaddr *src);
int flock_udpsendto(const struct flock *flock, int socket, const struct sockaddr *dst, const char *buf, unsigned len);
int flock_udprecvfrom(const struct flock *flock, int socket, struct sockaddr *src, char *buf, unsigned len,
                      uint32_t timeout_ms);
int flock_udpclose(const struct flock *flock, int socket);

int flock_tcpsocket(const struct flock *flock);
int flock_tcpbind(const struct flock *flock, int socket, const struct sockaddr *src);
int flock_tcpconnect(const struct flock *flock, int socket, const struct sockaddr *dst, uint32_t timeout_ms);
int flock_tcplisten(const struct flock *flock, int socket, uint32_t timeout_ms);
int flock_tcpsend(const struct flock *flock, int socket, const char *buf, unsigned len);
int flock_tcprecv(const struct flock *flock, int socket, char *buf, unsigned len, uint32_t timeout_ms);
int flock_tcpclose(const struct flock *flock, int socket);

WEIR_END_DECLS

#endif
