// SPDX-License-Identifier: BSD-2-Clause
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct sim *sim_open(const struct sim_options *options)
{
    struct sim *sim = calloc(1, sizeof *sim);
    if (!sim)
        abort();
    if (options)
        sim->options = *options;
    sim->last_node = &sim->nodes;
    sim->last_link = &sim->links;
    sim->last_flow = &sim->flows;
    sim->random = random_state(sim->options.seed, 1);
    if (!sim->options.unchecked)
        sim->check = check_open(sim);
    return sim;
}

static void nodes_free(struct sim *sim)
{
    while (sim->nodes) {
        struct sim_node *node = sim->nodes;
        sim->nodes = node->next;
        free(node->towards);
        free(node);
    }
    free(sim->hosts);
}

void sim_close(struct sim *sim)
{
    sim->closing = true;
    flows_close(sim);
    hosts_close(sim);
    links_close(sim);
    scheduler_free(sim);
    if (sim->check)
        check_close(sim->check);
    frames_free(&sim->frames);
    nodes_free(sim);
    events_free(&sim->events);
    free(sim);
}

void sim_fail(struct sim *sim, const char *format, ...)
{
    va_list arguments;
    if (sim->failure[0] || sim->closing)
        return;
    const int length = snprintf(sim->failure, sizeof sim->failure,
                                "at %llu.%09llu s: ", (unsigned long long)(sim->now_ns / 1000000000),
                                (unsigned long long)(sim->now_ns % 1000000000));
    va_start(arguments, format);
    vsnprintf(sim->failure + length, sizeof sim->failure - (size_t)length, format, arguments);
    va_end(arguments);
}

const char *sim_failure(const struct sim *sim) { return sim->failure[0] ? sim->failure : NULL; }
uint64_t sim_now(const struct sim *sim) { return sim->now_ns; }
uint64_t sim_events(const struct sim *sim) { return sim->happened; }
uint64_t sim_draw(struct sim *sim) { return random_draw(&sim->random); }
void sim_event_set(struct sim *sim, struct event *event, uint64_t at_ns)
{
    event_set(&sim->events, event, at_ns > sim->now_ns ? at_ns : sim->now_ns);
}
void sim_event_cancel(struct sim *sim, struct event *event) { event_cancel(&sim->events, event); }

bool sim_run_until(struct sim *sim, bool (*done)(void *context), void *context, uint64_t limit_ns)
{
    while (!sim->failure[0]) {
        struct event *event = event_first(&sim->events);
        if (!event || event->at_ns > limit_ns) {
            sim->now_ns = limit_ns > sim->now_ns && limit_ns != SIM_NEVER ? limit_ns : sim->now_ns;
            return true;
        }
        sim->now_ns = event->at_ns;
        event_cancel(&sim->events, event);
        sim->happened++;
        event->happen(event->context);
        if (done && done(context))
            break;
    }
    return !sim->failure[0];
}

bool sim_run(struct sim *sim, uint64_t until_ns) { return sim_run_until(sim, NULL, NULL, until_ns); }
