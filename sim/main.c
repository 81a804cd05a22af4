// SPDX-License-Identifier: BSD-2-Clause
// weir-sim: runs a scenario of the simulator. weir-sim --help lists scenarios and settings.
#include <stddef.h>

#include "scenario.h"

int main(int argc, char **argv) { return scenario_main(argc, argv, NULL); }
