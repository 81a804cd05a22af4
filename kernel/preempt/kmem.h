// SPDX-License-Identifier: BSD-2-Clause
// Memory for what comes and goes at run time, as processes' stacks: first fit over a list of free blocks in order of
// address, neighbours joined. By threads, and by main before they run; what waits for another's walk inherits nothing
// but the list's length.
#ifndef PREEMPT_KMEM_H
#define PREEMPT_KMEM_H

#include "preempt.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct kmem_block;
struct kmem {
    struct kmem_block *free;
    struct mutex lock;
    size_t free_bytes;  // all that is not given out, headers included
};
void kmem_init(struct kmem *kmem, void *memory, size_t bytes);
void *kmem_alloc(struct kmem *kmem, size_t bytes);  // aligned to 8; NULL: no such piece is left
void kmem_free(struct kmem *kmem, void *memory);    // NULL: nothing

WEIR_END_DECLS

#endif
