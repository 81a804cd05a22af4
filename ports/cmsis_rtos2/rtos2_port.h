// SPDX-License-Identifier: BSD-2-Clause
// The port to any system with the CMSIS-RTOS2 interface: the lock is a mutex with priority inheritance, a task that waits stands in a list
// with its token and sleeps on a thread flag of its own, and an I/O thread takes frames in, runs weir_poll and wakes who waits, as in
// ports/preempt. The driver's interrupt masks its device and calls rtos2_port_interrupt; the thread then polls it in budgets. Should there
// always be more, it goes on with back_priority.
//
//     osKernelInitialize();
//     rtos2_port_init(&port, &board);
//     weir = weir_create(memory, sizeof memory, &port.port, NULL);
//     rtos2_port_attach(&port, weir); weir_netif_add(weir, &netif); rtos2_port_add(&port, &netif);
//     rtos2_port_start(&port, &attributes, back_priority); osThreadNew(…)      a thread that makes calls
//     osKernelStart();
#ifndef RTOS2_PORT_H
#define RTOS2_PORT_H

#include <stdbool.h>

#include "cmsis_os2.h"
#include "weir/instance.h"
#include "weir/netif.h"

#ifndef RTOS2_PORT_NETIFS
#define RTOS2_PORT_NETIFS 1
#endif
#define RTOS2_PORT_BUDGET 8          // frames an interface delivers before the other work has its turn
#define RTOS2_PORT_EVENTS 32         // sockets with news handled in a turn
#define RTOS2_PORT_BUSY_TURNS 32     // in a row, before the thread steps back
#define RTOS2_PORT_FLAG 0x40000000u  // the thread flag that threads which make blocking calls, and the I/O thread, leave to the port

struct rtos2_port_board {
    uint64_t (*now_us)(void);  // the system's tick is too coarse for round-trip times
    uint32_t granularity_us;   // of waiting: a tick
    void (*entropy)(void *out, size_t bytes);
    void *(*alloc)(size_t bytes);  // called by one thread at a time; NULL both: none
    void (*free)(void *memory);
};

struct rtos2_waiter;
struct rtos2_port {
    struct weir_port port;  // give &port.port to weir_create
    const struct rtos2_port_board *board;
    struct weir *weir;
    osMutexId_t lock;
    struct rtos2_waiter *waiting;  // under the lock
    struct weir_netif *netifs[RTOS2_PORT_NETIFS];
    uint8_t netif_count;
    bool kicked;
    osPriority_t priority, back_priority;
    osThreadId_t thread;
};

bool rtos2_port_init(struct rtos2_port *port, const struct rtos2_port_board *board);  // after osKernelInitialize; false: no memory
void rtos2_port_attach(struct rtos2_port *port, struct weir *weir);
bool rtos2_port_add(struct rtos2_port *port, struct weir_netif *netif);
// Makes the I/O thread. `back_priority`: that of the least urgent threads which shall run also in a flood of frames.
bool rtos2_port_start(struct rtos2_port *port, const osThreadAttr_t *attributes, osPriority_t back_priority);
void rtos2_port_interrupt(struct rtos2_port *port);  // from a driver's interrupt

#endif
