// SPDX-License-Identifier: BSD-2-Clause
// Looks at a flow's sender at equal intervals: sums for a report and, where a file is given, one line of CSV each time.
// A line holds time_s, cwnd, ssthresh, inflight, srtt_us, min_rtt_us, pacing_rate, delivery_rate, queue_bytes, acked,
// received, retransmits, timeouts, recovery.
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include <stdio.h>

#include "event.h"
#include "sim.h"

struct sim_trace {
    struct sim *sim;
    struct sim_flow *flow;
    struct sim_link *queue;  // whose way there holds the queue that is shown; NULL: none
    FILE *file;              // NULL: sums only
    uint64_t every_ns;
    struct event event;
    uint64_t samples, srtt_sum_us, cwnd_sum, queue_sum;  // of all looks so far at an open connection
    struct weir_tcp_info last;                           // what was seen last
};

// `trace` must stay where it is until sim_trace_stop or sim_close. The file is the caller's; the first line is its
// heading.
void sim_trace_start(struct sim_trace *trace, struct sim_flow *flow, struct sim_link *queue, FILE *file,
                     uint64_t every_ns);
void sim_trace_stop(struct sim_trace *trace);

#endif
