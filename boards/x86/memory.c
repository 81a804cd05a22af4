// SPDX-License-Identifier: BSD-2-Clause
// What a C library and the compiler's would give, since those that come with the host's compiler are of another word
// size: memcpy and division. (Others: boards/string.c.)
#include <stdint.h>
#include <string.h>

#include "boards/board.h"

typedef uint32_t __attribute__((may_alias, aligned(1))) word;

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    for (; bytes >= 32; bytes -= 32, out += 32, in += 32)
#pragma GCC unroll 8
        for (uint32_t i = 0; i < 32; i += 4)
            *(word *)(void *)(out + i) = *(const word *)(const void *)(in + i);
    for (; bytes >= 4; bytes -= 4, out += 4, in += 4)
        *(word *)(void *)out = *(const word *)(const void *)in;
    for (; bytes; bytes--)
        *out++ = *in++;
    return to;
}

// --- division of 64 bits ---------------------------------------------------------------------------------------------

uint64_t __udivmoddi4(uint64_t value, uint64_t by, uint64_t *rest);
uint64_t __udivdi3(uint64_t value, uint64_t by);
uint64_t __umoddi3(uint64_t value, uint64_t by);
int64_t __divdi3(int64_t value, int64_t by);
int64_t __moddi3(int64_t value, int64_t by);

// The quotient must fit: high < by.
static uint32_t divide(uint32_t high, uint32_t low, uint32_t by, uint32_t *rest)
{
    uint32_t quotient;
    __asm__("divl %4" : "=a"(quotient), "=d"(*rest) : "a"(low), "d"(high), "r"(by));
    return quotient;
}

// By more than 32 bits: the quotient of the upper 32 of both, which is at most two too large.
static uint64_t by_large(uint64_t value, uint64_t by, uint64_t *rest)
{
    const uint32_t shift = 32u - (uint32_t)__builtin_clz((uint32_t)(by >> 32));
    uint32_t unused;
    const uint64_t upper = value >> shift;
    uint64_t quotient = divide((uint32_t)(upper >> 32), (uint32_t)upper, (uint32_t)(by >> shift), &unused);
    quotient -= quotient < 2 ? quotient : 2;
    value -= quotient * by;
    for (; value >= by; value -= by)
        quotient++;
    *rest = value;
    return quotient;
}

uint64_t __udivmoddi4(uint64_t value, uint64_t by, uint64_t *rest)
{
    uint64_t unused;
    uint64_t *const to = rest ? rest : &unused;
    if (by >> 32)
        return by_large(value, by, to);
    const uint32_t divisor = (uint32_t)by, high = (uint32_t)(value >> 32);
    uint32_t left;
    const uint32_t low = divide(high % divisor, (uint32_t)value, divisor, &left);
    *to = left;
    return (uint64_t)(high / divisor) << 32 | low;
}

uint64_t __udivdi3(uint64_t value, uint64_t by) { return __udivmoddi4(value, by, NULL); }
uint64_t __umoddi3(uint64_t value, uint64_t by)
{
    uint64_t rest;
    (void)__udivmoddi4(value, by, &rest);
    return rest;
}

static uint64_t magnitude(int64_t value) { return value < 0 ? 0 - (uint64_t)value : (uint64_t)value; }
int64_t __divdi3(int64_t value, int64_t by)
{
    const uint64_t quotient = __udivmoddi4(magnitude(value), magnitude(by), NULL);
    return (int64_t)((value < 0) != (by < 0) ? 0 - quotient : quotient);
}
int64_t __moddi3(int64_t value, int64_t by)
{
    const uint64_t rest = __umoddi3(magnitude(value), magnitude(by));
    return (int64_t)(value < 0 ? 0 - rest : rest);
}

// --- the heap is boards/blocks.c's -----------------------------------------------------------------------------------

#define FIRST_MEGABYTE 0x100000u
extern uint8_t link_heap_end[];

struct multiboot {
    uint32_t flags, lower_kb, upper_kb;
};
void x86_start(const struct multiboot *told);
void x86_start(const struct multiboot *told)
{
    if (told->flags & 1 && FIRST_MEGABYTE + 1024 * told->upper_kb >= (uint32_t)(uintptr_t)link_heap_end)
        return;
    board_puts("weir: this program wants 128 MB of memory\n");
    for (;;)
        __asm__ volatile("hlt");
}
