// SPDX-License-Identifier: BSD-2-Clause
// Weir on the cooperative kernel (kernel/coop): the stack is the kernel's server. There is one context, so there is no
// lock; blocking is the business of the API above (api/romantiki), by the watches of its sockets.
//
//     static uint64_t memory[…];
//     coop_port_start(&board, memory, sizeof memory);    // begins the kernel too
//     coop_port_add(&netif);
//     make tasks
//     coop_run();
#ifndef COOP_PORT_H
#define COOP_PORT_H

#include "kernel/coop/coop.h"
#include "weir/instance.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef COOP_PORT_BUDGET
#define COOP_PORT_BUDGET 4  // frames an interface delivers before the tasks have their turn
#endif
#ifndef COOP_PORT_PRIORITY
#define COOP_PORT_PRIORITY 128  // of the stack among the tasks
#endif
#ifndef COOP_PORT_NETIFS
#define COOP_PORT_NETIFS WEIR_CFG_NETIFS
#endif

struct coop_board {
    struct coop_system system;
    struct weir_port port;  // entropy, and what else the board has; the rest may stay NULL
};

// The kernel without tasks and an instance in `memory`; NULL: it is too small. `board` is kept.
struct weir *coop_port_start(const struct coop_board *board, void *memory, size_t bytes);
// An interface that weir_netif_add took: it is polled in every round. false: there are COOP_PORT_NETIFS already.
bool coop_port_add(struct weir_netif *netif);
struct weir *coop_port_weir(void);

WEIR_END_DECLS

#endif
