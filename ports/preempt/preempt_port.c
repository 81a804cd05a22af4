// SPDX-License-Identifier: BSD-2-Clause
#include "ports/preempt/preempt_port.h"

#include "kernel/preempt/arch.h"
#include "ports/common/io_thread.h"
#include "weir/socket.h"

// --- the contract (weir/port.h) --------------------------------------------------------------------------------------
static void port_lock(void *context) { mutex_lock(&((struct preempt_port *)context)->lock); }

// --- bursts ----------------------------------------------------------------------------------------------------------
// What a thread's first call gave the stack to send leaves at once, unless it was just woken (turn_now). If it goes on
// calling without a wait, output is held until there is that of PREEMPT_BURST calls, so that it leaves in larger
// pieces, as Linux's corking by itself has it: for PREEMPT_BURST_US at the longest, and no longer than until somebody
// waits, or frames come.
#if PREEMPT_BURST > 1
static void due_in(struct preempt_port *port, uint32_t us)
{
    timeout_stop(&port->due);
    timeout_start(&port->due, port->core.board->now_us() + us);
}

static void due_start(struct preempt_port *port)
{
    port->due_set = true;
    due_in(port, PREEMPT_BURST_US);
}

// A thread that is in the stack then sends before it leaves, unless it loses the processor for as long again; otherwise
// the I/O thread does. Who sends already, and has lost the processor to somebody less urgent than the I/O thread, is
// hurried by that; whether it has lost it since is looked at again after PREEMPT_HURRY_US.
static void burst_due(struct timeout *timeout)
{
    struct preempt_port *port = (struct preempt_port *)(void *)((char *)timeout - offsetof(struct preempt_port, due));
    const struct thread *holder = port->lock.holder;
    const bool runs = holder && holder == thread_self() && holder != &port->thread;
    port->due_set = false;
    if (runs && port->sends) {
        due_in(port, PREEMPT_HURRY_US);  // unless more is held before that
    } else if (runs && port->held && port->held < PREEMPT_BURST) {
        port->held = PREEMPT_BURST;
        port->kicked = true;  // and no call holds it any longer
        due_start(port);
    } else if (port->held || port->sends) {
        port->held = 0;
        semaphore_give(&port->work);
    }
}

static void hold(struct preempt_port *port)
{
    port->held++;
    if (!port->due_set)
        due_start(port);
}

// Whether the output of this call is held. Interrupts are off.
static bool burst_holds(struct preempt_port *port)
{
    if (!port->burst || port->interrupted || port->held >= PREEMPT_BURST - 1) {
        port->burst = true;
        port->sends = port->held > 0;
        port->held = 0;
        return false;
    }
    port->kicked = false;
    hold(port);
    return true;
}

static void burst_init(struct preempt_port *port) { port->due.due = burst_due; }
static void burst_sent(struct preempt_port *port) { port->sends = false; }

// Somebody waits. Returns whether output was held.
static bool burst_ends(struct preempt_port *port)
{
    const bool held = port->held > 0;
    port->sends = held;
    port->burst = false;
    port->held = 0;
    return held;
}

// What frames brought to send waits for the thread that they woke, which mostly has more to send, or takes what came: a
// whole segment leaves in place of two parts, and one acknowledgement with the window as it is then. So does what that
// thread's first call brings, or a reader that takes two segments by two calls would say between them that it has room
// for one. Replies in the outbox wait with it.
static uint64_t turn_now(struct preempt_port *port)
{
    struct weir *weir = port->core.weir;
    const bool woken = port->woken;
    port->woken = false;
    const bool more = port_turn_takes(&port->core),
               holds = !more && port->woken && port->held < PREEMPT_BURST - 1 && weir_output_pending(weir);
    port->woken |= woken;
    if (holds) {
        const uint32_t state = arch_interrupts_off();
        hold(port);
        port->burst = true;
        arch_interrupts_restore(state);
        return port->due_us;
    }
    const uint64_t now_us = weir_now_us(weir), due_us = port_turn_ends(&port->core, weir_poll(weir, now_us));
    return more ? now_us : due_us;
}
#else
static void burst_init(struct preempt_port *port) { (void)port; }
static void burst_sent(struct preempt_port *port) { (void)port; }
static bool burst_holds(struct preempt_port *port) { return (void)port, false; }
static bool burst_ends(struct preempt_port *port) { return (void)port, false; }
static uint64_t turn_now(struct preempt_port *port) { return port_turn_now(&port->core); }
#endif

static uint64_t io_turn(struct port_core *core)
{
    struct preempt_port *port = (struct preempt_port *)core;
    weir_clock(core->weir, core->board->now_us());
    port->woken = false;
    return port->due_us = turn_now(port);
}

// What the call gave the stack to send leaves first, at the moment to which it set the clock. If it was interrupted for
// frames there is a turn for them, too; what comes still is the I/O thread's.
static void work_there(void *context)
{
    struct preempt_port *port = context;
    struct weir *weir = port->core.weir;
    const bool sends = weir_output_pending(weir);
    port->kicked = false;
    port->due_us = weir_poll(weir, weir_now_us(weir));
    if (port->interrupted) {
        port->kicked = port->interrupted = false;
        if (!sends)
            weir_clock(weir, port->core.board->now_us());
        port->due_us = turn_now(port);
    } else {
        port->due_us = port_turn_ends(&port->core, port->due_us);
    }
    if (port->due_us < port->io_due_us)
        semaphore_give(&port->work);
}

// Who is about to sleep, and was interrupted for frames: these first, since what they bring may be what it would sleep
// for.
static void turn_there(void *context)
{
    struct preempt_port *port = context;
    port->kicked = port->interrupted = false;
    if (io_turn(&port->core) < port->io_due_us)
        semaphore_give(&port->work);
}

static void pass_work_on(struct preempt_port *port)
{
    burst_sent(port);
    if (port->kicked)
        semaphore_give(&port->work);
    port->kicked = port->interrupted = false;
}

// The thread that holds the lock works on the I/O thread's stack, which nobody else uses meanwhile. The last look is
// with interrupts off, as they are before, so that none is forgotten.
static void work(struct preempt_port *port, void (*there)(void *), uint32_t state)
{
    arch_interrupts_restore(state);
    arch_call_on(port->work_stack, there, port);
    (void)arch_interrupts_off();
    pass_work_on(port);
}

static void port_unlock(void *context)
{
    struct preempt_port *port = context;
    const uint32_t state = arch_interrupts_off();
    if (port->kicked && port->work_stack && !burst_holds(port))  // none: there is no I/O thread yet
        work(port, work_there, state);
    mutex_unlock_off(&port->lock);
    arch_interrupts_restore(state);
}

// Who falls asleep works before that: the I/O thread would cost two switches. Where it wakes somebody that
// may be the caller, who then looks again before it sleeps.
static int port_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct preempt_port *port = context;
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    port->woken = false;
    if (burst_ends(port))
        port->kicked = true;
    if (port->kicked && port->work_stack)
        work(port, port->interrupted ? turn_there : work_there, state);
    else
        pass_work_on(port);
    if (!port->woken)
        result = wait_queue_sleep(&port->waiting, &port->lock, token, deadline_us);
    arch_interrupts_restore(state);
    return result;  // enum kernel_wait counts as the contract does
}

static void port_wake(void *context, const void *token)
{
    struct preempt_port *port = context;
    port->woken = true;
    wait_queue_wake(&port->waiting, token);
}
static void port_kick(void *context) { ((struct preempt_port *)context)->kicked = true; }

void preempt_port_set_errno(void *context, int value)
{
    (void)context;
    thread_self()->user = value;
}

void preempt_port_init(struct preempt_port *port, const struct port_board *board)
{
    *port = (struct preempt_port){.work = {.most = 1}, .io_due_us = WEIR_NEVER};
    port_init(&port->core, board);
    port->core.port.lock = port_lock;
    port->core.port.unlock = port_unlock;
    port->core.port.wait = port_wait;
    port->core.port.wake = port_wake;
    port->core.port.kick = port_kick;
    burst_init(port);
}

// --- the I/O thread --------------------------------------------------------------------------------------------------
// A thread that is in the stack sees to it before it leaves, as urgent as the I/O thread is; any other is in the way of
// that.
void preempt_port_interrupt(struct preempt_port *port)
{
    const struct thread *holder = port->lock.holder;
    if (holder && holder == thread_self() && holder != &port->thread) {
        port->kicked = port->interrupted = true;
        mutex_hurry(&port->lock, thread_priority(&port->thread));
    } else {
        semaphore_give(&port->work);
    }
}

// Whoever works meanwhile, and finds an earlier deadline, ends the sleep.
static void io_sleep(struct port_core *core, uint64_t until_us)
{
    struct preempt_port *port = (struct preempt_port *)core;
    const uint32_t state = arch_interrupts_off();
    port->sleeps++;
    port->io_due_us = until_us;
    (void)semaphore_take(&port->work, until_us);
    port->io_due_us = WEIR_NEVER;
    arch_interrupts_restore(state);
}

static void io_step(struct port_core *core, bool back)
{
    struct preempt_port *port = (struct preempt_port *)core;
    port->steps_back += back;
    thread_set_priority(&port->thread, back ? port->back_priority : port->priority);
}

static void io(void *port)
{
    static const struct port_io_calls calls = {io_sleep, io_step, io_turn};
    port_io_run(port, &calls);
}

// one in so many bytes of its stack is the I/O thread's own: it uses no more while it does not hold the lock
#define OWN_SHARE 5

bool preempt_port_start(struct preempt_port *port, const struct thread_config *config, uint8_t back_priority)
{
    struct thread_config own = *config;
    own.name = "io";
    own.entry = io;
    own.argument = port;
    port->priority = config->priority;
    port->back_priority = back_priority;
    port->work_stack =
        (void *)(((uintptr_t)own.stack + own.stack_bytes - own.stack_bytes / OWN_SHARE) & ~(uintptr_t)15);
    return thread_create(&port->thread, &own);
}
