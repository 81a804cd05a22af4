// SPDX-License-Identifier: BSD-2-Clause
// The numbers of the system calls by which processes of kernel/preempt reach flock.h's functions; their arguments are
// the functions', those that wait have the timeout behind them.
#ifndef FLOCK_TRAP_H
#define FLOCK_TRAP_H

#include "kernel/preempt/calls.h"

enum {
    CALL_UDPSOCKET = CALL_FIRST,
    CALL_UDPBIND,
    CALL_UDPSENDTO,
    CALL_UDPRECVFROM,
    CALL_UDPCLOSE,
    CALL_TCPSOCKET,
    CALL_TCPBIND,
    CALL_TCPCONNECT,
    CALL_TCPLISTEN,
    CALL_TCPSEND,
    CALL_TCPRECV,
    CALL_TCPCLOSE,
    CALL_SOCKETS_END
};

#endif
