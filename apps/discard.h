// SPDX-License-Identifier: BSD-2-Clause
// Discard (RFC 863), over TCP and UDP: reads and forgets, without a copy.
#ifndef APPS_DISCARD_H
#define APPS_DISCARD_H

#include "loop.h"

struct discard {
    struct weir_watch listener, stream, datagram;
    struct loop *loop;
    weir_socket listening, bound;  // 0: none
    uint64_t bytes;                // taken so far
};

int discard_start(struct discard *discard, struct loop *loop, uint16_t port);
void discard_stop(struct discard *discard);

#endif
