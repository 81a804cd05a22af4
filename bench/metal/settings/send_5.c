// SPDX-License-Identifier: BSD-2-Clause
// A board that sends from a queue of five times 4 KB.
#define BOARD_CONFIG .tcp_send_buffer_bytes = 20480
#include "boards/start.c"
