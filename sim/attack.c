// SPDX-License-Identifier: BSD-2-Clause
#include "attack.h"

#include <string.h>

#include "internal.h"
#include "liar.h"

#define HONEST 3u
#define LIARS 2u
// The liars begin: everybody has found the server by then, as who answers first for an address is believed (RFC 826).
#define LIE_NS SIM_MS(250)
#define SLACK_NS SIM_MS(5)    // of flows of a millisecond a few frames more are a fifth
#define FLOWS 2u              // of each with the server
#define LIMIT_NS SIM_S(600)   // for the honest flows
#define GONE_NS SIM_S(4000)   // the server's timers have given up who went: keepalive, then the user timeout
#define MEMORY_MORE 4194304u  // bytes that lies may cost the server at once
#define MEMORY_KEPT 131072u   // and that a server at rest keeps more than at first: pools and tables

// How a run differs from the first.
struct variant {
    uint16_t mtu;     // of all hosts; 0: 1500
    uint8_t more_us;  // each link takes so much longer
};

struct attack {
    struct sim *sim;
    uint64_t dice;
    FILE *out;
    const char *capture;
    struct sim_host *server, *honest[HONEST], *liar_hosts[LIARS];
    struct sim_node *liars[LIARS];
    struct sim_link *liar_links[LIARS];
    uint32_t honest_count, liar_count, lies;
    bool listens;  // the hosts, to routers that there are not
    struct variant variant;
    uint64_t memory;                    // of the server, at first
    uint64_t start_ns[HONEST * FLOWS];  // of the honest flows
    const struct sim_flow *flow[HONEST * FLOWS];
};

// Of one of the two runs.
struct outcome {
    uint64_t took_ns;  // by the honest flows, all together
    uint64_t memory_peak;
};

static uint32_t between(struct attack *a, uint32_t low, uint32_t high) { return random_between(&a->dice, low, high); }
static uint32_t spread(struct attack *a, uint32_t low, uint32_t high) { return random_spread(&a->dice, low, high); }

// --- the network -----------------------------------------------------------------------------------------------------

// Honest hosts lose nothing, so that nothing but the lies makes a difference between the two runs.
static struct sim_link *link_add(struct attack *a, struct sim_node *from, struct sim_node *to, uint32_t mbit,
                                 uint32_t delay_us, uint32_t queue_bytes)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s-%s.pcapng", a->capture ? a->capture : "", from->name, to->name);
    const struct sim_way way = {.rate = mbit * UINT64_C(1000000),
                                .queue_bytes = queue_bytes,
                                .delay_ns = SIM_US(delay_us + a->variant.more_us)};
    return sim_link_add(a->sim, from, to,
                        &(struct sim_link_options){.there = way, .capture = a->capture ? path : NULL});
}

static struct sim_host *host_add(struct attack *a, const char *kind, uint32_t number, bool lies)
{
    char name[16];
    snprintf(name, sizeof name, "%s%u", kind, number);
    return sim_host_add(a->sim, name,
                        &(struct sim_host_options){.lies = lies, .listens = a->listens, .mtu = a->variant.mtu});
}

static void build(struct attack *a)
{
    struct sim_node *middle = sim_switch_add(a->sim, "switch");
    a->server = host_add(a, "server", 0, false);
    link_add(a, sim_node_of(a->server), middle, 1000, 50, 0);
    a->honest_count = between(a, 1, HONEST);
    a->liar_count = between(a, 1, LIARS);
    for (uint32_t i = 0; i < a->honest_count; i++) {
        a->honest[i] = host_add(a, "honest", i, false);
        link_add(a, sim_node_of(a->honest[i]), middle, between(a, 5, 50), spread(a, 100, 20000), 0);
    }
    for (uint32_t i = 0; i < a->liar_count; i++) {
        a->liar_hosts[i] = host_add(a, "liar", i, true);
        a->liars[i] = sim_liar_add(a->sim, "mouth", a->liar_hosts[i], a->server);
        link_add(a, sim_node_of(a->liar_hosts[i]), a->liars[i], 0, 0, 0);
        a->liar_links[i] = link_add(a, a->liars[i], middle, 10, spread(a, 100, 10000), 100000);
    }
}

static struct sim_flow *add_flow(struct attack *a, struct sim_host *client, bool honest, uint64_t start_ns)
{
    struct sim_flow_options options = {.start_ns = start_ns, .may_fail = !honest};
    options.client.bytes = spread(a, 1, honest ? 2000000 : 300000);
    options.server.bytes = spread(a, 1, honest ? 2000000 : 300000);
    return sim_flow_add(a->sim, client, a->server, &options);
}

static void add_flows(struct attack *a)
{
    for (uint32_t i = 0; i < a->honest_count; i++)
        sim_flow_add(a->sim, a->honest[i], a->server, &(struct sim_flow_options){.client.bytes = 1});
    for (uint32_t i = 0; i < a->honest_count * FLOWS; i++) {
        a->start_ns[i] = LIE_NS + SIM_US(spread(a, 1, 200000));
        a->flow[i] = add_flow(a, a->honest[i / FLOWS], true, a->start_ns[i]);
    }
    for (uint32_t i = 0; i < a->liar_count * FLOWS; i++)
        add_flow(a, a->liar_hosts[i / FLOWS], false, SIM_US(spread(a, 1, 400000)));
}

static void describe(const struct attack *a)
{
    fprintf(a->out, "  IPv%u%s, %u honest, %u liars, who lie by", a->sim->options.family,
            a->listens ? " and routers" : "", a->honest_count, a->liar_count);
    for (uint32_t bit = 0; liar_names[bit]; bit++)
        if (a->lies & 1u << bit)
            fprintf(a->out, " %s", liar_names[bit]);
    fprintf(a->out, "\n");
}

// --- a run -----------------------------------------------------------------------------------------------------------

static bool all_finished(void *context)
{
    const struct attack *a = context;
    for (uint32_t i = 0; i < a->honest_count * FLOWS; i++)
        if (!sim_flow_stats(a->flow[i])->finished)
            return false;
    return true;
}

static uint64_t honest_took_ns(struct attack *a)
{
    uint64_t sum_ns = 0;
    for (uint32_t i = 0; i < a->honest_count * FLOWS; i++) {
        const struct sim_flow_stats *stats = sim_flow_stats(a->flow[i]);
        if (!stats->finished)
            sim_fail(a->sim, "an honest flow stalled: sent %llu and %llu, received %llu and %llu",
                     (unsigned long long)stats->sent[0], (unsigned long long)stats->sent[1],
                     (unsigned long long)stats->received[0], (unsigned long long)stats->received[1]);
        sum_ns += stats->last_ns - a->start_ns[i];
        if (a->out)
            fprintf(a->out, "    %llu and %llu bytes: %llu us\n", (unsigned long long)stats->received[0],
                    (unsigned long long)stats->received[1],
                    (unsigned long long)(stats->last_ns - a->start_ns[i]) / 1000);
    }
    return sum_ns;
}

static uint32_t connections(struct weir *weir)
{
    struct weir_socket_info info;
    uint32_t count = 0;
    for (uint64_t cursor = 0; (cursor = weir_socket_next(weir, cursor, &info)) != 0;)
        count += info.type == WEIR_STREAM && info.tcp_state != WEIR_TCP_LISTEN;
    return count;
}

// The liars are gone, and in time everything of theirs is.
static void check_rest(struct attack *a)
{
    for (uint32_t i = 0; i < a->liar_count; i++) {
        sim_liar_lie(a->liars[i], 0);
        sim_link_cut(a->liar_links[i], true);
    }
    if (!sim_run(a->sim, a->sim->now_ns + GONE_NS))
        return;
    const uint32_t left = connections(a->server->weir);
    if (left)
        sim_fail(a->sim, "%u connections are left at the server", left);
    if (a->server->memory > a->memory + MEMORY_KEPT)
        sim_fail(a->sim, "the server rests with %llu bytes, it began with %llu", (unsigned long long)a->server->memory,
                 (unsigned long long)a->memory);
    if (weir_counter_get(a->server->weir, WEIR_COUNT_TCP_INSANE))
        sim_fail(a->sim, "a connection of the server contradicted itself");
}

static bool run(struct attack *a, uint64_t seed, bool lying, struct outcome *outcome, struct attack_result *result)
{
    uint64_t family = random_state(seed, 97);
    const bool version6 = WEIR_CFG_IP6 && random_one_in(&family, 2);
    a->listens = version6 && random_one_in(&family, 2);
    a->sim = sim_open(&(struct sim_options){.seed = seed, .family = version6 ? 6 : 4});
    a->dice = random_state(seed, 98);
    build(a);
    add_flows(a);
    a->lies = 1 + random_below(&a->dice, LIAR_ALL);
    if (lying && a->out)
        describe(a);
    a->memory = a->server->memory;
    bool ran = sim_run(a->sim, LIE_NS);
    for (uint32_t i = 0; lying && i < a->liar_count; i++)
        sim_liar_lie(a->liars[i], a->lies);
    ran = ran && sim_run_until(a->sim, all_finished, a, LIMIT_NS);
    outcome->took_ns = ran ? honest_took_ns(a) : 0;
    outcome->memory_peak = a->server->memory_peak;
    if (ran && lying)
        check_rest(a);
    result->events += sim_events(a->sim);
    result->virtual_ns += sim_now(a->sim);
    for (uint32_t i = 0; i < a->liar_count; i++)
        result->lies += sim_liar_lies(a->liars[i]);
    if (sim_failure(a->sim))
        snprintf(result->failure, sizeof result->failure, "%s", sim_failure(a->sim));
    sim_close(a->sim);
    return !result->failure[0];
}

static bool falls_short(const struct outcome *before, const struct outcome *during, struct attack_result *result)
{
    result->keeps_percent = (uint32_t)(before->took_ns * 100 / (during->took_ns ? during->took_ns : 1));
    return result->keeps_percent < ATTACK_KEEPS_PERCENT && during->took_ns > before->took_ns + SLACK_NS;
}

// What the honest flows take may hang on a microsecond: where a connection fills a line both ways, that is when
// HyStart++ sees an acknowledgement wait behind data. And an MTU of 1280 that a false router advertises any host
// believes (RFC 4861 §6.3.4), so that the first ten segments hold less. So a network that falls short is tried again:
// what lies cost, they cost on links that are a little longer, too, and beside an honest network with that MTU.
static bool falls_short_again(uint64_t seed, struct outcome *before, struct outcome *during,
                              struct attack_result *result)
{
    static const uint8_t more_us[] = {5, 20, 100, 200};
    struct attack a = {.variant = {.mtu = 1280}};
    result->tried_again = true;
    if (!run(&a, seed, false, before, result))
        return true;
    if (a.listens && !falls_short(before, during, result))
        return false;
    for (uint32_t i = 0; i < sizeof more_us; i++) {
        a.variant = (struct variant){.more_us = more_us[i]};
        if (!run(&a, seed, false, before, result) || !run(&a, seed, true, during, result))
            return true;
        if (!falls_short(before, during, result))
            return false;
    }
    return true;
}

bool attack_run(uint64_t seed, const char *capture, FILE *out, struct attack_result *result)
{
    struct attack a = {.out = out, .capture = NULL};
    struct outcome before, during;
    memset(result, 0, sizeof *result);
    if (out)
        fprintf(out, "seed %llu:\n", (unsigned long long)seed);
    if (!run(&a, seed, false, &before, result))
        return false;
    a.capture = capture;
    if (!run(&a, seed, true, &during, result))
        return false;
    if (falls_short(&before, &during, result) && falls_short_again(seed, &before, &during, result) &&
        !result->failure[0])
        snprintf(result->failure, sizeof result->failure,
                 "honest flows keep %u %% of their goodput: %llu µs in place of %llu", result->keeps_percent,
                 (unsigned long long)during.took_ns / 1000, (unsigned long long)before.took_ns / 1000);
    if (during.memory_peak > before.memory_peak + MEMORY_MORE)
        snprintf(result->failure, sizeof result->failure, "the server used %llu bytes, %llu without lies",
                 (unsigned long long)during.memory_peak, (unsigned long long)before.memory_peak);
    return !result->failure[0];
}
