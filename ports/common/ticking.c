// SPDX-License-Identifier: BSD-2-Clause
#include "ports/common/ticking.h"

#include "ports/common/io_thread.h"

#define LONGEST 0x40000000u  // ticks of a sleep; what is longer is asked again, as a spurious wakeup

struct port_waiter {  // on its thread's stack
    struct port_waiter *next;
    const void *token;
    void *thread;
    bool woken;
};

static void port_lock(void *context)
{
    struct port_ticking *port = context;
    port->kernel->lock(port);
}

// The I/O thread is told after the lock is free: it would only wait for that.
static void port_unlock(void *context)
{
    struct port_ticking *port = context;
    const bool kicked = port->kicked;
    port->kicked = false;
    port->kernel->unlock(port);
    if (kicked)
        port->kernel->notify(port->thread);
}

// Rounded up; 0: the moment has passed.
static uint32_t ticks_until(const struct port_ticking *port, uint64_t moment_us)
{
    const uint64_t now_us = port->core.board->now_us();
    if (moment_us == WEIR_NEVER)
        return PORT_FOREVER;
    if (moment_us <= now_us)
        return 0;
    const uint64_t ticks = (moment_us - now_us - 1) / port->tick_us + 1 + port->kernel->extra_ticks;
    return ticks < LONGEST ? (uint32_t)ticks : LONGEST;
}

// A notification for a wait before this one is only a look too many.
static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct port_ticking *port = context;
    struct port_waiter self = {port->waiting, token, port->kernel->self(), false}, **at = &port->waiting;
    const uint32_t ticks = ticks_until(port, deadline_us);
    if (!ticks)
        return 1;
    port->waiting = &self;
    port_unlock(port);
    port->kernel->sleep(ticks);
    port_lock(port);
    while (*at != &self)
        at = &(*at)->next;
    *at = self.next;
    return self.woken || port->core.board->now_us() < deadline_us ? 0 : 1;
}

static void port_wake(void *context, const void *token)
{
    const struct port_ticking *port = context;
    for (struct port_waiter *waiter = port->waiting; waiter; waiter = waiter->next)
        if (waiter->token == token) {
            waiter->woken = true;
            port->kernel->notify(waiter->thread);
        }
}

static void port_kick(void *context) { ((struct port_ticking *)context)->kicked = true; }

void port_ticking_init(struct port_ticking *port, const struct port_board *board, const struct port_kernel *kernel,
                       uint32_t tick_us)
{
    *port = (struct port_ticking){.kernel = kernel, .tick_us = tick_us};
    port_init(&port->core, board);
    port->core.port.lock = port_lock;
    port->core.port.unlock = port_unlock;
    port->core.port.wait = port_wait;
    port->core.port.wake = port_wake;
    port->core.port.kick = port_kick;
}

// --- the I/O thread --------------------------------------------------------------------------------------------------
static void io_sleep(struct port_core *core, uint64_t until_us)
{
    const struct port_ticking *port = (struct port_ticking *)core;
    const uint32_t ticks = ticks_until(port, until_us);
    if (ticks)
        port->kernel->sleep(ticks);
}

static void io_step(struct port_core *core, bool back)
{
    const struct port_ticking *port = (struct port_ticking *)core;
    port->kernel->step(back ? port->back_priority : port->priority);
}

void port_ticking_io(void *context)
{
    static const struct port_io_calls calls = {io_sleep, io_step, port_turn};
    struct port_ticking *port = context;
    port->thread = port->kernel->self();
    port_io_run(&port->core, &calls);
}
