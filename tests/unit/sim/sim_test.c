// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "sink.h"

#include <stdio.h>
#include <unistd.h>

#include "sim/trace.h"

static struct sim *sim;

struct output {
    uint8_t *bytes;
    size_t length;
};

static struct output slurp(const char *path)
{
    struct output output = {.bytes = malloc(4 << 20)};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    output.length = fread(output.bytes, 1, 4 << 20, file);
    fclose(file);
    unlink(path);
    return output;
}

// Everything random at once, with a capture and a trace.
static void record(uint64_t seed, struct output *capture, struct output *trace)
{
    char capture_path[] = "/tmp/weir-sim-capture-XXXXXX", trace_path[] = "/tmp/weir-sim-trace-XXXXXX";
    close(mkstemp(capture_path));
    const int fd = mkstemp(trace_path);
    FILE *file = fdopen(fd, "w");
    struct sim_trace look;
    sim = sim_open(&(struct sim_options){.seed = seed});
    struct sim_host *a = sim_host_add(sim, "a", NULL), *b = sim_host_add(sim, "b", NULL);
    const struct sim_way way = {.rate = 10000000,
                                .queue_bytes = 20000,
                                .delay_ns = SIM_MS(4),
                                .jitter_ns = SIM_MS(1),
                                .loss_ppm = 20000,
                                .burst_ppm = 1000,
                                .burst_end_ppm = 200000,
                                .burst_loss_ppm = 500000,
                                .reorder_ppm = 10000,
                                .reorder_ns = SIM_MS(2),
                                .duplicate_ppm = 5000,
                                .corrupt_ppm = 5000};
    struct sim_link *link = sim_link_add(sim, sim_node_of(a), sim_node_of(b),
                                         &(struct sim_link_options){.there = way, .capture = capture_path});
    struct sim_flow *flow = sim_flow_add(
        sim, a, b,
        &(struct sim_flow_options){.client = {.bytes = 400000}, .server = {.bytes = 50000, .in_place = true}});
    sim_trace_start(&look, flow, link, file, SIM_MS(1));
    run(sim, SIM_S(20));
    assert_true(sim_flow_stats(flow)->finished);
    sim_trace_stop(&look);
    sim_close(sim);
    fclose(file);
    *capture = slurp(capture_path);
    *trace = slurp(trace_path);
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
    struct output captures[3], traces[3];
    (void)state;
    record(1, &captures[0], &traces[0]);
    record(1, &captures[1], &traces[1]);
    record(2, &captures[2], &traces[2]);
    assert_true(captures[0].length > 450000 && traces[0].length > 10000);
    assert_int_equal(captures[0].length, captures[1].length);
    assert_memory_equal(captures[0].bytes, captures[1].bytes, captures[0].length);
    assert_int_equal(traces[0].length, traces[1].length);
    assert_memory_equal(traces[0].bytes, traces[1].bytes, traces[0].length);
    assert_true(captures[0].length != captures[2].length ||
                memcmp(captures[0].bytes, captures[2].bytes, captures[0].length) != 0);
    for (int index = 0; index < 3; index++) {
        free(captures[index].bytes);
        free(traces[index].bytes);
    }
}

static struct sim_flow *open_pair(const struct sim_host_options *options, const struct sim_way *way,
                                  const struct sim_flow_options *flow)
{
    sim = sim_open(&(struct sim_options){.seed = 4});
    struct sim_host *a = sim_host_add(sim, "a", options), *b = sim_host_add(sim, "b", options);
    sim_link_add(sim, sim_node_of(a), sim_node_of(b), &(struct sim_link_options){.there = *way});
    return sim_flow_add(sim, a, b, flow);
}

static void assert_failure(const char *text)
{
    assert_non_null(sim_failure(sim));
    if (!strstr(sim_failure(sim), text))
        fail_msg("%s", sim_failure(sim));
}

static void memory_beyond_the_limit_is_a_failure(void **state)
{
    (void)state;
    // The reader reads nothing for a while: a megabyte waits in its queue.
    open_pair(&(struct sim_host_options){.memory_limit_bytes = 400000}, &(struct sim_way){.delay_ns = SIM_MS(1)},
              &(struct sim_flow_options){.client.bytes = 1000000, .server.read_from_ns = SIM_S(5)});
    assert_false(sim_run(sim, SIM_S(10)));
    assert_failure("400000 are its limit");
    sim_close(sim);
}

static void a_wrong_byte_is_a_failure(void **state)
{
    (void)state;
    open_pair(NULL, &(struct sim_way){.delay_ns = SIM_MS(1)}, &(struct sim_flow_options){.client.bytes = 100000});
    run(sim, SIM_US(500));
    sim->pattern[sim->pattern[0] % 5000 + 1000] ^= 1;  // what is written differs from what is expected
    run(sim, SIM_MS(2));
    run(sim, SIM_MS(5));
    if (!sim_failure(sim)) {
        for (uint32_t at = 0; at < 65521 + 65536; at += 100)
            sim->pattern[at] ^= 1;  // so that it differs wherever the reader is by now
        (void)sim_run(sim, SIM_S(1));
    }
    assert_failure("reads byte");
    sim_close(sim);
}

// A connection that the network ends is a failure, unless the flow was said to stand that.
static void a_lost_connection_is_a_failure(void **state)
{
    (void)state;
    struct sim_flow *flow = open_pair(NULL, &(struct sim_way){.rate = 1000000, .delay_ns = SIM_MS(1)},
                                      &(struct sim_flow_options){.client.bytes = 10000000});
    run(sim, SIM_S(2));
    sim_link_cut(sim->links, true);
    assert_false(sim_run(sim, SIM_S(3000)));
    assert_failure("WEIR_TIMED_OUT");
    assert_true(sim_flow_stats(flow)->connected);
    sim_close(sim);
}

static void a_flow_that_is_stopped_finishes(void **state)
{
    struct weir_tcp_info info;
    (void)state;
    struct sim_flow *flow =
        open_pair(NULL, &(struct sim_way){.rate = 10000000, .delay_ns = SIM_MS(10), .queue_bytes = 50000}, NULL);
    run(sim, SIM_S(3));
    assert_false(sim_flow_stats(flow)->finished);
    assert_true(sim_flow_info(flow, false, &info));
    assert_true(info.cwnd > 14600);
    sim_flow_stop(flow);
    run(sim, SIM_S(20));
    assert_true(sim_flow_stats(flow)->finished);
    assert_int_equal(sim_flow_stats(flow)->received[0], sim_flow_stats(flow)->sent[0]);
    sim_close(sim);
}

static void what_follows_a_greeting_waits_for_the_answer(void **state)
{
    (void)state;
    struct sim_flow *flow =
        open_pair(NULL, &(struct sim_way){.delay_ns = SIM_MS(10)},
                  &(struct sim_flow_options){.client = {.bytes = 100000, .greeting = 37, .answer_ns = SIM_MS(30)},
                                             .server.read_from_ns = SIM_MS(50)});
    const struct sim_flow_stats *stats = sim_flow_stats(flow);
    while (!stats->received[0])
        run(sim, sim_now(sim) + SIM_MS(1));
    assert_int_equal(stats->received[0], 37);
    run(sim, sim_now(sim) + SIM_MS(29));
    assert_int_equal(stats->sent[0], 37);
    run(sim, sim_now(sim) + SIM_MS(2));
    assert_true(stats->sent[0] > 37);
    run(sim, SIM_S(2));
    assert_true(stats->finished);
    assert_int_equal(stats->received[0], 100000);
    sim_close(sim);
}

static void a_flow_that_is_stopped_after_its_greeting_finishes(void **state)
{
    (void)state;
    struct sim_flow *flow = open_pair(NULL, &(struct sim_way){.delay_ns = SIM_MS(10)},
                                      &(struct sim_flow_options){.client = {.greeting = 37, .answer_ns = SIM_S(1)}});
    run(sim, SIM_MS(500));
    assert_int_equal(sim_flow_stats(flow)->sent[0], 37);
    sim_flow_stop(flow);
    run(sim, SIM_S(5));
    assert_true(sim_flow_stats(flow)->finished);
    assert_int_equal(sim_flow_stats(flow)->received[0], 37);
    sim_close(sim);
}

static void a_coarse_clock_shows_only_its_ticks(void **state)
{
    (void)state;
    sim = sim_open(NULL);
    struct sim_host *host =
        sim_host_add(sim, "a", &(struct sim_host_options){.granularity_us = 10000, .clock_us = 5000000});
    run(sim, SIM_MS(9));
    assert_int_equal(host_now_us(host), 5000000);
    run(sim, SIM_MS(25));
    assert_int_equal(host_now_us(host), 5020000);
    assert_int_equal(host_time_ns(host, 5020001), SIM_MS(30));
    sim_close(sim);
}

static void a_second_link_of_a_host_is_refused(void **state)
{
    (void)state;
    sim = sim_open(NULL);
    struct sim_host *a = sim_host_add(sim, "a", NULL), *b = sim_host_add(sim, "b", NULL);
    sim_link_add(sim, sim_node_of(a), sim_node_of(b), NULL);
    sim_link_add(sim, sim_node_of(a), sim_node_of(b), NULL);
    assert_failure("a host has one");
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_seed_gives_the_same_bytes),
        cmocka_unit_test(memory_beyond_the_limit_is_a_failure),
        cmocka_unit_test(a_wrong_byte_is_a_failure),
        cmocka_unit_test(a_lost_connection_is_a_failure),
        cmocka_unit_test(a_flow_that_is_stopped_finishes),
        cmocka_unit_test(a_coarse_clock_shows_only_its_ticks),
        cmocka_unit_test(a_second_link_of_a_host_is_refused),
        cmocka_unit_test(what_follows_a_greeting_waits_for_the_answer),
        cmocka_unit_test(a_flow_that_is_stopped_after_its_greeting_finishes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
