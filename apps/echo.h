// SPDX-License-Identifier: BSD-2-Clause
// Echo (RFC 862), over TCP and UDP: what comes in goes out again, in place, from queue to queue.
#ifndef APPS_ECHO_H
#define APPS_ECHO_H

#include "crowd.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef ECHO_CONNECTIONS
// when full, who sends or takes little makes room (clients.h), or newcomers wait in the backlog
#define ECHO_CONNECTIONS 64u
#endif

struct echo {
    struct crowd crowd;
    struct weir_watch datagram;
    weir_socket bound;  // 0: none
    struct crowd_place places[ECHO_CONNECTIONS];
};

// Listens on `port`, both protocols. A negative enum weir_error when TCP could not; a profile without UDP serves TCP
// alone.
int echo_start(struct echo *echo, struct loop *loop, uint16_t port);
// The same with so many places of the caller's, zeroed.
int echo_start_with(struct echo *echo, struct loop *loop, uint16_t port, struct crowd_place *places, uint32_t count);
void echo_stop(struct echo *echo);

WEIR_END_DECLS

#endif
