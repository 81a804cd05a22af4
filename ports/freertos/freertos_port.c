// SPDX-License-Identifier: BSD-2-Clause
#include "freertos_port.h"

#include "weir/socket.h"

struct freertos_waiter {  // on its task's stack
    struct freertos_waiter *next;
    const void *token;
    TaskHandle_t task;
    bool woken;
};

// --- the contract (weir/port.h) ----------------------------------------------------------------------------------------------------------
static void port_entropy(void *context, void *out, size_t bytes) { ((struct freertos_port *)context)->board->entropy(out, bytes); }
static uint64_t port_now_us(void *context) { return ((struct freertos_port *)context)->board->now_us(); }
static void *port_alloc(void *context, size_t bytes) { return ((struct freertos_port *)context)->board->alloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((struct freertos_port *)context)->board->free(memory);
}

static void port_lock(void *context) { (void)xSemaphoreTake(((struct freertos_port *)context)->lock, portMAX_DELAY); }

static void notify(TaskHandle_t task)
{
    if (task)
        (void)xTaskNotifyGiveIndexed(task, FREERTOS_PORT_NOTIFICATION);
}
static void sleep_ticks(TickType_t ticks) { (void)ulTaskNotifyTakeIndexed(FREERTOS_PORT_NOTIFICATION, pdTRUE, ticks); }

// The I/O task is told after the lock is free: it would only wait for that.
static void port_unlock(void *context)
{
    struct freertos_port *port = context;
    const bool kicked = port->kicked;
    port->kicked = false;
    (void)xSemaphoreGive(port->lock);
    if (kicked)
        notify(port->task);
}

#define DAY_US UINT64_C(86400000000)
#define TICK_US (1000000u / configTICK_RATE_HZ)

// Rounded up, and one more, since the tick that runs already counts as one; what is longer than a day, or than the tick's type holds, is
// asked again, as a spurious wakeup.
static TickType_t ticks_until(const struct freertos_port *port, uint64_t moment_us)
{
    const uint64_t now_us = port->board->now_us();
    if (moment_us == WEIR_NEVER)
        return portMAX_DELAY;
    const uint64_t left_us = moment_us > now_us ? moment_us - now_us : 0;
    const uint64_t ticks = left_us ? ((left_us < DAY_US ? left_us : DAY_US) + TICK_US - 1) / TICK_US + 1 : 0;
    return ticks < portMAX_DELAY ? (TickType_t)ticks : portMAX_DELAY - 1;
}

// A notification that was given for a wait before this one is only a look too many.
static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct freertos_port *port = context;
    struct freertos_waiter self = {port->waiting, token, xTaskGetCurrentTaskHandle(), false}, **at = &port->waiting;
    const TickType_t ticks = ticks_until(port, deadline_us);
    if (!ticks)
        return 1;
    port->waiting = &self;
    port_unlock(port);
    sleep_ticks(ticks);
    port_lock(port);
    while (*at != &self)
        at = &(*at)->next;
    *at = self.next;
    return self.woken || port->board->now_us() < deadline_us ? 0 : 1;
}

static void port_wake(void *context, const void *token)
{
    const struct freertos_port *port = context;
    for (struct freertos_waiter *waiter = port->waiting; waiter; waiter = waiter->next)
        if (waiter->token == token) {
            waiter->woken = true;
            notify(waiter->task);
        }
}

static void port_kick(void *context) { ((struct freertos_port *)context)->kicked = true; }

bool freertos_port_init(struct freertos_port *port, const struct freertos_port_board *board)
{
    *port = (struct freertos_port){.board = board, .lock = xSemaphoreCreateMutex()};
    port->port = (struct weir_port){.context = port,
                                    .entropy = port_entropy,
                                    .now_us = port_now_us,
                                    .granularity_us = board->granularity_us,
                                    .lock = port_lock,
                                    .unlock = port_unlock,
                                    .wait = port_wait,
                                    .wake = port_wake,
                                    .kick = port_kick};
    if (board->alloc) {
        port->port.alloc = port_alloc;
        port->port.free = port_free;
    }
    return port->lock;
}

// --- the I/O task -----------------------------------------------------------------------------------------------------------------------
void freertos_port_attach(struct freertos_port *port, struct weir *weir)
{
    port->weir = weir;
    weir_clock(weir, port->board->now_us());
}

bool freertos_port_add(struct freertos_port *port, struct weir_netif *netif)
{
    if (port->netif_count == FREERTOS_PORT_NETIFS)
        return false;
    port->netifs[port->netif_count++] = netif;
    return true;
}

void freertos_port_interrupt(struct freertos_port *port)
{
    BaseType_t woken = pdFALSE;
    if (port->task)
        vTaskNotifyGiveIndexedFromISR(port->task, FREERTOS_PORT_NOTIFICATION, &woken);
    portYIELD_FROM_ISR(woken);
}

static uint64_t driver_timers(struct freertos_port *port, uint64_t now_us)
{
    uint64_t earliest_us = WEIR_NEVER;
    for (uint32_t i = 0; i < port->netif_count; i++) {
        struct weir_netif *netif = port->netifs[i];
        const uint64_t due_us = netif->driver->timer ? netif->driver->timer(netif, now_us) : WEIR_NEVER;
        earliest_us = due_us < earliest_us ? due_us : earliest_us;
    }
    return earliest_us;
}

// One turn, with the lock held. Returns when the next is due: not after now when work is left.
static uint64_t turn(struct freertos_port *port)
{
    const uint64_t now_us = port->board->now_us();
    bool more = false;
    weir_clock(port->weir, now_us);
    (void)driver_timers(port, now_us);
    for (uint32_t i = 0; i < port->netif_count; i++) {
        struct weir_netif *netif = port->netifs[i];
        if (netif->driver->poll)
            more |= netif->driver->poll(netif, FREERTOS_PORT_BUDGET) >= FREERTOS_PORT_BUDGET;
    }
    more |= weir_dispatch(port->weir, FREERTOS_PORT_EVENTS) >= FREERTOS_PORT_EVENTS;
    const uint64_t due_us = weir_poll(port->weir, now_us);
    more |= weir_dispatch(port->weir, FREERTOS_PORT_EVENTS) > 0 || weir_output_pending(port->weir);
    const uint64_t driver_due_us = driver_timers(port, now_us);
    return more ? now_us : due_us < driver_due_us ? due_us : driver_due_us;
}

static void io(void *context)
{
    struct freertos_port *port = context;
    uint32_t busy_turns = 0;
    for (;;) {
        port_lock(port);
        const uint64_t due_us = turn(port);
        port_unlock(port);
        const TickType_t ticks = ticks_until(port, due_us);
        if (!ticks) {
            if (++busy_turns == FREERTOS_PORT_BUSY_TURNS)
                vTaskPrioritySet(NULL, port->back_priority);
            continue;
        }
        if (busy_turns >= FREERTOS_PORT_BUSY_TURNS)
            vTaskPrioritySet(NULL, port->priority);
        busy_turns = 0;
        sleep_ticks(ticks);
    }
}

bool freertos_port_start(struct freertos_port *port, uint32_t stack_words, UBaseType_t priority, UBaseType_t back_priority)
{
    port->priority = priority;
    port->back_priority = back_priority;
    return xTaskCreate(io, "weir", (configSTACK_DEPTH_TYPE)stack_words, port, priority, &port->task) == pdPASS;
}
