// SPDX-License-Identifier: BSD-2-Clause
// The port to a kernel with a tick, whose threads each sleep on something of their own that others set (a flag, a
// notification): the contract's wait and wake by a list of who waits for which token, and the I/O thread. What differs
// from kernel to kernel is a table of six functions.
#ifndef PORT_TICKING_H
#define PORT_TICKING_H

#include "ports/common/core.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define PORT_FOREVER UINT32_MAX  // ticks

struct port_ticking;
struct port_kernel {
    void (*lock)(struct port_ticking *port);
    void (*unlock)(struct port_ticking *port);
    void *(*self)(void);              // the calling thread
    void (*notify)(void *thread);     // ends its sleep, or its next; NULL: nothing
    void (*sleep)(uint32_t ticks);    // the calling thread, until notified
    void (*step)(uint32_t priority);  // the calling thread's from here on
    uint32_t extra_ticks;             // that a sleep must be longer, where the tick that runs already counts as one
};

struct port_waiter;
struct port_ticking {
    struct port_core core;  // first
    const struct port_kernel *kernel;
    struct port_waiter *waiting;  // under the lock
    void *thread;                 // the I/O thread; NULL until it runs
    uint32_t priority, back_priority;
    uint32_t tick_us;
    bool kicked;
};

void port_ticking_init(struct port_ticking *port, const struct port_board *board, const struct port_kernel *kernel,
                       uint32_t tick_us);
WEIR_NORETURN void port_ticking_io(void *port);  // the I/O thread's function

WEIR_END_DECLS

#endif
