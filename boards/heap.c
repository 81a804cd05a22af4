// SPDX-License-Identifier: BSD-2-Clause
// The memory behind the program is the C library's heap.
#include <stdlib.h>

#include "boards/board.h"

extern char link_heap[], link_heap_end[];

void *_sbrk(ptrdiff_t bytes);
void *_sbrk(ptrdiff_t bytes)
{
    static char *top = link_heap;
    if (bytes > link_heap_end - top)
        return (void *)-1;
    top += bytes;
    return top - bytes;
}

void *board_alloc(size_t bytes) { return malloc(bytes); }
void board_free(void *memory) { free(memory); }
