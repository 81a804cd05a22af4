// SPDX-License-Identifier: BSD-2-Clause
// The port to the preemptive kernel (kernel/preempt): the lock is a mutex whose holder inherits priority, tasks wait in one queue by their
// tokens, and an I/O thread takes frames in, runs weir_poll and wakes who waits. The driver's interrupt masks its device and calls
// preempt_port_interrupt; the thread then polls it in budgets, and the driver unmasks when it is found empty. Should there always be more,
// the thread goes on with the priority of other work, so that a flood of frames cannot keep it from running.
//
//     kernel_init(&kernel_board);
//     preempt_port_init(&port, &preempt_board);
//     weir = weir_create(memory, sizeof memory, &port.port, NULL);
//     preempt_port_attach(&port, weir);
//     weir_netif_add(weir, &netif); preempt_port_add(&port, &netif);
//     preempt_port_start(&port, &thread_config, priority);
//     bsd = bsd_create(weir, &(struct weir_bsd_config){… .set_errno = preempt_port_set_errno}); threads …
//     kernel_start();
#ifndef PREEMPT_PORT_H
#define PREEMPT_PORT_H

#include "kernel/preempt/preempt.h"
#include "weir/instance.h"
#include "weir/netif.h"

#ifndef PREEMPT_PORT_NETIFS
#define PREEMPT_PORT_NETIFS 1
#endif
#define PREEMPT_PORT_BUDGET 8       // frames an interface delivers before the other work has its turn
#define PREEMPT_PORT_EVENTS 32      // sockets with news handled in a turn
#define PREEMPT_PORT_BUSY_TURNS 32  // in a row, before the thread steps back

struct preempt_port_board {
    uint64_t (*now_us)(void);
    uint32_t granularity_us;
    void (*entropy)(void *out, size_t bytes);
    // Memory, for builds with an allocator; called by one thread at a time. NULL both otherwise.
    void *(*alloc)(size_t bytes);
    void (*free)(void *memory);
};

struct preempt_port {
    struct weir_port port;  // give &port.port to weir_create
    const struct preempt_port_board *board;
    struct weir *weir;
    struct mutex lock;
    struct wait_queue waiting;
    struct semaphore work;  // of the I/O thread; counts to one
    struct weir_netif *netifs[PREEMPT_PORT_NETIFS];
    uint8_t netif_count;
    bool kicked;                         // the I/O thread is woken when the lock is released, since it would only wait for that
    uint8_t priority, back_priority;     // of the I/O thread; and after BUSY_TURNS
    uint32_t turns, sleeps, steps_back;  // for tests and measurements
    struct thread thread;
};

void preempt_port_init(struct preempt_port *port, const struct preempt_port_board *board);
void preempt_port_attach(struct preempt_port *port, struct weir *weir);
// An interface that was added to the instance. false: there are PREEMPT_PORT_NETIFS already.
bool preempt_port_add(struct preempt_port *port, struct weir_netif *netif);
// Makes the I/O thread; of the config stack, stack_bytes and priority are used. In a flood it has `back_priority`: that of the least
// urgent threads which shall still run. false: the stack is too small.
bool preempt_port_start(struct preempt_port *port, const struct thread_config *config, uint8_t back_priority);
void preempt_port_interrupt(struct preempt_port *port);  // from a driver's interrupt
// For struct weir_bsd_config: a thread's errno is its `user`.
void preempt_port_set_errno(void *context, int value);

#endif
