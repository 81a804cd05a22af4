// SPDX-License-Identifier: BSD-2-Clause
// The scenario campaign: many seeds of campaign.h, with progress, and the command that repeats each that failed.
#include "campaign.h"

#include <unistd.h>

#include "replay.h"
#include "scenario.h"

static void show_progress(const struct scenario *s, uint64_t done, double took, const struct campaign_result *sum,
                          uint32_t failed)
{
    fprintf(stderr, "%scampaign: %llu seeds (%.0f s), %llu events, %.0f s of virtual time, %llu bytes, %u failed%s",
            isatty(2) ? "\r" : "", (unsigned long long)done, took, (unsigned long long)sum->events,
            (double)sum->virtual_ns / 1e9, (unsigned long long)sum->bytes, failed,
            isatty(2) && done < s->count ? "" : "\n");
}

static void add_result(struct campaign_result *sum, const struct campaign_result *one)
{
    sum->events += one->events;
    sum->bytes += one->bytes;
    sum->virtual_ns += one->virtual_ns;
    sum->retransmitted += one->retransmitted;
    sum->timeouts += one->timeouts;
    sum->flows += one->flows;
    sum->hosts += one->hosts;
}

int campaigns_run(const struct scenario *s)
{
    struct campaign_result sum = {0}, one;
    const double began = scenario_real_s();
    double told = began;
    uint32_t failed = 0;
    uint64_t done = 0;
    for (; done < s->count && failed < SCENARIO_FAILURES; done++) {
        const double now = scenario_real_s();
        if (s->count > 1 && s->seconds > 0 && now - began > s->seconds)
            break;
        if (s->count > 1 && now - told > (isatty(2) ? 0.2 : 10)) {
            show_progress(s, done, now - began, &sum, failed);
            told = now;
        }
        const uint64_t seed = s->seed + done;
        scenario_replay_seed(s, seed);
        const bool good = campaign_run(seed, *s->pcap ? s->pcap : NULL, s->count == 1 ? stderr : NULL, &one);
        add_result(&sum, &one);
        if (good)
            continue;
        failed++;
        fprintf(stderr, "%sseed %llu: %s\n  to replay: %s\n", isatty(2) ? "\n" : "", (unsigned long long)seed,
                one.failure, replay_command());
    }
    scenario_replay(s);  // what is found only now, leaks, any of them may have left
    show_progress(s, done, scenario_real_s() - began, &sum, failed);
    printf("{\"seeds\": %llu, \"failed\": %u, \"events\": %llu, \"virtual_s\": %.3f, \"real_s\": %.3f, \"bytes\": "
           "%llu, \"hosts\": %u, "
           "\"flows\": %u, "
           "\"retransmitted\": %u, \"timeouts\": %u}\n",
           (unsigned long long)done, failed, (unsigned long long)sum.events, (double)sum.virtual_ns / 1e9,
           scenario_real_s() - began, (unsigned long long)sum.bytes, sum.hosts, sum.flows, sum.retransmitted,
           sum.timeouts);
    return failed ? 1 : 0;
}
