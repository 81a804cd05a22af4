// SPDX-License-Identifier: BSD-2-Clause
// The port to the preemptive kernel (kernel/preempt): the lock is a mutex whose holder inherits priority, tasks wait in
// one queue by their tokens, and an I/O thread takes frames in, runs weir_poll and wakes who waits. The driver's
// interrupt masks its device and calls preempt_port_interrupt; the thread then polls it in budgets, and the driver
// unmasks when it is found empty. Should there always be more, the thread goes on with the priority of other work, so
// that a flood of frames cannot keep it from running.
//
// A thread whose call has given the stack something to send sends it itself before it releases the lock, and takes in
// what came meanwhile: that costs no change of threads. It does so with the I/O thread's priority and on the I/O
// thread's stack, so that its own needs no room for it. One that calls again and again without a wait in between sends
// what PREEMPT_BURST calls have brought at a time. What the I/O thread has to send waits for the thread that it woke,
// until that waits again: for no longer than a burst. One that falls asleep sends first what it gave the stack, and
// takes in what it was interrupted for.
//
//     kernel_init(&kernel_board);
//     preempt_port_init(&port, &board);
//     weir = weir_create(memory, sizeof memory, &port.core.port, NULL);
//     port_attach(&port.core, weir);
//     weir_netif_add(weir, &netif); port_add(&port.core, &netif);
//     preempt_port_start(&port, &thread_config, priority);
//     bsd = bsd_create(weir, &(struct weir_bsd_config){… .set_errno = preempt_port_set_errno}); threads …
//     kernel_start();
#ifndef PREEMPT_PORT_H
#define PREEMPT_PORT_H

#include "kernel/preempt/preempt.h"
#include "ports/common/core.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifndef PREEMPT_BURST
#define PREEMPT_BURST 16  // calls of a thread in a row whose output leaves together; 1: that of each leaves at once
#endif
#define PREEMPT_HURRY_US 2000u  // who sends for longer, and then loses the processor, is hurried within so long
#define PREEMPT_BURST_US 250u   // output is held no longer; where a thread is in the stack then, for as long again

struct preempt_port {
    struct port_core core;  // first
    struct mutex lock;
    struct wait_queue waiting;
    struct semaphore work;            // of the I/O thread; counts to one
    uint64_t io_due_us;               // when its sleep ends; WEIR_NEVER too while it does not sleep
    uint64_t due_us;                  // of the stack, as the last work found it
    void *work_stack;                 // the end of what others use of its stack
    volatile bool kicked;             // there is something to do: whoever holds the lock does it before it is released
    volatile bool interrupted;        // there are frames to take in, too
    bool woken;                       // somebody was, by the work in hand
    uint8_t priority, back_priority;  // of the I/O thread; and in a flood
    uint32_t sleeps, steps_back;      // for tests and measurements
    struct thread thread;
#if PREEMPT_BURST > 1
    bool burst;          // a thread has had something to send since one waited
    bool due_set;        // `due` runs
    uint8_t held;        // calls whose output waits for more; `due` runs while there are any
    bool sends;          // what was held is being sent
    struct timeout due;  // then it waits no longer
#endif
};

void preempt_port_init(struct preempt_port *port, const struct port_board *board);
// Makes the I/O thread; of the config stack, stack_bytes and priority are used. In a flood it has `back_priority`: that
// of the least urgent threads which shall still run. false: the stack is too small.
bool preempt_port_start(struct preempt_port *port, const struct thread_config *config, uint8_t back_priority);
void preempt_port_interrupt(struct preempt_port *port);  // from a driver's interrupt
// For struct weir_bsd_config: a thread's errno is its `user`.
void preempt_port_set_errno(void *context, int value);

WEIR_END_DECLS

#endif
