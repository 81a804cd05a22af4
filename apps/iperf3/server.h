// SPDX-License-Identifier: BSD-2-Clause
// iperf3 server: one test at a time, as iperf3's own. Every connection is a guest at first: one with the running test's
// cookie becomes a stream of it, one that has said what it wants becomes the control connection of the next test,
// others are told that the server is busy. Guests make room for each other (clients.h). While somebody waits, a test
// that takes no next step, or moves hardly anything, gives way.
#ifndef APPS_IPERF3_SERVER_H
#define APPS_IPERF3_SERVER_H

#include "../clients.h"
#include "test.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define IPERF3_GUESTS 32u
#define IPERF3_GUEST_US 10000000u    // a connection that does not say what it wants
#define IPERF3_PARAMETERS_MAX 1024u  // bytes in which it says so
// that have said so and wait for the test to end; more are told that the server is busy
#define IPERF3_QUEUE 2u
#define IPERF3_PATIENCE_US 1000000u  // for the next step of a test while somebody waits
#define IPERF3_STEP_US 10000000u     // a client that does not take the next step
#define IPERF3_GRACE_US 30000000u    // beyond a test's own duration

enum iperf3_phase { IPERF3_IDLE, IPERF3_STREAMS_OPENING, IPERF3_RUNNING, IPERF3_RESULTS, IPERF3_FINISHING };

struct iperf3_guest {
    struct weir_watch watch;
    struct client client;
    struct iperf3_server *server;
    weir_socket socket;  // 0: free
    uint32_t length;
    bool asked, waiting;  // it was asked for its parameters; it said them, and another's test goes on
    uint64_t due_us;
    char in[IPERF3_COOKIE + 4 + IPERF3_PARAMETERS_MAX];  // cookie; length of the parameters; these
};

struct iperf3_server {
    struct app app;
    struct weir_watch listener, datagrams;
    struct iperf3_test test;
    struct iperf3_guest guests[IPERF3_GUESTS];
    struct clients clients;
    enum iperf3_phase phase;
    weir_socket listening, udp;
    uint16_t port;
    uint64_t due_us, since_us;     // the phase must end by then; it began
    uint64_t mark_us, mark_bytes;  // of the running test, two seconds ago or less
    bool slow;                     // it moved less than CLIENTS_RATE_MIN in the two seconds before
    struct weir_endpoint client;
    // Called at the end of each test with a line for a log; may be NULL.
    void (*log)(void *context, const char *line);
    void *context;
    struct {
        uint32_t tests, failed, refused, made_room;
    } count;
};

int iperf3_server_start(struct iperf3_server *server, struct loop *loop, uint16_t port,
                        void (*log)(void *, const char *), void *context);
void iperf3_server_stop(struct iperf3_server *server);

WEIR_END_DECLS

#endif
