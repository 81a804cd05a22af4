// SPDX-License-Identifier: BSD-2-Clause
// A TCP server that treats all its clients alike: its listener, its places and who makes room when they are taken
// (clients.h), and an end for who has been idle for CROWD_IDLE_US. Lock held.
#ifndef APPS_CROWD_H
#define APPS_CROWD_H

#include "clients.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define CROWD_IDLE_US 600000000u  // nothing moved for so long: the connection is reset

struct crowd;
struct crowd_place {
    struct weir_watch watch;
    struct client client;
    struct crowd *crowd;
    weir_socket socket;                 // 0: free
    uint32_t at;                        // the server's own; 0 at first
    struct crowd_place *newer, *older;  // in the order in which something moved last
};

struct crowd {
    struct app app;
    struct weir_watch listener;
    struct loop *loop;
    weir_socket listening;  // 0: none
    struct clients clients;
    struct crowd_place *newest, *oldest;
    // Moves what can be moved (crowd_moved), in bounded time. false: the connection is to be closed.
    bool (*serve)(struct crowd_place *place);
    uint32_t made_room, idle;  // how many had to go, and why
};

// Serves on `port` with so many places, zeroed. A negative enum weir_error when it cannot listen.
int crowd_start(struct crowd *crowd, struct loop *loop, uint16_t port, struct crowd_place *places, uint32_t count,
                bool (*serve)(struct crowd_place *place));
void crowd_stop(struct crowd *crowd);
void crowd_moved(struct crowd_place *place, uint64_t bytes);

WEIR_END_DECLS

#endif
