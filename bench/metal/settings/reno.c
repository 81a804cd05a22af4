// SPDX-License-Identifier: BSD-2-Clause
// A board that sends with reno and receives into 5 KB.
#define BOARD_CONFIG .congestion_control = "reno", .tcp_receive_buffer_bytes = 5120
#include "boards/start.c"
