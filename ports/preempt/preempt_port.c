// SPDX-License-Identifier: BSD-2-Clause
#include "ports/preempt/preempt_port.h"

#include "kernel/preempt/arch.h"
#include "ports/common/io_thread.h"

// --- the contract (weir/port.h) ----------------------------------------------------------------------------------------------------------
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
    if (!port->kicked) {
        mutex_unlock(&port->lock);
        return;
    }
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

void preempt_port_init(struct preempt_port *port, const struct port_board *board)
{
    *port = (struct preempt_port){.work = {.most = 1}};
    port_init(&port->core, board);
    port->core.port.lock = port_lock;
    port->core.port.unlock = port_unlock;
    port->core.port.wait = port_wait;
    port->core.port.wake = port_wake;
    port->core.port.kick = port_kick;
}

// --- the I/O thread ----------------------------------------------------------------------------------------------------------------------
void preempt_port_interrupt(struct preempt_port *port) { semaphore_give(&port->work); }

static void io_sleep(struct port_core *core, uint64_t until_us)
{
    struct preempt_port *port = (struct preempt_port *)core;
    port->sleeps++;
    (void)semaphore_take(&port->work, until_us);
}

static void io_step(struct port_core *core, bool back)
{
    struct preempt_port *port = (struct preempt_port *)core;
    port->steps_back += back;
    thread_set_priority(&port->thread, back ? port->back_priority : port->priority);
}

static void io(void *port)
{
    static const struct port_io_calls calls = {io_sleep, io_step};
    port_io_run(port, &calls);
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
