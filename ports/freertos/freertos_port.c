// SPDX-License-Identifier: BSD-2-Clause
#include "freertos_port.h"

static void lock(struct port_ticking *port)
{
    (void)xSemaphoreTake(((struct freertos_port *)port)->lock, portMAX_DELAY);
}
static void unlock(struct port_ticking *port) { (void)xSemaphoreGive(((struct freertos_port *)port)->lock); }
static void *self(void) { return xTaskGetCurrentTaskHandle(); }
static void notify(void *task)
{
    if (task)
        (void)xTaskNotifyGiveIndexed(task, FREERTOS_PORT_NOTIFICATION);
}

// The tick's type may be of 16 bits, or of 64: what is longer than it holds is asked again, as a spurious wakeup.
static void sleep(uint32_t ticks)
{
    const TickType_t forever = portMAX_DELAY;
    const TickType_t most = ticks == PORT_FOREVER ? forever : ticks < forever ? (TickType_t)ticks : forever - 1;
    (void)ulTaskNotifyTakeIndexed(FREERTOS_PORT_NOTIFICATION, pdTRUE, most);
}
static void step(uint32_t priority) { vTaskPrioritySet(NULL, priority); }

bool freertos_port_init(struct freertos_port *port, const struct port_board *board)
{
    static const struct port_kernel kernel = {lock, unlock, self, notify, sleep, step, 1};
    port_ticking_init(&port->ticking, board, &kernel, 1000000u / configTICK_RATE_HZ);
    port->lock = xSemaphoreCreateMutex();
    return port->lock;
}

void freertos_port_interrupt(struct freertos_port *port)
{
    BaseType_t woken = pdFALSE;
    if (port->ticking.thread)
        vTaskNotifyGiveIndexedFromISR(port->ticking.thread, FREERTOS_PORT_NOTIFICATION, &woken);
    portYIELD_FROM_ISR(woken);
}

bool freertos_port_start(struct freertos_port *port, uint32_t stack_words, UBaseType_t priority,
                         UBaseType_t back_priority)
{
    port->ticking.priority = (uint32_t)priority;
    port->ticking.back_priority = (uint32_t)back_priority;
    return xTaskCreate(port_ticking_io, "weir", (configSTACK_DEPTH_TYPE)stack_words, port, priority, NULL) == pdPASS;
}
