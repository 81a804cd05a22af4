// SPDX-License-Identifier: BSD-2-Clause
// The small services of a host, without a kernel: echo (port 7), discard (9), chargen (19), and HTTP with the live status page (80).
#include <stdbool.h>

#include "apps/chargen.h"
#include "apps/discard.h"
#include "apps/echo.h"
#include "apps/http/http.h"
#include "boards/board.h"
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
    static const struct superloop_board board = {.now_us = board_now_us,
                                                 .granularity_us = 1,
                                                 .entropy = board_entropy,
                                                 .sleep = board_sleep,
                                                 .alloc = board_alloc,
                                                 .free = board_free};
    static struct weir_netif *const netifs[] = {&netif};
    superloop_init(&superloop, &board);
    struct weir *weir = weir_create(memory, sizeof memory, &superloop.port, NULL);
    if (!weir)
        return false;
    superloop_attach(&superloop, weir);
    loop_init(&loop, weir);
    board_ethernet(&netif, &superloop.awake);
    return weir_netif_add(weir, &netif) >= 0 && superloop_add(&superloop, &netif) &&
           weir_netif_set_address(&netif, weir_ip4(BOARD_ADDRESS), BOARD_PREFIX, WEIR_ADDRESS_AT_ONCE) >= 0 &&
           echo_start(&echo, &loop, 7) >= 0 && discard_start(&discard, &loop, 9) >= 0 && chargen_start(&chargen, &loop, 19) >= 0 &&
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
