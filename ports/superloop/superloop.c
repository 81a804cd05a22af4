// SPDX-License-Identifier: BSD-2-Clause
#include "superloop.h"

static void port_kick(void *context) { superloop_wake(context); }

void superloop_init(struct superloop *loop, const struct port_board *board, superloop_sleep *sleep)
{
    *loop = (struct superloop){.sleep = sleep};
    port_init(&loop->core, board);
    loop->core.port.kick = port_kick;
}

uint64_t superloop_turn(struct superloop *loop)
{
    loop->awake = false;  // before looking: what comes from now on is seen in the next turn
    return port_turn(&loop->core);
}

_Noreturn void superloop_run(struct superloop *loop)
{
    for (;;) {
        const uint64_t due_us = superloop_turn(loop);
        if (due_us > loop->core.board->now_us()) {
            loop->sleeps++;
            loop->sleep(due_us, &loop->awake);
        }
    }
}
