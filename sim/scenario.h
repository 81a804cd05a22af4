// SPDX-License-Identifier: BSD-2-Clause
// What the program weir-sim runs, and its settings. A setting is a row of `settings` in scenario.c: on the command line
// --name value, in a file name = value.
#ifndef SIM_SCENARIO_H
#define SIM_SCENARIO_H

#include <stdbool.h>
#include <stdio.h>

#include "sim.h"

#define SCENARIO_TEXT 256u
#define SCENARIO_FAILURES 10u  // of many seeds, enough to look at

struct scenario {
    const char *program;  // as it was typed
    const struct weir_cc *const
        *congestion_controls;  // the program's own, by whose names cc and other_cc may go, too; NULL: none
    uint64_t given;            // a bit for each setting that was set
    char name[SCENARIO_TEXT];
    uint64_t seed, count, flows, others, bytes, send_buffer, receive_buffer, tick_us, mtu, queue_frames, mark, hosts,
        police_bytes, unchecked, family, spare_arp, greeting, counters;
    double rate, delay, jitter, loss, back_loss, burst, burst_end, burst_loss, corrupt, duplicate, reorder, reorder_ms,
        queue, bdp, police, seconds, start;
    char cc[SCENARIO_TEXT], other_cc[SCENARIO_TEXT], aqm[SCENARIO_TEXT], ecn[SCENARIO_TEXT], pcap[SCENARIO_TEXT],
        trace[SCENARIO_TEXT];
};

// weir-sim's main function, also for a program that has congestion controls of its own (ended by NULL; NULL: none).
int scenario_main(int argc, char **argv, const struct weir_cc *const *congestion_controls);

void scenario_defaults(struct scenario *scenario);
// 0; or −1 with a sentence on standard error.
int scenario_set(struct scenario *scenario, const char *name, const char *value);
int scenario_read(struct scenario *scenario, const char *path);
bool scenario_given(const struct scenario *scenario, const char *name);  // that setting was set, to whatever value
// It is not 4, nor 6 in a build that has it: then with a sentence on standard error.
bool scenario_family_refused(const struct scenario *scenario);
void scenario_help(FILE *out);
// The run's replay (replay.h): the program as it was typed, and the settings that differ from the defaults.
void scenario_replay(const struct scenario *scenario);
// The replay of one seed of many, which fails alone as it fails among others.
void scenario_replay_seed(const struct scenario *scenario, uint64_t seed);
// Seconds of real time, from anywhere, and of CPU.
double scenario_real_s(void);
double scenario_cpu_s(void);

struct scenario_kind {
    const char *name, *text;
    uint32_t user;                                // its bit in the table of settings
    int (*run)(const struct scenario *scenario);  // exit status
};
extern const struct scenario_kind scenario_kinds[];  // the last one has no name
// What it is, if there is such a one and it uses all that is set; or NULL with a sentence on standard error.
const struct scenario_kind *scenario_kind(const struct scenario *scenario);

int bulk_run(const struct scenario *scenario);
int campaigns_run(const struct scenario *scenario);
int attacks_run(const struct scenario *scenario);
int hosts_run(const struct scenario *scenario);
// A link and its flows as the settings say, for bulk and for those who want the same in another loop. `options` has
// been made by bulk_link; both ways.
void bulk_ways(const struct scenario *scenario, struct sim_way *there, struct sim_way *back);

#endif
