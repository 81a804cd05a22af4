// SPDX-License-Identifier: BSD-2-Clause
// iperf3 server: one test at a time, as iperf3's own. Every connection is a guest until its cookie is read: the first becomes the control
// connection, those with its cookie become streams, others are told that the server is busy.
#ifndef APPS_IPERF3_SERVER_H
#define APPS_IPERF3_SERVER_H

#include "iperf3/test.h"

#define IPERF3_GUESTS 8u
#define IPERF3_GUEST_US 10000000u  // a connection that sends no cookie
#define IPERF3_STEP_US 10000000u   // a client that does not take the next step
#define IPERF3_GRACE_US 30000000u  // beyond a test's own duration

enum iperf3_phase { IPERF3_IDLE, IPERF3_PARAMETERS, IPERF3_STREAMS_OPENING, IPERF3_RUNNING, IPERF3_RESULTS, IPERF3_FINISHING };

struct iperf3_guest {
    struct weir_watch watch;
    struct iperf3_server *server;
    weir_socket socket;  // 0: free
    uint32_t length;
    uint64_t due_us;
    char cookie[IPERF3_COOKIE];
};

struct iperf3_server {
    struct app app;
    struct weir_watch listener, datagrams;
    struct iperf3_test test;
    struct iperf3_guest guests[IPERF3_GUESTS];
    enum iperf3_phase phase;
    weir_socket listening, udp;
    uint16_t port;
    uint64_t due_us;  // the phase must end by then
    struct weir_endpoint client;
    // Called at the end of each test with a line for a log; may be NULL.
    void (*log)(void *context, const char *line);
    void *context;
    struct {
        uint32_t tests, failed, refused;
    } count;
};

int iperf3_server_start(struct iperf3_server *server, struct loop *loop, uint16_t port, void (*log)(void *, const char *), void *context);
void iperf3_server_stop(struct iperf3_server *server);

#endif
