// SPDX-License-Identifier: BSD-2-Clause
// The preemptive kernel in virtual time, for its tests: a thread that computes moves the clock, an idle processor jumps
// to the alarm. Threads leave a trace of letters; what they did is judged when the kernel has stopped.
#ifndef VIRTUAL_KERNEL_H
#define VIRTUAL_KERNEL_H

#include "kernel/preempt/arch/host.h"
#include "kernel/preempt/preempt.h"

#define STACK_BYTES ((size_t)262144)
#define THREADS 6
#define MAIN_PRIORITY 100
#define MS UINT64_C(1000)

// The board of it, as the initializer of one.
#define VIRTUAL_BOARD \
    { \
        virtual_now, virtual_alarm, virtual_idle, virtual_overflow, virtual_idle_stack, STACK_BYTES \
    }

extern uint64_t now_us;
extern char trace[256];
extern struct thread threads[THREADS];

void say(char letter);
void say_if(bool true_as_expected, char letter);  // '!' otherwise
void compute(uint64_t us);
void in_interrupt(void (*what)(void));
void spawn(uint32_t index, uint8_t priority, thread_entry *entry, intptr_t argument);
const char *run(thread_entry *entry);  // as a thread of MAIN_PRIORITY, until it ends; the trace

extern uint64_t virtual_idle_stack[STACK_BYTES / 8];
uint64_t virtual_now(void);
void virtual_alarm(uint64_t at_us);
void virtual_idle(void);  // the kernel ends where nothing will ever happen: the test's trace is too short
void virtual_overflow(struct thread *thread);

#endif
