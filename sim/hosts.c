// SPDX-License-Identifier: BSD-2-Clause
// The scenario hosts: so many hosts in one process, in halls of fifty around a switch, each hall behind a router of one
// backbone. Each host sends to one of its own hall, to one of another and, seldom, to one far off; everything is
// checked.
#include "internal.h"
#include "replay.h"
#include "scenario.h"

#define HALL 50u
#define BYTES 20000u
#define LIMIT_NS SIM_S(600)

static void build(struct sim *sim, const struct scenario *s)
{
    const struct sim_link_options local = {.there = {.rate = 100000000, .delay_ns = SIM_US(50), .queue_bytes = 100000}};
    const struct sim_link_options trunk = {
        .there = {
            .rate = 1000000000, .delay_ns = SIM_MS(2), .queue_bytes = 1000000, .loss_ppm = (uint32_t)(s->loss * 1e4)}};
    struct sim_node *backbone = sim_router_add(sim, "backbone"), *hall = NULL;
    char name[16];
    for (uint32_t number = 0; number < s->hosts; number++) {
        if (number % HALL == 0) {
            snprintf(name, sizeof name, "door%u", number / HALL);
            struct sim_node *door = sim_router_add(sim, name);
            snprintf(name, sizeof name, "hall%u", number / HALL);
            hall = sim_switch_add(sim, name);
            sim_link_add(sim, backbone, door, &trunk);
            sim_link_add(sim, door, hall, NULL);
        }
        snprintf(name, sizeof name, "h%u", number);
        sim_link_add(sim, sim_node_of(sim_host_add(sim, name, NULL)), hall, &local);
    }
}

static void add_flow(struct sim *sim, const struct scenario *s, uint32_t from, uint32_t to)
{
    struct sim_flow_options options = {.congestion_control = s->cc,
                                       .start_ns = random_below(&sim->random, 1000000) * UINT64_C(1000)};
    options.client.bytes = s->bytes ? s->bytes : BYTES;
    options.server.bytes = 100;
    if (from != to)
        sim_flow_add(sim, sim->hosts[from], sim->hosts[to], &options);
}

static bool all_finished(const struct sim *sim)
{
    for (const struct sim_flow *flow = sim->flows; flow; flow = sim_flow_next((struct sim *)sim, flow))
        if (!sim_flow_stats(flow)->finished)
            return false;
    return true;
}

// Now and then: it looks at every flow.
static bool look(void *context)
{
    static const uint64_t look_every = 4096;  // events
    const struct sim *sim = context;
    return sim->happened % look_every == 0 && all_finished(sim);
}

int hosts_run(const struct scenario *s)
{
    if (scenario_family_refused(s))
        return 2;
    struct sim *sim = sim_open(&(struct sim_options){.seed = s->seed,
                                                     .family = (uint8_t)s->family,
                                                     .unchecked = s->unchecked != 0,
                                                     .congestion_controls = s->congestion_controls});
    const double began = scenario_real_s();
    const uint32_t count = (uint32_t)s->hosts;
    uint64_t received = 0, memory = 0;
    build(sim, s);
    for (uint32_t number = 0; number < count; number++) {
        add_flow(sim, s, number,
                 number / HALL * HALL + (number + 1) % HALL < count ? number / HALL * HALL + (number + 1) % HALL : 0);
        add_flow(sim, s, number, random_below(&sim->random, count));
    }
    const bool good = sim_run_until(sim, look, sim, LIMIT_NS);
    if (!all_finished(sim) && sim->now_ns >= LIMIT_NS)
        sim_fail(sim, "flows are left after %llu s", (unsigned long long)(LIMIT_NS / SIM_S(1)));
    for (const struct sim_flow *flow = sim->flows; flow; flow = sim_flow_next(sim, flow))
        received += sim_flow_stats(flow)->received[0] + sim_flow_stats(flow)->received[1];
    for (uint32_t number = 0; number < count; number++)
        memory += sim->hosts[number]->memory;
    if (good && !sim_failure(sim))
        printf("{\"hosts\": %u, \"flows\": %u, \"received\": %llu, \"events\": %llu, \"virtual_s\": %.3f, \"real_s\": "
               "%.3f, "
               "\"bytes_a_host\": %llu}\n",
               count, sim->flow_count, (unsigned long long)received, (unsigned long long)sim_events(sim),
               (double)sim->now_ns / 1e9, scenario_real_s() - began,
               (unsigned long long)(memory / (count ? count : 1)));
    else
        fprintf(stderr, "%s\nto replay: %s\n", sim_failure(sim), replay_command());
    const int status = sim_failure(sim) ? 1 : 0;
    sim_close(sim);
    return status;
}
