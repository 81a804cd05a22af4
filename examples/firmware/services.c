// SPDX-License-Identifier: BSD-2-Clause
// The small services of a host, without a kernel: echo (port 7), discard (9), chargen (19), and HTTP with the live status page (80).
#include <stdbool.h>

#include "apps/chargen.h"
#include "apps/discard.h"
#include "apps/echo.h"
#include "apps/http/http.h"
#include "boards/board.h"
#include "boards/start.h"
#include "superloop/superloop.h"
#include "weir/instance.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES 8192
#endif

static struct superloop superloop;
static struct loop loop;
static struct weir_netif netif;
static struct echo echo;
static struct discard discard;
static struct chargen chargen;
static struct http http;
static uint64_t memory[MEMORY_BYTES / 8];

static bool start(void)
{
    static struct weir_netif *const netifs[] = {&netif};
    superloop_init(&superloop, &board_port, board_sleep);
    board_ethernet(&netif, &superloop.awake);
    struct weir *weir = board_start(&superloop.core, &netif, memory, sizeof memory);
    if (!weir)
        return false;
    loop_init(&loop, weir);
    return echo_start(&echo, &loop, 7) >= 0 && discard_start(&discard, &loop, 9) >= 0 && chargen_start(&chargen, &loop, 19) >= 0 &&
           http_start(&http, &loop, 80, netifs, 1) >= 0;
}

int main(void)
{
    board_init();
    if (!start()) {
        board_puts("weir: no memory, or no interface\n");
        return 1;
    }
    board_puts("weir: echo on port 7, discard 9, chargen 19, http 80\n");
    for (;;) {
        const uint64_t due_us = superloop_turn(&superloop), now_us = board_now_us(), apps_due_us = loop_run(&loop, now_us);
        board_sleep(due_us < apps_due_us ? due_us : apps_due_us, &superloop.awake);
    }
}
