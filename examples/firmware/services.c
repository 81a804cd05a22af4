// SPDX-License-Identifier: BSD-2-Clause
// The small services of a host, without a kernel: echo (port 7), discard (9), chargen (19), and HTTP with the live
// status page (80).
#include <stdbool.h>

#include "apps/chargen.h"
#include "apps/discard.h"
#include "apps/echo.h"
#include "apps/status/server.h"
#include "boards/apps_board.h"
#include "boards/board.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES 8192
#endif

static struct apps_board board;
static struct echo echo;
static struct discard discard;
static struct chargen chargen;
static struct status_server http;
static uint64_t memory[MEMORY_BYTES / 8];

static bool start(void)
{
    static struct weir_netif *const netifs[] = {&board.netif};
    return echo_start(&echo, &board.loop, 7) >= 0 && discard_start(&discard, &board.loop, 9) >= 0 &&
           chargen_start(&chargen, &board.loop, 19) >= 0 && status_server_start(&http, &board.loop, 80, netifs, 1) >= 0;
}

int main(void)
{
    if (!apps_board_start(&board, memory, sizeof memory))
        return 1;
    if (!start()) {
        board_puts("weir: no memory for the services\n");
        return 1;
    }
    board_puts("weir: echo on port 7, discard 9, chargen 19, http 80\n");
    for (;;)
        apps_board_sleep(&board, apps_board_turn(&board));
}
