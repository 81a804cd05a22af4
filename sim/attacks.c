// SPDX-License-Identifier: BSD-2-Clause
// The scenario attack: many seeds of attack.h, and the command that repeats each that failed.
#include "attack.h"

#include "replay.h"
#include "scenario.h"

int attacks_run(const struct scenario *s)
{
    const double began = scenario_real_s();
    uint64_t done = 0, lies = 0, events = 0, kept = 0;
    uint32_t failed = 0, again = 0, worst = UINT32_MAX;
    double virtual_s = 0;
    for (; done < s->count && failed < SCENARIO_FAILURES; done++) {
        struct attack_result one;
        if (s->count > 1 && s->seconds > 0 && scenario_real_s() - began >= s->seconds)
            break;
        const uint64_t seed = s->seed + done;
        scenario_replay_seed(s, seed);
        if (!attack_run(seed, *s->pcap ? s->pcap : NULL, s->count == 1 ? stderr : NULL, &one)) {
            failed++;
            fprintf(stderr, "seed %llu: %s\n  to replay: %s\n", (unsigned long long)seed, one.failure,
                    replay_command());
        }
        again += one.tried_again;
        lies += one.lies;
        events += one.events;
        virtual_s += (double)one.virtual_ns / 1e9;
        kept += one.keeps_percent;
        worst = one.keeps_percent < worst ? one.keeps_percent : worst;
    }
    scenario_replay(s);
    printf("{\"seeds\": %llu, \"failed\": %u, \"tried_again\": %u, \"lies\": %llu, \"keeps_percent_worst\": %u, "
           "\"keeps_percent_mean\": "
           "%.1f, \"events\": %llu, "
           "\"virtual_s\": %.0f, \"real_s\": %.1f}\n",
           (unsigned long long)done, failed, again, (unsigned long long)lies, done ? worst : 0,
           done ? (double)kept / (double)done : 0, (unsigned long long)events, virtual_s, scenario_real_s() - began);
    return failed ? 1 : 0;
}
