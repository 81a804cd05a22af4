// SPDX-License-Identifier: BSD-2-Clause
// What applications of apps/ stand on where there is no kernel: a superloop, their loop, and one interface.
#ifndef BOARDS_APPS_BOARD_H
#define BOARDS_APPS_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "loop.h"
#include "ports/superloop/superloop.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

struct apps_board {
    struct superloop superloop;
    struct loop loop;
    struct weir_netif netif;
};

// Brings the board and its interface up, with an instance in `memory` (aligned to 8 bytes). False, and said on the
// console: no memory, or no interface.
bool apps_board_start(struct apps_board *board, void *memory, size_t bytes);
// Runs what is due. Returns the next deadline, µs of board_now_us, for apps_board_sleep.
uint64_t apps_board_turn(struct apps_board *board);
// Until then, or an interrupt.
void apps_board_sleep(struct apps_board *board, uint64_t until_us);

WEIR_END_DECLS

#endif
