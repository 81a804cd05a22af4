// SPDX-License-Identifier: BSD-2-Clause
// Laying the frame of a thread that never ran (arch.h): what the processors have in common.
#ifndef PREEMPT_ARCH_FRAME_H
#define PREEMPT_ARCH_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

// `words` zeros, and `above` more between them and the stack's end, which is rounded down to `align` bytes. NULL: the
// stack has not `least`.
static inline uint32_t *frame_blank(void *stack, size_t bytes, size_t least, uint32_t align, uint32_t words,
                                    uint32_t above)
{
    uint32_t *frame = (uint32_t *)(((uintptr_t)stack + bytes) & ~(uintptr_t)(align - 1)) - above - words;
    if (bytes < least)
        return NULL;
    for (uint32_t i = 0; i < words + above; i++)
        frame[i] = 0;
    return frame;
}

// Where a thread's first function would return to: never, since a thread that ends does so by thread_exit.
static inline void frame_nowhere(void)
{
    for (;;)
        ;
}

WEIR_END_DECLS

#endif
