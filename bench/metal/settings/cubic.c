// SPDX-License-Identifier: BSD-2-Clause
// A board that sends with cubic and receives into 5 KB.
#define BOARD_CONFIG .congestion_control = "cubic", .tcp_receive_buffer_bytes = 5120
#include "boards/start.c"
