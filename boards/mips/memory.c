// SPDX-License-Identifier: BSD-2-Clause
// What a C library would give: the compiler for this core comes with none that runs without an operating system. The four functions that
// compilers call, and memory in blocks of the powers of two: what is freed is used again for what is of the same size, and nothing is ever
// joined, so that both ends take the same short time.
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "boards/board.h"

#define WORD_MASK 3u

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if (((uintptr_t)out & WORD_MASK) == ((uintptr_t)in & WORD_MASK)) {
        for (; bytes && (uintptr_t)out & WORD_MASK; bytes--)
            *out++ = *in++;
        for (; bytes >= 4; bytes -= 4, out += 4, in += 4)
            *(uint32_t __attribute__((may_alias)) *)(void *)out = *(const uint32_t __attribute__((may_alias)) *)(const void *)in;
    }
    for (; bytes; bytes--)
        *out++ = *in++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if (out <= in || out >= in + bytes) {
        for (size_t i = 0; i < bytes; i++)
            out[i] = in[i];
    } else {
        for (; bytes; bytes--)
            out[bytes - 1] = in[bytes - 1];
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;
    const uint32_t word = (uint8_t)value * 0x01010101u;
    for (; bytes && (uintptr_t)out & WORD_MASK; bytes--)
        *out++ = (uint8_t)value;
    for (; bytes >= 4; bytes -= 4, out += 4)
        *(uint32_t __attribute__((may_alias)) *)(void *)out = word;
    for (; bytes; bytes--)
        *out++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *left = a, *right = b;
    for (; bytes && *left == *right; bytes--)
        left++, right++;
    return bytes ? *left - *right : 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

// --- blocks ----------------------------------------------------------------------------------------------------------------------------

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
