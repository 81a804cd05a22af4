// SPDX-License-Identifier: BSD-2-Clause
// The port to FreeRTOS (V11, from its public interface; ports/common/ticking.h): the lock is a mutex with priority
// inheritance, a task that waits sleeps on its direct-to-task notification (index FREERTOS_PORT_NOTIFICATION). The
// driver's interrupt masks its device and calls freertos_port_interrupt; the I/O task then polls it in budgets.
//
// The configuration needs configUSE_MUTEXES, configUSE_TASK_NOTIFICATIONS with an entry for the port,
// INCLUDE_vTaskPrioritySet, INCLUDE_xTaskGetCurrentTaskHandle and configSUPPORT_DYNAMIC_ALLOCATION. The interrupt's
// priority must allow calls that end in FromISR.
//
//     freertos_port_init(&port, &board);
//     weir = weir_create(memory, sizeof memory, &port.ticking.core.port, NULL);
//     port_attach(&port.ticking.core, weir);
//     weir_netif_add(weir, &netif);
//     port_add(&port.ticking.core, &netif);
//     freertos_port_start(&port, stack_words, 6, 1);
//     xTaskCreate(…) tasks that make calls; vTaskStartScheduler();
#ifndef FREERTOS_PORT_H
#define FREERTOS_PORT_H

#include "FreeRTOS.h"
#include "ports/common/ticking.h"
#include "semphr.h"
#include "task.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifndef FREERTOS_PORT_NOTIFICATION
// below configTASK_NOTIFICATION_ARRAY_ENTRIES; tasks that make blocking calls leave it to the port
#define FREERTOS_PORT_NOTIFICATION 0
#endif

struct freertos_port {
    struct port_ticking ticking;  // first
    SemaphoreHandle_t lock;
};

// The board's granularity is a tick; its alloc and free may be pvPortMalloc and vPortFree. false: no memory.
bool freertos_port_init(struct freertos_port *port, const struct port_board *board);
// Makes the I/O task. `back_priority`: that of the least urgent tasks which shall run also in a flood of frames.
bool freertos_port_start(struct freertos_port *port, uint32_t stack_words, UBaseType_t priority,
                         UBaseType_t back_priority);
void freertos_port_interrupt(struct freertos_port *port);  // from a driver's interrupt

WEIR_END_DECLS

#endif
