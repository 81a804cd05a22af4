// SPDX-License-Identifier: BSD-2-Clause
// The port to any system with the CMSIS-RTOS2 interface (ports/common/ticking.h): the lock is a mutex with priority
// inheritance, a thread that waits sleeps on a thread flag. The driver's interrupt masks its device and calls
// rtos2_port_interrupt; the I/O thread then polls it in budgets. Should there always be more, it goes on with
// back_priority.
//
//     osKernelInitialize();
//     rtos2_port_init(&port, &board);
//     weir = weir_create(memory, sizeof memory, &port.ticking.core.port, NULL);
//     port_attach(&port.ticking.core, weir); weir_netif_add(weir, &netif); port_add(&port.ticking.core, &netif);
//     rtos2_port_start(&port, &attributes, back_priority); osThreadNew(…)      a thread that makes calls
//     osKernelStart();
#ifndef RTOS2_PORT_H
#define RTOS2_PORT_H

#include "cmsis_os2.h"
#include "ports/common/ticking.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// the thread flag that threads which make blocking calls, and the I/O thread, leave to the port
#define RTOS2_PORT_FLAG 0x40000000u

struct rtos2_port {
    struct port_ticking ticking;  // first
    osMutexId_t lock;
};

// After osKernelInitialize; the board's granularity is a tick. false: no memory.
bool rtos2_port_init(struct rtos2_port *port, const struct port_board *board);
// Makes the I/O thread. `back_priority`: that of the least urgent threads which shall run also in a flood of frames.
bool rtos2_port_start(struct rtos2_port *port, const osThreadAttr_t *attributes, osPriority_t back_priority);
void rtos2_port_interrupt(struct rtos2_port *port);  // from a driver's interrupt

WEIR_END_DECLS

#endif
