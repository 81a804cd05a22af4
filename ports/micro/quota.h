// SPDX-License-Identifier: BSD-2-Clause
// What a client may take of the server: sockets, memory, calls. Of sockets it counts those it has (a listener for as
// many as may wait there to be accepted) and its orphans: streams that it closed, or that it left behind, whose last
// data is not yet acknowledged. They belong to the session that had them. Where a client wants one more socket than it
// may have, its oldest orphan is reset.
#ifndef MICRO_QUOTA_H
#define MICRO_QUOTA_H

#include <stdbool.h>

#include "weir/language.h"
#include "weir/options.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

#define MICRO_CALLS_AT_ONCE 64u  // may come in one go after a pause

struct micro_server;
struct micro_session;

struct micro_quota {
    uint32_t sockets;       // at once, of all kinds
    uint32_t memory_bytes;  // of all of their queues; 0: where each has its own (builds without an allocator)
    uint32_t calls;         // a second; 0: any number
};

struct micro_orphan {
    struct weir_watch watch;  // first: the socket's user pointer points here
    struct micro_server *server;
    weir_socket socket;  // 0: none
    uint32_t session;
    uint64_t due_us;  // reset then
};

// What a session of so many channels gets where nobody says otherwise.
struct micro_quota micro_quota_default(uint32_t channels);
// Whether the session may have one more socket, or as many more connections waiting: of `want` it may have so many.
uint32_t micro_quota_room(struct micro_session *session, uint32_t want);
// Sets the limits of a socket's queues, before it is used.
void micro_quota_queues(const struct micro_session *session, weir_socket socket);
// Counts a call. 0: now; otherwise when, µs.
uint64_t micro_quota_call(struct micro_session *session);
// Ends the handle of a stream that was connected: it becomes an orphan as long as the peer has to acknowledge
// something.
void micro_orphan_leave(struct micro_session *session, weir_socket socket);
void micro_orphans_turn(struct micro_server *server);           // resets those whose time is over
uint64_t micro_orphans_due(const struct micro_server *server);  // the next of them; WEIR_NEVER: none

WEIR_END_DECLS

#endif
