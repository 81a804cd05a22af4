// SPDX-License-Identifier: BSD-2-Clause
#include "boards/apps_board.h"
#include "boards/board.h"
#include "boards/start.h"

bool apps_board_start(struct apps_board *board, void *memory, size_t bytes)
{
    board_init();
    superloop_init(&board->superloop, &board_port, board_sleep);
    board_ethernet(&board->netif, &board->superloop.awake);
    struct weir *weir = board_start(&board->superloop.core, &board->netif, memory, bytes);
    if (!weir) {
        board_puts("weir: no memory, or no interface\n");
        return false;
    }
    loop_init(&board->loop, weir);
    return true;
}

uint64_t apps_board_turn(struct apps_board *board)
{
    const uint64_t due_us = superloop_turn(&board->superloop), apps_due_us = loop_run(&board->loop, board_now_us());
    return due_us < apps_due_us ? due_us : apps_due_us;
}

void apps_board_sleep(struct apps_board *board, uint64_t until_us) { board_sleep(until_us, &board->superloop.awake); }
