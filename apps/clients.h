// SPDX-License-Identifier: BSD-2-Clause
// Who makes room when all places of a server are taken and somebody else wants one. Clients that are slow, or say nothing, hold a place
// only while nobody waits for it: the first to go rest between two requests, then those that move less than CLIENTS_RATE_MIN, slowest
// first, then those that have not asked for anything yet, oldest first. Of equals those of the address that holds most places go first.
// Whoever moves data stays. Lock held.
#ifndef APPS_CLIENTS_H
#define APPS_CLIENTS_H

#include "loop.h"

#define CLIENTS_REST_US 1000000u    // so long a client that was answered may take for its next request
#define CLIENTS_PERIOD_US 2000000u  // over which a rate is measured: before the first is over nobody is slow
#define CLIENTS_RATE_MIN 1024u      // bytes/s, either way: a modem of 1990 moves more
#define CLIENTS_ASK_US 20000u       // from accept to a request, which mostly comes right behind the handshake
#define CLIENTS_STALL_US 60000u     // with 32 places a thousand who wait have all had a turn within two seconds
#define CLIENTS_WAIT_US 5000000u    // in the accept queue with no place to be had: then it is refused, so that its client knows

enum client_state { CLIENT_NONE, CLIENT_ASKING, CLIENT_SERVED, CLIENT_RESTING };

struct client {
    struct weir_addr source;
    enum client_state state;
    uint64_t since_us;        // in this state
    uint64_t mark_us, moved;  // the period's beginning, and bytes since then
    uint64_t rate;            // bytes/s in the last one
    uint64_t last_us, total;  // when something moved last; bytes in this state
};

struct clients {
    struct client *client;  // so many places
    uint32_t count;
    uint64_t full_since_us;  // `full`: somebody waits since then, and there is no place
    bool full;
};

void clients_init(struct clients *clients, struct client *places, uint32_t count);
void client_enter(struct client *client, enum client_state state, uint64_t now_us);
// So many bytes were read, or queued to be sent: a queue is full soon, and then takes what the peer takes.
void client_moved(struct client *client, uint64_t bytes, uint64_t now_us);
// The place for a newcomer: a free one, or that of the client which makes room (the server ends it). -1: all are well used.
// O(count^2) in the worst case.
int clients_place(struct clients *clients, uint64_t now_us);
// There was no place for who waits at the listener. Returns when to look again, µs: somebody may have become slow. Who waited for
// CLIENTS_WAIT_US is refused.
uint64_t clients_wait(struct clients *clients, struct weir *weir, weir_socket listener, uint64_t now_us);

#endif
