// SPDX-License-Identifier: BSD-2-Clause
// A board that receives over a long path: twice what 100 Mbit/s and 20 ms hold, so that a queue on the way may fill.
#define BOARD_CONFIG .tcp_receive_buffer_bytes = 524288
#include "boards/start.c"
