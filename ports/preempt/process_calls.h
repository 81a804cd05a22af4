// SPDX-License-Identifier: BSD-2-Clause
// BSD sockets for processes: the functions of api/bsd/posix_calls.h that are named here, each a system call behind the
// thesis's (api/flock/trap.h). process_calls.c has the process's side, and is linked in place of posix_calls.c.
#ifndef PROCESS_CALLS_H
#define PROCESS_CALLS_H

#include "api/bsd/posix_calls.h"
#include "api/flock/trap.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

enum {
    CALL_SOCKET = CALL_SOCKETS_END,
    CALL_BIND,
    CALL_LISTEN,
    CALL_ACCEPT,
    CALL_CONNECT,
    CALL_SHUTDOWN,
    CALL_CLOSE,
    CALL_SENDTO,    // send and write, too
    CALL_RECVFROM,  // recv and read
    CALL_GETSOCKOPT,
    CALL_SETSOCKOPT,
    CALL_GETSOCKNAME,
    CALL_GETPEERNAME,
    CALL_FCNTL,
    CALL_POLL,
    CALL_SELECT,
    CALL_ERRNO,
    CALL_BSD_END,
    PROCESS_SOCKET_CALLS = CALL_BSD_END - CALL_FIRST
};

WEIR_END_DECLS

#endif
