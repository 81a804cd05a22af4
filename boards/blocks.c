// SPDX-License-Identifier: BSD-2-Clause
// Memory for boards without a C library, in blocks of the powers of two: what is freed is used again for what is of the
// same size, and nothing is ever joined, so that both ends take the same short time.
#include <stddef.h>
#include <stdint.h>

#include "boards/board.h"

#define LEAST_LOG2 5u
#define MOST_LOG2 26u
struct block {
    struct block *next;  // free ones
    uint32_t log2;       // of its bytes, with this
};
_Static_assert(sizeof(struct block) % 8 == 0 || sizeof(void *) != 4, "what follows is aligned");

extern uint8_t link_heap[], link_heap_end[];
static struct block *free_blocks[MOST_LOG2 + 1];
static uint8_t *top = link_heap;

void *board_alloc(size_t bytes)
{
    uint32_t log2 = LEAST_LOG2;
    while (log2 <= MOST_LOG2 && ((size_t)1 << log2) - sizeof(struct block) < bytes)
        log2++;
    if (log2 > MOST_LOG2)
        return NULL;
    struct block *block = free_blocks[log2];
    if (block) {
        free_blocks[log2] = block->next;
    } else if ((size_t)1 << log2 <= (size_t)(link_heap_end - top)) {
        block = (void *)top;
        top += (size_t)1 << log2;
    } else {
        return NULL;
    }
    block->log2 = log2;
    return block + 1;
}

void board_free(void *memory)
{
    if (!memory)
        return;
    struct block *block = (struct block *)memory - 1;
    block->next = free_blocks[block->log2];
    free_blocks[block->log2] = block;
}
