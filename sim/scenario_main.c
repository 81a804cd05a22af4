// SPDX-License-Identifier: BSD-2-Clause
// Runs the scenario that the command line asks for.
#include <string.h>

#include "replay.h"
#include "scenario.h"

static int options_read(struct scenario *scenario, int argc, char **argv)
{
    for (int at = 1; at < argc; at += 2) {
        const char *name = argv[at];
        if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
            scenario_help(stdout);
            return 1;
        }
        if (strncmp(name, "--", 2) != 0 || at + 1 == argc) {
            fprintf(stderr, "weir-sim: %s: settings come as --name value; --help lists them\n", name);
            return -1;
        }
        const int error = !strcmp(name, "--file") ? scenario_read(scenario, argv[at + 1])
                                                  : scenario_set(scenario, name + 2, argv[at + 1]);
        if (error)
            return -1;
    }
    return 0;
}

int scenario_main(int argc, char **argv, const struct weir_cc *const *congestion_controls)
{
    static struct scenario scenario;
    scenario_defaults(&scenario);
    scenario.program = argv[0];
    scenario.congestion_controls = congestion_controls;
    const int read = options_read(&scenario, argc, argv);
    if (read)
        return read < 0 ? 2 : 0;
    const struct scenario_kind *kind = scenario_kind(&scenario);
    if (!kind)
        return 2;
    scenario_replay(&scenario);
    replay_watch();
    return kind->run(&scenario);
}
