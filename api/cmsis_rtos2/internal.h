// SPDX-License-Identifier: BSD-2-Clause
// CMSIS-RTOS2 over the preemptive kernel: a tick is a millisecond of its time, priorities are the kernel's numbers.
// Control blocks, stacks and queues lie where the attributes say, or in a pool of RTOS2_POOL_BYTES. The board is
// `rtos2_board`, which the program defines.
//
// Deviations: calls from an interrupt are not told from a thread's, so osErrorISR is never returned: an interrupt gives
// and puts (timeout 0) and sets flags, no more. An object that threads wait for is not deleted: osErrorResource. The
// kernel has no tick that osKernelSuspend would stop: time goes on by the board's clock, so osKernelResume has no use
// for the ticks that it is told.
#ifndef RTOS2_INTERNAL_H
#define RTOS2_INTERNAL_H

#include "cmsis_os2.h"
#include "kernel/preempt/arch.h"
#include "kernel/preempt/preempt.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifndef RTOS2_POOL_BYTES
#define RTOS2_POOL_BYTES 32768
#endif
#ifndef RTOS2_STACK_BYTES
#define RTOS2_STACK_BYTES 1024  // of a thread that names none
#endif
#define RTOS2_TICK_US 1000u

extern const struct kernel_board rtos2_board;

struct rtos2_thread {
    struct thread thread;  // first
    struct rtos2_thread *next;
    uint32_t flags;
    struct wait_queue flags_waiting;
    osThreadFunc_t function;
    void *argument;
    void *own_stack, *own_block;  // of the pool; NULL: the caller's
    bool joinable, joined;
};

void *rtos2_alloc(size_t bytes);
void rtos2_free(void *memory);
// A zeroed control block where the attributes say, or in the pool; *own tells which. NULL: no memory, or the caller's
// is too small.
void *rtos2_block(void *memory, uint32_t given, size_t bytes, void **own);
uint64_t rtos2_deadline(uint32_t ticks);
uint32_t rtos2_flags_set(uint32_t *flags, struct wait_queue *waiting, uint32_t set);
uint32_t rtos2_flags_wait(uint32_t *flags, struct wait_queue *waiting, uint32_t wanted, uint32_t options,
                          uint32_t ticks);
bool rtos2_timers_start(void);

WEIR_END_DECLS

#endif
