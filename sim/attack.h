// SPDX-License-Identifier: BSD-2-Clause
// Attackers beside honest hosts: a seed stands for a network (a switch, a server, honest clients, liars), for what they
// send each other, and for the lies. It runs twice, with the liars honest and with them lying. What must hold beside
// what always does (docs/simulator.md): the honest flows come to their end, all together keep ATTACK_KEEPS_PERCENT of
// their goodput, no connection of the server contradicts itself, its memory has the same bound, and when the liars are
// gone nothing of theirs is left.
#ifndef SIM_ATTACK_H
#define SIM_ATTACK_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define ATTACK_KEEPS_PERCENT 80u

struct attack_result {
    uint64_t events, virtual_ns, lies;
    uint32_t keeps_percent;  // of the honest flows' goodput
    bool tried_again;        // in another form of the network, as the first fell short
    char failure[400];       // "": none
};

// Runs one seed; false: see failure. `capture`: folder for a pcapng file of each link of the second run, NULL: none.
// `out`: told what it is.
bool attack_run(uint64_t seed, const char *capture, FILE *out, struct attack_result *result);

#endif
