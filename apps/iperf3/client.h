// SPDX-License-Identifier: BSD-2-Clause
// iperf3 client: runs one test against an iperf3 server and reports as iperf3 does, in text or JSON.
#ifndef APPS_IPERF3_CLIENT_H
#define APPS_IPERF3_CLIENT_H

#include "test.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define IPERF3_INTERVAL_US 1000000u
#define IPERF3_ANSWER_US 10000000u  // a server that does not take the next step
#define IPERF3_DRAIN_US 10000000u   // for the last acknowledgements, where bytes end the test
#define IPERF3_HELLO_US 500000u     // between greetings of a UDP stream
#define IPERF3_HELLOS 10u

enum iperf3_client_phase {
    IPERF3_CONNECTING,
    IPERF3_TALKING,
    IPERF3_CLIENT_STREAMS,
    IPERF3_MEASURING,
    IPERF3_DRAINING,
    IPERF3_ENDING,
    IPERF3_ENDED
};

struct iperf3_client {
    struct app app;
    struct iperf3_test test;
    struct weir_endpoint server;
    enum iperf3_client_phase phase;
    bool json, expect_results, begun, intervals;  // begun: the report; intervals: one was written
    uint64_t due_us;                              // the phase must end by then
    uint64_t interval_us;                         // next interval report
    uint64_t interval_from_us;
    uint64_t stop_us;  // end of the measurement; WEIR_NEVER: bytes end it
    // Receives the report piece by piece, and then `done`, with NULL or what went wrong. Both within loop_run.
    void (*print)(void *context, const char *text);
    void (*done)(void *context, const char *error);
    void *context;
};

// Sets client->json, print, done and context and the parameters in client->test.parameters beforehand, the rest zeroed.
int iperf3_client_start(struct iperf3_client *client, struct loop *loop, struct weir_endpoint server);
void iperf3_client_stop(struct iperf3_client *client);

// report.c
void iperf3_report_begin(struct iperf3_client *client);
void iperf3_report_interval(struct iperf3_client *client, uint64_t now_us);
void iperf3_report_end(struct iperf3_client *client);
void iperf3_report_error(struct iperf3_client *client, const char *error);  // JSON: closes what is open

WEIR_END_DECLS

#endif
