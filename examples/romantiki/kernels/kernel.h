// SPDX-License-Identifier: BSD-2-Clause
// What a kernel gives for Romantiki's programs over Weir's BSD sockets on a board (api/romantiki/bsd). The priorities
// of tasks are those of the cooperative kernel: COOP's 128 is the stack's.
#ifndef EXAMPLES_ROMANTIKI_KERNEL_H
#define EXAMPLES_ROMANTIKI_KERNEL_H

#include "api/romantiki/bsd/bsd.h"
#include "ports/common/core.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define STACK_PRIORITY 128u  // of the network stack among the tasks
#define TASK_STACK_BYTES 3072u
#define STACK_STACK_BYTES 3072u

struct romantiki_kernel {
    struct romantiki_system system;
    struct port_core *core;
    // Begins, with a thread that calls first(NULL). Returns only if there is no memory.
    void (*begin)(void (*first)(void *unused));
    bool (*open)(void);   // makes the port ready
    bool (*serve)(void);  // and its I/O thread
};
extern const struct romantiki_kernel romantiki_kernel;  // one of preempt.c, rtos2.c, freertos.c

WEIR_END_DECLS

#endif
