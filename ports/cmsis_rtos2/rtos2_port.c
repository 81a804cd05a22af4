// SPDX-License-Identifier: BSD-2-Clause
#include "rtos2_port.h"

static void lock(struct port_ticking *port) { (void)osMutexAcquire(((struct rtos2_port *)port)->lock, osWaitForever); }
static void unlock(struct port_ticking *port) { (void)osMutexRelease(((struct rtos2_port *)port)->lock); }
static void *self(void) { return osThreadGetId(); }
static void notify(void *thread)
{
    if (thread)
        (void)osThreadFlagsSet(thread, RTOS2_PORT_FLAG);
}
static void sleep(uint32_t ticks) { (void)osThreadFlagsWait(RTOS2_PORT_FLAG, osFlagsWaitAny, ticks); }
static void step(uint32_t priority) { (void)osThreadSetPriority(osThreadGetId(), (osPriority_t)priority); }

bool rtos2_port_init(struct rtos2_port *port, const struct port_board *board)
{
    static const struct port_kernel kernel = {lock, unlock, self, notify, sleep, step, 0};
    const osMutexAttr_t attributes = {.name = "weir", .attr_bits = osMutexPrioInherit};
    port_ticking_init(&port->ticking, board, &kernel, 1000000 / osKernelGetTickFreq());
    port->lock = osMutexNew(&attributes);
    return port->lock;
}

void rtos2_port_interrupt(struct rtos2_port *port) { notify(port->ticking.thread); }

bool rtos2_port_start(struct rtos2_port *port, const osThreadAttr_t *attributes, osPriority_t back_priority)
{
    port->ticking.priority = (uint32_t)(attributes->priority ? attributes->priority : osPriorityNormal);
    port->ticking.back_priority = (uint32_t)back_priority;
    return osThreadNew(port_ticking_io, port, attributes);
}
