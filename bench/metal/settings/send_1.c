// SPDX-License-Identifier: BSD-2-Clause
// A board that sends from a queue of 4 KB.
#define BOARD_CONFIG .tcp_send_buffer_bytes = 4096
#include "boards/start.c"
