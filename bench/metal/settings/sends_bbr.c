// SPDX-License-Identifier: BSD-2-Clause
// A board that sends with bbr, its queues as they are.
#define BOARD_CONFIG .congestion_control = "bbr"
#include "boards/start.c"
