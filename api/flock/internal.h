// SPDX-License-Identifier: BSD-2-Clause
// What udp.c, tcp.c and listen.c share. A call in progress is a pinned file of api/bsd and how long it may wait.
#ifndef FLOCK_INTERNAL_H
#define FLOCK_INTERNAL_H

#include "api/bsd/internal.h"
#include "api/flock/system.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct flock_call {
    struct weir_bsd *bsd;
    struct bsd_file *file;
    uint64_t deadline_us;
    bool wait;
};

int flock_socket(const struct flock *flock, int type);
int flock_close(const struct flock *flock, int socket, enum weir_socket_type type);
// Takes the lock and pins the socket: WEIR_OK, or WEIR_BAD_SOCKET (also for one of the other protocol). flock_end in
// either case releases what was taken, and makes the caller's result of `result`: bytes, 0, −1 or FLOCK_LATE.
int flock_begin(struct flock_call *call, const struct flock *flock, int socket, enum weir_socket_type type,
                uint32_t timeout_ms);
int flock_end(struct flock_call *call, int result);
// One transfer over a call that has begun; `buf` is the caller's.
int flock_transfer(const struct flock_call *call, struct bsd_transfer *transfer,
                   int (*move)(struct bsd_transfer *, int), const char *buf, unsigned len);
// Between the caller's memory and an endpoint, without the lock: WEIR_OK or WEIR_FAULT.
int flock_address_in(const struct flock *flock, const struct sockaddr *address, struct weir_endpoint *out);
int flock_address_out(const struct flock *flock, const struct weir_endpoint *endpoint, struct sockaddr *address);
// The file's native socket becomes `handle`. What it was is the caller's.
void flock_become(struct bsd_file *file, weir_socket handle);
// A new native stream bound to `local` (port 0: not at all); WEIR_NO_MEMORY or a like error.
weir_socket flock_stream(struct weir *weir, const struct weir_endpoint *local);

WEIR_END_DECLS

#endif
