// SPDX-License-Identifier: BSD-2-Clause
#include "frames.h"

// The linker's, of the section of this name; none: nobody has such frames.
extern unsigned char __start_coop_frames[] __attribute__((weak));
extern unsigned char __stop_coop_frames[] __attribute__((weak));

size_t coop_frames_bytes(void) { return (size_t)((uintptr_t)__stop_coop_frames - (uintptr_t)__start_coop_frames); }

static void exchange(unsigned char *frames)
{
    const size_t bytes = coop_frames_bytes();
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = frames[i];
        frames[i] = __start_coop_frames[i];
        __start_coop_frames[i] = byte;
    }
}

static BFD run(void *prm)
{
    struct coop_framed *framed = prm;
    exchange(framed->frames);
    const BFD result = framed->function(framed->prm);
    exchange(framed->frames);
    return result;
}

bool coop_framed_start(struct coop_framed *framed, coop_function *function, void *prm, uint8_t priority, void *frames,
                       size_t bytes)
{
    if (bytes < coop_frames_bytes())
        return false;
    framed->function = function;
    framed->prm = prm;
    framed->frames = frames;
    for (size_t i = 0; i < bytes; i++)
        framed->frames[i] = 0;
    coop_task_start(&framed->task, run, framed, priority);
    return true;
}
