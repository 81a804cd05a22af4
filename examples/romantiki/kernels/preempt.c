// SPDX-License-Identifier: BSD-2-Clause
// The preemptive kernel under Romantiki's programs.
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "examples/romantiki/kernels/kernel.h"
#include "ports/preempt/preempt_port.h"

#define TASKS 6  // at once, the first thread counted
#define IDLE_BYTES 256

static struct place {
    struct thread thread;
    bool taken;
    uint64_t stack[TASK_STACK_BYTES / 8];
} places[TASKS];
static uint64_t io_stack[STACK_STACK_BYTES / 8], idle_stack[IDLE_BYTES / 8];
static struct preempt_port port;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

// A place whose thread has ended is free again.
static struct place *free_place(void)
{
    for (struct place *place = places; place < places + TASKS; place++)
        if (!place->taken || thread_join(&place->thread, 0) == KERNEL_WOKEN)
            return place;
    return NULL;
}

static bool start(void (*run)(void *task), void *task, unsigned priority)
{
    struct place *place = free_place();
    const uint8_t own = (uint8_t)(priority < 1 ? 1 : priority < UINT8_MAX ? priority : UINT8_MAX);
    if (!place)
        return false;
    place->taken = thread_create(&place->thread,
                                 &(struct thread_config){"task", run, task, place->stack, sizeof place->stack, own});
    return place->taken;
}

static void *self(void) { return thread_self(); }

static void begin(void (*first)(void *unused))
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    if (kernel_init(&board) && start(first, NULL, STACK_PRIORITY))
        kernel_start();
}

static bool open(void)
{
    preempt_port_init(&port, &board_port);
    return true;
}

static bool serve(void)
{
    const struct thread_config io = {
        .stack = io_stack, .stack_bytes = sizeof io_stack, .priority = (uint8_t)STACK_PRIORITY};
    return preempt_port_start(&port, &io, 1);
}

const struct romantiki_kernel romantiki_kernel = {
    .system = {&port.core.port, start, self, thread_yield, thread_exit},
    .core = &port.core,
    .begin = begin,
    .open = open,
    .serve = serve,
};
