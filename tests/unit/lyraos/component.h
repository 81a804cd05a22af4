// SPDX-License-Identifier: BSD-2-Clause
// LyraOS's component over the preemptive kernel, in virtual time: a scenario runs as a thread while the component's own
// thread serves it.
#ifndef TESTS_LYRAOS_COMPONENT_H
#define TESTS_LYRAOS_COMPONENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/lyraos/lyraos.h"
#include "kernel/preempt/arch/host.h"
#include "ports/preempt/preempt_port.h"

#define STACK_BYTES ((size_t)262144)
enum { MAIN = 10, IO = 20 };  // priorities of the scenario and of the component's thread

static uint64_t now_us, alarm_us;
static uint64_t stacks[5]
                      [STACK_BYTES / 8];  // the first three are the idle thread's, the scenario's and the component's
static bool good;                         // the scenario adds to it what it sees

static uint64_t board_now(void) { return now_us; }
static void board_alarm(uint64_t at_us) { alarm_us = at_us; }
static void board_idle(void)
{
    now_us = alarm_us > now_us ? alarm_us : now_us;
    alarm_us = KERNEL_NEVER;
    kernel_timer();
}
static void board_overflow(struct thread *thread)
{
    (void)thread;
    abort();
}
static void entropy(void *out, size_t bytes) { memset(out, 0x5a, bytes); }

static void component_main(void *scenario)
{
    static const struct port_board board = {board_now, 1, entropy, malloc, free};
    static struct preempt_port port;
    const struct thread_config io = {.stack = stacks[2], .stack_bytes = STACK_BYTES, .priority = IO};
    const struct weir_bsd_config config = {.set_errno = preempt_port_set_errno};
    preempt_port_init(&port, &board);
    struct weir *weir = weir_create(NULL, 0, &port.core.port, NULL);
    port_attach(&port.core, weir);
    good &= preempt_port_start(&port, &io, MAIN);
    struct weir_bsd *bsd = bsd_create(weir, &config);
    lyraos_use(bsd);
    (*(void (*const *)(void))scenario)();
    bsd_destroy(bsd);
    thread_delete(&port.thread);
    weir_destroy(weir);
    host_finish();
}

// Runs the scenario from `begin_us` on, and fails the test unless all that it saw was good.
static void component_run(void (*scenario)(void), uint64_t begin_us)
{
    static const struct kernel_board board = {board_now,      board_alarm, board_idle,
                                              board_overflow, stacks[0],   STACK_BYTES};
    static struct thread starter;
    const struct thread_config config = {"start", component_main, &scenario, stacks[1], STACK_BYTES, MAIN};
    host_stack_renew(stacks, sizeof stacks);
    now_us = begin_us;
    alarm_us = KERNEL_NEVER;
    good = kernel_init(&board) && thread_create(&starter, &config);
    host_run();
    assert_true(good);
}

#endif
