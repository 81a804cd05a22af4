// SPDX-License-Identifier: BSD-2-Clause
#include "ports/preempt/preempt_port.h"

#include "kernel/preempt/arch.h"
#include "weir/socket.h"

// --- the contract (weir/port.h) ----------------------------------------------------------------------------------------------------------
static void port_entropy(void *context, void *out, size_t bytes) { ((struct preempt_port *)context)->board->entropy(out, bytes); }
static uint64_t port_now_us(void *context) { return ((struct preempt_port *)context)->board->now_us(); }
static void *port_alloc(void *context, size_t bytes) { return ((struct preempt_port *)context)->board->alloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((struct preempt_port *)context)->board->free(memory);
}

static void port_lock(void *context) { mutex_lock(&((struct preempt_port *)context)->lock); }

static void pass_kick_on(struct preempt_port *port)
{
    if (port->kicked)
        semaphore_give(&port->work);
    port->kicked = false;
}

// The lock is free before the I/O thread, which is more urgent, runs for it: one switch, not three.
static void port_unlock(void *context)
{
    struct preempt_port *port = context;
    const uint32_t state = arch_interrupts_off();
    pass_kick_on(port);
    mutex_unlock(&port->lock);
    arch_interrupts_restore(state);
}

static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct preempt_port *port = context;
    const uint32_t state = arch_interrupts_off();
    pass_kick_on(port);
    const int result = wait_queue_sleep(&port->waiting, &port->lock, token, deadline_us);
    arch_interrupts_restore(state);
    return result;  // enum kernel_wait counts as the contract does
}

static void port_wake(void *context, const void *token) { wait_queue_wake(&((struct preempt_port *)context)->waiting, token); }
static void port_kick(void *context) { ((struct preempt_port *)context)->kicked = true; }

void preempt_port_set_errno(void *context, int value)
{
    (void)context;
    thread_self()->user = value;
}

void preempt_port_init(struct preempt_port *port, const struct preempt_port_board *board)
{
    *port = (struct preempt_port){.board = board, .work = {.most = 1}};
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
}

// --- the I/O thread ---------------------------------------------------------------------------------------------------------------------
void preempt_port_attach(struct preempt_port *port, struct weir *weir)
{
    port->weir = weir;
    weir_clock(weir, port->board->now_us());
}

bool preempt_port_add(struct preempt_port *port, struct weir_netif *netif)
{
    if (port->netif_count == PREEMPT_PORT_NETIFS)
        return false;
    port->netifs[port->netif_count++] = netif;
    return true;
}

void preempt_port_interrupt(struct preempt_port *port) { semaphore_give(&port->work); }

// Drivers with deadlines of their own. Returns the earliest.
static uint64_t driver_timers(struct preempt_port *port, uint64_t now_us)
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
static uint64_t turn(struct preempt_port *port)
{
    const uint64_t now_us = port->board->now_us();
    bool more = false;
    port->turns++;
    weir_clock(port->weir, now_us);
    (void)driver_timers(port, now_us);
    for (uint32_t i = 0; i < port->netif_count; i++) {
        struct weir_netif *netif = port->netifs[i];
        if (netif->driver->poll)
            more |= netif->driver->poll(netif, PREEMPT_PORT_BUDGET) >= PREEMPT_PORT_BUDGET;
    }
    // Before weir_poll, so that what a watch answers leaves in one frame with the acknowledgement.
    more |= weir_dispatch(port->weir, PREEMPT_PORT_EVENTS) >= PREEMPT_PORT_EVENTS;
    const uint64_t due_us = weir_poll(port->weir, now_us);
    more |= weir_dispatch(port->weir, PREEMPT_PORT_EVENTS) > 0 || weir_output_pending(port->weir);
    const uint64_t driver_due_us = driver_timers(port, now_us);
    return more ? now_us : due_us < driver_due_us ? due_us : driver_due_us;
}

static void io(void *context)
{
    struct preempt_port *port = context;
    uint32_t busy_turns = 0;
    for (;;) {
        mutex_lock(&port->lock);
        const uint64_t due_us = turn(port);
        mutex_unlock(&port->lock);
        if (due_us <= port->board->now_us()) {
            if (++busy_turns == PREEMPT_PORT_BUSY_TURNS) {
                port->steps_back++;
                thread_set_priority(&port->thread, port->back_priority);
            }
            continue;
        }
        if (busy_turns >= PREEMPT_PORT_BUSY_TURNS)
            thread_set_priority(&port->thread, port->priority);
        busy_turns = 0;
        port->sleeps++;
        (void)semaphore_take(&port->work, due_us);
    }
}

bool preempt_port_start(struct preempt_port *port, const struct thread_config *config, uint8_t back_priority)
{
    struct thread_config own = *config;
    own.name = "io";
    own.entry = io;
    own.argument = port;
    port->priority = config->priority;
    port->back_priority = back_priority;
    return thread_create(&port->thread, &own);
}
