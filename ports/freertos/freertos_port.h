// SPDX-License-Identifier: BSD-2-Clause
// The port to FreeRTOS (V11, from its public interface): the lock is a mutex with priority inheritance, a task that waits stands in a list
// with its token and sleeps on its direct-to-task notification (index FREERTOS_PORT_NOTIFICATION), and an I/O task takes frames in, runs
// weir_poll and wakes who waits, as in ports/preempt. The driver's interrupt masks its device and calls freertos_port_interrupt.
//
// The configuration needs configUSE_MUTEXES, configUSE_TASK_NOTIFICATIONS with an entry for the port, INCLUDE_vTaskPrioritySet,
// INCLUDE_xTaskGetCurrentTaskHandle and configSUPPORT_DYNAMIC_ALLOCATION. The interrupt's priority must allow calls that end in FromISR.
//
//     freertos_port_init(&port, &board);                     weir = weir_create(memory, sizeof memory, &port.port, NULL);
//     freertos_port_attach(&port, weir);                     weir_netif_add(weir, &netif); freertos_port_add(&port, &netif);
//     freertos_port_start(&port, stack_words, 6, 1);         xTaskCreate(…) tasks that make calls; vTaskStartScheduler();
#ifndef FREERTOS_PORT_H
#define FREERTOS_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "semphr.h"
#include "task.h"
#include "weir/instance.h"
#include "weir/netif.h"

#ifndef FREERTOS_PORT_NETIFS
#define FREERTOS_PORT_NETIFS 1
#endif
#ifndef FREERTOS_PORT_NOTIFICATION
#define FREERTOS_PORT_NOTIFICATION 0  // below configTASK_NOTIFICATION_ARRAY_ENTRIES; tasks that make blocking calls leave it to the port
#endif
#define FREERTOS_PORT_BUDGET 8       // frames an interface delivers before the other work has its turn
#define FREERTOS_PORT_EVENTS 32      // sockets with news handled in a turn
#define FREERTOS_PORT_BUSY_TURNS 32  // in a row, before the task steps back

struct freertos_port_board {
    uint64_t (*now_us)(void);  // the tick is too coarse for round-trip times
    uint32_t granularity_us;   // of waiting: a tick
    void (*entropy)(void *out, size_t bytes);
    void *(*alloc)(size_t bytes);  // as pvPortMalloc and vPortFree; NULL both: none
    void (*free)(void *memory);
};

struct freertos_waiter;
struct freertos_port {
    struct weir_port port;  // give &port.port to weir_create
    const struct freertos_port_board *board;
    struct weir *weir;
    SemaphoreHandle_t lock;
    struct freertos_waiter *waiting;  // under the lock
    struct weir_netif *netifs[FREERTOS_PORT_NETIFS];
    uint8_t netif_count;
    bool kicked;
    UBaseType_t priority, back_priority;
    TaskHandle_t task;
};

bool freertos_port_init(struct freertos_port *port, const struct freertos_port_board *board);  // false: no memory
void freertos_port_attach(struct freertos_port *port, struct weir *weir);
bool freertos_port_add(struct freertos_port *port, struct weir_netif *netif);
// Makes the I/O task. `back_priority`: that of the least urgent tasks which shall run also in a flood of frames.
bool freertos_port_start(struct freertos_port *port, uint32_t stack_words, UBaseType_t priority, UBaseType_t back_priority);
void freertos_port_interrupt(struct freertos_port *port);  // from a driver's interrupt

#endif
