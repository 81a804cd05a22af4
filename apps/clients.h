// SPDX-License-Identifier: BSD-2-Clause
// Who makes room when all places of a server are taken and somebody else wants one. Clients that are slow, or say
// nothing, hold a place only while nobody waits for it: the first to go rest between two requests, then those that move
// less than CLIENTS_RATE_MIN, slowest first, then those that have not asked for anything yet, oldest first. Of equals
// those of the address that holds most places go first. Whoever moves data stays, but that an address with more than
// its share of the places gives one to an address that has fewer. Lock held.
//
// A place is a struct of the server's with a struct client in it; the server's array of them is zeroed at first.
#ifndef APPS_CLIENTS_H
#define APPS_CLIENTS_H

#include "loop.h"
#include "weir/linkage/loop.h"

WEIR_BEGIN_DECLS

#define CLIENTS_REST_US 1000000u    // so long a client that was answered may take for its next request
#define CLIENTS_PERIOD_US 2000000u  // over which a rate is measured: before the first is over nobody is slow
#define CLIENTS_RATE_MIN 1024u      // bytes/s, either way: a modem of 1990 moves more
#define CLIENTS_ASK_US 20000u       // from accept to a request, which mostly comes right behind the handshake
#define CLIENTS_OPEN_US 1000000u    // the same over TLS, whose handshake takes round trips and both ends' time
#define CLIENTS_STALL_US 60000u     // with 32 places a thousand who wait have all had a turn within two seconds
// in the accept queue with no place to be had: then it is refused, so that its client knows
#define CLIENTS_WAIT_US 5000000u
#define CLIENTS_SHARE 4u  // an address may hold one in so many places where others want them
#define CLIENTS_LOOK 64u  // places looked at for a newcomer, each time others: what one costs is bounded

enum client_state { CLIENT_NONE, CLIENT_OPENING, CLIENT_ASKING, CLIENT_SERVED, CLIENT_RESTING };

struct client {
    struct weir_addr source;
    enum client_state state;
    uint64_t since_us;        // in this state
    uint64_t mark_us, moved;  // the period's beginning, and bytes since then
    uint64_t rate;            // bytes/s in the last one
    uint64_t last_us, total;  // when something moved last; bytes in this state
    struct client *next_free;
};

struct clients {
    void *first;  // the client in the first place
    size_t stride;
    uint32_t count, used;  // places; those that were ever taken
    uint32_t look;         // the first to be looked at
    struct client *free;
    weir_socket waiting;      // accepted, and without a place: 0: nobody
    struct weir_addr source;  // where it comes from
    uint64_t full_since_us;   // `full`: somebody waits since then, and there is no place
    bool full;
    // Whether one more may begin to open, the server having ended one that makes room for it if need be. NULL: always.
    bool (*may_open)(struct clients *clients);
    uint64_t look_us;  // when to look for a place again; WEIR_NEVER: nobody waits for one
};

// `stride`: bytes from a place to the next.
void clients_init(struct clients *clients, struct client *first, uint32_t count, size_t stride);
// Takes a place, which is free, and leaves it.
void clients_enter(struct clients *clients, struct client *client, enum client_state state, uint64_t now_us);
void clients_leave(struct clients *clients, struct client *client);
// Another state of a client that has its place.
void client_enter(struct client *client, enum client_state state, uint64_t now_us);
// So many bytes were read, or queued to be sent: a queue is full soon, and then takes what the peer takes.
void client_moved(struct client *client, uint64_t bytes, uint64_t now_us);
// The place for a newcomer from this address: a free one, or that of the client which makes room (the server ends it).
// NULL: all are well used. O(CLIENTS_LOOK^2) in the worst case.
struct client *clients_place(struct clients *clients, struct weir_addr source, uint64_t now_us);
// Of those that are opening the one that makes room for another, as above. NULL: none of those looked at has had its
// time.
struct client *clients_opening(struct clients *clients, uint64_t now_us);
// The next in the accept queue, and its place, as above; the server ends who has it, enters the newcomer and watches
// its socket. NULL: nobody waits, or there is no place: then look again at look_us, since somebody may have become
// slow. Who waits for CLIENTS_WAIT_US is refused.
struct client *clients_accept(struct clients *clients, struct loop *loop, weir_socket listener, weir_socket *socket);
// The server ends: so does who waits for a place.
void clients_stop(struct clients *clients, struct loop *loop);

WEIR_END_DECLS

#endif
