// SPDX-License-Identifier: BSD-2-Clause
// The port to no kernel at all: one loop that takes frames in, lets Weir work, calls the watches of sockets with news,
// and sleeps until the next deadline or interrupt. Nothing blocks; there is no lock, since only the loop touches the
// instance. Interrupt handlers call superloop_wake and nothing else of Weir.
//
//     static struct superloop loop;
//     superloop_init(&loop, &board, board_sleep);
//     weir = weir_create(memory, sizeof memory, &loop.core.port, NULL);
//     port_attach(&loop.core, weir);
//     add interfaces (port_add), open sockets with watches
//     superloop_run(&loop);
#ifndef SUPERLOOP_H
#define SUPERLOOP_H

#include "../common/core.h"
#include "weir/language.h"
#include "weir/linkage/superloop.h"

WEIR_BEGIN_DECLS

// Sleeps until the moment (µs; WEIR_NEVER) or an interrupt, unless *awake is true already, which it sees together with
// going to sleep: an interrupt between the look and the sleep must end the sleep.
typedef void superloop_sleep(uint64_t until_us, const volatile bool *awake);

struct superloop {
    struct port_core core;  // first
    superloop_sleep *sleep;
    volatile bool awake;  // something happened since the loop last looked
    uint32_t sleeps;
};

void superloop_init(struct superloop *loop, const struct port_board *board, superloop_sleep *sleep);
// From an interrupt handler: the loop shall not sleep, or wakes.
static inline void superloop_wake(struct superloop *loop) { loop->awake = true; }
// One turn, without sleeping. Returns when the next is due, µs: not after now when work is left.
uint64_t superloop_turn(struct superloop *loop);
WEIR_NORETURN void superloop_run(struct superloop *loop);

WEIR_END_DECLS

#endif
