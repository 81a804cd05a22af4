// SPDX-License-Identifier: BSD-2-Clause
// The dispatcher that applications share: it calls the watch that a socket's user pointer names (weir_dispatch), and
// runs the applications' timers. No threads, no system calls: the same applications run on a host and on bare metal. An
// application's struct begins with its app; its connections, listeners and clients hold a struct weir_watch each.
//
// All functions are called with the instance's lock held (or from the only thread), and never from inside a handler,
// except loop_watch, loop_add and loop_remove.
#ifndef APPS_LOOP_H
#define APPS_LOOP_H

#include "weir/instance.h"
#include "weir/linkage/loop.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

// An application with timers: the first member of its struct.
struct app {
    struct app *next;  // the loop's
    // Does what is due and returns the next deadline, µs; WEIR_NEVER when there is none. May remove itself from the
    // loop.
    uint64_t (*poll)(struct app *app, uint64_t now_us);
};

struct loop {
    struct weir *weir;
    struct app *apps;
};

#define LOOP_EVENTS 256u  // handled in a round, so that output is never far behind input
#define LOOP_ROUNDS 4u    // poll and dispatch so often in one call of loop_run

void loop_init(struct loop *loop, struct weir *weir);
void loop_add(struct loop *loop, struct app *app);
void loop_remove(struct loop *loop, struct app *app);
// Names the handler of a socket's events. NULL: none.
int loop_watch(struct loop *loop, weir_socket socket, struct weir_watch *watch);
// Polls the instance, the applications, and dispatches events until nothing is left or LOOP_ROUNDS passed. Returns the
// next deadline, µs: <= now_us when work is left.
uint64_t loop_run(struct loop *loop, uint64_t now_us);

WEIR_END_DECLS

#endif
