// SPDX-License-Identifier: BSD-2-Clause
// Each column of a trace is what its heading says: beside it, right after each look, the same is asked of the flow and
// of the link.
#define _GNU_SOURCE
#include "sim/trace.h"

#include "sink.h"

#include <stdio.h>

#define LOOKS 6000u
#define EVERY_NS SIM_MS(1)

static const char *const columns[] = {"time_s",     "cwnd",        "ssthresh",      "inflight",    "srtt_us",
                                      "min_rtt_us", "pacing_rate", "delivery_rate", "queue_bytes", "acked",
                                      "received",   "retransmits", "timeouts",      "recovery"};
#define COLUMNS (sizeof columns / sizeof columns[0])

static struct beside {
    struct sim *sim;
    struct sim_flow *flow;
    struct sim_link *link;
    struct event event;
    uint32_t count;
    double row[LOOKS][COLUMNS];
} beside;

static double plotted(uint32_t value) { return value == UINT32_MAX ? 0 : value; }

// Set after the trace's own event of the same time, it happens after it.
static void look_beside(void *context)
{
    struct weir_tcp_info info;
    (void)context;
    if (sim_flow_info(beside.flow, false, &info)) {
        const double row[COLUMNS] = {(double)(sim_now(beside.sim) / 1000) / 1e6,
                                     info.cwnd,
                                     plotted(info.ssthresh),
                                     info.inflight,
                                     info.srtt_us,
                                     plotted(info.min_rtt_us),
                                     (double)info.pacing_rate,
                                     (double)info.delivery_rate,
                                     sim_link_queue(beside.link, false),
                                     (double)info.bytes_acked,
                                     (double)sim_flow_stats(beside.flow)->received[0],
                                     info.total_retrans,
                                     info.rto_count,
                                     info.recovery};
        assert_true(beside.count < LOOKS);
        memcpy(beside.row[beside.count++], row, sizeof row);
    }
    sim_event_set(beside.sim, &beside.event, sim_now(beside.sim) + EVERY_NS);
}

// Losses enough for retransmissions and timeouts; the sender is paced (bbr).
static void record(FILE *file, struct sim_trace *trace)
{
    const struct sim_way way = {.rate = 2000000, .delay_ns = SIM_MS(10), .queue_bytes = 30000, .loss_ppm = 150000};
    beside.sim = sim_open(&(struct sim_options){.seed = 3});
    struct sim_host *a = sim_host_add(beside.sim, "a", NULL), *b = sim_host_add(beside.sim, "b", NULL);
    beside.link = sim_link_add(beside.sim, sim_node_of(a), sim_node_of(b), &(struct sim_link_options){.there = way});
    beside.flow = sim_flow_add(beside.sim, a, b, &(struct sim_flow_options){.congestion_control = "bbr"});
    beside.event = (struct event){.happen = look_beside};
    sim_trace_start(trace, beside.flow, beside.link, file, EVERY_NS);
    sim_event_set(beside.sim, &beside.event, 0);
    run(beside.sim, SIM_S(5));
}

static void compare(FILE *file)
{
    char line[1000];
    assert_non_null(fgets(line, sizeof line, file));
    char *word = strtok(line, ",\n");
    for (size_t column = 0; column < COLUMNS; column++, word = strtok(NULL, ",\n"))
        assert_string_equal(word, columns[column]);
    assert_null(word);
    for (uint32_t number = 0; number < beside.count; number++) {
        assert_non_null(fgets(line, sizeof line, file));
        char *at = line;
        for (size_t column = 0; column < COLUMNS; column++, at++) {
            const double value = strtod(at, &at), expected = beside.row[number][column];
            if (value < expected - 1e-7 || value > expected + 1e-7)
                fail_msg("line %u: %s is %f, not %f", number, columns[column], value, expected);
            assert_int_equal(*at, column + 1 == COLUMNS ? '\n' : ',');
        }
    }
    assert_null(fgets(line, sizeof line, file));
}

// Otherwise one could stand for the other unseen.
static void no_two_columns_are_alike(void)
{
    for (size_t column = 0; column < COLUMNS; column++)
        for (size_t other = 0; other < column; other++) {
            uint32_t differ = 0;
            for (uint32_t number = 0; number < beside.count; number++)
                differ += beside.row[number][column] != beside.row[number][other];
            if (!differ)
                fail_msg("%s and %s do not differ", columns[column], columns[other]);
        }
}

static void each_column_is_what_its_heading_says(void **state)
{
    struct sim_trace trace;
    uint64_t srtt_us = 0, cwnd = 0, queue = 0;
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    record(file, &trace);
    assert_true(beside.count > 1000);
    no_two_columns_are_alike();
    for (uint32_t number = 0; number < beside.count; number++) {
        cwnd += (uint64_t)beside.row[number][1];
        srtt_us += (uint64_t)beside.row[number][4];
        queue += (uint64_t)beside.row[number][8];
    }
    assert_int_equal(trace.samples, beside.count);
    assert_int_equal(trace.cwnd_sum, cwnd);
    assert_int_equal(trace.srtt_sum_us, srtt_us);
    assert_int_equal(trace.queue_sum, queue);
    rewind(file);
    compare(file);
    sim_trace_stop(&trace);
    sim_event_cancel(beside.sim, &beside.event);
    sim_close(beside.sim);
    fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_column_is_what_its_heading_says)};
    return cmocka_run_group_tests_name("sim/trace", tests, NULL, NULL);
}
