// SPDX-License-Identifier: BSD-2-Clause
#include "rtos2_port.h"

#include "weir/socket.h"

struct rtos2_waiter {  // on its task's stack
    struct rtos2_waiter *next;
    const void *token;
    osThreadId_t thread;
    bool woken;
};

// --- the contract (weir/port.h) ----------------------------------------------------------------------------------------------------------
static void port_entropy(void *context, void *out, size_t bytes) { ((struct rtos2_port *)context)->board->entropy(out, bytes); }
static uint64_t port_now_us(void *context) { return ((struct rtos2_port *)context)->board->now_us(); }
static void *port_alloc(void *context, size_t bytes) { return ((struct rtos2_port *)context)->board->alloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((struct rtos2_port *)context)->board->free(memory);
}

static void port_lock(void *context) { (void)osMutexAcquire(((struct rtos2_port *)context)->lock, osWaitForever); }

// The I/O thread is told after the lock is free: it would only wait for that.
static void port_unlock(void *context)
{
    struct rtos2_port *port = context;
    const bool kicked = port->kicked;
    port->kicked = false;
    (void)osMutexRelease(port->lock);
    if (kicked)
        (void)osThreadFlagsSet(port->thread, RTOS2_PORT_FLAG);
}

// Rounded up; what is longer than a day is asked again, as a spurious wakeup.
static uint32_t ticks_until(const struct rtos2_port *port, uint64_t moment_us)
{
    const uint64_t now_us = port->board->now_us(), tick_us = 1000000 / osKernelGetTickFreq();
    if (moment_us == WEIR_NEVER)
        return osWaitForever;
    const uint64_t left_us = moment_us > now_us ? moment_us - now_us : 0;
    return (uint32_t)(((left_us < UINT64_C(86400000000) ? left_us : UINT64_C(86400000000)) + tick_us - 1) / tick_us);
}

// A flag that was set for a wait before this one is only a look too many.
static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct rtos2_port *port = context;
    struct rtos2_waiter self = {port->waiting, token, osThreadGetId(), false}, **at = &port->waiting;
    const uint32_t ticks = ticks_until(port, deadline_us);
    if (!ticks)
        return 1;
    port->waiting = &self;
    port_unlock(port);
    (void)osThreadFlagsWait(RTOS2_PORT_FLAG, osFlagsWaitAny, ticks);
    port_lock(port);
    while (*at != &self)
        at = &(*at)->next;
    *at = self.next;
    return self.woken || port->board->now_us() < deadline_us ? 0 : 1;
}

static void port_wake(void *context, const void *token)
{
    const struct rtos2_port *port = context;
    for (struct rtos2_waiter *waiter = port->waiting; waiter; waiter = waiter->next)
        if (waiter->token == token) {
            waiter->woken = true;
            (void)osThreadFlagsSet(waiter->thread, RTOS2_PORT_FLAG);
        }
}

static void port_kick(void *context) { ((struct rtos2_port *)context)->kicked = true; }

bool rtos2_port_init(struct rtos2_port *port, const struct rtos2_port_board *board)
{
    const osMutexAttr_t attributes = {.name = "weir", .attr_bits = osMutexPrioInherit};
    *port = (struct rtos2_port){.board = board, .lock = osMutexNew(&attributes)};
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

// --- the I/O thread ---------------------------------------------------------------------------------------------------------------------
void rtos2_port_attach(struct rtos2_port *port, struct weir *weir)
{
    port->weir = weir;
    weir_clock(weir, port->board->now_us());
}

bool rtos2_port_add(struct rtos2_port *port, struct weir_netif *netif)
{
    if (port->netif_count == RTOS2_PORT_NETIFS)
        return false;
    port->netifs[port->netif_count++] = netif;
    return true;
}

void rtos2_port_interrupt(struct rtos2_port *port)
{
    if (port->thread)
        (void)osThreadFlagsSet(port->thread, RTOS2_PORT_FLAG);
}

static uint64_t driver_timers(struct rtos2_port *port, uint64_t now_us)
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
static uint64_t turn(struct rtos2_port *port)
{
    const uint64_t now_us = port->board->now_us();
    bool more = false;
    weir_clock(port->weir, now_us);
    (void)driver_timers(port, now_us);
    for (uint32_t i = 0; i < port->netif_count; i++) {
        struct weir_netif *netif = port->netifs[i];
        if (netif->driver->poll)
            more |= netif->driver->poll(netif, RTOS2_PORT_BUDGET) >= RTOS2_PORT_BUDGET;
    }
    more |= weir_dispatch(port->weir, RTOS2_PORT_EVENTS) >= RTOS2_PORT_EVENTS;
    const uint64_t due_us = weir_poll(port->weir, now_us);
    more |= weir_dispatch(port->weir, RTOS2_PORT_EVENTS) > 0 || weir_output_pending(port->weir);
    const uint64_t driver_due_us = driver_timers(port, now_us);
    return more ? now_us : due_us < driver_due_us ? due_us : driver_due_us;
}

static void io(void *context)
{
    struct rtos2_port *port = context;
    uint32_t busy_turns = 0;
    for (;;) {
        port_lock(port);
        const uint64_t due_us = turn(port);
        port_unlock(port);
        const uint32_t ticks = ticks_until(port, due_us);
        if (!ticks) {
            if (++busy_turns == RTOS2_PORT_BUSY_TURNS)
                (void)osThreadSetPriority(port->thread, port->back_priority);
            continue;
        }
        if (busy_turns >= RTOS2_PORT_BUSY_TURNS)
            (void)osThreadSetPriority(port->thread, port->priority);
        busy_turns = 0;
        (void)osThreadFlagsWait(RTOS2_PORT_FLAG, osFlagsWaitAny, ticks);
    }
}

bool rtos2_port_start(struct rtos2_port *port, const osThreadAttr_t *attributes, osPriority_t back_priority)
{
    port->priority = attributes->priority ? attributes->priority : osPriorityNormal;
    port->back_priority = back_priority;
    port->thread = osThreadNew(io, port, attributes);
    return port->thread;
}
