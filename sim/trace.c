// SPDX-License-Identifier: BSD-2-Clause
#include "trace.h"

#include "internal.h"

// 0xffffffff is the interface's "no limit": nothing to plot.
static uint32_t finite(uint32_t value) { return value == UINT32_MAX ? 0 : value; }

static void write_line(struct sim_trace *trace, uint32_t queue_bytes)
{
    const struct weir_tcp_info *info = &trace->last;
    const struct sim_flow_stats *stats = sim_flow_stats(trace->flow);
    const uint64_t now_us = sim_now(trace->sim) / 1000;
    fprintf(trace->file, "%llu.%06llu,%u,%u,%u,%u,%u,%llu,%llu,%u,%llu,%llu,%u,%u,%u\n",
            (unsigned long long)(now_us / 1000000), (unsigned long long)(now_us % 1000000), info->cwnd,
            finite(info->ssthresh), info->inflight, info->srtt_us, finite(info->min_rtt_us),
            (unsigned long long)info->pacing_rate, (unsigned long long)info->delivery_rate, queue_bytes,
            (unsigned long long)info->bytes_acked, (unsigned long long)stats->received[0], info->total_retrans,
            info->rto_count, info->recovery);
}

static void look(void *context)
{
    struct sim_trace *trace = context;
    const uint32_t queue_bytes = trace->queue ? sim_link_queue(trace->queue, false) : 0;
    if (sim_flow_info(trace->flow, false, &trace->last)) {
        trace->samples++;
        trace->srtt_sum_us += trace->last.srtt_us;
        trace->cwnd_sum += trace->last.cwnd;
        trace->queue_sum += queue_bytes;
        if (trace->file)
            write_line(trace, queue_bytes);
    }
    if (!sim_flow_stats(trace->flow)->finished)
        sim_event_set(trace->sim, &trace->event, sim_now(trace->sim) + trace->every_ns);
}

void sim_trace_start(struct sim_trace *trace, struct sim_flow *flow, struct sim_link *queue, FILE *file,
                     uint64_t every_ns)
{
    *trace =
        (struct sim_trace){.sim = sim_of_flow(flow), .flow = flow, .queue = queue, .file = file, .every_ns = every_ns};
    trace->event = (struct event){.happen = look, .context = trace};
    if (file)
        fputs("time_s,cwnd,ssthresh,inflight,srtt_us,min_rtt_us,pacing_rate,delivery_rate,queue_bytes,acked,received,"
              "retransmits,timeouts,"
              "recovery\n",
              file);
    sim_event_set(trace->sim, &trace->event, sim_now(trace->sim));
}

void sim_trace_stop(struct sim_trace *trace) { sim_event_cancel(trace->sim, &trace->event); }
