// SPDX-License-Identifier: BSD-2-Clause
// The scenario bulk: flows over one bottleneck. One flow has the link to itself; several have a host at each end each,
// and a router at either side of the bottleneck.
#include <stdlib.h>
#include <string.h>

#include "replay.h"
#include "scenario.h"
#include "trace.h"

#define LOOK_NS SIM_MS(10)
#define TRACE_NS SIM_MS(1)
#define LIMIT_NS SIM_S(100000)  // of a transfer that does not end
#define FULL_FRAME 1514u
#define MOST_FLOWS 10000u

struct bulk {
    const struct scenario *scenario;
    struct sim *sim;
    struct sim_link *bottleneck;
    uint32_t count;
    struct sim_flow **flows;
    struct sim_host **hosts;  // client and server of each flow
    struct sim_trace *traces;
    FILE *trace;               // of --trace FILE
    struct trace_file events;  // of --trace FILE.json
};

static uint64_t ns_of(double ms) { return (uint64_t)(ms * 1e6 + 0.5); }
static uint32_t ppm_of(double percent) { return (uint32_t)(percent * 1e4 + 0.5); }

void bulk_ways(const struct scenario *s, struct sim_way *there, struct sim_way *back)
{
    memset(there, 0, sizeof *there);
    there->rate = (uint64_t)(s->rate * 1e6 + 0.5);
    there->delay_ns = ns_of(s->delay);
    there->jitter_ns = ns_of(s->jitter);
    const double bytes = s->queue > 0 ? s->queue : s->bdp * s->rate * 1e6 / 8 * 2 * s->delay / 1e3;
    there->queue_bytes = bytes < 2 * FULL_FRAME ? 2 * FULL_FRAME : (uint32_t)bytes;
    there->queue_frames = (uint32_t)s->queue_frames;
    there->queue = !strncmp(s->aqm, "codel", 5) ? SIM_CODEL : SIM_DROP_TAIL;
    there->codel_marks = !strcmp(s->aqm, "codel-ecn");
    there->mark_bytes = (uint32_t)s->mark;
    there->loss_spares_arp = s->spare_arp != 0;
    there->reorder_ppm = ppm_of(s->reorder);
    there->reorder_ns = ns_of(s->reorder_ms);
    there->duplicate_ppm = ppm_of(s->duplicate);
    there->corrupt_ppm = ppm_of(s->corrupt);
    *back = *there;
    there->police_rate = (uint64_t)(s->police * 1e6 + 0.5);
    there->police_bytes = (uint32_t)s->police_bytes;
    there->loss_ppm = ppm_of(s->loss);
    there->burst_ppm = ppm_of(s->burst);
    there->burst_end_ppm = ppm_of(s->burst_end);
    there->burst_loss_ppm = ppm_of(s->burst_loss);
    back->loss_ppm = ppm_of(s->back_loss);
}

// A host takes a random time for a frame, as long as the bottleneck takes for a full one at the most. Without that,
// what an acknowledgement lets go reaches a full queue just as a place in it comes free, always, and what a timer sends
// hardly ever: of segments sent after a pause beside 20 flows 73 of 100 were lost, with it 17. (Floyd and Jacobson, "On
// Traffic Phase Effects in Packet-Switched Gateways", 1992.)
static uint64_t processing_ns(const struct scenario *s)
{
    return s->rate > 0 ? (uint64_t)(FULL_FRAME * 8e3 / s->rate) : 0;
}

// enum weir_ecn; WEIR_ECN_DEFAULT: the setting says no such thing.
static uint8_t ecn_of(const struct scenario *s)
{
    static const char *const names[] = {"", [WEIR_ECN_OFF] = "off", [WEIR_ECN_PASSIVE] = "passive",
                                        [WEIR_ECN_ON] = "on", [WEIR_ECN_ACCURATE] = "accurate"};
    uint8_t ecn = sizeof names / sizeof names[0] - 1;
    while (ecn && strcmp(s->ecn, names[ecn]) != 0)
        ecn--;
    return ecn;
}

static struct sim_host *host_add(struct bulk *bulk, char side, uint32_t number)
{
    const struct sim_host_options options = {.config.tcp_ecn = ecn_of(bulk->scenario),
                                             .granularity_us = (uint32_t)bulk->scenario->tick_us,
                                             .mtu = (uint16_t)bulk->scenario->mtu};
    char name[16];
    snprintf(name, sizeof name, bulk->count > 1 ? "%c%u" : "%c", side, number);
    return sim_host_add(bulk->sim, name, &options);
}

static struct sim_link *link_add(struct bulk *bulk, struct sim_node *a, struct sim_node *b, bool bottleneck)
{
    struct sim_link_options options = {0};
    struct sim_way back;
    char path[SCENARIO_TEXT + 64];
    if (bottleneck) {
        bulk_ways(bulk->scenario, &options.there, &back);
        options.back = &back;
    } else {
        options.there.jitter_ns = processing_ns(bulk->scenario);
    }
    snprintf(path, sizeof path, "%s/%s-%s.pcapng", bulk->scenario->pcap, sim_node_name(a), sim_node_name(b));
    if (*bulk->scenario->pcap)
        options.capture = path;
    return sim_link_add(bulk->sim, a, b, &options);
}

static void flow_add(struct bulk *bulk, uint32_t number, struct sim_host *client, struct sim_host *server)
{
    const struct scenario *s = bulk->scenario;
    const struct sim_user user = {
        .in_place = true, .send_buffer = (uint32_t)s->send_buffer, .receive_buffer = (uint32_t)s->receive_buffer};
    struct sim_flow_options options = {.congestion_control = number < s->flows ? s->cc : s->other_cc,
                                       .start_ns = ns_of(s->start * 1e3 * number),
                                       .client = user,
                                       .server = user};
    options.client.bytes = s->bytes;
    options.client.greeting = (uint32_t)s->greeting;
    options.client.answer_ns = ns_of(s->delay);
    bulk->hosts[2 * number] = client;
    bulk->hosts[2 * number + 1] = server;
    bulk->flows[number] = sim_flow_add(bulk->sim, client, server, &options);
    sim_trace_start(&bulk->traces[number], bulk->flows[number], bulk->bottleneck, number ? NULL : bulk->trace,
                    bulk->trace && !number ? TRACE_NS : LOOK_NS);
}

static void build(struct bulk *bulk)
{
    if (bulk->count == 1) {
        struct sim_host *a = host_add(bulk, 'a', 0), *b = host_add(bulk, 'b', 0);
        bulk->bottleneck = link_add(bulk, sim_node_of(a), sim_node_of(b), true);
        flow_add(bulk, 0, a, b);
        return;
    }
    struct sim_node *left = sim_router_add(bulk->sim, "left"), *right = sim_router_add(bulk->sim, "right");
    bulk->bottleneck = link_add(bulk, left, right, true);
    for (uint32_t number = 0; number < bulk->count; number++) {
        struct sim_host *a = host_add(bulk, 'a', number), *b = host_add(bulk, 'b', number);
        link_add(bulk, sim_node_of(a), left, false);
        link_add(bulk, right, sim_node_of(b), false);
        flow_add(bulk, number, a, b);
    }
}

static bool all_finished(void *context)
{
    const struct bulk *bulk = context;
    for (uint32_t number = 0; number < bulk->count; number++)
        if (!sim_flow_stats(bulk->flows[number])->finished)
            return false;
    return true;
}

// (Σx)² / (n Σx²)
static double jain(const struct bulk *bulk)
{
    double sum = 0, squares = 0;
    for (uint32_t number = 0; number < bulk->count; number++) {
        const double got = (double)sim_flow_stats(bulk->flows[number])->received[0];
        sum += got;
        squares += got * got;
    }
    return squares > 0 ? sum * sum / (bulk->count * squares) : 0;
}

// A rate in Mbit/s; of a run without a duration 0.
static double rate(uint64_t bytes, double seconds) { return seconds > 0 ? (double)bytes * 8 / 1e6 / seconds : 0; }

// A flow's time begins when it is connected, as iperf3's: a SYN that is lost costs a second, whatever the algorithm.
static double since_connected(const struct bulk *bulk, uint32_t number, double seconds)
{
    const struct sim_flow_stats *stats = sim_flow_stats(bulk->flows[number]);
    const double connected_s = (double)stats->connected_ns / 1e9;
    return stats->connected && connected_s < seconds ? seconds - connected_s : seconds;
}

// What a host counted, all that is not 0.
static void print_counters(struct sim_host *host, const char *role)
{
    const char *before = "";
    printf(", \"%s\": {", role);
    for (int i = 0; i < WEIR_COUNT_COUNT; i++) {
        const uint32_t counted = weir_counter_get(sim_host_weir(host), (enum weir_counter)i);
        if (!counted)
            continue;
        printf("%s\"%s\": %u", before, weir_counter_name((enum weir_counter)i), counted);
        before = ", ";
    }
    putchar('}');
}

static void print_flow(const struct bulk *bulk, uint32_t number, double seconds)
{
    const struct sim_flow_stats *stats = sim_flow_stats(bulk->flows[number]);
    const double own_s = since_connected(bulk, number, seconds);
    const struct sim_trace *trace = &bulk->traces[number];
    const double samples = trace->samples ? (double)trace->samples : 1;
    printf("%s{\"cc\": \"%s\", \"mbit\": %.4f, \"received\": %llu, \"retransmits\": %u, \"timeouts\": %u, \"srtt_ms\": "
           "%.3f, \"cwnd\": %.0f, "
           "\"connected_s\": %.6f, \"finished_s\": %.6f",
           number ? ", " : "", number < bulk->scenario->flows ? bulk->scenario->cc : bulk->scenario->other_cc,
           rate(stats->received[0], own_s), (unsigned long long)stats->received[0], trace->last.total_retrans,
           trace->last.rto_count, (double)trace->srtt_sum_us / samples / 1e3, (double)trace->cwnd_sum / samples,
           stats->connected ? (double)stats->connected_ns / 1e9 : -1.0,
           stats->finished ? (double)stats->finished_ns / 1e9 : -1.0);
    if (bulk->scenario->counters) {
        print_counters(bulk->hosts[2 * number], "client");
        print_counters(bulk->hosts[2 * number + 1], "server");
    }
    putchar('}');
}

static void print(const struct bulk *bulk, double seconds, double real_s, double cpu_s)
{
    const struct sim_way_stats *way = sim_link_stats(bulk->bottleneck, false);
    uint64_t received = 0;
    for (uint32_t number = 0; number < bulk->count; number++)
        received += sim_flow_stats(bulk->flows[number])->received[0];
    printf("{\"mbit\": %.4f, \"jain\": %.4f, \"queue_ms\": %.3f, \"dropped\": %llu, \"lost\": %llu, \"marked\": %llu, "
           "\"events\": %llu, "
           "\"virtual_s\": %.6f, \"real_s\": %.4f, \"cpu_s\": %.4f, \"flows\": [",
           rate(received, bulk->count == 1 ? since_connected(bulk, 0, seconds) : seconds), jain(bulk),
           way->frames ? (double)way->waited_ns / 1e6 / (double)way->frames : 0.0, (unsigned long long)way->dropped,
           (unsigned long long)way->lost, (unsigned long long)way->marked, (unsigned long long)sim_events(bulk->sim),
           seconds, real_s, cpu_s);
    for (uint32_t number = 0; number < bulk->count; number++)
        print_flow(bulk, number, seconds);
    puts("]}");
}

// The first setting that was set and would change nothing, because of another, and what it waits for; NULL: there is
// none.
static const char *idle_setting(const struct scenario *s, const char **reason)
{
    const bool asks = ecn_of(s) >= WEIR_ECN_ON;
    struct sim_way there, back;
    bulk_ways(s, &there, &back);
    const struct {
        const char *name, *reason;
        bool works;
    } settings[] = {
        {"aqm", "codel-ecn marks nothing unless the flows ask for it: --ecn on, or accurate",
         strcmp(s->aqm, "codel-ecn") != 0 || asks},
        {"mark", "marks nothing unless the flows ask for it: --ecn on, or accurate", !s->mark || asks},
        {"mark", "marks nothing: the queue never holds so much", s->mark < there.queue_bytes},
        {"other_cc", "changes nothing without --others", s->others},
        {"burst_end", "changes nothing without --burst", s->burst > 0},
        {"burst_loss", "changes nothing without --burst", s->burst > 0},
        {"reorder_ms", "changes nothing without --reorder", s->reorder > 0},
        {"bdp", "changes nothing with --queue", !(s->queue > 0)},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        if (scenario_given(s, settings[i].name) && !settings[i].works) {
            *reason = settings[i].reason;
            return settings[i].name;
        }
    return NULL;
}

// 0; or 2 with a sentence on standard error.
static int refused(const struct scenario *s)
{
    const char *reason, *const idle = idle_setting(s, &reason);
    if (!(s->flows + s->others) || s->flows + s->others > MOST_FLOWS)
        fprintf(stderr, "weir-sim: flows and others are 1 to %u together\n", MOST_FLOWS);
    else if (strcmp(s->aqm, "droptail") != 0 && strcmp(s->aqm, "codel") != 0 && strcmp(s->aqm, "codel-ecn") != 0)
        fprintf(stderr, "weir-sim: --aqm is droptail, codel or codel-ecn, not %s\n", s->aqm);
    else if (ecn_of(s) == WEIR_ECN_DEFAULT)
        fprintf(stderr, "weir-sim: --ecn is off, passive, on or accurate, not %s\n", s->ecn);
    else if (idle)
        fprintf(stderr, "weir-sim: --%s %s\n", idle, reason);
    else
        return 0;
    return 2;
}

// false: the file cannot be written.
static bool trace_begin(struct bulk *bulk)
{
    const char *const path = bulk->scenario->trace;
    const size_t length = strlen(path);
    if (length > 5 && !strcmp(path + length - 5, ".json"))
        return !trace_open(&bulk->events, path);
    return !length || (bulk->trace = fopen(path, "w")) != NULL;
}

int bulk_run(const struct scenario *scenario)
{
    struct bulk bulk = {.scenario = scenario, .count = (uint32_t)(scenario->flows + scenario->others)};
    if (refused(scenario) || scenario_family_refused(scenario))
        return 2;
    if (!trace_begin(&bulk)) {
        perror(scenario->trace);
        return 2;
    }
    bulk.sim = sim_open(&(struct sim_options){.seed = scenario->seed,
                                              .family = (uint8_t)scenario->family,
                                              .unchecked = scenario->unchecked != 0,
                                              .congestion_controls = scenario->congestion_controls,
                                              .events = bulk.events.file ? &bulk.events : NULL});
    bulk.flows = calloc(bulk.count, sizeof *bulk.flows);
    bulk.traces = calloc(bulk.count, sizeof *bulk.traces);
    bulk.hosts = calloc(2 * (size_t)bulk.count, sizeof *bulk.hosts);
    if (!bulk.flows || !bulk.traces || !bulk.hosts)
        abort();
    const double began = scenario_real_s(), cpu_began = scenario_cpu_s();
    build(&bulk);
    const bool good = scenario->bytes ? sim_run_until(bulk.sim, all_finished, &bulk, LIMIT_NS)
                                      : sim_run(bulk.sim, ns_of(scenario->seconds * 1e3));
    if (good) {
        print(&bulk, (double)sim_now(bulk.sim) / 1e9, scenario_real_s() - began, scenario_cpu_s() - cpu_began);
    } else {
        fprintf(stderr, "%s\nto replay: %s\n", sim_failure(bulk.sim), replay_command());
    }
    sim_close(bulk.sim);
    free(bulk.flows);
    free(bulk.hosts);
    free(bulk.traces);
    if (bulk.trace)
        fclose(bulk.trace);
    if (trace_close(&bulk.events)) {
        perror(scenario->trace);
        return 2;
    }
    return good ? 0 : 1;
}
