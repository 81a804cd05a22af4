// SPDX-License-Identifier: BSD-2-Clause
// Discard (RFC 863), over TCP and UDP: reads and forgets, without a copy.
#ifndef APPS_DISCARD_H
#define APPS_DISCARD_H

#include "crowd.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef DISCARD_CONNECTIONS
#define DISCARD_CONNECTIONS 32u  // when full, who sends little makes room (clients.h), or newcomers wait in the backlog
#endif

struct discard {
    struct crowd crowd;
    struct weir_watch datagram;
    weir_socket bound;  // 0: none
    uint64_t bytes;     // taken so far
    struct crowd_place places[DISCARD_CONNECTIONS];
};

int discard_start(struct discard *discard, struct loop *loop, uint16_t port);
void discard_stop(struct discard *discard);

WEIR_END_DECLS

#endif
