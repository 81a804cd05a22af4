// SPDX-License-Identifier: BSD-2-Clause
// The randomized campaign: a seed stands for a network (hosts, switches, routers, links and their faults), for what its
// users write, read, wait for and break off, and for what goes wrong meanwhile. Everything the simulator checks is
// checked, and at the end that all flows ended, all bytes came, and no socket and no memory is left.
#ifndef SIM_CAMPAIGN_H
#define SIM_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct campaign_result {
    uint64_t events, bytes, virtual_ns;
    uint32_t hosts, flows, retransmitted, timeouts, failed_flows;
    char failure[400];  // "": none
};

// Runs one seed; false: see failure. `capture`: folder for a pcapng file of each link, NULL: none. `out`: told what the
// seed stands for.
bool campaign_run(uint64_t seed, const char *capture, FILE *out, struct campaign_result *result);

#endif
