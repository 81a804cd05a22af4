// SPDX-License-Identifier: BSD-2-Clause
// The port to no kernel at all: one loop that takes frames in, lets Weir work, calls the watches of sockets with news, and sleeps until the
// next deadline or interrupt. Nothing blocks; there is no lock, since only the loop touches the instance. Interrupt handlers call
// superloop_wake and nothing else of Weir.
//
//     static struct superloop loop;
//     superloop_init(&loop, &board);
//     weir = weir_create(memory, sizeof memory, &loop.port, NULL);
//     superloop_attach(&loop, weir);
//     … interfaces (superloop_add), sockets with watches …
//     superloop_run(&loop);
#ifndef SUPERLOOP_H
#define SUPERLOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/instance.h"
#include "weir/netif.h"

#ifndef SUPERLOOP_NETIFS
#define SUPERLOOP_NETIFS 1
#endif
#define SUPERLOOP_BUDGET 8   // frames an interface delivers before the other work has its turn
#define SUPERLOOP_EVENTS 16  // sockets with news handled in a turn

// What the loop needs of a board.
struct superloop_board {
    uint64_t (*now_us)(void);
    uint32_t granularity_us;
    void (*entropy)(void *out, size_t bytes);
    // Sleeps until the moment (µs; WEIR_NEVER) or an interrupt, unless *awake is true already, which it sees together with going to sleep:
    // an interrupt between the look and the sleep must end the sleep.
    void (*sleep)(uint64_t until_us, const volatile bool *awake);
    // Memory, for builds with an allocator; NULL both otherwise.
    void *(*alloc)(size_t bytes);
    void (*free)(void *memory);
};

struct superloop {
    struct weir_port port;  // give &loop.port to weir_create
    const struct superloop_board *board;
    struct weir *weir;
    struct weir_netif *netifs[SUPERLOOP_NETIFS];
    uint8_t netif_count;
    volatile bool awake;  // something happened since the loop last looked
    uint32_t turns, sleeps;
};

void superloop_init(struct superloop *loop, const struct superloop_board *board);
void superloop_attach(struct superloop *loop, struct weir *weir);
// An interface that was added to the instance: its driver->poll is called in every turn. false: there are SUPERLOOP_NETIFS already.
bool superloop_add(struct superloop *loop, struct weir_netif *netif);
// From an interrupt handler: the loop shall not sleep, or wakes.
static inline void superloop_wake(struct superloop *loop) { loop->awake = true; }
// One turn, without sleeping. Returns when the next is due, µs: not after now when work is left.
uint64_t superloop_turn(struct superloop *loop);
_Noreturn void superloop_run(struct superloop *loop);

#endif
