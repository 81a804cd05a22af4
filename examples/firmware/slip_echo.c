// SPDX-License-Identifier: BSD-2-Clause
// echo.c over a serial line: the board's second one, with SLIP.
#define BOARD_NETIF board_slip
#include "echo.c"
