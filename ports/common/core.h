// SPDX-License-Identifier: BSD-2-Clause
// What the ports to boards share, with a kernel or without: the board's part of the contract (weir/port.h), the
// interfaces, and one turn of the stack's work. A port's own struct begins with a struct port_core, so that the
// contract's context, which is the core, is the port, too.
#ifndef PORT_CORE_H
#define PORT_CORE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/instance.h"
#include "weir/language.h"
#include "weir/linkage/superloop.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef PORT_NETIFS
#define PORT_NETIFS 1
#endif
#define PORT_BUDGET 8   // frames an interface delivers before the other work has its turn
#define PORT_EVENTS 32  // sockets with news handled in a turn

struct port_board {
    uint64_t (*now_us)(void);  // a kernel's tick is too coarse for round-trip times
    uint32_t granularity_us;   // of waiting
    void (*entropy)(void *out, size_t bytes);
    // Memory, for builds with an allocator; called by one thread at a time. NULL both otherwise.
    void *(*alloc)(size_t bytes);
    void (*free)(void *memory);
};

struct port_core {
    struct weir_port port;  // for weir_create
    const struct port_board *board;
    struct weir *weir;
    struct weir_netif *netifs[PORT_NETIFS];
    uint64_t driver_due_us;  // the earliest deadline of the drivers' own
    uint8_t netif_count;
    uint32_t turns;  // for tests and measurements
};

// Of the contract: entropy, now_us, granularity_us, alloc and free. What is beyond the board is left to the port.
void port_init(struct port_core *core, const struct port_board *board);
void port_attach(struct port_core *core, struct weir *weir);
// An interface that was added to the instance: its driver is polled in every turn. false: there are PORT_NETIFS
// already.
bool port_add(struct port_core *core, struct weir_netif *netif);
// One turn, with the lock held where there is one. Returns when the next is due, µs: not after now when work is left.
uint64_t port_turn(struct port_core *core);
uint64_t port_turn_now(struct port_core *core);  // the same for who has set the instance's clock
bool port_turn_takes(struct port_core *core);  // its first half: frames in, and who waits is told; true: there is more
// The end of a turn, whose weir_poll returned due_us: for who sends, and takes nothing in. Returns as port_turn.
uint64_t port_turn_ends(struct port_core *core, uint64_t due_us);

WEIR_END_DECLS

#endif
