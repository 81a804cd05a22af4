// SPDX-License-Identifier: BSD-2-Clause
// Tasks with frames of their own: the AUTO variables of all blocking functions whose files define COOP_FRAMES, and
// where each of these waits. So several tasks may be of one function. The frames lie in one section, and a task that
// runs has its own there: before its run and after it they change places with those that the memory it was given keeps.
// That costs the section's bytes for each such task, and two walks over them for each of its runs.
//
// Whatever else keeps the address of a variable while the task waits must not be told an AUTO one of such a task:
// sockets, events, semaphores and timers are static or lie where `prm` points.
#ifndef COOP_FRAMES_H
#define COOP_FRAMES_H

#include "kernel/coop/coop.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct coop_framed {
    struct coop_task task;
    coop_function *function;
    void *prm;
    unsigned char *frames;
};

size_t coop_frames_bytes(void);  // of the section
// As coop_task_start; the task keeps `frames`. false: it is smaller than the section, and there is no such task.
bool coop_framed_start(struct coop_framed *framed, coop_function *function, void *prm, uint8_t priority, void *frames,
                       size_t bytes);

WEIR_END_DECLS

#endif
