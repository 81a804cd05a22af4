// SPDX-License-Identifier: BSD-2-Clause
// Echo (RFC 862), over TCP and UDP: what comes in goes out again, in place, from queue to queue. All state is in the sockets.
#ifndef APPS_ECHO_H
#define APPS_ECHO_H

#include "loop.h"

struct echo {
    struct weir_watch listener, stream, datagram;
    struct loop *loop;
    weir_socket listening, bound;  // 0: none
};

// Listens on `port`, both protocols. A negative enum weir_error when TCP could not; a profile without UDP serves TCP alone.
int echo_start(struct echo *echo, struct loop *loop, uint16_t port);
void echo_stop(struct echo *echo);

#endif
