// SPDX-License-Identifier: BSD-2-Clause
#include "campaign.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "weir/cc.h"

#define LIMIT_NS SIM_S(7200)  // far more than the worst network needs
#define REST_NS SIM_S(400)    // last retransmissions, then FIN-WAIT-2 and TIME-WAIT, are over
#define HOSTS 24
#define ROUTERS 5
#define KEPT_BYTES 65536u    // a host that rests may keep so much more than it began with (pools, tables)
#define KEPT_A_FLOW 2048u    // and so much of each flow
#define ROOM_BYTES 1500000u  // a host's memory beside its sockets' buffers
#define LOSS_PPM 150000u
#define WAITING 3u
#define SLOW_NS SIM_MS(240)  // one way, and as much for the addresses of each hop: a second for both ways
// of losses; counted in frames alone it would last for minutes where a timer has backed off
#define BURST_NS SIM_S(1)
#define OUTAGE_NS SIM_S(3)
#define TIGHT_NS SIM_S(60)

enum shape { PAIR, STAR, DUMBBELL, CHAIN, SHAPES, HALLS = SHAPES };  // the last: of IPv6, with routers that come and go

struct campaign {
    struct sim *sim;
    uint64_t dice;
    FILE *out;
    const char *capture;
    enum shape shape;
    struct sim_host *hosts[HOSTS];
    uint64_t memory[HOSTS];  // at rest
    uint32_t host_count, flow_count;
    uint16_t mtu;            // of all hosts
    uint32_t most;           // bytes a user sends at most
    uint64_t delays_ns;      // of all ways together
    uint32_t loss_left_ppm;  // that may still be lost, all links together
    bool clean;              // nothing is lost, late, twice or slow: nothing may be sent twice
    bool outage;             // so long that a server gives up a handshake whose last acknowledgement it missed
    bool starved;            // allocations fail, or memory is short
    struct event change;
    struct sim_way changed;
    bool autoconfigured;                    // of IPv6: addresses are the routers' to give
    struct sim_node *routers[ROUTERS + 2];  // that advertise
    uint32_t router_count;
    struct sim_advertisement says;
    struct event turn;  // something happens to the routers
    uint32_t turns;
    struct sim_node *dead;
};

static bool speaks_ip6(const struct campaign *c) { return c->sim->options.family == 6; }
static uint32_t pick(struct campaign *c, uint32_t count) { return random_below(&c->dice, count); }
static bool one_in(struct campaign *c, uint32_t count) { return random_one_in(&c->dice, count); }
static uint32_t between(struct campaign *c, uint32_t low, uint32_t high) { return random_between(&c->dice, low, high); }
static uint32_t spread(struct campaign *c, uint32_t low, uint32_t high) { return random_spread(&c->dice, low, high); }

// --- links -----------------------------------------------------------------------------------------------------------

static void plan_queue(struct campaign *c, struct sim_way *way)
{
    way->rate = UINT64_C(8) * spread(c, 20000, 20000000);
    c->clean = false;
    if (one_in(c, 2))
        way->queue_bytes = spread(c, 3 * 1514, 300000);
    else if (one_in(c, 2))
        way->queue_frames = between(c, 3, 60);
    if (way->queue_bytes && way->queue_bytes < 3u * (c->mtu + 14u))
        way->queue_bytes = 3u * (c->mtu + 14u);
    way->backpressure = one_in(c, 4);
    if (one_in(c, 4)) {
        way->queue = SIM_CODEL;
        way->codel_marks = one_in(c, 2);
    } else if (one_in(c, 4)) {
        way->mark_bytes = spread(c, 1514, 60000);
    }
}

// A path that loses more than a seventh can, by bad luck alone, keep a connection from getting anywhere for as long as
// its user waits.
static void plan_losses(struct campaign *c, struct sim_way *way)
{
    static const uint32_t losses[] = {0, 0, 0, 1000, 10000, 50000, 100000, 200000};
    way->loss_ppm = losses[pick(c, 8)];
    if (one_in(c, 6)) {
        way->burst_ppm = spread(c, 100, 20000);
        way->burst_end_ppm = between(c, 100000, 500000);
        way->burst_loss_ppm = between(c, 300000, 1000000);
        way->burst_most_ns = BURST_NS;
    }
    const uint32_t bad_ppm = (uint32_t)(UINT64_C(1000000) * way->burst_ppm / (way->burst_ppm + way->burst_end_ppm + 1));
    if (way->loss_ppm + bad_ppm > c->loss_left_ppm) {
        way->loss_ppm = way->burst_ppm = 0;
        return;
    }
    c->loss_left_ppm -= way->loss_ppm + bad_ppm;
}

static void plan_faults(struct campaign *c, struct sim_way *way)
{
    plan_losses(c, way);
    if (one_in(c, 4)) {
        way->reorder_ppm = between(c, 1000, 300000);
        way->reorder_ns = SIM_US(between(c, 1, 20000));
    }
    if (one_in(c, 5))
        way->jitter_ns = SIM_US(spread(c, 10, 30000));
    if (one_in(c, 4))
        way->duplicate_ppm = between(c, 1000, 200000);
    if (one_in(c, 4))
        way->corrupt_ppm = between(c, 1000, 50000);
    if (way->loss_ppm || way->burst_ppm || way->reorder_ppm || way->jitter_ns || way->duplicate_ppm || way->corrupt_ppm)
        c->clean = false;
}

static void plan_way(struct campaign *c, struct sim_way *way, bool bad)
{
    static const uint32_t delays_us[] = {0, 50, 1000, 10000, 50000, 150000};
    memset(way, 0, sizeof *way);
    way->delay_ns = SIM_US(delays_us[pick(c, 6)]);
    c->delays_ns += way->delay_ns;
    if (c->delays_ns > SLOW_NS)  // it may be longer than the first timeout
        c->clean = false;
    if (!bad)
        return;
    if (one_in(c, 2))
        plan_queue(c, way);
    plan_faults(c, way);
}

static void describe_way(struct campaign *c, const char *name, const char *which, const struct sim_way *w)
{
    fprintf(c->out,
            "  %s %s: %llu bit/s, queue %u bytes %u frames %s%s mark %u%s, delay %llu jitter %llu us, loss %u burst "
            "%u/%u/%u reorder %u by "
            "%llu us "
            "duplicate %u corrupt %u ppm, mtu %u\n",
            name, which, (unsigned long long)w->rate, w->queue_bytes, w->queue_frames,
            w->queue == SIM_CODEL ? "codel" : "tail", w->codel_marks ? "-ecn" : "", w->mark_bytes,
            w->backpressure ? " backpressure" : "", (unsigned long long)w->delay_ns / 1000,
            (unsigned long long)w->jitter_ns / 1000, w->loss_ppm, w->burst_ppm, w->burst_end_ppm, w->burst_loss_ppm,
            w->reorder_ppm, (unsigned long long)w->reorder_ns / 1000, w->duplicate_ppm, w->corrupt_ppm, w->mtu);
}

static void plan_flaps(struct campaign *c, struct sim_link *link)
{
    if (!one_in(c, 5))
        return;
    const uint64_t down_ns = SIM_MS(spread(c, 1, 20000)), period_ns = down_ns + SIM_MS(spread(c, 100, 60000));
    const uint64_t first_ns = SIM_MS(spread(c, 1, 10000));
    const uint32_t count = between(c, 1, 5);
    c->clean = false;
    c->outage |= down_ns * count > OUTAGE_NS;
    sim_link_flap(link, first_ns, down_ns, period_ns, count);
    if (c->out)
        fprintf(c->out, "  %s flaps from %llu ms on, %llu ms each, %u times\n", link->name,
                (unsigned long long)first_ns / 1000000, (unsigned long long)down_ns / 1000000, count);
}

static struct sim_link *link_add(struct campaign *c, struct sim_node *a, struct sim_node *b, bool bad)
{
    struct sim_link_options options = {
        .hide_carrier = one_in(c, 2), .raw_ip = c->shape == PAIR && one_in(c, 3), .overhead = one_in(c, 4) ? 24 : 0};
    struct sim_way back;
    char path[300];
    plan_way(c, &options.there, bad);
    back = options.there;
    if (one_in(c, 3))
        plan_way(c, &back, bad);
    options.back = &back;
    snprintf(path, sizeof path, "%s/%s-%s.pcapng", c->capture ? c->capture : "", a->name, b->name);
    options.capture = c->capture ? path : NULL;
    struct sim_link *link = sim_link_add(c->sim, a, b, &options);
    if (c->out) {
        describe_way(c, link->name, "there", &options.there);
        describe_way(c, link->name, "back", &back);
    }
    if (bad)
        plan_flaps(c, link);
    return link;
}

// --- hosts and topologies --------------------------------------------------------------------------------------------

static const char *plan_congestion(struct campaign *c)
{
    uint32_t count = 0;
    while (weir_cc_list[count])
        count++;
    const struct weir_cc *cc = weir_cc_list[pick(c, count)];
    return cc ? cc->name : NULL;  // there is always one
}

static void plan_host(struct campaign *c, struct sim_host_options *options)
{
    static const uint32_t ticks_us[] = {0, 0, 0, 100, 1000, 10000};
    options->config.congestion_control = plan_congestion(c);
    options->config.tcp_ecn = (uint8_t)pick(c, 5);  // enum weir_ecn
    options->granularity_us = ticks_us[pick(c, 6)];
    options->mtu = c->mtu;
    options->autoconfigured = c->autoconfigured;
    if (one_in(c, 8)) {
        options->config.memory_budget_bytes = between(c, 200000, 500000);
        c->starved = true;
    }
    if (one_in(c, 12)) {
        options->fail_allocations_ppm = spread(c, 100, 20000);
        c->starved = true;
    }
    // Shortly before 32 bits of microseconds, or of milliseconds, are over.
    if (one_in(c, 4))
        options->clock_us = (UINT64_C(1) << 32) - spread(c, 1, 30000000);
    else if (one_in(c, 6))
        options->clock_us = (UINT64_C(1) << 32) * 1000 - spread(c, 1, 30000000);
}

static struct sim_node *host_add(struct campaign *c)
{
    struct sim_host_options options = {0};
    char name[16];
    plan_host(c, &options);
    snprintf(name, sizeof name, "h%u", c->host_count);
    struct sim_host *host = sim_host_add(c->sim, name, &options);
    if (c->out)
        fprintf(c->out, "  %s: %s, tick %u us, budget %llu, allocations fail %u ppm, clock %llu us\n", name,
                options.config.congestion_control, options.granularity_us,
                (unsigned long long)options.config.memory_budget_bytes, options.fail_allocations_ppm,
                (unsigned long long)options.clock_us);
    c->hosts[c->host_count++] = host;
    return sim_node_of(host);
}

// The last hop may be narrower than the hosts think: path MTU discovery.
static void narrow(struct campaign *c, struct sim_link *link)
{
    struct sim_way way = link->ways[0].way;
    const uint16_t least = speaks_ip6(c) ? 1280 : 576;  // that every link carries
    if (!one_in(c, 4) || c->mtu <= least + 24)
        return;
    way.mtu = (uint16_t)between(c, least, c->mtu - 1u);
    c->clean = false;
    sim_link_set(link, false, &way);
    if (c->out)
        fprintf(c->out, "  %s: %u bytes fit through there\n", link->name, way.mtu);
}

static struct sim_node *router_add(struct campaign *c, const char *name)
{
    struct sim_node *router = sim_router_add(c->sim, name);
    if (c->autoconfigured)
        c->routers[c->router_count++] = router;
    return router;
}

static void build_star(struct campaign *c)
{
    struct sim_node *middle = sim_switch_add(c->sim, "switch");
    const uint32_t count = one_in(c, 8) ? between(c, 9, HOSTS) : between(c, 2, 8);
    for (uint32_t number = 0; number < count; number++)
        link_add(c, host_add(c), middle, one_in(c, 3));
}

static void build_dumbbell(struct campaign *c)
{
    struct sim_node *left = router_add(c, "left"), *right = router_add(c, "right");
    const uint32_t count = between(c, 1, 6);
    narrow(c, link_add(c, left, right, true));
    for (uint32_t number = 0; number < count; number++) {
        link_add(c, host_add(c), left, one_in(c, 6));
        link_add(c, right, host_add(c), one_in(c, 6));
    }
}

static void build_chain(struct campaign *c)
{
    struct sim_node *last = host_add(c);
    const uint32_t count = between(c, 1, ROUTERS);
    char name[16];
    for (uint32_t number = 0; number < count; number++) {
        snprintf(name, sizeof name, "r%u", number);
        struct sim_node *router = router_add(c, name);
        struct sim_link *link = link_add(c, last, router, one_in(c, 3));
        if (number)
            narrow(c, link);
        last = router;
    }
    link_add(c, last, host_add(c), true);
}

// Two switches with hosts, and two routers that lead from one to the other.
static void build_halls(struct campaign *c)
{
    struct sim_node *halls[2] = {sim_switch_add(c->sim, "hall0"), sim_switch_add(c->sim, "hall1")};
    const uint32_t count = between(c, 2, 6);
    for (uint32_t number = 0; number < count; number++)
        link_add(c, host_add(c), halls[number % 2], one_in(c, 3));
    for (uint32_t number = 0; number < 2; number++) {
        struct sim_node *router = router_add(c, number ? "r1" : "r0");
        link_add(c, halls[0], router, one_in(c, 6));
        link_add(c, router, halls[1], one_in(c, 6));
    }
}

// --- routers ---------------------------------------------------------------------------------------------------------

static void routers_speak(struct campaign *c)
{
    for (uint32_t number = 0; number < c->router_count; number++)
        sim_router_advertise(c->routers[number], &c->says);
}

// A prefix that was there goes out of use, and the next one takes its place.
static void renumber(struct campaign *c)
{
    struct sim_advertisement *says = &c->says;
    const uint8_t next = (uint8_t)(says->prefixes[says->prefix_count - 1].number + 1);
    if (says->prefix_count == sizeof says->prefixes / sizeof *says->prefixes)
        memmove(says->prefixes, says->prefixes + 1, --says->prefix_count * sizeof *says->prefixes);
    says->prefixes[says->prefix_count - 1].preferred_s = 0;
    says->prefixes[says->prefix_count++] = (struct sim_prefix){next, 3600, 7200};
    if (c->out)
        fprintf(c->out, "  at %llu ms prefix %u takes over\n", (unsigned long long)c->sim->now_ns / 1000000, next);
    routers_speak(c);
}

static void kill_or_revive(struct campaign *c)
{
    struct sim_node *router = c->dead ? c->dead : c->routers[pick(c, c->router_count)];
    sim_router_kill(router, !c->dead);
    c->dead = c->dead ? NULL : router;
    if (c->out)
        fprintf(c->out, "  at %llu ms %s is %s\n", (unsigned long long)c->sim->now_ns / 1000000, router->name,
                c->dead ? "dead" : "there again");
}

static void turn(void *context)
{
    struct campaign *c = context;
    if (c->shape == HALLS && one_in(c, 2))
        kill_or_revive(c);
    else
        renumber(c);
    if (--c->turns)
        sim_event_set(c->sim, &c->turn, c->sim->now_ns + SIM_MS(spread(c, 100, 60000)));
}

static void plan_routers(struct campaign *c)
{
    c->says = (struct sim_advertisement){.lifetime_s = 1800,
                                         .mtu = one_in(c, 2) ? c->mtu : 0,
                                         .every_ns = SIM_MS(spread(c, 3000, 600000)),
                                         .prefix_count = 1,
                                         .prefixes = {{0, 3600, 7200}}};
    routers_speak(c);
    c->turns = one_in(c, 2) ? between(c, 1, 4) : 0;
    if (!c->turns)
        return;
    c->clean = false;
    c->outage |= c->shape == HALLS;  // a dead router is found out after seconds
    sim_event_set(c->sim, &c->turn, SIM_MS(spread(c, 1, 20000)));
}

static void choose_shape(struct campaign *c)
{
    static const uint16_t mtus[] = {1500, 1500, 576, 296, 128, 9000}, mtus6[] = {1500, 1500, 1280, 1280, 1400, 9000};
    static const enum shape routed[] = {DUMBBELL, CHAIN, HALLS, HALLS};
    c->shape = c->autoconfigured ? routed[pick(c, 4)] : (enum shape)pick(c, SHAPES);
    c->mtu = (speaks_ip6(c) ? mtus6 : mtus)[pick(c, c->shape == PAIR ? 6 : 3)];
    if (c->out)
        fprintf(c->out, "  shape %d, MTU %u%s%s\n", c->shape, c->mtu, speaks_ip6(c) ? ", IPv6" : "",
                c->autoconfigured ? ", addresses by routers" : "");
}

static void build(struct campaign *c)
{
    choose_shape(c);
    switch (c->shape) {
    case HALLS: build_halls(c); break;
    case STAR: build_star(c); break;
    case DUMBBELL: build_dumbbell(c); break;
    case CHAIN: build_chain(c); break;
    default: {
        struct sim_node *a = host_add(c);
        link_add(c, a, host_add(c), true);
    }
    }
    if (c->autoconfigured)
        plan_routers(c);
}

// --- users -----------------------------------------------------------------------------------------------------------

static void plan_user(struct campaign *c, struct sim_user *user)
{
    user->bytes = one_in(c, 4) ? 0 : spread(c, 1, c->most);
    user->write_most = one_in(c, 2) ? 0 : spread(c, 1, 10000);
    user->read_most = one_in(c, 2) ? 0 : spread(c, 1, 10000);
    if (one_in(c, 4))
        user->write_every_ns = SIM_US(spread(c, 10, 300000));
    if (one_in(c, 5))
        user->read_every_ns = SIM_US(spread(c, 10, 300000));
    user->read_from_ns = one_in(c, 8) ? SIM_MS(spread(c, 1, 30000)) : 0;
    user->in_place = one_in(c, 2);
    user->no_delay = one_in(c, 3);
    user->quick_ack = one_in(c, 5);
    user->send_buffer = one_in(c, 3) ? spread(c, 1024, 100000) : 0;
    user->receive_buffer = one_in(c, 3) ? spread(c, 1024, 100000) : 0;
    user->abort_after = one_in(c, 14) && user->bytes ? between(c, 1, (uint32_t)user->bytes) : 0;
}

// Small pieces of much data are slow work for the machine, and pauses between them for the virtual clock.
static void plan_balance(struct sim_user *reader, struct sim_user *writer)
{
    const uint64_t pieces = 3000;
    if (writer->write_most && writer->bytes / writer->write_most > pieces)
        writer->write_most = 0;
    if (reader->read_most && writer->bytes / reader->read_most > pieces)
        reader->read_most = 0;
    const uint64_t writes = writer->bytes / (writer->write_most ? writer->write_most : 65536) + 1;
    const uint64_t reads = writer->bytes / (reader->read_most ? reader->read_most : 1000) + 1;
    if (writer->write_every_ns > TIGHT_NS / writes)
        writer->write_every_ns = TIGHT_NS / writes;
    if (reader->read_every_ns > TIGHT_NS / reads)
        reader->read_every_ns = TIGHT_NS / reads;
}

static void describe_user(FILE *out, const char *name, const struct sim_user *u)
{
    fprintf(out,
            "    %s sends %llu by %u every %llu us, reads by %u every %llu us from %llu us on, buffers %u %u%s%s%s%s, "
            "aborts after %llu\n",
            name, (unsigned long long)u->bytes, u->write_most, (unsigned long long)u->write_every_ns / 1000,
            u->read_most, (unsigned long long)u->read_every_ns / 1000, (unsigned long long)u->read_from_ns / 1000,
            u->send_buffer, u->receive_buffer, u->in_place ? " in place" : "", u->no_delay ? " nodelay" : "",
            u->quick_ack ? " quickack" : "", u->close_at_once ? " closes at once" : "",
            (unsigned long long)u->abort_after);
}

static void limit_memory(struct sim_host *host, const struct sim_user *user)
{
    uint64_t *limit = &host->options.memory_limit_bytes;
    const uint64_t send = user->send_buffer ? user->send_buffer : WEIR_CFG_TCP_SEND_BYTES;
    const uint64_t receive = user->receive_buffer ? user->receive_buffer : WEIR_CFG_TCP_RECEIVE_BYTES;
    // Chunks round up, and small segments out of order cost more than their bytes.
    *limit = (*limit ? *limit : ROOM_BYTES) + (send + receive) * 5 / 4 + 65536;
    const uint64_t budget = host->options.config.memory_budget_bytes;
    if (budget && *limit > budget + 2 * ROOM_BYTES)
        *limit = budget + 2 * ROOM_BYTES;
}

static void add_flow(struct campaign *c)
{
    const uint32_t from = pick(c, c->host_count), to = (from + between(c, 1, c->host_count - 1)) % c->host_count;
    struct sim_flow_options options = {.start_ns = one_in(c, 2) ? 0 : SIM_US(spread(c, 1, 5000000))};
    plan_user(c, &options.client);
    plan_user(c, &options.server);
    if (!options.client.bytes && !options.server.bytes)
        options.client.bytes = between(c, 1, c->most);
    plan_balance(&options.client, &options.server);
    plan_balance(&options.server, &options.client);
    options.may_fail = c->outage;
    options.client.close_at_once = !options.server.bytes && one_in(c, 3);
    if (one_in(c, 2))
        options.congestion_control = plan_congestion(c);
    limit_memory(c->hosts[from], &options.client);
    limit_memory(c->hosts[to], &options.server);
    if (options.client.abort_after || options.server.abort_after)
        c->clean = false;
    if (c->out) {
        fprintf(c->out, "  flow from h%u to h%u, %s, at %llu us\n", from, to,
                options.congestion_control ? options.congestion_control : "default",
                (unsigned long long)options.start_ns / 1000);
        describe_user(c->out, "client", &options.client);
        describe_user(c->out, "server", &options.server);
    }
    sim_flow_add(c->sim, c->hosts[from], c->hosts[to], &options);
    c->flow_count++;
}

static void add_flows(struct campaign *c)
{
    const uint32_t count = one_in(c, 3) ? 1 : one_in(c, 8) ? between(c, 6, 20) : between(c, 2, 5);
    c->most = (c->mtu < 500 ? 30000u : one_in(c, 12) ? 2000000u : 200000u) / count;
    for (uint32_t number = 0; number < count; number++)
        add_flow(c);
}

// In the middle of it a link becomes another one.
static void change(void *context)
{
    struct campaign *c = context;
    const struct sim_way *before = &c->sim->links->ways[0].way;
    const uint16_t mtu = before->mtu;
    plan_way(c, &c->changed, true);
    c->changed.mtu = mtu;
    if (c->changed.delay_ns != before->delay_ns)
        c->clean = false;  // what leaves now overtakes what is under way, or is later than any timer expects
    if (c->out)
        describe_way(c, c->sim->links->name, "becomes", &c->changed);
    sim_link_set(c->sim->links, false, &c->changed);
}

// --- the run ---------------------------------------------------------------------------------------------------------

static bool all_finished(void *context)
{
    struct campaign *c = context;
    for (const struct sim_flow *flow = sim_flow_next(c->sim, NULL); flow; flow = sim_flow_next(c->sim, flow))
        if (!sim_flow_stats(flow)->finished)
            return false;
    return true;
}

static void check_finished(struct campaign *c)
{
    for (const struct sim_flow *flow = sim_flow_next(c->sim, NULL); flow; flow = sim_flow_next(c->sim, flow)) {
        const struct sim_flow_stats *stats = sim_flow_stats(flow);
        struct weir_tcp_info info = {0};
        if (stats->finished)
            continue;
        (void)sim_flow_info(flow, false, &info);
        sim_fail(c->sim,
                 "a flow stalled for good: sent %llu and %llu, received %llu and %llu; client %s, cwnd %u, inflight "
                 "%u, lost %u, snd_wnd %u, "
                 "unsent %u, backoff %u, receive queue %u",
                 (unsigned long long)stats->sent[0], (unsigned long long)stats->sent[1],
                 (unsigned long long)stats->received[0], (unsigned long long)stats->received[1],
                 weir_tcp_state_name((enum weir_tcp_state)info.state), info.cwnd, info.inflight, info.lost,
                 info.snd_wnd, info.unsent, info.backoff, info.receive_queue);
    }
}

static uint32_t counted(const struct campaign *c, enum weir_counter counter)
{
    uint32_t sum = 0;
    for (uint32_t number = 0; number < c->host_count; number++)
        sum += weir_counter_get(c->hosts[number]->weir, counter);
    return sum;
}

// A network that loses, delays and doubles nothing gives no reason to send anything twice. (The byte of a window probe
// goes again with the next probe, and when the window opens. And of the SYN-ACKs that wait for a neighbour's address
// only the first few are kept.)
static void check_no_waste(struct campaign *c)
{
    const uint32_t again = counted(c, WEIR_COUNT_TCP_RETRANSMITTED), timeouts = counted(c, WEIR_COUNT_TCP_RTO);
    if (c->clean && !c->starved && c->flow_count <= WAITING &&
        (timeouts || again > 2 * counted(c, WEIR_COUNT_TCP_PROBE)))
        sim_fail(c->sim, "%u timeouts and %u retransmissions in a perfect network", timeouts, again);
}

static void make_perfect(struct campaign *c)
{
    static const struct sim_way perfect = {0};
    sim_event_cancel(c->sim, &c->change);
    sim_event_cancel(c->sim, &c->turn);
    if (c->dead)
        sim_router_kill(c->dead, false);
    c->says.every_ns = 0;  // once more
    routers_speak(c);
    for (struct sim_link *link = c->sim->links; link; link = link->next) {
        sim_event_cancel(c->sim, &link->flap);
        sim_link_cut(link, false);
        sim_link_set(link, false, &perfect);
        sim_link_set(link, true, &perfect);
    }
    for (uint32_t number = 0; number < c->host_count; number++)
        c->hosts[number]->options.fail_allocations_ppm = 0;
}

static void check_rest(struct campaign *c, uint32_t number)
{
    struct sim_host *host = c->hosts[number];
    struct weir_socket_info info;
    uint64_t cursor = 0;
    while ((cursor = weir_socket_next(host->weir, cursor, &info)) != 0)
        sim_fail(c->sim, "%s still has a socket in %s", host->node.name,
                 weir_tcp_state_name((enum weir_tcp_state)info.tcp_state));
    if (host->memory > c->memory[number] + KEPT_BYTES + KEPT_A_FLOW * c->flow_count)
        sim_fail(c->sim, "%s rests with %llu bytes, it began with %llu", host->node.name,
                 (unsigned long long)host->memory, (unsigned long long)c->memory[number]);
}

static void converse(struct campaign *c)
{
    for (uint32_t number = 0; number < c->host_count; number++)
        c->memory[number] = c->hosts[number]->memory;
    if (!sim_run_until(c->sim, all_finished, c, LIMIT_NS))
        return;
    check_finished(c);
    check_no_waste(c);
    make_perfect(c);
    if (!sim_run(c->sim, c->sim->now_ns + REST_NS))
        return;
    for (uint32_t number = 0; number < c->host_count; number++)
        check_rest(c, number);
    if (c->sim->frames.under_way)
        sim_fail(c->sim, "%u frames are still under way", c->sim->frames.under_way);
}

static void take_result(const struct campaign *c, struct campaign_result *result)
{
    memset(result, 0, sizeof *result);
    result->events = sim_events(c->sim);
    result->virtual_ns = sim_now(c->sim);
    result->hosts = c->host_count;
    result->flows = c->flow_count;
    result->retransmitted = counted(c, WEIR_COUNT_TCP_RETRANSMITTED);
    result->timeouts = counted(c, WEIR_COUNT_TCP_RTO);
    for (const struct sim_flow *flow = sim_flow_next(c->sim, NULL); flow; flow = sim_flow_next(c->sim, flow)) {
        result->bytes += sim_flow_stats(flow)->received[0] + sim_flow_stats(flow)->received[1];
        result->failed_flows += sim_flow_stats(flow)->failed;
    }
    if (c->sim->failure[0])
        snprintf(result->failure, sizeof result->failure, "%s", c->sim->failure);
}

bool campaign_run(uint64_t seed, const char *capture, FILE *out, struct campaign_result *result)
{
    // Every third network speaks IPv6; in half of these routers give the addresses.
    uint64_t family = random_state(seed, 97), addresses = random_state(seed, 98);
    const bool version6 = WEIR_CFG_IP6 && random_one_in(&family, 3);
    struct campaign c = {.sim = sim_open(&(struct sim_options){.seed = seed, .family = version6 ? 6 : 4}),
                         .autoconfigured = version6 && random_one_in(&addresses, 2),
                         .out = out,
                         .capture = capture,
                         .loss_left_ppm = LOSS_PPM,
                         .clean = true};
    c.dice = random_state(seed, 99);
    c.change = (struct event){.happen = change, .context = &c};
    c.turn = (struct event){.happen = turn, .context = &c};
    if (out)
        fprintf(out, "seed %llu:\n", (unsigned long long)seed);
    build(&c);
    add_flows(&c);
    if (one_in(&c, 6))
        sim_event_set(c.sim, &c.change, SIM_MS(spread(&c, 1, 5000)));
    const bool early = one_in(&c, 20);  // everything is torn down in the middle
    if (early)
        sim_run(c.sim, SIM_MS(spread(&c, 1, 3000)));
    else
        converse(&c);
    take_result(&c, result);
    sim_close(c.sim);
    return !result->failure[0];
}
