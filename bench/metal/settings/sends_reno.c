// SPDX-License-Identifier: BSD-2-Clause
// A board that sends with reno, its queues as they are.
#define BOARD_CONFIG .congestion_control = "reno"
#include "boards/start.c"
